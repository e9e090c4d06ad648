"""Backward differentiation formulas, order 1 to 5, on the index-3 and the stabilised index-2 equations: the step loop.

[BrenanCampbellPetzold] ch. 5, [GearGuptaLeimkuhler]. The formula of order k in variable-coefficient form: the
polynomial through the new and the last k points has the new slope at t_{n+1}, which reads

    q = q* + g q',   v = v* + g a,     1/g = sum of 1/(t_{n+1} - t_{n+1-j}), j = 1..k,

with q*, v* sums of past values. On the index-3 equations q' = v, so q = q* + g v* + g^2 a: unknowns a and lam,
constraints divided by g^2, one well-conditioned matrix with M, g^2 K, g D. In the stabilised index-2 form
q' = v + M^-1 Phi_q^T mu, and velocities satisfy their constraints too (`newton`).

The local error of order k is g/(t_{n+1} - t_{n-k}) times (new value - its extrapolation from the last k+1 points), as
exact for any steps as the formula. Index 3 controls q alone: right after a change of step or order, v loses one and lam
two orders (lam of order 1: all), errors that the next k steps forget and that do not come back to q. The stabilised
form controls q and v.

Choices of ours: an error-controlled run starts at order 2 from points at t_0 - h, t_0 - 2h of the parabola by q, v, a
at t_0, so that lam is right from the first step; step and order change only after k+1 steps at the same ones (variable
coefficients are stable then), when that gains 10 % at least; growth at most 2; safety factors 1/1.3, 1/1.2, 1/1.4 for
orders k-1, k, k+1. Runs with constant steps take their first k-1 states from `bdf_start`.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.methods import audit, projection_kernels, refusals, run
from index3.methods.direct import corrector, leaps, newton

MAX_ORDER = 5
PAST = MAX_ORDER + 1
(ORDERS, W, PAST_T, PAST_Q, PAST_V, PAST_LAM, START_Q, START_V, START_A, START_LAM) = OWN_SLOTS = extended(
    newton.SLOTS,
    orders=("i8", 1), w=("f8", 1),  # weights of the past points
    past_t=("f8", 1), past_q=("f8", 2), past_v=("f8", 2), past_lam=("f8", 2),  # latest first
    start_q=("f8", 2), start_v=("f8", 2), start_a=("f8", 2), start_lam=("f8", 2),  # given states at the first step ends
)  # fmt: skip
SLOTS = newton.SLOTS + OWN_SLOTS
ORDER, LOWEST, HIGHEST, FILLED, SINCE, REJECTED_IN_ROW = range(6)
"""Places in ORDERS: the present order and its bounds, past points known, steps since the last change of step or order,
rejected steps in a row."""


@helper
def leading(times, t, order):
    """g of an order for a step to t."""
    x = 0.0
    for j in range(order):
        x += 1.0 / (t - times[j])
    return 1.0 / x


@helper
def fill_formula_weights(E, t, order):
    """W[j]: weights of the last `order` points in q* and v*; they add up to 1. Returns g."""
    w, times = view(E, W), view(E, PAST_T)
    g = leading(times, t, order)
    for j in range(order):
        x = g / (t - times[j])
        for m in range(order):
            if m != j:
                x *= (t - times[m]) / (times[j] - times[m])
        w[j] = x
    return g


@helper
def fill_extrapolation_weights(E, t, degree):
    """W[j]: weights of the last degree + 1 points in their polynomial's value at t."""
    w, times = view(E, W), view(E, PAST_T)
    for j in range(degree + 1):
        x = 1.0
        for m in range(degree + 1):
            if m != j:
                x *= (t - times[m]) / (times[j] - times[m])
        w[j] = x


@helper
def combine(w, past, count, k):
    """Sum of w[j] past[j, k], as the latest value plus differences: the weights add up to 1."""
    x = 0.0
    for j in range(1, count):
        x += w[j] * (past[j, k] - past[0, k])
    return past[0, k] + x


