"""Spatial rigid bodies by Euler angles: q = (r, phi, theta, psi), r the centre of mass; no row of their own.

A = R Rz(phi) Rx(theta) Rz(psi) with a constant reference rotation R. Angle c turns the body about b_c, a unit vector in
ground axes: w = b_0 phi' + b_1 theta' + b_2 psi'. An angle carries the axes of the later ones along, so

    d(b_c)/d(angle k) = b_k x b_c for k < c, else 0;    d(J)/d(angle k) = b_k x J - J b_k x

with J the inertia in ground axes. All derivatives below follow from these two. The equations of rotation are those of
Newton and Euler times b_c: M_ij = b_i . J b_j, and b_i . (J beta + w x J w) on the left side, beta = w' at zero angular
accelerations.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from index3.algebra.vectors import add, apply, cross, dot, load, load_at, multiply, pick, put_at, scale, sub
from index3.bodies.marker_kernels import put_axes, put_column, torque_change, wrench_about
from index3.bodies.rigid_kernels import inertia_of, translation
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view

EULER = np.dtype(
    [
        ("first", "i8"),  # first coordinate
        ("markers", "i8"),  # its markers, consecutive
        ("marker_count", "i8"),
        ("mass", "f8"),
        ("inertia", "f8", 9),
        ("reference", "f8", 9),  # R
    ]
)
BODIES, MAP = slots(bodies=(EULER, 1), map=("i8", 2))
"""MAP: places in MATRIX of the three diagonal entries of r and of the 9 of the angle block."""

SINGULAR = 1e-3
"""|sin theta| below which a body counts as singular: there M has the condition 1e6, and angles turn 1e3 times as fast
as the body."""


@helper
def angles(x, first):
    """The three numbers that belong to the angles of a body, in q, v or a."""
    return (x[first + 3], x[first + 4], x[first + 5])


@helper
def transpose(A):
    """The transpose of a 9-tuple."""
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@helper
def reference_of(body):
    """R as a 9-tuple."""
    R = body.reference
    return (R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8])


@helper
def rotation_of(body, angle):
    """The rotation matrix."""
    cf, sf, ct, st, cp, sp = cos(angle[0]), sin(angle[0]), cos(angle[1]), sin(angle[1]), cos(angle[2]), sin(angle[2])
    A = (
        cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st,
        sf * cp + cf * ct * sp, -sf * sp + cf * ct * cp, -cf * st,
        st * sp, st * cp, ct,
    )  # fmt: skip
    return multiply(reference_of(body), A)


@helper
def axes_of(body, angle):
    """b_0, b_1, b_2."""
    R, cf, sf, ct, st = reference_of(body), cos(angle[0]), sin(angle[0]), cos(angle[1]), sin(angle[1])
    return (apply(R, (0.0, 0.0, 1.0)), apply(R, (cf, sf, 0.0)), apply(R, (sf * st, -cf * st, ct)))


@helper
def inertia_in_ground(body, A):
    """A J A^T."""
    return multiply(multiply(A, inertia_of(body)), transpose(A))


@helper
def combine(b, x):
    """b_0 x_0 + b_1 x_1 + b_2 x_2: the angular velocity of angle rates x."""
    return add(add(scale(x[0], b[0]), scale(x[1], b[1])), scale(x[2], b[2]))


@helper
def carried(b, k, c):
    """Derivative of b_c by angle k."""
    return scale(1.0 * (k < c), cross(pick(b, k), pick(b, c)))


@helper
def combine_carried(b, k, x):
    """Derivative of combine(b, x) by angle k."""
    later = add(scale(x[1] * (k < 1), b[1]), scale(x[2] * (k < 2), b[2]))
    return cross(pick(b, k), later)


@helper
def bias_of(b, v):
    """beta: the sum over k < c of b_k x b_c v_k v_c."""
    y = add(scale(v[0], b[0]), scale(v[1], b[1]))
    return add(scale(v[0] * v[1], cross(b[0], b[1])), scale(v[2], cross(y, b[2])))


@helper
def bias_by_angle(b, v, k):
    """Derivative of beta by angle k."""
    b0, b1, b2 = b[0], carried(b, k, 1), carried(b, k, 2)  # b_0 never turns
    y = add(scale(v[0], b0), scale(v[1], b[1]))
    turned = add(scale(v[0] * v[1], cross(b0, b1)), scale(v[2] * v[1], cross(b1, b[2])))
    return add(turned, scale(v[2], cross(y, b2)))


@helper
def bias_by_rate(b, v, k):
    """Derivative of beta by the rate of angle k: what it carries along, and what carries it."""
    before = add(scale(v[0] * (k > 0), b[0]), scale(v[1] * (k > 1), b[1]))
    return add(combine_carried(b, k, v), cross(before, pick(b, k)))


@helper
def turned_inertia(J, b, k, x):
    """Derivative of J by angle k, times x."""
    return sub(cross(pick(b, k), apply(J, x)), apply(J, cross(pick(b, k), x)))


@kernel
def poses(T, E):
    """Pose and twist of every marker; fails where the angles are singular."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    local_r, marker_r, marker_v = view(T, s.LOCAL_R), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        angle = angles(q, first)
        if not abs(sin(angle[1])) >= SINGULAR:  # also NaN
            return b + 1
        A, w = rotation_of(bodies[b], angle), combine(axes_of(bodies[b], angle), angles(v, first))
        r, rate = translation(q, first), translation(v, first)
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            d = apply(A, load(local_r, m))
            put_at(marker_r, m, 0, add(r, d))
            put_at(marker_v, m, 0, add(rate, cross(w, d)))
            put_at(marker_v, m, 3, w)
            put_axes(T, m, 1.0, A)
    return OK


