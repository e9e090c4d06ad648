"""What every method shares while it runs: the clock, the last two accepted states, tolerances, counters, output.

A method's `advance` fills the columns of output through `emit`, which interpolates between the last two accepted
states, and returns DONE, BLOCK_FULL or BUDGET, or a reason to stop early (10 and above).
"""

from __future__ import annotations

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, slots, view
from index3.linear import contract
from index3.methods import audit
from index3.methods.hermite import fill_cubic, fill_quintic, hermite, hermite_between

DONE, BLOCK_FULL, BUDGET, GO_ON = 0, 1, 2, 3
NEWTON_FAILED, STEP_TOO_SMALL, EVALUATION_FAILED, BODY_SINGULAR, NOT_FINITE, TOO_MANY_STEPS, UNSETTLED = range(10, 17)
GREW, BRANCH_LOST, GAINED = 17, 18, 19

(
    LINK, CLOCK, COUNTS, LIMITS, TOLERANCE, ATOL, LARGEST, LARGEST_V,
    OLD_Q, OLD_V, OLD_A, OLD_LAM, NEW_Q, NEW_V, NEW_A, NEW_LAM,
    WORK, NODES, NODE_T, NODE_POWER, NODE_WORK, NEWTON, AUDIT, ANGLE_OLD, BRANCH, T_EVAL, CURSOR, OUTPUT,
) = SLOTS = slots(
    link=("i8", 1),  # handles and addresses, see below
    clock=("f8", 1), counts=("i8", 1), limits=("i8", 1), tolerance=("f8", 1),
    atol=("f8", 1), largest=("f8", 1), largest_v=("f8", 1),  # absolute tolerance; largest |q|, |v| so far (states: now)
    old_q=("f8", 1), old_v=("f8", 1), old_a=("f8", 1), old_lam=("f8", 1),  # the last accepted state but one
    new_q=("f8", 1), new_v=("f8", 1), new_a=("f8", 1), new_lam=("f8", 1),  # the last accepted state
    work=("f8", 1),  # work done up to the old and new state, power there
    nodes=("i8", 1), node_t=("f8", 1), node_power=("f8", 1), node_work=("f8", 1),  # where the power is known
    newton=("f8", 2),  # places and coefficients of the polynomial through some of them
    audit=("f8", 1),  # the energy balance so far
    angle_old=("f8", 1),  # unwrapped joint angles at the old state
    branch=("f8", 2),  # of each row: the sign of its BRANCH at the start, BRANCH and rate at the last state; or empty
    t_eval=("f8", 1), cursor=("i8", 1),
    output=("i8", 1),  # the table of the columns of output
)  # fmt: skip

