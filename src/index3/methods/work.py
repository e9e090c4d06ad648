"""Work of what is not conservative: the integral of its power over the accepted steps.

The power is known at the ends of the steps, because the forces were evaluated there. Such a node costs nothing, so the
work of a step is the integral of the polynomial through its ends and some nodes before it; the part that the last of
them adds estimates the error. Where that is more than allowed (a step far longer than the ones before, a force that
begins or ends to act) nodes inside the step are added one by one, each in the middle of the worst piece. Beyond
the first few there are never more of them than steps; what they cannot mend is in the estimated error of the work.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.methods import run

GAUSS = 0.15**0.5
"""Distance of the outer points of Gauss's rule of three from the middle."""
CLOSE = 0.08
"""Nodes nearer to the next than this part of a piece are no help for it: their rounding would be multiplied."""
GRANT, KEPT, URGENT = 20, 0.25, 1e-3
"""Evaluations that a run has before its steps allow any; the part of what they allow that is left for errors above this
part of the work, lest a switching force find none."""
DEAR = 25
"""Steps for each node whose reactions are solved for, unless the error is above URGENT: such a node takes as long as
two or three steps of a BDF, and work is to take a tenth of a run at most."""
TOLERATED = 4.0
"""Estimated error of a step that is left alone, in rtol times its integral of |power|, or times its share of the whole:
twice that in all. The power is no smoother than the motion, whose errors are some rtol."""
LITTLE = 1e-3
"""Part of the kinetic energy beside which work is nothing: where nothing works, the power is rounding."""
CAUTION = 10.0
"""Times the estimate by the fourth difference that is taken for the error of Simpson's rule: dense output has
derivatives of its own inside a step, and a force may switch anywhere in it."""
UNKNOWN = 1e300
PREFERRED = 100.0
"""A Runge-Kutta method's own account of a step counts unless the one by nodes is this much more certain of itself than
the two differ: it is as accurate as the motion, but for a force that acts for a part of the step only."""


@helper
def next_node(t, i, a, b, first, last):
    """The nearer of the nodes beside a..b, around the piece from node i, that is of use; -1 if there is none."""
    least = CLOSE * (t[i + 1] - t[i])
    left = a > first and t[a] - t[max(a - 1, 0)] >= least
    right = b < last and t[min(b + 1, last)] - t[b] >= least
    if left and (not right or t[i] - t[a - 1] <= t[b + 1] - t[i + 1]):
        return a - 1
    return b + 1 if right else -1


@helper
def differences(R, i):
    """Newton's polynomial through nodes i, i + 1 and others around: its coefficients in NEWTON, and their number.

    With one node inside the step, those of other steps are left out: accelerations of dense output jump between steps.
    """
    t, power, nodes = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODES)
    last, first = nodes[run.NODE_NEW], nodes[run.NODE_OLD] if nodes[run.NODE_NEW] == nodes[run.NODE_OLD] + 2 else 0
    x, c, h, a, b = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1], t[i + 1] - t[i], i, i + 1
    x[0], x[1], c[0], c[1] = 0.0, 1.0, power[i], power[i + 1] - power[i]
    for m in range(2, run.STENCIL):
        k = next_node(t, i, a, b, first, last)
        if k < 0:
            return m
        a, b = min(a, k), max(b, k)
        x[m] = (t[k] - t[i]) / h
        rest, product = power[k], 1.0
        for j in range(m):
            rest -= c[j] * product
            product *= x[m] - x[j]
        c[m] = rest / product
    return run.STENCIL


@helper
def shrink(c, count):
    """Whether differences of higher order are smaller, as those of a smooth function are."""
    scale, before, least = 1.0, 0.0, 0.0
    for m in range(1, count):
        scale *= m
        size = scale * abs(c[m])
        if m >= 3 and size > max(before, least):
            return False
        before, least = size, before
    return True


