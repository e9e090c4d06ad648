"""Cables in absolute nodal coordinates: stretch and curvature of a line, isotropic and without torsion.

With u = r_x and w = r_xx at a point, p = w - beta u its part across the line, beta = u.w / u.u: the curvature, the turn
of the tangent along the undeformed line, is kappa = |u x w| / u.u = |p| / |u|. Equations: docs/theory/ancf3d.md.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from index3.algebra.vectors import add, dot, scale
from index3.bodies import ancf_space_elements as e
from index3.bodies import ancf_space_kernels as shared
from index3.bodies.ancf_space_marks import add_torque_stiffness, add_wrenches, unit
from index3.bodies.ancf_space_tables import space_table
from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view

__all__ = ["MEMORY", "STAGES", "table"]
VECTORS, WIDTH = 4, 12  # of an element: r and r_x of two nodes
INSIDE = WIDTH * WIDTH
POINT = e.INNER  # where the (6, 6) matrix of a point stands in ROOM
MEMORY = e.MEMORY
STRETCH = np.dtype([("a", "f8", VECTORS), ("stiffness", "f8"), ("rest", "f8")])
"""A point where the line stretches: coefficients of r_x, stiffness per |r_x|, |r_x| without stress."""
BEND = np.dtype([("a", "f8", VECTORS), ("b", "f8", VECTORS), ("stiffness", "f8"), ("rest", "f8")])
"""A point where it bends: coefficients of r_x and r_xx, stiffness per curvature, curvature without stress."""
STRETCHES, BENDS = extended(e.BASE, stretches=(STRETCH, 1), bends=(BEND, 1))


def table(bodies, sites, places):
    """Elements, points and markers of all cables."""
    return space_table(bodies, sites, places, (STRETCHES, BENDS))


@helper
def bend_parts(u, w):
    """u.u, beta and p."""
    A = dot(u, u)
    beta = dot(u, w) / A
    return A, beta, add(w, scale(-beta, u))


@helper
def bend_slopes(u, w):
    """Derivatives of kappa^2 / 2 by u and w."""
    A, beta, p = bend_parts(u, w)
    return scale(-1.0 / A, add(scale(dot(p, p) / A, u), scale(beta, p))), scale(1.0 / A, p)


@helper
def bend_moment(point, kappa):
    """d(energy) / d(kappa^2 / 2): the stiffness, less where the line is curved without stress."""
    if point.rest == 0.0 or kappa == 0.0:  # a line curved without stress that is made straight: no direction to bend in
        return point.stiffness * (point.rest == 0.0)
    return point.stiffness * (1.0 - point.rest / kappa)


@helper
def bend_rate(u, w, u_rate, w_rate):
    """|u| times the rate of the curvature vector, as seen from a frame that does not spin about the line."""
    A, beta, p = bend_parts(u, w)
    z = add(w_rate, scale(-beta, u_rate))
    return add(add(z, scale(-dot(u, z) / A, u)), scale(-dot(u, u_rate) / A, p))


@helper
def lag_slopes(u, w, u_rate, w_rate):
    """What a moment of that rate is on u and w."""
    A, beta, p = bend_parts(u, w)
    y = bend_rate(u, w, u_rate, w_rate)
    return scale(-1.0 / A, add(scale(beta, y), scale(dot(p, y) / A, u))), scale(1.0 / A, y)


@helper
def add_elastic(E, q, v, g):
    """g += elastic and damping forces of every element (on the left side)."""
    elements, rules, stretches, bends = view(E, e.ELEMENTS), view(E, e.RULES), view(E, STRETCHES), view(E, BENDS)
    for n in range(elements.shape[0]):
        first, rule, lag = elements[n].first, rules[elements[n].rule], elements[n].lag
        for k in range(rule.stretch, rule.stretch + rule.stretch_count):
            u = e.combine(stretches[k].a, q, first, VECTORS)
            size = sqrt(dot(u, u))
            strain = size - stretches[k].rest
            if lag != 0.0:
                strain += lag * dot(u, e.combine(stretches[k].a, v, first, VECTORS)) / size
            e.add_spread(g, first, VECTORS, stretches[k].a, scale(stretches[k].stiffness * strain / size, u))
        for k in range(rule.bend, rule.bend + rule.bend_count):
            u, w = e.combine(bends[k].a, q, first, VECTORS), e.combine(bends[k].b, q, first, VECTORS)
            A, _, p = bend_parts(u, w)
            by_u, by_w = bend_slopes(u, w)
            m = bend_moment(bends[k], sqrt(dot(p, p) / A))
            by_u, by_w = scale(m, by_u), scale(m, by_w)
            if lag != 0.0:
                u_rate, w_rate = e.combine(bends[k].a, v, first, VECTORS), e.combine(bends[k].b, v, first, VECTORS)
                lag_u, lag_w = lag_slopes(u, w, u_rate, w_rate)
                by_u = add(by_u, scale(lag * bends[k].stiffness, lag_u))
                by_w = add(by_w, scale(lag * bends[k].stiffness, lag_w))
            e.add_spread(g, first, VECTORS, bends[k].a, by_u)
            e.add_spread(g, first, VECTORS, bends[k].b, by_w)


@kernel
def gather(T, E):
    """G: elastic and damping forces, weight, wrenches."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    q, v, g = view(T, s.Q), view(T, s.V), view(T, s.G)
    add_elastic(E, q, v, g)
    e.add_weight_and_drag(E, view(T, s.GRAVITY), v, g)
    add_wrenches(T, E, q, g)
    return OK


