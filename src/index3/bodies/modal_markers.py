"""Markers of flexible bodies with modes, on their nodes.

In the body frame a node is at s_0 + sum of phi_k eta_k and turned by C(theta), theta = sum of psi_k eta_k
(`small_rotations`); a marker at c in the frame of its node stands at s = s_0 + sum of phi_k eta_k + C c. So mode k
carries it by u_k = phi_k + w_k x C c and turns it by w_k = T(theta) psi_k, and in ground, with d = A s,

    dr = dR + W dp x d + A sum of u_k deta_k,    dtheta = W dp + A sum of w_k deta_k.

As for rigid bodies, second derivatives are taken on |p| = 1.
"""

from __future__ import annotations

from index3.algebra.rotations import rotation
from index3.algebra.small_rotations import small_rotation, small_spin, small_spin_change
from index3.algebra.vectors import add, apply, cross, dot, load, load_at, multiply, put_at, scale, sub
from index3.bodies.marker_kernels import put_axes, put_column
from index3.bodies.modal_tables import BODIES, MARKS, SHAPES
from index3.bodies.rigid_kernels import angular_velocity, parameters, square, translation, turn
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view

FRAME = 7
"""Coordinates of the frame, before those of the modes."""


@helper
def axes_of(p):
    """The rotation of p / |p|."""
    A, c = rotation(p), 1.0 / square(p)
    return (c * A[0], c * A[1], c * A[2], c * A[3], c * A[4], c * A[5], c * A[6], c * A[7], c * A[8])


@helper
def deflection(E, mark, body, x):
    """Displacement and rotation of a node in the body frame, or their rates, from x = q, v or a."""
    shapes, u, theta = view(E, SHAPES), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(body.count):
        eta = x[body.first + FRAME + k]
        u = add(u, scale(eta, load(shapes, mark.shape + k)))
        theta = add(theta, scale(eta, load_at(shapes, mark.shape + k, 3)))
    return u, theta


@helper
def rest_of(mark):
    """The place of its node without deformation."""
    return (mark.rest[0], mark.rest[1], mark.rest[2])


@helper
def arm_of(T, m, theta):
    """C c of a marker."""
    return apply(small_rotation(theta), load(view(T, s.LOCAL_R), m))


@helper
def carried(u, spin, arm):
    """The velocity of a point on an arm whose foot moves at u."""
    return add(u, cross(spin, arm))


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    bodies, marks, q, v = view(E, BODIES), view(E, MARKS), view(T, s.Q), view(T, s.V)
    marker_r, marker_v = view(T, s.MARKER_R), view(T, s.MARKER_V)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p = parameters(q, first)
        A, w = axes_of(p), angular_velocity(p, parameters(v, first))
        for n in range(bodies[b].mark, bodies[b].mark + bodies[b].marker_count):
            m = marks[n].marker
            u, theta = deflection(E, marks[n], bodies[b], q)
            u_rate, theta_rate = deflection(E, marks[n], bodies[b], v)
            C, spin = small_rotation(theta), small_spin(theta, theta_rate)
            arm = apply(C, load(view(T, s.LOCAL_R), m))
            d = apply(A, add(add(rest_of(marks[n]), u), arm))
            put_at(marker_r, m, 0, add(translation(q, first), d))
            speed = add(cross(w, d), apply(A, carried(u_rate, spin, arm)))
            put_at(marker_v, m, 0, add(translation(v, first), speed))
            put_at(marker_v, m, 3, add(w, apply(A, spin)))
            put_axes(T, m, 1.0, multiply(A, C))
    return OK


