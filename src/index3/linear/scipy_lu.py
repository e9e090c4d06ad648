"""SciPy's sparse LU with partial pivoting behind the contract, called back from compiled code: for comparison.

Matrices are scaled first, coordinates by 1 / sqrt(|H_ii|) (H with the rows' squares that make it definite), rows to
length 1, so that units do not matter. Partial pivoting says nothing of rank, so each factorisation is asked for its
smallest singular value, by inverse iteration; where that is small, redundant rows are found by an orthogonal
factorisation of the dense rows with pivoting, and taken out of the matrix. A row counts as redundant as in
`static_lu`: if the square of its sine to the others is below the row tolerance. Large systems where rows come close to
that are refused, for there this takes long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from index3.compiled.failures import Failures
from index3.compiled.interface import C_KERNEL, JIT, OK, Slot, Table, plain_address
from index3.linear import contract as c
from index3.linear.reference import sparse_matrix
from index3.linear.solver import NEEDS, Bordered, Solver
from index3.registry import register

SUSPECT = 100.0
"""Smallest singular value, in parts of the row tolerance, below which rows are looked at: it is never larger than the
square of a row's sine to the others, up to the condition of the scaled body blocks."""
SINGULAR = 1e-14
"""The same below which a matrix without redundant rows is singular: rounding of numbers of size 1."""
APART = 0.01
"""How far the sine of a redundant row drops below those of the others; along a chain sines become small by and by."""
DENSE = 1000
"""Rows up to which redundant ones are looked for: about a second."""