@kernel
def gather(T, E):
    """G -= J^T (wrenches) + gravity; inertia forces."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    bodies, q, v, g = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.G)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        angle, rate = angles(q, first), angles(v, first)
        force, torque = wrench_about(T, bodies[n], translation(q, first))
        b = axes_of(bodies[n], angle)
        J, w = inertia_in_ground(bodies[n], rotation_of(bodies[n], angle)), combine(b, rate)
        left = sub(add(apply(J, bias_of(b, rate)), cross(w, apply(J, w))), torque)
        for k in range(3):
            g[first + k] -= force[k]
            g[first + 3 + k] += dot(pick(b, k), left)
    return OK


@kernel
def mass(T, E):
    """MA += M(q_mass) a."""
    bodies, q, a, ma = view(E, BODIES), view(T, s.Q_MASS), view(T, s.A), view(T, s.MA)
    for n in range(bodies.shape[0]):
        first, angle = bodies[n].first, angles(q, bodies[n].first)
        b = axes_of(bodies[n], angle)
        x = apply(inertia_in_ground(bodies[n], rotation_of(bodies[n], angle)), combine(b, angles(a, first)))
        for k in range(3):
            ma[first + k] += bodies[n].mass * a[first + k]
            ma[first + 3 + k] += dot(pick(b, k), x)
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J = [I, b_c x d; 0, b_c] and MARKER_NV = (J v)_q of every marker."""
    bodies, markers, q, v = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V)
    marker_r, marker_v = view(T, s.MARKER_R), view(T, s.MARKER_V)
    jacobian, change = view(T, s.MARKER_J), view(T, s.MARKER_NV)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        b, rate, r = axes_of(bodies[n], angles(q, first)), angles(v, first), translation(q, first)
        for m in range(bodies[n].markers, bodies[n].markers + bodies[n].marker_count):
            d, w, start = sub(load(marker_r, m), r), load_at(marker_v, m, 3), markers[m].jacobian
            for k in range(3):
                jacobian[start + 7 * k] = 1.0
                move, N = cross(pick(b, k), d), combine_carried(b, k, rate)
                put_column(jacobian, start, 6, 3 + k, move, pick(b, k))
                put_column(change, start, 6, 3 + k, add(cross(N, d), cross(w, move)), N)
    return OK


@helper
def inertia_column(J, b, v, k, c_K, c_D):
    """c_K times the derivative by angle k and c_D times that by its rate of J beta + w x J w."""
    w, w_k, beta = combine(b, v), combine_carried(b, k, v), bias_of(b, v)
    h, h_k = apply(J, w), add(turned_inertia(J, b, k, w), apply(J, w_k))
    by_angle = add(turned_inertia(J, b, k, beta), apply(J, bias_by_angle(b, v, k)))
    by_angle = add(by_angle, add(cross(w_k, h), cross(w, h_k)))
    by_rate = add(apply(J, bias_by_rate(b, v, k)), add(cross(pick(b, k), h), cross(w, apply(J, pick(b, k)))))
    return add(scale(c_K, by_angle), scale(c_D, by_rate))


