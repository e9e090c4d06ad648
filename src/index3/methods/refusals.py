"""Trials whose error is small enough and that are not taken all the same.

They gain or lose energy, or something passed through something else between their two ends, where no force was asked:
elements tell so by the stage "passes".
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, view
from index3.methods import audit, run
from index3.methods.hermite import fill_cubic


@helper
def keep_start(T):
    """Let T's state, whose markers are placed, be the start of the next step for the stage "passes"."""
    sweep = view(T, s.SWEEP)
    if sweep.shape[0] > 0:
        sweep[s.SWEEP_H] = 0.0
        run.core(T, s.CORE_PASSES)


@helper
def part_passed(T, R):
    """The part of the step tried to try instead, because something was passed through in it; 1 if nothing was."""
    sweep = view(T, s.SWEEP)
    if sweep.shape[0] == 0:
        return 1.0
    room = 0.0
    for k in range(view(R, run.LIMITS)[run.FIRST_STATE]):
        room = max(room, run.weight(R, k))
    sweep[s.SWEEP_H], sweep[s.SWEEP_ROOM] = view(R, run.CLOCK)[run.H_TRIED], room
    sweep[s.SWEEP_SURE] = 1.0 if view(R, run.CLOCK)[run.STEP] > 0.0 else 0.0
    return sweep[s.SWEEP_PART] if run.core(T, s.CORE_PASSES) == OK else 1.0


@helper
def passes(T, R):
    """Whether the trial in T is to be tried again, up to where something touches that it passed through.

    What follows the trial takes it as one of that size: a force begins inside (`switches`).
    """
    clock = view(R, run.CLOCK)
    if clock[run.STEP] > 0.0:
        return False
    part = part_passed(T, R)
    if part >= 1.0:
        return False
    clock[run.H_TRIED] *= part
    view(R, run.AUDIT)[audit.FRESH] = 0.0
    view(R, run.COUNTS)[run.N_PASSED] += 1
    run.retry(R, 1.0)
    return True


@helper
def note_passes(T, R):
    """Of constant steps, which stay as they are: the first record that was passed through, and when."""
    clock, limits = view(R, run.CLOCK), view(R, run.LIMITS)
    if clock[run.STEP] > 0.0 and limits[run.PASSED] == 0 and part_passed(T, R) < 1.0:
        limits[run.PASSED] = int(view(T, s.SWEEP)[s.SWEEP_RECORD]) + 1
        clock[run.T_PASSED] = clock[run.T_TRIED]


DOUBT = 0.1
"""Part of the difference between Simpson's and the trapezoidal rule by which the work of a step may be off."""


@helper
def look_elsewhere(T, R):
    """Keep the end of the trial in T, to look at other states."""
    run.copy(view(R, run.TRIAL_Q), view(T, s.Q))
    run.copy(view(R, run.TRIAL_V), view(T, s.V))


@helper
def return_to_trial(T, R):
    """T is at the end of the trial again, with its forces."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_TRIED]
    run.copy(view(T, s.Q), view(R, run.TRIAL_Q))
    run.copy(view(T, s.V), view(R, run.TRIAL_V))
    run.evaluate_forces(T, R)


@helper
def would_touch(T, R):
    """Whether something touches at the end of the trial in T if the last state goes on as it does; T stays as it is.

    The end of a step may be beside a contact that turned the motion inside it.
    """
    look_elsewhere(T, R)
    touching = run.extrapolate(T, R, view(R, run.CLOCK)[run.H_TRIED]) == OK and audit.touches(T)
    return_to_trial(T, R)
    return touching


@helper
def work_of_trial(T, R):
    """Bounds of the work up to the end of the trial in T, with the power in its middle too; T stays as it is."""
    h, work, energy = view(R, run.CLOCK)[run.H_TRIED], view(R, run.WORK), view(T, s.ENERGY)
    start, end = work[run.POWER_NEW], energy[s.POWER]
    look_elsewhere(T, R)
    q0, v0, q1, v1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.TRIAL_Q), view(R, run.TRIAL_V)
    fill_cubic(0.5, h, q0, v0, q1, v1, view(T, s.Q), view(T, s.V))
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_TRIED] - 0.5 * h
    known = run.evaluate_forces(T, R) == OK and run.core(T, s.CORE_POWER) == OK
    middle = energy[s.POWER] if known else 0.5 * (start + end)
    return_to_trial(T, R)
    energy[s.POWER] = end
    done = work[run.WORK_NEW] + h / 6.0 * (start + 4.0 * middle + end)
    doubt = DOUBT * h / 3.0 * abs(start - 2.0 * middle + end)
    return done - doubt, done + doubt


@helper
def spoils_impact(T, R):
    """Whether the trial in T, just measured, loses or gains too much for a step of contact, and may be tried again.

    Work in it is between what the powers at its ends could do. Where that may hide a loss, because the mean of these
    powers leaves one, the middle is asked too.
    """
    watched, work, done = view(R, run.AUDIT), view(R, run.WORK), view(R, run.WORK)[run.WORK_NEW]
    if view(T, s.SWITCH).shape[0] == 0 or watched[audit.MODE] < audit.WARN:
        return False
    start = end = 0.0
    if view(R, run.LIMITS)[run.TRACK_WORK] != 0:
        h = view(R, run.CLOCK)[run.H_TRIED]
        start, end = h * work[run.POWER_NEW], h * view(T, s.ENERGY)[s.POWER]
    mean = done + 0.5 * (start + end)
    if not audit.changes_much(watched, mean, mean):
        return False
    touched, touching = watched[audit.TOUCHING] > 0.0, audit.touches(T)
    if audit.changes_much(watched, done + min(start, end, 0.0), done + max(start, end, 0.0)):
        return (touched or touching or would_touch(T, R)) and audit.try_again(watched)
    if not (touched or touching):
        return False
    least, most = work_of_trial(T, R)
    return audit.changes_much(watched, least, most) and audit.try_again(watched)


@helper
def gains_too_much(T, R):
    """Whether the trial in T, where the forces were just evaluated, is to be tried again because it gains energy.

    Where something does work, its work in a step is known once the step is accepted; until then, it is taken as the
    larger of the powers at both ends could do it, and a trial is refused that would end the run all the same.
    """
    watched, work = view(R, run.AUDIT), view(R, run.WORK)
    if view(R, run.LIMITS)[run.TRACK_WORK] == 0:
        again = audit.gains_too_much(T, watched, work[run.WORK_NEW])
    else:
        again = audit.doubles_energy(
            T, watched, work[run.WORK_NEW], work[run.POWER_NEW], view(R, run.CLOCK)[run.H_TRIED]
        )
    if not again and not spoils_impact(T, R):
        return False
    view(R, run.COUNTS)[run.N_GAINED] += 1
    run.retry(R, 0.5)
    return True


@helper
def is_refused(T, R):
    """Whether the trial in T, where the forces were just evaluated and whose error is allowed, is to be tried again."""
    return passes(T, R) or gains_too_much(T, R)