@helper
def put_change(T, E, x, out):
    """(J x)_q of every marker."""
    bodies, marks, markers, shapes = view(E, BODIES), view(E, MARKS), view(T, s.MARKERS), view(E, SHAPES)
    q, marker_r = view(T, s.Q), view(T, s.MARKER_R)
    for b in range(bodies.shape[0]):
        first, width = bodies[b].first, FRAME + bodies[b].count
        p, rate = parameters(q, first), parameters(x, first)
        A, alpha, shrink = axes_of(p), angular_velocity(p, rate), 1.0 / square(p)
        for n in range(bodies[b].mark, bodies[b].mark + bodies[b].marker_count):
            m = marks[n].marker
            start, d = markers[m].jacobian, sub(load(marker_r, m), translation(q, first))
            theta = deflection(E, marks[n], bodies[b], q)[1]
            u_x, theta_x = deflection(E, marks[n], bodies[b], x)
            arm, spin = arm_of(T, m, theta), small_spin(theta, theta_x)
            U, turned = apply(A, carried(u_x, spin, arm)), apply(A, spin)
            for c in range(4):
                W, N = scale(shrink, turn(p, c)), scale(-1.0, turn(rate, c))
                top = add(add(cross(N, d), cross(alpha, cross(W, d))), cross(W, U))
                put_column(out, start, width, 3 + c, top, add(N, cross(W, turned)))
            for k in range(bodies[b].count):
                psi = load_at(shapes, marks[n].shape + k, 3)
                own = small_spin(theta, psi)
                u_k = carried(load(shapes, marks[n].shape + k), own, arm)
                bent = small_spin_change(theta, theta_x, spin, psi)
                change = add(cross(bent, arm), cross(spin, cross(own, arm)))
                put_column(
                    out, start, width, FRAME + k,
                    add(cross(alpha, apply(A, u_k)), apply(A, change)), apply(A, bent),
                )  # fmt: skip


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker."""
    bodies, marks, markers, shapes = view(E, BODIES), view(E, MARKS), view(T, s.MARKERS), view(E, SHAPES)
    q, marker_r, jacobian = view(T, s.Q), view(T, s.MARKER_R), view(T, s.MARKER_J)
    for b in range(bodies.shape[0]):
        first, width = bodies[b].first, FRAME + bodies[b].count
        p = parameters(q, first)
        A, shrink = axes_of(p), 1.0 / square(p)
        for n in range(bodies[b].mark, bodies[b].mark + bodies[b].marker_count):
            m = marks[n].marker
            start, d = markers[m].jacobian, sub(load(marker_r, m), translation(q, first))
            theta = deflection(E, marks[n], bodies[b], q)[1]
            arm = arm_of(T, m, theta)
            for c in range(3):
                jacobian[start + width * c + c] = 1.0
            for c in range(4):
                W = scale(shrink, turn(p, c))
                put_column(jacobian, start, width, 3 + c, cross(W, d), W)
            for k in range(bodies[b].count):
                spin = small_spin(theta, load_at(shapes, marks[n].shape + k, 3))
                u = carried(load(shapes, marks[n].shape + k), spin, arm)
                put_column(jacobian, start, width, FRAME + k, apply(A, u), apply(A, spin))
    put_change(T, E, view(T, s.V), view(T, s.MARKER_NV))
    return OK


@helper
def second_spin(theta, theta_rate, spin):
    """What T(theta)' theta' adds to the angular acceleration of a node, in the body frame."""
    return small_spin_change(theta, theta_rate, spin, theta_rate)


@helper
def turned_twice(beta, spin, arm):
    """The acceleration of the end of an arm that turns at `spin`, beta its angular acceleration."""
    return add(cross(beta, arm), cross(spin, cross(spin, arm)))


@kernel
def bias(T, E):
    """MARKER_B = (J v)_q v; GAMMA of the normalisation rows."""
    bodies, marks, q, v, gamma = view(E, BODIES), view(E, MARKS), view(T, s.Q), view(T, s.V), view(T, s.GAMMA)
    marker_r, marker_b = view(T, s.MARKER_R), view(T, s.MARKER_B)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        p, rate = parameters(q, first), parameters(v, first)
        A, w = axes_of(p), angular_velocity(p, rate)
        gamma[bodies[b].row] -= square(rate)
        for n in range(bodies[b].mark, bodies[b].mark + bodies[b].marker_count):
            m = marks[n].marker
            d = sub(load(marker_r, m), translation(q, first))
            theta = deflection(E, marks[n], bodies[b], q)[1]
            u_rate, theta_rate = deflection(E, marks[n], bodies[b], v)
            arm, spin = arm_of(T, m, theta), small_spin(theta, theta_rate)
            beta, U = second_spin(theta, theta_rate, spin), apply(A, carried(u_rate, spin, arm))
            around = cross(w, add(cross(w, d), scale(2.0, U)))
            put_at(marker_b, m, 0, add(around, apply(A, turned_twice(beta, spin, arm))))
            put_at(marker_b, m, 3, add(cross(w, apply(A, spin)), apply(A, beta)))
    return OK


@helper
def second_spin_by(theta, theta_rate, spin, psi, bent):
    """How `second_spin` changes with theta along psi, which changes the spin by `bent`.

    Since it is -c spin, c = theta . theta' / (2 D), D = 1 + theta . theta / 4.
    """
    D = 1.0 + 0.25 * dot(theta, theta)
    c = 0.5 * dot(theta, theta_rate) / D
    change = 0.5 * (dot(psi, theta_rate) - c * dot(theta, psi)) / D
    return add(scale(-c, bent), scale(-change, spin))


@helper
def second_spin_by_rate(theta, theta_rate, spin, psi, own):
    """How `second_spin` changes with theta' along psi, which changes the spin by `own`."""
    D = 1.0 + 0.25 * dot(theta, theta)
    return add(scale(-0.5 * dot(theta, theta_rate) / D, own), scale(-0.5 * dot(theta, psi) / D, spin))


