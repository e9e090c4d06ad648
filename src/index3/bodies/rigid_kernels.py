"""Spatial rigid bodies: q = (r, p), r the centre of mass, p Euler parameters.

M = diag(m I, 4 G^T J G), with the quadratic velocity term 8 G(p')^T J G(p) p' on the left side and the normalisation
row (p . p - 1) / 2 = 0. The rotation is that of p / |p|, so nothing but this row depends on |p|, and Newton's
corrections of it disturb no other row. A marker at A s =: d from the centre moves by dr + dtheta x d, dtheta = W dp,
W = 2 E(p)/|p|^2; second derivatives are taken on |p| = 1.
"""

from __future__ import annotations

import numpy as np

from index3.algebra.rotations import E_times, E_transposed, G_times, G_transposed, rotation
from index3.algebra.vectors import add, apply, cross, dot, load, load_at, put_at, scale, sub
from index3.bodies.marker_kernels import put_axes, put_column, torque_change, wrench_about
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view

RIGID = np.dtype(
    [
        ("first", "i8"),  # first coordinate
        ("row", "i8"),  # normalisation row
        ("entry", "i8"),  # its first place in PHI_Q
        ("markers", "i8"),  # its markers, consecutive
        ("marker_count", "i8"),
        ("mass", "f8"),
        ("inertia", "f8", 9),
    ]
)
BODIES, MAP = slots(bodies=(RIGID, 1), map=("i8", 2))
"""MAP: places in MATRIX of the three diagonal entries of r and of the 16 of the p block."""


@helper
def parameters(x, first):
    """The four numbers that belong to the Euler parameters of a body, in q, v or a."""
    return (x[first + 3], x[first + 4], x[first + 5], x[first + 6])


@helper
def translation(x, first):
    """The three numbers that belong to the centre of mass."""
    return (x[first], x[first + 1], x[first + 2])


@helper
def inertia_of(body):
    """The inertia as a 9-tuple, body axes."""
    J = body.inertia
    return (J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8])


@helper
def unit(c):
    """Unit 4-vector c."""
    return (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2), 1.0 * (c == 3))


@helper
def square(p):
    """p . p."""
    return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]


@helper
def angular_velocity(p, rate):
    """W p' in ground axes."""
    return scale(2.0 / square(p), E_times(p, rate))


@helper
def turn(p, c):
    """Column c of 2 E(p): how the body turns when parameter c changes."""
    return scale(2.0, E_times(p, unit(c)))


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    local_r, marker_r, marker_v = view(T, s.LOCAL_R), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p = parameters(q, first)
        A, w, shrink = rotation(p), angular_velocity(p, parameters(v, first)), 1.0 / square(p)
        r, rate = translation(q, first), translation(v, first)
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            d = scale(shrink, apply(A, load(local_r, m)))
            put_at(marker_r, m, 0, add(r, d))
            put_at(marker_v, m, 0, add(rate, cross(w, d)))
            put_at(marker_v, m, 3, w)
            put_axes(T, m, shrink, A)
    return OK


@kernel
def gather(T, E):
    """G -= J^T (wrenches) + gravity; inertia forces; the normalisation row and its reaction."""
    bodies, q, v, lam, g = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.LAM), view(T, s.G)
    phi, size, alone = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.STATUS)[s.ROWS_ALONE] == 1
    for b in range(bodies.shape[0]):
        first, row = bodies[b].first, bodies[b].row
        p, rate = parameters(q, first), parameters(v, first)
        pp = square(p)
        phi[row] = 0.5 * (pp - 1.0)
        size[row] = 0.5 * (pp + 1.0)
        if alone:
            continue
        force, torque = wrench_about(T, bodies[b], translation(q, first))
        h = apply(inertia_of(bodies[b]), G_times(p, rate))
        turning, pushing = G_transposed(rate, h), E_transposed(p, torque)
        for k in range(3):
            g[first + k] -= force[k]
        for k in range(4):
            g[first + 3 + k] += 8.0 * turning[k] - 2.0 / pp * pushing[k] + lam[row] * p[k]
    return OK


