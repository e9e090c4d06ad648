"""The table of Radau IIA, and its linear algebra: one real and one complex bordered system for each iteration.

See `radau_newton` for the equations. Matrices are kept over steps; a new h costs two factorisations and no evaluation.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.linear import contract
from index3.methods import run

(
    RUN, LINK, SETTINGS, MEMORY, FLAGS, NODES, WEIGHT_A, WEIGHT_MU, LEFT, RIGHT, EIGEN, ERROR_E,
    STAGE_A, STAGE_LAM, STAGE_Q, STAGE_V, STAGE_P, STAGE_PHI, PAST_A, PAST_LAM, RESIDUAL, MASS, STIFF, DAMP,
    ERR_Q, ERR_V, OUT_Q, OUT_V,
) = SLOTS = slots(
    run=("i8", 1), link=("i8", 1), settings=("f8", 1), memory=("f8", 1), flags=("i8", 1),
    nodes=("f8", 1), weight_a=("f8", 2), weight_mu=("f8", 2),  # c, A, A A
    left=("c16", 2), right=("c16", 2), eigen=("c16", 1),  # rows l_k, columns s_k (the second doubled); z_1, z_2, 1/z_2
    error_e=("f8", 1),  # weights of q_i - q_n, v_i - v_n in the error
    stage_a=("f8", 2), stage_lam=("f8", 2), stage_q=("f8", 2), stage_v=("f8", 2),
    stage_p=("f8", 2), stage_phi=("f8", 2),  # p_i, and what Phi(q_i) is
    past_a=("f8", 2), past_lam=("f8", 2),  # stages of the last accepted step
    residual=("f8", 2),  # minus the residuals of the stages: forces, rows
    mass=("f8", 1), stiff=("f8", 1), damp=("f8", 1),  # M and Phi_q, Q_lam; K; D and derivatives of velocity-level rows
    err_q=("f8", 1), err_v=("f8", 1), out_q=("f8", 1), out_v=("f8", 1),
)  # fmt: skip

COMPLEX, PROJECTOR, POINT, LINK_STAGES, LINK_EVALUATE = range(5)
"""Places in LINK: tables of the complex matrix, of the projector with the directions of the start and of `points`; and
addresses of kernels."""
KAPPA, MAX_ITERATIONS, RENEW_RATE = range(3)
(
    H_FACTORED, ETA_OLD, WORST_RATE, RATE_LAST, H_STEP, H_PAST, ERROR_PAST, ITERATIONS, REST, LAST_SIZE, MEMORY_SPACE,
) = range(11)  # fmt: skip
"""Places in MEMORY: step of the kept factorisation, last eta, slowest convergence of this step, last ratio of two
corrections, the step to take, the last accepted step and its error; of the last step its iterations, the size of the
last correction and of the forces at the end before it."""
RENEW, FRESH, AFTER_REJECTION, FAILED_IN_ROW, STALE, HIDDEN_IN_ROW, FLAGS_SPACE = range(7)
"""Places in FLAGS: linearise before the next correction; whether the linearisation belongs to this step; the last try
was rejected; failed ones in a row; the projector's directions are not those of the start of the step; tries in a row
that are repeated for a hidden impact."""
STAGES = 3


@helper
def fill_with(T, target, c_m, c_k, c_d):
    """One of the matrices at T's point, with its borders."""
    coef, matrix = view(T, s.COEF), view(T, s.MATRIX)
    coef[s.C_M] = c_m
    coef[s.C_MA] = c_k
    coef[s.C_K] = c_k
    coef[s.C_D] = c_d
    coef[s.C_V] = c_d
    coef[s.C_R] = 1.0
    code = run.core(T, s.CORE_MATRIX)
    for p in range(target.shape[0]):
        target[p] = matrix[p]
    return code


@helper
def without_borders(S, target, mass):
    """Take out of a matrix the borders that it shares with `mass`."""
    ap, hend, n = view(S, contract.AP), view(S, contract.HEND), view(S, contract.INFO)[contract.N_COORDINATES]
    for j in range(ap.shape[0] - 1):
        for p in range(hend[j] if j < n else ap[j], ap[j + 1]):
            target[p] -= mass[p]


@helper
def linearise(T, E, R, S):
    """MASS, STIFF and DAMP at T's point, where all stands evaluated; any step can be built from them."""
    mass, stiff, damp = view(E, MASS), view(E, STIFF), view(E, DAMP)
    view(R, run.COUNTS)[run.N_JACOBIANS] += 1
    code = fill_with(T, stiff, 0.0, 1.0, 0.0)
    view(T, s.STATUS)[s.SAME_POINT] = 1
    if code == OK:
        code = fill_with(T, damp, 0.0, 0.0, 1.0)
    if code == OK:
        code = fill_with(T, mass, 1.0, 0.0, 0.0)
    view(T, s.STATUS)[s.SAME_POINT] = 0
    if code != OK:
        return run.EVALUATION_FAILED
    without_borders(S, stiff, mass)
    without_borders(S, damp, mass)
    run.note_distance(T, S)
    view(E, FLAGS)[FRESH] = 1
    view(E, FLAGS)[RENEW] = 0
    view(E, MEMORY)[H_FACTORED] = 0.0
    return OK


@helper
def factorise(T, E, R, S, h):
    """Both matrices for this step; a rank lower than seen before is used once only."""
    mass, stiff, damp, z = view(E, MASS), view(E, STIFF), view(E, DAMP), view(E, EIGEN)
    link, matrix, g, w = view(E, LINK), view(T, s.MATRIX), h * z[0].real, h * z[1]
    values = view(link[COMPLEX], contract.COMPLEX_A)
    for p in range(mass.shape[0]):
        matrix[p] = mass[p] + g * (damp[p] + g * stiff[p])
        values[p] = mass[p] + w * (damp[p] + w * stiff[p])
    view(R, run.COUNTS)[run.N_FACTOR] += 2
    code = contract.factor(T, S)
    if code == OK:
        code = contract.factor(T, link[COMPLEX])
    if code != OK:
        return run.BODY_SINGULAR if code == contract.BODY_SINGULAR else run.NOT_FINITE
    if contract.lost_rank(S):
        view(E, FLAGS)[RENEW] = 1
    view(E, MEMORY)[H_FACTORED] = h
    return OK


@helper
def solve(T, E, R, S):
    """Corrections of the stages' a and lam, left in RESIDUAL."""
    left, right, z, rest = view(E, LEFT), view(E, RIGHT), view(E, EIGEN), view(E, RESIDUAL)
    link, x, n = view(E, LINK), view(S, contract.X), view(T, s.Q).shape[0]
    C = link[COMPLEX]
    y = view(C, contract.COMPLEX_X)
    for k in range(x.shape[0]):
        x[k] = 0.0
        y[k] = 0.0
        for i in range(STAGES):
            x[k] += left[0, i].real * rest[i, k]
            y[k] += left[1, i] * rest[i, k]
        if k >= n:
            x[k] /= z[0].real
            y[k] *= z[2]
    contract.solve(T, S)
    contract.solve(T, C)
    view(R, run.COUNTS)[run.N_NEWTON] += 1
    for i in range(STAGES):
        for k in range(x.shape[0]):
            rest[i, k] = right[i, 0].real * x[k] + right[i, 1].real * y[k].real - right[i, 1].imag * y[k].imag
