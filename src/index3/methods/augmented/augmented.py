"""Augmented Lagrangian methods: the step loop, steps by the energy invariant, and the change of index.

[CardenalMultiIndex]: bare numbers are its equations, 6.x are those of docs/theory/augmented.md. Ours differs, beside
what `steps` says:
- both indices end a step with a and lam of (6) at the projected q, v. So residuals vanish at three levels, and nothing
  is to be recomputed when the index changes;
- (12) counts the work of non-conservative forces and of motions only;
- a step grows only after two small changes of the invariant, because these pass through zero;
- the local error is tested as well (option `guard`): the trapezoidal rule keeps the energy of linear vibrations, and of
  a body that turns freely, at any step.
Constants not in the paper: failures in a row before index 1 (4, an option), PATIENCE, TARGET, ROUNDING.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import refusals, run
from index3.methods.augmented import penalty as p
from index3.methods.augmented.penalty import CHANGES, FLAGS, LINK, MEMORY, SETTINGS, TALLY, TRIAL_LAM, TRIAL_Q, TRIAL_V
from index3.methods.augmented.steps import CONVERGED, STALLED, step_index_1, step_index_3

ROUNDING = 1e-12
"""Part of the energies held by which their sum may change unseen, 250 times its rounding: 1/250 lets steps grow."""
PATIENCE = 50
"""Steps that stay below the size at which the iteration failed, lest every second one fail (index 1, stiff forces)."""
WORTHWHILE = 0.37
"""Rate of the iteration of index 1 up to which steps grow. Forces such as those of stiff dampers, of which its matrix
knows nothing, make the rate r grow with h. Corrections per time, 1 / (h log(1/r)), are fewest at r = 1/e."""
TARGET = 0.9
"""Part of the step at which the local error would be the guard that the next one has."""


@helper
def measure(T, E, R, t, h):
    """Energy at the end of the step tried and work in it, by Simpson's rule; T returns to the end."""
    memory, work, energy = view(E, MEMORY), view(R, run.WORK), view(T, s.ENERGY)
    if run.core(T, s.CORE_ENERGY) != OK:
        return run.EVALUATION_FAILED
    memory[p.KINETIC_TRIAL] = energy[s.KINETIC]
    memory[p.ENERGY_TRIAL] = energy[s.KINETIC] + energy[s.POTENTIAL]
    memory[p.WORK_STEP] = 0.0
    if view(E, FLAGS)[p.WORKS] == 0:
        return OK
    power = energy[s.POWER]
    q, v, lam, q1, v1 = view(T, s.Q), view(T, s.V), view(T, s.LAM), view(E, TRIAL_Q), view(E, TRIAL_V)
    q0, v0, a0, a1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A), view(T, s.A)
    lam0, lam1 = view(R, run.NEW_LAM), view(E, TRIAL_LAM)
    run.copy(q1, q)
    run.copy(v1, v)
    run.copy(lam1, lam)
    for k in range(q.shape[0]):  # the dense output of degree 5 in the middle
        q[k] = 0.5 * (q0[k] + q1[k]) + h * (0.15625 * (v0[k] - v1[k]) + 0.015625 * h * (a0[k] + a1[k]))
        v[k] = 1.875 * (q1[k] - q0[k]) / h - 0.4375 * (v0[k] + v1[k]) + 0.03125 * h * (a1[k] - a0[k])
    for k in range(lam.shape[0]):
        lam[k] = 0.5 * (lam0[k] + lam1[k])
    view(T, s.TIME)[0] = t - 0.5 * h
    code = run.core(T, s.CORE_WORKING if view(E, FLAGS)[p.WORKS] == p.ALONE else s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_POWER)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    work[run.POWER_MIDDLE] = energy[s.POWER]
    memory[p.WORK_STEP] = h / 6.0 * (work[run.POWER_NEW] + 4.0 * work[run.POWER_MIDDLE] + power)
    energy[s.POWER] = power
    run.copy(q, q1)
    run.copy(v, v1)
    run.copy(lam, lam1)
    view(T, s.TIME)[0] = t
    if code == OK:
        code = run.core(T, s.CORE_POSES)
    return run.EVALUATION_FAILED if code != OK else OK


