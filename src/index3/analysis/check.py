"""What a model is made of: counts, degrees of freedom, redundant rows by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.instants import snapshots
from index3.compiled import slots as s
from index3.engine.assembly import check_consistency
from index3.engine.equations import Equations
from index3.engine.sampling import inputs_of
from index3.engine.settings import check_model, check_time
from index3.engine.start import Start, initial_or_at
from index3.errors import AssemblyError, Index3Error, ModelError
from index3.linear import contract
from index3.methods import projection_kernels
from index3.model.model import Model
from index3.results.applied import ModelOfRun

if TYPE_CHECKING:
    from index3.user_types import InitialState


@dataclass
class Check:
    """Counts of a model; prints as a readable text.

    Attributes
    ----------
    model : name
    bodies, coordinates, constraints : numbers; constraints include normalisation and redundant rows
    rank : number of independent constraints at the assembled configuration
    dof : coordinates - rank
    redundant : names of the redundant rows, "joint.row"
    closed : whether the positions could be assembled
    states : number of first-order states
    notes : what a user should know
    controllers : each in one line
    """

    model: str
    bodies: int
    coordinates: int
    constraints: int
    rank: int
    dof: int
    redundant: list[str]
    closed: bool = True
    states: int = 0
    notes: list[str] = field(default_factory=list)
    controllers: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"model '{self.model}'",
            f"  bodies              {self.bodies:6d}",
            f"  coordinates         {self.coordinates:6d}",
            f"  constraints         {self.constraints:6d}",
            f"  redundant           {len(self.redundant):6d}",
            f"  degrees of freedom  {self.dof:6d}",
        ]
        if self.states:
            lines.append(f"  first-order states  {self.states:6d}")
        if self.redundant:
            joints: dict[str, list[str]] = {}
            for name in self.redundant:
                joint, _, row = name.partition(".")
                joints.setdefault(joint, []).append(row)
            rows = "; ".join(f"{joint}: {', '.join(names)}" for joint, names in joints.items())
            lines.append(f"  redundant rows      {rows}")
        lines += [f"  controller          {words}" for words in self.controllers]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def check(
    model: Model, *, initial: InitialState | None = None, t: float = 0.0, at: InitialState | None = None
) -> Check:
    """Count a model's bodies, coordinates, rows and degrees of freedom, and name its redundant rows.

    Parameters
    ----------
    model : Model
    initial : the configuration: what `static`, `assemble` or `simulate` returned (its last instant), or (q, v); by
        default the model's own
    t : time at which motions are taken [s]
    at : other name of `initial`

    The rank is that of the assembled configuration; if assembly fails, that of the given one, with a note.
    """
    check_model(model, "check")
    t = check_time(t, "check")
    equations = Equations(model, "check")
    system, state, projection = equations.system, equations.state, equations.projection
    notes: list[str] = []
    start = equations.start(initial_or_at(initial, at, "check")) or Start(system.q0, system.v0)
    state.move(t, start.q, start.v)
    code = projection_kernels.assemble_positions(state.handle, projection.handle)
    if code:
        problem: Index3Error = projection.failure(code, t)
        if not isinstance(problem, AssemblyError):
            raise problem
        notes.append(str(problem))
        state.move(t, start.q, start.v)
    moved = float(np.abs(state[s.Q] - start.q).max(initial=0.0))
    if not code and moved > 1e-9:
        notes.append(f"assembly moves coordinates by up to {moved:.3g}; `index3.assemble(model)` says which")
    equations.project(projection_kernels.assemble_accelerations)
    zero = np.flatnonzero(projection.factors[contract.ZERO][system.n :])
    rank = system.m - len(zero)
    if not code:
        try:
            check_consistency(state, projection, t)
        except AssemblyError as contradiction:
            notes.append(str(contradiction))
    notes += unknown_inputs(model, system)
    return Check(
        model=model.name, bodies=len(model.bodies), coordinates=system.first_state, constraints=system.m, rank=rank,
        dof=system.first_state - rank, redundant=[system.row_names[k] for k in zero], closed=code == 0,
        states=system.n - system.first_state, notes=notes, controllers=list(map(in_words, model.controllers.values())),
    )  # fmt: skip


def in_words(controller: Any) -> str:
    """A controller in one line."""
    inputs, outputs = ", ".join(controller.inputs) or "nothing", ", ".join(force.name for force in controller.outputs)
    return f"{controller.name}, every {controller.period:g} s: {inputs} -> {outputs}"


def unknown_inputs(model: Model, system: Any) -> list[str]:
    """What is wrong with the names of the inputs of controllers."""
    problems = []
    for controller in model.controllers.values():
        result = snapshots(model, system, system.q0[None], system.v0[None])
        result.source = ModelOfRun(model)
        try:
            inputs_of(controller, result)
        except ModelError as error:
            problems.append(str(error))
    return problems