@helper
def fill_bases(E, R, t):
    """The step as `newton` takes it."""
    memory, w, past_q, past_v = view(E, newton.MEMORY), view(E, W), view(E, PAST_Q), view(E, PAST_V)
    q_base, v_base, order = view(E, newton.Q_BASE), view(E, newton.V_BASE), view(E, ORDERS)[ORDER]
    g = fill_formula_weights(E, t, order)
    memory[newton.C_MASS] = 1.0
    memory[newton.C_POSITION] = g * g
    memory[newton.C_VELOCITY] = g
    judged_as_speed = view(R, run.CLOCK)[run.STEP] > 0.0 or view(E, newton.PROJECTOR)[0] != 0
    memory[newton.SIZE] = g if judged_as_speed else g * g
    for k in range(q_base.shape[0]):
        v_base[k] = combine(w, past_v, order, k)
        q_base[k] = combine(w, past_q, order, k) + g * v_base[k]


@helper
def predict(T, E, t):
    """Starting values: a from the extrapolated q (index 3) or v (index 2), lam extrapolated."""
    w, orders, memory = view(E, W), view(E, ORDERS), view(E, newton.MEMORY)
    past_q, past_v, past_lam = view(E, PAST_Q), view(E, PAST_V), view(E, PAST_LAM)
    a, lam, q_base, v_base = view(T, s.A), view(T, s.LAM), view(E, newton.Q_BASE), view(E, newton.V_BASE)
    count = min(orders[ORDER] + 1, orders[FILLED])
    fill_extrapolation_weights(E, t, count - 1)
    stabilised = view(E, newton.PROJECTOR)[0] != 0
    for k in range(a.shape[0]):
        if stabilised:
            a[k] = (combine(w, past_v, count, k) - v_base[k]) / memory[newton.C_VELOCITY]
        else:
            a[k] = (combine(w, past_q, count, k) - q_base[k]) / memory[newton.C_POSITION]
    if not stabilised:
        count = min(count, 2)  # lam of index 3 is rough after changes: high degrees make it worse
        fill_extrapolation_weights(E, t, count - 1)
    for k in range(lam.shape[0]):
        lam[k] = combine(w, past_lam, count, k)


@helper
def error_at(T, E, R, t, order):
    """RMS over the weights of the local error that this step has, or would have had, at an order."""
    times, w, past_q, past_v = view(E, PAST_T), view(E, W), view(E, PAST_Q), view(E, PAST_V)
    q, v, total, n = view(T, s.Q), view(T, s.V), 0.0, view(T, s.Q).shape[0]
    fill_extrapolation_weights(E, t, order)
    scale = leading(times, t, order) / (t - times[order])
    for k in range(n):
        x = scale * (q[k] - combine(w, past_q, order + 1, k)) / run.weight(R, k)
        total += x * x
    if view(E, newton.PROJECTOR)[0] == 0:
        total *= leaps.carried(E, R, t - times[0]) ** 2
        for k in range(view(R, run.LIMITS)[run.FIRST_STATE], n):
            x = scale * (v[k] - combine(w, past_v, order + 1, k)) / run.weight_v(R, k)
            total += x * x
        return sqrt(total / n)
    for k in range(n):
        x = scale * (v[k] - combine(w, past_v, order + 1, k)) / run.weight_v(R, k)
        total += x * x
    return sqrt(total / (2.0 * n))


@helper
def velocity_leap(T, E, R, t, order):
    """The largest error of a rate, in parts of what `leaps` allows; a jump is met again until the past is behind it."""
    w, past_v, v, worst = view(E, W), view(E, PAST_V), view(T, s.V), 0.0
    fill_extrapolation_weights(E, t, order)
    scale = leading(view(E, PAST_T), t, order) / (t - view(E, PAST_T)[order])
    speed, size = leaps.largest_speed(R, v), leaps.largest_coordinate(R)
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        error = abs(scale * (v[k] - combine(w, past_v, order + 1, k)))
        worst = max(worst, leaps.part_of_allowed(R, k, size, speed, error))
    return worst