LINK_SOLVER, LINK_DENSE, LINK_METHOD, LINK_WORK, LINK_ACCELERATE, LINK_PROJECTOR = range(6)
"""Places in LINK: the solver's table of factors; a method's own dense output, the address of its kernel and the
method's table; the address of the kernel that adds up work, and for that the address of a kernel that finds the
multipliers of a state (0 if the power does not depend on them), and its table."""
T_OLD, T_NEW, T_END, H_NEXT, H_LAST, STEP, MAX_STEP, T_START, T_WANTED, SPEED_OLD, SPEED_NEW = range(11)
"""Places in CLOCK; STEP is the constant step, 0 if the method chooses; T_WANTED the time asked of LINK_DENSE;
SPEED_OLD and SPEED_NEW the largest ANGLE_SPEED at the last two accepted states."""
(
    N_STEPS, N_REJECTED, N_NEWTON, N_NEWTON_FAILED, N_EVALUATIONS, N_JACOBIANS, N_FACTOR, N_STAGNATED, N_STIFF,
    N_UNCLOSED, N_GAINED, N_WORK,
) = range(12)  # fmt: skip
COUNTERS = (
    "steps", "rejected", "newton", "newton_failed", "evaluations", "jacobians", "factorisations", "stagnated", "stiff",
    "unclosed", "gained", "work_evaluations",
)  # fmt: skip
BUDGET_STEPS, MAX_STEPS, TRACK_WORK, QUINTIC, FIRST_STATE, LOOK_UP, NEAR_ROW = range(7)
"""Places in LIMITS: steps until the next return, steps in all, how work is added up, whether the dense output uses
the accelerations at both ends (degree 5) or not (degree 3), or (OWN) is the method's own for lines of output; the
first coordinate that is the integral of a first-order state; 1 if Python wants to look up from the run, at the
keyboard or the clock (set by another thread or a signal); the first row that came near its other solutions, plus 1."""
OWN = 2
OWN_WORK, OWN_OUTPUT = 3, 2
"""Values of TRACK_WORK for a method that adds up the work of a step by itself, and for one that does the same in its
dense output; 1 is `work.add_work`, 0 none."""
HUGE = 1e100
"""Size of a coordinate or rate beyond which a motion runs away: its squares are still numbers, no physics is left."""
POINTS = 32  # at which BRANCH is looked at inside a step
NEAR_FOLD, AT_FOLD = 1e-2, 1e-4
"""BRANCH below which a run warns, and ends: a joint of constant velocity bent by more than 168.5 and 178.9 degrees."""
RTOL, NEWTON_TOL = range(2)
NEXT_EVAL, EVERY_STEP, PENDING = range(3)
"""Places in CURSOR: next output time, output at every step, a step whose output is open."""
(
    WORK_OLD, WORK_NEW, POWER_OLD, POWER_NEW, WORK_STEP, POWER_STEP, WORK_SIZE, WORK_ERROR, WORK_SPACE,
) = range(9)  # fmt: skip
"""Places in WORK: up to the old and the new state, power there; a method's own account of a step, with the power at its
end; integral of |power|; estimated error so far."""
NODE_OLD, NODE_NEW, OWN_ROWS, NODES_SPACE = range(4)
"""Places in NODES: numbers of the nodes at the old and the new state; whether work inside the step is the method's."""
MOST_NODES, HISTORY, STENCIL = 32, 3, 5
"""Room for nodes; nodes kept before the old state; nodes of a polynomial."""


@helper
def core(T, which):
    """Run one of the evaluator's kernels."""
    return call(view(T, s.CORE)[which], T, 0)


