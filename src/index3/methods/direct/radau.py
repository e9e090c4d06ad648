"""Radau IIA of order 5 on the stabilised index-2 equations: the step loop.

[HairerWanner] IV.8 (the code RADAU5), VII.4; the stages are in `radau_newton`. The last stage is the end of the step,
so positions and velocities satisfy their constraints there, and both are of order 5; a and lam of the stages are of
order 3 only, so those of the end are solved for in the augmented system.

The error is the difference to an embedded formula of order 3 that also uses the derivative at the start,
e = (I - z h J)^-1 (z h y_n' + sum e_i (y_i - y_n)), z the real eigenvalue, J in the tangent space: no scaling of
components by their index is needed. An error above 1 is filtered once more, since e does not vanish for h J -> infinity
([HairerWanner] (IV.8.20); the second evaluation there is linearised here).
The filter takes out what a stiff force will damp. An impact that is over within the step is no such force: where a
velocity changes by more than two roots of rtol of the largest with a large error before that was filtered, or neither
end of the step shows a force that does it, the step is tried again.
The next step is that of Gustafsson's predictive control.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.methods import manifold, refusals, run
from index3.methods.direct import leaps, radau_newton
from index3.methods.direct import radau_system as rs
from index3.methods.explicit import points
from index3.methods.filtering import filter_error
from index3.methods.rates import length_of

SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 8.0
"""Of [HairerWanner]: safety factor, bounds of the change of a step."""
FIRST_LARGEST = 1000.0
"""The same bound after the first step, which was chosen without any error to go by: CVODE lets it grow by 10^4."""
TURN, TURNS = 0.1, 2.0
"""Part of the largest speed by which a velocity may change in a step although a filter hides its error: at most that,
and at most so many roots of the error allowed in its coordinate, in parts of the largest one."""
ERRS = 0.06
"""Part of such a change that is a large error: a force met at the last stage alone counts with weight 0.09."""
MOST_HIDDEN = 12
"""Tries in a row that are repeated for either: at a singular position velocities may turn at once."""
UNSETTLED = 0.1
"""Part of the tolerance that the iteration may have left in a step by what is seen at its end."""
SHOWN = 0.1
"""Part of such a change that the accelerations at the ends of the step must account for."""


@helper
def accelerate(T, E):
    """Accelerations and multipliers at T's point, whose directions become those of the projector."""
    link = view(E, rs.LINK)
    return points.run_job(T, link[rs.POINT], link[rs.LINK_EVALUATE], link[rs.PROJECTOR], link[rs.PROJECTOR], 0, 0.0)


@helper
def return_to_start(T, E, R):
    """The directions of the start of the step, where none were made or those of a failed end were."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(R, run.NEW_Q))
    run.copy(view(T, s.V), view(R, run.NEW_V))
    view(E, rs.FLAGS)[rs.STALE] = 0
    return accelerate(T, E)


@helper
def filtered_norm(T, E, R, g):
    """Filter ERR_Q, ERR_V into OUT_Q, OUT_V; their RMS over the weights."""
    S, out_q, out_v = view(R, run.LINK)[run.LINK_SOLVER], view(E, rs.OUT_Q), view(E, rs.OUT_V)
    mass, stiff, damp = view(E, rs.MASS), view(E, rs.STIFF), view(E, rs.DAMP)
    filter_error(T, S, mass, stiff, damp, view(E, rs.ERR_Q), view(E, rs.ERR_V), out_q, out_v, g)
    return manifold.error_norm(R, out_q, out_v)


@helper
def allowed_turn(R, k, size, speed):
    """The change of velocity k, as that of a length, that a filter may hide in a step."""
    part = view(R, run.LENGTHS)[k] * run.weight(R, k) / size if size > 0.0 else 0.0
    return min(TURN, TURNS * sqrt(max(view(R, run.TOLERANCE)[run.RTOL], part))) * speed


@helper
def hidden_turn(E, R):
    """The largest change of a velocity, in parts of that allowed, with an error before it is filtered of ERRS of it."""
    e_v, v, v0, worst = view(E, rs.ERR_V), view(E, rs.STAGE_V)[rs.STAGES - 1], view(R, run.NEW_V), 0.0
    lengths, size, speed = view(R, run.LENGTHS), leaps.largest_coordinate(R), leaps.largest_speed(R, v0)
    if speed == 0.0:
        return 0.0
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        turn = lengths[k] * min(abs(e_v[k]) / ERRS, abs(v[k] - v0[k]))
        worst = max(worst, turn / allowed_turn(R, k, size, speed))
    return worst


@helper
def hidden_blow(T, R, h):
    """Whether a velocity changes by more than is allowed in the step to T's state, and neither end shows the force."""
    a0, a1, v0, v1, lengths = view(R, run.NEW_A), view(T, s.A), view(R, run.NEW_V), view(T, s.V), view(R, run.LENGTHS)
    size, speed = leaps.largest_coordinate(R), leaps.largest_speed(R, v0)
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        change = abs(v1[k] - v0[k])
        if lengths[k] * change > allowed_turn(R, k, size, speed) and h * max(abs(a0[k]), abs(a1[k])) < SHOWN * change:
            return True
    return False


