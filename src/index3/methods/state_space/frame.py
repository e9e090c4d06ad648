"""The frame of a step on the manifold: recovery of q and v along fixed directions, and the linearised equations.

A formula is applied to all coordinates; `recover_positions` and `recover_velocities` remove what it leaves off the
constraints along D^-1 Phi_q^T of a reference point, so that the ndof numbers V^T D q (V spans the null space of Phi_q
there) follow the formula exactly. D is the mass matrix (tangent plane, thesis appendix B, in the metric of the kinetic
energy), or makes the independent coordinates of a partition immovable (thesis chapter 3). The reference is the start of
the step: an older one would do, but the error of a formula depends on the parametrisation, and would jump with it.

Velocity-level rows restrain velocities only: positions are recovered along the directions of the position rows,
velocities along those of all rows. What the recovery adds to a stage's velocity then belongs to the motion, and enters
the stage's position with the weight SHARE that the formula gives to that velocity.

Unlike `manifold.recover_*` the directions never change inside a step (that would cost the order of the formula), except
where the reference itself is a singular position.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels, run

(
    HANDLES, FLAGS, SETTINGS, NORMAL_Q, NORMAL_V, SHARED, FIXED, HEAVY, DENSE, MASS, STIFF, DAMP, SIZES,
) = SLOTS = slots(
    handles=("i8", 1), flags=("i8", 1), settings=("f8", 1),
    normal_q=("f8", 1), normal_v=("f8", 1),  # what the recovery added to the formula's q and v
    shared=("f8", 1),  # the part of normal_v that stands in q; empty without velocity-level rows
    fixed=("i8", 1),  # 1: an independent coordinate of a partition, which the recovery leaves alone
    heavy=("f8", 1),  # added to the diagonal of M there; empty for the tangent plane
    dense=("f8", 2),  # room for the dense elimination of Phi_q; empty for the tangent plane and large systems
    mass=("f8", 1),  # values of M bordered by Phi_q
    stiff=("f8", 1), damp=("f8", 1),  # values of (M a)_q + (Phi_q^T lam)_q - Q_q, and of -Q_v
    sizes=("f8", 1),  # PHI_SCALE at the reference
)  # fmt: skip

RUN, PROJECTOR, CLOSE_STATE, SET_REFERENCE, LINEARISE, REPARTITION, ELIMINATE, ELIMINATION = range(8)
"""Places in HANDLES: the run's table, the projector whose factorisation is the reference, addresses of kernels, the
table of the sparse elimination."""
SINGULAR, MISSING, PARTITIONS = range(3)
"""Places in FLAGS: the reference has more zero pivots than usual; there is none for the present start of a step; how
many partitions were chosen."""
DRIFTED = 0.3
"""Part of the formula's motion that the recovery may add to it. A pendulum that turns by x in a step needs some
x^2 / 6; close to a singular position the recovery may find the other branch, far away."""
CLOSED, STILL, ROUGH, GROWN, REACH, SHARE, BEST, NEAR, SETTINGS_SIZE = range(9)
"""Places in SETTINGS: scaled residual to which positions are recovered; that of velocities, in parts of the largest;
what is left of both at first; largest entry of H when the partition was chosen; largest motion of a coordinate in the
step by speed and acceleration at its start; weight of normal_v in q; largest MARGIN of the solver seen in references,
and the part of it at which a position counts as close to a singular one."""
STUCK = 1
HALFWAY = 1e-3
"""ROUGH, where nothing is known of how far velocities will move positions."""
TOO_SLOW = 0.9
"""Rate of two iterations of the recovery at which a step is given up: the constraint directions turned by some 40
degrees. Of two, since rows of metres and of unit lengths take turns: what is left of one is next to nothing in its own
size and much in that of the other, and the worst of both grows once on the way down."""


@helper
def factor_reference(T, F):
    """Factor the recovery's matrix at T's point."""
    C, counts = view(F, HANDLES)[PROJECTOR], view(view(F, HANDLES)[RUN], run.COUNTS)
    counts[run.N_FACTOR] += 1
    code = projection_kernels.factor_mass(T, C, view(F, HEAVY))
    if code != OK:
        return run.EVALUATION_FAILED if code == projection_kernels.EVALUATION else run.BODY_SINGULAR
    return OK


@kernel
def set_reference(T, F):
    """Make T's point, where forces and Jacobian stand evaluated, the reference; choose a new partition if need be."""
    handles, flags = view(F, HANDLES), view(F, FLAGS)
    run.copy(view(F, SIZES), view(T, s.PHI_SCALE))
    code = factor_reference(T, F)
    if code == OK and view(F, HEAVY).shape[0] > 0 and call(handles[REPARTITION], T, F) == 1:
        code = factor_reference(T, F)
        call(handles[REPARTITION], T, F)  # takes note of the new partition
    if code != OK:
        return code
    S, settings = view(handles[PROJECTOR], projection_kernels.LINK)[projection_kernels.LINK_SOLVER], view(F, SETTINGS)
    margin = view(S, contract.MARGIN)[0]
    settings[BEST] = max(settings[BEST], margin)
    singular = contract.lost_rank(S) or margin < settings[NEAR] * settings[BEST]
    flags[SINGULAR] = 1 if singular else 0
    flags[MISSING] = 0
    return OK