@kernel
def mass(T, E):
    """MA += M(q_mass) a."""
    bodies, q, a, ma = view(E, BODIES), view(T, s.Q_MASS), view(T, s.A), view(T, s.MA)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p = parameters(q, first)
        x = G_transposed(p, apply(inertia_of(bodies[b]), G_times(p, parameters(a, first))))
        for k in range(3):
            ma[first + k] += bodies[b].mass * a[first + k]
        for k in range(4):
            ma[first + 3 + k] += 4.0 * x[k]
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J = [I, -d x W; 0, W] and MARKER_NV = (J v)_q of every marker."""
    bodies, markers, q, v = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V)
    marker_r, marker_v = view(T, s.MARKER_R), view(T, s.MARKER_V)
    jacobian, change, alone = view(T, s.MARKER_J), view(T, s.MARKER_NV), view(T, s.STATUS)[s.GRADIENTS_ALONE] == 1
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p, rate, r = parameters(q, first), parameters(v, first), translation(q, first)
        shrink = 1.0 / square(p)
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            d, w, start = sub(load(marker_r, m), r), load_at(marker_v, m, 3), markers[m].jacobian
            for k in range(3):
                jacobian[start + 8 * k] = 1.0
            for c in range(4):
                W = scale(shrink, turn(p, c))
                move = cross(W, d)
                put_column(jacobian, start, 7, 3 + c, move, W)
                if not alone:
                    N = scale(-1.0, turn(rate, c))  # d(w) = 2 E(dp) p' = -2 E(p') dp
                    put_column(change, start, 7, 3 + c, add(cross(w, move), cross(N, d)), N)
    return OK


@kernel
def own_rows(T, E):
    """PHI_Q of the normalisation rows: p."""
    bodies, q, phi_q = view(E, BODIES), view(T, s.Q), view(T, s.PHI_Q)
    for b in range(bodies.shape[0]):
        for k in range(4):
            phi_q[bodies[b].entry + k] = q[bodies[b].first + 3 + k]
    return OK


@helper
def mass_column(body, pm, c, c_M):
    """Column c of the p block of c_M M: 4 c_M G^T J G."""
    x = G_transposed(pm, apply(inertia_of(body), scale(c_M, G_times(pm, unit(c)))))
    return (4.0 * x[0], 4.0 * x[1], 4.0 * x[2], 4.0 * x[3])


@helper
def inertia_column(body, pm, a, p, rate, c, c_M, c_Ma, c_K, c_D):
    """Column c of the p block: mass, (M a)_q and the derivatives of the quadratic velocity term."""
    J, e = inertia_of(body), unit(c)
    # c_M 4 G^T J G;  c_Ma 4 [(G^T h)_p - G^T J G(a)], h = J G a, since G(dp) a = -G(a) dp
    x = add(scale(c_M, G_times(pm, e)), scale(-c_Ma, G_times(a, e)))
    on_mass = G_transposed(pm, apply(J, x))
    turned = G_transposed(e, apply(J, G_times(pm, a)))
    # Q term 8 G(p')^T J G(p) p': by p it is -8 G(p')^T J G(p'), by p' it is 8 [(G^T h)_p' + G(p')^T J G(p)], h = J G p'
    y = add(scale(-c_K, G_times(rate, e)), scale(c_D, G_times(p, e)))
    on_rate = G_transposed(rate, apply(J, y))
    swung = G_transposed(e, apply(J, G_times(p, rate)))
    return (
        4.0 * (on_mass[0] + c_Ma * turned[0]) + 8.0 * (on_rate[0] + c_D * swung[0]),
        4.0 * (on_mass[1] + c_Ma * turned[1]) + 8.0 * (on_rate[1] + c_D * swung[1]),
        4.0 * (on_mass[2] + c_Ma * turned[2]) + 8.0 * (on_rate[2] + c_D * swung[2]),
        4.0 * (on_mass[3] + c_Ma * turned[3]) + 8.0 * (on_rate[3] + c_D * swung[3]),
    )


@helper
def torque_column(T, body, r, p, torque, c):
    """Column c of the p block of (J^T F)_q at constant marker wrenches F, whose torque about r is known."""
    lever = torque_change(T, body, r, turn(p, c))
    by_frame, by_arm, by_length = E_transposed(unit(c), torque), E_transposed(p, lever), E_transposed(p, torque)
    return (
        2.0 * (by_frame[0] + by_arm[0] - 2.0 * p[c] * by_length[0]),
        2.0 * (by_frame[1] + by_arm[1] - 2.0 * p[c] * by_length[1]),
        2.0 * (by_frame[2] + by_arm[2] - 2.0 * p[c] * by_length[2]),
        2.0 * (by_frame[3] + by_arm[3] - 2.0 * p[c] * by_length[3]),
    )


@kernel
def body_matrix(T, E):
    """The bodies' own part of MATRIX, with -(J^T F)_q at constant marker wrenches F."""
    bodies, places, values, c = view(E, BODIES), view(E, MAP), view(T, s.MATRIX), view(T, s.COEF)
    q, v, a, q_mass, lam = view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.Q_MASS), view(T, s.LAM)
    c_M, c_Ma, c_K, c_D = c[s.C_M], c[s.C_MA], c[s.C_K], c[s.C_D]
    alone = c_Ma == 0.0 and c_K == 0.0 and c_D == 0.0  # the mass matrix, for accelerations
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p, r = parameters(q, first), translation(q, first)
        pm, acceleration, rate = parameters(q_mass, first), parameters(a, first), parameters(v, first)
        for k in range(3):
            values[places[b, k]] += c_M * bodies[b].mass
        torque = (0.0, 0.0, 0.0)
        if c_K != 0.0:
            torque = wrench_about(T, bodies[b], r)[1]
        for k in range(4):
            change = (0.0, 0.0, 0.0, 0.0)
            if alone:
                column = mass_column(bodies[b], pm, k, c_M)
            else:
                column = inertia_column(bodies[b], pm, acceleration, p, rate, k, c_M, c_Ma, c_K, c_D)
            if c_K != 0.0:
                change = torque_column(T, bodies[b], r, p, torque, k)
            for i in range(4):
                values[places[b, 3 + 4 * i + k]] += column[i] - c_K * change[i]
            values[places[b, 3 + 5 * k]] += c_K * lam[bodies[b].row]
    return OK


