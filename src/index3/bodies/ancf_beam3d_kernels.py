"""Spatial beams in absolute nodal coordinates: stretch and shear, bending and torsion.

A point has vectors x, y and u: sums of the vectors of its element with coefficients a, b and c. Its strain is x . y, or
where it bends or twists x . y / (|y| |u|) with products at the nodes besides, less the value at rest; its energy is
half the stiffness times the square. Which vectors these are: `index3.bodies.ancf_beam3d`; docs/theory/ancf3d.md.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from index3.algebra.vectors import add, dot, scale
from index3.bodies import ancf_space_elements as e
from index3.bodies import ancf_space_kernels as shared
from index3.bodies.ancf_space_marks import add_torque_stiffness, add_wrenches
from index3.bodies.ancf_space_tables import space_table
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, extended, helper, kernel, view

__all__ = ["MEMORY", "STAGES", "table"]
VECTORS, WIDTH = 8, 24  # of an element: r, r_x, r_y and r_z of two nodes
INSIDE = WIDTH * WIDTH
MEMORY = e.MEMORY
GRADIENT, CHANGE = e.INNER, e.INNER + WIDTH  # where those of a bend point stand in ROOM
STRAIN = np.dtype([("a", "f8", VECTORS), ("b", "f8", VECTORS), ("stiffness", "f8"), ("rest", "f8")])
BEND = np.dtype(
    [
        ("a", "f8", VECTORS),
        ("b", "f8", VECTORS),
        ("c", "f8", VECTORS),
        ("divided", "i8"),  # 1 if divided by |u|
        ("partner", "i8"),  # the vector that r_x of the first node is multiplied with; the same of the second
        ("shear", "f8"),  # factor of these products, opposite at the second node
        ("stiffness", "f8"),
        ("rest", "f8"),
    ]
)
STRAINS, BENDS = extended(e.BASE, strains=(STRAIN, 1), bends=(BEND, 1))


def table(bodies, sites, places) -> Table:
    """Elements, points and markers of all beams."""
    return space_table(bodies, sites, places, (STRAINS, BENDS))


@helper
def bend_parts(point, q, first):
    """u, |u| (1 where nothing divides), |y|, n = y / |y|, x . n, and x without its part along n."""
    x, y = e.combine(point.a, q, first, VECTORS), e.combine(point.b, q, first, VECTORS)
    u, size = e.combine(point.c, q, first, VECTORS), sqrt(dot(y, y))
    stretch = sqrt(dot(u, u)) if point.divided == 1 else 1.0
    n = scale(1.0 / size, y)
    along = dot(x, n)
    return u, stretch, size, n, along, add(x, scale(-along, n))


@helper
def vector(x, first, i):
    """Vector i of an element."""
    return (x[first + 3 * i], x[first + 3 * i + 1], x[first + 3 * i + 2])


@helper
def bend_of(point, q, first, stretch, along):
    """The strain of a bend point whose parts are these."""
    strain = along / stretch - point.rest
    for node in range(2):
        c = point.shear * (1 - 2 * node)
        strain += c * dot(vector(q, first, 4 * node + 1), vector(q, first, 4 * node + point.partner))
    return strain


@helper
def put_slopes(room, at, point, by_x, by_y, by_u, other, first):
    """a_i by_x + b_i by_y + c_i by_u for every vector of an element, and what its nodes' products give, into ROOM."""
    for i in range(VECTORS):
        for k in range(3):
            room[at + 3 * i + k] = point.a[i] * by_x[k] + point.b[i] * by_y[k] + point.c[i] * by_u[k]
    for node in range(2):
        c, one, two = point.shear * (1 - 2 * node), 4 * node + 1, 4 * node + point.partner
        for k in range(3):
            room[at + 3 * one + k] += c * other[first + 3 * two + k]
            room[at + 3 * two + k] += c * other[first + 3 * one + k]


@helper
def put_gradient(room, point, q, first):
    """The derivative of the strain of a bend point by the vectors of its element, into ROOM; returns the strain."""
    u, stretch, size, n, along, across = bend_parts(point, q, first)
    by_x, by_y = scale(1.0 / stretch, n), scale(1.0 / (size * stretch), across)
    put_slopes(room, GRADIENT, point, by_x, by_y, scale(-along / stretch**3, u), q, first)
    return bend_of(point, q, first, stretch, along)