@helper
def take_reference(T, F):
    """Call `set_reference`."""
    return call(view(F, HANDLES)[SET_REFERENCE], T, F)


@helper
def reset_normals(F):
    """A new stage: nothing is known of what its formula leaves off the constraints."""
    normal_q, normal_v = view(F, NORMAL_Q), view(F, NORMAL_V)
    for k in range(normal_q.shape[0]):
        normal_q[k] = 0.0
        normal_v[k] = 0.0


@helper
def add_correction(F, target, normal, x):
    """Move `target` by x and remember it; independent coordinates of a partition stay."""
    fixed = view(F, FIXED)
    for k in range(target.shape[0]):
        if fixed[k] == 0:
            target[k] += x[k]
            normal[k] += x[k]


@helper
def recover_positions(T, F, tolerance, part):
    """Bring the formula's q onto Phi = 0, within the tolerance or down to this part of what it was off.

    OK, STUCK or a failed evaluation; values of rows stand evaluated at q.
    """
    C, q, phi, normal = view(F, HANDLES)[PROJECTOR], view(T, s.Q), view(T, s.PHI), view(F, NORMAL_Q)
    counts, before, earlier, level = view(view(F, HANDLES)[RUN], run.COUNTS), 1e300, 1e300, view(T, s.LEVEL)
    for k in range(q.shape[0]):
        q[k] += normal[k]
    for _ in range(40):
        counts[run.N_EVALUATIONS] += 1
        if manifold.evaluate_values(T) != OK:
            return run.EVALUATION_FAILED
        residual = projection_kernels.position_residual_by(T, C, view(F, SIZES))
        if before == 1e300:
            tolerance = max(tolerance, part * residual)
        if residual <= tolerance:
            return OK
        if residual > 0.5 * before and residual < 1e-12:
            return OK  # rounding
        if not residual < TOO_SLOW * earlier:
            if view(F, FLAGS)[SINGULAR] == 0 or not residual < 1e100:
                return STUCK
            if manifold.complete_rows(T) != OK or run.core(T, s.CORE_JACOBIAN) != OK or factor_reference(T, F) != OK:
                return STUCK  # the reference lacked a row that counts here, and so does this point
        earlier, before = before, residual
        for k in range(phi.shape[0]):
            if level[k] == 1:
                phi[k] = 0.0
        add_correction(F, q, normal, manifold.solve_rows(T, C, phi))
    return STUCK


