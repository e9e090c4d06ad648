"""3-vectors as tuples of components: floats in kernels, whole time histories (arrays) in results."""

from __future__ import annotations

from math import sqrt

from index3.compiled.interface import helper


@helper
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@helper
def sub(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@helper
def scale(c, a):
    """c a."""
    return (c * a[0], c * a[1], c * a[2])


@helper
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a, b):
    """a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@helper
def norm(a):
    """Length of a vector of floats."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@helper
def absolute(a, b):
    """Sum of the absolute terms of a . b: the scale of a dot product's rounding."""
    return abs(a[0] * b[0]) + abs(a[1] * b[1]) + abs(a[2] * b[2])


@helper
def load(array, row):
    """The vector in a row of an (n, 3) array."""
    return (array[row, 0], array[row, 1], array[row, 2])


@helper
def load_at(array, row, first):
    """The vector at columns first, first+1, first+2 of a row."""
    return (array[row, first], array[row, first + 1], array[row, first + 2])


@helper
def put_at(array, row, first, a):
    """Write a vector into three columns of a row."""
    array[row, first] = a[0]
    array[row, first + 1] = a[1]
    array[row, first + 2] = a[2]


@helper
def add_at(array, row, first, a):
    """Add a vector to three columns of a row."""
    array[row, first] += a[0]
    array[row, first + 1] += a[1]
    array[row, first + 2] += a[2]


@helper
def pick(b, k):
    """b_k of three vectors; unlike b[k], it cannot fail."""
    if k == 0:
        return b[0]
    if k == 1:
        return b[1]
    return b[2]


@helper
def skew(a):
    """The matrix of a x . as a 9-tuple, row by row."""
    return (0.0 * a[0], -a[2], a[1], a[2], 0.0 * a[1], -a[0], -a[1], a[0], 0.0 * a[2])


@helper
def outer(a, b):
    """a b^T as a 9-tuple, row by row."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@helper
def multiply(A, B):
    """Product of two 3x3 matrices given as 9-tuples, row by row."""
    a, b, c, d, e, f, g, h, i = A
    return (
        a * B[0] + b * B[3] + c * B[6], a * B[1] + b * B[4] + c * B[7], a * B[2] + b * B[5] + c * B[8],
        d * B[0] + e * B[3] + f * B[6], d * B[1] + e * B[4] + f * B[7], d * B[2] + e * B[5] + f * B[8],
        g * B[0] + h * B[3] + i * B[6], g * B[1] + h * B[4] + i * B[7], g * B[2] + h * B[5] + i * B[8],
    )  # fmt: skip


@helper
def apply(A, x):
    """A x for a 9-tuple A."""
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    )


@helper
def apply_transposed(A, x):
    """A^T x for a 9-tuple A."""
    return (
        A[0] * x[0] + A[3] * x[1] + A[6] * x[2],
        A[1] * x[0] + A[4] * x[1] + A[7] * x[2],
        A[2] * x[0] + A[5] * x[1] + A[8] * x[2],
    )
