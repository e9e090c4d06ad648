"""The power at states of a step: at its end, and at nodes inside, where T stands on the dense output.

It follows from poses and velocities and from what users' functions say; where a reaction works, from that as well.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, view
from index3.methods import run
from index3.methods.hermite import fill_middle


@helper
def place(T, R, t, first):
    """Put T's state at a time of the last accepted step.

    The first node is in its middle, for Simpson's rule, and gets the rates by which that rule gives the way of the
    step: those of dense output of degree 3. With those of degree 5 an error in q alone would count too much.
    """
    clock, q, v = view(R, run.CLOCK), view(T, s.Q), view(T, s.V)
    view(T, s.TIME)[0] = t
    if first:
        h, quintic = clock[run.T_NEW] - clock[run.T_OLD], view(R, run.LIMITS)[run.QUINTIC] >= 1
        q0, v0, a0 = view(R, run.OLD_Q), view(R, run.OLD_V), view(R, run.OLD_A)
        q1, v1, a1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
        fill_middle(h, q0, v0, a0, q1, v1, a1, run.allowed(R), quintic, q, v)
    else:
        run.interpolate(R, t, q, v)
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    view(R, run.COUNTS)[run.N_WORK] += 1


@helper
def power_alone(T, R, t, first):
    """Power at a time of the last accepted step, if no reaction works: no rows, and forces as far as they work."""
    place(T, R, t, first)
    code = run.core(T, s.CORE_WORKING)
    if code == OK:
        code = run.core(T, s.CORE_POWER)
    return code if code != OK or abs(view(T, s.ENERGY)[s.POWER]) < np.inf else run.EVALUATION_FAILED


@helper
def solved_power(T, R):
    """Power at T's state with the reactions that belong to it, which forces are asked for again only if they read."""
    code = call(view(R, run.LINK)[run.LINK_ACCELERATE], T, view(R, run.LINK)[run.LINK_PROJECTOR])
    if code == OK and view(T, s.A_NOW).shape[0] + view(T, s.ROW_R).shape[0] > 0:
        code = run.core(T, s.CORE_FORCES)
    return run.core(T, s.CORE_POWER) if code == OK else code


@helper
def power_from_forces(T, R, t, first, solve):
    """Power at a time of the last accepted step; accelerations and reactions solved for, or from those at its ends."""
    clock, a, lam = view(R, run.CLOCK), view(T, s.A), view(T, s.LAM)
    a0, a1, lam0, lam1 = view(R, run.OLD_A), view(R, run.NEW_A), view(R, run.OLD_LAM), view(R, run.NEW_LAM)
    x = (t - clock[run.T_OLD]) / (clock[run.T_NEW] - clock[run.T_OLD])
    place(T, R, t, first)
    for k in range(a.shape[0]):
        a[k] = (1.0 - x) * a0[k] + x * a1[k]
    for k in range(lam.shape[0]):
        lam[k] = (1.0 - x) * lam0[k] + x * lam1[k]
    if solve:
        return solved_power(T, R)
    code = run.core(T, s.CORE_FORCES)
    return run.core(T, s.CORE_POWER) if code == OK else code


@helper
def return_to_end(T, R):
    """T's state is the new one again."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(R, run.NEW_Q))
    run.copy(view(T, s.V), view(R, run.NEW_V))
    run.copy(view(T, s.A), view(R, run.NEW_A))
    run.copy(view(T, s.LAM), view(R, run.NEW_LAM))


@helper
def must_solve(R):
    """Whether a node needs the reactions of its state: the power depends on them, and those at the ends are true ones.

    Linear in the step they would be off by h^2/8 of their second derivative, and more nodes would not mend that. Where
    those at the ends are off by parts of a thousand, to both sides in turn, a true one between them spoils the balance.
    """
    limits = view(R, run.LIMITS)
    rough = limits[run.QUINTIC] == 0 or limits[run.ROUGH_LAM] == 1 or limits[run.TRACK_WORK] == run.OWN_WORK
    return (not rough or limits[run.ALL_DRIVEN] == 1) and view(R, run.LINK)[run.LINK_ACCELERATE] != 0


@helper
def power_at_end(T, R):
    """Power at the new state, where T stands.

    Reactions of methods of index 3 are two orders below positions. Where drives leave no freedom nearly all work is
    theirs, and others are solved for.
    """
    limits, work = view(R, run.LIMITS), view(R, run.WORK)
    own = limits[run.TRACK_WORK] == run.OWN_WORK
    power = work[run.POWER_STEP] if own else view(T, s.ENERGY)[s.POWER]
    if not must_solve(R) or not (own or limits[run.ROUGH_LAM] == 1):
        return power
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    view(R, run.COUNTS)[run.N_WORK] += 1
    return view(T, s.ENERGY)[s.POWER] if solved_power(T, R) == OK else power
