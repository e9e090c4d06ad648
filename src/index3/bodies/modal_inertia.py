"""Flexible bodies with modes: q = (r, p, eta), r the centre of mass without deformation, p Euler parameters.

In body axes, with w = 2 G(p) p' and b = sum of P_k eta_k, the kinetic energy is (docs/theory/modal.md)

    m r'.r'/2 + r'.(A b)' + w.J w/2 + w.(sum of H_k eta_k') + eta'.eta'/2,

    J = J_0 + sum of J_k eta_k + sum of J_kl eta_k eta_l,    H_k = H_0k + sum of H_lk eta_l.

Sums over pairs of modes are made once for each vector x of modal numbers and kept in a line of ROOM for every mode k:
2 J_kl x_l (6 numbers), H_lk x_l (3) and H_kl x_l (3), each summed over l. With x = eta, eta', ... all else is a sum
over modes. D_k = J_k + 2 J_kl eta_l is the derivative of J by eta_k.
"""

from __future__ import annotations

from index3.algebra.rotations import E_transposed, G_times, G_transposed
from index3.algebra.small_rotations import small_spin_transposed
from index3.algebra.vectors import add, apply, apply_transposed, cross, dot, load, load_at, scale, sub
from index3.bodies.marker_kernels import wrench_about
from index3.bodies.modal_markers import FRAME, arm_of, axes_of, deflection
from index3.bodies.modal_tables import BODIES, LINES, MARKS, MODES, PAIRS, ROOM, SHAPES
from index3.bodies.rigid_kernels import parameters, square, translation
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view

AT, RATE, AT_MASS, SECOND, LOAD = range(LINES)
"""Lines of ROOM: x = eta, eta', eta of the mass term, eta''; and, for a mode's turning by loads, the sums over markers
of u_k x F + w_k x torque and of u_k x F, in body axes."""


@helper
def contract(E, body, x, line):
    """Fill a line of ROOM for every mode of a body."""
    pairs, room, n = view(E, PAIRS), view(E, ROOM), body.count
    for k in range(n):
        row = LINES * (body.mode + k) + line
        for c in range(12):
            room[row, c] = 0.0
        for o in range(n):
            y = x[body.first + FRAME + o]
            for c in range(6):
                room[row, c] += 2.0 * y * pairs[body.pair + k * n + o, c]
            for c in range(3):
                room[row, 6 + c] += y * pairs[body.pair + o * n + k, 6 + c]
                room[row, 9 + c] += y * pairs[body.pair + k * n + o, 6 + c]


@helper
def line_of(E, body, k, line, first):
    """Three numbers of a line of ROOM."""
    return load_at(view(E, ROOM), LINES * (body.mode + k) + line, first)


@helper
def times(S, x):
    """S x for a symmetric matrix given as xx, yy, zz, xy, yz, zx."""
    return (
        S[0] * x[0] + S[3] * x[1] + S[5] * x[2],
        S[3] * x[0] + S[1] * x[1] + S[4] * x[2],
        S[5] * x[0] + S[4] * x[1] + S[2] * x[2],
    )


@helper
def inertia_change(E, body, k, line):
    """D_k."""
    J, a, b = view(E, MODES)[body.mode + k].inertia, line_of(E, body, k, line, 0), line_of(E, body, k, line, 3)
    return (J[0] + a[0], J[1] + a[1], J[2] + a[2], J[3] + b[0], J[4] + b[1], J[5] + b[2])


@helper
def inertia_at(E, body, x, line):
    """J(eta), eta in x, of which a line was filled."""
    J, modes = body.inertia, view(E, MODES)
    j = (J[0], J[1], J[2], J[3], J[4], J[5])
    for k in range(body.count):
        half, J, D = 0.5 * x[body.first + FRAME + k], modes[body.mode + k].inertia, inertia_change(E, body, k, line)
        j = (
            j[0] + half * (J[0] + D[0]), j[1] + half * (J[1] + D[1]), j[2] + half * (J[2] + D[2]),
            j[3] + half * (J[3] + D[3]), j[4] + half * (J[4] + D[4]), j[5] + half * (J[5] + D[5]),
        )  # fmt: skip
    return j


