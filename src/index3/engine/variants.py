"""The equations of one model while some of its joints and motions are open, and consistent states of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.workspace import LARGEST
from index3.engine.assembly import check_consistency
from index3.engine.equations import Equations
from index3.engine.settings import listed
from index3.errors import ModelError
from index3.linear.registry import DEFAULT, solver_of
from index3.methods import projection_kernels
from index3.methods.projection import Projector
from index3.model.model import Model
from index3.system import evaluate
from index3.system.system import System


class Variant(Equations):
    """The equations of a model while some of its joints and motions are open, and those that a run changes them for.

    Parameters
    ----------
    model : Model
    compile_open : what gives the system without the rows of what is open
    analysis : what asks, for messages
    opened : names of joints and motions
    before : another variant of the same run
    linear : name of the linear solver

    Attributes
    ----------
    whole : the system with every joint closed
    columns : where the rows of this one stand among those of `whole`
    """

    def __init__(
        self, model: Model, compile_open: Callable[[frozenset[str]], System], analysis: str = "simulate",
        opened: frozenset[str] = frozenset(), before: Variant | None = None, linear: str = DEFAULT,
    ) -> None:  # fmt: skip
        self.whole: System = compile_open(frozenset()) if before is None else before.whole
        system = compile_open(opened) if opened else self.whole
        super().__init__(model, analysis, system, linear, system.structure.take_workspace())
        self.open, self._compile = opened, compile_open
        self.columns = all_columns(self.whole) if system is self.whole else row_columns(self.whole, system)
        self._met: dict[frozenset[str], Variant] = {} if before is None else before._met
        self.projection = Projector.of(self.state, solver_of(self.system, linear))  # every run asks for it
        self.prepared = False  # whether other runs of the model are to follow
        self.released = False  # whether another run may have its workspace by now

    def move(self, t: float, q: np.ndarray, v: np.ndarray, angles: np.ndarray) -> None:
        """Put the state at a time of a run; `angles` are the unwrapped joint angles there."""
        self.state.move(t, q, v)
        self.state[s.ANGLE_REF][:] = angles

    def gap_residuals(self, names: frozenset[str]) -> np.ndarray:
        """Residuals of the position rows of some joints at the state, zero for all other rows.

        Raises
        ------
        ModelError : the equations have no value here.
        """
        self.evaluate(evaluate.forces)
        residual = np.zeros(self.system.m)
        for group in self.system.groups:
            if group.name in names:
                rows = slice(group.row, group.row + group.rows)
                residual[rows] = np.where(self.system.level[rows] == 0, self.state[s.PHI][rows], 0.0)
        return residual

    def make_consistent(self) -> tuple[float, float]:
        """Close positions, velocities and accelerations from where the state is; kinetic and potential energy there.

        Velocities change as an impulse of the joints changes them: by the least in the metric of the mass matrix.

        Raises
        ------
        AssemblyError, SingularError, ModelError : there is no consistent state nearby.
        """
        self.project(projection_kernels.assemble_positions, projection_kernels.assemble_accelerations)
        check_consistency(self.state, self.projection, self.t)
        energy = self.state[s.ENERGY]
        return float(energy[s.KINETIC]), float(energy[s.POTENTIAL])

    def keep_start(self, t: float) -> None:
        """Keep the state, which was closed at time t from the model's own start, for the next run to begin there.

        Unless the model is prepared for many runs, that is done in the second one, since most have one alone. Of large
        models it is not kept, as their workspaces are not; nor where a solver's tables are made anew for each run: what
        is kept holds their addresses.
        """
        if not self.projection.solver.arrays_alone:
            return
        workspace, begun = self.state.workspace, (weakref.ref(self.system), self.linear, t)
        if not self.prepared and workspace.kept.get("begun") != begun:
            workspace.kept["begun"] = begun
            return
        _ = self.projection.completion  # its tables belong to what is kept
        memory = self._memory()
        blocks = workspace.blocks()
        if sum(array.nbytes for array in (*blocks, *memory)) > LARGEST:
            return
        images = [(block, block.copy()) for block in blocks], [array.copy() for array in memory]
        workspace.kept["start"] = weakref.ref(self.system), self.linear, t, dict(workspace.lent), images

    def find_start(self, t: float) -> bool:
        """Become the state that an earlier run of the same system has kept for a start at time t, if there is one."""
        workspace = self.state.workspace
        if "start" not in workspace.kept:
            return False
        known, linear, then, lent, (images, memory) = workspace.kept["start"]
        if known() is not self.system or linear != self.linear or then != t:
            return False
        _ = self.projection.completion  # its tables belong to what was kept
        if workspace.lent != lent:
            return False
        for block, image in images:
            block[:] = image
        for array, image in zip(self._memory(), memory, strict=True):
            array[...] = image
        return True

    def _memory(self) -> list[np.ndarray]:
        """What elements remember."""
        return [table[slot] for table in self.state.memory for slot in table.memory]

    def held_velocities(self) -> np.ndarray:
        """The velocities nearest to the state's (in the metric of the mass matrix) that all rows allow."""
        self.project(projection_kernels.assemble_velocities)
        return self.state[s.V].copy()

    def check_names(self, names: Iterable[Any], who: str) -> frozenset[str]:
        """The names of joints and motions as a set.

        Raises
        ------
        ModelError : they are no names, or one of them is no joint or motion of the model.
        """
        names = listed(names, f"{who}: these are not names:", "Give names of joints and motions, such as ('latch',).")
        for name in names:
            if not isinstance(name, str) or (name not in self.model.joints and name not in self.model.motions):
                raise ModelError(f"{who}: there is no joint or motion {name!r} in model '{self.model.name}'.")
        return frozenset(names)

    def check_impulses(self, who: str) -> None:
        """Raise where an impulse of a joint would change velocities through forces that depend on accelerations."""
        forces = self.whole.readers("accelerations")
        if forces:
            raise ModelError(
                f"{who}: the impulse of a joint would also pass through {forces[0]}, which depends on accelerations; "
                "this is not implemented. Use contacts or springs in place of the joint, or leave the force out."
            )

    def at(self, opened: frozenset[str]) -> Variant:
        """The variant of the same run with some joints and motions open.

        Raises
        ------
        ModelError : a motion is closed although it drives an open joint.
        """
        for motion in self.model.motions.values():
            if motion.joint.name in opened and motion.name not in opened:
                raise ModelError(
                    f"{motion.label} drives {motion.joint.label}, which is open. Open '{motion.name}' together with "
                    f"'{motion.joint.name}'."
                )
        if opened == self.open:
            return self
        self._met[self.open] = self
        if opened not in self._met:
            self._met[opened] = Variant(self.model, self._compile, self.analysis, opened, self, self.linear)
        return self._met[opened]

    @property
    def met(self) -> list[Variant]:
        """All variants of the run so far."""
        return list({**self._met, self.open: self}.values())

    def forget(self) -> None:
        """Let go of the other variants: as they know each other, their memory would stay for a while after the run."""
        for variant in self.met if self._met else (self,):
            if not variant.released:
                variant.state.workspace.forget()
        self._met.clear()

    def release(self) -> None:
        """Give what all variants of the run worked with to runs to come; nobody may ask them any more."""
        for variant in self.met if self._met else (self,):
            variant.released = variant.system.structure.give_back(variant.state.workspace)


def all_columns(whole: System) -> np.ndarray:
    """The numbers of all rows, made once for a system."""
    if "columns" not in whole.found:
        whole.found["columns"] = np.arange(whole.m)
    columns: np.ndarray = whole.found["columns"]
    return columns


def row_columns(whole: System, part: System) -> np.ndarray:
    """Where the rows of a system without some joints stand among those of the whole one."""
    own = whole.m - sum(group.rows for group in whole.groups)
    columns = [np.arange(own)]
    for group, kept in zip(whole.groups, part.groups, strict=True):
        columns.append(np.arange(group.row, group.row + kept.rows))
    return np.concatenate(columns)
