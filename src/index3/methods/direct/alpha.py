"""What HHT and generalized-alpha share: extrapolation of past accelerations and multipliers, error, step control.

Formula numbers are those of [NegrutHHT]. Constants not in the paper: growth of a step only by 1.2 and more (a new step
costs a factorisation), at most 2; a run without damping ends where a step is below 1e-3 of its longest.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import extended, helper, view
from index3.methods import run
from index3.methods.direct import leaps, newton

OPTIONS, HISTORY, LONGEST, A_START, PAST_T, PAST_TL, PAST_A, PAST_LAM = OWN_SLOTS = extended(
    newton.SLOTS,
    options=("f8", 1), history=("i8", 1), longest=("f8", 1),  # the longest step accepted, and STEADY
    a_start=("f8", 1),  # the acceleration that a step starts from, at the place that the step's size asks for
    past_t=("f8", 1), past_tl=("f8", 1), past_a=("f8", 2), past_lam=("f8", 2),  # latest first, for the predictor
)  # fmt: skip
SLOTS = newton.SLOTS + OWN_SLOTS
FILLED, DEGREE, MAX_DEGREE, TRANSIENT = range(4)
"""Places in HISTORY: past points known, predictor degree, highest degree allowed, steps in which velocities are still
controlled because the run began with a transient."""
STEADY, LONGEST_SPACE = 1, 2
"""Place in LONGEST of the step from which on such a transient is over."""
PAST = 4
SHRUNK = 1e-3
"""Without damping: part of the longest step below which a step is given up if accelerations alternate."""


@helper
def past_weight(times, j, degree, t):
    """Lagrange weight at t of past point j in the polynomial through the latest degree + 1 points."""
    x = 1.0
    for k in range(degree + 1):
        if k != j:
            x *= (t - times[k]) / (times[j] - times[k])
    return x


@helper
def extrapolate(T, E, t_a, t_lam):
    """Starting values of the new a (at its time t_a) and lam by extrapolation of the past."""
    times, lam_times, past_a, past_lam = view(E, PAST_T), view(E, PAST_TL), view(E, PAST_A), view(E, PAST_LAM)
    a, lam, degree = view(T, s.A), view(T, s.LAM), view(E, HISTORY)[DEGREE]
    for k in range(a.shape[0]):
        a[k] = 0.0
    for k in range(lam.shape[0]):
        lam[k] = 0.0
    for j in range(degree + 1):
        w, w_lam = past_weight(times, j, degree, t_a), past_weight(lam_times, j, degree, t_lam)
        for k in range(a.shape[0]):
            a[k] += w * past_a[j, k]
        for k in range(lam.shape[0]):
            lam[k] += w_lam * past_lam[j, k]


@helper
def choose_degree(T, E, t_a):
    """The predictor degree for the next step: the one that would have predicted this acceleration best."""
    history, times, past, a = view(E, HISTORY), view(E, PAST_T), view(E, PAST_A), view(T, s.A)
    best, best_size = 0, -1.0
    for degree in range(min(history[FILLED], history[MAX_DEGREE] + 1)):
        w0, w1 = past_weight(times, 0, degree, t_a), 0.0
        w2, w3 = 0.0, 0.0
        if degree > 0:
            w1 = past_weight(times, 1, degree, t_a)
        if degree > 1:
            w2 = past_weight(times, 2, degree, t_a)
        if degree > 2:
            w3 = past_weight(times, 3, degree, t_a)
        size = 0.0
        for k in range(a.shape[0]):
            y = a[k] - w0 * past[0, k] - w1 * past[1, k] - w2 * past[2, k] - w3 * past[3, k]
            size += y * y
        if best_size < 0.0 or size < best_size:
            best, best_size = degree, size
    history[DEGREE] = min(best, history[FILLED])


@helper
def remember(T, E, t_a, t_lam):
    """Push the accepted a and lam, with the times they belong to, on the predictor's history."""
    history, times, lam_times = view(E, HISTORY), view(E, PAST_T), view(E, PAST_TL)
    past_a, past_lam, a, lam = view(E, PAST_A), view(E, PAST_LAM), view(T, s.A), view(T, s.LAM)
    longest = view(E, LONGEST)
    longest[0] = max(longest[0], t_lam - lam_times[0])
    history[TRANSIENT] = max(history[TRANSIENT] - 1, 0) if t_lam - lam_times[0] < longest[STEADY] else 0
    choose_degree(T, E, t_a)
    for j in range(PAST - 1, 0, -1):
        times[j] = times[j - 1]
        lam_times[j] = lam_times[j - 1]
        for k in range(a.shape[0]):
            past_a[j, k] = past_a[j - 1, k]
        for k in range(lam.shape[0]):
            past_lam[j, k] = past_lam[j - 1, k]
    times[0] = t_a
    lam_times[0] = t_lam
    run.copy(past_a[0], a)
    run.copy(past_lam[0], lam)
    history[FILLED] = min(PAST, history[FILLED] + 1)


