"""TLISMNI: an implicit formula iterated on the independent states, the constraints closed inside; the compiled step loop.

[ShabanaTlismni] sections 2-5; bare numbers are its equations; docs/theory/tlismni.md compares with the print. The outer
loop iterates the corrector as it stands (no matrix, no derivative of a force); the inner loop closes positions, then
velocities; accelerations solve the augmented system.
Ours differs:
- the independent states are tangential components instead of chosen coordinates (`methods.manifold`): the formula is
  applied to all coordinates, what leaves the manifold is taken back along directions fixed at the step's start;
- weights for unequal steps (`formulas`), where the paper prints those for equal ones;
- a step is judged by the truncation error of the corrector, the iteration by its rate of convergence. The paper judges
  steps by the last change of the iteration, which says nothing of the error: `controller="paper"`, with the maxima of
  (9), (10), (12), (13) read as minima, as its text says;
- the start is a Runge-Kutta pair with an error test a tenth of the tolerance, instead of "very small steps".
Constants not in the paper: growth of a step at most 2, and only until the iteration is expected to halve its changes
(beyond, more iterations cost more than longer steps save); after a failed loop steps stay 10 % below the one that failed,
a limit that rises by 1 % per step.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.linear import static_lu
from index3.methods import closure, manifold, run
from index3.methods.tlismni import formulas

(
    RUN, CLOSERS, FORMULA, SETTINGS, MEMORY, FLAGS, PAST_T, PAST_Q, PAST_V, PAST_A, NODES, WEIGHTS, SCRATCH,
    ALLOWED_Q, ALLOWED_V, LAST_Q, LAST_V, NEXT_Q, NEXT_V, STAGES, STAGE_V, STAGE_A,
) = SLOTS = slots(
    run=("i8", 1),  # handle of the run's table
    closers=("i8", 1),  # two closures: factored at the last accepted state, and at the latest evaluation
    formula=("i8", 1), settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    past_t=("f8", 1), past_q=("f8", 2), past_v=("f8", 2), past_a=("f8", 2),  # accepted states, the latest first
    nodes=("f8", 1), weights=("f8", 3), scratch=("f8", 1),  # (t - t_n)/h of new and past points; see `formulas`
    allowed_q=("f8", 1), allowed_v=("f8", 1),  # what counts as 1 in the norm
    last_q=("f8", 1), last_v=("f8", 1), next_q=("f8", 1), next_v=("f8", 1),
    stages=("f8", 2), stage_v=("f8", 2), stage_a=("f8", 2),  # the starting Runge-Kutta pair, rates at its stages
)  # fmt: skip

ALPHA, MAX_OUTER, CORRECTIONS, KAPPA, PAPER_CONTROLLER, PAPER_NORM, FIRST_STEP = range(7)
"""Places in SETTINGS. CORRECTIONS: 0 iterates to convergence, else so many corrections whatever they change. KAPPA: part
of the tolerance that the iteration may leave. FIRST_STEP: 0 if the user gave none."""
RATE, PROSPECT, SIZE, ITERATIONS, ERROR, START_ERROR, H_FAILED = range(7)
"""Places in MEMORY: last measured rate of the outer loop; factor rate/(1 - rate) that is expected of the next step; of
the last step: size of the last change, corrections, truncation error of the corrector, error of the Runge-Kutta pair (in parts of what is allowed); step at which
one of the loops last failed, forgotten by 1 % per step."""
FILLED, RENEW, HELD, FAILED_IN_ROW = range(4)
"""Places in FLAGS: past points known; factorise at the last accepted state before the next step; no growth after the
next step; failed evaluations in a row."""
REFERENCE, LATEST = range(2)
"""Places in CLOSERS."""
CLOSED = 1e-13
"""Scaled residual that counts as closed, of positions and of velocities."""
CONVERGED, STALLED, OPEN = 0, 1, 2
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
def settle(T, E):
    """Put NEXT_Q, NEXT_V on the constraints along the reference directions: the inner loop (5), (6)."""
    C = view(E, CLOSERS)[REFERENCE]
    v = view(T, s.V)
    run.copy(view(T, s.Q), view(E, NEXT_Q))
    run.copy(v, view(E, NEXT_V))
    code = manifold.recover_positions(T, C, CLOSED)
    if code == OK:
        largest = 1.0
        for k in range(v.shape[0]):
            largest = max(largest, abs(v[k]))
        code = manifold.recover_velocities(T, C, CLOSED * largest)
    return OPEN if code == 1 else code


@helper
def evaluate(T, E, R):
    """Accelerations and multipliers at T's state (4)."""
    return manifold.accelerate(T, view(E, CLOSERS)[LATEST], R)


@helper
def remember_iterate(T, E):
    """Keep T's q and v to compare the next iterate with."""
    run.copy(view(E, LAST_Q), view(T, s.Q))
    run.copy(view(E, LAST_V), view(T, s.V))


