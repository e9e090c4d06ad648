"""Shape functions and Gauss points of beams in absolute nodal coordinates.

A beam's centre line is a cubic in each element: the position r and the slope r_x at both nodes are its coordinates. All
functions take x along the element, 0 to `length`, and return one row of coefficients for each x.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def gauss(count: int, length: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Points in 0..length and weights that integrate polynomials up to the degree 2 count - 1.

    >>> x, w = gauss(2, 3.0)
    >>> round(float(w @ x**3), 9)
    20.25
    """
    x, w = np.polynomial.legendre.leggauss(count)
    return 0.5 * length * (x + 1.0), 0.5 * length * w


def cubic(x: Any, length: float, derivative: int = 0) -> np.ndarray:
    """Coefficients (..., 4) of (r1, r1_x, r2, r2_x) in r(x), or in its first, second or third derivative by x.

    >>> cubic(0.5, 1.0).tolist()
    [0.5, 0.125, 0.5, -0.125]
    """
    t, one = np.asarray(x, float) / length, np.ones_like(np.asarray(x, float))
    rows = (
        (1 - 3 * t**2 + 2 * t**3, t - 2 * t**2 + t**3, 3 * t**2 - 2 * t**3, t**3 - t**2),
        (6 * t**2 - 6 * t, 1 - 4 * t + 3 * t**2, 6 * t - 6 * t**2, 3 * t**2 - 2 * t),
        (12 * t - 6, 6 * t - 4, 6 - 12 * t, 6 * t - 2),
        (12 * one, 6 * one, -12 * one, 6 * one),
    )[derivative]
    scale = np.array((1.0, length, 1.0, length)) / length**derivative
    return np.stack(rows, axis=-1) * scale


def planar(x: Any, y: Any, length: float, by_x: int = 0, by_y: int = 0) -> np.ndarray:
    """Coefficients (..., 6) of (r1, r1_x, r1_y, r2, r2_x, r2_y) in r(x, y) of the planar beam, or in its derivatives.

    r = cubic(x) + y ((1 - x/l) r1_y + x/l r2_y).
    """
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    rows = np.zeros((*x.shape, 6))
    if by_y == 0:
        rows[..., [0, 1, 3, 4]] = cubic(x, length, by_x)
    across = np.stack((1.0 - x / length, x / length), axis=-1)
    if by_x == 1:
        across = np.ones_like(across) * (-1.0 / length, 1.0 / length)
    if by_x < 2 and by_y < 2:
        rows[..., [2, 5]] = across if by_y == 1 else y[..., None] * across
    return rows