@helper
def growth(error, order, bias):
    """The factor on the step that this error allows."""
    return 1.0 / (bias * max(error, 1e-10) ** (1.0 / (order + 1)))


@helper
def lowest_order(E, R):
    """The lowest order allowed: in an impact 2, since order 1 takes (omega h)^2 of its energy in each step."""
    orders, watched = view(E, ORDERS), view(R, run.AUDIT)
    if watched[audit.TOUCHING] == 1.0 and watched[audit.HITS] > 0.0:
        return max(orders[LOWEST], min(2, orders[HIGHEST]))
    return orders[LOWEST]


@helper
def choose_order(T, E, R, t, error):
    """Change to the order that allows the largest step; returns that step's factor, before it is bounded."""
    orders = view(E, ORDERS)
    order, best, lowest = orders[ORDER], orders[ORDER], lowest_order(E, R)
    factor = growth(error, order, 1.2)
    if order > lowest:
        x = growth(error_at(T, E, R, t, order - 1), order - 1, 1.3)
        if x > factor:
            best, factor = order - 1, x
    if order < orders[HIGHEST] and orders[FILLED] > order + 1 and error <= 1.0:
        x = growth(error_at(T, E, R, t, order + 1), order + 1, 1.4)
        if x > factor or order < lowest:
            best, factor = order + 1, x
    if best != order and (factor > 1.1 or error > 1.0 or order < lowest):
        orders[ORDER] = best
        orders[SINCE] = 0
    return factor


@helper
def control(T, E, R, t, h):
    """Whether the step is accepted; sets the size and order of the next try."""
    clock, orders = view(R, run.CLOCK), view(E, ORDERS)
    error = error_at(T, E, R, t, orders[ORDER])
    if view(E, newton.PROJECTOR)[0] == 0:
        error = max(error, leaps.judged(E, R, velocity_leap(T, E, R, t, orders[ORDER])) ** (orders[ORDER] + 1.0))
    if not error <= 1.0:
        orders[REJECTED_IN_ROW] += 1
        orders[SINCE] = 0
        factor = choose_order(T, E, R, t, error) if error < 1e100 else 0.25
        if orders[REJECTED_IN_ROW] > 2:  # the past is of no use: a kink
            orders[ORDER] = min(orders[ORDER], max(1, lowest_order(E, R)))
            factor = min(factor, 0.25)
        run.retry(R, max(0.2, min(0.9, factor)))
        return False
    orders[REJECTED_IN_ROW] = 0
    orders[SINCE] += 1
    if orders[SINCE] > orders[ORDER] or orders[ORDER] < lowest_order(E, R):
        factor = choose_order(T, E, R, t, error)
        if factor > 1.1:
            clock[run.H_NEXT] = max(clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0, h * min(2.0, factor))
            orders[SINCE] = 0
        elif factor < 0.9:
            clock[run.H_NEXT] = h * max(0.5, factor)
            orders[SINCE] = 0
    return True


@helper
def push(T, E, t):
    """Put the state in T on top of the past."""
    orders, times, past_q, past_v, past_lam = (
        view(E, ORDERS), view(E, PAST_T), view(E, PAST_Q), view(E, PAST_V), view(E, PAST_LAM),
    )  # fmt: skip
    for j in range(PAST - 1, 0, -1):
        times[j] = times[j - 1]
        run.copy(past_q[j], past_q[j - 1])
        run.copy(past_v[j], past_v[j - 1])
        run.copy(past_lam[j], past_lam[j - 1])
    times[0] = t
    run.copy(past_q[0], view(T, s.Q))
    run.copy(past_v[0], view(T, s.V))
    run.copy(past_lam[0], view(T, s.LAM))
    orders[FILLED] = min(PAST, orders[FILLED] + 1)


