"""The own part of the matrix of flexible bodies with modes; terms and names as in `modal_inertia`."""

from __future__ import annotations

from index3.algebra.rotations import G_times, G_transposed
from index3.algebra.small_rotations import small_spin, small_spin_transposed
from index3.algebra.vectors import add, apply, apply_transposed, cross, dot, load, load_at, scale, sub
from index3.bodies.marker_kernels import wrench_about
from index3.bodies.modal_inertia import (
    AT,
    AT_MASS,
    LOAD,
    RATE,
    SECOND,
    contract,
    inertia_at,
    inertia_change,
    inertia_rate,
    line_of,
    moment_of,
    moment_sum,
    spin_of,
    times,
    turn_of,
    turn_sum,
    velocity_terms,
    weight_of,
)
from index3.bodies.modal_markers import FRAME, arm_of, axes_of, carried, deflection
from index3.bodies.modal_tables import BODIES, LINES, MAP, MARKS, MODES, PAIRS, ROOM, SHAPES
from index3.bodies.rigid_kernels import parameters, torque_column, translation, unit
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view


@helper
def put_turned(values, places, start, width, column, force, turning):
    """Add a force and a change of the four parameters' equations to a column of a body's part of MATRIX."""
    for i in range(3):
        values[places[start + width * i + column]] += force[i]
    for i in range(4):
        values[places[start + width * (3 + i) + column]] += turning[i]


@helper
def plus(a, b, x, y):
    """a x + b y of 4-vectors."""
    return (a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2], a * x[3] + b * y[3])


@helper
def add_mass_columns(T, E, body):
    """c_M M + c_Ma (M a)_q at q_mass, but for the pairs of modes."""
    values, places, c, q, a = (
        view(T, s.MATRIX), view(E, MAP), view(T, s.COEF), view(T, s.Q_MASS), view(T, s.A),
    )  # fmt: skip
    first, start, width, c_M, c_Ma = body.first, body.place, FRAME + body.count, c[s.C_M], c[s.C_MA]
    p, second = parameters(q, first), parameters(a, first)
    A, alpha, J = axes_of(p), spin_of(p, second), inertia_at(E, body, q, AT_MASS)
    b, pushed, push = moment_sum(E, body, q), moment_sum(E, body, a), apply_transposed(A, translation(a, first))
    torque = add(cross(b, push), add(times(J, alpha), turn_sum(E, body, a, AT_MASS)))
    pushed = add(cross(alpha, b), pushed)
    for i in range(3):
        values[places[start + width * i + i]] += c_M * body.mass
    for o in range(4):
        # w is linear in p' and in p: for a column of M it is 2 G(p) e, for a change of p 2 G(e) p' = -2 G(p') e
        e = unit(o)
        turned = scale(2.0, G_times(p, e))
        x = add(scale(c_M, turned), scale(-2.0 * c_Ma, G_times(second, e)))
        away = scale(c_Ma, cross(turned, push))
        force = apply(A, add(cross(x, b), scale(c_Ma, cross(turned, pushed))))
        turning = G_transposed(p, sub(times(J, x), cross(b, away)))
        put_turned(values, places, start, width, 3 + o, force, plus(2.0, 2.0 * c_Ma, turning, G_transposed(e, torque)))
        pulled = apply(A, scale(c_M, cross(turned, b)))
        for i in range(3):
            values[places[start + width * (3 + o) + i]] += pulled[i]
        for k in range(body.count):
            change = dot(turn_of(E, body, k, AT_MASS), x) - dot(moment_of(E, body, k), away)
            values[places[start + width * (FRAME + k) + 3 + o]] += change
    for k in range(body.count):
        P, H, D = moment_of(E, body, k), turn_of(E, body, k, AT_MASS), inertia_change(E, body, k, AT_MASS)
        force = add(scale(c_M, P), scale(c_Ma, cross(alpha, P)))
        by_q = add(cross(P, push), add(times(D, alpha), line_of(E, body, k, SECOND, 9)))
        turning = G_transposed(p, add(scale(c_M, H), scale(c_Ma, by_q)))
        put_turned(values, places, start, width, FRAME + k, apply(A, force), plus(2.0, 0.0, turning, turning))
        pulled = apply(A, scale(c_M, P))
        for i in range(3):
            values[places[start + width * (FRAME + k) + i]] += pulled[i]