@helper
def copy(target, source):
    """Overwrite a vector."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@helper
def evaluate_forces(T, R):
    """Forces at the state in T, counted; OK or EVALUATION_FAILED."""
    view(R, COUNTS)[N_EVALUATIONS] += 1
    return EVALUATION_FAILED if core(T, s.CORE_FORCES) != OK else OK


@helper
def note_distance(T, S):
    """Tell a solver how far the point of its next matrix is off the constraints: what is left of the terms of a row."""
    phi, size, level, worst = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.LEVEL), 0.0
    for k in range(phi.shape[0]):
        if level[k] == 0 and abs(phi[k]) > worst * size[k]:
            worst = abs(phi[k]) / size[k] if size[k] > 0.0 else 1.0
    view(S, contract.OFF)[0] = min(worst, 1.0)


@helper
def forget_undetermined(T, S, lam):
    """Leave out of a guess of the multipliers what no force determines, or it would be carried from step to step."""
    x = view(S, contract.X)
    n = x.shape[0] - lam.shape[0]
    if view(S, contract.INFO)[contract.N_ZERO] > 0:
        copy(x[n:], lam)
        contract.determine(T, S)
        copy(lam, x[n:])


@helper
def weight(R, k):
    """The error allowed in coordinate k: atol + rtol * (largest magnitude so far); integrals of states do not count."""
    if k >= view(R, LIMITS)[FIRST_STATE]:
        return 1e200
    return view(R, ATOL)[k] + view(R, TOLERANCE)[RTOL] * view(R, LARGEST)[k]


@helper
def weight_v(R, k):
    """The error allowed in the rate of coordinate k, or in a state: atol + rtol * (magnitude of the state now)."""
    return view(R, ATOL)[k] + view(R, TOLERANCE)[RTOL] * view(R, LARGEST_V)[k]


@helper
def note_largest(R):
    """Remember the largest magnitude of every coordinate and rate; GREW if one is beyond all bounds.

    Of first-order states the present one: they may fall by many powers of ten and rise again, and what they do then
    depends on how small they were.
    """
    code, largest, largest_v, q, v = OK, view(R, LARGEST), view(R, LARGEST_V), view(R, NEW_Q), view(R, NEW_V)
    first = view(R, LIMITS)[FIRST_STATE]
    for k in range(q.shape[0]):
        largest[k] = max(largest[k], abs(q[k]))
        largest_v[k] = max(largest_v[k], abs(v[k])) if k < first else abs(v[k])
        if largest[k] > HUGE or largest_v[k] > HUGE:
            code = GREW
    return code


@helper
def interpolate(R, t, q, v):
    """q and v at a time between the last two accepted states, by q and v at both, and by a too if QUINTIC is set."""
    clock = view(R, CLOCK)
    h = clock[T_NEW] - clock[T_OLD]
    x = (t - clock[T_OLD]) / h
    q0, v0, q1, v1 = view(R, OLD_Q), view(R, OLD_V), view(R, NEW_Q), view(R, NEW_V)
    if view(R, LIMITS)[QUINTIC] >= 1:
        fill_quintic(x, h, q0, v0, view(R, OLD_A), q1, v1, view(R, NEW_A), q, v)
    else:
        fill_cubic(x, h, q0, v0, q1, v1, q, v)


@helper
def output_state(T, R, t, q, v):
    """q and v for a line of output: the method's own dense output if it has one (may move T), else `interpolate`."""
    if view(R, LIMITS)[QUINTIC] == OWN:
        link = view(R, LINK)
        view(R, CLOCK)[T_WANTED] = t
        if call(link[LINK_DENSE], T, link[LINK_METHOD]) == OK:
            copy(q, view(T, s.Q))
            copy(v, view(T, s.V))
            return
    interpolate(R, t, q, v)


@helper
def follow_angles(T, R, t):
    """Carry ANGLE_REF from the start of the last accepted step to near t, so that no turn is lost on the way.

    A step may hold several turns (a body spins at a constant rate without error). It is followed in pieces in which the
    two sides of a joint turn against each other by at most 0.5 rad, at the faster of their speeds at both ends of the
    step: far below the half turn that would be mistaken. Returns their number, usually 0, in which case nothing has
    moved; else t, q and v are left at the last of them.
    """
    clock, near = view(R, CLOCK), view(T, s.ANGLE_REF)
    count = int(min(2.0 * max(clock[SPEED_OLD], clock[SPEED_NEW]) * (t - clock[T_OLD]), 1e6))
    for k in range(1, count + 1):
        view(T, s.TIME)[0] = clock[T_OLD] + (t - clock[T_OLD]) * k / (count + 1)
        interpolate(R, view(T, s.TIME)[0], view(T, s.Q), view(T, s.V))
        core(T, s.CORE_POSES)
        core(T, s.CORE_ANGLES)
        copy(near, view(T, s.ANGLES))
    return count