@helper
def bounds(E, R):
    """(U, L): the change of the invariant in a step that is allowed, and below which steps grow."""
    c, memory, atol = view(E, SETTINGS), view(E, MEMORY), view(R, run.ATOL)
    upper = c[p.UPPER]
    if upper == 0.0:
        least = atol[0]
        for k in range(atol.shape[0]):
            least = min(least, atol[k])
        kinetic = max(memory[p.KINETIC_MOST], memory[p.KINETIC_TRIAL])
        work = max(memory[p.WORK_MOST], abs(view(R, run.WORK)[run.WORK_NEW] + memory[p.WORK_STEP]))
        held = memory[p.KINETIC_TRIAL] + abs(memory[p.ENERGY_TRIAL] - memory[p.KINETIC_TRIAL])
        upper = view(R, run.TOLERANCE)[run.RTOL] * max(kinetic, work) + least * c[p.ENERGY_UNIT] + ROUNDING * held
    return upper, c[p.LOWER] if c[p.LOWER] > 0.0 else upper / 250.0


@helper
def accept(T, E, R, index):
    """Make the step tried with this index the accepted one; its work was measured already."""
    memory, tally, work, flags = view(E, MEMORY), view(E, TALLY), view(R, run.WORK), view(E, FLAGS)
    tally[p.STEPS_1 if index == 1 else p.STEPS_3] += 1
    flags[p.FAILURES] = 0
    flags[p.BROKEN_IN_ROW] = 0
    work[run.WORK_STEP] = memory[p.WORK_STEP]
    work[run.POWER_STEP] = view(T, s.ENERGY)[s.POWER]
    code = run.accept(T, R)
    memory[p.ENERGY_OLD] = memory[p.ENERGY_TRIAL]
    memory[p.KINETIC_MOST] = max(memory[p.KINETIC_MOST], memory[p.KINETIC_TRIAL])
    memory[p.WORK_MOST] = max(memory[p.WORK_MOST], abs(work[run.WORK_NEW]))
    return code


@helper
def change_index(E, index, t):
    """Go on with the other index from time t; it is noted while there is room."""
    flags, tally, changes = view(E, FLAGS), view(E, TALLY), view(E, CHANGES)
    flags[p.INDEX] = index
    flags[p.FAILURES] = 0
    flags[p.RENEW] = 1
    tally[p.SWITCHES] += 1
    if tally[p.SWITCHES] < changes.shape[0]:  # line 0 is the start
        changes[tally[p.SWITCHES], 0] = t
        changes[tally[p.SWITCHES], 1] = index


@helper
def is_for_index_1(E, R):
    """Whether index 3 is to be left: the next step is small, or several failed in a row (6.5)."""
    c, flags = view(E, SETTINGS), view(E, FLAGS)
    small = view(R, run.CLOCK)[run.H_NEXT] < c[p.H_SWITCH] or flags[p.FAILURES] > c[p.MAX_FAILURES]
    return c[p.KIND] == 0.0 and flags[p.INDEX] == 3 and small


@helper
def reject(E, R, factor):
    """A smaller step; index 1 if it is small, or after several failures (6.5)."""
    run.retry(R, factor)
    view(E, FLAGS)[p.FAILURES] += 1
    if is_for_index_1(E, R):
        change_index(E, 1, view(R, run.CLOCK)[run.T_NEW])


@helper
def local_error(T, R, h):
    """RMS over the weights of the trapezoidal rule's error in the step tried: what hht-i3 controls.

    Of q it is h^3 a'/12, with a' by a at both ends; of first-order states h^3 a''/12, with a'' from the last three a.
    """
    a, a0, a1, total = view(T, s.A), view(R, run.NEW_A), view(R, run.OLD_A), 0.0
    last, first = view(R, run.CLOCK)[run.H_LAST], view(R, run.LIMITS)[run.FIRST_STATE]
    for k in range(min(first, a.shape[0])):
        x = h * h / 12.0 * (a[k] - a0[k]) / run.weight(R, k)
        total += x * x
    if view(R, run.COUNTS)[run.N_STEPS] > 0:
        for k in range(first, a.shape[0]):
            bend = 2.0 * ((a[k] - a0[k]) / h - (a0[k] - a1[k]) / last) / (h + last)
            x = h * h * h / 12.0 * bend / run.weight_v(R, k)
            total += x * x
    return (total / a.shape[0]) ** 0.5