@kernel
def bias(T, E):
    """MARKER_B = w x (w x d); GAMMA of the normalisation rows."""
    bodies, q, v, gamma = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.GAMMA)
    marker_r, marker_v, marker_b = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.MARKER_B)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        rate, r = parameters(v, first), translation(q, first)
        gamma[bodies[b].row] -= rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2] + rate[3] * rate[3]
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            w = load_at(marker_v, m, 3)
            put_at(marker_b, m, 0, cross(w, cross(w, sub(load(marker_r, m), r))))
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias; the normalisation rows' derivatives."""
    bodies, markers, q, v, a = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A)
    marker_r, marker_v, marker_x = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.MARKER_X)
    marker_na, marker_bq, marker_bv = view(T, s.MARKER_NA), view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    phiv_q, phia_q, gamma_v, zero = view(T, s.PHIV_Q), view(T, s.PHIA_Q), view(T, s.GAMMA_V), (0.0, 0.0, 0.0)
    for b in range(bodies.shape[0]):
        first, entry = bodies[b].first, bodies[b].entry
        p, rate, acceleration = parameters(q, first), parameters(v, first), parameters(a, first)
        r, alpha = translation(q, first), scale(2.0, E_times(p, acceleration))
        for k in range(4):
            phiv_q[entry + k] = rate[k]
            phia_q[entry + k] = acceleration[k]
            gamma_v[entry + k] = -2.0 * rate[k]
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            d, w, start = sub(load(marker_r, m), r), load_at(marker_v, m, 3), markers[m].jacobian
            put_at(marker_x, m, 0, add(translation(a, first), cross(alpha, d)))
            put_at(marker_x, m, 3, alpha)
            for c in range(4):
                W, N, Na = turn(p, c), scale(-1.0, turn(rate, c)), scale(-1.0, turn(acceleration, c))
                move = cross(W, d)
                put_column(marker_na, start, 7, 3 + c, add(cross(alpha, move), cross(Na, d)), Na)
                by_w = add(cross(N, cross(w, d)), cross(w, cross(N, d)))
                put_column(marker_bq, start, 7, 3 + c, add(by_w, cross(w, cross(w, move))), zero)
                put_column(marker_bv, start, 7, 3 + c, add(cross(W, cross(w, d)), cross(w, move)), zero)
    return OK


@kernel
def energies(T, E):
    """Kinetic energy, and potential energy in the field of gravity."""
    bodies, q, v, gravity, energy = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.GRAVITY), view(T, s.ENERGY)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        u, half_spin = translation(v, first), G_times(parameters(q, first), parameters(v, first))
        turning = dot(half_spin, apply(inertia_of(bodies[b]), half_spin))
        energy[s.KINETIC] += 0.5 * bodies[b].mass * dot(u, u) + 2.0 * turning
        weight = (gravity[0], gravity[1], gravity[2])
        energy[s.POTENTIAL] -= bodies[b].mass * dot(weight, translation(q, first))
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians, "own_rows": own_rows,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
