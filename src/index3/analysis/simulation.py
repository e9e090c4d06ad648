"""A model prepared for any number of runs: its structure is compiled once, numbers and states belong to a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from index3.analysis.copies import Changed, Copies
from index3.analysis.planning import Plans
from index3.compiled import store
from index3.engine.automatic import CHOOSING
from index3.engine.beginning import first_segment
from index3.engine.layout import moving_markers
from index3.engine.progress import reporter
from index3.engine.run_result import result_of
from index3.engine.runner import Runner
from index3.engine.settings import (
    check_model,
    check_solver,
)
from index3.engine.timing import CpuSeconds
from index3.engine.variants import Variant
from index3.errors import ModelError, SimulationFailed
from index3.linear.registry import DEFAULT, solver_of
from index3.methods.projection import kernels_for
from index3.methods.registry import AUTO, choose
from index3.model.model import Model
from index3.results.applied import ChangedModel, ModelOfRun
from index3.results.lazy import LateArrays
from index3.results.result import Result
from index3.system.compile import compile_model
from index3.system.structure import Structure
from index3.system.system import System
from index3.system.unchanged import system_of

if TYPE_CHECKING:  # what few runs need is imported by those
    from index3.analysis.audit import Audit
    from index3.analysis.stepper import Stepper
    from index3.engine.resuming import Keeper
    from index3.engine.sampling import Sampling
    from index3.user_types import Changes, InitialState, MethodLike

PREPARED = ("method", "linear")
"""Settings that a prepared simulation has once and for all."""


class Simulation:
    """A model with a method and settings, ready to run; made by `index3.prepare`.

    Compiling, ordering and the analysis of the pattern are done once. A run fills in numbers, which may be changed, and
    finds its initial state; what it works with is its own, so runs may go on in several threads at once.

    Attributes
    ----------
    model : the Model, a copy of what was prepared
    method, linear : as they were given to `prepare`
    settings : name -> value, what runs use unless they are given something else
    options : settings of the method
    """

    def __init__(
        self, model: Model, method: MethodLike, settings: Mapping[str, Any],
        options: Mapping[str, Any], linear: str = DEFAULT,
        *, once: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.method, self.linear = model, method, linear
        self.settings, self.options = dict(settings), dict(options)
        self.automatic = isinstance(method, str) and method == "auto"
        chosen = choose(AUTO if self.automatic else method, self.options) if options or not self.automatic else None
        self._chosen = None if self.automatic else chosen
        check_solver(linear, self._chosen, model)
        self._kernels = (*kernels_for(model, chosen, linear), *(CHOOSING if self.automatic else ()))
        self._systems: dict[frozenset[str], System] = {}  # of the model itself, by what is open
        self._structures: dict[frozenset[str], Structure] = {}
        self._once = once  # whether the model is the user's own, which may have been compiled for a run before
        self._lock = threading.Lock()
        self._copies = Copies(model)
        self._source: ModelOfRun | None = None  # the model as it was at the first run
        self._plans = Plans(method, self._chosen, self.options, None if once else model)

    def __reduce__(self) -> tuple[Any, ...]:
        return Simulation, (self.model, self.method, self.settings, self.options, self.linear)

    def __repr__(self) -> str:
        return f"Simulation({self.model!r}, method={self.method!r})"

    def compile(self, model: Model | None = None, opened: frozenset[str] = frozenset()) -> System:
        """The system of the model, or of another one of its structure, with some joints and motions open.

        The structure is found by whoever asks first; the system of the model itself is kept.

        Raises
        ------
        ModelError : the other model has another structure.
        """
        if not opened and id(model) in self._copies.renumbered:
            return self._copies.renumbered[id(model)]
        own = model is None or model is self.model
        with self._lock:
            if own and opened in self._systems:
                return self._systems[opened]
            structure = self._structures.get(opened)
            if own or structure is None:
                if own and self._once:
                    system = system_of(self.model, self._kernels, opened)
                else:
                    system = compile_model(model or self.model, self._kernels, without=opened, like=structure)
                solver_of(system, self.linear)  # analysed here, once
                self._structures[opened] = system.structure
                if own:
                    self._systems[opened] = system
                return system
        return compile_model(model or self.model, without=opened, like=structure)

    def run(
        self, t_span: tuple[float, float], *, initial: InitialState | None = None, changes: Changes | None = None,
        **settings: Any,
    ) -> Result:  # fmt: skip
        """Run from t0 to t1 and return what `simulate` of the changed model would return, bit by bit.

        Parameters
        ----------
        t_span : (t0, t1) [s], t0 < t1
        initial : where to start, as in `simulate`
        changes : {"element.field": value}, such as {"coil.stiffness": 2e4, "rod.inertia": (0.1, 0.1, 0.01)}: names of
            elements and of their fields in model files, and "gravity"; or another Model of the same structure. They
            hold for this run alone
        settings : of `simulate`, instead of those given to `prepare`: rtol, t_eval, events, ...

        Raises
        ------
        ModelError : an unknown name or setting, a value that the element refuses, or a change that gives the equations
            another structure (an inertia that becomes zero, a joint more); also AssemblyError and SingularError, before
            the first step.
        SimulationFailed : with on_failure="raise".
        """
        cpu = CpuSeconds()
        asked = self.settings | self._checked(settings)
        result, cause = self.run_on(t_span, initial, changes, asked, cpu)
        if not result.success and asked["on_failure"] == "raise":
            raise SimulationFailed(result.message, result) from cause
        return result

    def run_on(
        self, t_span: Any, initial: InitialState | None, changes: Changes | None,
        asked: Mapping[str, Any], cpu: CpuSeconds,
        sampling: Sampling | None = None, keeper: Keeper | None = None,
    ) -> tuple[Result, BaseException | None]:  # fmt: skip
        """The result of a run, and what made it fail.

        `sampling` are controllers that an earlier run has asked; a `keeper` is given if a stored run goes on.
        """
        with self.changed(changes) as model:
            source = self._source_of(model, changes)
            result, cause = self._run(model, t_span, initial, asked, cpu, source, sampling, keeper)
        result.source, result.auditor = source, partial(audit_model, source)
        return result, cause

    def _source_of(self, model: Model, changes: Any) -> ModelOfRun:
        """What knows the model of a run that begins, whatever becomes of it."""
        if self._once or isinstance(changes, Model):
            return ModelOfRun(model)
        if self._source is None:
            self._source = ModelOfRun(self.model)
        return self._source.again() if changes is None else ChangedModel(self._source, changes)

    def stepper(self, t0: float = 0.0, *, initial: InitialState | None = None, **settings: Any) -> Stepper:
        """A run that goes on when it is told to: `.advance(t)`, `.get("pin.angle")`, `.set("coil.stiffness", 2e4)`.

        Parameters
        ----------
        t0 : start [s]
        initial : where to start, as in `simulate`
        settings : of `simulate`, as for `run`, but for t_eval, events, callback and open_joints

        >>> import index3 as ix
        >>> pendulum = ix.prepare(ix.library.pendulum()).stepper(0.0)
        >>> for k in range(1, 4):
        ...     result = pendulum.advance(0.1 * k)
        >>> round(pendulum.get("energy.total") - float(result.energy.total[0]), 3) + 0.0
        0.0
        """
        for name in ("t_eval", "events", "callback", "open_joints", "dense_output"):
            if name in settings or self.settings.get(name) not in (None, (), False):
                raise ModelError(f"stepper: {name} has no meaning here. Look after each advance instead.")
        from index3.analysis.stepper import Stepper

        return Stepper(self, t0, initial, self.settings | {"progress": False} | self._checked(settings))

    def resume(self, t_span: tuple[float, float], keeper: Keeper) -> Result:
        """Go on with a run of the model itself that was stored; see `index3.resume`."""
        result, cause = self.run_on(t_span, None, None, self.settings, CpuSeconds(), keeper=keeper)
        if not result.success and self.settings["on_failure"] == "raise":
            raise SimulationFailed(result.message, result) from cause
        return result

    def _run(
        self, model: Model, t_span: Any, initial: Any, asked: Mapping[str, Any], cpu: CpuSeconds, source: ModelOfRun,
        sampling: Sampling | None, keeper: Keeper | None,
    ) -> tuple[Result, BaseException | None]:  # fmt: skip
        """The result of a run of one model, and what made it fail; a `keeper` is given if the run goes on."""
        asking = self.model if id(model) in self._copies.renumbered else model  # masses alone have changed
        plan, note = self._plans.plan(asking, t_span, asked, None if sampling is None else sampling.t0)
        functions = [] if asked["events"] is None else functions_of(asked["events"])
        if keeper is None and asked["store"] is not None:
            from index3.analysis.resume import keeper_of

            keeper = keeper_of(self, model, plan, asked)
        if keeper is not None:
            plan = plan._replace(stored=True)
        variant = Variant(model, partial(self.compile, model), linear=self.linear)
        variant.prepared = not self._once
        if sampling is None and model.controllers:
            from index3.engine.sampling import Sampling

            sampling = Sampling(model, variant.whole, plan.span[0])
        if sampling is not None:
            sampling.source = source
        if keeper is None or keeper.saved is None:
            segment = first_segment(plan, variant, initial, asked["open_joints"], functions, sampling)
        else:
            from index3.engine.resuming import begin_again, text_in

            if sampling is not None:
                sampling.restore(text_in(keeper.saved, "words")["controllers"])
            segment = begin_again(plan, variant, keeper.saved)
        runner = Runner(plan, segment, asked["callback"], cpu, None if keeper is None else keeper.sink)
        runner.sampling, whole = sampling, segment.variant.whole
        if asked["dense_output"]:
            from index3.engine.dense import StepLog

            runner.log = StepLog(runner.run)
        if functions:
            from index3.engine.events import Events

            moving = moving_markers(whole)
            runner.events = Events(functions, runner.segment, runner.layout, plan.span, moving, source)
        if keeper is not None:
            keeper.begin(runner)
        store.stop_idle_workers()  # every kernel that the run is known to need is there
        linear = None if self.linear == DEFAULT else self.linear
        settings = {"rtol": asked["rtol"], "step": asked["step"], "linear": linear}
        try:
            try:
                with reporter(asked["progress"], model.name, plan.span) as report:
                    cpu.enter("steps")
                    runner.run_to_end(report)
            except Exception as error:  # from a callback, an event or its action, a progress function
                runner.keep_result(error, settings | self.options)
                raise
            cpu.enter("output")
            result = result_of(runner, settings | self.options, note)
            if keeper is None and sampling is None and runner.log is None and runner.events is None:
                runner.segment.variant.release()  # nothing of the run asks its equations any more
                if type(result.arrays) is not LateArrays:  # nor does the result
                    self._copies.finish(model)
        finally:
            runner.segment.variant.forget()
        return result, runner.cause

    def run_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a run that is given some; raises what `run` would of unknown ones."""
        return self.settings | self._checked(dict(settings))

    @property
    def coordinate_names(self) -> list[str]:
        """Names of the columns of q and v, such as "rod.x"."""
        blocks = [*self.model.bodies.values(), *self.model.blocks]
        return [f"{block.name}.{name}" for block in blocks for name in block.coordinate_names]

    def _checked(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings of a run, all of them known."""
        for name in settings:
            if name in PREPARED or name in self.options or (self._chosen and name in self._chosen.options):
                raise ModelError(f"run: {name} belongs to prepare(model, ..., {name}=...), for all runs alike.")
            if name not in self.settings:
                import difflib

                near = difflib.get_close_matches(name, [*self.settings, "initial", "changes"], n=1)
                advice = f"Did you mean '{near[0]}'?" if near else f"It takes {', '.join(self.settings)}."
                raise ModelError(f"run has no setting '{name}'. {advice}")
        return settings

    def changed(self, changes: Changes | None) -> AbstractContextManager[Model]:
        """The model of a run, while it lasts: its own, another one, or a copy with changes that are then undone."""
        if changes is None or isinstance(changes, Model):
            return nullcontext(self.model if changes is None else changes)
        if type(changes) is not dict and not isinstance(changes, Mapping):
            raise ModelError(
                f"run: changes = {changes!r}. Give a dict such as {{'coil.stiffness': 2e4}}, or a Model of the same "
                "structure."
            )
        return Changed(self._copies, changes, self.compile)


def audit_model(source: Callable[[], Model], result: Result) -> Audit:
    """The energy audit of a run of the model that `source` gives."""
    from index3.analysis.audit import energy_audit

    return energy_audit(source(), result)


def functions_of(events: Any) -> Any:
    """Events as a list of functions."""
    from index3.engine.events import as_functions

    return as_functions(events)


def prepared(
    model: Any, method: Any, settings: Mapping[str, Any], options: Mapping[str, Any], linear: str = DEFAULT
) -> Simulation:
    """A simulation of a copy of the model, compiled."""
    check_model(model, "prepare")
    simulation = Simulation(model.copy(), method, settings, options, linear)
    simulation.compile()
    return simulation
