"""What every method shares while it runs: the clock, the last two accepted states, tolerances, counters, output.

The step loop is `stepping.advance`; it returns DONE, BLOCK_FULL or BUDGET, or a reason to stop early (10 and above).
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, slots, view
from index3.linear import contract
from index3.methods import audit
from index3.methods.hermite import fill_cubic, fill_quintic, state_between

DONE, BLOCK_FULL, BUDGET, GO_ON = 0, 1, 2, 3
NEWTON_FAILED, STEP_TOO_SMALL, EVALUATION_FAILED, BODY_SINGULAR, NOT_FINITE, TOO_MANY_STEPS = range(10, 16)
NOT_CONVERGED, GREW, BRANCH_LOST, GAINED, OVERFLOWED = range(16, 21)
CONVERGED, STALLED = 0, 1
"""How the iteration of a step ends, beside the reasons to stop."""

(
    LINK, CLOCK, COUNTS, LIMITS, TOLERANCE, ATOL, LARGEST, LARGEST_V,
    OLD_Q, OLD_V, OLD_A, OLD_LAM, NEW_Q, NEW_V, NEW_A, NEW_LAM,
    WORK, NODES, NODE_T, NODE_POWER, NODE_WORK, NEWTON, AUDIT, ANGLE_OLD, BRANCH, T_EVAL, CURSOR, OUTPUT, SWITCHED,
    TRIAL_Q, TRIAL_V, LENGTHS, ACTING, ORIGIN, START_V, PAST_X, OLD_RATE, NEW_RATE,
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
    switched=("f8", 1),  # SWITCHES at the end of a step that was not taken
    trial_q=("f8", 1), trial_v=("f8", 1),  # the end of a step while others are looked at
    lengths=("f8", 1),  # by which rates of coordinates are speeds: 1, of angles a radius of gyration
    acting=("f8", 1),  # of each switch, -1 if its force acted where the method last took derivatives, else 1
    origin=("f8", 1),  # from which coordinates are measured in `largest`: 0, or the middle of a model far from ground's
    start_v=("f8", 1),  # rates at the start, of a model with forces that switch
    past_x=("f8", 1),  # first-order states at the state before the old one, at T_PAST
    old_rate=("f8", 1), new_rate=("f8", 1),  # rates of first-order states by their equations at both states
)  # fmt: skip

(
    LINK_SOLVER, LINK_METHOD, LINK_ATTEMPT, LINK_ACCEPT, LINK_DENSE, LINK_WORK, LINK_ACCELERATE, LINK_PROJECTOR,
) = range(8)  # fmt: skip
"""Places in LINK: the solver's table of factors; the method's table, and the addresses of the kernel that tries a step,
of the one that makes its end the new state, and of the method's own dense output; the address of the kernel that adds
up work, and for that the address of a kernel that finds the multipliers of a state (0 if the power does not depend on
them), and its table."""
(
    T_OLD, T_NEW, T_END, H_NEXT, H_LAST, STEP, MAX_STEP, T_START, T_WANTED, SPEED_OLD, SPEED_NEW, T_TRIED, H_TRIED,
    H_HELD, HELD_FOR, HELD_OFTEN, T_SWITCH, H_BEHIND, ORDER, T_PASSED, AWAY, AWAY_V, H_USUAL, T_PAST, H_WORK,
    CLOCK_SPACE,
) = range(26)  # fmt: skip
"""Places in CLOCK; STEP is the constant step, 0 if the method chooses; T_WANTED the time asked of LINK_DENSE;
SPEED_OLD and SPEED_NEW the largest ANGLE_SPEED at the last two accepted states; T_TRIED and H_TRIED end and size of
the step that is tried, H_NEXT the size that the next one should have; H_HELD the size above which none is tried for a
while, since Newton's iteration failed (0: none), accepted steps since then, and how often that came again soon;
T_SWITCH where a force begins that steps are to end at, H_BEHIND the size of the first step behind the last such place
(see `switches`); ORDER that of the formula for which the first step is chosen; T_PASSED when bodies first passed
through each other in a constant step; AWAY and AWAY_V the largest coordinate and rate so far, angles aside, beside a
motion at the rates of the start (0 without forces that switch); H_USUAL the mean size of the steps so far, which
forgets those before the last few hundred; T_PAST the time of PAST_X, T_OLD in the first step; H_WORK the size above
which the next step would not tell the work of a reaction (0: any)."""
USUAL = 300
"""Steps that H_USUAL remembers: more than a short event takes, and fewer than a run that goes on in short steps."""
(
    N_STEPS, N_REJECTED, N_NEWTON, N_NEWTON_FAILED, N_EVALUATIONS, N_JACOBIANS, N_FACTOR, N_STAGNATED, N_STIFF,
    N_UNCLOSED, N_GAINED, N_WORK, N_PASSED,
) = range(13)  # fmt: skip
COUNTERS = (
    "steps", "rejected", "newton", "newton_failed", "evaluations", "jacobians", "factorisations", "stagnated", "stiff",
    "unclosed", "gained", "work_evaluations", "passed",
)  # fmt: skip
(
    BUDGET_STEPS, MAX_STEPS, TRACK_WORK, QUINTIC, FIRST_STATE, LOOK_UP, NEAR_ROW, SWITCH, PASSED, ROUGH_LAM, BY_RATES,
    ALL_DRIVEN, LIMITS_SPACE,
) = range(13)  # fmt: skip
"""Places in LIMITS: steps until the next return, steps in all, how work is added up, whether the dense output uses
the accelerations at both ends (degree 5) or not (degree 3), or (OWN) is the method's own for lines of output; the
first coordinate that is the integral of a first-order state; 1 if Python wants to look up from the run, at the
keyboard or the clock (set by another thread or a signal); the first row that came near its other solutions, plus 1;
where steps are with a force that begins (see `switches`); the record of SWEEP that was first passed through in a
constant step, plus 1; 1 if multipliers at the ends of steps are those of index 3, two orders below positions; 1 if
first-order states inside steps are to follow from their rates, since the method does not control their integrals; 1 if
constraints and drives leave no freedom."""
OWN, OWN_WORK = 2, 3
"""Values of TRACK_WORK for a method that adds up the work of a step by itself, in its dense output too or not; 1 is
by nodes, 0 none (`work.add_step`)."""
MOST_FAILURES = 12
"""Tries in a row that fail for another reason than an iteration that stalls, before a run ends."""
KEEP = 1.2
"""Growth below which a step is kept, and its factorisations with it."""
OVERSHOOT = 100.0
"""Allowed errors by which dense output may differ from the polynomial between both ends of a step that rests."""
HUGE = 1e100
"""Size of a coordinate or rate beyond which a motion runs away: its squares are still numbers, no physics is left."""
RTOL, NEWTON_TOL = range(2)
NEXT_EVAL, EVERY_STEP, PENDING = range(3)
"""Places in CURSOR: next output time, output at every step, a step whose output is open."""
(
    WORK_OLD, WORK_NEW, POWER_OLD, POWER_NEW, WORK_STEP, WORK_DOUBT, POWER_MIDDLE, POWER_STEP, WORK_SIZE, WORK_ERROR,
    WORK_LEFT, MIDDLE, MIDDLE_T, MIDDLE_RATE, MIDDLE_DOUBT, MIDDLE_ERROR, FORESEEN, PLAIN, COUNTED, COUNTED_BEFORE,
    WORK_SPACE,
) = range(21)  # fmt: skip
"""Places in WORK: up to the old and the new state, power there; a method's own account of a step, its error (OWN), and
the power in its middle and at its end (OWN_WORK); integral of |power|; estimated error so far, and the
part of it in steps that were left without nodes inside; of the last step with a node in its middle:
what the power there is above the mean of both ends, by the square of the step, the time, the rate of that since the
node before, by how much it was not foreseen, and the error of the step beside its |work|; and in how many of the next
steps the middle may be foreseen; where reactions work, steps since the last one with a node inside, and the work that
was counted for the last step and for the one before."""
NODE_OLD, NODE_NEW, OWN_ROWS, NODES_SPACE = range(4)
"""Places in NODES: numbers of the nodes at the old and the new state; whether work inside the step is the method's."""
MOST_NODES, HISTORY, STENCIL, CENTRAL = 32, 4, 5, 6
"""Room for nodes; nodes kept before the old state; nodes of a polynomial, and of one with steps behind it."""


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


