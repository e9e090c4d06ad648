"""Cubic pieces y = a0 + s (a1 + s (a2 + s a3)): value, slope and area; floats in kernels, arrays elsewhere."""

from __future__ import annotations

from index3.compiled.interface import helper


@helper
def cubic(a0, a1, a2, a3, s):
    """The value at s."""
    return a0 + s * (a1 + s * (a2 + s * a3))


@helper
def cubic_slope(a1, a2, a3, s):
    """The derivative at s."""
    return a1 + s * (2.0 * a2 + s * (3.0 * a3))


@helper
def cubic_area(a0, a1, a2, a3, s):
    """The integral from 0 to s."""
    return s * (a0 + s * (a1 / 2.0 + s * (a2 / 3.0 + s * (a3 / 4.0))))