@helper
def write_line(T, R, C, line, t):
    """One line of output at a time in the last accepted step; a step's end is not interpolated."""
    clock, work, places = view(R, CLOCK), view(R, WORK), view(C, columns.PLACES)
    q, v, a = view(C, columns.Q)[line], view(C, columns.V)[line], view(C, columns.A)[line]
    lam, out_work, out_angle = view(C, columns.LAM)[line], view(C, columns.WORK), view(C, columns.ANGLE)[line]
    a0, a1, lam0, lam1 = view(R, OLD_A), view(R, NEW_A), view(R, OLD_LAM), view(R, NEW_LAM)
    view(C, columns.T)[line] = t
    x = 1.0
    if t == clock[T_NEW]:
        copy(q, view(R, NEW_Q))
        copy(v, view(R, NEW_V))
        out_work[line] = work[WORK_NEW]
    else:
        h = clock[T_NEW] - clock[T_OLD]
        x = (t - clock[T_OLD]) / h
        output_state(T, R, t, q, v)
        if view(R, NODES)[OWN_ROWS] == 1:
            out_work[line] = work[WORK_OLD] + work[WORK_STEP]  # by the method's dense output
        else:
            out_work[line] = hermite_between(
                t, view(R, NODE_T), view(R, NODE_WORK), view(R, NODE_POWER), view(R, NODES)
            )
    for k in range(a.shape[0]):
        a[k] = (1.0 - x) * a0[k] + x * a1[k]
    for k in range(lam.shape[0]):
        lam[k] = 0.0  # rows of joints that are open
    for k in range(lam0.shape[0]):
        lam[places[k]] = (1.0 - x) * lam0[k] + x * lam1[k]
    if out_angle.shape[0] > 0:
        near, old, new, now = view(T, s.ANGLE_REF), view(R, ANGLE_OLD), view(T, s.ANGLES), view(T, s.TIME)[0]
        copy(out_angle, near)
        copy(near, old)
        follow_angles(T, R, t)
        view(T, s.TIME)[0] = t
        copy(view(T, s.Q), q)
        copy(view(T, s.V), v)
        core(T, s.CORE_POSES)
        core(T, s.CORE_ANGLES)
        view(T, s.TIME)[0] = now
        for k in range(near.shape[0]):
            near[k] = out_angle[k]
            out_angle[k] = new[k]


@helper
def emit(T, R):
    """Write the output times of the last accepted step; BLOCK_FULL if there is no room left for one of them."""
    cursor, t_eval, clock, C = view(R, CURSOR), view(R, T_EVAL), view(R, CLOCK), view(R, OUTPUT)[0]
    room, count = view(C, columns.T).shape[0], view(C, columns.COUNT)
    if cursor[EVERY_STEP] == 1:
        if cursor[PENDING] == 1:
            if count[0] == room:
                return BLOCK_FULL
            write_line(T, R, C, count[0], clock[T_NEW])
            count[0] += 1
    else:
        while cursor[NEXT_EVAL] < t_eval.shape[0] and t_eval[cursor[NEXT_EVAL]] <= clock[T_NEW]:
            if count[0] == room:
                return BLOCK_FULL
            write_line(T, R, C, count[0], t_eval[cursor[NEXT_EVAL]])
            count[0] += 1
            cursor[NEXT_EVAL] += 1
    cursor[PENDING] = 0
    return OK


@helper
def open_account(R):
    """Nodes at both ends of a step; a few of those before it are kept, unless the power there is not known."""
    nodes, clock, work = view(R, NODES), view(R, CLOCK), view(R, WORK)
    t, power, done, last = view(R, NODE_T), view(R, NODE_POWER), view(R, NODE_WORK), nodes[NODE_NEW]
    kept = min(last, HISTORY) if t[last] == clock[T_OLD] else 0
    for k in range(kept):
        t[k], power[k] = t[last - kept + k], power[last - kept + k]
    t[kept], power[kept], done[kept] = clock[T_OLD], work[POWER_OLD], work[WORK_OLD]
    t[kept + 1] = clock[T_NEW]
    nodes[NODE_OLD], nodes[NODE_NEW], nodes[OWN_ROWS] = kept, kept + 1, 0
    close_account(R, work[WORK_OLD], work[POWER_OLD])


@helper
def close_account(R, done, power):
    """Work up to the new state, and the power there."""
    last, work = view(R, NODES)[NODE_NEW], view(R, WORK)
    work[WORK_NEW], work[POWER_NEW] = done, power
    view(R, NODE_WORK)[last], view(R, NODE_POWER)[last] = done, power


