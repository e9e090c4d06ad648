"""The energy balance of a run, watched step by step inside the compiled loop.

B = kinetic + potential - work is constant in an exact solution. A method may lose energy (numerical damping), but what
B rises above its earlier minimum came from nowhere. Bounds and words are those of `engine.audit`.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, view

(
    MODE, PART, FLOOR, FRESH, KINETIC, POTENTIAL, BALANCE, LEAST, MOST, GAIN, WHEN, LOSS, SCALE, LOWEST, HIGHEST,
    EXCHANGED, WORK_ERROR, TRIES, SIZE,
) = range(19)  # fmt: skip
"""Places in AUDIT: what to do; part of the scale that may be gained; least scale, from the error weights; whether the
energies belong to the present trial; energies and B at the last accepted state; least and largest B so far, largest
gain and its time, largest loss; scale; range of the potential energy; integral of |power|; error of the work; how often
steps were tried again, less the accepted ones since."""
OFF, REPORT, WARN, FAIL = range(4)
"""Values of MODE: nothing, watch only, repeat steps as well, and end a run that gained more than its scale."""
STEP_SHARE = 0.5
"""Part of the allowed gain that a single step may have."""
MOST_TRIES = 6
"""Tries in a row beyond which a smaller step does not help."""
WORK_DOUBT = 0.1
"""Part of the difference between a step's work and that of the trapezoidal rule that is taken for its error."""


@helper
def measure(T, A):
    """Energies of the state in T, whose forces were evaluated; once per trial."""
    if A[MODE] == OFF or A[FRESH] == 1.0:
        return OK
    code = call(view(T, s.CORE)[s.CORE_ENERGY], T, 0)
    A[KINETIC] = view(T, s.ENERGY)[s.KINETIC]
    A[POTENTIAL] = view(T, s.ENERGY)[s.POTENTIAL]
    A[FRESH] = 1.0
    return code


@helper
def gains_too_much(T, A, work):
    """Whether the trial in T gains more than a step may, and may be tried again; `work` up to its end.

    So does one that loses more than the motion ever had: no damping does that, but a leap into a singular potential,
    which the next step may leave with a gain.
    """
    if A[MODE] < WARN or measure(T, A) != OK:
        return False
    rise = A[KINETIC] + A[POTENTIAL] - work - A[BALANCE]
    usual = rise <= STEP_SHARE * A[PART] * max(A[SCALE], A[KINETIC] - rise) and -rise <= max(A[SCALE], A[KINETIC])
    if usual or A[TRIES] >= MOST_TRIES:
        return False
    A[TRIES] += 1.0
    A[FRESH] = 0.0
    return True


@helper
def judge(A, work, step_work, trapezoid, t):
    """Count the state just accepted, with the work up to it and in its step; whether the run is to end."""
    if A[MODE] == OFF:
        return False
    A[FRESH] = 0.0
    A[EXCHANGED] += abs(step_work)
    A[WORK_ERROR] += WORK_DOUBT * abs(step_work - trapezoid)
    A[TRIES] = max(A[TRIES] - 1.0, 0.0)
    balance = A[KINETIC] + A[POTENTIAL] - work
    if A[BALANCE] - balance <= max(A[SCALE], A[KINETIC]):  # else a leap into a singular potential
        A[LOWEST] = min(A[LOWEST], A[POTENTIAL])
    A[HIGHEST] = max(A[HIGHEST], A[POTENTIAL])
    gain = balance - A[LEAST]
    if gain > A[GAIN]:
        A[GAIN] = gain
        A[WHEN] = t
    A[SCALE] = max(A[SCALE], max(A[KINETIC], A[HIGHEST] - A[LOWEST], A[EXCHANGED]) - max(gain, 0.0))
    A[LOSS] = max(A[LOSS], A[MOST] - balance)
    A[LEAST] = min(A[LEAST], balance)
    A[MOST] = max(A[MOST], balance)
    A[BALANCE] = balance
    return A[MODE] == FAIL and not gain <= A[SCALE] + A[WORK_ERROR]  # also catches NaN
