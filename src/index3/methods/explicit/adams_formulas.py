"""Adams formulas in modified divided differences: coefficients, prediction, estimates of the error.

After L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary Differential Equations, 1975 (chapters 5-7; names of
quantities as there): PHI[i] is phi_{i+1}(n), the i-th divided difference of y' = (v, a) at the last points, scaled so
that it is a backward difference if steps are equal. The predictor has order k, the corrector order k + 1 (local
extrapolation). All coefficients are computed at every step (a few dozen products), so nothing is restored after
failures; rounding is not compensated at tight tolerances.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import helper, slots, view
from index3.methods import run

(
    RUN, STARTER, FLAGS, MEMORY, PSI, PSI_OLD, ALPHA, BETA, SIGMA, G, W, GAMMA_STAR, PHI, STAR, CHANGE, PREDICTED,
) = SLOTS = slots(
    run=("i8", 1), starter=("i8", 1),  # the starter is a table of `runge_kutta`; its projectors serve here too
    flags=("i8", 1), memory=("f8", 1),
    psi=("f8", 1), psi_old=("f8", 1), alpha=("f8", 1), beta=("f8", 1), sigma=("f8", 1), g=("f8", 1), w=("f8", 1),
    gamma_star=("f8", 1),  # |gamma*_i|, error constants of the correctors at equal steps
    phi=("f8", 2), star=("f8", 2),  # differences of (v, a) at the last point; scaled for the step that is tried
    change=("f8", 1), predicted=("f8", 1),  # y' minus its prediction; y predicted
)  # fmt: skip

K, K_LAST, K_MOST, FIXED_ORDER, FILLED, NS, FAILURES, STARTING, LOW_STEPS, EXTRAPOLATE = range(10)
"""Places in FLAGS: order of the predictor, that of the last step, the highest; whether it is held; differences known;
steps taken at this size; failures of this step; whether order and step still rise at every step; steps of late that
look stiff; whether the corrector is one order higher."""
H_USED, ERK, ERKM1, ERKM2 = range(4)
DIFFERENCES = 14


@helper
def fill_coefficients(E, h, count):
    """psi, alpha, beta, sigma for a step h over `count` known differences, and the integrals g."""
    psi, old, alpha, beta = view(E, PSI), view(E, PSI_OLD), view(E, ALPHA), view(E, BETA)
    sigma, g, w = view(E, SIGMA), view(E, G), view(E, W)
    psi[0], beta[0], sigma[0] = h, 1.0, 1.0
    for i in range(count):
        if i > 0:
            psi[i] = old[i - 1] + h
            beta[i] = beta[i - 1] * psi[i - 1] / old[i - 1]
        alpha[i] = h / psi[i]
        sigma[i + 1] = (i + 1) * alpha[i] * sigma[i]
    for j in range(count + 1):
        w[j] = 1.0 / ((j + 1.0) * (j + 2.0))  # the row i = 2 of the triangle
    g[0], g[1] = 1.0, w[0]
    for i in range(2, count + 1):
        for j in range(count + 1 - i):
            w[j] -= alpha[i - 1] * w[j + 1]
        g[i] = w[0]


@helper
def fill_star(E, count):
    """phi*_i = beta_i phi_i."""
    phi, star, beta = view(E, PHI), view(E, STAR), view(E, BETA)
    for i in range(count):
        for j in range(phi.shape[1]):
            star[i, j] = beta[i] * phi[i, j]


@helper
def predict(T, E, R, h, k):
    """T's q and v by the predictor of order k; CHANGE = minus the prediction of y'."""
    star, g, change = view(E, STAR), view(E, G), view(E, CHANGE)
    q, v = view(T, s.Q), view(T, s.V)
    n = q.shape[0]
    run.copy(q, view(R, run.NEW_Q))
    run.copy(v, view(R, run.NEW_V))
    for j in range(2 * n):
        change[j] = 0.0
    for i in range(k - 1, -1, -1):  # small terms first
        c = h * g[i]
        for j in range(n):
            q[j] += c * star[i, j]
            v[j] += c * star[i, n + j]
            change[j] -= star[i, j]
            change[n + j] -= star[i, n + j]


@helper
def add_rate(T, change, c):
    """change += c (v, a)."""
    v, a = view(T, s.V), view(T, s.A)
    n = v.shape[0]
    for j in range(n):
        change[j] += c * v[j]
        change[n + j] += c * a[j]


@helper
def norm(E, R, row1, row2):
    """RMS over the weights of CHANGE + phi*_row1 + phi*_row2 (rows below 0: none)."""
    change, star = view(E, CHANGE), view(E, STAR)
    n, total = view(R, run.ATOL).shape[0], 0.0
    for j in range(2 * n):
        x = change[j]
        if row1 >= 0:
            x += star[row1, j]
        if row2 >= 0:
            x += star[row2, j]
        x /= run.weight(R, j) if j < n else run.weight_v(R, j - n)
        total += x * x
    return sqrt(total / (2.0 * n))


@helper
def estimate(E, R, h, k):
    """The error of the step; ERK, ERKM1, ERKM2, what orders k, k - 1, k - 2 would have made of it, into MEMORY."""
    g, sigma, star = view(E, G), view(E, SIGMA), view(E, GAMMA_STAR)
    memory = view(E, MEMORY)
    size = norm(E, R, -1, -1)
    memory[ERK] = h * sigma[k] * star[k] * size
    memory[ERKM1] = h * sigma[k - 1] * star[k - 1] * norm(E, R, k - 1, -1) if k >= 2 else 0.0
    memory[ERKM2] = h * sigma[k - 2] * star[k - 2] * norm(E, R, k - 1, k - 2) if k >= 3 else 0.0
    return h * abs(g[k - 1] - g[k]) * size


@helper
def lower_order(E, k):
    """k - 1 if errors do not fall with the order, else k."""
    memory = view(E, MEMORY)
    if view(E, FLAGS)[FIXED_ORDER] == 1:
        return k
    if k > 2 and max(memory[ERKM1], memory[ERKM2]) <= memory[ERK]:
        return k - 1
    if k == 2 and memory[ERKM1] <= 0.5 * memory[ERK]:
        return 1
    return k


@helper
def remember(T, E, count):
    """The differences at the new point, one more than before if there is room."""
    phi, star, flags, v, a = view(E, PHI), view(E, STAR), view(E, FLAGS), view(T, s.V), view(T, s.A)
    n = v.shape[0]
    flags[FILLED] = min(count + 1, DIFFERENCES)
    for j in range(n):
        x, y = v[j], a[j]
        for i in range(flags[FILLED]):
            phi[i, j] = x
            phi[i, n + j] = y
            if i < count:
                x -= star[i, j]
                y -= star[i, n + j]
    run.copy(view(E, PSI_OLD), view(E, PSI))


@helper
def difference_norm(E, R, row):
    """RMS over the weights of one difference at the new point."""
    phi, total = view(E, PHI), 0.0
    n = view(R, run.ATOL).shape[0]
    for j in range(2 * n):
        x = phi[row, j] / (run.weight(R, j) if j < n else run.weight_v(R, j - n))
        total += x * x
    return sqrt(total / (2.0 * n))
