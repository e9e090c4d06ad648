"""Work of what is not conservative: the integral of its power over the accepted steps.

The power is known at the ends of the steps, because the forces were evaluated there. Such a node costs nothing, so the
work of a step is the integral of the polynomial through its ends and some nodes before it; the part that the last of
them adds estimates the error. Where that is more than allowed (a step far longer than the ones before, a force that
begins or ends to act) nodes inside the step are added one by one, each in the middle of the worst piece. Where it is
not, but coordinates move on otherwise than their rates tell, one node tells what that changes, in the next few steps
too if they are alike (`foresight`). Beyond the first few
there are never more of them than steps; what they cannot mend is in the estimated error of the work.
Methods that sum up the work of a step by themselves are compared with the nodes (`finish_own`, `finish_measured`).
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import audit, foresight, run
from index3.methods.power_doubt import look_for_doubt
from index3.methods.power_nodes import add_pieces, add_simpson, divisible, open_node, piece, recount, simpson_error
from index3.methods.power_states import must_solve, power_alone, power_at_end, power_from_forces, return_to_end

GRANT = 20
"""Evaluations that a run has before its steps allow any, one each."""
URGENT, LARGE = 1e-3, 20.0
"""Error of a step, as a part of the whole work, from which on reactions are solved for, which takes as long as one to
three steps; and, in rtol times the whole, from which on a step gets more than one node: a force switches in it."""
TOLERATED, ALONE = 4.0, 0.02
"""Estimated error of a step that is left alone, in rtol times its integral of |power|; and of all steps in which little
is done, added up, in rtol times the whole. The power is no smoother than the motion, whose errors are some rtol."""
LITTLE = 1e-3
"""Part of the kinetic energy beside which work is nothing: where nothing works, the power is rounding. And part of the
whole that is little for a step."""
BELIEVED = 4.0
"""Work of a step by reactions solved for inside it, in mean |power| of its ends, up to which it is believed: where a
step is far longer than the periods of what vibrates, states of dense output are none of the motion, and their reactions
may be any."""
PREFERRED = 100.0
"""A Runge-Kutta method's own account of a step counts unless the one by nodes is this much more certain of itself than
the two differ: it is as accurate as the motion, but for a force that acts for a part of the step only."""
EXCESS = 0.25
"""Part of the slip by which Simpson's rule is wrong with rates of dense output of degree 5: 2/3 of 30/16, less 1."""
LOOSE, PACE, LEAST, KEPT, MOST_GROWTH, SHORTEST = 20.0, 0.8, 0.5, 1.5, 2.0, 1e-6
"""Where drives leave no freedom: estimated error of a step by its ends, times the one left alone, for which steps are
chosen (true ones are some hundred times smaller); part of the step that this allows which is tried; the next step at
least; growth up to which a step is kept, and at most; and part of the span below which no step is asked for."""
ROUGH, SURER = 0.02, 10.0
"""Part of the integral of |power| of a step by which the two accounts differ if a force begins or ends to act in it,
and how many times the error of the one by nodes their difference is, to be believed."""


@helper
def scale(T, R):
    """What errors of the work are measured by: the integral of |power| so far."""
    return view(R, run.WORK)[run.WORK_SIZE] + LITTLE * view(T, s.ENERGY)[s.KINETIC]


@helper
def affordable(R):
    """Whether one more node may be spent."""
    return view(R, run.COUNTS)[run.N_WORK] < GRANT + view(R, run.COUNTS)[run.N_STEPS]


@helper
def large(T, R):
    """Error of a step from which on it gets more than one node: more, the fewer nodes may still be spent."""
    left = GRANT + view(R, run.COUNTS)[run.N_STEPS] - view(R, run.COUNTS)[run.N_WORK]
    return LARGE * view(R, run.TOLERANCE)[run.RTOL] * scale(T, R) * max(1.0, GRANT / max(left, 1)) ** 2


@helper
def insert_node(T, R, i, first, solve, alone):
    """A node in the middle of the piece from node i; whether it is the first, for Simpson's rule.

    States of dense output may be where a user's function has no value, such as the root of what is nearly zero: then
    the node tells nothing, and the work of the piece is in doubt. The ends of the step are what counts for a run.
    """
    t = open_node(R, i)
    code = power_alone(T, R, t, first) if alone else power_from_forces(T, R, t, first, solve)
    times, power = view(R, run.NODE_T), view(R, run.NODE_POWER)
    if code != OK:
        power[i + 1] = 0.5 * (power[i] + power[i + 2])
        view(R, run.WORK)[run.WORK_ERROR] += (times[i + 2] - times[i]) * max(abs(power[i]), abs(power[i + 2]))
    else:
        power[i + 1] = view(T, s.ENERGY)[s.POWER]


