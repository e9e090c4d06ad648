"""The fastest vibration and decay of small motions about a state, by power iterations on the manifold.

z = -P M^-1 K x and z = -P M^-1 D x, with P the mass-orthogonal projection on velocities that the constraints allow:
each is one solution by the factors of the bordered mass matrix.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.linear import contract
from index3.methods.run import core

LINK, STIFF, DAMP, DIRECTION, START, RATES = SLOTS = slots(
    link=("i8", 1),  # the handle of the factors
    stiff=("f8", 1), damp=("f8", 1), direction=("f8", 1), start=("f8", 1),  # K, D; x; the first x
    rates=("f8", 1),  # squared angular frequency, decay rate
)  # fmt: skip
ITERATIONS = 12


@helper
def fill_with(T, place, target):
    """Copy the matrix that has one part alone; OK or a positive code."""
    coef, matrix = view(T, s.COEF), view(T, s.MATRIX)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[place] = 1.0
    code = core(T, s.CORE_MATRIX)
    for p in range(target.shape[0]):
        target[p] = matrix[p]
    return code


@helper
def length_of(x, n):
    """The Euclidean length of the first n numbers."""
    total = 0.0
    for k in range(n):
        total += x[k] * x[k]
    return sqrt(total)


@helper
def largest_ratio(T, E, S, values):
    """The largest eigenvalue of P M^-1 A, M being factored; A has these entries.

    It is what two iterations make of a vector: of states x' = v, v' = -k x, which vibrate, one of them makes 1 and the
    other k of it.
    """
    ap, ai, hend, right = view(S, contract.AP), view(S, contract.AI), view(S, contract.HEND), view(S, contract.X)
    x, start, size, before, any_value = view(E, DIRECTION), view(E, START), 0.0, 0.0, False
    n = x.shape[0]
    for j in range(n):
        x[j] = start[j]
        for p in range(ap[j], hend[j]):
            any_value = any_value or values[p] != 0.0
    if not any_value:
        return 0.0
    for _ in range(ITERATIONS):
        for k in range(right.shape[0]):
            right[k] = 0.0
        for j in range(n):
            for p in range(ap[j], hend[j]):
                right[ai[p]] += values[p] * x[j]
        contract.solve(T, S)
        length = length_of(right, n)
        before, size = size, length / max(length_of(x, n), 1e-300)
        if size == 0.0:
            break
        for k in range(n):
            x[k] = right[k] / length
    return sqrt(before * size)


@kernel
def fastest_rates(T, E):
    """RATES at the state in T; OK, or a positive code if the equations have no value there."""
    S, rates = view(E, LINK)[0], view(E, RATES)
    stiff, damp = view(E, STIFF), view(E, DAMP)
    code = core(T, s.CORE_FORCES)
    if code == OK:
        code = core(T, s.CORE_JACOBIAN)
    if code == OK:
        code = fill_with(T, s.C_K, stiff)
    if code == OK:
        code = fill_with(T, s.C_D, damp)
    if code == OK:
        code = fill_with(T, s.C_M, view(E, DIRECTION)[:0])
    if code != OK:
        return code
    contract.factor(T, S)
    rates[0] = largest_ratio(T, E, S, stiff)
    rates[1] = largest_ratio(T, E, S, damp)
    return OK
