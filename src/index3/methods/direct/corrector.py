"""Newton's iteration of the direct methods: the equations of `newton`, solved for one step.

Three tries, each from the predicted a, lam: with the matrix at hand; with one of this step, unless it rubs; and by
shortened corrections, with a new matrix wherever the last one does not pay (`descend`). Friction needs the third where
a body that slides comes to stick: an undamped correction takes it from sliding one way to sliding the other and back.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.linear import contract
from index3.methods import run
from index3.methods.direct import newton

CONVERGED, STALLED = run.CONVERGED, run.STALLED
DESCENTS, LEAST_PART = 30, 1e-4
"""Most corrections of a descent, and the least part of one that is taken: thirteen halvings."""
APPROACHES, NEAR = 3, 0.3
"""Most matrices with secants of friction before a descent, and the part of one below which the next may be for the
last: 1 to 6, and 0.1 to 0.5, were tried on the steps of 60 balls in a box at rtol 1e-3 and 1e-5."""
KEPT = 4
"""Most corrections by one of these matrices, which costs as much as twelve: 1, 2, 3, 4 and 7 were tried on 16 and
60 balls, and 4 on heaps of 12 to 52."""


@helper
def correction_allowed(E, R):
    """What may be left of corrections, in weights."""
    return 1.0 if view(R, run.CLOCK)[run.STEP] > 0.0 else view(E, newton.SETTINGS)[newton.KAPPA]


@helper
def correct(T, E, R, S, full):
    """Newton's iteration for one step; CONVERGED, STALLED (smaller step), or a reason to stop (10 and above)."""
    c, memory, counts = view(E, newton.SETTINGS), view(E, newton.MEMORY), view(R, run.COUNTS)
    x, a, lam = view(S, contract.X), view(T, s.A), view(T, s.LAM)
    n, before, rate = a.shape[0], 0.0, memory[newton.RATE_LAST]
    kappa, tolerance = correction_allowed(E, R), newton.row_tolerance(E, R)
    for iteration in range(int(c[newton.MAX_ITERATIONS])):
        code = newton.evaluate(T, E, R)
        if code == OK and (view(E, newton.FLAGS)[newton.RENEW] == 1 or full):
            code = newton.factorise(T, E, R, S, False)
        if code != OK:
            return code
        if (
            iteration == 0 and newton.project_base(T, E, False) > 0.0
        ):  # the prediction is further off than later iterates
            code = newton.evaluate(T, E, R)
            if code != OK:
                return code
        closing = newton.project_base(T, E, True)
        rows = newton.row_size(T, E, tolerance)
        solved = newton.fill_residual(T, E, S)
        contract.solve(T, S)
        counts[run.N_NEWTON] += 1
        size, tiny = newton.correction_size(T, E, S)
        size = sqrt(size * size + closing * closing)
        if solved and iteration > 0 and size > kappa:
            # the residual is rounding, yet corrections are not small: near a singular position they are amplified noise
            counts[run.N_STAGNATED] += 1
            return CONVERGED
        if not size < 1e200:
            return STALLED
        if iteration == 0 and 1e3 * size <= kappa and run.acts_otherwise(T, R):
            return STALLED  # the matrix has the stiffness of a contact that is open here: all its corrections are small
        for k in range(n):
            a[k] += x[k]
        for k in range(lam.shape[0]):
            lam[k] += x[n + k]
        if iteration > 0:
            rate = size / before if before > 0.0 else 0.0
            # a ratio of roundings says nothing bad about the matrix
            memory[newton.RATE_LAST] = min(rate, memory[newton.RATE_LAST]) if tiny else rate
        if tiny and rows <= 1.0:  # stagnation at rounding level
            if iteration > 0 and rate > 0.5:
                counts[run.N_STAGNATED] += 1
            return CONVERGED
        if iteration > 0:
            if rate >= 1.0 or (rate > 0.9 and iteration > 3):
                return STALLED
            if rate / (1.0 - rate) * size <= kappa and rate * rows <= 1.0:
                return CONVERGED
        elif 1e3 * size <= kappa and rows <= 1.0:  # a linear problem, or a perfect prediction
            return CONVERGED
        before = size
    return STALLED


@helper
def add_step(T, E, part):
    """Go on along the kept correction by this part of it."""
    a, lam, step_a, step_lam = view(T, s.A), view(T, s.LAM), view(E, newton.STEP_A), view(E, newton.STEP_LAM)
    for k in range(a.shape[0]):
        a[k] += part * step_a[k]
    for k in range(lam.shape[0]):
        lam[k] += part * step_lam[k]


@helper
def find_correction(T, E, R, S):
    """Minus the residual through the matrix at hand, in X: its size, whether it is rounding, and that of the rows."""
    rows = newton.row_size(T, E, newton.row_tolerance(E, R))
    newton.fill_residual(T, E, S)
    contract.solve(T, S)
    view(R, run.COUNTS)[run.N_NEWTON] += 1
    size, tiny = newton.correction_size(T, E, S)
    return size, tiny, rows


