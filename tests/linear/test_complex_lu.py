"""Complex matrices beside a real factorisation: against dense algebra, with redundant rows, and singular ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from mechanisms import Matrix, chain, four_bars, random_mechanism, zero_rows
from test_static_lu import smallest_solution, solver

from index3.linear import complex_lu, contract
from index3.linear import solver as solving
from index3.linear.contract import NOT_FINITE
from index3.linear.reference import null_space

pytestmark = pytest.mark.jit_off
Z = 0.16 + 0.18j
"""About the complex eigenvalue of Radau IIA."""


def complex_values(matrix: Matrix, rng: np.random.Generator) -> np.ndarray:
    """H + Z D + Z^2 K with D and K that differ from H on their diagonals; borders stay."""
    values, columns = matrix.values.astype(complex), np.repeat(np.arange(matrix.n + matrix.m), np.diff(matrix.indptr))
    block = (matrix.indices < matrix.n) & (columns < matrix.n)
    diagonal = block & (matrix.indices == columns)
    values[block] *= 1.0 + 0.7 * Z + 30.0 * Z**2
    values[diagonal] += rng.uniform(0.1, 1.0, matrix.n) * Z + rng.uniform(0.1, 10.0, matrix.n) * Z**2
    return values


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [partial(chain, 5), partial(four_bars, 3), random_mechanism])
def test_solution_is_that_of_dense_algebra(make, seed):
    rng = np.random.default_rng(seed)
    matrix = make(rng).matrix(stiffness=0.1)
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    table, values = lu.complex_table(lu.own), complex_values(matrix, rng)
    table[contract.COMPLEX_A][:-1] = values
    assert solving.factor(table) == 0
    P = matrix.constraint_rows()
    b = np.r_[rng.normal(size=matrix.n) + 1j * rng.normal(size=matrix.n), P @ (rng.normal(size=matrix.n) * (1 + 2j))]
    table[contract.COMPLEX_X][:] = b
    solving.solve(table)
    x, n = table[contract.COMPLEX_X].copy(), matrix.n
    H, basis = replace(matrix, values=values).dense()[:n, :n], null_space(P)
    start = smallest_solution(P, b[n:].real) + 1j * smallest_solution(P, b[n:].imag)
    expected = start + basis @ np.linalg.solve(basis.T @ H @ basis, basis.T @ (b[:n] - H @ start))
    assert abs(x[:n] - expected).max() < 1e-10 * abs(expected).max()  # no refinement; measured 1e-12 at worst
    assert not x[zero_rows(lu)].any()
    assert not table[complex_lu.WORK].any()


def test_singular_and_broken_matrices_are_noticed():
    matrix = chain(2, np.random.default_rng(0)).matrix()
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    table = lu.complex_table(lu.own)
    for broken in (np.nan, 0.0):
        table[contract.COMPLEX_A][:-1] = broken
        assert solving.factor(table) == NOT_FINITE
