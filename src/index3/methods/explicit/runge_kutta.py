"""Explicit Runge-Kutta steps on the constraint manifold: one `attempt` for every tableau.

y = (q, v), y' = (v, a) with a from the augmented system; after the stages the end of the step is projected onto the
position and velocity rows, then its acceleration is evaluated there [Lubich; Shampine; Eich: coordinate projection].
The end is the first stage of the next step, and it is projected *before* it is evaluated, so that evaluation is never
lost ("first same as last" always holds). Where an error estimate uses the end, it sees the projected one: the
difference is of order h^(p+2).

Stages off the manifold are harmless as long as the rows are independent. Redundant rows contradict each other there, so
if the factorisation at the start of a step skips rows, every stage is recovered along the directions of that start,
which do not touch the tangential part: the same formula in the tangent-plane coordinates of the start. With a partition
every stage is recovered, in its dependent coordinates.

Instead of the projection: one step towards the constraints ([AscherChinPetzoldReich] post-stabilisation), or none, with
Baumgarte's terms in every acceleration.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.linear import contract
from index3.methods import audit, projection_kernels, refusals, run
from index3.methods.explicit import points

(
    RUN, LINK, PROJECTORS, FLAGS, SETTINGS, NODES, STAGE_A, ERROR_B, K_Q, K_V, K_POWER, END_Q,
) = SLOTS = slots(
    run=("i8", 1), link=("i8", 1), projectors=("i8", 1), flags=("i8", 1), settings=("f8", 1),
    nodes=("f8", 1), stage_a=("f8", 2), error_b=("f8", 2),  # the tableau; last row of stage_a: the step
    k_q=("f8", 2), k_v=("f8", 2),  # rates of q and v at the stages; last: at the end of the step
    k_power=("f8", 1),  # power of what is not conservative at the stages; last: at the end of the step
    end_q=("f8", 1),  # q at the end of the step before its projection
)  # fmt: skip

POINT, LINK_EVALUATE, LINK_STAGES = range(3)
"""Places in LINK: the table of `points`, and addresses of kernels."""
REFERENCE, CLOSED, AUTO, STALE, END_IN_ERROR, ROWS, FAILED_IN_ROW, FROM_OLD, HOW_END = range(9)
"""Places in FLAGS: which of PROJECTORS holds the start of the step; stages are recovered; skipped rows decide
that; the reference must be made anew; the estimate uses the end; error rows; tries that failed one after another;
whether `stages` start from the last accepted state but one; how the end is brought back to the constraints."""
SPARE = 2
"""The first of two more PROJECTORS, for `dense`."""
EXPONENT, MEMORY, SHRINK, GROW, LAST_ERROR, SAFETY, H_STAGES = range(7)
STALLED = run.STALLED
JUMP_ERRORS, JUMP_PART, JUMP_SIZE = 100.0, 0.1, 1e-6
"""A projection is a jump if it is larger than so many allowed errors, than this part of the step, and than this part of
the coordinates (near a singular position rounding is amplified: some 1e-9)."""


@helper
def combine(T, E, row, h, q0, v0):
    """T's q and v = start + h sum_j a_ij k_j."""
    a, k_q, k_v, q, v = view(E, STAGE_A), view(E, K_Q), view(E, K_V), view(T, s.Q), view(T, s.V)
    run.copy(q, q0)
    run.copy(v, v0)
    for j in range(min(row, a.shape[1])):
        c = h * a[row, j]
        if c != 0.0:
            for k in range(q.shape[0]):
                q[k] += c * k_q[j, k]
                v[k] += c * k_v[j, k]


@helper
def evaluate(T, E, directions, target, how, tolerance):
    """Accelerations at T's point, see `points.evaluate`; projectors by their number."""
    link, projectors = view(E, LINK), view(E, PROJECTORS)
    return points.run_job(
        T, link[POINT], link[LINK_EVALUATE], projectors[directions], projectors[target], how, tolerance
    )