@helper
def norm(E, e_q, e_v):
    """Size of a vector of the states in parts of what is allowed: RMS, or the paper's Euclidean norm."""
    w_q, w_v, total, n = view(E, ALLOWED_Q), view(E, ALLOWED_V), 0.0, e_q.shape[0]
    for k in range(n):
        x, y = e_q[k] / w_q[k], e_v[k] / w_v[k]
        total += x * x + y * y
    return sqrt(total) if view(E, SETTINGS)[PAPER_NORM] == 1.0 else sqrt(total / (2.0 * n))


@helper
def change(T, E):
    """Size of the last correction; and whether it is rounding. LAST_Q, LAST_V are used up."""
    q, v, last_q, last_v = view(T, s.Q), view(T, s.V), view(E, LAST_Q), view(E, LAST_V)
    large_q, large_v, most_q, most_v = 1.0, 1.0, 0.0, 0.0
    for k in range(q.shape[0]):
        last_q[k] = q[k] - last_q[k]
        last_v[k] = v[k] - last_v[k]
        large_q, large_v = max(large_q, abs(q[k])), max(large_v, abs(v[k]))
        most_q, most_v = max(most_q, abs(last_q[k])), max(most_v, abs(last_v[k]))
    return norm(E, last_q, last_v), most_q <= 10.0 * CLOSED * large_q and most_v <= 10.0 * CLOSED * large_v


@helper
def judge(E, k, size, before, before_that, tiny):
    """After correction k: CONVERGED, STALLED, or -1 to go on.

    q follows v and v follows q through a: a change comes back to where it was after two corrections, so the rate is
    taken over two as soon as there are three.
    """
    c, memory = view(E, SETTINGS), view(E, MEMORY)
    if not size < 1e200:
        return STALLED
    if c[CORRECTIONS] > 0.0:
        return CONVERGED if k >= c[CORRECTIONS] else -1
    if c[PAPER_CONTROLLER] == 1.0:
        return CONVERGED if size <= 1.0 else -1
    if size == 0.0 or (tiny and k > 1):
        return CONVERGED
    if k == 1:
        memory[PROSPECT] = max(memory[PROSPECT], 1e-15) ** 0.8
        return CONVERGED if memory[PROSPECT] * size <= c[KAPPA] else -1
    rate = size / before if k == 2 or before_that == 0.0 else sqrt(size / before_that)
    memory[RATE] = rate
    if rate >= 1.0:
        return STALLED if k > 3 or rate >= 10.0 else -1
    memory[PROSPECT] = rate / (1.0 - rate)
    return CONVERGED if memory[PROSPECT] * size <= c[KAPPA] else -1


@helper
def outer_loop(T, E, R):
    """Predict, then correct and evaluate until the corrector is satisfied; CONVERGED, STALLED, OPEN, or 10 and above."""
    memory, counts, c = view(E, MEMORY), view(R, run.COUNTS), view(E, SETTINGS)
    before, before_that = 0.0, 0.0
    memory[ITERATIONS] = 0.0
    combine(T, E, formulas.PREDICT)
    code = settle(T, E)
    if code == OK:
        code = evaluate(T, E, R)
    if code != OK:
        return code
    for k in range(1, int(c[MAX_OUTER]) + 1):
        remember_iterate(T, E)
        combine(T, E, formulas.CORRECT)
        code = settle(T, E)
        if code != OK:
            return code
        counts[run.N_NEWTON] += 1
        memory[ITERATIONS] = k
        size, tiny = change(T, E)
        memory[SIZE] = size
        verdict = judge(E, k, size, before, before_that, tiny)
        if verdict != STALLED:
            code = evaluate(T, E, R)
        if code != OK or verdict >= 0:
            return code if code != OK else verdict
        before_that, before = before, size
    return STALLED


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
    """Size of the error in NEXT_Q, NEXT_V without what is normal to the manifold; T was just evaluated."""
    C, e_q, e_v = view(E, CLOSERS)[LATEST], view(E, NEXT_Q), view(E, NEXT_V)
    keep_tangential(T, C, e_q, True)
    keep_tangential(T, C, e_v, False)
    return norm(E, e_q, e_v)


@helper
def stage(T, E, j, h, count):
    """NEXT_Q, NEXT_V: the last accepted state moved by h times row j of the Runge-Kutta table."""
    table, q, v = view(E, STAGES), view(E, PAST_Q)[0], view(E, PAST_V)[0]
    stage_v, stage_a, next_q, next_v = view(E, STAGE_V), view(E, STAGE_A), view(E, NEXT_Q), view(E, NEXT_V)
    for k in range(q.shape[0]):
        x, y = 0.0, 0.0
        for i in range(count):
            x += table[j, i] * stage_v[i, k]
            y += table[j, i] * stage_a[i, k]
        next_q[k] = q[k] + h * x
        next_v[k] = v[k] + h * y


