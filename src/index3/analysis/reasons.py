"""Why a run stopped early, in words."""

from __future__ import annotations

from index3.analysis.legs import Leg
from index3.compiled import slots as s
from index3.linear import static_lu
from index3.methods import closure, run
from index3.methods.closing import singular_body, unsettled
from index3.system import evaluate


def evaluation_fails(leg: Leg, code: int) -> bool:
    """Whether the equations have no value at the point of the last trial."""
    if code == run.EVALUATION_FAILED:
        return True
    if code not in (run.STEP_TOO_SMALL, run.NEWTON_FAILED):
        return False
    state = leg.stage.state
    state[s.STATUS][s.STEPPING] = 1  # as in the trial
    code = state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix)
    state[s.STATUS][s.STEPPING] = 0
    return code != 0


def reason(leg: Leg, code: int, max_steps: int | None) -> str:
    """Why a run stopped early although its equations have values."""
    t, h = leg.run.t, float(leg.run[run.CLOCK][run.H_NEXT])
    rows = leg.stage.system.worst_rows(leg.stage.state[s.PHI])
    worst = f"; worst rows: {rows}" if rows else ""
    why = {
        run.NEWTON_FAILED: f"Newton's iteration failed in the step from t = {t:g}{worst}. "
        "Give a smaller step, or let the method choose it.",
        run.STEP_TOO_SMALL: f"The step became too small at t = {t:g} (h = {h:.3g}{worst}). "
        "The motion is not smooth there, or the tolerance is beyond rounding.",
        run.NOT_FINITE: f"The equations contain numbers that are not finite at t = {t:g}{worst}.",
        run.UNSETTLED: f"{unsettled(leg.stage.system)} at t = {t:g}{worst}.",
        run.TOO_MANY_STEPS: f"Gave up at t = {t:g} after max_steps = {max_steps} steps.",
    }
    if code in (run.BODY_SINGULAR, run.NOT_FINITE):
        return singular(leg) or why[run.NOT_FINITE]
    return why[code]


def singular(leg: Leg) -> str:
    """Which body cannot be accelerated at the point of the last trial; empty if all can.

    The solver of the run knows, unless the method has factorisations of its own: then the equations are asked.
    """
    factors, stage = leg.run.factors, leg.stage
    if factors[static_lu.INFO][static_lu.BAD_SCALAR] < 0:
        factors = stage.closer.factors
        if closure.assemble_accelerations(stage.state.handle, stage.closer.handle) != closure.SINGULAR:
            return ""
    scalar = factors[static_lu.INFO][static_lu.BAD_SCALAR]
    return str(singular_body(stage.system, factors)) if 0 <= scalar < stage.system.n else ""
