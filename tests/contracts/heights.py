"""A helper that kernels of a module beside it take in."""

from index3.compiled.interface import helper


@helper
def rise(r, i, j):
    """How much higher a point is than another."""
    return r[j, 2] - r[i, 2]
