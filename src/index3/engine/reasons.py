"""Why a run stopped early, in words."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.engine.audit import gained
from index3.engine.segments import END_STATE, Segment
from index3.errors import AssemblyError, Index3Error, SimulationFailed, SingularError
from index3.linear import contract
from index3.linear.solver import DIAGONAL
from index3.methods import projection_kernels, run
from index3.methods.projection_errors import not_converged, scaled_rows, singular_body
from index3.system import evaluate
from index3.system.kinds import recorded

STOPPED, INTERRUPTED, CLOSURE_FAILED, STORE_FAILED = 1, 2, 3, 4
"""Values of `status` beside 0 (reached the end) and the negative ones (failed, minus the reason of `methods.run`)."""
UNMET = (AssemblyError, SingularError, SimulationFailed)
"""What a state may lack at an event; other errors are the user's, and are raised."""
MOST_ROWS = 1000
"""Rows up to which a singular position is looked for: singular values of a dense matrix, about 1 s."""
DEPENDENT = 1e-5
"""Singular value of rows and columns of like size, relative to the largest, below which rows count as dependent: steps
that shrink to rounding end far closer to a singular position; mechanisms of `MOST_ROWS` away from one stay above."""


def evaluation_fails(segment: Segment, code: int) -> bool:
    """Whether the equations have no value at the point of the last trial."""
    if code == run.EVALUATION_FAILED:
        return True
    if code not in (run.STEP_TOO_SMALL, run.NEWTON_FAILED):
        return False
    return no_value(segment) or (code == run.STEP_TOO_SMALL and no_value_ahead(segment))


def no_value(segment: Segment) -> bool:
    """Whether the equations have no value at the point of the state."""
    state = segment.variant.state
    state[s.STATUS][s.STEPPING] = 1  # as in the trial
    code = state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix)
    state[s.STATUS][s.STEPPING] = 0
    return code != 0


def no_value_ahead(segment: Segment) -> bool:
    """Whether the equations have no value right after the last accepted step, which may have ended at the very last
    instant where they do; the state stays there if so."""
    state, progress = segment.variant.state, segment.run
    trial, dt = state.save(), 8.0 * float(np.spacing(progress.t))
    state.move(progress.t + dt, progress[run.NEW_Q] + dt * progress[run.NEW_V], progress[run.NEW_V])
    if no_value(segment):
        return True
    state.restore(trial)
    return False


def reason(segment: Segment, code: int, max_steps: int | None) -> str:
    """Why a run stopped early although its equations have values."""
    if code == run.GAINED:
        return gained(segment)
    t, h = segment.run.t, float(segment.run[run.CLOCK][run.H_NEXT])
    rows = segment.variant.system.worst_rows(segment.variant.state[s.PHI])
    worst = f"; worst rows: {rows}" if rows else ""
    position = (singular_position(segment) or contradiction(segment)) if code == run.STEP_TOO_SMALL else ""
    why = {
        run.NEWTON_FAILED: f"Newton's iteration failed in the step from t = {t:g}{worst}. "
        "Give a smaller step, or let the method choose it.",
        run.STEP_TOO_SMALL: f"The step became too small at t = {t:g} (h = {h:.3g}{worst}). "
        + (
            position
            or segment.method.hint(code)
            or "The motion is not smooth there, or the tolerance is beyond rounding."
        ),
        run.NOT_FINITE: f"The equations contain numbers that are not finite at t = {t:g}{worst}.",
        run.NOT_CONVERGED: f"{not_converged(segment.variant.system)} at t = {t:g}{worst}.",
        run.OVERFLOWED: f"The step from t = {t:g} of {segment.run[run.CLOCK][run.H_TRIED]:.3g} s ended in numbers that "
        "are not finite: it is too long for this motion. Give a smaller step, or let the method choose it.",
        run.TOO_MANY_STEPS: f"Gave up at t = {t:g} after max_steps = {max_steps} steps.",
    }
    if code == run.GREW:
        return grown(segment)
    if code == run.BRANCH_LOST:
        return f"At t = {t:g}, {near_branch(segment)} The run ends, since it would have to guess which one is meant."
    if code in (run.BODY_SINGULAR, run.NOT_FINITE):
        return singular(segment) or why[run.NOT_FINITE]
    return why[code]