class _CallbackTable(Table):
    """A table whose kernels are Python functions; it keeps them alive."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.work: Any = None
        self.keep: list[Any] = []

    def call_back(self, slot: Slot, failures: Failures, *functions: Callable[[], int]) -> None:
        """Put the addresses of functions into a slot; what they raise is kept, and the kernel fails."""

        def guarded(function: Callable[[], int]) -> Callable[[int, int], int]:
            def kernel(_T: int, _S: int) -> int:
                try:
                    return function()
                except BaseException as error:  # it cannot pass through compiled code
                    failures.errors.append(error)
                    return c.NOT_FINITE

            return kernel

        kernels = [guarded(function) for function in functions]
        if JIT:
            self.keep = [C_KERNEL(kernel) for kernel in kernels]
            addresses = [ctypes.cast(kernel, ctypes.c_void_p).value or 0 for kernel in self.keep]
        else:
            addresses = [plain_address(kernel) for kernel in kernels]
        self[slot] = np.array(addresses, np.int64)


@register
class ScipyLU(Solver):
    """SciPy's `splu`; takes what the static LU takes, in far more time.

    >>> lu = ScipyLU(Bordered(1, 1, [0, 2, 4], [0, 1, 0, 1], [0, 1], 1, [[0, -1]]))
    >>> lu.factor([2.0, 1.0, 1.0, 0.0])
    0
    >>> lu.solve([3.0, 1.0])
    array([1., 1.])
    """

    name: ClassVar[str] = "scipy"
    offers: ClassVar[frozenset[str]] = frozenset(NEEDS)
    table_type: ClassVar[type[Table]] = _CallbackTable

    def __init__(self, given: Bordered) -> None:
        super().__init__(given)
        rows = [row for row, _ in given.augmentation]
        self.columns = np.repeat(np.arange(self.n + self.m), np.diff(self.entries.indptr))
        self.border = (self.entries.indices >= self.n) & (self.columns < self.n)  # entries of P
        self.aug_coord, ptr = self.entries.ragged(rows, self.entries.before(self.n))
        self.aug_place = self.entries.places(np.repeat(rows, np.diff(ptr)), self.aug_coord)
        self.aug_counts = np.diff(ptr)
        self.take_numbers()

    def take_numbers(self) -> None:
        """The weights of the augmentation."""
        self.aug_weight = np.repeat([weight for _, weight in self.given.augmentation], self.aug_counts)

    def table(self, values: np.ndarray | None = None, *, find_rank: bool = True, definite: bool = False) -> Table:
        """A fresh table, whose kernels are Python functions."""
        table = super().table(values)
        assert isinstance(table, _CallbackTable)
        table.work = _Factors(self, table, find_rank)
        work = table.work
        table.call_back(c.KERNELS, self.given.failures, work.factor, work.solve, work.solve_refined, work.determine)
        return table

    def complex_table(self, real: Table) -> Table:
        """The table of a complex matrix, scaled and without the rows left out as `real` is."""
        assert isinstance(real, _CallbackTable)
        table = _CallbackTable(len(c.COMPLEX_SLOTS))
        table[c.COMPLEX_A] = np.zeros(len(self.entries.indices) + 1, complex)
        table[c.COMPLEX_X] = np.zeros(self.n + self.m, complex)
        table.work = _ComplexFactors(self, table, real.work)
        table.call_back(c.COMPLEX_KERNELS, self.given.failures, table.work.factor, table.work.solve)
        return table

    def scales(self, values: np.ndarray) -> np.ndarray:
        """The factor of each row and column."""
        diagonal = np.abs(values[self.shared[c.DIAGONAL]])
        inertia = diagonal[: self.n]
        np.add.at(inertia, self.aug_coord, self.aug_weight * values[self.aug_place] ** 2)
        scale = np.ones(self.n + self.m)
        scale[: self.n] = 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0))
        squares = (values[self.border] * scale[self.columns[self.border]]) ** 2
        length = np.bincount(self.entries.indices[self.border], squares, self.n + self.m)[self.n :]
        scale[self.n :] = 1.0 / np.sqrt(np.where(length > 0.0, length, 1.0))
        return scale

    def scaled(self, values: np.ndarray, scale: np.ndarray, keep: np.ndarray) -> Any:
        """The scaled matrix, 1 on the diagonal of rows that are not kept and 0 beside it."""
        both = scale * keep
        values = values * both[self.entries.indices] * both[self.columns]
        values[self.shared[c.DIAGONAL][keep == 0.0]] = 1.0
        return sparse_matrix(self.entries, values)


class _Factors:
    """The factors of one real matrix: what the kernels of its table do."""

    def __init__(self, solver: ScipyLU, table: Table, find_rank: bool) -> None:
        self.solver, self.find_rank = solver, find_rank
        self.a, self.x, self.zero, self.info, self.margin, self.off = (
            table[slot] for slot in (c.A, c.X, c.ZERO, c.INFO, c.MARGIN, c.OFF)
        )
        self.scale = self.keep = np.ones(len(self.x))
        self.matrix: Any = None
        self.unreduced: Any = None  # with the rows that are left out
        self.lu: Any = None

    def factor(self) -> int:
        """Scale, find the rank, factor."""
        info, n = self.info, self.solver.n
        info[c.N_FACTOR] += 1
        info[[c.N_ZERO, c.BAD_SCALAR, c.STATUS]] = 0, -1, c.NOT_FINITE
        self.zero[:] = 0
        on, self.off[0] = self.off[0] <= c.ON, 0.0
        values = self.a[:-1].copy()
        if not np.all(np.isfinite(values)):
            return c.NOT_FINITE
        known = 0 if on or info[c.FEWEST_ZERO] > self.solver.m else int(info[c.FEWEST_ZERO])
        info[c.STATUS], bad = self.decompose(values, known)
        if info[c.STATUS] != OK:
            info[c.BAD_SCALAR] = bad
            return int(info[c.STATUS])
        self.zero[n:] = self.keep[n:] == 0.0
        info[c.N_ZERO] = np.count_nonzero(self.zero)
        if on:
            info[c.FEWEST_ZERO] = min(info[c.FEWEST_ZERO], info[c.N_ZERO])
        return OK

    def decompose(self, values: np.ndarray, known: int) -> tuple[int, int]:
        """Factors of the scaled matrix without redundant rows: status, and the scalar that failed.

        Off the constraints so many rows are `known` to be redundant.
        """
        solver, tolerance = self.solver, self.solver.given.row_tolerance
        n, m = solver.n, solver.m
        self.scale, self.keep = solver.scales(values), np.ones(n + m)
        self.matrix = self.unreduced = solver.scaled(values, self.scale, self.keep)
        if not np.all(np.isfinite(self.matrix.data)):
            return c.NOT_FINITE, -1
        self.lu, smallest, direction = decomposed(self.matrix)
        if self.find_rank and m and (known or smallest < SUSPECT * tolerance):
            if m > DENSE:
                return c.ROW_REDUNDANT, n + int(np.argmax(np.abs(direction[n:])))
            self.keep[n + redundant(self.matrix[n:, :n].toarray(), tolerance, known)] = 0.0
            self.matrix = solver.scaled(values, self.scale, self.keep)
            self.lu, smallest, direction = decomposed(self.matrix)
        if smallest < SINGULAR:
            return c.BODY_SINGULAR, int(np.argmax(np.abs(direction[:n])))
        self.margin[0] = smallest / tolerance
        return OK, -1

    def solution(self, b: np.ndarray) -> np.ndarray:
        """The solution of the scaled equations, for a scaled right-hand side."""
        return self.keep * self.lu.solve(self.keep * b)

    def solve(self) -> int:
        """Replace X by the solution."""
        self.x[:] = self.scale * self.solution(self.scale * self.x)
        return OK

    def determine(self) -> int:
        """Replace the multipliers in X by those with the same forces, 0 on rows that were left out."""
        n = self.solver.n
        force = self.unreduced[:n, n:] @ (self.x[n:] / self.scale[n:])
        b = np.concatenate([force, np.zeros(len(self.x) - n)])
        self.x[:] = self.scale * self.solution(b)
        return OK

    def solve_refined(self) -> int:
        """As `solve`, with one step of refinement."""
        b = self.scale * self.x
        y = self.solution(b)
        self.x[:] = self.scale * (y + self.solution(b - self.matrix @ y))
        return OK


class _ComplexFactors:
    """The factors of a complex matrix beside a real one."""

    def __init__(self, solver: ScipyLU, table: Table, real: _Factors) -> None:
        self.solver, self.real, self.a, self.x = solver, real, table[c.COMPLEX_A], table[c.COMPLEX_X]
        self.lu: Any = None

    def factor(self) -> int:
        """Scale and factor as the real matrix was."""
        from scipy.sparse.linalg import splu

        matrix = self.solver.scaled(self.a[:-1], self.real.scale, self.real.keep)
        if not np.all(np.isfinite(matrix.data)):
            return c.NOT_FINITE
        try:
            self.lu = splu(matrix)
        except RuntimeError:  # exactly singular
            return c.NOT_FINITE
        return OK

    def solve(self) -> int:
        """Replace X by the solution."""
        both = self.real.scale * self.real.keep
        self.x[:] = both * self.lu.solve(both * self.x)
        return OK


def decomposed(matrix: Any) -> tuple[Any, float, np.ndarray]:
    """LU of a matrix, an estimate of its smallest singular value, and the direction that belongs to it.

    Of a matrix that is exactly singular: no LU, 0, and the direction of one close to it.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    try:
        lu = splu(matrix)
    except RuntimeError:
        near = splu((matrix + SINGULAR * eye_array(matrix.shape[0])).tocsc())
        return None, 0.0, smallest_direction(near, matrix.shape[0])[1]
    return lu, *smallest_direction(lu, matrix.shape[0])