@helper
def put_bias_by_mode(T, E, body, mark, k, A, w, theta, theta_rate, spin, beta):
    """The columns of mode k in MARKER_BQ and MARKER_BV of a marker."""
    m, start, shapes = mark.marker, view(T, s.MARKERS)[mark.marker].jacobian, view(E, SHAPES)
    width, psi, arm = FRAME + body.count, load_at(shapes, mark.shape + k, 3), arm_of(T, m, theta)
    own, bent = small_spin(theta, psi), small_spin_change(theta, theta_rate, spin, psi)
    moved = cross(own, arm)
    U = apply(A, add(load(shapes, mark.shape + k), moved))
    U_change = apply(A, add(cross(bent, arm), cross(spin, moved)))
    beta_q = second_spin_by(theta, theta_rate, spin, psi, bent)
    inside = add(cross(beta_q, arm), cross(beta, moved))
    inside = add(inside, add(cross(bent, cross(spin, arm)), cross(spin, cross(bent, arm))))
    inside = add(inside, cross(spin, cross(spin, moved)))
    top = add(cross(w, add(cross(w, U), scale(2.0, U_change))), apply(A, inside))
    bottom = add(cross(w, apply(A, bent)), apply(A, beta_q))
    put_column(view(T, s.MARKER_BQ), start, width, FRAME + k, top, bottom)
    beta_v = second_spin_by_rate(theta, theta_rate, spin, psi, own)
    inside = add(cross(beta_v, arm), add(cross(own, cross(spin, arm)), cross(spin, moved)))
    top = add(scale(2.0, cross(w, U)), apply(A, inside))
    put_column(view(T, s.MARKER_BV), start, width, FRAME + k, top, add(cross(w, apply(A, own)), apply(A, beta_v)))


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias; the normalisation rows' derivatives."""
    bodies, marks, markers, q, v, a = (
        view(E, BODIES), view(E, MARKS), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A),
    )  # fmt: skip
    marker_r, marker_x = view(T, s.MARKER_R), view(T, s.MARKER_X)
    marker_bq, marker_bv = view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    phiv_q, phia_q, gamma_v = view(T, s.PHIV_Q), view(T, s.PHIA_Q), view(T, s.GAMMA_V)
    for b in range(bodies.shape[0]):
        first, entry, width = bodies[b].first, bodies[b].entry, FRAME + bodies[b].count
        p, rate, second = parameters(q, first), parameters(v, first), parameters(a, first)
        A, w, alpha = axes_of(p), angular_velocity(p, rate), angular_velocity(p, second)
        for k in range(4):
            phiv_q[entry + k] = rate[k]
            phia_q[entry + k] = second[k]
            gamma_v[entry + k] = -2.0 * rate[k]
        for n in range(bodies[b].mark, bodies[b].mark + bodies[b].marker_count):
            m = marks[n].marker
            start, d = markers[m].jacobian, sub(load(marker_r, m), translation(q, first))
            theta = deflection(E, marks[n], bodies[b], q)[1]
            u_rate, theta_rate = deflection(E, marks[n], bodies[b], v)
            u_second, theta_second = deflection(E, marks[n], bodies[b], a)
            arm, spin, spin_rate = arm_of(T, m, theta), small_spin(theta, theta_rate), small_spin(theta, theta_second)
            X = add(cross(alpha, d), apply(A, carried(u_second, spin_rate, arm)))
            put_at(marker_x, m, 0, add(translation(a, first), X))
            put_at(marker_x, m, 3, add(alpha, apply(A, spin_rate)))
            beta = second_spin(theta, theta_rate, spin)
            U, turned, B = apply(A, carried(u_rate, spin, arm)), apply(A, spin), apply(A, turned_twice(beta, spin, arm))
            for c in range(4):
                W, N = turn(p, c), scale(-1.0, turn(rate, c))
                wd, Wd = cross(w, d), cross(W, d)
                by_q = add(cross(N, add(wd, scale(2.0, U))), cross(w, add(cross(N, d), cross(w, Wd))))
                by_q = add(by_q, add(scale(2.0, cross(w, cross(W, U))), cross(W, B)))
                by_turn = add(add(cross(N, turned), cross(w, cross(W, turned))), cross(W, apply(A, beta)))
                put_column(marker_bq, start, width, 3 + c, by_q, by_turn)
                by_rate = add(cross(W, add(wd, scale(2.0, U))), cross(w, Wd))
                put_column(marker_bv, start, width, 3 + c, by_rate, cross(W, turned))
            for k in range(bodies[b].count):
                put_bias_by_mode(T, E, bodies[b], marks[n], k, A, w, theta, theta_rate, spin, beta)
    put_change(T, E, a, view(T, s.MARKER_NA))
    return OK
