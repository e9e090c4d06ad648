"""What the loops of TLISMNI share: the table of a run, the formulas applied, the inner loop, norms.

[ShabanaTlismni] sections 2-4; bare numbers are its equations.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.methods import manifold, projection_kernels, run
from index3.methods.tlismni import formulas

(
    RUN, PROJECTORS, FORMULA, SETTINGS, MEMORY, FLAGS, PAST_T, PAST_Q, PAST_V, PAST_A, NODES, WEIGHTS, SCRATCH,
    ALLOWED_Q, ALLOWED_V, LAST_Q, LAST_V, LAST_A, NEXT_Q, NEXT_V, STAGES, STAGE_V, STAGE_A,
) = SLOTS = slots(
    run=("i8", 1),  # handle of the run's table
    projectors=("i8", 1),  # two of them: factored at the last accepted state, and at the latest evaluation
    formula=("i8", 1), settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    past_t=("f8", 1), past_q=("f8", 2), past_v=("f8", 2), past_a=("f8", 2),  # accepted states, the latest first
    nodes=("f8", 1), weights=("f8", 3), scratch=("f8", 1),  # (t - t_n)/h of new and past points; see `formulas`
    allowed_q=("f8", 1), allowed_v=("f8", 1),  # what counts as 1 in the norm
    last_q=("f8", 1), last_v=("f8", 1), last_a=("f8", 1), next_q=("f8", 1), next_v=("f8", 1),
    stages=("f8", 2), stage_v=("f8", 2), stage_a=("f8", 2),  # the starting Runge-Kutta pair, rates at its stages
)  # fmt: skip

ALPHA, MAX_OUTER, CORRECTIONS, KAPPA, PAPER_CONTROLLER, PAPER_NORM, FIRST_STEP = range(7)
"""Places in SETTINGS. CORRECTIONS: 0 iterates to convergence, else so many corrections whatever they change. KAPPA:
part of the tolerance that the iteration may leave. FIRST_STEP: 0 if the user gave none."""
RATE, PROSPECT, SIZE, ITERATIONS, ERROR, START_ERROR, H_FAILED = range(7)
"""Places in MEMORY: last measured rate of the outer loop; factor rate/(1 - rate) that is expected of the next step; of
the last step, in parts of what is allowed: size of the last change, corrections (their number), truncation error of
the corrector, error of the Runge-Kutta pair; step at which one of the loops last failed, forgotten by 1 % per step."""
FILLED, RENEW, HELD, FAILED_IN_ROW = range(4)
"""Places in FLAGS: past points known; factorise at the last accepted state before the next step; no growth after the
next step; failed evaluations in a row."""
REFERENCE, LATEST = range(2)
"""Places in PROJECTORS."""
CLOSED = 1e-13
"""Scaled residual that counts as closed, of positions and of velocities."""
CONVERGED, STALLED, OPEN = run.CONVERGED, run.STALLED, 2
"""Ends of an outer loop; OPEN: the inner loop did not close the constraints."""


@helper
def combine(T, E, block):
    """NEXT_Q, NEXT_V by one of the step's formulas from the past and, for implicit ones, T's v and a."""
    w, v, a = view(E, WEIGHTS)[block], view(T, s.V), view(T, s.A)
    past_q, past_v, past_a = view(E, PAST_Q), view(E, PAST_V), view(E, PAST_A)
    next_q, next_v = view(E, NEXT_Q), view(E, NEXT_V)
    for k in range(v.shape[0]):
        x = w[formulas.QV, 0] * v[k] + w[formulas.QA, 0] * a[k]
        y = w[formulas.VA, 0] * a[k]
        for j in range(formulas.PAST):
            x += w[formulas.QQ, j + 1] * past_q[j, k] + w[formulas.QV, j + 1] * past_v[j, k]
            x += w[formulas.QA, j + 1] * past_a[j, k]
            y += w[formulas.VV, j + 1] * past_v[j, k] + w[formulas.VA, j + 1] * past_a[j, k]
        next_q[k] = x
        next_v[k] = y


@helper
def project_state(T, E):
    """Put NEXT_Q, NEXT_V on the constraints along the reference directions: the inner loop (5), (6)."""
    C, v = view(E, PROJECTORS)[REFERENCE], view(T, s.V)
    run.copy(view(T, s.Q), view(E, NEXT_Q))
    run.copy(v, view(E, NEXT_V))
    projection_kernels.forget_solution(T)  # so that the forces of the recovery are those that `evaluate` needs
    code = manifold.recover_positions(T, C, CLOSED)
    if code == OK:
        code = manifold.recover_velocities(T, C, CLOSED * manifold.largest_rate(T))
    return OPEN if code == 1 else code


@helper
def evaluate(T, E, R):
    """Accelerations and multipliers (4) at the state that `project_state` has just left."""
    return manifold.accelerate_here(T, view(E, PROJECTORS)[LATEST], R)


@helper
def norm(E, e_q, e_v):
    """Size of a vector of the states in parts of what is allowed: RMS, or the paper's Euclidean norm."""
    w_q, w_v, total, n = view(E, ALLOWED_Q), view(E, ALLOWED_V), 0.0, e_q.shape[0]
    for k in range(n):
        x, y = e_q[k] / w_q[k], e_v[k] / w_v[k]
        total += x * x + y * y
    return sqrt(total) if view(E, SETTINGS)[PAPER_NORM] == 1.0 else sqrt(total / (2.0 * n))


