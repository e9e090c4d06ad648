"""Generalized-alpha on the index-3 equations of motion: the compiled step loop.

[ArnoldBruels], after Chung and Hulbert. The equations of motion hold at t_{n+1} with the true acceleration,

    M(q) a + Phi_q^T lam = Q,   Phi(q) = 0   at t_{n+1},

and Newmark's formulas use an auxiliary A_n, an acceleration at t_n + d h with d = alpha_m - alpha_f:

    (1 - alpha_m) A_{n+1} + alpha_m A_n = (1 - alpha_f) a_{n+1} + alpha_f a_n,
    q_{n+1} = q_n + h v_n + h^2 [(1/2 - beta) A_n + beta A_{n+1}],
    v_{n+1} = v_n + h [(1 - gamma) A_n + gamma A_{n+1}],
    alpha_m = (2 rho - 1)/(rho + 1),  alpha_f = rho/(rho + 1),  gamma = 1/2 - d,  beta = (1 - d)^2/4.

Ours differs:
- A_n belongs to t_n + d h_{n-1}: a step of another size starts from A_n + d (h - h_{n-1}) (a_n - a_{n-1})/h_{n-1},
  which keeps second order for any sequence of steps;
- the first step is done twice: A_0 = a_0 leaves an error O(h) in lam that dies out as rho^n, so the second time starts
  from A_0 = a_0 + d (a_1 - a_0), with a_1 of the first time (an implicit step, so stiff models come to no harm);
- error of a step: (1/12 + d^2/4) h^2 (A_{n+1} - A_n), the leading term of the local error of q. Differences of a would
  do for a smooth motion, but a change of step leaves an alternating part in a and lam that A filters out.
The corrector is `corrector`, predictor and step control are `alpha`.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.methods import refusals, run
from index3.methods.direct import alpha as past
from index3.methods.direct import corrector, leaps, newton
from index3.methods.direct.alpha import A_START, OPTIONS, PAST_A, PAST_T

(AUXILIARY,) = OWN_SLOTS = extended(past.SLOTS, auxiliary=("f8", 1))  # A_n
SLOTS = past.SLOTS + OWN_SLOTS
RHO = 0
"""Place in OPTIONS: spectral radius at infinity."""


@helper
def parameters(rho):
    """(alpha_m, alpha_f, d)."""
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    return alpha_m, alpha_f, alpha_m - alpha_f


@helper
def shift_start(E, R, h):
    """A_START = A_n moved to t_n + d h."""
    clock, start, past_a, times = view(R, run.CLOCK), view(E, A_START), view(E, PAST_A), view(E, PAST_T)
    d = parameters(view(E, OPTIONS)[RHO])[2]
    run.copy(start, view(E, AUXILIARY))
    if view(R, run.COUNTS)[run.N_STEPS] > 0:
        x = d * (h - clock[run.H_LAST]) / (times[0] - times[1])
        if x != 0.0:
            for k in range(start.shape[0]):
                start[k] += x * (past_a[0, k] - past_a[1, k])


@helper
def fill_bases(E, R, h):
    """The step as `newton` takes it, with A_{n+1} = (1 - alpha_f)/(1 - alpha_m) a_{n+1} + what is known."""
    memory, start, a0 = view(E, newton.MEMORY), view(E, A_START), view(E, PAST_A)[0]
    alpha_m, alpha_f, d = parameters(view(E, OPTIONS)[RHO])
    beta, gamma, part = (1.0 - d) * (1.0 - d) / 4.0, 0.5 - d, (1.0 - alpha_f) / (1.0 - alpha_m)
    q_base, v_base, q0, v0 = view(E, newton.Q_BASE), view(E, newton.V_BASE), view(R, run.NEW_Q), view(R, run.NEW_V)
    memory[newton.C_MASS] = 1.0
    memory[newton.C_POSITION] = beta * part * h * h
    memory[newton.C_VELOCITY] = gamma * part * h
    judged_as_speed = view(R, run.CLOCK)[run.STEP] > 0.0 or view(E, newton.PROJECTOR)[0] != 0
    memory[newton.SIZE] = gamma * part * h if judged_as_speed else error_constant(d) * h * h
    for k in range(q0.shape[0]):
        known = (alpha_f * a0[k] - alpha_m * start[k]) / (1.0 - alpha_m)
        q_base[k] = q0[k] + h * v0[k] + h * h * ((0.5 - beta) * start[k] + beta * known)
        v_base[k] = v0[k] + h * ((1.0 - gamma) * start[k] + gamma * known)


@helper
def error_constant(d):
    """The local error of q is this times h^3 q'''."""
    return 1.0 / 12.0 + d * d / 4.0


@helper
def solve(T, E, R, S, h):
    """One step of size h; the first of a run twice, to find where A_0 should have been."""
    clock, start, a, a0 = view(R, run.CLOCK), view(E, A_START), view(T, s.A), view(E, PAST_A)[0]
    t = clock[run.T_NEW] + h
    d, first = parameters(view(E, OPTIONS)[RHO])[2], view(R, run.COUNTS)[run.N_STEPS] == 0
    newton.fill_weights(E, R, h)
    shift_start(E, R, h)
    past.extrapolate(T, E, t, t)
    code = corrector.CONVERGED
    for trial in range(2 if first else 1):
        if trial == 1:
            for k in range(start.shape[0]):
                start[k] = a0[k] + d * (a[k] - a0[k])
        fill_bases(E, R, h)
        code = corrector.solve_step(T, E, R, S)
        if code != corrector.CONVERGED:
            break
    return code


@helper
def accept(T, E, R, t):
    """Make the trial state the new one, and remember what the next step needs of it."""
    auxiliary, start, a, a0 = view(E, AUXILIARY), view(E, A_START), view(T, s.A), view(E, PAST_A)[0]
    alpha_m, alpha_f, _ = parameters(view(E, OPTIONS)[RHO])
    newton.move(T, E, R)
    if run.evaluate_forces(T, R) != OK:
        return run.EVALUATION_FAILED
    if refusals.is_refused(T, R):
        return OK
    for k in range(a.shape[0]):
        auxiliary[k] = ((1.0 - alpha_f) * a[k] + alpha_f * a0[k] - alpha_m * start[k]) / (1.0 - alpha_m)
    past.remember(T, E, t, t)
    return run.accept(T, R)


@helper
def step_error(T, E, R, t, h):
    """RMS over the weights of the local error of q, with A_{n+1} - A_n for h times the third derivative."""
    start, a, a0, w = view(E, A_START), view(T, s.A), view(E, PAST_A)[0], view(E, newton.WEIGHTS_Q)
    alpha_m, alpha_f, d = parameters(view(E, OPTIONS)[RHO])
    scale, total = leaps.carried(E, R, h) * error_constant(d) * h * h / (1.0 - alpha_m), 0.0
    for k in range(a.shape[0]):
        x = scale * ((1.0 - alpha_f) * a[k] + alpha_f * a0[k] - start[k]) / w[k]
        total += x * x
    return sqrt((total + past.state_error(T, E, R, h, t)) / a.shape[0])


@kernel
def attempt(T, E):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    R = view(E, newton.RUN)[0]
    S = view(R, run.LINK)[run.LINK_SOLVER]
    t, h = run.step_tried(R)
    if view(E, OPTIONS)[RHO] == 1.0 and past.shrunk(E, h):
        return run.STEP_TOO_SMALL
    view(T, s.TIME)[0] = t
    code = solve(T, E, R, S, h)
    if code != corrector.CONVERGED:
        return run.answer_failure(R, view(E, newton.FLAGS)[newton.FAILED_IN_ROW :], code)
    view(E, newton.FLAGS)[newton.FAILED_IN_ROW] = 0
    if view(R, run.CLOCK)[run.STEP] == 0.0:
        newton.move(T, E, R)
        leap = leaps.judged(E, R, leaps.velocity_leap(T, E, R, h))
        if not past.control(R, h, max(step_error(T, E, R, t, h), leap**3)):
            return OK
    return accept(T, E, R, t)