@helper
def next_time(R):
    """End and size of the next step: constant steps by multiplication, the last step to the end."""
    clock = view(R, CLOCK)
    t, end = clock[T_NEW], clock[T_END]
    if clock[STEP] > 0.0:
        later = clock[T_START] + (view(R, COUNTS)[N_STEPS] + 1) * clock[STEP]
        if later >= end - 1e-10 * clock[STEP]:
            return end, end - t
        return later, clock[STEP] if later + clock[STEP] < end else later - t
    h = min(clock[H_NEXT], clock[MAX_STEP])
    left = end - t
    if h >= left * (1.0 - 1e-10):
        return end, left
    if h > 0.5 * left:
        h = 0.5 * left
    return t + h, h


@helper
def too_small(R, t, h):
    """Whether a step is lost in the rounding of the time reached, or near time zero is nothing beside the span."""
    clock = view(R, CLOCK)
    return h <= max(4e-16 * abs(t), 1e-30 * (clock[T_END] - clock[T_START]))


@helper
def watch_branches(T, R):
    """BRANCH_LOST if BRANCH of a row came too near zero in the last step, or changed its sign.

    Between the two states it is taken as cubic by its values and rates, so that a step across zero and back is seen.
    Near zero it is like (1 - cos y) / 2: if y changes by d in the step, the cubic errs by d^4 / 768 and the rate times
    the step changes by d^2 / 2. So the square of this change / 192 is the error, of which somewhat more is taken.
    """
    old, new, limits, clock = view(R, BRANCH), view(T, s.BRANCH), view(R, LIMITS), view(R, CLOCK)
    code, h = OK, clock[T_NEW] - clock[T_OLD]
    for k in range(old.shape[0]):
        sign, x0, x1, rate0, rate1 = old[k, 0], old[k, 1], new[k, 0], h * old[k, 2], h * new[k, 1]
        old[k, 1] = x1
        old[k, 2] = new[k, 1]
        least, error = min(sign * x0, sign * x1), (rate1 - rate0) ** 2 / 150.0
        if least - error - 4.0 / 27.0 * (abs(rate0) + abs(rate1)) < NEAR_FOLD:  # else the cubic is above that
            for i in range(1, POINTS):
                w = hermite(i / POINTS)
                x = w[0] * x0 + w[1] * rate0 + w[2] * x1 + w[3] * rate1
                least = min(least, sign * x - error)
        if least < AT_FOLD or (least < NEAR_FOLD and limits[NEAR_ROW] == 0):
            limits[NEAR_ROW] = k + 1
        if least < AT_FOLD:
            code = BRANCH_LOST
    return code


@helper
def follow_turns(T, R, t):
    """Unwrapped joint angles at the new state, where T stands; BRANCH_LOST if a row may have left its solutions."""
    clock, near, speed = view(R, CLOCK), view(T, s.ANGLE_REF), view(T, s.ANGLE_SPEED)
    if near.shape[0] + view(R, BRANCH).shape[0] == 0:
        return OK
    core(T, s.CORE_ANGLES)
    clock[SPEED_OLD] = clock[SPEED_NEW]
    clock[SPEED_NEW] = 0.0
    for k in range(speed.shape[0]):
        clock[SPEED_NEW] = max(clock[SPEED_NEW], speed[k])
    copy(view(R, ANGLE_OLD), near)
    if near.shape[0] > 0 and follow_angles(T, R, t) > 0:
        view(T, s.TIME)[0] = t
        copy(view(T, s.Q), view(R, NEW_Q))
        copy(view(T, s.V), view(R, NEW_V))
        core(T, s.CORE_POSES)
        core(T, s.CORE_ANGLES)
    copy(near, view(T, s.ANGLES))
    return watch_branches(T, R)