def grown(segment: Segment) -> str:
    """Which coordinate or rate grew beyond all bounds."""
    system, progress = segment.variant.system, segment.run
    with np.errstate(invalid="ignore"):
        k = int(np.argmax(np.fmax(np.abs(progress[run.NEW_Q]), np.abs(progress[run.NEW_V]))))
    body = system.bodies[int(np.searchsorted(system.starts, k, "right")) - 1]
    name = body.coordinate_names[k - system.starts[system.bodies.index(body)]]
    return (
        f"The motion grew without bound: {name} of {body.label} is {progress[run.NEW_Q][k]:.3g} at "
        f"t = {progress.t:g}, its rate {progress[run.NEW_V][k]:.3g}. Something drives it: check the signs and gains of "
        "actuators, forces and feedbacks."
    )


def near_branch(segment: Segment) -> str:
    """Which joint came near its second set of solutions."""
    row = int(segment.run[run.LIMITS][run.NEAR_ROW]) - 1
    system = segment.variant.system
    return (
        f"{system.row_labels[row]} (row {system.row_names[row]}) came near a second position that satisfies it as "
        "well. Smaller steps tell the two apart for longer; if the joint is bent all the way back, nothing can."
    )


def passed_through(segment: Segment) -> str:
    """Which contact or stop was met and left in a constant step, when, and what to do."""
    progress, system = segment.run, segment.variant.system
    number = int(progress[run.LIMITS][run.PASSED]) - 1
    for _, elements, _ in (line for line in system.stages if line[0] == "passes"):
        own = recorded(elements)
        if number < len(own):
            label = getattr(own[number], "obstacle", own[number].label)
            break
        number -= len(own)
    end, step = float(progress[run.CLOCK][run.T_PASSED]), float(progress[run.CLOCK][run.STEP])
    return (
        f"{label} was met and left again within the constant step that ends at t = {end:g}: no force was felt, and the "
        f"motion is wrong from there on. Give a step far below {step:g}, or let the method choose its steps."
    )


def singular(segment: Segment) -> str:
    """Which body cannot be accelerated, or row not be taken, at the point of the last trial; empty if all can.

    The solver of the run knows, unless the method has factorisations of its own: then the equations are asked.
    """
    factors, variant = segment.run.factors, segment.variant
    if factors[contract.INFO][contract.BAD_SCALAR] < 0:
        factors = variant.projection.factors
        if (
            projection_kernels.assemble_accelerations(variant.state.handle, variant.projection.handle)
            != projection_kernels.SINGULAR
        ):
            return ""
    info = factors[contract.INFO]
    named = 0 <= info[contract.BAD_SCALAR] < variant.system.n or info[contract.STATUS] == contract.ROW_REDUNDANT
    return str(singular_body(variant.system, factors)) if named else ""


def contradiction(segment: Segment) -> str:
    """Which redundant rows contradict others at the last accepted state; empty if none do."""
    progress, angles = segment.run, segment.variant.state[s.ANGLE_REF]
    line = {name: progress[slot][None].copy() for name, slot in END_STATE.items()}
    try:
        segment.variant.projection.project_block(
            np.array([progress.t]), **line, angle=angles[None].copy(), project=True
        )
    except AssemblyError as error:
        return str(error)
    except Index3Error:
        return ""
    return ""


def singular_position(segment: Segment) -> str:
    """Which rows become dependent at the last accepted state, although they are not elsewhere; empty if none do."""
    system, state = segment.variant.system, segment.variant.state
    seen = [segment.variant.projection.factors]  # of lines of output
    if DIAGONAL not in segment.method.needs:  # of steps; penalties there hide which rows are redundant
        seen.append(segment.run.factors)
    usual = min(int(factors[contract.INFO][contract.FEWEST_ZERO]) for factors in seen)  # redundant at every position
    rank = system.m - min(usual, system.m)
    if not 0 < rank <= min(system.m, system.n) or system.m > MOST_ROWS:
        return ""
    state.move(segment.run.t, segment.run[run.NEW_Q], segment.run[run.NEW_V])
    if state.run(evaluate.jacobian):
        return ""
    if not np.all(np.isfinite(state[s.PHI_Q])):
        return ""
    rows = scaled_rows(state)
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    if values[rank - 1] > DEPENDENT * values[0]:
        return ""
    share = np.abs(left[:, rank - 1])
    names = [system.row_names[k] for k in np.argsort(-share, kind="stable") if share[k] > 0.3 * share.max()]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return (
        f"The mechanism is at a singular position there: rows {', '.join(names[:6])}{more} become dependent, and "
        "the motion can continue in several ways. Start elsewhere, or let a motion or a light spring choose one; other "
        "methods may step across."
    )
