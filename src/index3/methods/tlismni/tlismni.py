"""TLISMNI: an implicit formula iterated on the independent states, the constraints closed inside; the step loop.

[ShabanaTlismni] sections 2-5; bare numbers are its equations; docs/theory/tlismni.md compares with the print. The outer
loop iterates the corrector as it stands (no matrix, no derivative of a force); the inner loop closes positions, then
velocities; accelerations solve the augmented system.
Ours differs:
- the independent states are tangential components instead of chosen coordinates (`methods.manifold`): the formula is
  applied to all coordinates, what leaves the manifold is taken back along directions fixed at the step's start;
- weights for unequal steps (`formulas`), where the paper prints those for equal ones;
- a step is judged by the truncation error of the corrector, the iteration by its rate of convergence. The paper judges
  steps by the last change of the iteration, which says nothing of the error: `controller="paper"` (`control`);
- the start is a Runge-Kutta pair with an error test at a tenth of the tolerance (`start`), not "very small steps".
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.linear import contract
from index3.methods import projection_kernels, refusals, run
from index3.methods.tlismni import control, formulas, parts, start

PENDING = 1.0
"""Change that another correction may bring to a step that is taken, in parts of the error allowed."""


@helper
def remember_iterate(T, E):
    """Keep T's q, v and a to compare those of the next iterate with."""
    run.copy(view(E, parts.LAST_Q), view(T, s.Q))
    run.copy(view(E, parts.LAST_V), view(T, s.V))
    run.copy(view(E, parts.LAST_A), view(T, s.A))


@helper
def change(T, E):
    """Size of the last correction; and whether it is rounding. LAST_Q, LAST_V are used up."""
    q, v, last_q, last_v = view(T, s.Q), view(T, s.V), view(E, parts.LAST_Q), view(E, parts.LAST_V)
    large_q, large_v, most_q, most_v = 1.0, 1.0, 0.0, 0.0
    for k in range(q.shape[0]):
        last_q[k] = q[k] - last_q[k]
        last_v[k] = v[k] - last_v[k]
        large_q, large_v = max(large_q, abs(q[k])), max(large_v, abs(v[k]))
        most_q, most_v = max(most_q, abs(last_q[k])), max(most_v, abs(last_v[k]))
    rounding = 10.0 * parts.CLOSED
    return parts.norm(E, last_q, last_v), most_q <= rounding * large_q and most_v <= rounding * large_v


@helper
def pending_change(T, E):
    """Size of the change of v that the next correction would bring: T's a against the one its v was made of.

    What is corrected in v comes to q with the next correction, and back to v with the one after that. So two of them
    may seem to converge fast where the third undoes the first: q has left a contact that a was evaluated in.
    """
    a, last, w, total = view(T, s.A), view(E, parts.LAST_A), view(E, parts.ALLOWED_V), 0.0
    c = view(E, parts.WEIGHTS)[formulas.CORRECT, formulas.VA, 0]
    for k in range(a.shape[0]):
        x = c * (a[k] - last[k]) / w[k]
        total += x * x
    return sqrt(total / (2.0 * a.shape[0]))


@helper
def judge(E, k, size, before, before_that, tiny):
    """After correction k: CONVERGED, STALLED, or -1 to go on.

    q follows v and v follows q through a: a change comes back to where it was after two corrections, so the rate is
    taken over two as soon as there are three.
    """
    c, memory = view(E, parts.SETTINGS), view(E, parts.MEMORY)
    if not size < 1e200:
        return parts.STALLED
    if c[parts.CORRECTIONS] > 0.0:
        return parts.CONVERGED if k >= c[parts.CORRECTIONS] else -1
    if c[parts.PAPER_CONTROLLER] == 1.0:
        return parts.CONVERGED if size <= 1.0 else -1
    if size == 0.0 or (tiny and k > 1):
        return parts.CONVERGED
    if k == 1:
        memory[parts.PROSPECT] = max(memory[parts.PROSPECT], 1e-15) ** 0.8
        return parts.CONVERGED if memory[parts.PROSPECT] * size <= c[parts.KAPPA] else -1
    rate = size / before if k == 2 or before_that == 0.0 else sqrt(size / before_that)
    memory[parts.RATE] = rate
    if rate >= 1.0:
        return parts.STALLED if k > 3 or (k == 3 and rate >= 2.0) else -1
    memory[parts.PROSPECT] = rate / (1.0 - rate)
    return parts.CONVERGED if memory[parts.PROSPECT] * size <= c[parts.KAPPA] else -1


@helper
def iterates(E, R):
    """Whether the corrector is iterated until it converges by our rules, with an error test behind it."""
    c = view(E, parts.SETTINGS)
    return view(R, run.CLOCK)[run.STEP] == 0.0 and c[parts.CORRECTIONS] == 0.0 and c[parts.PAPER_CONTROLLER] == 0.0


