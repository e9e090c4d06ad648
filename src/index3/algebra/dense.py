"""Small dense matrices, as helpers of kernels."""

from __future__ import annotations

from index3.compiled.interface import helper


@helper
def decompose(a, pivot):
    """LU with partial pivoting in place; whether it is regular."""
    n = a.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        pivot[k] = p
        if not (0.0 < abs(a[p, k]) < 1e300):
            return False
        for j in range(n):
            x = a[k, j]
            a[k, j] = a[p, j]
            a[p, j] = x
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            x = a[i, k]
            if x != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= x * a[k, j]
    return True


@helper
def substitute(a, pivot, b):
    """b <- a^-1 b for a decomposed a."""
    n = b.shape[0]
    for k in range(n):
        x = b[pivot[k]]
        b[pivot[k]] = b[k]
        b[k] = x
    for i in range(n):
        for j in range(i):
            b[i] -= a[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]


@helper
def add_matrix(a, x, c, y):
    """y += c a x."""
    for i in range(y.shape[0]):
        z = 0.0
        for j in range(x.shape[0]):
            z += a[i, j] * x[j]
        y[i] += c * z
