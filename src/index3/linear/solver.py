"""What a solver of the bordered system is to the rest of the package (`contract` is what it is to kernels).

A solver is given the pattern of a matrix with the blocks and joints it comes from, analyses it once, and makes tables
of factors, each for one matrix at a time. It says what it offers beyond symmetric matrices made of the mass matrix
alone; methods say what they need (`Method.needs`), and what is not offered is refused by name before the first step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from index3.compiled.failures import Failures
from index3.compiled.interface import C_KERNEL, JIT, Kernel, Room, Slot, Table, call
from index3.compiled.workspace import Workspace
from index3.errors import ModelError
from index3.linear import contract as c
from index3.linear.symbolic import Entries
from index3.record import Record, fresh
from index3.registry import Registry

STIFFNESS, UNSYMMETRIC, DIAGONAL, COMPLEX, RANK = "stiffness", "unsymmetric", "diagonal", "complex", "rank"
NEEDS = {
    STIFFNESS: "matrices with stiffness and damping",
    UNSYMMETRIC: "unsymmetric matrices",
    DIAGONAL: "matrices with numbers on the diagonal of the rows (penalties)",
    COMPLEX: "complex matrices",
    RANK: "redundant rows",
}
"""What a method or a model may need of a solver, in words."""
ROW_TOLERANCE = 1e-9
"""The pivot of a redundant row, in parts of the terms it is made of, if masses are not far apart. In random mechanisms
of 3-24 bodies with masses apart by 100, 99 % of the redundant rows left less than 4e-11, the rows of 1028 matrices of
full rank more than 4e-8. It is a squared sine: rows closer than 3e-5 to dependence count as redundant (a singular
position)."""


class Bordered(Record, frozen=True):
    """What a solver is given: the pattern of the bordered matrix, and the mechanism behind it.

    Parameters
    ----------
    n, m : number of coordinates and of rows
    indptr, indices : pattern by columns, rows ascending, structurally symmetric, every diagonal entry present
    node_of_scalar : node of each of the n + m scalars: bodies 0 ... n_bodies-1 (coordinates and own rows), then joints
    joint_bodies : for each joint the distinct bodies it touches; -1 is ground, also named by rows that a rigid motion
        of their bodies can violate (see `linear.ordering`)
    augmentation : pairs (row, c): number of the scalar (n ... n+m-1) and weight, of rows g that make body blocks of the
        mass matrix definite if c g g^T is added to them
    row_tolerance : size, relative to what a row's pivot is made of, below which the row counts as redundant
    mostly_zero : whether most of the pattern is zero most of the time
    between_bodies : which entries the mass matrix leaves zero, those between coordinates of two bodies; None: not known
    failures : where a solver written in Python leaves what was raised in it
    """

    n: int
    m: int
    indptr: Sequence[int] | np.ndarray
    indices: Sequence[int] | np.ndarray
    node_of_scalar: Sequence[int] | np.ndarray
    n_bodies: int
    joint_bodies: Sequence[Sequence[int]]
    augmentation: Sequence[tuple[int, float]] = ()
    row_tolerance: float = ROW_TOLERANCE
    mostly_zero: bool = False
    between_bodies: np.ndarray | None = None
    failures: Failures = fresh(default_factory=Failures)

    def with_numbers(self, augmentation: Sequence[tuple[int, float]], row_tolerance: float, failures: Failures) -> Self:
        """The same pattern with other numbers; a prepared run with another mass makes one."""
        other = object.__new__(type(self))
        changes = {"augmentation": augmentation, "row_tolerance": row_tolerance, "failures": failures}
        other.__dict__.update(self.__dict__ | changes)
        return other


def check_solver_class(cls: Any) -> None:
    """Raise unless a class of solvers is complete."""
    if not hasattr(cls, "name"):
        raise ModelError("it has no name. Give the class the value of linear= that stands for it.")


SOLVERS = Registry("solver", "SOLVERS", name=lambda cls: getattr(cls, "name", cls.__name__), check=check_solver_class)
"""The classes of solvers by the value of `linear=`; one is imported when first asked for."""


class Solver:
    """The solver of one pattern; a subclass names its slots and kernels and fills its tables.

    Class attributes: `name` (the value of `linear=`), `offers` (keys of NEEDS), `slots` (those of the contract and its
    own), `kernels` (factor, solve, solve_refined, determine), `complex_kernels` (factor, solve) and `analysis_kernels`
    (called where a pattern is analysed), to be built before a run; `arrays_alone`, whether nothing but the arrays of
    `room` changes in its tables, so that these can be emptied and used again.
    """

    registry: ClassVar[Registry] = SOLVERS
    name: ClassVar[str]
    offers: ClassVar[frozenset[str]] = frozenset()
    slots: ClassVar[tuple[Slot, ...]] = c.SLOTS
    kernels: ClassVar[tuple[Kernel, ...]] = ()
    complex_kernels: ClassVar[tuple[Kernel, ...]] = ()
    analysis_kernels: ClassVar[tuple[Kernel, ...]] = ()
    table_type: ClassVar[type[Table]] = Table
    arrays_alone: ClassVar[bool] = False

    def __init__(self, given: Bordered) -> None:
        self.given, self.n, self.m = given, given.n, given.m
        indptr, indices = (np.ascontiguousarray(array, np.int64) for array in (given.indptr, given.indices))
        self.entries = Entries(indptr, indices)
        diagonal = np.arange(self.n + self.m)
        self.shared: dict[Slot, np.ndarray] = {}  # index arrays of every table of this pattern
        self.share(
            {
                c.AP: self.entries.indptr,
                c.AI: self.entries.indices,
                c.HEND: self.entries.before(self.n),
                c.DIAGONAL: self.entries.places(diagonal, diagonal),
            }
        )
        self._shared_table: Table | None = None
        self._own: Table | None = None
        self._numbers: dict[tuple[bool, bool], dict[Slot, np.ndarray]] = {}  # constants of tables of one kind
        self._equal: dict[Hashable, np.ndarray] = {}  # those that solvers `with_numbers` share
        self._blanks: dict[tuple[bool, bool], Table] = {}  # what tables of one kind have in common, see `table`

    def share(self, arrays: dict[Slot, np.ndarray]) -> None:
        """Put index arrays into every table made from now on."""
        self.shared |= {slot: np.ascontiguousarray(array, slot.dtype) for slot, array in arrays.items()}

    def with_numbers(self, given: Bordered) -> Self:
        """The solver of the same pattern, analysed once, with the weights and the tolerance of another system."""
        _ = self.room  # which is the same for all
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__.copy()
        other.given, other._own, other._blanks, other._numbers = given, None, {}, {}
        other.take_numbers()
        return other

    def take_numbers(self) -> None:
        """Take from `given` what is number, not pattern; for subclasses that keep any of it."""

    @classmethod
    def kernels_for(cls, needs: Iterable[str]) -> tuple[Kernel, ...]:
        """Kernels that the analysis of a pattern and a run with these needs call."""
        return cls.analysis_kernels + cls.kernels + (cls.complex_kernels if COMPLEX in needs else ())

    def table(self, values: np.ndarray | None = None, *, find_rank: bool = True, definite: bool = False) -> Table:
        """A fresh table of factors, A new (zero) or the array given.

        Parameters
        ----------
        values : one entry more than the pattern, for assembly to write what belongs nowhere
        find_rank : False if the diagonal of the rows leaves none of them redundant (DIAGONAL)
        definite : H itself is definite and D negative definite: nothing is to be made of them
        """
        nnz = len(self.entries.indices)
        if values is None:
            values = np.zeros(nnz + 1)
        if values.shape != (nnz + 1,):
            raise ValueError(f"The matrix needs {nnz + 1} values (entries and one spare), not {values.shape}.")
        return self._made(self._blank(find_rank, definite), values)

    def _made(self, blank: Table, values: np.ndarray) -> Table:
        """A table as it begins, with what others have in common and these values of A."""
        table = blank.sharing()
        table.fill(self.room)
        table[c.A] = values
        self.begin(table)
        return table

    def lend(
        self, workspace: Workspace, values: np.ndarray, *, find_rank: bool = True, definite: bool = False
    ) -> Table:
        """A table as `table` makes it, of a workspace."""
        if not self.arrays_alone:
            return self.table(values, find_rank=find_rank, definite=definite)
        self.enter(workspace)
        kind = self.name, find_rank, definite
        table = workspace.again(kind, self.begin)
        if table is None:
            return workspace.keep(kind, self._made(self._blank_in(workspace, find_rank, definite), values))
        if table[c.A] is not values:
            table[c.A] = values
        return table

    def enter(self, workspace: Workspace) -> None:
        """Let the tables of factors of a workspace be of this solver, if they were of another of its pattern, with
        other numbers: these stand in arrays that all of them share."""
        before: Solver | None = workspace.kept.get(("solver", self.name))
        if before is self:
            return
        workspace.kept["solver", self.name] = self
        for kind, old in () if before is None else before._numbers.items():
            blank: Table | None = workspace.kept.get(("blank", self.name, *kind))
            if blank is not None:
                for slot, array in self._constants(*kind).items():
                    if old[slot] is not array:
                        blank[slot][...] = array

    def _blank_in(self, workspace: Workspace, find_rank: bool, definite: bool) -> Table:
        """What tables of these settings in a workspace have in common, its numbers in arrays of the workspace."""
        key = "blank", self.name, find_rank, definite
        if key not in workspace.kept:
            own = self._constants(find_rank, definite)
            workspace.kept[key] = self._blank(find_rank, definite).sharing(own)
            workspace.shared += [workspace.kept[key][slot] for slot in own]
        blank: Table = workspace.kept[key]
        return blank

    def begin(self, table: Table) -> None:
        """Write into a table of zeros what stands there before the first matrix."""
        info = table[c.INFO]
        info[c.N_COORDINATES], info[c.FEWEST_ZERO], info[c.BAD_SCALAR] = self.n, self.n + self.m, -1
        table[c.MARGIN][0] = np.inf

    def _blank(self, find_rank: bool, definite: bool) -> Table:
        """What tables of these settings have in common."""
        blank = self._blanks.get((find_rank, definite))
        if blank is None:
            blank = self._indices().sharing()
            for slot, array in self._constants(find_rank, definite).items():
                blank[slot] = array
            self._blanks[find_rank, definite] = blank
        return blank

    def _constants(self, find_rank: bool, definite: bool) -> dict[Slot, np.ndarray]:
        """What `constants` gives, made once."""
        if (find_rank, definite) not in self._numbers:
            self._numbers[find_rank, definite] = self.constants(find_rank, definite)
        return self._numbers[find_rank, definite]

    def _indices(self) -> Table:
        """A table with the arrays of `shared` alone, made once for the pattern."""
        if self._shared_table is None:
            self._shared_table = self.table_type(len(self.slots))
            for slot, array in self.shared.items():
                self._shared_table[slot] = array
        return self._shared_table

    def constants(self, find_rank: bool, definite: bool) -> dict[Slot, np.ndarray]:
        """What tables of these settings have in common beside `shared`: nothing that a kernel writes."""
        return {c.KERNELS: self.once("kernels", [kernel.address for kernel in self.kernels], np.int64)}

    def once(self, who: Hashable, values: Sequence[float], dtype: type = float) -> np.ndarray:
        """An array of these values, which follow from `who`: one for all solvers of the pattern."""
        if who not in self._equal:
            self._equal[who] = np.array(values, dtype)
        return self._equal[who]

    @property
    def common(self) -> list[np.ndarray]:
        """The arrays that tables made so far have in common."""
        numbers = (array for arrays in self._numbers.values() for array in arrays.values())
        tables = self._blanks.values()
        of_tables = (array for table in tables for array in table.arrays if array is not None)
        return [*self.shared.values(), *numbers, *of_tables]

    @cached_property
    def room(self) -> Room:
        """The arrays that every table has for itself."""
        return Room(self.own_shapes())

    def own_shapes(self) -> dict[Slot, tuple[int, ...]]:
        """The shapes of the arrays that every table has for itself, filled with zeros at first."""
        size = (self.n + self.m,)
        return {c.X: size, c.ZERO: size, c.INFO: (c.INFO_SIZE,), c.MARGIN: (1,), c.OFF: (1,)}

    def complex_table(self, real: Table) -> Table:
        """The table of a complex matrix beside `real`, a table of this solver, which must outlive it."""
        raise NotImplementedError(f"The solver '{self.name}' takes no complex matrices.")

    def lend_complex(self, workspace: Workspace, real: Table) -> Table:
        """A table as `complex_table` makes it, of a workspace."""
        return self.complex_table(real)

    @property
    def own(self) -> Table:
        """The table behind `factor` and `solve`, made when first needed."""
        if self._own is None:
            self._own = self.table()
        return self._own

    def factor(self, values: Sequence[float] | np.ndarray, symmetric: bool = False) -> int:
        """Factor the matrix with these entries, symmetric ones if the mass matrix is all of H; returns the status."""
        self.own[c.A][:-1] = values
        self.own[c.INFO][c.SYMMETRIC] = symmetric
        return factor(self.own)

    def solve(self, b: Sequence[float] | np.ndarray, refine: bool = False) -> np.ndarray:
        """The solution for one right-hand side, with one step of refinement if asked for."""
        self.own[c.X][:] = b
        (solve_refined if refine else solve)(self.own)
        return self.own[c.X].copy()


def factor(factors: Table) -> int:
    """Factor the matrix in A of a table; returns the status."""
    return run(factors, c.FACTOR)


def solve(factors: Table) -> None:
    """Replace X of a table by the solution."""
    run(factors, c.SOLVE)


def solve_refined(factors: Table) -> None:
    """As `solve`, with one step of iterative refinement."""
    run(factors, c.SOLVE_REFINED)


def run(factors: Table, place: int) -> int:
    """Call a kernel of a table's solver from Python."""
    address = int(factors[c.KERNELS][place])
    if JIT:
        return int(C_KERNEL(address)(0, factors.handle))
    with np.errstate(all="ignore"):  # as compiled code
        return call(address, 0, factors.handle)