@helper
def add_rate_columns(T, E, body):
    """c_K and c_D times the derivatives of the terms of velocity and gravity, but for the pairs of modes."""
    values, places, c, q, v = view(T, s.MATRIX), view(E, MAP), view(T, s.COEF), view(T, s.Q), view(T, s.V)
    first, start, width, c_K, c_D = body.first, body.place, FRAME + body.count, c[s.C_K], c[s.C_D]
    p, rate = parameters(q, first), parameters(v, first)
    A, w = axes_of(p), spin_of(p, rate)
    g, J, J_rate = weight_of(T, A), inertia_at(E, body, q, AT), inertia_rate(E, body, v)
    b, b_rate = moment_sum(E, body, q), moment_sum(E, body, v)
    z, y, h = velocity_terms(T, E, body, A, w)
    for o in range(4):
        e = unit(o)
        turned = scale(2.0, G_times(p, e))
        x = add(scale(c_D, turned), scale(-2.0 * c_K, G_times(rate, e)))
        turned = scale(c_K, turned)
        force = add(cross(x, add(scale(2.0, b_rate), cross(w, b))), cross(w, cross(x, b)))
        torque = add(times(J_rate, x), add(cross(x, h), cross(w, times(J, x))))
        turning = G_transposed(p, add(torque, cross(b, cross(turned, g))))
        change = plus(2.0, 2.0 * c_K, turning, G_transposed(e, y))
        put_turned(values, places, start, width, 3 + o, apply(A, add(force, cross(turned, z))), change)
        for k in range(body.count):
            gyro = sub(line_of(E, body, k, RATE, 6), line_of(E, body, k, RATE, 9))
            gyro = sub(gyro, times(inertia_change(E, body, k, AT), w))
            change_k = dot(gyro, x) - dot(g, cross(turned, moment_of(E, body, k)))
            values[places[start + width * (FRAME + k) + 3 + o]] += change_k
    for k in range(body.count):
        P, H, Dw = moment_of(E, body, k), turn_of(E, body, k, AT), times(inertia_change(E, body, k, AT), w)
        before, behind = line_of(E, body, k, RATE, 6), line_of(E, body, k, RATE, 9)
        a, d = line_of(E, body, k, RATE, 0), line_of(E, body, k, RATE, 3)
        by_q = add(times((a[0], a[1], a[2], d[0], d[1], d[2]), w), sub(cross(w, add(Dw, behind)), cross(P, g)))
        by_v = add(add(Dw, cross(w, H)), add(before, behind))
        turning = G_transposed(p, add(scale(c_K, by_q), scale(c_D, by_v)))
        force = cross(w, add(scale(c_K, cross(w, P)), scale(2.0 * c_D, P)))
        put_turned(values, places, start, width, FRAME + k, apply(A, force), plus(2.0, 0.0, turning, turning))


@helper
def add_pairs(T, E, body):
    """The block of the modes, but for the loads."""
    values, places, c, pairs = view(T, s.MATRIX), view(E, MAP), view(T, s.COEF), view(E, PAIRS)
    modes, first, n, width = view(E, MODES), body.first, body.count, FRAME + body.count
    w = spin_of(parameters(view(T, s.Q), first), parameters(view(T, s.V), first))
    alpha = spin_of(parameters(view(T, s.Q_MASS), first), parameters(view(T, s.A), first))
    ahead, back = add(scale(c[s.C_MA], alpha), scale(c[s.C_D], w)), scale(c[s.C_D], w)
    # of - c_K w . J_kl w: the products of w that go with xx, yy, zz, xy, yz, zx
    squares = scale(-c[s.C_K], (w[0] * w[0], w[1] * w[1], w[2] * w[2]))
    products = scale(-2.0 * c[s.C_K], (w[0] * w[1], w[1] * w[2], w[2] * w[0]))
    for k in range(n):
        for o in range(n):
            one, other = body.pair + k * n + o, body.pair + o * n + k
            x = dot(squares, load(pairs, one)) + dot(products, load_at(pairs, one, 3))
            x += dot(ahead, load_at(pairs, other, 6)) - dot(back, load_at(pairs, one, 6))
            values[places[body.place + width * (FRAME + k) + FRAME + o]] += x
        mode = modes[body.mode + k]
        diagonal = c[s.C_M] + c[s.C_K] * mode.stiffness + c[s.C_D] * mode.damping
        values[places[body.place + (width + 1) * (FRAME + k)]] += diagonal


