"""Adams methods of variable order and step on the constraint manifold: predict, evaluate, correct, evaluate.

The formulas are in `adams_formulas`; here is the step loop, which follows Shampine and Gordon 1975 too. After the
predictor and after the corrector q and v are recovered on the manifold along directions that do not touch their
tangential part, so the formulas hold for the tangent-plane coordinates.

Ours differs: a run with a constant step starts with Runge-Kutta steps of order 8; stiffness is told by the rate at
which the corrector would converge beside the book's count of steps at low order.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import refusals, run
from index3.methods.explicit import points
from index3.methods.explicit import runge_kutta as rk
from index3.methods.explicit.adams_formulas import (
    CHANGE,
    ERK,
    ERKM1,
    EXTRAPOLATE,
    FAILURES,
    FILLED,
    FIXED_ORDER,
    FLAGS,
    GAMMA_STAR,
    H_USED,
    K_LAST,
    K_MOST,
    LOW_STEPS,
    MEMORY,
    NS,
    PHI,
    PREDICTED,
    PSI_OLD,
    RUN,
    STARTER,
    STARTING,
    G,
    K,
    W,
    add_rate,
    difference_norm,
    estimate,
    fill_coefficients,
    fill_star,
    lower_order,
    predict,
    remember,
)

LOW_ORDER, STIFF_STEPS, STIFF_RATE, FORGIVEN = 4, 50, 0.5, 2
"""Stiff: so many steps of low order [Shampine, Gordon] with a corrector's rate above this; others take off two."""


@helper
def choose(E, R, h, k, lower):
    """Order and size of the next step after an accepted one of order k."""
    flags, memory, clock = view(E, FLAGS), view(E, MEMORY), view(R, run.CLOCK)
    if lower < k or k == flags[K_MOST]:
        flags[STARTING] = 0
    if flags[STARTING] == 1:
        flags[K] = k + 1
        clock[run.H_NEXT] = 2.0 * h
        return
    error = memory[ERK]
    if lower < k:
        flags[K] = k - 1
        error = memory[ERKM1]
    elif flags[FIXED_ORDER] == 1:
        flags[K] = min(k + 1, flags[K_MOST])
    elif flags[NS] > k and flags[FILLED] > k + 1:
        higher = h * view(E, GAMMA_STAR)[k + 1] * difference_norm(E, R, k + 1)
        if k > 1 and memory[ERKM1] <= min(error, higher):
            flags[K] = k - 1
            error = memory[ERKM1]
        elif k < flags[K_MOST] and higher < (0.5 * error if k == 1 else error):
            flags[K] = k + 1
            error = higher
    order = flags[K]
    if error * 2.0 ** (order + 1.0) <= 0.5:
        wanted = 2.0 * h
    elif error <= 0.5:
        wanted = h
    else:
        wanted = h * max(0.5, min(0.9, (0.5 / error) ** (1.0 / (order + 1.0))))
    clock[run.H_NEXT] = max(wanted, clock[run.H_NEXT]) if h < clock[run.H_NEXT] and error <= 0.5 else wanted


@helper
def watch_stiffness(T, E, R, h, k):
    """Count steps of low order whose size seems to be set by stability: h |y' corrected - y' predicted| / |y ...|."""
    flags, change, predicted = view(E, FLAGS), view(E, CHANGE), view(E, PREDICTED)
    q, v, n, rates, moves = view(T, s.Q), view(T, s.V), view(T, s.Q).shape[0], 0.0, 0.0
    for j in range(n):
        w, u = run.weight(R, j), run.weight_v(R, j)
        x, y = change[j] / w, change[n + j] / u
        rates += x * x + y * y
        x, y = (q[j] - predicted[j]) / w, (v[j] - predicted[n + j]) / u
        moves += x * x + y * y
    if k <= LOW_ORDER and h * sqrt(rates) > STIFF_RATE * sqrt(moves):
        flags[LOW_STEPS] = min(flags[LOW_STEPS] + 1, STIFF_STEPS)
    else:
        flags[LOW_STEPS] = max(flags[LOW_STEPS] - FORGIVEN, 0)
    if flags[LOW_STEPS] == STIFF_STEPS:
        view(R, run.COUNTS)[run.N_STIFF] += 1


@helper
def rejected(E, R, lower, code):
    """A failed try: half the step; order 1 after three failures; or the reason to stop."""
    flags = view(E, FLAGS)
    flags[FAILURES] += 1
    flags[STARTING] = 0
    if view(R, run.CLOCK)[run.STEP] > 0.0 or (code != OK and flags[FAILURES] > run.MOST_FAILURES):
        return rk.reason(code)
    part = 0.25 if code != OK else 0.5
    if flags[FAILURES] > 3 and code == OK and view(E, MEMORY)[ERK] > 0.5:
        part = min(0.5, sqrt(0.5 / view(E, MEMORY)[ERK]))
    flags[K] = lower if flags[FAILURES] < 3 else 1
    return rk.try_again(R, code, part)


