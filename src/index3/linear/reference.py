"""The same matrix through SciPy and dense algebra: statics, and what the fixed-order solver is tested against."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.errors import SingularError


class SuperLU:
    """SciPy's `splu` behind the interface of `StaticLU`: partial pivoting, any regular matrix, no redundant rows.

    Statics needs it: without a mass term the fixed order of elimination is not safe.
    """

    def __init__(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        self.indptr, self.indices = np.asarray(indptr), np.asarray(indices)
        self._factors: Any = None

    def matrix(self, values: np.ndarray) -> Any:
        """The matrix as a SciPy sparse array by columns."""
        from scipy.sparse import csc_array

        size = len(self.indptr) - 1
        return csc_array((np.asarray(values, float)[: len(self.indices)], self.indices, self.indptr), (size, size))

    def factor(self, values: np.ndarray) -> None:
        """Factor the matrix with these entries (a spare one at the end is ignored).

        Raises
        ------
        SingularError
            If the matrix is exactly singular or not finite.
        """
        from scipy.sparse.linalg import splu

        try:
            self._factors = splu(self.matrix(values))
        except RuntimeError as error:
            raise SingularError(
                "The matrix of the linear system is singular. Remove redundant constraints or hold free bodies."
            ) from error

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution for one right-hand side, or for one in each column."""
        return self._factors.solve(np.asarray(b, float))


def rank(rows: np.ndarray, tolerance: float = 1e-9) -> int:
    """Number of singular values above `tolerance` times the largest, each row first scaled to length 1.

    >>> rank(np.array([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    rows = np.atleast_2d(np.asarray(rows, float))
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0] / lengths[lengths > 0, None]
    if not rows.size:
        return 0
    sizes = np.linalg.svd(rows, compute_uv=False)
    return int(np.count_nonzero(sizes > tolerance * sizes[0]))


def null_space(rows: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """Orthonormal columns that span what the rows leave free, (coordinates, dof).

    >>> abs(null_space(np.array([[1.0, 0.0]])))
    array([[0.],
           [1.]])
    """
    rows = np.atleast_2d(np.asarray(rows, float))
    _, sizes, right = np.linalg.svd(rows)
    return right[np.count_nonzero(sizes > tolerance * max(sizes, default=0.0)) :].T


def free_space(rows: np.ndarray) -> np.ndarray:
    """The same for independent rows, ten times faster: what an orthogonal factorisation leaves.

    >>> abs(free_space(np.array([[2.0, 0.0]])))
    array([[0.],
           [1.]])
    """
    return np.linalg.qr(np.asarray(rows, float).T, mode="complete")[0][:, len(rows) :]


def solve_minimum_norm(matrix: np.ndarray, b: np.ndarray, tolerance: float = 1e-11) -> np.ndarray:
    """The smallest x that comes closest to matrix x = b (dense; singular matrices welcome)."""
    return np.linalg.lstsq(matrix, b, rcond=tolerance)[0]