@helper
def piece(R, i):
    """Work from node i to the next, its error by the last difference, and by the last two, for the cautious.

    Where differences do not shrink a force switches: the mean power is then kept between those at the ends, and what
    the first two differences add is in doubt.
    """
    h, count = view(R, run.NODE_T)[i + 1] - view(R, run.NODE_T)[i], differences(R, i)
    x, c = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1]
    start, end = c[0], c[0] + c[1]
    if start == 0.0 and end == 0.0:  # nothing acts
        return 0.0, 0.0, 0.0
    mean, term, before, most, early, middle, late = start, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0
    for m in range(1, count):
        early *= 0.5 - GAUSS - x[m - 1]
        middle *= 0.5 - x[m - 1]
        late *= 0.5 + GAUSS - x[m - 1]
        before, term = abs(term), c[m] * (5.0 * (early + late) + 8.0 * middle) / 18.0
        mean += term
        if m <= 2:
            most = max(most, abs(term))
    if shrink(c, count):
        return h * mean, h * abs(term), h * max(before, abs(term))
    return h * min(max(mean, min(start, end)), max(start, end)), h * most, h * most


@helper
def add_pieces(R):
    """NODE_WORK of the step's nodes; the sums of both estimated errors, and the first node of the worst piece."""
    nodes, done = view(R, run.NODES), view(R, run.NODE_WORK)
    error, cautious, most, worst = 0.0, 0.0, -1.0, nodes[run.NODE_OLD]
    for i in range(nodes[run.NODE_OLD], nodes[run.NODE_NEW]):
        work, wrong, doubtful = piece(R, i)
        done[i + 1] = done[i] + work
        error += wrong
        cautious += doubtful
        if wrong > most:
            most, worst = wrong, i
    return error, cautious, worst


@helper
def simpson_error(R):
    """Error of Simpson's rule, which the work of a step with one node inside is.

    Two estimates: by the fourth difference of the power, over the step and two nodes before it, and by the square of
    what the node in the middle has changed, for the error of the trapezoidal rule is of half the order. The first one
    sees a force that switches, the second one a motion whose dense output has kinks between steps. Neither can be more
    than that change.
    """
    t, power, middle = view(R, run.NODE_T), view(R, run.NODE_POWER), view(R, run.NODES)[run.NODE_OLD] + 1
    a, m, b = power[middle - 1], power[middle], power[middle + 1]
    h = t[middle + 1] - t[middle - 1]
    change, size = h * abs(a - 2.0 * m + b) / 3.0, h * max(abs(a), abs(m), abs(b))
    if change == 0.0 or middle < 3:
        return change
    x, c = view(R, run.NEWTON)[0], view(R, run.NEWTON)[1]
    for k in range(5):
        x[k], c[k] = (t[middle - 3 + k] - t[middle]) / h, power[middle - 3 + k]
    for j in range(1, 5):
        for k in range(4, j - 1, -1):
            c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - j])
    return min(change, max(CAUTION * h * abs(c[4]) / 120.0, change * change / size))


@helper
def place(T, R, t):
    """Put T's state at a time of the last accepted step."""
    view(T, s.TIME)[0] = t
    run.interpolate(R, t, view(T, s.Q), view(T, s.V))
    view(R, run.COUNTS)[run.N_EVALUATIONS] += 1
    view(R, run.COUNTS)[run.N_WORK] += 1


@helper
def power_from_poses(T, R, t):
    """ENERGY at a time of the last accepted step, where the power needs poses and twists of markers alone."""
    place(T, R, t)
    code = run.core(T, s.CORE_POSES)
    if code == OK:
        code = run.core(T, s.CORE_ENERGY)
    return code if code != OK or abs(view(T, s.ENERGY)[s.POWER]) < run.HUGE else run.EVALUATION_FAILED