@helper
def has_weight(E, i):
    """Whether stage i enters the step or its error, so that its power does."""
    a, e, weight = view(E, STAGE_A), view(E, ERROR_B), 0.0
    for k in range(e.shape[0]):
        weight = max(weight, abs(e[k, i]))
    return weight > 0.0 or a[a.shape[0] - 1, i] != 0.0


@kernel
def stages(T, E):
    """The stages of a step of size H_STAGES from the new (or old) state; T's q, v become its end, unprojected."""
    R, nodes, k_q, k_v, flags = view(E, RUN)[0], view(E, NODES), view(E, K_Q), view(E, K_V), view(E, FLAGS)
    clock, h, tolerance = view(R, run.CLOCK), view(E, SETTINGS)[H_STAGES], points.loose(R)
    t, q0, v0, a0 = clock[run.T_NEW], view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    if flags[FROM_OLD] == 1:
        t, q0, v0, a0 = clock[run.T_OLD], view(R, run.OLD_Q), view(R, run.OLD_V), view(R, run.OLD_A)
    reference = flags[REFERENCE]
    run.copy(k_q[0], v0)
    run.copy(k_v[0], a0)
    for i in range(1, nodes.shape[0]):
        view(T, s.TIME)[0] = t + nodes[i] * h
        combine(T, E, i, h, q0, v0)
        code = evaluate(T, E, reference, reference ^ 1, flags[CLOSED], tolerance)
        if code != OK:
            return code
        run.copy(k_q[i], view(T, s.V))
        run.copy(k_v[i], view(T, s.A))
        if view(R, run.LIMITS)[run.TRACK_WORK] == run.OWN and has_weight(E, i):
            run.core(T, s.CORE_POWER)
            view(E, K_POWER)[i] = view(T, s.ENERGY)[s.POWER]
    combine(T, E, nodes.shape[0], h, q0, v0)
    return OK


@helper
def take_stages(T, E, h, from_old):
    """Run `stages`."""
    view(E, SETTINGS)[H_STAGES] = h
    view(E, FLAGS)[FROM_OLD] = from_old
    return call(view(E, LINK)[LINK_STAGES], T, E)


@helper
def finish(T, E):
    """Stabilise the end of the step and evaluate it: the last stage, and the first of the next step."""
    other = 1 - view(E, FLAGS)[REFERENCE]  # factored at the last stage, whose time is the end's
    run.copy(view(E, END_Q), view(T, s.Q))
    code = evaluate(T, E, other, other, view(E, FLAGS)[HOW_END], points.ROUNDING)
    last = view(E, NODES).shape[0]
    run.copy(view(E, K_Q)[last], view(T, s.V))
    run.copy(view(E, K_V)[last], view(T, s.A))
    return code


@helper
def square_error(E, R, row, h):
    """Mean square over the weights of one error estimate, in q and v."""
    e, k_q, k_v = view(E, ERROR_B), view(E, K_Q), view(E, K_V)
    n, total = k_q.shape[1], 0.0
    for k in range(n):
        x, y = 0.0, 0.0
        for j in range(e.shape[1]):
            x += e[row, j] * k_q[j, k]
            y += e[row, j] * k_v[j, k]
        x *= h / run.weight(R, k)
        y *= h / run.weight_v(R, k)
        total += x * x + y * y
    return total / (2.0 * n)


@helper
def distance(R, q1, q2):
    """RMS over the weights of the difference of two positions."""
    total = 0.0
    for k in range(q1.shape[0]):
        x = (q1[k] - q2[k]) / run.weight(R, k)
        total += x * x
    return sqrt(total / q1.shape[0])


@helper
def jump(T, E, R):
    """How far the projection moved q if that is far more than an error and not small beside the step, else 0.

    So a motion that jumps is seen, which no stage can. Velocities do not count: where a row that was redundant at a
    singular position counts again, the projection changes them.
    """
    q = view(T, s.Q)
    moved, step = distance(R, q, view(E, END_Q)), distance(R, q, view(R, run.NEW_Q))
    least = max(JUMP_ERRORS, JUMP_PART * step, JUMP_SIZE / view(R, run.TOLERANCE)[run.RTOL])
    return moved if moved > least else 0.0