@helper
def shrunk(E, h):
    """Whether steps of an undamped method shrink to nothing because accelerations alternate: docs/theory/hht.md.

    They do if more than half of the last change of the acceleration takes back the one before.
    """
    past_a, both, first, second = view(E, PAST_A), 0.0, 0.0, 0.0
    if h >= SHRUNK * view(E, LONGEST)[0] or view(E, HISTORY)[FILLED] < 3:
        return False
    for k in range(past_a.shape[1]):
        x, y = past_a[0, k] - past_a[1, k], past_a[1, k] - past_a[2, k]
        both += x * y
        first += x * x
        second += y * y
    return both < -0.5 * max(first, second)


@helper
def state_error(T, E, R, h, t_a):
    """Sum over the first-order states, in a transient over all rates, of (error / weight)^2; the error is h^3/12 y'''.

    That is the trapezoidal rule's, an upper bound for the alpha methods; the derivative is a second difference of the
    rates at their times, t_a being the present one. Without two past rates: h/12 times their change, of lower order.
    """
    times, past, a, total = view(E, PAST_T), view(E, PAST_A), view(T, s.A), 0.0
    first, enough = view(R, run.LIMITS)[run.FIRST_STATE], view(E, HISTORY)[FILLED] > 1
    if view(E, HISTORY)[TRANSIENT] > 0:
        first = 0
    for k in range(first, a.shape[0]):
        y = h * (a[k] - past[0, k])
        if enough:
            now, before = (a[k] - past[0, k]) / (t_a - times[0]), (past[0, k] - past[1, k]) / (times[0] - times[1])
            y = 2.0 * h * h * h * (now - before) / (t_a - times[1])
        y /= 12.0 * run.weight_v(R, k)
        total += y * y
    return total


@helper
def step_error(T, E, R, old, scale, h, t_a):
    """RMS of scale (a_{n+1} - a_n) over the weights of q: (34), (25); with that of first-order states."""
    a, w, total, scale = view(T, s.A), view(E, newton.WEIGHTS_Q), 0.0, scale * leaps.carried(E, R, h)
    if view(E, newton.SETTINGS)[newton.PAPER_NORM] == 1.0:
        w = view(E, newton.WEIGHTS)
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        y = scale * (a[k] - old[k]) / w[k]
        total += y * y
    return sqrt((total + state_error(T, E, R, h, t_a)) / a.shape[0])


@helper
def control(R, h, error):
    """Whether a step of this error is accepted; sets the size of the next try (37b)."""
    clock = view(R, run.CLOCK)
    factor = 0.9 * max(error, 1e-9) ** (-1.0 / 3.0)  # (37b): Theta^(-1/6), Theta the square of this error
    if not error <= 1.0:
        run.retry(R, max(0.2, min(0.9, factor)))
        return False
    if factor > 1.2:
        clock[run.H_NEXT] = max(clock[run.H_NEXT] if h < clock[run.H_NEXT] else 0.0, h * min(2.0, factor))
    elif factor < 1.0:
        clock[run.H_NEXT] = h * max(0.5, factor)
    elif clock[run.H_NEXT] > h and clock[run.H_NEXT] < 1.2 * h:
        clock[run.H_NEXT] = h
    return True