ROUNDING = 1e-15
"""Part of the largest terms of all rows that is left of a row by rounding."""


@helper
def note_distance(T, S):
    """Tell a solver how far the point of its next matrix is off the constraints: what is left of the terms of a row.

    In a plane through the origin all terms of a row may be roundings: these count beside the terms of other rows.
    """
    phi, size, level, worst, largest = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.LEVEL), 0.0, 0.0
    for k in range(phi.shape[0]):
        largest = max(largest, size[k])
    for k in range(phi.shape[0]):
        if level[k] == 0 and abs(phi[k]) > max(worst * size[k], ROUNDING * largest):
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
def allowed(R):
    """What `weight` is made of, for all coordinates."""
    return view(R, ATOL), view(R, TOLERANCE)[RTOL], view(R, LARGEST)


@helper
def interpolate(R, t, q, v):
    """q and v at a time between the last two accepted states, by q and v at both, and by a too if QUINTIC is set."""
    clock = view(R, CLOCK)
    h = clock[T_NEW] - clock[T_OLD]
    x = (t - clock[T_OLD]) / h
    q0, v0, q1, v1 = view(R, OLD_Q), view(R, OLD_V), view(R, NEW_Q), view(R, NEW_V)
    if view(R, LIMITS)[QUINTIC] >= 1:
        fill_quintic(x, h, q0, v0, view(R, OLD_A), q1, v1, view(R, NEW_A), allowed(R), q, v)
    else:
        fill_cubic(x, h, q0, v0, q1, v1, q, v)
    if view(R, LIMITS)[BY_RATES] == 1:
        first, old, new, past = view(R, LIMITS)[FIRST_STATE], view(R, OLD_RATE), view(R, NEW_RATE), view(R, PAST_X)
        earlier = clock[T_OLD] - clock[T_PAST]
        for i in range(past.shape[0]):
            k = first + i
            v[k] = state_between(x, h, v0[k], old[i], v1[k], new[i], earlier, past[i], weight_v(R, k), v[k])