@helper
def add_stretch(room, point, first, lag, q, v, c_K, c_D):
    """Add the tangent of a stretch point to the matrix of its element."""
    u, rate = e.combine(point.a, q, first, VECTORS), e.combine(point.a, v, first, VECTORS)
    size = sqrt(dot(u, u))
    n, k = scale(1.0 / size, u), point.stiffness
    speed = lag * dot(n, rate)
    tension, by_u = k * (size - point.rest + speed), scale(c_K * lag * k / size, rate)
    along = k * (c_K + lag * c_D) - c_K * tension / size - c_K * k * speed / size
    for r in range(3):
        for o in range(3):
            x = n[r] * (along * n[o] + by_u[o]) + (c_K * tension / size if r == o else 0.0)
            for i in range(VECTORS):
                for j in range(VECTORS):
                    room[WIDTH * (3 * i + r) + 3 * j + o] += point.a[i] * x * point.a[j]


@helper
def put_bend(room, point, u, w, c_K):
    """c_K times the second derivatives of the energy of a bend point by (u, w), in ROOM."""
    A, beta, p = bend_parts(u, w)
    P = dot(p, p)
    kappa = sqrt(P / A)
    m, turned = c_K * bend_moment(point, kappa) / A, 0.0
    if point.rest != 0.0 and kappa != 0.0:
        turned = c_K * point.stiffness * point.rest / (kappa * kappa * kappa)
    g_u, g_w = bend_slopes(u, w)
    for i in range(3):
        for j in range(3):
            same = 1.0 if i == j else 0.0
            uu, up, pu, pp = u[i] * u[j] / A, u[i] * p[j] / A, p[i] * u[j] / A, p[i] * p[j] / A
            by_uu = (beta * beta - P / A) * same + (4.0 * P / A - beta * beta) * uu + 3.0 * beta * (up + pu) - pp
            at = POINT + 6 * i + j
            room[at] = m * by_uu + turned * g_u[i] * g_u[j]
            room[at + 3] = m * (beta * (uu - same) - pu - 2.0 * up) + turned * g_u[i] * g_w[j]
            room[at + 18] = m * (beta * (uu - same) - up - 2.0 * pu) + turned * g_w[i] * g_u[j]
            room[at + 21] = m * (same - uu) + turned * g_w[i] * g_w[j]


@helper
def lag_change(u, w, u_rate, w_rate, du, dw, du_rate, dw_rate):
    """How `lag_slopes` change along a direction."""
    A, beta, p = bend_parts(u, w)
    z = add(w_rate, scale(-beta, u_rate))
    y = bend_rate(u, w, u_rate, w_rate)
    dA, sigma, eta, pi = 2.0 * dot(u, du), dot(u, u_rate) / A, dot(u, z) / A, dot(p, y) / A
    dbeta = (dot(du, w) + dot(u, dw) - beta * dA) / A
    dp = add(dw, add(scale(-dbeta, u), scale(-beta, du)))
    dz = add(dw_rate, add(scale(-dbeta, u_rate), scale(-beta, du_rate)))
    dsigma = (dot(du, u_rate) + dot(u, du_rate) - sigma * dA) / A
    deta = (dot(du, z) + dot(u, dz) - eta * dA) / A
    dy = add(add(dz, scale(-eta, du)), add(scale(-deta, u), add(scale(-dsigma, p), scale(-sigma, dp))))
    dpi = (dot(dp, y) + dot(p, dy) - pi * dA) / A
    on_u = add(scale(beta, y), scale(pi, u))
    don_u = add(add(scale(dbeta, y), scale(beta, dy)), add(scale(dpi, u), scale(pi, du)))
    return scale(-1.0 / A, add(don_u, scale(-dA / A, on_u))), scale(1.0 / A, add(dy, scale(-dA / A, y)))


@helper
def add_lag(room, c, u, w, u_rate, w_rate, c_K, c_D):
    """Add c times the derivatives of `lag_slopes` to the matrix of a point: c_K those by q, c_D those by v."""
    for j in range(6):
        x, none = unit(j % 3), (0.0, 0.0, 0.0)
        du, dw = (x, none) if j < 3 else (none, x)
        by_u, by_w = lag_change(u, w, u_rate, w_rate, scale(c_K, du), scale(c_K, dw), scale(c_D, du), scale(c_D, dw))
        for i in range(3):
            room[POINT + 6 * i + j] += c * by_u[i]
            room[POINT + 6 * (3 + i) + j] += c * by_w[i]