@helper
def starting_step(T, E, R, t, h):
    """One step of the Runge-Kutta pair 4(3) to t; its error is left in START_ERROR. Rows of STAGES: stages, result, error."""
    table, stage_v, stage_a, memory = view(E, STAGES), view(E, STAGE_V), view(E, STAGE_A), view(E, MEMORY)
    count = table.shape[1]
    run.copy(stage_v[0], view(E, PAST_V)[0])
    run.copy(stage_a[0], view(E, PAST_A)[0])
    code = OK
    for j in range(1, count + 1):
        past = 0.0
        for i in range(count):
            past += table[j, i]
        view(T, s.TIME)[0] = t if j == count else t - h + past * h
        stage(T, E, j, h, min(j, count))
        code = settle(T, E)
        if code == OK:
            code = evaluate(T, E, R)
        if code != OK:
            return code
        if j < count:
            run.copy(stage_v[j], view(T, s.V))
            run.copy(stage_a[j], view(T, s.A))
    stage(T, E, count + 1, h, count)
    next_q, next_v, q, v = view(E, NEXT_Q), view(E, NEXT_V), view(E, PAST_Q)[0], view(E, PAST_V)[0]
    for k in range(q.shape[0]):
        next_q[k] -= q[k]
        next_v[k] -= v[k]
    memory[START_ERROR] = tangential_size(T, E)
    memory[ITERATIONS] = 0.0
    return CONVERGED


@helper
def fill_allowed(E, R):
    """What counts as 1 in the norm: the contract's weights, the paper's, or for constant steps those of the iteration."""
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


@helper
def renew_reference(T, E, R):
    """Factorise at the last accepted state: the directions of recovery for the next step."""
    counts, flags = view(R, run.COUNTS), view(E, FLAGS)
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(E, PAST_Q)[0])
    run.copy(view(T, s.V), view(E, PAST_V)[0])
    code = closure.evaluate(T)
    if code == OK:
        code = closure.factor_mass(T, view(E, CLOSERS)[REFERENCE], view(T, s.Q)[:0])
    counts[run.N_FACTOR] += 1
    flags[RENEW] = 0
    if code == closure.EVALUATION:
        return run.EVALUATION_FAILED
    return run.BODY_SINGULAR if code != OK else OK


@helper
def factorisations(C):
    """How often the solver of a closure has factorised."""
    return view(view(C, closure.LINK)[closure.LINK_SOLVER], static_lu.INFO)[static_lu.N_FACTOR]


@helper
def solve_step(T, E, R, t, h):
    """One step from the last accepted state to t; CONVERGED, STALLED, OPEN, or a reason of 10 and above."""
    flags, closers, formula = view(E, FLAGS), view(E, CLOSERS), view(E, FORMULA)
    if flags[RENEW] == 1:
        code = renew_reference(T, E, R)
        if code != OK:
            return code
    fill_allowed(E, R)
    before = factorisations(closers[REFERENCE])
    starting = flags[FILLED] <= formula[formulas.ORDER]
    if flags[FILLED] >= formula[formulas.ORDER]:
        fill_weights(E, h)
    if starting:
        code = starting_step(T, E, R, t, h)
    else:
        view(T, s.TIME)[0] = t
        code = outer_loop(T, E, R)
    if code == CONVERGED and flags[FILLED] >= formula[formulas.ORDER]:
        combine(T, E, formulas.ERROR)
        view(E, MEMORY)[ERROR] = tangential_size(T, E)
    more = factorisations(closers[REFERENCE]) - before
    view(R, run.COUNTS)[run.N_FACTOR] += more
    if more > 0 and code != CONVERGED:
        flags[RENEW] = 1  # the inner loop has moved the reference to a point that is not accepted
    return code


@helper
def accept(T, E, R, t, h):
    """Make T's state the new one; the latest factorisation becomes the reference."""
    flags, closers, times = view(E, FLAGS), view(E, CLOSERS), view(E, PAST_T)
    q, v, a = view(E, PAST_Q), view(E, PAST_V), view(E, PAST_A)
    for j in range(formulas.PAST - 1, 0, -1):
        times[j] = times[j - 1]
        run.copy(q[j], q[j - 1])
        run.copy(v[j], v[j - 1])
        run.copy(a[j], a[j - 1])
    times[0] = t
    run.copy(q[0], view(T, s.Q))
    run.copy(v[0], view(T, s.V))
    run.copy(a[0], view(T, s.A))
    flags[FILLED] = min(formulas.PAST + 1, flags[FILLED] + 1)
    closers[REFERENCE], closers[LATEST] = closers[LATEST], closers[REFERENCE]
    return run.accept_state(T, R, t, h)


