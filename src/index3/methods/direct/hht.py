"""HHT on the index-3 equations of motion: the compiled step loop.

[NegrutHHT] sections 2-3; bare numbers are its equations; docs/theory/hht.md. Unknowns a, lam of (11), matrix (14).
Ours differs:
- (11a) pairs M(q_{n+1}) with an acceleration a of t_{n+1} + alpha h, first order when M depends on q, and forces of
  two configurations with each other, which turns a rod about its own axis. Instead M A + G = 0 at t_{n+1} with the
  acceleration there, (1+alpha) A_{n+1} - alpha A_n = a_{n+1}: the same where M and the directions of forces are
  constant (option `mass="end"` keeps the print);
- a_n belongs to t_n + alpha h_{n-1}: a step of another size starts from a_n shifted to t_n + alpha h, which keeps
  second order for any sequence of steps (option `shift=False` keeps the print);
- velocity-level rows are scaled by 1/(gamma h), as position rows by 1/(beta h^2);
- forces that depend on accelerations are taken with A_{n+1}: a mass in such a force is then the same as one in M;
- without damping a run whose chosen steps shrink to nothing is given up: docs/theory/hht.md, "Choosing alpha".
Newton's iteration is `corrector`, predictor and step control are `alpha`; constants not in the paper are named there.
When a matrix is renewed is a setting, `hht_method.RENEWAL`.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view
from index3.methods import refusals, run
from index3.methods.direct import alpha as past
from index3.methods.direct import corrector, leaps, newton
from index3.methods.direct.alpha import A_START, OPTIONS, PAST, PAST_A, PAST_T

(G_OLD, A_OLD) = OWN_SLOTS = extended(
    past.SLOTS,
    g_old=("f8", 1),  # Phi_q^T lam - Q at the last accepted state
    a_old=("f8", 1),  # alpha times the acceleration A_n there; 0 with `mass="end"`
)
SLOTS = past.SLOTS + OWN_SLOTS
ALPHA, MASS_AT_END, SHIFT, BETA, GAMMA = range(5)
"""Places in OPTIONS; BETA and GAMMA are those of alpha (6), or Newmark's with alpha = 0."""
__all__ = [
    "ALPHA",
    "A_OLD",
    "A_START",
    "BETA",
    "GAMMA",
    "G_OLD",
    "MASS_AT_END",
    "OPTIONS",
    "PAST",
    "PAST_A",
    "PAST_T",
    "SHIFT",
    "SLOTS",
    "attempt",
]


@helper
def error_constant(E):
    """C of (25): the error of a step is C h^2 (a_{n+1} - a_n)."""
    c = view(E, OPTIONS)
    return c[BETA] - 1.0 / (6.0 * (1.0 + c[ALPHA]))


@helper
def predict(T, E, R, h):
    """Starting values of the new a and lam, and the acceleration that the step starts from."""
    c, clock, times, past_a = view(E, OPTIONS), view(R, run.CLOCK), view(E, PAST_T), view(E, PAST_A)
    start, alpha = view(E, A_START), c[ALPHA]
    past.extrapolate(T, E, clock[run.T_NEW] + h + alpha * h, clock[run.T_NEW] + h)
    a, old = view(T, s.A), view(E, A_OLD)
    for k in range(a.shape[0]):
        a[k] += old[k]
    run.copy(start, past_a[0])
    if c[SHIFT] == 1.0 and view(E, past.HISTORY)[past.FILLED] > 1 and view(R, run.COUNTS)[run.N_STEPS] > 0:
        x = alpha * (h - clock[run.H_LAST]) / (times[0] - times[1])
        if x != 0.0:
            for k in range(start.shape[0]):
                start[k] += x * (past_a[0, k] - past_a[1, k])


@helper
def fill_bases(T, E, R, h):
    """The step as `newton` takes it: Newmark's formulas (2), the force balance (11a), the error (25).

    Its unknown is (1+alpha) A_{n+1} = a_{n+1} + alpha A_n, so what alpha A_n adds to q and v is taken off.
    """
    c, memory, start, old = view(E, OPTIONS), view(E, newton.MEMORY), view(E, A_START), view(E, A_OLD)
    alpha, beta, gamma = c[ALPHA], c[BETA], c[GAMMA]
    q_base, v_base, g_add, g_old = view(E, newton.Q_BASE), view(E, newton.V_BASE), view(E, newton.G_ADD), view(E, G_OLD)
    q0, v0 = view(R, run.NEW_Q), view(R, run.NEW_V)
    memory[newton.C_MASS] = 1.0 / (1.0 + alpha)
    memory[newton.C_POSITION] = beta * h * h
    memory[newton.C_VELOCITY] = gamma * h
    share = -alpha / (1.0 + alpha) if c[MASS_AT_END] == 1.0 else 0.0
    fixed = view(R, run.CLOCK)[run.STEP] > 0.0
    memory[newton.SIZE] = gamma * h if fixed else error_constant(E) * h * h
    for k in range(q0.shape[0]):
        q_base[k] = q0[k] + h * v0[k] + h * h * ((0.5 - beta) * start[k] - beta * old[k])
        v_base[k] = v0[k] + h * ((1.0 - gamma) * start[k] - gamma * old[k])
        g_add[k] = share * g_old[k]
    view(T, s.SHARE)[0] = alpha / (1.0 + alpha)
    fill_past_of_forces(T, E, 0.0)