@helper
def recover_velocities(T, F, still, part):
    """At closed positions: bring the formula's v onto Phi_q v + Phi_t = 0, relative to the largest of v, likewise."""
    C, v, rate, normal = view(F, HANDLES)[PROJECTOR], view(T, s.V), view(T, s.RATE), view(F, NORMAL_V)
    if manifold.complete_rows(T) != OK or run.core(T, s.CORE_JACOBIAN) != OK:
        return run.EVALUATION_FAILED
    before, earlier, residual, fresh = 1e300, 1e300, 0.0, view(F, FLAGS)[SINGULAR] == 0
    for k in range(v.shape[0]):
        v[k] += normal[k]
    largest = manifold.largest_rate(T)
    for _ in range(40):
        residual = manifold.velocity_residual(T)
        if before == 1e300:
            still = max(still, part * residual / largest)
        if residual <= still * largest or (fresh and not residual < TOO_SLOW * earlier):
            break
        if not residual < TOO_SLOW * earlier:
            if factor_reference(T, F) != OK:
                return STUCK
            fresh = True  # the reference lacked a row that counts here
        earlier, before = before, residual
        add_correction(F, v, normal, manifold.solve_rows(T, C, rate))
    return OK if residual <= max(still, 1e-10) * largest else STUCK


@helper
def set_reach(F, R, h):
    """Before a step: how far coordinates will move in it."""
    v, a, settings = view(R, run.NEW_V), view(R, run.NEW_A), view(F, SETTINGS)
    settings[REACH] = 0.0
    for k in range(v.shape[0]):
        settings[REACH] = max(settings[REACH], h * (abs(v[k]) + h * abs(a[k])))


@helper
def drifted(x, start, normal, reach):
    """Whether the recovery moved x by a large part of what the formula did: it fell on another branch of the motion."""
    moved, corrected = reach, 0.0
    for k in range(x.shape[0]):
        moved = max(moved, abs(x[k] - normal[k] - start[k]))
        corrected = max(corrected, abs(normal[k]))
    return corrected > DRIFTED * moved + 1e-9


@helper
def update_directions(T, F, share):
    """How far q stands from what the formula gives with the velocity found, in parts of the largest coordinate."""
    normal, shared, q, most, largest = view(F, NORMAL_V), view(F, SHARED), view(T, s.Q), 0.0, 1.0
    for k in range(shared.shape[0]):
        most = max(most, abs(share * normal[k] - shared[k]))
        largest = max(largest, abs(q[k]))
    return most / largest


@helper
def take_back(T, F):
    """Before another recovery: q and v as before the last one."""
    q, v, shared = view(T, s.Q), view(T, s.V), view(F, SHARED)
    for k in range(shared.shape[0]):
        q[k] -= view(F, NORMAL_Q)[k] + shared[k]
        v[k] -= view(F, NORMAL_V)[k]


@kernel
def project_state(T, F):
    """Recover q and v from what a formula gave; forces and Jacobian then stand there. OK, STUCK or a failed evaluation.

    Where velocities matter to positions both are recovered in turn, at first down to a part of what they are off.
    """
    R, q, settings, shared = view(F, HANDLES)[RUN], view(T, s.Q), view(F, SETTINGS), view(F, SHARED)
    before, part = 1e300, settings[ROUGH]
    for _ in range(40):
        for k in range(shared.shape[0]):
            shared[k] = settings[SHARE] * view(F, NORMAL_V)[k]
            q[k] += shared[k]
        code = recover_positions(T, F, settings[CLOSED], part)
        if code == OK and drifted(q, view(R, run.NEW_Q), view(F, NORMAL_Q), settings[REACH]):
            code = STUCK
        if code == OK:
            code = recover_velocities(T, F, settings[STILL], part)
        if code != OK:
            return code
        change = update_directions(T, F, settings[SHARE])
        rounding = change > 0.5 * before and change < 1e-12
        if part == 0.0 and (change <= settings[CLOSED] or rounding):
            view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
            return run.EVALUATION_FAILED if run.core(T, s.CORE_FORCES) != OK else OK
        if not change < TOO_SLOW * before and not rounding:
            return STUCK
        before, part = change, 0.0
        take_back(T, F)
    return STUCK