@helper
def overshoots(T, R, v):
    """Whether the velocities in T leave those between both ends of the step, v, by more than all that these suggest.

    A shorter step of an explicit formula is no better than its force: where a contact is met inside the step, it may
    end with any velocity, and no error test has seen it.
    """
    clock, v0, a0, v1, a1 = view(R, CLOCK), view(R, OLD_V), view(R, OLD_A), view(R, NEW_V), view(R, NEW_A)
    h, own, apart, room = clock[T_NEW] - clock[T_OLD], view(T, s.V), 0.0, 0.0
    for k in range(v.shape[0]):
        w = weight_v(R, k)
        apart += ((own[k] - v[k]) / w) ** 2
        room += ((abs(v0[k]) + abs(v1[k]) + h * (abs(a0[k]) + abs(a1[k]))) / w + OVERSHOOT) ** 2
    return not apart <= room


@helper
def output_state(T, R, t, q, v):
    """q and v for a line of output: the method's own dense output if it has one (may move T), else `interpolate`.

    Whether it is the method's own.
    """
    interpolate(R, t, q, v)
    if view(R, LIMITS)[QUINTIC] == OWN:
        link = view(R, LINK)
        view(R, CLOCK)[T_WANTED] = t
        if call(link[LINK_DENSE], T, link[LINK_METHOD]) == OK and not overshoots(T, R, v):
            copy(q, view(T, s.Q))
            copy(v, view(T, s.V))
            return True
    return False


@helper
def finish_account(R, done, power):
    """Work up to the new state, and the power there."""
    last, work = view(R, NODES)[NODE_NEW], view(R, WORK)
    work[WORK_NEW], work[POWER_NEW] = done, power
    view(R, NODE_WORK)[last], view(R, NODE_POWER)[last] = done, power


@helper
def step_tried(R):
    """End and size of the step that is tried."""
    clock = view(R, CLOCK)
    return clock[T_TRIED], clock[H_TRIED]


@helper
def accept(T, R):
    """Make the state in T, where the forces were just evaluated, the new one, at T_TRIED; OK or a reason to stop."""
    return call(view(R, LINK)[LINK_ACCEPT], T, R)


@helper
def retry(R, factor):
    """The step tried is not taken; the next has this part of its size."""
    clock = view(R, CLOCK)
    view(R, COUNTS)[N_REJECTED] += 1
    clock[H_NEXT] = clock[H_TRIED] * factor


@helper
def answer_failure(R, in_row, code):
    """After a step without an end: OK with a smaller next one, or the reason to stop; `in_row` counts such steps."""
    fixed = view(R, CLOCK)[STEP] > 0.0
    if code >= NEWTON_FAILED or fixed:
        in_row[0] += 1
        if fixed or in_row[0] > MOST_FAILURES:
            return NEWTON_FAILED if code == STALLED else code
    retry(R, 0.5 if code == STALLED else 0.25)
    return OK