@helper
def shorten(T, E, R, S, size, part):
    """Take a part of the correction in X after which the next one, with the same matrix, is smaller.

    The natural monotonicity test of damped Newton iterations: unlike the residual it asks for no scales of forces
    against constraints. Returns (status, part taken, size of the next correction, rounding or not, rows).
    """
    x, n = view(S, contract.X), view(T, s.A).shape[0]
    run.copy(view(E, newton.STEP_A), x[:n])
    run.copy(view(E, newton.STEP_LAM), x[n:])
    taken = 0.0
    while True:
        add_step(T, E, part - taken)
        taken = part
        code = newton.evaluate(T, E, R)
        if code != OK:
            return code, part, 0.0, False, 0.0
        after, tiny, rows = find_correction(T, E, R, S)
        if after <= (1.0 - 0.25 * part) * size or tiny:
            return OK, part, after, tiny, rows
        part *= 0.5
        if part < LEAST_PART:
            return STALLED, part, after, tiny, rows


@helper
def approach(T, E, R, S):
    """Where friction acts: corrections by its secants through rest, whole ones, and the forces where they lead to.

    A secant never takes a body past rest, as a slope does that is all but zero while it slides: so these corrections
    find out what comes to stick. They shrink slowly near the solution, which is left to `descend`.
    """
    x, n, flags, code = view(S, contract.X), view(T, s.A).shape[0], view(E, newton.FLAGS), newton.evaluate(T, E, R)
    for _ in range(APPROACHES if flags[newton.SLIDES] == 1 else 0):
        if code == OK:
            code = newton.factorise(T, E, R, S, True)
        if code != OK:
            return code
        size, _, _ = find_correction(T, E, R, S)
        flags[newton.RENEW] = 1
        for k in range(KEPT):
            run.copy(view(E, newton.STEP_A), x[:n])
            run.copy(view(E, newton.STEP_LAM), x[n:])
            add_step(T, E, 1.0)
            code = newton.evaluate(T, E, R)
            if code != OK:
                return code
            after = find_correction(T, E, R, S)[0] if k + 1 < KEPT else size
            if after < NEAR * size:
                return OK
            if after > size:
                break
    return code


@helper
def descend(T, E, R, S):
    """Newton's iteration by shortened corrections from the guess, where the matrix at hand belongs to unless RENEW."""
    flags, memory, kappa = view(E, newton.FLAGS), view(E, newton.MEMORY), correction_allowed(E, R)
    code, size, part = approach(T, E, R, S), 0.0, 1.0
    renew = flags[newton.RENEW] == 1
    for k in range(DESCENTS):
        if code == OK and renew:
            code = newton.factorise(T, E, R, S, False)
        if code != OK:
            return code
        if renew or k == 0:
            size, _, _ = find_correction(T, E, R, S)
        if not size < 1e200:
            return STALLED
        code, part, after, tiny, rows = shorten(T, E, R, S, size, part)
        if code != OK:
            return code
        rate = after / size if size > 0.0 else 0.0
        memory[newton.RATE_LAST] = rate
        if rows <= 1.0 and (tiny or (part == 1.0 and rate < 0.9 and rate / (1.0 - rate) * after <= kappa)):
            return CONVERGED
        renew = part < 1.0 or rate > 0.5 or flags[newton.RENEW] == 1
        size = after
        part = min(1.0, 4.0 * part)
    return STALLED


@helper
def restart(T, E):
    """Back to where the iteration started."""
    run.copy(view(T, s.A), view(E, newton.GUESS_A))
    run.copy(view(T, s.LAM), view(E, newton.GUESS_LAM))
    run.copy(view(E, newton.Q_BASE), view(E, newton.GUESS_Q))


@helper
def solve_step(T, E, R, S):
    """Correct the predicted a, lam of a step."""
    flags, memory, counts = view(E, newton.FLAGS), view(E, newton.MEMORY), view(R, run.COUNTS)
    c = view(E, newton.SETTINGS)
    run.forget_undetermined(T, S, view(T, s.LAM))
    run.copy(view(E, newton.GUESS_A), view(T, s.A))
    run.copy(view(E, newton.GUESS_LAM), view(T, s.LAM))
    run.copy(view(E, newton.GUESS_Q), view(E, newton.Q_BASE))
    ratio = memory[newton.C_VELOCITY] / memory[newton.C_FACTORED] if memory[newton.C_FACTORED] > 0.0 else 0.0
    # a stiff motion is corrected by 1 - ratio^2 of what it needs if the matrix is one of another step
    if (
        ratio < c[newton.RENEW_BELOW]
        or ratio > c[newton.RENEW_ABOVE]
        or memory[newton.RATE_LAST] > c[newton.RENEW_RATE]
    ):
        flags[newton.RENEW] = 1
    flags[newton.FRESH] = 0
    code, stabilised = STALLED, view(E, newton.PROJECTOR)[0] != 0
    for trial in range(3):
        if trial == 1 and (flags[newton.FRESH] == 1 or (flags[newton.SLIDES] == 1 and not stabilised)):
            continue  # a matrix of this very step did not help, or seldom would: bodies that come to stick need more
        if trial > 0:
            restart(T, E)
        if trial == 2 and not stabilised:
            code = descend(T, E, R, S)
        else:
            flags[newton.RENEW] = 1 if trial > 0 else flags[newton.RENEW]
            code = correct(T, E, R, S, trial == 2)
        if code != STALLED:
            break
    if code != CONVERGED:
        counts[run.N_NEWTON_FAILED] += 1
        flags[newton.RENEW] = 1
    return code
