"""The energy balance of a run, watched step by step inside the compiled loop.

B = kinetic + potential - work is constant in an exact solution. A method may lose energy (numerical damping), but what
B rises above its earlier minimum came from nowhere. Bounds and words are those of `engine.audit`.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, view

(
    MODE, PART, FLOOR, FRESH, KINETIC, POTENTIAL, BALANCE, LEAST, MOST, GAIN, WHEN, LOSS, SCALE, LOWEST, HIGHEST,
    EXCHANGED, TRIES, STRICT, CUT_AT, TOUCHING, TAKEN, KEEPS, HITS, WORKED, LOOK_AT, UNCERTAIN, EXCUSED, VAGUE,
    MOST_HELD, DOUBTED, LEAST_RAW, GAIN_RAW, SIZE,
) = range(33)  # fmt: skip
"""Places in AUDIT: what to do; part of the scale that may be gained; least scale, from the error weights; whether the
energies belong to the present trial; energies and B at the last accepted state; least and largest B so far, largest
gain and its time, largest loss; scale; range of the potential energy; integral of |power|; how often steps were tried
again, less the accepted ones since; by what the tolerances were divided, and the gain at which they were last; whether
something touches at the last accepted state (1; LEFT, if it did at the one before), and what B lost in steps that
begin or end there; part of a loss that counts as a gain for the tolerances: 0 but for methods that were chosen for a
run and are not to damp (`CHOSEN`); how often something touched after nothing did; steps in which something worked, and
the one in which to look again what errors do to the power; that power, in parts of the root of the kinetic energy;
change of B, and sum of the changes, that is excused by it (`made_by_work`); largest energy of the bodies so far;
sum of the doubts of all steps; least B and largest gain with nothing excused."""
LEFT = 0.5
"""TOUCHING of a state with nothing in contact whose step began there: accelerations in the past of the next step are
those of the contact, as that of hht-i3 always is, and would push for as long as it lasts."""
OFF, REPORT, WARN, FAIL = range(4)
"""Values of MODE: nothing, watch only, repeat steps as well, and end a run that gained more than its scale."""
STEP_SHARE = 0.5
"""Part of the allowed gain that a single step may have."""
IMPACT_SHARE = 0.05
"""Part of the allowed gain that a step may lose or gain that begins or ends in contact: an impact takes several."""
IMPACT_MOST = 0.2
"""Part of the scale that counts as allowed at most where something touches, however large rtol is."""
DONE = 2.0
"""Times the larger power at both ends of a step, over its duration, that work in it is believed to be at most."""
FREE, SPENT, APART = 0.5, 0.25, 0.02
"""Parts of the allowed gain that a run may have at once, that it may have in addition over its span, and that it must
have gained since the tolerances were cut before they are cut again."""
CHOSEN = 0.25
"""KEEPS of a method that `auto` has chosen because nothing is stiff: it takes energy by its errors alone."""
CUT, MOST_STRICT, LEAST_RTOL = 4.0, 16384.0, 1e-11
"""By what the tolerances are divided each time, in all, and the least rtol, near rounding."""
ROUNDING = 1e-11
"""Part of the potential energy that the scale is at least: at rest the sum of energies changes by roundings alone, some
1e-16 of it in every step, and a hundredth of the scale is allowed."""
SUSPECT, AGAIN = 0.02, 0.1
"""Part of the allowed gain from which on the work of a step is looked at, if it is more than the step's share of the
span; and how many more steps there must be, in parts of those so far, to look again."""
BOTH_ENDS = 2.0
"""Times the power that an error as large as allowed changes: there may be such errors all over a step."""
MOST_TRIES, MOST_REFUSED = 6, 30
"""Tries in a row beyond which a smaller step does not help, and those after which a run may end."""


@helper
def measure(T, A):
    """Energies and power of the state in T, whose forces were evaluated; once per trial."""
    if A[FRESH] == 1.0:
        return OK
    code = call(view(T, s.CORE)[s.CORE_ENERGY], T, 0)
    A[KINETIC] = view(T, s.ENERGY)[s.KINETIC]
    A[POTENTIAL] = view(T, s.ENERGY)[s.POTENTIAL]
    A[FRESH] = 1.0
    return code


@helper
def touches(T):
    """Whether a force that switches acts at T's state, whose poses are known: something touches."""
    values, deepest = view(T, s.SWITCH), 0.0
    if values.shape[0] == 0 or call(view(T, s.CORE)[s.CORE_SWITCHES], T, 0) != OK:
        return False
    for k in range(values.shape[0]):
        deepest = min(deepest, values[k])
    return deepest < 0.0


@helper
def changes_much(A, least, most):
    """Whether the trial just measured loses or gains more than a step of contact may.

    `least`, `most`: bounds of the work up to its end. What numerical damping takes of a vibration is no loss, because
    nobody sees it; but a contact is a vibration that lasts half a period, and what is left of it is the motion.
    """
    energy = A[KINETIC] + A[POTENTIAL]
    change = max(A[BALANCE] + least - energy, energy - most - A[BALANCE])
    return change > IMPACT_SHARE * min(A[PART], IMPACT_MOST) * max(A[SCALE], A[KINETIC]) and A[TRIES] < MOST_REFUSED


@helper
def try_again(A):
    """Count a trial that is repeated."""
    A[TRIES] += 1.0
    A[FRESH] = 0.0
    return True


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
    return try_again(A)