@np.errstate(over="ignore", invalid="ignore")  # of a matrix that is all but singular: the value is 0
def smallest_direction(lu: Any, size: int) -> tuple[float, np.ndarray]:
    """Smallest singular value and right singular vector, by two rounds of inverse iteration from a random start."""
    x, value = np.random.default_rng(0).normal(size=size), np.inf
    x /= np.linalg.norm(x)
    for _ in range(2):
        for transposed in ("T", "N"):
            x = lu.solve(x, transposed)
            length = float(np.linalg.norm(x))
            if not np.isfinite(length):
                return 0.0, np.nan_to_num(x)
            value = min(value, 1.0 / length)
            x /= length
    return value, x


def redundant(rows: np.ndarray, tolerance: float, known: int = 0) -> np.ndarray:
    """Numbers of rows to leave out, so that the others are independent; rows have length 1 or 0.

    If it is known how many, those closest to dependence, even if they are not dependent.

    >>> redundant(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1e-9).tolist()
    [1]
    """
    from scipy.linalg import qr

    triangle, order = qr(rows.T, mode="r", pivoting=True)
    if known:
        return np.sort(order[len(order) - known :])
    sines = np.zeros(len(rows) + 1)
    sines[0], diagonal = 1.0, np.abs(np.diag(triangle))
    sines[1 : 1 + len(diagonal)] = diagonal
    dropped = (sines[1:] ** 2 <= tolerance) & (sines[1:] <= APART * sines[:-1])
    return np.sort(order[np.argmax(dropped) :]) if dropped.any() else order[:0]