@helper
def combined(high, low, rows):
    """The error by the squares of one estimate, or of two, as in Hairer, Norsett, Wanner (II.10.17)."""
    return sqrt(high) if rows == 1 or high == 0.0 else high / sqrt(high + 0.01 * low)


@helper
def step_error(E, R, h):
    """The error in parts of what is allowed."""
    rows, high = view(E, FLAGS)[ROWS], square_error(E, R, 0, h)
    return combined(high, square_error(E, R, 1, h) if rows > 1 else 0.0, rows)


@helper
def evaluate_start(T, E, t, q, v):
    """Evaluate the start of a step, so that its factorisation is at hand as reference."""
    run.copy(view(T, s.Q), q)
    run.copy(view(T, s.V), v)
    view(T, s.TIME)[0] = t
    reference = view(E, FLAGS)[REFERENCE]
    code = evaluate(T, E, reference, reference, 0, 0.0)
    return code if code != OK else points.set_reference(T, view(E, LINK)[POINT])


@helper
def restore_reference(T, E, R):
    """The reference of the next step; whether rows are skipped there."""
    view(T, s.STATUS)[s.ASIDE] = 1  # it was evaluated before
    code = evaluate_start(T, E, view(R, run.CLOCK)[run.T_NEW], view(R, run.NEW_Q), view(R, run.NEW_V))
    view(T, s.STATUS)[s.ASIDE] = 0
    note_rows(E)
    view(E, FLAGS)[STALE] = 0
    return code


@helper
def note_rows(E):
    """Stages are recovered if rows are skipped at the start of the step."""
    flags = view(E, FLAGS)
    if flags[AUTO] == 1:
        solver = view(view(E, PROJECTORS)[flags[REFERENCE]], projection_kernels.LINK)[projection_kernels.LINK_SOLVER]
        flags[CLOSED] = 1 if view(solver, contract.INFO)[contract.N_ZERO] > 0 else 0


@helper
def reason(code):
    """Why a run ends that cannot try again."""
    if code == STALLED:
        return run.NEWTON_FAILED
    return run.NOT_FINITE if code == run.BODY_SINGULAR else code


@helper
def try_again(R, code, factor):
    """Another size next; users' functions that failed are asked again after a return."""
    run.retry(R, factor)
    return run.BLOCK_FULL if code == run.EVALUATION_FAILED else OK


@helper
def failed(E, R, code):
    """A try without an end: a smaller step, or the reason to stop."""
    flags = view(E, FLAGS)
    flags[FAILED_IN_ROW] += 1
    if view(R, run.CLOCK)[run.STEP] > 0.0 or flags[FAILED_IN_ROW] > run.MOST_FAILURES:
        return reason(code)
    return try_again(R, code, 0.25)


@helper
def mean_power(E, weights):
    """The power of the stages just taken, and of the end, times these weights."""
    power, mean = view(E, K_POWER), 0.0
    for j in range(weights.shape[0]):
        mean += weights[j] * power[j]
    return mean


@helper
def add_work(T, E, R, h):
    """Work is one more equation, W' = power: its step by the same formula, and the error of that."""
    work, e, power = view(R, run.WORK), view(E, ERROR_B), view(E, K_POWER)
    code, last = audit.measure(T, view(R, run.AUDIT)), view(E, NODES).shape[0]
    power[0], power[last] = work[run.POWER_NEW], view(T, s.ENERGY)[s.POWER]
    work[run.WORK_STEP] = h * mean_power(E, view(E, STAGE_A)[last])
    work[run.WORK_DOUBT] = h * combined(mean_power(E, e[0]) ** 2, mean_power(E, e[1]) ** 2, view(E, FLAGS)[ROWS])
    return run.EVALUATION_FAILED if code != OK else OK