@helper
def outer_loop(T, E, R):
    """Predict, then correct and evaluate until the corrector is satisfied; an end of `parts`, or 10 and above."""
    memory, counts, c = view(E, parts.MEMORY), view(R, run.COUNTS), view(E, parts.SETTINGS)
    before, before_that = 0.0, 0.0
    memory[parts.ITERATIONS] = 0.0
    parts.combine(T, E, formulas.PREDICT)
    code = parts.project_state(T, E)
    if code == OK:
        code = parts.evaluate(T, E, R)
    if code != OK:
        return code
    for k in range(1, int(c[parts.MAX_OUTER]) + 1):
        remember_iterate(T, E)
        parts.combine(T, E, formulas.CORRECT)
        code = parts.project_state(T, E)
        if code != OK:
            return code
        counts[run.N_NEWTON] += 1
        memory[parts.ITERATIONS] = k
        size, tiny = change(T, E)
        memory[parts.SIZE] = size
        verdict = judge(E, k, size, before, before_that, tiny)
        if verdict != parts.STALLED:
            code = parts.evaluate(T, E, R)
        if code == OK and verdict == parts.CONVERGED and iterates(E, R) and pending_change(T, E) > PENDING:
            verdict = -1
        if code != OK or verdict >= 0:
            return code if code != OK else verdict
        before_that, before = before, size
    return parts.STALLED


@helper
def factorisations(C):
    """How often the solver of a projector has factorised."""
    return view(view(C, projection_kernels.LINK)[projection_kernels.LINK_SOLVER], contract.INFO)[contract.N_FACTOR]


@helper
def renew_reference(T, E, R):
    """Factorise at the last accepted state: the directions of recovery for the next step."""
    counts, flags = view(R, run.COUNTS), view(E, parts.FLAGS)
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(E, parts.PAST_Q)[0])
    run.copy(view(T, s.V), view(E, parts.PAST_V)[0])
    code = projection_kernels.evaluate(T)
    if code == OK:
        code = projection_kernels.factor_mass(T, view(E, parts.PROJECTORS)[parts.REFERENCE], view(T, s.Q)[:0])
    counts[run.N_FACTOR] += 1
    flags[parts.RENEW] = 0
    if code == projection_kernels.EVALUATION:
        return run.EVALUATION_FAILED
    return run.BODY_SINGULAR if code != OK else OK


@helper
def solve_step(T, E, R, t, h):
    """One step from the last accepted state to t; CONVERGED, STALLED, OPEN, or a reason of 10 and above."""
    flags, projectors, formula = view(E, parts.FLAGS), view(E, parts.PROJECTORS), view(E, parts.FORMULA)
    if flags[parts.RENEW] == 1:
        code = renew_reference(T, E, R)
        if code != OK:
            return code
    parts.fill_allowed(E, R)
    before = factorisations(projectors[parts.REFERENCE])
    starting = flags[parts.FILLED] <= formula[formulas.ORDER]
    if flags[parts.FILLED] >= formula[formulas.ORDER]:
        parts.fill_weights(E, h)
    if starting:
        code = start.starting_step(T, E, R, t, h)
    else:
        view(T, s.TIME)[0] = t
        code = outer_loop(T, E, R)
    if code == parts.CONVERGED and flags[parts.FILLED] >= formula[formulas.ORDER]:
        parts.combine(T, E, formulas.ERROR)
        view(E, parts.MEMORY)[parts.ERROR] = parts.tangential_size(T, E)
    more = factorisations(projectors[parts.REFERENCE]) - before
    view(R, run.COUNTS)[run.N_FACTOR] += more
    if more > 0:
        flags[parts.RENEW] = 1  # the inner loop has moved the reference, to a point that may be rejected
    return code


@helper
def accept(T, E, R, t):
    """Make T's state the new one; the latest factorisation becomes the reference."""
    flags, projectors, times = view(E, parts.FLAGS), view(E, parts.PROJECTORS), view(E, parts.PAST_T)
    q, v, a = view(E, parts.PAST_Q), view(E, parts.PAST_V), view(E, parts.PAST_A)
    if refusals.is_refused(T, R):
        return OK
    for j in range(formulas.PAST - 1, 0, -1):
        times[j] = times[j - 1]
        run.copy(q[j], q[j - 1])
        run.copy(v[j], v[j - 1])
        run.copy(a[j], a[j - 1])
    times[0] = t
    run.copy(q[0], view(T, s.Q))
    run.copy(v[0], view(T, s.V))
    run.copy(a[0], view(T, s.A))
    flags[parts.FILLED] = min(formulas.PAST + 1, flags[parts.FILLED] + 1)
    flags[parts.RENEW] = 0
    projectors[parts.REFERENCE], projectors[parts.LATEST] = projectors[parts.LATEST], projectors[parts.REFERENCE]
    return run.accept(T, R)


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, parts.RUN)[0]
    clock, flags, counts = view(R, run.CLOCK), view(E, parts.FLAGS), view(R, run.COUNTS)
    t, h = run.step_tried(R)
    code = solve_step(T, E, R, t, h)
    fixed = clock[run.STEP] > 0.0
    if code != parts.CONVERGED:
        flags[parts.FAILED_IN_ROW] += 1
        if fixed or (code >= run.NEWTON_FAILED and flags[parts.FAILED_IN_ROW] > run.MOST_FAILURES):
            return code if code >= run.NEWTON_FAILED else run.NEWTON_FAILED
        control.retreat(E, R, code, h)
        return OK
    flags[parts.FAILED_IN_ROW] = 0
    if fixed or control.next_step(E, R, h):
        return accept(T, E, R, t)
    counts[run.N_REJECTED] += 1
    return OK
