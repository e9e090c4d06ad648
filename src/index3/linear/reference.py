"""The same matrix in SciPy and dense algebra: for analyses that need more of it than solutions, and for tests."""

from __future__ import annotations

from typing import Any

import numpy as np


def sparse_matrix(pattern: Any, values: np.ndarray) -> Any:
    """The matrix with these entries (a spare one at the end is ignored) as a SciPy sparse array by columns.

    `pattern` has `indptr` and `indices`.
    """
    from scipy.sparse import csc_array

    size = len(pattern.indptr) - 1
    return csc_array((np.asarray(values)[: len(pattern.indices)], pattern.indices, pattern.indptr), (size, size))


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
