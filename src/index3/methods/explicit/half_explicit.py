"""Half-explicit Runge-Kutta steps: velocities satisfy their constraints at every stage, accelerations none of theirs.

[BraseyHairer]. With rows a_i of the formula, the step itself as the last of them, and known Q_i, V_i:

    Q_{i+1} = q_n + h sum_{j<=i} a_{i+1,j} V_j,        V_{i+1} = v_n + h sum_{j<=i} a_{i+1,j} K_j,
    M(Q_i) K_i + Phi_q(Q_i)^T lam_i = Q(Q_i, V_i),     Phi_q(Q_{i+1}) V_{i+1} + Phi_t = 0,

one linear system for each stage, with the rows of the next stage below the columns of this one. gamma, the second
derivative of the constraints, is not needed. Written as the `stages` of `runge_kutta`, which projects the end, controls
the step and evaluates the acceleration at the end, for output and for the estimate of the next step.

The estimate is ours: h times a combination of the derivatives at 0, c_3, c_4 and c_5 = 1 that is zero for those of
degree 2, so the difference to some formula of order 3. Multipliers of stages are of low order and K_i wrong by as much
in the directions M^-1 Phi_q^T; so the combination of the K_i is made tangential by the matrix of the last stage.

Positions drift by the error of the formula inside a step. Where rows are redundant every Q_{i+1} is recovered along the
directions of the start, as in `runge_kutta`.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels, run
from index3.methods.explicit import points
from index3.methods.explicit import runge_kutta as rk
from index3.methods.state_space.frame import add_product

MATRIX, FORCE, WEIGHTS = OWN_SLOTS = extended(
    rk.SLOTS,
    matrix=("f8", 1), force=("f8", 1),  # of the stage at hand
    weights=("f8", 1),  # of the derivatives at the start and at the other stages in the error
)  # fmt: skip
SLOTS = rk.SLOTS + OWN_SLOTS


@helper
def leave(T, E):
    """At stage i: keep M and Phi_q^T, and the forces without reactions."""
    code = projection_kernels.evaluate(T)
    if code != OK:
        return run.EVALUATION_FAILED
    coef = view(T, s.COEF)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[s.C_M] = 1.0
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    if run.core(T, s.CORE_MATRIX) != OK:
        return run.EVALUATION_FAILED
    run.copy(view(E, MATRIX), view(T, s.MATRIX))
    run.copy(view(E, FORCE), view(T, s.G))
    return OK


@helper
def arrive(T, E, R):
    """At q and the known part of v of stage i + 1: recover q if need be; constraint rows and their rates there."""
    flags, code = view(E, rk.FLAGS), OK
    if flags[rk.CLOSED] == 1:
        code = manifold.recover_positions(T, view(E, rk.PROJECTORS)[flags[rk.REFERENCE]], points.loose(R))
    else:
        code = run.EVALUATION_FAILED if run.core(T, s.CORE_FORCES) != OK else OK
    if code == OK and run.core(T, s.CORE_JACOBIAN) != OK:
        code = run.EVALUATION_FAILED
    if code == OK:
        run.core(T, s.CORE_RATES)
    return code


@helper
def solve(T, E, R, c):
    """K_i, left in the solver's X: rows of the next stage below columns of the last; c K_i takes the rates to zero."""
    matrix, kept, phi_q, places = view(T, s.MATRIX), view(E, MATRIX), view(T, s.PHI_Q), view(T, s.BLOCK_MAP)
    link = view(view(E, rk.PROJECTORS)[1 - view(E, rk.FLAGS)[rk.REFERENCE]], projection_kernels.LINK)
    S, rate, g, counts = link[projection_kernels.LINK_SOLVER], view(T, s.RATE), view(E, FORCE), view(R, run.COUNTS)
    run.copy(matrix, kept)
    for e in range(phi_q.shape[0]):
        matrix[places[e, 0]] = 0.0
    for e in range(phi_q.shape[0]):
        matrix[places[e, 0]] += phi_q[e]
    counts[run.N_EVALUATIONS] += 1
    counts[run.N_FACTOR] += 1
    code = contract.factor(T, S)
    x, n = view(S, contract.X), g.shape[0]
    for k in range(n):
        x[k] = -g[k]
    for k in range(rate.shape[0]):
        x[n + k] = -rate[k] / c
    if code == OK:
        contract.solve(T, S)
    return run.BODY_SINGULAR if code != OK else OK


@helper
def estimate(T, E, R):
    """The combinations of V_i and K_i whose h-fold is the error, into the last lines of K_Q and K_V."""
    w, k_q, k_v, count = view(E, WEIGHTS), view(E, rk.K_Q), view(E, rk.K_V), view(E, rk.NODES).shape[0]
    v0, a0, e_q, e_v = view(R, run.NEW_V), view(R, run.NEW_A), k_q[count + 1], k_v[count + 1]
    for k in range(e_q.shape[0]):
        e_q[k] = w[0] * v0[k]
        e_v[k] = w[0] * a0[k]
        for j in range(1, count):
            e_q[k] += w[j] * k_q[j, k]
            e_v[k] += w[j] * k_v[j, k]
    link = view(view(E, rk.PROJECTORS)[1 - view(E, rk.FLAGS)[rk.REFERENCE]], projection_kernels.LINK)
    S = link[projection_kernels.LINK_SOLVER]
    x = view(S, contract.X)
    for k in range(x.shape[0]):
        x[k] = 0.0
    add_product(S, view(E, MATRIX), e_v, 1.0, x)
    contract.solve(T, S)
    run.copy(e_v, x[: e_v.shape[0]])


@kernel
def stages(T, E):
    """The stages of a step of size H_STAGES from the new state; T's q, v become its end, unprojected."""
    R, nodes, a, k_q, k_v = view(E, rk.RUN)[0], view(E, rk.NODES), view(E, rk.STAGE_A), view(E, rk.K_Q), view(E, rk.K_V)
    h, t, count = view(E, rk.SETTINGS)[rk.H_STAGES], view(R, run.CLOCK)[run.T_NEW], view(E, rk.NODES).shape[0]
    q0, v0, q, v = view(R, run.NEW_Q), view(R, run.NEW_V), view(T, s.Q), view(T, s.V)
    other = view(E, rk.PROJECTORS)[1 - view(E, rk.FLAGS)[rk.REFERENCE]]
    x = view(view(other, projection_kernels.LINK)[projection_kernels.LINK_SOLVER], contract.X)
    run.copy(k_q[0], v0)
    run.copy(q, q0)
    run.copy(v, v0)
    view(T, s.TIME)[0] = t
    for i in range(count):
        code = leave(T, E)
        if code != OK:
            return code
        for k in range(q.shape[0]):
            k_v[i, k] = 0.0  # what is combined below is V_{i+1} without it
        view(T, s.TIME)[0] = t + (nodes[i + 1] if i + 1 < count else 1.0) * h
        rk.combine(T, E, i + 1, h, q0, v0)
        code = arrive(T, E, R)
        if code == OK:
            code = solve(T, E, R, h * a[i + 1, i])
        if code != OK:
            return code
        for k in range(q.shape[0]):
            k_v[i, k] = x[k]
            v[k] += h * a[i + 1, i] * x[k]
        run.copy(k_q[i + 1], v)
    estimate(T, E, R)
    return OK