@helper
def keep_tangential(T, C, e, position):
    """Remove from e what the recovery would remove: its part along M^-1 Phi_q^T at T's state, factored in C."""
    rows, phi_q, row, column = view(T, s.RATE), view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    level = view(T, s.LEVEL)
    for k in range(rows.shape[0]):
        rows[k] = 0.0
    for i in range(phi_q.shape[0]):
        rows[row[i]] += phi_q[i] * e[column[i]]
    for k in range(rows.shape[0]):
        if position and level[k] == 1:
            rows[k] = 0.0
    x = manifold.solve_rows(T, C, rows)
    for k in range(e.shape[0]):
        e[k] += x[k]


@helper
def tangential_size(T, E):
    """Size of the error (7), (11) in NEXT_Q, NEXT_V without what is normal to the manifold; T was just evaluated."""
    C, e_q, e_v = view(E, PROJECTORS)[LATEST], view(E, NEXT_Q), view(E, NEXT_V)
    keep_tangential(T, C, e_q, True)
    keep_tangential(T, C, e_v, False)
    return norm(E, e_q, e_v)


@helper
def fill_allowed(E, R):
    """What counts as 1 in the norm: the contract's weights, the paper's, or with constant steps the iteration's."""
    w_q, w_v, c, tolerance = view(E, ALLOWED_Q), view(E, ALLOWED_V), view(E, SETTINGS), view(R, run.TOLERANCE)
    q, v, tight = view(R, run.LARGEST), view(R, run.LARGEST_V), tolerance[run.NEWTON_TOL]
    for k in range(w_q.shape[0]):
        if view(R, run.CLOCK)[run.STEP] > 0.0:
            w_q[k] = tight * max(1.0, q[k])
            w_v[k] = tight * max(1.0, v[k])
        elif c[PAPER_NORM] == 1.0:
            w_q[k] = tolerance[run.RTOL]
            w_v[k] = tolerance[run.RTOL]
        else:
            w_q[k] = run.weight(R, k)
            w_v[k] = run.weight_v(R, k)


@helper
def fill_weights(E, h):
    """Weights of the formulas for a step h from the last accepted state."""
    x, times = view(E, NODES), view(E, PAST_T)
    x[0] = 1.0
    for j in range(formulas.PAST):
        x[j + 1] = (times[j] - times[0]) / h
    alpha = view(E, SETTINGS)[ALPHA]
    formulas.fill_formulas(view(E, WEIGHTS), view(E, FORMULA), alpha, x, h, view(E, SCRATCH))