@helper
def is_unsettled(T, E, R, h):
    """Whether what is left at the end of the step contradicts the iteration that took it for solved.

    T's accelerations and multipliers are those of the last stage's state, and their differences to that stage's tell
    what is left of its forces. Matrices of a place where a force was stiffer take any residual for a small correction:
    the rate by which the last one made the residual smaller tells how far the iteration really is.
    """
    a, own, memory, n = view(T, s.A), view(E, rs.STAGE_A)[rs.STAGES - 1], view(E, rs.MEMORY), view(T, s.A).shape[0]
    lam, own_lam, rest, apart, truth = (
        view(T, s.LAM), view(E, rs.STAGE_LAM)[rs.STAGES - 1], view(T, s.MA), 0.0, view(E, rs.OUT_V),
    )  # fmt: skip
    phi_q, row, column = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    for k in range(n):
        apart = max(apart, h * abs(own[k] - a[k]) / run.weight_v(R, k))
    if apart <= 1.0:
        return False
    for k in range(n):
        truth[k] = a[k]
        a[k] = own[k] - a[k]
    run.copy(view(T, s.Q_MASS), view(T, s.Q))
    run.core(T, s.CORE_MASS)
    whole = length_of(rest, n)
    for i in range(phi_q.shape[0]):
        rest[column[i]] += phi_q[i] * (own_lam[row[i]] - lam[row[i]])
    left = length_of(rest, n)
    run.copy(a, truth)
    if apart * left <= whole:  # the rest is along the constraints, of which multipliers take care
        return False
    return left * memory[rs.LAST_SIZE] > UNSETTLED * max(memory[rs.REST] - left, 0.0)


@helper
def step_error(T, E, R, h):
    """RMS over the weights of the error of q and v."""
    e, q, v, e_q, e_v = (
        view(E, rs.ERROR_E), view(E, rs.STAGE_Q), view(E, rs.STAGE_V), view(E, rs.ERR_Q), view(E, rs.ERR_V),
    )  # fmt: skip
    q0, v0, a0, g = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A), h * view(E, rs.EIGEN)[0].real
    for k in range(q0.shape[0]):
        e_q[k] = g * v0[k]
        e_v[k] = g * a0[k]
        for i in range(rs.STAGES):
            e_q[k] += e[i] * (q[i, k] - q0[k])
            e_v[k] += e[i] * (v[i, k] - v0[k])
    flags = view(E, rs.FLAGS)
    watched, turn = flags[rs.HIDDEN_IN_ROW] < MOST_HIDDEN, hidden_turn(E, R)
    error = filtered_norm(T, E, R, g)
    if error > 1.0 and not (watched and turn > 1.0):
        run.copy(e_q, view(E, rs.OUT_Q))
        run.copy(e_v, view(E, rs.OUT_V))
        turn = hidden_turn(E, R)  # what was no large error before may be one now
        error = filtered_norm(T, E, R, g)
    if watched and turn > 1.0:
        flags[rs.HIDDEN_IN_ROW] += 1
        return max(error, min(turn, 5.0) ** 4)
    return error


