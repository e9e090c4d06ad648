"""The equations of a model, ready to be asked: compiled, with a state and its projection on the constraints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel
from index3.compiled.workspace import Workspace
from index3.engine.assembly import Assembly, assemble_state, project_state
from index3.engine.settings import check_time
from index3.engine.start import Start, starting_point
from index3.linear.registry import DEFAULT, solver_of
from index3.methods import projection_kernels
from index3.methods.projection import Projector, kernels_for
from index3.model.model import Model
from index3.system.compile import compile_model
from index3.system.state import State
from index3.system.system import System


class Equations:
    """A compiled model with one state of it; `projection` moves that onto the constraints.

    Parameters
    ----------
    model : Model
    analysis : what asks for them, for messages
    system : the compiled model, if there is one already
    linear : name of the linear solver
    workspace : what an earlier run worked with
    """

    def __init__(
        self, model: Model, analysis: str, system: System | None = None, linear: str = DEFAULT,
        workspace: Workspace | None = None,
    ) -> None:  # fmt: skip
        self.model, self.analysis, self.linear = model, analysis, linear
        self.system = compile_model(model, kernels_for(model)) if system is None else system
        self.state = State(self.system) if workspace is None else State.of(self.system, workspace)

    @cached_property
    def projection(self) -> Projector:
        """What closes positions, velocities and accelerations of the state."""
        return Projector.of(self.state, solver_of(self.system, self.linear))

    @property
    def t(self) -> float:
        """The time of the state."""
        return float(self.state[s.TIME][0])

    def start(self, at: Any, t: float = 0.0) -> Start | None:
        """What a user's `initial` or `at` means; None is the model's own initial state.

        Joint coordinates by name are met at time `t`, together with all else that holds then.
        """
        if at is not None and isinstance(at, Mapping):
            from index3.engine.joint_start import joint_start  # which makes equations of a changed model

            return joint_start(self, at, t)
        return starting_point(self.system, at, self.analysis)

    def assemble(self, t: float | None = None, start: Start | None = None, held: np.ndarray | None = None) -> Assembly:
        """Move the state to a consistent one at time t, by default that of `start`, or 0; see `assemble_state`."""
        if t is None:
            t = 0.0 if start is None or start.t is None else check_time(start.t, self.analysis)
        return assemble_state(self.state, self.projection, t, held, start)

    def close(self, t: float, start: Start | None = None) -> None:
        """Move the state to a consistent one at time t; see `project_state`."""
        project_state(self.state, self.projection, t, start=start)

    def project(self, *kernels: Kernel) -> None:
        """Run kernels of the projection on the state.

        Raises
        ------
        AssemblyError, SingularError, ModelError : there is no solution.
        """
        for kernel in kernels:
            code = kernel(self.state.handle, self.projection.handle)
            if code:
                raise self.projection.failure(code, self.t)

    def evaluate(self, *kernels: Kernel) -> None:
        """Run kernels of the evaluator on the state.

        Raises
        ------
        ModelError : the equations have no value here.
        """
        if self.state.run(*kernels):
            raise self.projection.failure(projection_kernels.EVALUATION, self.t)