@helper
def add_point(room, a, b):
    """Add the (6, 6) matrix of a point to that of its element."""
    for i in range(VECTORS):
        for k in range(3):
            one, two, row = POINT + 6 * k, POINT + 6 * (3 + k), WIDTH * (3 * i + k)
            for o in range(3):
                x = a[i] * room[one + o] + b[i] * room[two + o]
                y = a[i] * room[one + 3 + o] + b[i] * room[two + 3 + o]
                for j in range(VECTORS):
                    room[row + 3 * j + o] += x * a[j] + y * b[j]


@helper
def fill_element(E, n, q, v, c):
    """The matrix of an element in ROOM: mass, and the derivatives of its forces by q and v."""
    elements, stretches, bends, room = view(E, e.ELEMENTS), view(E, STRETCHES), view(E, BENDS), view(E, e.ROOM)
    first, rule, lag = elements[n].first, view(E, e.RULES)[elements[n].rule], elements[n].lag
    c_K, c_D = c[s.C_K], c[s.C_D]
    e.put_mass(room, rule, c[s.C_M] + c_D * elements[n].drag)
    if c_K == 0.0 and c_D * lag == 0.0:
        return
    for k in range(rule.stretch, rule.stretch + rule.stretch_count):
        add_stretch(room, stretches[k], first, lag, q, v, c_K, c_D)
    for k in range(rule.bend, rule.bend + rule.bend_count):
        u, w = e.combine(bends[k].a, q, first, VECTORS), e.combine(bends[k].b, q, first, VECTORS)
        put_bend(room, bends[k], u, w, c_K)
        if lag != 0.0:
            u_rate, w_rate = e.combine(bends[k].a, v, first, VECTORS), e.combine(bends[k].b, v, first, VECTORS)
            add_lag(room, lag * bends[k].stiffness, u, w, u_rate, w_rate, c_K, c_D)
        add_point(room, bends[k].a, bends[k].b)


@kernel
def body_matrix(T, E):
    """Mass, tangent of the elastic forces, and -(J^T F)_q."""
    elements, places, room, values = view(E, e.ELEMENTS), view(E, e.MAP), view(E, e.ROOM), view(T, s.MATRIX)
    q, v, c = view(T, s.Q), view(T, s.V), view(T, s.COEF)
    for n in range(elements.shape[0]):
        fill_element(E, n, q, v, c)
        e.add_to_matrix(values, places, elements[n].map, room, INSIDE)
    if c[s.C_K] != 0.0:
        add_torque_stiffness(T, E, q, c[s.C_K])
    return OK


@helper
def elastic_energies(E, n, q, v):
    """Elastic energy of an element, and the power of its damping."""
    elements, stretches, bends = view(E, e.ELEMENTS), view(E, STRETCHES), view(E, BENDS)
    first, rule, lag = elements[n].first, view(E, e.RULES)[elements[n].rule], elements[n].lag
    energy, loss = 0.0, 0.0
    for k in range(rule.stretch, rule.stretch + rule.stretch_count):
        u = e.combine(stretches[k].a, q, first, VECTORS)
        size = sqrt(dot(u, u))
        rate = dot(u, e.combine(stretches[k].a, v, first, VECTORS)) / size
        energy += 0.5 * stretches[k].stiffness * (size - stretches[k].rest) ** 2
        loss += lag * stretches[k].stiffness * rate * rate
    for k in range(rule.bend, rule.bend + rule.bend_count):
        u, w = e.combine(bends[k].a, q, first, VECTORS), e.combine(bends[k].b, q, first, VECTORS)
        A, _, p = bend_parts(u, w)
        bent = sqrt(dot(p, p) / A) - bends[k].rest
        energy += 0.5 * bends[k].stiffness * bent * bent
        if lag != 0.0:
            y = bend_rate(u, w, e.combine(bends[k].a, v, first, VECTORS), e.combine(bends[k].b, v, first, VECTORS))
            loss += lag * bends[k].stiffness * dot(y, y) / A
    return energy, -loss


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of stretch, bending and gravity; power of damping."""
    bodies, q, v = view(E, e.BODIES), view(T, s.Q), view(T, s.V)
    for b in range(bodies.shape[0]):
        for n in range(bodies[b].element, bodies[b].element + bodies[b].element_count):
            elastic, loss = elastic_energies(E, n, q, v)
            e.add_energies(T, E, n, elastic, loss)
    return OK


STAGES = shared.STAGES | {"gather": gather, "body_matrix": body_matrix, "energies": energies}
