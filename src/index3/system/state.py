"""One instant of a compiled model: all that evaluations change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Slot, Table
from index3.compiled.workspace import Workspace
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.system.system import System


class State:
    """One instant of a system, everything derived from it, and the memory of elements; one run owns one state.

    `state[slots.PHI]` is the array of a slot; only `move` writes the point of evaluation. `tables` are the tables of
    the kinds, one for each line of `system.stages`: the system's own, or where kernels write to one, a copy that shares
    all but what they write. All arrays, also those of methods and solvers that work on the state, belong to its
    `workspace`, which a run may have taken over from another.

    >>> from index3.library import pendulum
    >>> from index3.system.compile import compile_model
    >>> system = compile_model(pendulum())
    >>> one, other = State(system), State(system)
    >>> one.move(1.0, system.q0, system.v0)
    >>> other.restore(one.save())
    >>> float(other[s.TIME][0])
    1.0
    """

    def __init__(self, system: System, workspace: Workspace | None = None) -> None:
        self.workspace = Workspace() if workspace is None else workspace
        self.scratch: dict[str, Table] = {}  # tables that kernels use for the length of a call, for all who work on it
        self.table = self.workspace.filled(("state", system.room), system.blank, system.room)
        self._arrays = self.table._arrays
        self._blank: Any = None  # whose arrays the table shares
        self._shared: list[Table] | None = None  # the tables of kinds that it has in common with others
        self.begin(system)

    @classmethod
    def of(cls, system: System, workspace: Workspace) -> State:
        """The state of a run of a system: that of the run before, as if it were new."""
        state: State | None = workspace.kept.get(("state", system.room))
        if state is None:
            state = workspace.kept["state", system.room] = cls(system, workspace)
        else:
            workspace.again(("state", system.room))
            state.begin(system)
        return state

    def begin(self, system: System) -> None:
        """Be where a system begins, which may be another one of the same structure."""
        system.take_failures()  # of an earlier run in this thread
        self.system, self._alone = system, system.is_self_contained
        self.scratch.clear()
        if self._blank is not system.blank:  # of a system with other numbers
            self.table.share(system.blank)
            self._blank, self._shared = system.blank, None
        for slot, array in system.initial.items():
            self.table[slot][:] = array
        tables, handles = system.kind_tables
        if self._shared is not tables or not self._alone:  # nobody knows what functions of users leave behind
            self._shared, self.tables = tables, tables
            self._own: dict[int, tuple[Table, Table]] = {}  # what the system has, and a copy with a memory
            if system.remembers:
                self._own = {id(table): (table, table.sharing(table.memory)) for table in tables if table.memory}
                self.tables = [self._own[id(table)][1] if table.memory else table for table in tables]
                handles = np.array([table.handle for table in self.tables], np.int64)
            self.table[s.STAGE_TABLES] = handles
        else:
            for table, own in self._own.values():
                for slot in table.memory:
                    own[slot][...] = table[slot]
        self.memory = [own for _, own in self._own.values()]
        self.move(0.0, system.q0, system.v0)

    def __getitem__(self, slot: Slot) -> np.ndarray:
        array = self._arrays[slot.index]
        return self.table[slot] if array is None else array

    @property
    def handle(self) -> int:
        """The number by which kernels know this state."""
        return self.table.handle

    def remembered(self) -> dict[str, np.ndarray]:
        """The memory of elements, by name."""
        return {f"{table.kind}.{slot.name}": table[slot] for table in self.memory for slot in table.memory}

    def changing(self) -> dict[str, np.ndarray]:
        """Every array that evaluations change, by name: those that are computed, and the memory of elements."""
        return {slot.name: self.table[slot] for slot in self.system.work} | self.remembered()

    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything that a state is, for `restore`."""
        return {name: array.copy() for name, array in self.changing().items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Become the state that was saved: evaluations go on bit by bit as they would have done there.

        Raises
        ------
        ModelError : the arrays are not those of a state of this system.
        """
        own = self.changing()
        for name in sorted(own.keys() | arrays.keys()):
            given = np.asarray(arrays[name]) if name in arrays else None
            if name not in own or given is None or (given.shape, given.dtype) != (own[name].shape, own[name].dtype):
                raise ModelError(
                    f"The saved state does not fit model '{self.system.name}': '{name}' differs. "
                    "Restore states of the same model only."
                )
        for name, array in own.items():
            array[...] = arrays[name]

    def move(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Set the point of evaluation."""
        self[s.TIME][0] = t
        self[s.Q][:] = q
        self[s.V][:] = v
        self[s.Q_MASS][:] = q

    def call(self, kernel: Kernel, E: int) -> int:
        """Run a kernel on the state and another table; its status."""
        return (kernel.alone if self._alone else kernel)(self.table.handle, E)

    def run(self, *kernels: Kernel) -> int:
        """Run kernels of the evaluator in turn; stops at the first positive status and returns it."""
        self.system.addresses.require(*kernels)
        for kernel in kernels:
            code = self.call(kernel, 0)
            if code:
                return code
        return 0