@helper
def put_change(room, point, q, v, first):
    """The rate of that derivative."""
    u, stretch, size, n, along, across = bend_parts(point, q, first)
    x_rate, y_rate = e.combine(point.a, v, first, VECTORS), e.combine(point.b, v, first, VECTORS)
    u_rate = e.combine(point.c, v, first, VECTORS)
    lengthening, growing = dot(u, u_rate) / stretch**2, dot(n, y_rate) / size  # rates of the logarithms of |u|, |y|
    n_rate = scale(1.0 / size, add(y_rate, scale(-growing * size, n)))
    along_rate = dot(x_rate, n) + dot(across, y_rate) / size
    across_rate = add(x_rate, add(scale(-along_rate, n), scale(-along, n_rate)))
    by_x = scale(1.0 / stretch, add(n_rate, scale(-lengthening, n)))
    by_y = scale(1.0 / (size * stretch), add(across_rate, scale(-growing - lengthening, across)))
    by_u = scale(-1.0 / stretch**3, add(scale(along_rate - 3.0 * along * lengthening, u), scale(along, u_rate)))
    put_slopes(room, CHANGE, point, by_x, by_y, by_u, v, first)


@helper
def rate_of(room, v, first):
    """The rate of a strain whose gradient is in ROOM."""
    rate = 0.0
    for i in range(WIDTH):
        rate += room[GRADIENT + i] * v[first + i]
    return rate


@helper
def add_elastic(E, q, v, g):
    """g += elastic and damping forces of every element (on the left side)."""
    elements, rules, strains = view(E, e.ELEMENTS), view(E, e.RULES), view(E, STRAINS)
    bends, room = view(E, BENDS), view(E, e.ROOM)
    for n in range(elements.shape[0]):
        first, rule, lag = elements[n].first, rules[elements[n].rule], elements[n].lag
        for k in range(rule.stretch, rule.stretch + rule.stretch_count):
            a, b = strains[k].a, strains[k].b
            x, y = e.combine(a, q, first, VECTORS), e.combine(b, q, first, VECTORS)
            strain = dot(x, y) - strains[k].rest
            if lag != 0.0:
                strain += lag * (dot(e.combine(a, v, first, VECTORS), y) + dot(x, e.combine(b, v, first, VECTORS)))
            stress = strains[k].stiffness * strain
            e.add_spread(g, first, VECTORS, a, scale(stress, y))
            e.add_spread(g, first, VECTORS, b, scale(stress, x))
        for k in range(rule.bend, rule.bend + rule.bend_count):
            strain = put_gradient(room, bends[k], q, first)
            if lag != 0.0:
                strain += lag * rate_of(room, v, first)
            for i in range(WIDTH):
                g[first + i] += bends[k].stiffness * strain * room[GRADIENT + i]


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
def add_strain(room, point, first, lag, q, v, c_K, c_D):
    """Add the tangent of a point to the matrix of its element: c_K times by q, c_D times by v."""
    a, b, k = point.a, point.b, point.stiffness
    x, y = e.combine(a, q, first, VECTORS), e.combine(b, q, first, VECTORS)
    strain, by_x, by_y = dot(x, y) - point.rest, scale(c_K + lag * c_D, x), scale(c_K + lag * c_D, y)
    if lag != 0.0:
        x_rate, y_rate = e.combine(a, v, first, VECTORS), e.combine(b, v, first, VECTORS)
        strain += lag * (dot(x_rate, y) + dot(x, y_rate))
        by_x, by_y = add(by_x, scale(c_K * lag, x_rate)), add(by_y, scale(c_K * lag, y_rate))
    for i in range(VECTORS):
        if a[i] != 0.0 or b[i] != 0.0:
            for j in range(VECTORS):
                if a[j] != 0.0 or b[j] != 0.0:
                    same = c_K * k * strain * (a[i] * b[j] + b[i] * a[j])
                    for r in range(3):
                        force, at = k * (a[i] * y[r] + b[i] * x[r]), WIDTH * (3 * i + r) + 3 * j
                        for o in range(3):
                            room[at + o] += force * (a[j] * by_y[o] + b[j] * by_x[o])
                        room[at + r] += same