@helper
def inertia_rate(E, body, v):
    """J' = sum of D_k eta_k'."""
    j = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(body.count):
        x, D = v[body.first + FRAME + k], inertia_change(E, body, k, AT)
        j = (j[0] + x * D[0], j[1] + x * D[1], j[2] + x * D[2], j[3] + x * D[3], j[4] + x * D[4], j[5] + x * D[5])
    return j


@helper
def moment_of(E, body, k):
    """P_k."""
    P = view(E, MODES)[body.mode + k].moment
    return (P[0], P[1], P[2])


@helper
def turn_of(E, body, k, line):
    """H_k(eta)."""
    H = view(E, MODES)[body.mode + k].turn
    return add((H[0], H[1], H[2]), line_of(E, body, k, line, 6))


@helper
def moment_sum(E, body, x):
    """Sum of P_k x_k."""
    total = (0.0, 0.0, 0.0)
    for k in range(body.count):
        total = add(total, scale(x[body.first + FRAME + k], moment_of(E, body, k)))
    return total


@helper
def turn_sum(E, body, x, line):
    """Sum of H_k x_k."""
    total = (0.0, 0.0, 0.0)
    for k in range(body.count):
        total = add(total, scale(x[body.first + FRAME + k], turn_of(E, body, k, line)))
    return total


@helper
def spin_of(p, rate):
    """w = 2 G(p) p' in body axes."""
    return scale(2.0, G_times(p, rate))


@helper
def weight_of(T, A):
    """Gravity in body axes."""
    g = view(T, s.GRAVITY)
    return apply_transposed(A, (g[0], g[1], g[2]))


@helper
def velocity_terms(T, E, body, A, w):
    """What stands on the left side besides M a: (z, y, J w + H eta'), forces A z and torques y in body axes.

    z = 2 w x b' + w x (w x b) and y = J' w + H' eta' + w x (J w + H eta') - b x g.
    """
    q, v = view(T, s.Q), view(T, s.V)
    b, b_rate = moment_sum(E, body, q), moment_sum(E, body, v)
    h = add(times(inertia_at(E, body, q, AT), w), turn_sum(E, body, v, AT))
    y = sub(add(times(inertia_rate(E, body, v), w), cross(w, h)), cross(b, weight_of(T, A)))
    for k in range(body.count):
        y = add(y, scale(v[body.first + FRAME + k], line_of(E, body, k, RATE, 6)))
    return cross(w, add(scale(2.0, b_rate), cross(w, b))), y, h


@helper
def add_loads(T, E, body, A, g):
    """G of the modes: minus the work of the marker wrenches along each."""
    marks, shapes, f, q = view(E, MARKS), view(E, SHAPES), view(T, s.MARKER_F), view(T, s.Q)
    for n in range(body.mark, body.mark + body.marker_count):
        m = marks[n].marker
        theta = deflection(E, marks[n], body, q)[1]
        F = apply_transposed(A, load(f, m))
        torque = add(apply_transposed(A, load_at(f, m, 3)), cross(arm_of(T, m, theta), F))
        torque = small_spin_transposed(theta, torque)
        for k in range(body.count):
            row = marks[n].shape + k
            g[body.first + FRAME + k] -= dot(load(shapes, row), F) + dot(load_at(shapes, row, 3), torque)


