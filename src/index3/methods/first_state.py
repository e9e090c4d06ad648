"""The first state of a run, where T stands: what a method begins with, its energies, and the first step to try."""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import audit, run


@kernel
def take(T, R):
    """Let the state in T be the last two accepted ones; largest magnitudes, angles and their speed, branches."""
    q, v, largest, largest_v = view(T, s.Q), view(T, s.V), view(R, run.LARGEST), view(R, run.LARGEST_V)
    near, speed, branch, clock = view(T, s.ANGLE_REF), view(T, s.ANGLE_SPEED), view(R, run.BRANCH), view(R, run.CLOCK)
    run.copy(view(R, run.OLD_Q), q)
    run.copy(view(R, run.NEW_Q), q)
    run.copy(view(R, run.OLD_V), v)
    run.copy(view(R, run.NEW_V), v)
    run.copy(view(R, run.OLD_A), view(T, s.A))
    run.copy(view(R, run.NEW_A), view(T, s.A))
    run.copy(view(R, run.OLD_LAM), view(T, s.LAM))
    run.copy(view(R, run.NEW_LAM), view(T, s.LAM))
    run.copy(view(R, run.NEW_RATE), view(T, s.A)[view(R, run.LIMITS)[run.FIRST_STATE] :])
    run.copy(view(R, run.OLD_RATE), view(R, run.NEW_RATE))
    origin = view(R, run.ORIGIN)
    for k in range(q.shape[0]):
        largest[k], largest_v[k] = min(abs(q[k]), abs(q[k] - origin[k])), abs(v[k])
    run.copy(view(R, run.START_V), v)
    run.note_away(R)
    run.copy(view(R, run.ANGLE_OLD), near)
    if near.shape[0] + branch.shape[0] == 0:
        return OK
    if run.core(T, s.CORE_POSES) != OK or run.core(T, s.CORE_ANGLES) != OK:
        return OK  # the method says so when it evaluates the forces
    for k in range(speed.shape[0]):
        clock[run.SPEED_NEW] = max(clock[run.SPEED_NEW], speed[k])
    of_rows = view(T, s.BRANCH)
    for k in range(branch.shape[0]):
        x = of_rows[k, 0]
        branch[k, 0], branch[k, 1], branch[k, 2] = (1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0), x, of_rows[k, 1]
    return OK


@kernel
def measure(T, R):
    """The start of the energy balance in AUDIT, for its PART, or how it goes on where there was one before.

    As FLOOR the energy of errors as large as the weights allow, over PART the least scale: a velocity of the size of
    its weights, and the work of the applied forces along the weights of q. Stiff springs that gave way by these would
    hold far more than a motion has: no run may gain that.
    """
    A, a, lam, energy = view(R, run.AUDIT), view(T, s.A), view(T, s.LAM), view(T, s.ENERGY)
    force, inertia, first = view(T, s.G), view(T, s.MA), view(R, run.LIMITS)[run.FIRST_STATE]
    A[audit.KINETIC] = A[audit.POTENTIAL] = A[audit.FLOOR] = 0.0
    for k in range(lam.shape[0]):
        lam[k] = 0.0
    if run.core(T, s.CORE_FORCES) == OK and run.core(T, s.CORE_ENERGY) == OK:
        A[audit.KINETIC], A[audit.POTENTIAL] = energy[s.KINETIC], energy[s.POTENTIAL]
        for k in range(first):
            A[audit.FLOOR] += abs(force[k]) * run.weight(R, k)
    for k in range(a.shape[0]):
        a[k] = run.weight_v(R, k)
    if run.core(T, s.CORE_MASS) == OK:
        twice = 0.0
        for k in range(a.shape[0]):
            twice += inertia[k] * a[k]
        A[audit.FLOOR] += 0.5 * abs(twice)
    run.copy(a, view(R, run.NEW_A))
    run.copy(lam, view(R, run.NEW_LAM))
    run.core(T, s.CORE_FORCES)
    A[audit.BALANCE] = A[audit.KINETIC] + A[audit.POTENTIAL] - view(R, run.WORK)[run.WORK_NEW]
    if A[audit.STRICT] == 0.0:
        A[audit.LEAST] = A[audit.LEAST_RAW] = A[audit.MOST] = A[audit.BALANCE]
        A[audit.LOWEST] = A[audit.HIGHEST] = A[audit.POTENTIAL]
        A[audit.MOST_HELD] = A[audit.KINETIC] + A[audit.POTENTIAL]
        A[audit.WHEN], A[audit.STRICT] = view(R, run.CLOCK)[run.T_NEW], 1.0
    A[audit.FRESH] = A[audit.TRIES] = 0.0
    A[audit.SCALE] = max(A[audit.SCALE], max(A[audit.KINETIC], A[audit.FLOOR] / A[audit.PART]))
    return OK


@helper
def mean_size(R, x, y):
    """The root mean square of a vector like q and one like v, in parts of the errors allowed in these."""
    total = 0.0
    for k in range(x.shape[0]):
        total += (x[k] / run.weight(R, k)) ** 2 + (y[k] / run.weight_v(R, k)) ** 2
    return sqrt(total / (2.0 * x.shape[0]))


@kernel
def choose_step(T, R):
    """H_NEXT for a method that controls q and v, by a formula of order ORDER: where an explicit Euler step changes y by
    1 % of its weights' order-th root [Hairer, Norsett, Wanner, Solving ODEs I, II.4, without its second evaluation]."""
    clock, q, v, a = view(R, run.CLOCK), view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    size, rate, h = mean_size(R, q, v), mean_size(R, v, a), clock[run.MAX_STEP]
    if rate > 0.0:
        euler = 0.01 * max(size, 1.0) / rate
        if euler < h:
            h = euler
        if rate > 1.0:
            h = min(h, (0.01 / rate) ** (1.0 / (clock[run.ORDER] + 1.0)))
    clock[run.H_NEXT] = max(h, 1e-12 * clock[run.MAX_STEP])
    return OK