@helper
def grow_or_keep(R, factor):
    """The size of the next step after an accepted one, whose error allows a change by this factor."""
    clock = view(R, CLOCK)
    h = clock[H_TRIED]
    planned = clock[H_NEXT] if h < clock[H_NEXT] else h  # the last steps to the end are shortened
    if factor >= KEEP:
        clock[H_NEXT] = max(planned, h * factor)
    elif factor < 1.0:
        clock[H_NEXT] = h * factor
    elif h == planned:
        clock[H_NEXT] = h


@helper
def extrapolate(T, R, x):
    """Poses at a time x after the last accepted state, by its velocities and accelerations."""
    q, v, a, now, rate = view(R, NEW_Q), view(R, NEW_V), view(R, NEW_A), view(T, s.Q), view(T, s.V)
    view(T, s.TIME)[0] = view(R, CLOCK)[T_NEW] + x
    for k in range(now.shape[0]):
        now[k] = q[k] + x * (v[k] + 0.5 * x * a[k])
        rate[k] = v[k] + x * a[k]
    return core(T, s.CORE_POSES)


@helper
def note_acting(T, R):
    """Remember which forces that switch act at T's state, whose poses are known: derivatives are taken there."""
    values, acting = view(T, s.SWITCH), view(R, ACTING)
    if values.shape[0] > 0 and core(T, s.CORE_SWITCHES) == OK:
        for k in range(values.shape[0]):
            acting[k] = -1.0 if values[k] < 0.0 else 1.0


@helper
def acts_otherwise(T, R):
    """Whether other forces act at T's state, whose poses are known, than where derivatives were taken.

    With the stiffness of a contact that is open corrections and filtered errors are next to nothing, whatever is left.
    """
    values, acting, other = view(T, s.SWITCH), view(R, ACTING), False
    if values.shape[0] == 0 or core(T, s.CORE_SWITCHES) != OK:
        return False
    for k in range(values.shape[0]):
        other = other or (values[k] < 0.0) != (acting[k] < 0.0)
    return other


@helper
def note_away(R):
    """AWAY and AWAY_V with the last accepted state. A common speed of all bodies does not count, nor the way it takes.

    Whether a car drives over its road or the road runs under the car is the same motion.
    """
    clock, start, q, v = view(R, CLOCK), view(R, START_V), view(R, NEW_Q), view(R, NEW_V)
    origin, lengths, passed = view(R, ORIGIN), view(R, LENGTHS), clock[T_NEW] - clock[T_START]
    for k in range(min(start.shape[0], view(R, LIMITS)[FIRST_STATE])):
        if lengths[k] == 1.0:
            x = q[k] - passed * start[k]
            clock[AWAY] = max(clock[AWAY], min(abs(x), abs(x - origin[k])))
            clock[AWAY_V] = max(clock[AWAY_V], abs(v[k] - start[k]))


@helper
def begins_otherwise(T, R):
    """Whether other forces act at the last accepted state than where derivatives were taken; moves T."""
    return view(T, s.SWITCH).shape[0] > 0 and extrapolate(T, R, 0.0) == OK and acts_otherwise(T, R)


def array_shapes(n: int, m: int, n_angles: int, branching: bool, switches: int, states: int) -> dict:
    """Shapes of the slots of a run, but for T_EVAL."""
    shapes: dict = dict.fromkeys((ATOL, LARGEST, LARGEST_V, OLD_Q, OLD_V, OLD_A, NEW_Q, NEW_V, NEW_A), (n,))
    shapes |= dict.fromkeys((PAST_X, OLD_RATE, NEW_RATE), (states,))
    shapes |= dict.fromkeys((LENGTHS, ORIGIN), (n,))
    shapes |= {
        OLD_LAM: (m,),
        NEW_LAM: (m,),
        LINK: (8,),
        CLOCK: (CLOCK_SPACE,),
        COUNTS: (len(COUNTERS),),
        LIMITS: (LIMITS_SPACE,),
    }
    shapes |= {BRANCH: (m * branching, 3), SWITCHED: (switches,), ACTING: (switches,)}
    shapes |= dict.fromkeys((TRIAL_Q, TRIAL_V, START_V), (n if switches else 0,))
    shapes |= {AUDIT: (audit.SIZE,), TOLERANCE: (2,)}
    shapes |= dict.fromkeys((NODE_T, NODE_POWER, NODE_WORK), (MOST_NODES,))
    shapes |= {WORK: (WORK_SPACE,), NODES: (NODES_SPACE,), NEWTON: (2, CENTRAL)}
    return shapes | {ANGLE_OLD: (n_angles,), CURSOR: (3,), OUTPUT: (1,)}