@helper
def accept(T, E, R, t):
    """The end becomes the start of the next step, with its factorisation as reference."""
    flags = view(E, FLAGS)
    flags[FAILED_IN_ROW] = 0
    flags[REFERENCE] = 1 - flags[REFERENCE]
    note_rows(E)
    view(T, s.TIME)[0] = t
    code = points.set_reference(T, view(E, LINK)[POINT])
    if code == OK and view(R, run.LIMITS)[run.TRACK_WORK] == run.OWN:
        code = add_work(T, E, R, t - view(R, run.CLOCK)[run.T_NEW])
    return code if code != OK else run.accept(T, R)


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, RUN)[0]
    clock, flags, c = view(R, run.CLOCK), view(E, FLAGS), view(E, SETTINGS)
    t, h = run.step_tried(R)
    code = OK
    if flags[STALE] == 1:
        code = restore_reference(T, E, R)
    if code == OK:
        code = take_stages(T, E, h, 0)
    view(T, s.TIME)[0] = t
    fixed, late, error = clock[run.STEP] > 0.0, flags[END_IN_ERROR] == 1, 0.0
    if code == OK and not fixed and not late:
        error = step_error(E, R, h)
    if code == OK and error <= 1.0:
        code = finish(T, E)
        if not fixed:
            if late:
                error = step_error(E, R, h)
            error = max(error, jump(T, E, R))
    if code != OK or not error < 1e100:
        return failed(E, R, code if code != OK else STALLED)
    if fixed:
        return accept(T, E, R, t)
    factor = c[SAFETY] * max(error, 1e-10) ** -c[EXPONENT]
    if error > 1.0:
        flags[FAILED_IN_ROW] += 1
        run.retry(R, max(c[SHRINK], min(0.9, factor)))
        return OK
    if refusals.is_refused(T, R):
        flags[FAILED_IN_ROW] += 1
        return OK
    factor = max(c[SHRINK], min(c[GROW], factor * c[LAST_ERROR] ** c[MEMORY]))
    wanted = h * (min(factor, 1.0) if flags[FAILED_IN_ROW] > 0 else factor)
    clock[run.H_NEXT] = max(wanted, clock[run.H_NEXT]) if h < clock[run.H_NEXT] and factor > 1.0 else wanted
    c[LAST_ERROR] = max(error, 1e-4)
    return accept(T, E, R, t)


@kernel
def dense(T, E):
    """The state at T_WANTED inside the last accepted step, by a shorter step of the same formula from its start.

    Elements and factors of the steps stay as they are: which rows a factorisation leaves out may depend on those before
    it.
    """
    R, flags, point = view(E, RUN)[0], view(E, FLAGS), view(E, LINK)[POINT]
    clock, code, reference = view(R, run.CLOCK), OK, flags[REFERENCE]
    view(T, s.STATUS)[s.ASIDE] = 1
    flags[REFERENCE] = SPARE
    if flags[CLOSED] == 1:
        if view(point, points.FRAME).shape[0] > 0:
            flags[STALE] = 1
        code = evaluate_start(T, E, clock[run.T_OLD], view(R, run.OLD_Q), view(R, run.OLD_V))
    if code == OK:
        code = take_stages(T, E, clock[run.T_WANTED] - clock[run.T_OLD], 1)
    flags[REFERENCE] = reference
    view(T, s.STATUS)[s.ASIDE] = 0
    if view(R, run.LIMITS)[run.TRACK_WORK] == run.OWN:
        work, weights = view(R, run.WORK), view(E, STAGE_A)[view(E, NODES).shape[0]]
        view(E, K_POWER)[0] = work[run.POWER_OLD]
        work[run.WORK_STEP] = mean_power(E, weights) * (clock[run.T_WANTED] - clock[run.T_OLD])
    view(T, s.TIME)[0] = clock[run.T_WANTED]
    return code
