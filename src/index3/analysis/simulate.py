"""The run of a model through time."""

from __future__ import annotations

import inspect
import math
from os import PathLike
from typing import TYPE_CHECKING, Any

from index3.analysis.simulation import PREPARED, Simulation, prepared
from index3.engine.collector import Callback
from index3.engine.settings import check_model, check_names
from index3.errors import ModelError
from index3.model.model import Model
from index3.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from index3.user_types import ArrayLike, Events, InitialState, MethodLike, Progress


def simulate(
    model: Model,
    t_span: tuple[float, float],
    method: MethodLike = "auto",
    *,
    rtol: float = 1e-6,
    atol: ArrayLike | None = None,
    step: float | None = None,
    t_eval: ArrayLike | None = None,
    dense_output: bool = False,
    events: Events | None = None,
    discontinuities: ArrayLike = (),
    open_joints: str | Iterable[str] = (),
    first_step: float | None = None,
    max_step: float = math.inf,
    max_steps: int | None = None,
    initial: InitialState | None = None,
    project: bool = True,
    progress: Progress = "auto",
    callback: Callback | None = None,
    on_failure: str = "return",
    audit: str = "fail",
    store: str | PathLike[str] | None = None,
    linear: str = "static",
    **options: Any,
) -> Result:
    """Integrate a model's equations of motion and return its motion, reactions, energy and residuals.

    Parameters
    ----------
    model : Model
    t_span : (t0, t1) [s], t0 < t1
    method : key of `index3.METHODS`, an instance such as `HHT(alpha=-0.1)`, or "auto": an explicit method where the
        motion is not stiff, Radau IIA or HHT-I3 elsewhere; `result.message` says which was used and why
    rtol, atol : error allowed per step in each coordinate: atol + rtol * (largest magnitude so far), of first-order
        states their magnitude now; atol may be an array with one number per coordinate; by default it is rtol/100 (1e-8
        at the default rtol), so that rtol alone sets the accuracy
    step : constant step [s] instead of error control; a failed step then ends the run
    t_eval : output times: None for every accepted step, a number for t0, t0 + dt, ... and t1, or an increasing array
    dense_output : keep every accepted step, so that `result.sol(t)` gives (q, v) at any time or array of times inside
        the run, from the method's own interpolation and not projected; the run returns to Python after each step
    events : one or several functions of (t, state) whose zero crossings are located on the dense output;
        `state["ball"].position` and the like are values at that instant. Attributes as in SciPy: `terminal` (True, or
        a number of occurrences) ends the run there, `direction` (+1, -1) counts only rising or falling passages. Found
        in `result.t_events`, `result.y_events`; the run returns to Python after each step. An attribute `action`
        (`open_joint("latch")`, `close_joint(...)`, `impact(...)`, or a function of a `Switch`) changes the run there
    discontinuities : times at which functions of time may jump: steps end there and the method restarts, so that
        its history and its error estimate do not reach across
    open_joints : names of joints and motions that are open at the start, for an event to close
    first_step, max_step : of the steps chosen by the method [s]; without `max_step` no step is longer than forces allow
        (a tyre must not leap over the bumps of its road), and `result.message` says so
    max_steps : give up after this many accepted steps; earlier if a tenth of them, tried, advanced so little that the
        rest would take a thousand times as many
    initial : where to start instead of the model's own initial state: an equilibrium from `static`, another result (its
        last instant), what `assemble` returned, or (q, v); it is assembled at t0 like any other start. Or joint
        coordinates and rates by name, {"pin.angle": 0.3, "pin.angle_rate": 2.0}: these are met exactly, the rest is
        close to the model's own start
    project : project a copy of every output state onto the constraints and solve for accelerations and reactions there;
        False gives the method's own, which inside a step are on the straight line between those at its ends
    progress : "auto" (a bar on a terminal), True, False, or a function of (t, t1)
    callback : function of (t, q, v) called at every output time; returning True stops the run. An exception in it is
        passed on, with the result so far as `error.result`
    on_failure : "return" a result that says `success=False`, or "raise" SimulationFailed with the result in it
    audit : "fail" ends a run that gains more energy from nowhere than its motion has, and warns of less; "warn" warns
        only; "off" does not look. `result.audit` tells what was checked (see "Can a run be trusted?" in the manual)
    store : a netCDF file for the result, written on the way: until the run has ended, a journal beside it holds the
        lines so far. Whatever ends the process, `index3.load` reads them and `index3.resume` goes on with the run
    linear : solver of the linear systems: "static" (LU in an order fixed by the mechanism), "scipy" (SciPy's sparse LU,
        for comparison), or "reduced" (multipliers first; for methods that need accelerations only)
    options : settings of the method, such as alpha=-0.1

    Raises
    ------
    ModelError, AssemblyError, SingularError : before the first step, if the model or a setting is wrong.
    SimulationFailed : with on_failure="raise".

    >>> import index3 as ix
    >>> result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), t_eval=0.05)
    >>> len(result.t)
    3
    """
    check_model(model, "simulate")
    settings = {
        "rtol": rtol, "atol": atol, "step": step, "t_eval": t_eval, "dense_output": dense_output, "events": events,
        "discontinuities": discontinuities, "open_joints": open_joints, "first_step": first_step, "max_step": max_step,
        "max_steps": max_steps, "project": project, "progress": progress, "callback": callback,
        "on_failure": on_failure, "audit": audit, "store": store,
    }  # fmt: skip
    check_names(options, [*settings, "initial", "linear"], named=not is_automatic(method))
    return Simulation(model, method, settings, options, linear, once=True).run(t_span, initial=initial)


def is_automatic(method: Any) -> bool:
    """Whether the method is to be chosen by the run."""
    return isinstance(method, str) and method == "auto"


SETTINGS = {
    name: parameter.default
    for name, parameter in inspect.signature(simulate).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY and name not in ("initial", "linear")
}
"""What runs have for settings beside where they start, with defaults."""


def prepare(model: Model, method: MethodLike = "auto", *, linear: str = "static", **settings: Any) -> Simulation:
    """Compile a model for many runs: `prepare(model).run((0.0, 5.0))` returns what `simulate` would.

    Parameters
    ----------
    model : Model; what is done to it later does not reach the simulation
    method, linear : as in `simulate`, for all runs
    settings : of `simulate`, and of the method; `Simulation.run` may be given others, but for those of the method

    Raises
    ------
    ModelError : the model or a setting is wrong.

    >>> import index3 as ix
    >>> pendulum = ix.prepare(ix.library.pendulum(), t_eval=0.1)
    >>> [len(pendulum.run((0.0, end), changes={"rod.mass": mass}).t) for end, mass in ((0.2, 1.0), (0.5, 3.0))]
    [3, 6]
    """
    for name in ("t_span", "initial", "changes"):
        if name in settings:
            raise ModelError(f"prepare: {name} belongs to a run. Give it to Simulation.run.")
    if isinstance(method, list | tuple | int | float):
        raise ModelError(
            f"prepare: {method!r} stands in the place of the method. A time span belongs to a run: "
            "prepare(model).run((0.0, 5.0))."
        )
    options = {name: value for name, value in settings.items() if name not in SETTINGS}
    check_names(options, [*SETTINGS, *PREPARED], named=not is_automatic(method), analysis="prepare")
    given = {name: value for name, value in settings.items() if name in SETTINGS}
    return prepared(model, method, SETTINGS | given, options, linear)