@helper
def add_bend(room, point, first, lag, q, v, c_K, c_D):
    """The same of a bend point."""
    k = point.stiffness
    u, stretch, size, n, along, across = bend_parts(point, q, first)
    strain = put_gradient(room, point, q, first)
    if lag != 0.0:
        put_change(room, point, q, v, first)
        strain += lag * rate_of(room, v, first)
    for i in range(WIDTH):
        force = k * room[GRADIENT + i]
        for j in range(WIDTH):
            change = c_K * lag * room[CHANGE + j] if lag != 0.0 else 0.0
            room[WIDTH * i + j] += force * ((c_K + lag * c_D) * room[GRADIENT + j] + change)
    m, cube = c_K * k * strain, stretch**3
    for r in range(3):
        for o in range(3):
            same = 1.0 if r == o else 0.0
            flat = (same - n[r] * n[o]) / (size * stretch)
            yy = -(along * flat + (n[r] * across[o] + across[r] * n[o]) / (size * stretch)) / size
            uu = -along * (same - 3.0 * u[r] * u[o] / stretch**2) / cube
            xu, ux = -n[r] * u[o] / cube, -u[r] * n[o] / cube
            yu, uy = -across[r] * u[o] / (size * cube), -u[r] * across[o] / (size * cube)
            for i in range(VECTORS):
                by_x = point.b[i] * flat + point.c[i] * ux
                by_y = point.a[i] * flat + point.b[i] * yy + point.c[i] * uy
                by_u = point.a[i] * xu + point.b[i] * yu + point.c[i] * uu
                for j in range(VECTORS):
                    x = by_x * point.a[j] + by_y * point.b[j] + by_u * point.c[j]
                    room[WIDTH * (3 * i + r) + 3 * j + o] += m * x
    for node in range(2):
        c, one, two = m * point.shear * (1 - 2 * node), 4 * node + 1, 4 * node + point.partner
        for r in range(3):
            room[WIDTH * (3 * one + r) + 3 * two + r] += c
            room[WIDTH * (3 * two + r) + 3 * one + r] += c


@kernel
def body_matrix(T, E):
    """Mass, tangent of the elastic forces, and -(J^T F)_q."""
    elements, rules, strains, room = view(E, e.ELEMENTS), view(E, e.RULES), view(E, STRAINS), view(E, e.ROOM)
    places, values, q, v, c = view(E, e.MAP), view(T, s.MATRIX), view(T, s.Q), view(T, s.V), view(T, s.COEF)
    c_K, c_D, bends = c[s.C_K], c[s.C_D], view(E, BENDS)
    for n in range(elements.shape[0]):
        rule, lag = rules[elements[n].rule], elements[n].lag
        e.put_mass(room, rule, c[s.C_M] + c_D * elements[n].drag)
        if c_K != 0.0 or c_D * lag != 0.0:
            for k in range(rule.stretch, rule.stretch + rule.stretch_count):
                add_strain(room, strains[k], elements[n].first, lag, q, v, c_K, c_D)
            for k in range(rule.bend, rule.bend + rule.bend_count):
                add_bend(room, bends[k], elements[n].first, lag, q, v, c_K, c_D)
        e.add_to_matrix(values, places, elements[n].map, room, INSIDE)
    if c_K != 0.0:
        add_torque_stiffness(T, E, q, c_K)
    return OK


@helper
def elastic_energies(E, n, q, v):
    """Elastic energy of an element, and the power of its damping."""
    elements, strains, bends, room = view(E, e.ELEMENTS), view(E, STRAINS), view(E, BENDS), view(E, e.ROOM)
    energy, loss = 0.0, 0.0
    first, rule, lag = elements[n].first, view(E, e.RULES)[elements[n].rule], elements[n].lag
    for k in range(rule.stretch, rule.stretch + rule.stretch_count):
        a, b = strains[k].a, strains[k].b
        x, y = e.combine(a, q, first, VECTORS), e.combine(b, q, first, VECTORS)
        strain = dot(x, y) - strains[k].rest
        rate = dot(e.combine(a, v, first, VECTORS), y) + dot(x, e.combine(b, v, first, VECTORS))
        energy += 0.5 * strains[k].stiffness * strain * strain
        loss += lag * strains[k].stiffness * rate * rate
    for k in range(rule.bend, rule.bend + rule.bend_count):
        strain = put_gradient(room, bends[k], q, first)
        energy += 0.5 * bends[k].stiffness * strain * strain
        if lag != 0.0:
            rate = rate_of(room, v, first)
            loss += lag * bends[k].stiffness * rate * rate
    return energy, -loss


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of strain and gravity; power of damping."""
    bodies, q, v = view(E, e.BODIES), view(T, s.Q), view(T, s.V)
    for b in range(bodies.shape[0]):
        for n in range(bodies[b].element, bodies[b].element + bodies[b].element_count):
            elastic, loss = elastic_energies(E, n, q, v)
            e.add_energies(T, E, n, elastic, loss)
    return OK


STAGES = shared.STAGES | {"gather": gather, "body_matrix": body_matrix, "energies": energies}