@kernel
def body_matrix(T, E):
    """The bodies' own part of MATRIX, with -(J^T F)_q at constant marker wrenches F."""
    bodies, places, values, c = view(E, BODIES), view(E, MAP), view(T, s.MATRIX), view(T, s.COEF)
    q, v, a, q_mass = view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.Q_MASS)
    c_M, c_Ma, c_K, c_D = c[s.C_M], c[s.C_MA], c[s.C_K], c[s.C_D]
    for n in range(bodies.shape[0]):
        first, body = bodies[n].first, bodies[n]
        angle, rate, r = angles(q, first), angles(v, first), translation(q, first)
        b, J = axes_of(body, angle), inertia_in_ground(body, rotation_of(body, angle))
        angle_m, acceleration = angles(q_mass, first), angles(a, first)
        bm, Jm = axes_of(body, angle_m), inertia_in_ground(body, rotation_of(body, angle_m))
        x = combine(bm, acceleration)
        torque, w = wrench_about(T, body, r)[1], combine(b, rate)
        left = sub(add(apply(J, bias_of(b, rate)), cross(w, apply(J, w))), torque)
        for k in range(3):
            values[places[n, k]] += c_M * body.mass
            lever = torque_change(T, body, r, pick(b, k))
            column = sub(inertia_column(J, b, rate, k, c_K, c_D), scale(c_K, lever))
            on_mass = add(turned_inertia(Jm, bm, k, x), apply(Jm, combine_carried(bm, k, acceleration)))
            on_mass = add(scale(c_M, apply(Jm, pick(bm, k))), scale(c_Ma, on_mass))
            for i in range(3):
                by_axis = c_K * dot(carried(b, k, i), left) + c_Ma * dot(carried(bm, k, i), apply(Jm, x))
                values[places[n, 3 + 3 * i + k]] += dot(pick(b, i), column) + dot(pick(bm, i), on_mass) + by_axis
    return OK


@kernel
def bias(T, E):
    """MARKER_B = (beta x d + w x (w x d), beta)."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    marker_r, marker_v, marker_b = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.MARKER_B)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        beta, r = bias_of(axes_of(bodies[n], angles(q, first)), angles(v, first)), translation(q, first)
        for m in range(bodies[n].markers, bodies[n].markers + bodies[n].marker_count):
            w, d = load_at(marker_v, m, 3), sub(load(marker_r, m), r)
            put_at(marker_b, m, 0, add(cross(beta, d), cross(w, cross(w, d))))
            put_at(marker_b, m, 3, beta)
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias."""
    bodies, markers, q, v, a = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A)
    marker_r, marker_v, marker_x = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.MARKER_X)
    marker_na, marker_bq, marker_bv = view(T, s.MARKER_NA), view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        b, rate, acceleration = axes_of(bodies[n], angles(q, first)), angles(v, first), angles(a, first)
        r, x, beta = translation(q, first), combine(b, acceleration), bias_of(b, rate)
        for m in range(bodies[n].markers, bodies[n].markers + bodies[n].marker_count):
            d, w, start = sub(load(marker_r, m), r), load_at(marker_v, m, 3), markers[m].jacobian
            put_at(marker_x, m, 0, add(translation(a, first), cross(x, d)))
            put_at(marker_x, m, 3, x)
            for k in range(3):
                move, N, Na = cross(pick(b, k), d), combine_carried(b, k, rate), combine_carried(b, k, acceleration)
                put_column(marker_na, start, 6, 3 + k, add(cross(Na, d), cross(x, move)), Na)
                beta_q, beta_v = bias_by_angle(b, rate, k), bias_by_rate(b, rate, k)
                by_w = add(cross(N, cross(w, d)), cross(w, add(cross(N, d), cross(w, move))))
                by_beta = add(cross(beta_q, d), cross(beta, move))
                put_column(marker_bq, start, 6, 3 + k, add(by_beta, by_w), beta_q)
                by_rate = add(cross(pick(b, k), cross(w, d)), cross(w, move))
                put_column(marker_bv, start, 6, 3 + k, add(cross(beta_v, d), by_rate), beta_v)
    return OK


@kernel
def energies(T, E):
    """Kinetic energy, and potential energy in the field of gravity."""
    bodies, q, v, gravity, energy = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.GRAVITY), view(T, s.ENERGY)
    for n in range(bodies.shape[0]):
        first, angle = bodies[n].first, angles(q, bodies[n].first)
        u, w = translation(v, first), combine(axes_of(bodies[n], angle), angles(v, first))
        turning = dot(w, apply(inertia_in_ground(bodies[n], rotation_of(bodies[n], angle)), w))
        energy[s.KINETIC] += 0.5 * (bodies[n].mass * dot(u, u) + turning)
        weight = (gravity[0], gravity[1], gravity[2])
        energy[s.POTENTIAL] -= bodies[n].mass * dot(weight, translation(q, first))
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