@helper
def slip(R):
    """Part of the step by which the coordinates of dense output move on otherwise than their rates do at its ends.

    Formulas of low order have errors in q and v that are not those of each other. Nodes at the ends of steps know v
    alone, and steps one after the other err to the same side.
    """
    q0, v0, a0 = view(R, run.OLD_Q), view(R, run.OLD_V), view(R, run.OLD_A)
    q1, v1, a1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    h, apart, way = view(R, run.CLOCK)[run.T_NEW] - view(R, run.CLOCK)[run.T_OLD], 0.0, 0.0
    for k in range(q0.shape[0]):
        w, mean = run.weight(R, k), 0.5 * h * (v0[k] + v1[k])
        apart += ((q1[k] - q0[k] - mean - h * h / 12.0 * (a0[k] - a1[k])) / w) ** 2
        way += (mean / w) ** 2
    return (apart / way) ** 0.5 if way > apart else 1.0 if way > 0.0 else 0.0


@helper
def limit_next(T, R, size):
    """Let the next step be so short that the ends of steps tell the power of the drives, if these leave no freedom.

    Nothing else limits the steps then: coordinates follow from the constraints, without an error. A step is kept unless
    the next should be shorter or much longer, and so are factorisations.
    """
    clock = view(R, run.CLOCK)
    h = clock[run.T_NEW] - clock[run.T_OLD]
    _, error, _ = piece(R, view(R, run.NODES)[run.NODE_OLD])
    allowed = LOOSE * TOLERATED * view(R, run.TOLERANCE)[run.RTOL] * max(size, ALONE * scale(T, R))
    factor = PACE * (allowed / error) ** 0.2 if error > 0.0 else MOST_GROWTH
    factor = min(factor, MOST_GROWTH) if factor > KEPT else max(min(factor, 1.0), LEAST)
    clock[run.H_WORK] = max(h * factor, SHORTEST * (clock[run.T_END] - clock[run.T_START]))


@helper
def finish(R, done, error):
    """The step's work and its error are known."""
    view(R, run.WORK)[run.WORK_ERROR] += error
    run.finish_account(R, done, view(R, run.WORK)[run.POWER_NEW])


@helper
def own_doubt(R, size, cautious, allowed):
    """Error of a Runge-Kutta method's own account of the step: the difference to its second formula.

    Formulas of one method may agree about a power that jumps, if a single stage sees it. Nodes have nothing in common
    with them but the ends of the step: where the two accounts are far from each other, their difference counts, and so
    it does where the formulas differ by more than is allowed and nodes are far more certain of themselves.
    """
    work, last = view(R, run.WORK), view(R, run.NODES)[run.NODE_NEW]
    apart = abs(work[run.WORK_OLD] + work[run.WORK_STEP] - view(R, run.NODE_WORK)[last])
    if apart > ROUGH * size or (work[run.WORK_DOUBT] > allowed and apart > SURER * cautious):
        return apart
    return min(apart, work[run.WORK_DOUBT])


@helper
def finish_own(T, R, size, allowed, alone):
    """Work of a step by a Runge-Kutta method's own account, or by nodes where they are far more certain."""
    work, nodes = view(R, run.WORK), view(R, run.NODES)
    error, cautious, worst = add_pieces(R)
    trusted, doubts = must_solve(R), own_doubt(R, size, cautious, allowed)  # stages have reactions of their own
    while not trusted and min(error, doubts) > allowed and affordable(R) and divisible(R, worst):
        insert_node(T, R, worst, False, False, alone)
        error, cautious, worst = add_pieces(R)
        doubts = own_doubt(R, size, cautious, allowed)
    if trusted or doubts < PREFERRED * cautious:
        nodes[run.OWN_ROWS] = 1
        finish(R, work[run.WORK_OLD] + work[run.WORK_STEP], doubts)
    else:
        finish(R, view(R, run.NODE_WORK)[nodes[run.NODE_NEW]], cautious if error > allowed else error)


@helper
def refine(T, R, allowed, error, cautious, worst, solve, alone):
    """Nodes in a step, as many as may be spent, until its error is no more than that; error, and a cautious one."""
    least = max(allowed, URGENT * scale(T, R) if solve else large(T, R))
    while error > least and affordable(R) and divisible(R, worst):
        insert_node(T, R, worst, False, solve, alone)
        error, cautious, worst = add_pieces(R)
    return error, cautious


@helper
def finish_foreseen(T, R, size, allowed):
    """Work of a step by a middle foreseen from the steps before; False if that is in doubt, and nothing is done."""
    doubt = foresight.open_middle(R, allowed)
    if doubt < 0.0:
        return False
    add_simpson(R)
    error, unsolved, _ = simpson_error(T, R)
    if unsolved > max(allowed, large(T, R)) or error > max(allowed, foresight.usual_error(R, size)):
        foresight.close_middle(R)
        return False
    view(R, run.WORK)[run.FORESEEN] -= 1.0
    finish(R, view(R, run.NODE_WORK)[view(R, run.NODES)[run.NODE_NEW]], error + doubt)
    return True