@helper
def fill_past_of_forces(T, E, part):
    """A_PAST of forces that depend on accelerations: a part of A_n, all of it where a_{n+1} is in T."""
    past_a, old, c = view(T, s.A_PAST), view(E, A_OLD), view(E, OPTIONS)
    if c[MASS_AT_END] == 0.0:
        for k in range(past_a.shape[0]):
            past_a[k] = part * old[k] / c[ALPHA] if c[ALPHA] != 0.0 else 0.0


@helper
def return_to_a(T, E, h):
    """a_{n+1} instead of the unknown of the step, at the same q and v."""
    a, old, c = view(T, s.A), view(E, A_OLD), view(E, OPTIONS)
    q_base, v_base = view(E, newton.Q_BASE), view(E, newton.V_BASE)
    fill_past_of_forces(T, E, 1.0)
    for k in range(a.shape[0]):
        a[k] -= old[k]
        q_base[k] += c[BETA] * h * h * old[k]
        v_base[k] += c[GAMMA] * h * old[k]


@helper
def keep_present(T, E):
    """A_{n+1} is the A_n of the next step; where forces depend on accelerations it belongs to this instant."""
    now, past_a, a = view(T, s.A_NOW), view(T, s.A_PAST), view(T, s.A)
    old, c = view(E, A_OLD), view(E, OPTIONS)
    at_end = c[MASS_AT_END] == 1.0
    for k in range(now.shape[0]):
        past_a[k] = now[k]
    for k in range(a.shape[0]):
        old[k] = 0.0 if at_end else c[ALPHA] / (1.0 + c[ALPHA]) * (a[k] + old[k])
    for k in range(now.shape[0]):
        a[k] = now[k]
    view(T, s.SHARE)[0] = 0.0


@helper
def accept(T, E, R, t, h):
    """Make the trial state the new one, and remember what the next step needs of it."""
    newton.move(T, E, R)
    if run.evaluate_forces(T, R) != OK:
        return run.EVALUATION_FAILED
    if refusals.is_refused(T, R):
        return OK
    run.copy(view(E, G_OLD), view(T, s.G))
    past.remember(T, E, t + view(E, OPTIONS)[ALPHA] * h, t)
    keep_present(T, E)
    return run.accept(T, R)


@helper
def try_step(T, E, R, S):
    """Try one step and choose the size of the next; OK also if it was rejected, else a reason to stop."""
    c = view(E, OPTIONS)
    t, h = run.step_tried(R)
    if c[GAMMA] == 0.5 and past.shrunk(E, h):
        return run.STEP_TOO_SMALL
    view(T, s.TIME)[0] = t
    newton.fill_weights(E, R, h)
    predict(T, E, R, h)
    fill_bases(T, E, R, h)
    code = corrector.solve_step(T, E, R, S)
    if code != corrector.CONVERGED:
        return run.answer_failure(R, view(E, newton.FLAGS)[newton.FAILED_IN_ROW :], code)
    view(E, newton.FLAGS)[newton.FAILED_IN_ROW] = 0
    return_to_a(T, E, h)
    if view(R, run.CLOCK)[run.STEP] == 0.0:
        scale = error_constant(E) * h * h
        error = past.step_error(T, E, R, view(E, A_START), scale, h, t + c[ALPHA] * h)
        newton.move(T, E, R)
        if not past.control(R, h, max(error, leaps.judged(E, R, leaps.velocity_leap(T, E, R, h)) ** 3)):
            return OK
    return accept(T, E, R, t, h)


@kernel
def attempt(T, E):
    """`try_step`; afterwards others ask with accelerations of the instant itself."""
    R = view(E, newton.RUN)[0]
    code = try_step(T, E, R, view(R, run.LINK)[run.LINK_SOLVER])
    view(T, s.SHARE)[0] = 0.0
    return code
