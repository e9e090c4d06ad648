"""The run of a model through time."""

from __future__ import annotations

import inspect
import math
from functools import partial
from typing import Any

from index3.analysis.audit import energy_audit
from index3.compiled import crew
from index3.engine.assembly import assemble_state
from index3.engine.dense import StepLog
from index3.engine.events import Events, as_functions, name_of
from index3.engine.layout import moving_markers
from index3.engine.progress import reporter
from index3.engine.runner import Callback, Runner
from index3.engine.segments import Plan, begin
from index3.engine.settings import (
    absolute_tolerance,
    check_choices,
    check_model,
    check_motions,
    check_names,
    check_span,
    check_steps,
    longest_step,
    output_times,
    stop_times,
)
from index3.engine.start import starting_point
from index3.engine.variants import Variants
from index3.errors import ModelError, SimulationFailed
from index3.methods.closing import kernels_for
from index3.methods.registry import AUTO, choose
from index3.results.result import Result


def simulate(
    model: Any,
    t_span: tuple[float, float],
    method: Any = "auto",
    *,
    rtol: float = 1e-6,
    atol: Any = None,
    step: float | None = None,
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    discontinuities: Any = (),
    open_joints: Any = (),
    first_step: float | None = None,
    max_step: float = math.inf,
    max_steps: int | None = None,
    initial: Any = None,
    project: bool = True,
    progress: Any = "auto",
    callback: Callback | None = None,
    on_failure: str = "return",
    **options: Any,
) -> Result:
    """Integrate a model's equations of motion and return its motion, reactions, energy and residuals.

    Parameters
    ----------
    model : Model
    t_span : (t0, t1) [s], t0 < t1
    method : key of `index3.METHODS`, an instance such as `HHT(alpha=-0.1)`, or "auto": an explicit method where the
        motion is not stiff, Radau IIA or HHT-I3 elsewhere; `result.message` says what was used and why
    rtol, atol : error allowed per step in each coordinate: atol + rtol * (largest magnitude so far); atol may be an
        array with one number per coordinate; by default it is rtol/100 (1e-8 at the default rtol), so that rtol alone
        sets the accuracy
    step : constant step [s] instead of error control; a failed step then ends the run
    t_eval : output times: None for every accepted step, a number for t0, t0 + dt, ... and t1, or an increasing array
    dense_output : keep every accepted step, so that `result.sol(t)` gives (q, v) at any time or array of times inside
        the run, from the method's own interpolation and not projected; the run returns to Python after each step
    events : one or several functions of (t, state) whose passages through zero are located on the dense output;
        `state["ball"].position` and the like are values at that instant. Attributes as in SciPy: `terminal` (True, or
        a number of occurrences) ends the run there, `direction` (+1, -1) counts only rising or falling passages. Found
        in `result.t_events`, `result.y_events`; the run returns to Python after each step. An attribute `action`
        (`open_joint("latch")`, `close_joint(...)`, `impact(...)`, or a function of a `Switch`) changes the run there
    discontinuities : times at which functions of time may jump: steps end there and the method starts anew, so that
        its history and its error estimate do not reach across
    open_joints : names of joints and motions that are open at the start, for an event to close
    first_step, max_step : of the steps chosen by the method [s]; without `max_step` no step is longer than forces allow
        (a tyre must not leap over the bumps of its road), and `result.message` tells
    max_steps : give up after this many accepted steps
    initial : where to start instead of the model's own initial state: an equilibrium from `static`, another result (its
        last instant), what `assemble` returned, or (q, v); it is assembled at t0 like any other start
    project : project a copy of every output state onto the constraints (see "Projection" in the manual)
    progress : "auto" (a bar on a terminal), True, False, or a function of (t, t1)
    callback : function of (t, q, v) called at every output time; returning True stops the run
    on_failure : "return" a result that says `success=False`, or "raise" SimulationFailed with the result in it
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
    automatic = isinstance(method, str) and method == "auto"
    check_names(options, inspect.signature(simulate), named=not automatic)
    chosen = choose(AUTO if automatic else method, options) if options or not automatic else None
    span = check_span(t_span)
    constant_step = check_steps(method, rtol, step, first_step, max_step, max_steps)
    longest, longest_of = longest_step(model)
    note = ""
    if step is None and max_step == math.inf and longest < span[1] - span[0]:
        max_step, note = longest, f" Steps of at most {longest:.3g} s, for {longest_of} to be seen."
    check_choices(project, callback, on_failure)
    if not isinstance(dense_output, bool):
        raise ModelError(f"simulate: dense_output = {dense_output!r}. Choose True or False.")
    functions = [] if events is None else as_functions(events)
    times, stops = output_times(t_eval, span), stop_times(discontinuities, span)
    check_motions([(motion.label, motion.functions) for motion in model.motions.values()], span)
    variants = Variants(
        model, kernels_for(model) if chosen is None else (*kernels_for(model), chosen.kernel, *chosen.helpers)
    )
    variant = variants.at(variants.check_names(open_joints, "open_joints"))
    for function in functions:
        variants.check_names(getattr(getattr(function, "action", None), "names", ()), f"event {name_of(function)}")
    moving = moving_markers(variants.whole)
    check_motions([(marker.label, three) for marker in moving for three in marker.functions], span)
    start = starting_point(variant.system, initial, "simulate")
    assemble_state(variant.state, variant.closer, span[0], start=start)
    plan = Plan(
        span=span, method=None if automatic else chosen, options=options, rtol=rtol,
        atol=absolute_tolerance(atol, rtol, variant.system.n), t_eval=times, step=constant_step, max_step=max_step,
        max_steps=max_steps, first_step=first_step, stops=stops, project=bool(project),
    )  # fmt: skip
    runner = Runner(plan, variants, begin(plan, variant, span[0]), callback)
    if dense_output:
        runner.log = StepLog(runner.run)
    if functions:
        runner.events = Events(functions, runner.segment, runner.layout, moving)
    crew.dismiss()  # every kernel that the run is known to need is there
    with reporter(progress, model.name, span) as report:
        runner.run_to_end(report)
    result = runner.result({"rtol": rtol, "step": step, **options}, note)
    result.auditor = partial(energy_audit, model)
    if not result.success and on_failure == "raise":
        raise SimulationFailed(result.message, result) from runner.cause
    return result
