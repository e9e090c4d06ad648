"""What every method is to the rest of the package."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Table
from index3.element_type import ElementType
from index3.errors import ModelError
from index3.linear.solver import STIFFNESS, UNSYMMETRIC
from index3.methods import acceptance, audit, first_state, run, stepping, switches
from index3.methods.run_table import Run
from index3.registry import Registry
from index3.system import evaluate


class _Options:
    """The settings of a method and their defaults, asked of the class; what it makes of None, where it does."""

    def __get__(self, instance: Any, owner: Any) -> dict[str, Any]:
        return dict(defaults(owner))


@functools.cache
def defaults(owner: Any) -> dict[str, Any]:
    """The settings of a class of methods, found once: to make an instance takes as long as a part of a short run."""
    given = {f.name: f.default for f in fields(owner)}
    made = None if MISSING in given.values() else owner()
    return given if made is None else {name: getattr(made, name) for name in given}


def check_method(cls: Any) -> None:
    """Raise unless a class of methods is complete."""
    missing = [name for name in DECLARED if not hasattr(cls, name)]
    if missing:
        raise ModelError(f"it has no {' and no '.join(missing)}. Give the class what is missing.")
    if not is_dataclass(cls) or "__dataclass_fields__" not in vars(cls):
        raise ModelError("it is not a dataclass. Write @dataclass(frozen=True) above the class, below register.")


FIRST = (first_state.take, first_state.measure, first_state.choose_step)
"""Kernels that a run begins with."""
DECLARED = ("key", "family", "order", "implicit", "stiff", "paper", "summary", "kernel")
"""What every class of methods says about itself."""
METHODS = Registry("method", "METHODS", name=lambda cls: getattr(cls, "key", cls.__name__), check=check_method)
"""The methods by key; a class has `order, family, implicit, stiff, paper, summary, options`."""


class Method(metaclass=ElementType):
    """Frozen settings (the dataclass fields of a subclass) and a kernel that tries one step.

    Class attributes: `key`, `family`, `order` (an int, or (low, high)), `implicit`, `stiff`, `paper`, `summary`,
    `options`, `kernel` (`attempt(T, E)`, which tries one step: `stepping`), `needs` (what its matrices ask of a linear
    solver, keys of `linear.solver.NEEDS`), `takes_velocity_rows` and `takes_reactions` (False: models with
    velocity-level rows, or with forces that depend on reactions or on accelerations, are refused by name),
    `ends_at_switches` (whether a step that was not taken is tried again up to where a force begins: `switches`; not of
    use where a formula looks beyond the end of its step, or trusts a history of steps from before).
    """

    registry: ClassVar[Registry] = METHODS
    key: ClassVar[str]
    family: ClassVar[str]
    order: ClassVar[int | tuple[int, int]]
    implicit: ClassVar[bool]
    stiff: ClassVar[bool]
    paper: ClassVar[str]
    summary: ClassVar[str]
    kernel: ClassVar[Kernel]
    helpers: ClassVar[tuple[Kernel, ...]] = ()  # the other kernels of a run, to be built with `kernel`
    needs: ClassVar[frozenset[str]] = frozenset({STIFFNESS, UNSYMMETRIC})
    options: ClassVar[Any] = _Options()
    takes_velocity_rows: ClassVar[bool] = True
    takes_reactions: ClassVar[bool] = True
    ends_at_switches: ClassVar[bool] = True
    damps: ClassVar[bool] = True  # on purpose, vibrations that its steps do not resolve; if not, a loss is an error
    controls_velocities: ClassVar[bool] = True  # errors of velocities are held to the tolerance as those of positions
    newton_tol: float

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """All kernels of a run by this method, those of its solver and projections apart."""
        own = self.kernel, *self.helpers
        return (stepping.advance, acceptance.accept, *FIRST, *own)

    @property
    def audited(self) -> bool:
        """Whether steps follow the error as a user asked for it, so that a gain of energy means a run gone wrong."""
        return True

    def start(self, progress: Run, first_step: float | None) -> Table:
        """The method's own table for a run whose state is consistent; sets the clock's first step."""
        raise ModelError(f"Method '{self.key}' cannot start.")

    def hint(self, code: int) -> str:
        """Why this method ended a run early with this code of `run`, and what may help; empty if for no own reason."""
        return ""

    def remark(self, energy: Mapping[str, np.ndarray], scale: float, gain: float) -> str:
        """What the user should know of a run, from its kinetic and potential energy and the work at every output.

        `scale` is the energy that the audit compares a gain with, and `gain` the part of it that the audit does not
        doubt: 0 and infinite without an audit.
        """
        return ""

    def prepare(self, progress: Run) -> None:
        """Common to all: evaluate the forces at the start, and the power there if work is to be counted.

        Raises
        ------
        ModelError : the forces cannot be evaluated, or the model has rows that this method cannot take.
        """
        state, system = progress.state, progress.system
        progress[run.LIMITS][run.SWITCH] = switches.NONE if self.ends_at_switches else switches.OFF
        if not self.takes_velocity_rows and system.level.any():
            row = int(np.argmax(system.level))
            raise ModelError(
                f"Method '{self.key}' does not accept the velocity-level row {system.row_names[row]} of "
                f"{system.row_labels[row]}. Use method='hht-i3'."
            )
        for what in ("reactions", "accelerations") if not self.takes_reactions else ():
            forces = system.readers(what)
            if forces:
                raise ModelError(
                    f"Method '{self.key}' cannot take {forces[0]}, which depends on {what}. Use method='hht-i3'."
                )
        if state.run(evaluate.forces):
            raise ModelError(system.explain(state))
        if state[s.SWITCH].size:
            state.run(evaluate.switches)
            progress[run.AUDIT][audit.TOUCHING] = (state[s.SWITCH] < 0.0).any()
        if state[s.SWEEP].size:  # the first step starts here
            state[s.SWEEP][s.SWEEP_H] = 0.0
            state.run(evaluate.passes)
        if not system.conservative:
            state.run(evaluate.energy)
            progress[run.WORK][run.POWER_NEW] = state[s.ENERGY][s.POWER]


def table_of(slots: dict[Any, Any]) -> Table:
    """A table from arrays by slot."""
    table = Table(1 + max(slot.index for slot in slots))
    for slot, array in slots.items():
        table[slot] = array
    return table