@helper
def finish_by_nodes(T, R, size, allowed, alone):
    """Work of a step by nodes: one inside if need be, and more where a force switches, as many as may be spent."""
    nodes, solve, first = view(R, run.NODES), must_solve(R), view(R, run.NODES)[run.NODE_OLD]
    blind = view(R, run.LINK)[run.LINK_ACCELERATE] != 0 and not solve  # reactions inside would be those of the ends
    if solve and view(R, run.LIMITS)[run.ALL_DRIVEN] == 1:
        limit_next(T, R, size)
    may = not solve and not blind and affordable(R) and divisible(R, first)
    slipped, error, cautious = size * slip(R), 0.0, 0.0
    if may and finish_foreseen(T, R, size, allowed):
        return
    view(R, run.WORK)[run.FORESEEN] = 0.0
    if not may or slipped <= allowed:
        error, cautious, worst = add_pieces(R)
    if may and error + slipped > allowed:
        insert_node(T, R, first, True, False, alone)
        slipped = 0.0
        add_simpson(R)
        error, unsolved, worst = simpson_error(T, R)
        cautious = error
        if unsolved > max(allowed, large(T, R)):
            error = cautious = max(error, unsolved)
        else:
            foresight.note_middle(R, size, error)
    if not blind:
        error, cautious = refine(T, R, allowed, error, cautious, worst, solve, alone)
    before, done = view(R, run.WORK)[run.WORK_OLD], view(R, run.NODE_WORK)[nodes[run.NODE_NEW]]
    believed = min(max(done, before - BELIEVED * size), before + BELIEVED * size) if solve else done
    late = recount(R, believed - before) if solve or blind else 0.0
    finish(R, believed + late, (cautious if error > allowed else error) + slipped + abs(done - believed))


@helper
def finish_measured(T, R, size, allowed, alone):
    """Work of a step whose method knows the power in its middle, with rates of dense output of degree 5."""
    nodes, doubtful, first = view(R, run.NODES), 0.0, view(R, run.NODES)[run.NODE_OLD]
    reactions = view(R, run.LINK)[run.LINK_ACCELERATE] != 0  # those in the middle are the mean of those at the ends
    excess = EXCESS * size * slip(R)
    if excess > allowed and not reactions:
        finish_by_nodes(T, R, size, allowed, alone)
        return
    if reactions:
        _, doubtful, _ = add_pieces(R)
    open_node(R, first)
    view(R, run.NODE_POWER)[first + 1] = view(R, run.WORK)[run.POWER_MIDDLE]
    add_simpson(R)
    error, unsolved, worst = simpson_error(T, R)
    if not reactions and unsolved > large(T, R):
        error, _ = refine(T, R, 0.0, unsolved, unsolved, worst, False, alone)
    finish(R, view(R, run.NODE_WORK)[nodes[run.NODE_NEW]], max(error + excess, doubtful))


@helper
def add_step(T, R, alone):
    """Work of the last accepted step, whose nodes are open; T stands at the new state, its ENERGY is known."""
    clock, work, how = view(R, run.CLOCK), view(R, run.WORK), view(R, run.LIMITS)[run.TRACK_WORK]
    spent = view(R, run.COUNTS)[run.N_WORK]
    power = power_at_end(T, R)
    run.finish_account(R, work[run.WORK_OLD], power)
    h = clock[run.T_NEW] - clock[run.T_OLD]
    size = 0.5 * h * (abs(work[run.POWER_OLD]) + abs(power))
    work[run.WORK_SIZE] += size
    part, before = TOLERATED * view(R, run.TOLERANCE)[run.RTOL], work[run.WORK_ERROR]
    allowed, most = part * size, part * scale(T, R)
    if size <= LITTLE * scale(T, R):
        allowed = max(allowed, min(most - work[run.WORK_LEFT], ALONE * most))
    if how == run.OWN_WORK and not must_solve(R):
        finish_measured(T, R, size, allowed, alone)
    elif how == run.OWN:
        finish_own(T, R, size, allowed, alone)
    else:
        finish_by_nodes(T, R, size, allowed, alone)
    A = view(R, run.AUDIT)
    A[audit.WORKED] += 1.0
    change = audit.made_by_work(A, work[run.WORK_NEW], work[run.WORK_NEW] - work[run.WORK_OLD])
    part = h / (clock[run.T_END] - clock[run.T_START])
    if audit.is_suspect(A, change, part):
        return_to_end(T, R)
        look_for_doubt(T, R, power, alone)
    if view(R, run.COUNTS)[run.N_WORK] > spent:
        return_to_end(T, R)
    else:
        work[run.WORK_LEFT] += work[run.WORK_ERROR] - before
    return OK


@kernel
def add_work(T, R):
    """Work of the last accepted step, with a whole evaluation of the forces at each node."""
    return add_step(T, R, False)


@kernel
def add_work_alone(T, R):
    """The same where no reaction works: poses of markers, and the forces whose power does not follow from these."""
    return add_step(T, R, True)