@helper
def invent_past(E, R, h):
    """Before the first step: two points at t_0 - h, t_0 - 2h on the parabola by q, v, a at t_0."""
    times, past_q, past_v, past_lam = view(E, PAST_T), view(E, PAST_Q), view(E, PAST_V), view(E, PAST_LAM)
    q, v, a = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    for j in range(1, 3):
        x = -j * h
        times[j] = times[0] + x
        for k in range(q.shape[0]):
            past_q[j, k] = q[k] + x * (v[k] + 0.5 * x * a[k])
            past_v[j, k] = v[k] + x * a[k]
        run.copy(past_lam[j], past_lam[0])
    view(E, ORDERS)[FILLED] = 3


@helper
def leave_contact(E, R):
    """Begin anew where nothing touches any more: a past in contact would brake the flight."""
    orders, clock = view(E, ORDERS), view(R, run.CLOCK)
    invent_past(E, R, min(clock[run.H_NEXT], clock[run.H_TRIED]))
    orders[ORDER], orders[SINCE] = min(2, orders[HIGHEST]), 0


@helper
def take_given(T, E, line):
    """Put T at a given state."""
    run.copy(view(T, s.Q), view(E, START_Q)[line])
    run.copy(view(T, s.V), view(E, START_V)[line])
    run.copy(view(T, s.A), view(E, START_A)[line])
    run.copy(view(T, s.LAM), view(E, START_LAM)[line])


@helper
def solve(T, E, R, S, t, h):
    """One step to t: predict and correct; T stands at the result."""
    if view(R, run.COUNTS)[run.N_STEPS] == 0 and view(R, run.CLOCK)[run.STEP] == 0.0:
        invent_past(E, R, h)
    newton.fill_weights(E, R, h)
    fill_bases(E, R, t)
    predict(T, E, t)
    code = corrector.solve_step(T, E, R, S)
    newton.move(T, E, R)
    return code


@helper
def accept(T, E, R, t):
    """Evaluate the forces at the state in T and make it the new one."""
    if run.evaluate_forces(T, R) != OK:
        return run.EVALUATION_FAILED
    if refusals.is_refused(T, R):
        view(E, ORDERS)[SINCE] = 0
        return OK
    push(T, E, t)
    watched = view(R, run.AUDIT)
    touched, code = watched[audit.TOUCHING], run.accept(T, R)
    if code == OK and view(R, run.CLOCK)[run.STEP] == 0.0 and touched == 1.0 and watched[audit.TOUCHING] < 1.0:
        leave_contact(E, R)
    return code


@kernel
def attempt(T, E):
    """Try one step and choose the size and order of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, newton.RUN)[0]
    S = view(R, run.LINK)[run.LINK_SOLVER]
    orders, steps, fixed = view(E, ORDERS), view(R, run.COUNTS)[run.N_STEPS], view(R, run.CLOCK)[run.STEP] > 0.0
    t, h = run.step_tried(R)
    view(T, s.TIME)[0] = t
    if fixed and steps < view(E, START_Q).shape[0]:
        take_given(T, E, steps)
    elif fixed and orders[FILLED] < orders[ORDER]:
        return run.NEWTON_FAILED  # no starting values could be found
    else:
        code = solve(T, E, R, S, t, h)
        if code != corrector.CONVERGED:
            orders[SINCE] = 0
            return run.answer_failure(R, view(E, newton.FLAGS)[newton.FAILED_IN_ROW :], code)
        view(E, newton.FLAGS)[newton.FAILED_IN_ROW] = 0
        if not fixed and not control(T, E, R, t, h):
            return OK
    return accept(T, E, R, t)


@kernel
def fix_directions(T, E):
    """Take the directions M^-1 Phi_q^T of the stabilised form at the present state, and keep them."""
    code = projection_kernels.evaluate(T)
    if code == OK:
        code = projection_kernels.factor_mass(T, view(E, newton.PROJECTOR)[0], view(T, s.Q)[:0])
    view(E, newton.FLAGS)[newton.KEEP_DIRECTIONS] = 1
    return code