@helper
def power_at(T, R, t, solve):
    """ENERGY at a time of the last accepted step; accelerations and reactions solved for, or from those at its ends."""
    clock, a, lam = view(R, run.CLOCK), view(T, s.A), view(T, s.LAM)
    a0, a1, lam0, lam1 = view(R, run.OLD_A), view(R, run.NEW_A), view(R, run.OLD_LAM), view(R, run.NEW_LAM)
    x = (t - clock[run.T_OLD]) / (clock[run.T_NEW] - clock[run.T_OLD])
    place(T, R, t)
    for k in range(a.shape[0]):
        a[k] = (1.0 - x) * a0[k] + x * a1[k]
    for k in range(lam.shape[0]):
        lam[k] = (1.0 - x) * lam0[k] + x * lam1[k]
    code = call(view(R, run.LINK)[run.LINK_ACCELERATE], T, view(R, run.LINK)[run.LINK_PROJECTOR]) if solve else OK
    if code == OK:
        code = run.core(T, s.CORE_FORCES)
    return run.core(T, s.CORE_ENERGY) if code == OK else code


@helper
def scale(T, R):
    """What errors of the work are measured by: the integral of |power| so far."""
    return view(R, run.WORK)[run.WORK_SIZE] + LITTLE * view(T, s.ENERGY)[s.KINETIC]


@helper
def affordable(T, R, error, solve):
    """Whether one more node may be spent on an error."""
    if view(R, run.NODES)[run.NODE_NEW] == run.MOST_NODES - 1:
        return False
    steps, spent = view(R, run.COUNTS)[run.N_STEPS], view(R, run.COUNTS)[run.N_WORK] + 1
    part = 1.0 if error > URGENT * scale(T, R) else 1.0 / DEAR if solve else 1.0 - KEPT
    return spent <= part * (GRANT + steps)


@helper
def divisible(R, i):
    """Whether there is a time between node i and the next: where a force jumps, pieces shrink to roundings."""
    t = view(R, run.NODE_T)
    middle = 0.5 * (t[i] + t[i + 1])
    return t[i] < middle and middle < t[i + 1]


@helper
def insert_node(T, R, i, solve, poses_do):
    """A node in the middle of the piece from node i."""
    nodes, t, power = view(R, run.NODES), view(R, run.NODE_T), view(R, run.NODE_POWER)
    middle = 0.5 * (t[i] + t[i + 1])
    code = power_from_poses(T, R, middle) if poses_do else power_at(T, R, middle, solve)
    nodes[run.NODE_NEW] += 1
    for k in range(nodes[run.NODE_NEW], i + 1, -1):
        t[k], power[k] = t[k - 1], power[k - 1]
    t[i + 1], power[i + 1] = view(T, s.TIME)[0], view(T, s.ENERGY)[s.POWER]
    return code


@helper
def return_to_end(T, R):
    """T's state is the new one again."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(R, run.NEW_Q))
    run.copy(view(T, s.V), view(R, run.NEW_V))
    run.copy(view(T, s.A), view(R, run.NEW_A))
    run.copy(view(T, s.LAM), view(R, run.NEW_LAM))


@helper
def doubt(R):
    """How far a method's own account of the step is from that by nodes."""
    work, last = view(R, run.WORK), view(R, run.NODES)[run.NODE_NEW]
    if view(R, run.LIMITS)[run.TRACK_WORK] != run.OWN:
        return UNKNOWN
    return abs(work[run.WORK_OLD] + work[run.WORK_STEP] - view(R, run.NODE_WORK)[last])


@helper
def must_solve(R):
    """Whether a node needs the reactions of its state: the power depends on them, and those at the ends are true ones.

    Linear in the step they would be off by h^2/8 of their second derivative, and more nodes would not mend that.
    """
    return view(R, run.LINK)[run.LINK_ACCELERATE] != 0 and view(R, run.LIMITS)[run.QUINTIC] != 0