@helper
def guarded_growth(T, E, R, h):
    """By what the local error lets the next step be longer than the one tried, at most 2; below TARGET: not even it."""
    guard = view(E, SETTINGS)[p.GUARD]
    if guard == 0.0:
        return 2.0
    error = local_error(T, R, h) / guard
    return min(2.0, TARGET * max(error, 1e-2) ** (-1.0 / 3.0))


@helper
def choose_step(E, R, t, h, error, upper, lower, growth):
    """The size of the next step after one accepted at t, (13), (14) of 6.4, and the index that it asks for (6.5)."""
    c, flags, clock, memory = view(E, SETTINGS), view(E, FLAGS), view(R, run.CLOCK), view(E, MEMORY)
    most = max(error, memory[p.ERROR_LAST])
    memory[p.ERROR_LAST] = error
    flags[p.WAIT] = max(0, flags[p.WAIT] - 1)
    if growth < 1.0:
        clock[run.H_NEXT] = h * max(0.5, growth)
        if is_for_index_1(E, R):
            change_index(E, 1, t)
    elif most < lower:
        factor = min(growth, (0.8 * upper / max(error, 1e-6 * lower)) ** (1.0 / 3.0))
        if c[p.KIND] == 1.0:  # else larger steps are those of index 3
            factor = min(factor, max(1.0, WORTHWHILE / max(memory[p.RATE_MEAN], 0.1)))
        if flags[p.WAIT] > 0:
            factor = max(1.0, min(factor, 0.8 * memory[p.H_FAILED] / h))
        clock[run.H_NEXT] = max(clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0, h * factor)
        if c[p.KIND] == 0.0 and flags[p.INDEX] == 1 and clock[run.H_NEXT] > c[p.H_SWITCH]:
            change_index(E, 3, t)


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, LINK)[p.RUN]
    clock, flags, counts, memory = view(R, run.CLOCK), view(E, FLAGS), view(R, run.COUNTS), view(E, MEMORY)
    t, h = run.step_tried(R)
    view(T, s.TIME)[0] = t
    code = step_index_1(T, E, R, h) if flags[p.INDEX] == 1 else step_index_3(T, E, R, h)
    fixed = clock[run.STEP] > 0.0
    if code == CONVERGED:
        code = p.project_rates(T, E, R, flags[p.INDEX] == 3)
    if code == CONVERGED:
        code = measure(T, E, R, t, h)
    if code != CONVERGED:
        counts[run.N_NEWTON_FAILED] += 1
        flags[p.BROKEN_IN_ROW] += 1 if code != STALLED else 0
        if fixed or flags[p.BROKEN_IN_ROW] > run.MOST_FAILURES:
            return run.NEWTON_FAILED if code == STALLED else code
        reject(E, R, 0.5 if code == STALLED else 0.25)
        memory[p.H_FAILED] = h
        flags[p.WAIT] = PATIENCE
        return OK
    if fixed:
        return accept(T, E, R, flags[p.INDEX])
    error = abs(memory[p.ENERGY_TRIAL] - memory[p.ENERGY_OLD] - memory[p.WORK_STEP])
    upper, lower = bounds(E, R)
    if not error <= upper:
        reject(E, R, max(0.1, min(0.5, (0.8 * upper / error) ** (1.0 / 3.0))))
        return OK
    growth = guarded_growth(T, E, R, h)
    if not growth >= TARGET:  # also catches NaN
        reject(E, R, max(0.2, growth))
        return OK
    if refusals.passes(T, R):
        return OK
    index = flags[p.INDEX]
    choose_step(E, R, t, h, error, upper, lower, growth)
    return accept(T, E, R, index)