@helper
def next_step(E, R, h, error):
    """The next step after an accepted one ([HairerWanner] (IV.8.21), (IV.8.25)); kept if it would hardly grow."""
    memory, flags, most = view(E, rs.MEMORY), view(E, rs.FLAGS), view(E, rs.SETTINGS)
    double = 2.0 * most[rs.MAX_ITERATIONS]
    safety = SAFETY * (double + 1.0) / (double + memory[rs.ITERATIONS])
    error = max(error, 1e-10)
    factor = safety * error**-0.25
    if memory[rs.H_PAST] > 0.0:
        factor = min(factor, SAFETY * h / memory[rs.H_PAST] * (memory[rs.ERROR_PAST] / (error * error)) ** 0.25)
    largest = LARGEST if memory[rs.H_PAST] > 0.0 else FIRST_LARGEST
    factor = max(SMALLEST, min(1.0 if flags[rs.AFTER_REJECTION] == 1 else largest, factor))
    run.grow_or_keep(R, factor)
    memory[rs.ERROR_PAST] = max(0.01, error)


@helper
def reject(E, R, factor):
    """A step that is not taken: a smaller one next."""
    view(E, rs.FLAGS)[rs.AFTER_REJECTION] = 1
    run.retry(R, factor)
    return OK


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, rs.RUN)[0]
    link, memory, flags = view(E, rs.LINK), view(E, rs.MEMORY), view(E, rs.FLAGS)
    fixed, error = view(R, run.CLOCK)[run.STEP] > 0.0, 0.0
    t, h = run.step_tried(R)
    code = return_to_start(T, E, R) if flags[rs.STALE] == 1 else OK
    view(T, s.TIME)[0] = t
    memory[rs.H_STEP] = h
    if code == OK:
        code = call(link[rs.LINK_STAGES], T, E)
    if code == radau_newton.CONVERGED and not fixed:
        error = step_error(T, E, R, h)
        if not error <= 1.0:
            return reject(E, R, max(SMALLEST, min(0.9, SAFETY * error**-0.25)) if error < 1e100 else SMALLEST)
    if code == radau_newton.CONVERGED:
        view(T, s.TIME)[0] = t
        run.copy(view(T, s.Q), view(E, rs.STAGE_Q)[rs.STAGES - 1])
        run.copy(view(T, s.V), view(E, rs.STAGE_V)[rs.STAGES - 1])
        code = accelerate(T, E)
        flags[rs.STALE] = 0 if code == OK else 1
    if code != radau_newton.CONVERGED:
        flags[rs.AFTER_REJECTION] = 1
        return run.answer_failure(R, flags[rs.FAILED_IN_ROW :], code)
    if not fixed and flags[rs.HIDDEN_IN_ROW] < MOST_HIDDEN and is_unsettled(T, E, R, h):
        memory[rs.ETA_OLD] = 1.0
        flags[rs.STALE] = 1
        flags[rs.HIDDEN_IN_ROW] += 1
        factor = 0.5 if flags[rs.FRESH] == 1 else 1.0
        flags[rs.RENEW] = 1
        return reject(E, R, factor)
    if not fixed and flags[rs.HIDDEN_IN_ROW] < MOST_HIDDEN and hidden_blow(T, R, h):
        flags[rs.STALE] = 1
        flags[rs.HIDDEN_IN_ROW] += 1
        return reject(E, R, SMALLEST)
    if refusals.is_refused(T, R):
        flags[rs.STALE] = 1
        flags[rs.AFTER_REJECTION] = 1
        return OK
    if not fixed:
        next_step(E, R, h, error)
    flags[rs.FAILED_IN_ROW] = 0
    flags[rs.HIDDEN_IN_ROW] = 0
    flags[rs.AFTER_REJECTION] = 0
    memory[rs.H_PAST] = h
    for i in range(rs.STAGES):
        run.copy(view(E, rs.PAST_A)[i], view(E, rs.STAGE_A)[i])
        run.copy(view(E, rs.PAST_LAM)[i], view(E, rs.STAGE_LAM)[i])
    return run.accept(T, R)