@helper
def add_load_pairs(T, E, body, mark, theta, arm, F, torque):
    """-c_K (J^T F)_eta of the modes, of one marker; F and torque in body axes."""
    values, places, shapes, c_K = view(T, s.MATRIX), view(E, MAP), view(E, SHAPES), view(T, s.COEF)[s.C_K]
    about, width = add(torque, cross(arm, F)), FRAME + body.count
    shrink = 0.5 / (1.0 + 0.25 * dot(theta, theta))
    turned = small_spin_transposed(theta, about)
    for o in range(body.count):
        psi = load_at(shapes, mark.shape + o, 3)
        lever = small_spin_transposed(theta, cross(cross(small_spin(theta, psi), arm), F))
        y = add(lever, scale(shrink, sub(cross(about, psi), scale(dot(theta, psi), turned))))
        if y[0] != 0.0 or y[1] != 0.0 or y[2] != 0.0:  # a force at the node itself turns with nothing
            for k in range(body.count):
                place = places[body.place + width * (FRAME + k) + FRAME + o]
                values[place] -= c_K * dot(load_at(shapes, mark.shape + k, 3), y)


@helper
def add_load_columns(T, E, body):
    """-c_K (J^T F)_q at constant marker wrenches F."""
    values, places, room, marks, shapes, f, c_K = (
        view(T, s.MATRIX), view(E, MAP), view(E, ROOM), view(E, MARKS), view(E, SHAPES), view(T, s.MARKER_F),
        view(T, s.COEF)[s.C_K],
    )  # fmt: skip
    q, width, start = view(T, s.Q), FRAME + body.count, body.place
    p, r = parameters(q, body.first), translation(q, body.first)
    A, whole = axes_of(p), wrench_about(T, body, r)[1]
    for k in range(body.count):
        for c in range(6):
            room[LINES * (body.mode + k) + LOAD, c] = 0.0
    for n in range(body.mark, body.mark + body.marker_count):
        m = marks[n].marker
        theta = deflection(E, marks[n], body, q)[1]
        arm, F, torque = arm_of(T, m, theta), apply_transposed(A, load(f, m)), apply_transposed(A, load_at(f, m, 3))
        for k in range(body.count):
            spin = small_spin(theta, load_at(shapes, marks[n].shape + k, 3))
            moved = cross(carried(load(shapes, marks[n].shape + k), spin, arm), F)
            turned, row = add(moved, cross(spin, torque)), LINES * (body.mode + k) + LOAD
            for c in range(3):
                room[row, c] += turned[c]
                room[row, 3 + c] += moved[c]
        add_load_pairs(T, E, body, marks[n], theta, arm, F, torque)
    for o in range(4):
        change, turned = torque_column(T, body, r, p, whole, o), scale(-2.0 * c_K, G_times(p, unit(o)))
        for i in range(4):
            values[places[start + width * (3 + i) + 3 + o]] -= c_K * change[i]
        for k in range(body.count):
            values[places[start + width * (FRAME + k) + 3 + o]] += dot(turned, line_of(E, body, k, LOAD, 0))
    for k in range(body.count):
        turning = G_transposed(p, line_of(E, body, k, LOAD, 3))
        for i in range(4):
            values[places[start + width * (3 + i) + FRAME + k]] -= 2.0 * c_K * turning[i]


@kernel
def body_matrix(T, E):
    """The bodies' own part of MATRIX."""
    bodies, values, places, c = view(E, BODIES), view(T, s.MATRIX), view(E, MAP), view(T, s.COEF)
    for n in range(bodies.shape[0]):
        contract(E, bodies[n], view(T, s.Q), AT)
        contract(E, bodies[n], view(T, s.V), RATE)
        contract(E, bodies[n], view(T, s.Q_MASS), AT_MASS)
        contract(E, bodies[n], view(T, s.A), SECOND)
        add_mass_columns(T, E, bodies[n])
        add_pairs(T, E, bodies[n])
        if c[s.C_K] != 0.0 or c[s.C_D] != 0.0:
            add_rate_columns(T, E, bodies[n])
        if c[s.C_K] != 0.0:
            add_load_columns(T, E, bodies[n])
            width = FRAME + bodies[n].count
            for k in range(3, FRAME):
                values[places[bodies[n].place + (width + 1) * k]] += c[s.C_K] * view(T, s.LAM)[bodies[n].row]
    return OK