@helper
def doubles_energy(T, A, work, power, h):
    """Whether the trial in T gains more than the motion has, whatever work was done in it, and may be tried again.

    Such a step ends the run: a ball that was found deep in the floor. `work` and `power` are those at its start.
    """
    if A[MODE] < WARN or measure(T, A) != OK:
        return False
    most = work + DONE * h * max(power, view(T, s.ENERGY)[s.POWER], 0.0)
    rise = A[KINETIC] + A[POTENTIAL] - most - A[BALANCE]
    if rise <= max(A[SCALE], A[KINETIC] - rise) or A[TRIES] >= MOST_REFUSED:
        return False
    return try_again(A)


@helper
def count_contact(A, touching, work, step_error):
    """Before `judge`: whether something touches at the state just accepted, and what was lost in a step of contact."""
    if touching or A[TOUCHING] == 1.0:
        A[TAKEN] += max(A[BALANCE] - (A[KINETIC] + A[POTENTIAL] - work) - step_error, 0.0)
    if touching and A[TOUCHING] < 1.0:
        A[HITS] += 1.0
    A[TOUCHING] = 1.0 if touching else LEFT if A[TOUCHING] == 1.0 else 0.0


@helper
def made_by_work(A, work, step_work):
    """Part of the change of B in the step just accepted that its work alone may have made, not the bodies' energy.

    Of a rise, energy of the bodies beyond all that they had before is not, where the work does not fall by as much.
    Of a fall, as much is not as their energy changed.
    """
    held = A[KINETIC] + A[POTENTIAL]
    change = held - work - A[BALANCE]
    if change <= 0.0:
        return min(change + abs(change + step_work), 0.0)
    return max(min(change, -step_work), change - max(held - A[MOST_HELD], 0.0), 0.0)


@helper
def is_suspect(A, change, part):
    """Whether that is enough to ask what errors do to the power, in a step that is a `part` of the span."""
    if A[MODE] == OFF or A[WORKED] < A[LOOK_AT]:
        return False
    return abs(change) > min(SUSPECT, part) * A[PART] * max(A[SCALE], A[KINETIC])


@helper
def doubt_of_step(A, step_error, h):
    """Work of the step just accepted that is in doubt: its estimated error, and what errors of the motion change.

    A stiff drive in a force of a user is an example. It holds a body where it should be within the tolerance, by a
    force that is any number times that error; its power is as wrong, although the motion is right. A conservative
    spring has no such doubt, since its energy is quadratic in the error.
    """
    return BOTH_ENDS * h * A[UNCERTAIN] * sqrt(A[KINETIC]) + step_error


@helper
def judge(A, work, step_work, step_doubt, work_error, t):
    """Count the state just accepted, with the work up to it, in its step, and how much of that is in doubt, and the
    error of the work; whether the run is to end."""
    A[FRESH] = 0.0
    if A[MODE] == OFF:
        return False
    excused = max(min(made_by_work(A, work, step_work), step_doubt), -step_doubt)
    A[EXCHANGED] += max(abs(step_work) - abs(excused), 0.0)
    A[DOUBTED] += step_doubt
    A[TRIES] = max(A[TRIES] - 1.0, 0.0)
    raw = A[KINETIC] + A[POTENTIAL] - work
    if A[BALANCE] - raw <= max(A[SCALE], A[KINETIC]):  # else a leap into a singular potential
        A[LOWEST] = min(A[LOWEST], A[POTENTIAL])
    A[HIGHEST] = max(A[HIGHEST], A[POTENTIAL])
    A[MOST_HELD] = max(A[MOST_HELD], A[KINETIC] + A[POTENTIAL])
    A[EXCUSED] += excused
    A[VAGUE] += abs(excused)
    balance = raw - A[EXCUSED]
    A[GAIN_RAW] = max(A[GAIN_RAW], raw - A[LEAST_RAW])
    A[LEAST_RAW] = min(A[LEAST_RAW], raw)
    gain = balance - A[LEAST]
    if gain > A[GAIN]:
        A[GAIN] = gain
        A[WHEN] = t
    A[SCALE] = max(A[SCALE], max(A[KINETIC], A[HIGHEST] - A[LOWEST], A[EXCHANGED]) - max(gain, 0.0))
    A[SCALE] = max(A[SCALE], ROUNDING * abs(A[POTENTIAL]))
    A[LOSS] = max(A[LOSS], A[MOST] - balance)
    A[LEAST] = min(A[LEAST], balance)
    A[MOST] = max(A[MOST], balance)
    A[BALANCE] = raw
    return A[MODE] == FAIL and not gain <= A[SCALE] + work_error + A[DOUBTED]  # also catches NaN


@helper
def gains_too_fast(A, passed, work_error):
    """Whether a run gains more than its share of what it may, with this part of the span behind it.

    Steps of which each keeps its error within the tolerance may still gain energy one after the other, in tens of
    thousands of them more than the motion has; or lose it, which counts in part if no damping is wanted. Gains that are
    excused count here: smaller tolerances leave less in doubt.
    """
    if A[MODE] < WARN or A[STRICT] >= MOST_STRICT:
        return False
    allowed = A[PART] * max(A[SCALE], A[EXCHANGED] + A[VAGUE] - A[GAIN_RAW])
    change = max(A[GAIN], A[GAIN_RAW], A[KEEPS] * A[LOSS])
    if change <= max((FREE + SPENT * passed) * allowed + work_error, A[CUT_AT] + APART * allowed):
        return False
    A[CUT_AT] = change
    return True


@helper
def cut_tolerances(A, tolerance, atol):
    """Smaller errors from now on, unless they would be lost in rounding; rtol is the first of `tolerance`."""
    if tolerance[0] < CUT * LEAST_RTOL:
        return
    A[STRICT] *= CUT
    tolerance[0] /= CUT
    for k in range(atol.shape[0]):
        atol[k] /= CUT