@helper
def project_within(T, F, closed, still, forecast):
    """Call `project_state` with positions and velocities to these scaled residuals.

    forecast : the Jacobian stands at a point close by
    """
    settings = view(F, SETTINGS)
    settings[CLOSED] = closed
    settings[STILL] = still
    settings[ROUGH] = 0.0
    if view(F, SHARED).shape[0] > 0:
        if forecast and view(F, FLAGS)[SINGULAR] == 0:
            forecast_shared(T, F)
        else:
            settings[ROUGH] = HALFWAY
    return call(view(F, HANDLES)[CLOSE_STATE], T, F)


@helper
def forecast_shared(T, F):
    """NORMAL_V for the formula's v, nearly, by the Jacobian of a point close by."""
    C, v, normal, rate = view(F, HANDLES)[PROJECTOR], view(T, s.V), view(F, NORMAL_V), view(T, s.RATE)
    for k in range(v.shape[0]):
        v[k] += normal[k]
    for _ in range(2):
        manifold.velocity_residual(T)
        add_correction(F, v, normal, manifold.solve_rows(T, C, rate))
    for k in range(v.shape[0]):
        v[k] -= normal[k]


@helper
def fill_with(T, F, target, c_m, c_k, c_d):
    """One of the matrices at T's point, where forces, Jacobian, a and lam stand."""
    coef, matrix = view(T, s.COEF), view(T, s.MATRIX)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[s.C_M] = c_m
    coef[s.C_MA] = c_k
    coef[s.C_K] = c_k
    coef[s.C_D] = c_d
    code = run.core(T, s.CORE_MATRIX)
    for k in range(target.shape[0]):
        target[k] = matrix[k]
    return code


@kernel
def fill_matrices(T, F):
    """MASS, STIFF and DAMP at T's point; any step size can be built from them."""
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    view(view(F, HANDLES)[RUN], run.COUNTS)[run.N_JACOBIANS] += 1
    code = fill_with(T, F, view(F, MASS), 1.0, 0.0, 0.0)
    if code == OK:
        code = fill_with(T, F, view(F, STIFF), 0.0, 1.0, 0.0)
    if code == OK:
        view(T, s.STATUS)[s.SAME_POINT] = 1
        code = fill_with(T, F, view(F, DAMP), 0.0, 0.0, 1.0)
        view(T, s.STATUS)[s.SAME_POINT] = 0
    return run.EVALUATION_FAILED if code != OK else OK


@helper
def linearise(T, F):
    """Call `fill_matrices`."""
    return call(view(F, HANDLES)[LINEARISE], T, F)


@helper
def combine(T, F, R, S, g):
    """Factor M - g Q_v + g^2 ((M a)_q + (Phi_q^T lam)_q - Q_q), bordered by Phi_q: (3.103) before reduction."""
    matrix, mass, stiff, damp = view(T, s.MATRIX), view(F, MASS), view(F, STIFF), view(F, DAMP)
    ap, hend, n = view(S, contract.AP), view(S, contract.HEND), view(T, s.Q).shape[0]
    run.copy(matrix, mass)
    for j in range(n):
        for p in range(ap[j], hend[j]):
            matrix[p] += g * (damp[p] + g * stiff[p])
    view(R, run.COUNTS)[run.N_FACTOR] += 1
    code = contract.factor(T, S)
    if code != OK:
        return run.BODY_SINGULAR if code == contract.BODY_SINGULAR else run.NOT_FINITE
    return OK


@helper
def add_product(S, values, x, c, y):
    """y += c H x for the coordinate block H of a bordered matrix."""
    ap, ai, hend = view(S, contract.AP), view(S, contract.AI), view(S, contract.HEND)
    for j in range(x.shape[0]):
        u = c * x[j]
        if u != 0.0:
            for p in range(ap[j], hend[j]):
                y[ai[p]] += values[p] * u


@helper
def add_rows(T, values, x, c, y, first):
    """y[first:] += c B x for B given by blocks like Phi_q."""
    row, column = view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    for e in range(values.shape[0]):
        y[first + row[e]] += c * values[e] * x[column[e]]