@helper
def paper_step(size, h, order):
    """The step for which (h_new/h)^(p+1) |e| = eps h_new / 2: the formula in (9), (10), (12), (13)."""
    p = float(order)
    return (h ** (p + 1.0) / (2.0 * max(size, 1e-300))) ** (1.0 / p)


@helper
def next_start(E, R, h):
    """Judge a step of the Runge-Kutta pair; the last one chooses the first step of the formula. Whether it is accepted.

    The paper's first step: eps h/2 = c h^(p+1) D (section 5).
    """
    clock, memory, c = view(R, run.CLOCK), view(E, MEMORY), view(E, SETTINGS)
    order, error = view(E, FORMULA)[formulas.ORDER], 10.0 * memory[START_ERROR]
    clock[run.H_NEXT] = h
    if not error <= 1.0:
        clock[run.H_NEXT] = h * max(0.2, min(0.9, 0.9 * error**-0.25))
        return False
    if view(E, FLAGS)[FILLED] == order:
        new = h * 0.9 * max(memory[ERROR], 1e-12) ** (-1.0 / (order + 1.0))
        if c[PAPER_CONTROLLER] == 1.0:
            new = paper_step(memory[ERROR], h, order)
        clock[run.H_NEXT] = c[FIRST_STEP] if c[FIRST_STEP] > 0.0 else min(5.0 * h, new)
    return True


@helper
def next_step(E, R, h):
    """Judge the truncation error of a converged step and choose the next size; whether the step is accepted."""
    clock, flags, memory, c = view(R, run.CLOCK), view(E, FLAGS), view(E, MEMORY), view(E, SETTINGS)
    order, error = view(E, FORMULA)[formulas.ORDER], memory[ERROR]
    if flags[FILLED] <= order:
        return next_start(E, R, h)
    if c[PAPER_CONTROLLER] == 1.0:
        clock[run.H_NEXT] = max(h, min(5.0 * h, paper_step(memory[SIZE], h, order)))  # (9), (12)
        return True
    factor = 0.9 * max(error, 1e-12) ** (-1.0 / (order + 1.0))
    if not error <= 1.0:
        clock[run.H_NEXT] = h * max(0.2, min(0.9, factor))
        flags[HELD] = 1
        return False
    factor = max(0.2, min(factor, 1.0 if flags[HELD] == 1 else 2.0))
    if memory[ITERATIONS] > 2.0 and memory[RATE] * factor > 0.5:
        factor = min(factor, max(0.5 / memory[RATE], 0.8))
    flags[HELD] = 0
    memory[H_FAILED] *= 1.01
    clock[run.H_NEXT] = min(h * factor, max(h, 0.9 * memory[H_FAILED]))
    return True


@helper
def retreat(E, R, code, h):
    """After a failed iteration: a smaller step, the past kept."""
    clock, flags, counts, c = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS), view(E, SETTINGS)
    memory = view(E, MEMORY)
    counts[run.N_REJECTED] += 1
    flags[HELD] = 1
    clock[run.H_NEXT] = 0.25 * h if code >= run.NEWTON_FAILED else 0.5 * h
    memory[PROSPECT] = 1.0
    memory[H_FAILED] = h
    if code == OPEN:
        counts[run.N_UNCLOSED] += 1
    if code == STALLED:
        counts[run.N_NEWTON_FAILED] += 1
        if c[PAPER_CONTROLLER] == 1.0:
            order = view(E, FORMULA)[formulas.ORDER]
            clock[run.H_NEXT] = min(0.5 * h, paper_step(memory[SIZE], h, order))  # (10), (13)


@helper
def attempt(T, E, R):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    clock, flags, counts = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS)
    t, h = run.next_time(R)
    if run.too_small(R, t, h):
        return run.STEP_TOO_SMALL
    code = solve_step(T, E, R, t, h)
    fixed = clock[run.STEP] > 0.0
    if code != CONVERGED:
        flags[FAILED_IN_ROW] += 1
        if fixed or (code >= run.NEWTON_FAILED and flags[FAILED_IN_ROW] > 12):
            return code if code >= run.NEWTON_FAILED else run.NEWTON_FAILED
        retreat(E, R, code, h)
        return OK
    flags[FAILED_IN_ROW] = 0
    if fixed or next_step(E, R, h):
        return accept(T, E, R, t, h)
    counts[run.N_REJECTED] += 1
    return OK


@kernel
def advance(T, E):
    """Step until the end, a full block of output, the budget of steps, or a reason to stop."""
    R = view(E, RUN)[0]
    budget = run.step_budget(R)
    while True:
        code = run.before_step(T, R, budget)
        if code != run.GO_ON:
            return code
        code = attempt(T, E, R)
        if code != OK:
            return code