@helper
def accept_state(T, R, t, h):
    """Make the state in T, where the forces were just evaluated, the new one; angles and work follow."""
    clock, counts, limits, work = view(R, CLOCK), view(R, COUNTS), view(R, LIMITS), view(R, WORK)
    copy(view(R, OLD_Q), view(R, NEW_Q))
    copy(view(R, OLD_V), view(R, NEW_V))
    copy(view(R, OLD_A), view(R, NEW_A))
    copy(view(R, OLD_LAM), view(R, NEW_LAM))
    copy(view(R, NEW_Q), view(T, s.Q))
    copy(view(R, NEW_V), view(T, s.V))
    copy(view(R, NEW_A), view(T, s.A))
    copy(view(R, NEW_LAM), view(T, s.LAM))
    clock[T_OLD] = clock[T_NEW]
    clock[T_NEW] = t
    clock[H_LAST] = h
    counts[N_STEPS] += 1
    work[WORK_OLD] = work[WORK_NEW]
    work[POWER_OLD] = work[POWER_NEW]
    grew = note_largest(R)
    lost = follow_turns(T, R, t)
    view(R, CURSOR)[PENDING] = 1
    if grew != OK or lost != OK:
        return max(grew, lost)
    watched = view(R, AUDIT)
    code = audit.measure(T, watched) if watched[audit.MODE] != audit.OFF or limits[TRACK_WORK] != 0 else OK
    open_account(R)
    if limits[TRACK_WORK] == OWN_WORK:
        close_account(R, work[WORK_OLD] + work[WORK_STEP], work[POWER_STEP])
    elif limits[TRACK_WORK] != 0 and code == OK:
        code = call(view(R, LINK)[LINK_WORK], T, R)
    if code != OK:
        return EVALUATION_FAILED
    ends = audit.judge(watched, work[WORK_NEW], work[WORK_NEW] - work[WORK_OLD], work[WORK_ERROR], t)
    return GAINED if ends else OK


@helper
def gains_too_much(T, R, h):
    """Whether the trial in T, where the forces were just evaluated, is to be tried again because it gains energy.

    Only where nothing does work: elsewhere the work of a step is known once it is accepted.
    """
    if view(R, LIMITS)[TRACK_WORK] != 0 or not audit.gains_too_much(T, view(R, AUDIT), view(R, WORK)[WORK_NEW]):
        return False
    view(R, COUNTS)[N_REJECTED] += 1
    view(R, COUNTS)[N_GAINED] += 1
    view(R, CLOCK)[H_NEXT] = 0.5 * h
    return True


@helper
def before_step(T, R, budget):
    """Write open output; a reason to return from `advance` now, or GO_ON."""
    if emit(T, R) != OK:
        return BLOCK_FULL
    return may_go_on(R, budget)


@helper
def may_go_on(R, budget):
    """A reason to return from `advance` although there is room for output, or GO_ON."""
    clock, counts, limits = view(R, CLOCK), view(R, COUNTS), view(R, LIMITS)
    if clock[T_NEW] >= clock[T_END]:
        return DONE
    if counts[N_STEPS] + counts[N_REJECTED] >= budget or limits[LOOK_UP] == 1:
        return BUDGET
    if counts[N_STEPS] >= limits[MAX_STEPS]:
        return TOO_MANY_STEPS
    return GO_ON


@helper
def step_budget(R):
    """The number of tried steps at which `advance` returns to Python."""
    counts = view(R, COUNTS)
    return counts[N_STEPS] + counts[N_REJECTED] + view(R, LIMITS)[BUDGET_STEPS]


def array_shapes(n: int, m: int, n_angles: int, branching: bool) -> dict:
    """Shapes of the slots of a run, but for T_EVAL."""
    shapes: dict = dict.fromkeys((ATOL, LARGEST, LARGEST_V, OLD_Q, OLD_V, OLD_A, NEW_Q, NEW_V, NEW_A), (n,))
    shapes |= {OLD_LAM: (m,), NEW_LAM: (m,), LINK: (6,), CLOCK: (11,), COUNTS: (len(COUNTERS),), LIMITS: (7,)}
    shapes[BRANCH] = (m * branching, 3)
    shapes |= {AUDIT: (audit.SIZE,), TOLERANCE: (2,)}
    shapes |= dict.fromkeys((NODE_T, NODE_POWER, NODE_WORK), (MOST_NODES,))
    shapes |= {WORK: (WORK_SPACE,), NODES: (NODES_SPACE,), NEWTON: (2, STENCIL)}
    return shapes | {ANGLE_OLD: (n_angles,), CURSOR: (3,), OUTPUT: (1,)}