@helper
def start_step(T, E, R, t, h):
    """A step of the starter, with a constant step: its end gives one more difference."""
    flags, starter = view(E, FLAGS), view(E, STARTER)[0]
    code = rk.take_stages(T, starter, h, 0)
    view(T, s.TIME)[0] = t
    if code == OK:
        code = rk.finish(T, starter)
    if code != OK:
        return rejected(E, R, 1, code)
    remember(T, E, flags[FILLED])
    return rk.accept(T, starter, R, t)


@helper
def correct(T, E, h, k, target):
    """The corrector from the evaluated prediction, then its evaluation; CHANGE is what y' changed by."""
    flags, change, predicted = view(E, FLAGS), view(E, CHANGE), view(E, PREDICTED)
    q, v, n = view(T, s.Q), view(T, s.V), view(T, s.Q).shape[0]
    c = h * view(E, G)[k if flags[EXTRAPOLATE] == 1 else k - 1]
    for j in range(n):
        predicted[j] = q[j]
        predicted[n + j] = v[j]
    for j in range(2 * n):
        x = change[j]
        change[j] = -(v[j] if j < n else view(T, s.A)[j - n])
        if j < n:
            q[j] += c * x
        else:
            v[j - n] += c * x
    starter = view(E, STARTER)[0]
    run.copy(view(starter, rk.END_Q), q)
    code = rk.evaluate(T, starter, target, target, 1, points.ROUNDING)
    add_rate(T, change, 1.0)
    return code


@kernel
def attempt(T, E):
    """Try one step and choose order and size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, RUN)[0]
    flags, memory, clock, starter = view(E, FLAGS), view(E, MEMORY), view(R, run.CLOCK), view(E, STARTER)[0]
    t, h = run.step_tried(R)
    of_starter, fixed = view(starter, rk.FLAGS), clock[run.STEP] > 0.0
    if of_starter[rk.STALE] == 1 and rk.restore_reference(T, starter, R) != OK:
        return run.EVALUATION_FAILED
    k, target = flags[K], 1 - of_starter[rk.REFERENCE]
    fill_coefficients(E, h, flags[FILLED])
    fill_star(E, flags[FILLED])
    flags[K_LAST] = 0
    if fixed and flags[FILLED] < k:
        return start_step(T, E, R, t, h)
    view(T, s.TIME)[0] = t
    predict(T, E, R, h, k)
    code = rk.evaluate(T, starter, 1 - target, target, 1, points.loose(R))
    lower = k
    if code == OK:
        add_rate(T, view(E, CHANGE), 1.0)
        error = estimate(E, R, h, k)
        lower = lower_order(E, k)
        if not fixed and not error <= 1.0:
            return rejected(E, R, lower, OK if error < 1e100 else rk.STALLED)
        code = correct(T, E, h, k, target)
        if code == OK and not fixed and rk.jump(T, starter, R) > 0.0:
            return rejected(E, R, lower, OK)
    if code != OK:
        return rejected(E, R, lower, code)
    if refusals.is_refused(T, R):
        flags[STARTING] = 0
        return OK
    remember(T, E, flags[FILLED])
    flags[NS] = flags[NS] + 1 if h == memory[H_USED] else 1
    memory[H_USED] = h
    flags[K_LAST] = k
    flags[FAILURES] = 0
    if not fixed:
        watch_stiffness(T, E, R, h, k)
        choose(E, R, h, k, lower)
    return rk.accept(T, starter, R, t)


@kernel
def dense(T, E):
    """The state at T_WANTED: the polynomial through the new point whose slopes are y' at the last k + 1 points."""
    R = view(E, RUN)[0]
    flags, clock, psi, w, phi = view(E, FLAGS), view(R, run.CLOCK), view(E, PSI_OLD), view(E, W), view(E, PHI)
    q, v, q1, v1 = view(T, s.Q), view(T, s.V), view(R, run.NEW_Q), view(R, run.NEW_V)
    n, count = q.shape[0], flags[K_LAST] + 1
    if flags[K_LAST] == 0:
        return 1  # a step of the starter
    x = clock[run.T_WANTED] - clock[run.T_NEW]
    for i in range(count):
        w[i] = 1.0 / (i + 1)
    run.copy(q, q1)
    run.copy(v, v1)
    before = 0.0
    for i in range(count):
        if i > 0:
            c, d = (x + before) / psi[i - 1], x / psi[i - 1]
            for j in range(count - i):
                w[j] = c * w[j] - d * w[j + 1]
            before = psi[i - 1]
        for j in range(n):
            q[j] += x * w[0] * phi[i, j]
            v[j] += x * w[0] * phi[i, n + j]
    return OK
