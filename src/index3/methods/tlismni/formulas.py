"""The outer formulas of TLISMNI as numbers: weights of past and new values for steps of any sizes.

[ShabanaTlismni] section 2; bare numbers are its equations. A formula is a table of weights: rows say what is weighted
for what (QV: rates v for the new q), columns when (0 the new point, 1 the last accepted one, 2 the one before, ...).

    q = sum_j QQ_j q_j + QV_j v_j + QA_j a_j        v = sum_j VV_j v_j + VA_j a_j

Ours differs: the paper prints weights for equal steps only; here they are those of the interpolating polynomial through
the points as they are (Adams), or the second-order formulas for unequal steps (midpoint, BDF2, HHT), so that a change
of the step costs no order.
"""

from __future__ import annotations

from index3.compiled.interface import helper

QQ, QV, QA, VV, VA = range(5)
"""Rows of a formula."""
PREDICT, CORRECT, ERROR = range(3)
"""The three formulas of a step: the error estimate is one too."""
PAST = 4
"""Past points kept: the error of the fourth order formula is a fourth difference."""
KIND, PREDICTOR, ORDER = range(3)
"""Numbers that choose the formulas: kind; points of the explicit Adams predictor, 0 for midpoint; order."""
ADAMS, HHT, BDF2 = range(3)
"""Kinds. An Adams corrector has as many points as its order, the new one included."""


@helper
def product_integral(x, first, count, left_out, work):
    """Integral over 0..1 of the product of (s - x_i), i = first .. first + count - 1 except `left_out`."""
    degree = 0
    work[0] = 1.0
    for i in range(first, first + count):
        if i != left_out:
            degree += 1
            work[degree] = 0.0
            for k in range(degree, 0, -1):
                work[k] = work[k - 1] - x[i] * work[k]
            work[0] = -x[i] * work[0]
    total = 0.0
    for k in range(degree + 1):
        total += work[k] / (k + 1.0)
    return total


@helper
def gaps(x, first, count, j):
    """Product of (x_j - x_i) over the other points: what divides a value in Lagrange's and in Newton's formula."""
    product = 1.0
    for i in range(first, first + count):
        if i != j:
            product *= x[j] - x[i]
    return product


@helper
def fill_adams(w, block, x, first, count, h, work):
    """y = y_n + integral of the polynomial through the rates at `count` points: (1), (2) and their kin."""
    w[block, QQ, 1] = 1.0
    w[block, VV, 1] = 1.0
    for j in range(first, first + count):
        b = h * product_integral(x, first, count, j, work) / gaps(x, first, count, j)
        w[block, QV, j] = b
        w[block, VA, j] = b


@helper
def fill_two_values(w, block, y_n, y_before, rate, at):
    """y = y_n y_0 + y_before y_1 + rate f_at, the same for q and v."""
    w[block, QQ, 1] = y_n
    w[block, VV, 1] = y_n
    w[block, QQ, 2] = y_before
    w[block, VV, 2] = y_before
    w[block, QV, at] = rate
    w[block, VA, at] = rate


@helper
def fill_hht_predictor(w, h, r):
    """The acceleration as a line through its last two values, integrated once for v and twice for q."""
    w[PREDICT, VV, 1] = 1.0
    w[PREDICT, VA, 1] = h * (1.0 + 0.5 * r)
    w[PREDICT, VA, 2] = -0.5 * h * r
    w[PREDICT, QQ, 1] = 1.0
    w[PREDICT, QV, 1] = h
    w[PREDICT, QA, 1] = h * h * (0.5 + r / 6.0)
    w[PREDICT, QA, 2] = -h * h * r / 6.0


@helper
def fill_hht(w, alpha, h, r):
    """Newmark's formulas with accelerations of t_n + alpha h and t_{n+1} + alpha h; returns the error constants."""
    beta, gamma = (1.0 - alpha) * (1.0 - alpha) / 4.0, 0.5 - alpha
    w[CORRECT, VV, 1] = 1.0
    w[CORRECT, VA, 0] = h * gamma * (1.0 + alpha)
    w[CORRECT, VA, 1] = h * ((1.0 - gamma) * (1.0 + alpha * r) - gamma * alpha)
    w[CORRECT, VA, 2] = -h * (1.0 - gamma) * alpha * r
    w[CORRECT, QQ, 1] = 1.0
    w[CORRECT, QV, 1] = h
    w[CORRECT, QA, 0] = h * h * beta * (1.0 + alpha)
    w[CORRECT, QA, 1] = h * h * ((0.5 - beta) * (1.0 + alpha * r) - beta * alpha)
    w[CORRECT, QA, 2] = -h * h * (0.5 - beta) * alpha * r
    return (
        -1.0 / 12.0 - 0.25 * alpha * alpha,
        1.0 / 6.0 + (1.0 - gamma) * alpha / (2.0 * r) - 0.5 * gamma * (1.0 + alpha),
    )


@helper
def fill_formulas(w, formula, alpha, x, h, work):
    """Weights of predictor, corrector and error estimate for a step h; x are the times (t - t_n)/h of the points."""
    kind, predictor, order = formula[KIND], formula[PREDICTOR], formula[ORDER]
    r = -1.0 / x[2]
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            for k in range(w.shape[2]):
                w[i, j, k] = 0.0
    if kind == HHT:
        fill_hht_predictor(w, h, r)
    elif predictor == 0:
        fill_two_values(w, PREDICT, 1.0 - r * r, r * r, h * (1.0 + r), 1)  # midpoint
    else:
        fill_adams(w, PREDICT, x, 1, predictor, h, work)
    # exact minus computed is error_q h^3 q''' = 2 error_q h (second divided difference of v), likewise for v and a
    error_q, error_v = 0.0, 0.0
    if kind == HHT:
        error_q, error_v = fill_hht(w, alpha, h, r)
    elif kind == BDF2:
        c = 1.0 / (1.0 + 2.0 * r)
        fill_two_values(w, CORRECT, (1.0 + r) * (1.0 + r) * c, -r * r * c, h * (1.0 + r) * c, 0)
        error_q = -(1.0 + r) * (1.0 + r) * c / (6.0 * r)
        error_v = error_q
    else:
        fill_adams(w, CORRECT, x, 0, order, h, work)
        error_q = 0.5 * product_integral(x, 0, order, -1, work)
        error_v = error_q
    for j in range(order + 1):
        difference = h / gaps(x, 0, order + 1, j)
        w[ERROR, QV, j] = 2.0 * error_q * difference
        w[ERROR, VA, j] = 2.0 * error_v * difference