@helper
def slip(R):
    """Part of the step by which the coordinates of dense output move on otherwise than their rates do at its ends.

    Formulas of low order have errors in q and v that are not those of each other. Nodes at the ends of steps know v
    alone, and steps one after the other err to the same side.
    """
    q0, v0, a0 = view(R, run.OLD_Q), view(R, run.OLD_V), view(R, run.OLD_A)
    q1, v1, a1 = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    h, apart, way = view(R, run.CLOCK)[run.T_NEW] - view(R, run.CLOCK)[run.T_OLD], 0.0, 0.0
    if view(R, run.LIMITS)[run.QUINTIC] != 1 or view(R, run.LIMITS)[run.TRACK_WORK] == run.OWN:
        return 0.0
    for k in range(q0.shape[0]):
        w, mean = run.weight(R, k), 0.5 * h * (v0[k] + v1[k])
        apart += ((q1[k] - q0[k] - mean - h * h / 12.0 * (a0[k] - a1[k])) / w) ** 2
        way += (mean / w) ** 2
    return (apart / way) ** 0.5 if way > apart else 1.0 if way > 0.0 else 0.0


@helper
def finish_work(T, R, size, allowed, poses_do):
    """Add nodes until the work of the step is known well enough, or they cost too much; take the account less in doubt.

    A method's own account is of its order, and says nothing of its error. The two have nothing in common but the ends
    of the step, so where they agree both are right.
    """
    work, nodes, code = view(R, run.WORK), view(R, run.NODES), OK
    error, cautious, worst = add_pieces(R)
    solve = must_solve(R)
    if not solve:
        slipped = size * slip(R)
        error, cautious = error + slipped, cautious + slipped
    if error > allowed and doubt(R) == UNKNOWN and not solve and divisible(R, worst):
        # one node a step is what work may cost
        code = insert_node(T, R, worst, solve, poses_do)
        add_pieces(R)
        error = simpson_error(R)
        cautious = error
    doubts = min(error, doubt(R))
    trusted = solve and doubt(R) < UNKNOWN  # its stages have reactions of their own
    while code == OK and not trusted and doubts > allowed and affordable(T, R, doubts, solve) and divisible(R, worst):
        code = insert_node(T, R, worst, solve, poses_do)
        error, cautious, worst = add_pieces(R)
        doubts = min(error, doubt(R))
    if error > allowed:
        error = cautious
    done, own = view(R, run.NODE_WORK)[nodes[run.NODE_NEW]], doubt(R)
    if trusted or own < PREFERRED * cautious:
        error, done, nodes[run.OWN_ROWS] = own, work[run.WORK_OLD] + work[run.WORK_STEP], 1
    work[run.WORK_ERROR] += error
    run.finish_account(R, done, work[run.POWER_NEW])
    return code


@helper
def add_step(T, R, poses_do):
    """Work of the last accepted step, whose nodes are open; T stands at the new state, its ENERGY is known."""
    clock, work, power = view(R, run.CLOCK), view(R, run.WORK), view(T, s.ENERGY)[s.POWER]
    run.finish_account(R, work[run.WORK_OLD], power)
    h, spent = clock[run.T_NEW] - clock[run.T_OLD], view(R, run.COUNTS)[run.N_WORK]
    size = 0.5 * h * (abs(work[run.POWER_OLD]) + abs(power))
    work[run.WORK_SIZE] += size
    share = scale(T, R) * h / (clock[run.T_END] - clock[run.T_START])
    code = finish_work(T, R, size, TOLERATED * view(R, run.TOLERANCE)[run.RTOL] * max(size, share), poses_do)
    if view(R, run.COUNTS)[run.N_WORK] > spent:
        return_to_end(T, R)
    return code


@kernel
def add_work(T, R):
    """Work of the last accepted step, with a whole evaluation of the forces at each node."""
    return add_step(T, R, False)


@kernel
def add_work_from_poses(T, R):
    """The same where no more than the poses of markers is needed (`System.power_from_poses`): no rows, no forces."""
    return add_step(T, R, True)