@kernel
def gather(T, E):
    """G -= J^T (wrenches) + gravity; inertia forces, elastic forces; the normalisation row and its reaction."""
    bodies, modes, q, v, lam, g = (
        view(E, BODIES), view(E, MODES), view(T, s.Q), view(T, s.V), view(T, s.LAM), view(T, s.G),
    )  # fmt: skip
    phi, size, alone = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.STATUS)[s.ROWS_ALONE] == 1
    for n in range(bodies.shape[0]):
        first, row = bodies[n].first, bodies[n].row
        p = parameters(q, first)
        pp = square(p)
        phi[row] = 0.5 * (pp - 1.0)
        size[row] = 0.5 * (pp + 1.0)
        if alone:
            continue
        A, w = axes_of(p), spin_of(p, parameters(v, first))
        contract(E, bodies[n], q, AT)
        contract(E, bodies[n], v, RATE)
        z, y, _ = velocity_terms(T, E, bodies[n], A, w)
        force, torque = wrench_about(T, bodies[n], translation(q, first))
        pushing, inertial = sub(apply(A, z), force), G_transposed(p, y)
        turning, weight = E_transposed(p, torque), weight_of(T, A)
        for k in range(3):
            g[first + k] += pushing[k]
        for k in range(4):
            g[first + 3 + k] += 2.0 * inertial[k] - 2.0 / pp * turning[k] + lam[row] * p[k]
        for k in range(bodies[n].count):
            gyro = sub(line_of(E, bodies[n], k, RATE, 6), line_of(E, bodies[n], k, RATE, 9))
            centrifugal = 0.5 * dot(w, times(inertia_change(E, bodies[n], k, AT), w))
            mode, i = modes[bodies[n].mode + k], first + FRAME + k
            g[i] += dot(w, gyro) - centrifugal - dot(weight, moment_of(E, bodies[n], k))
            g[i] += mode.stiffness * q[i] + mode.damping * v[i]
        add_loads(T, E, bodies[n], A, g)
    return OK


@kernel
def mass(T, E):
    """MA += M(q_mass) a."""
    bodies, q, a, ma = view(E, BODIES), view(T, s.Q_MASS), view(T, s.A), view(T, s.MA)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        p = parameters(q, first)
        A, alpha = axes_of(p), spin_of(p, parameters(a, first))
        contract(E, bodies[n], q, AT_MASS)
        b, push = moment_sum(E, bodies[n], q), apply_transposed(A, translation(a, first))
        force = apply(A, add(cross(alpha, b), moment_sum(E, bodies[n], a)))
        torque = add(times(inertia_at(E, bodies[n], q, AT_MASS), alpha), turn_sum(E, bodies[n], a, AT_MASS))
        turning = G_transposed(p, add(torque, cross(b, push)))
        for k in range(3):
            ma[first + k] += bodies[n].mass * a[first + k] + force[k]
        for k in range(4):
            ma[first + 3 + k] += 2.0 * turning[k]
        for k in range(bodies[n].count):
            i = first + FRAME + k
            ma[i] += a[i] + dot(moment_of(E, bodies[n], k), push) + dot(turn_of(E, bodies[n], k, AT_MASS), alpha)
    return OK


@kernel
def own_rows(T, E):
    """PHI_Q of the normalisation rows: p."""
    bodies, q, phi_q = view(E, BODIES), view(T, s.Q), view(T, s.PHI_Q)
    for n in range(bodies.shape[0]):
        for k in range(4):
            phi_q[bodies[n].entry + k] = q[bodies[n].first + 3 + k]
    return OK


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of elasticity and gravity; the power of damping."""
    bodies, modes, q, v, energy = view(E, BODIES), view(E, MODES), view(T, s.Q), view(T, s.V), view(T, s.ENERGY)
    for n in range(bodies.shape[0]):
        first = bodies[n].first
        p, u = parameters(q, first), translation(v, first)
        A, w = axes_of(p), spin_of(p, parameters(v, first))
        contract(E, bodies[n], q, AT)
        b, weight = moment_sum(E, bodies[n], q), weight_of(T, A)
        h = add(scale(0.5, times(inertia_at(E, bodies[n], q, AT), w)), turn_sum(E, bodies[n], v, AT))
        inside = apply(A, add(cross(w, b), moment_sum(E, bodies[n], v)))
        energy[s.KINETIC] += 0.5 * bodies[n].mass * dot(u, u) + dot(u, inside) + dot(w, h)
        place = apply_transposed(A, translation(q, first))
        energy[s.POTENTIAL] -= dot(weight, add(scale(bodies[n].mass, place), b))
        for k in range(bodies[n].count):
            mode, eta, rate = modes[bodies[n].mode + k], q[first + FRAME + k], v[first + FRAME + k]
            energy[s.KINETIC] += 0.5 * rate * rate
            energy[s.POTENTIAL] += 0.5 * mode.stiffness * eta * eta
            energy[s.POWER] -= mode.damping * rate * rate
    return OK
