"""Symmetric matrices are eliminated in panels or wide blocks, with the pivots, rank and rows left out of the LU."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms import Matrix, chain, four_bars, lattice, random_mechanism, zero_rows
from test_static_lu import accelerations, right_side, solver, two_masses

from index3.engine.equations import Equations
from index3.library import chain as chain_model
from index3.library import double_pendulum, iltis
from index3.linear import contract, static_lu, supernodes
from index3.linear.ordering import RULES
from index3.linear.reference import rank
from index3.linear.registry import solver_of
from index3.linear.solver import Bordered
from index3.linear.static_solver import StaticLU
from index3.methods import projection_kernels

pytestmark = pytest.mark.jit_off


@pytest.fixture(params=["panels", "wide"])
def always(monkeypatch, request) -> None:
    """All matrices in one of both ways, as if the other took more time."""
    monkeypatch.setattr(supernodes, "COLUMN", -(10**6) if request.param == "panels" else 10**6)


def in_panels(lu: StaticLU) -> bool:
    """Whether symmetric matrices are eliminated in panels."""
    return len(lu.shared[static_lu.PAIRS]) > 0


def halved(lu: StaticLU) -> bool:
    """Whether the last factors are those of a symmetric matrix."""
    return bool(lu.own[static_lu.CHOICE][static_lu.HALVED])


def check(matrix: Matrix, lu: StaticLU, rng: np.random.Generator) -> None:
    """Rank, rows left out, accelerations, balance of forces, and multipliers, against the LU of the same matrix."""
    b = right_side(matrix, rng)
    assert lu.factor(matrix.values) == 0
    assert not halved(lu)
    expected, left_out = lu.solve(b, refine=True), zero_rows(lu)
    lu = lu.with_numbers(lu.given)  # one that knows nothing of the rank
    assert lu.factor(matrix.values, symmetric=True) == 0
    assert halved(lu)
    assert np.array_equal(zero_rows(lu), left_out)
    assert len(left_out) == matrix.m - rank(matrix.constraint_rows())
    x = lu.solve(b, refine=True)
    a = accelerations(matrix, b)
    assert abs(x[: matrix.n] - a).max() < 1e-10 * abs(a).max()  # as `check_solution` of the LU
    assert abs(x - expected).max() < 1e-8 * abs(expected).max()  # multipliers: conditions of up to 1e7
    residual = matrix.dense() @ x - b
    assert abs(residual).max() < 1e-10 * (np.abs(matrix.dense()) @ np.abs(x) + np.abs(b)).max()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("block", range(3))
def test_random_mechanisms(rule: str, block: int, always: None) -> None:
    deficient = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        matrix = random_mechanism(rng).matrix(full_coupling=seed % 2 == 0)
        lu = solver(matrix, rule)
        check(matrix, lu, rng)
        deficient += bool(zero_rows(lu).size)
    assert 0 < deficient < 20


@pytest.mark.parametrize("rule", [*RULES, None])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: chain(12, rng),
        lambda rng: four_bars(3, rng),
        lambda rng: lattice((4, 3), rng),
        lambda rng: lattice((5, 4), rng, planar=True),
    ],
    ids=["chain", "four bars", "plates", "planar plates"],
)
def test_regular_mechanisms(make, rule: str | None, always: None) -> None:
    rng = np.random.default_rng(0)
    matrix = make(rng).matrix(full_coupling=True)
    check(matrix, solver(matrix, rule), rng)


def test_one_half_is_read(always: None) -> None:
    """Numbers below the diagonal do not matter; so a matrix is never halved unasked."""
    rng = np.random.default_rng(3)
    matrix = chain(4, rng).matrix()
    lu, b = solver(matrix), rng.normal(size=matrix.n + matrix.m)
    lu.factor(matrix.values, symmetric=True)
    expected = lu.solve(b)
    columns = np.repeat(np.arange(matrix.n + matrix.m), np.diff(matrix.indptr))
    values, lower = matrix.values.copy(), matrix.indices > columns
    assert lower.sum() > 0.3 * len(values)
    values[lower] += 1.0
    lu.factor(values, symmetric=True)
    assert np.array_equal(lu.solve(b), expected)
    assert np.array_equal(lu.own[static_lu.SOURCE], np.flatnonzero(~lower & (matrix.indices < matrix.n)))
    assert lu.factor(values) == 0
    assert not halved(lu)  # the flag is for one factorisation
    assert abs(lu.solve(b) - expected).max() > 1e-3


def test_rows_that_make_up_for_missing_mass_couple_bodies(always: None) -> None:
    """Their squares are added between bodies, where the mass matrix has nothing."""
    matrix = two_masses(0.0)
    columns = np.repeat(np.arange(matrix.n + matrix.m), np.diff(matrix.indptr))
    apart = (matrix.indices < matrix.n) & (columns < matrix.n) & (matrix.indices != columns)
    assert apart.any()
    given = matrix.given().replaced(augmentation=[(matrix.n, 1.0)], between_bodies=apart)
    lu, b = StaticLU(given), np.arange(1.0, matrix.n + matrix.m + 1)
    lu.factor(matrix.values)
    expected = lu.solve(b)
    lu.factor(matrix.values, symmetric=True)
    assert halved(lu)
    assert lu.solve(b) == pytest.approx(expected, rel=1e-12)  # rounding


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(bad: float, always: None) -> None:
    matrix = chain(3, np.random.default_rng(0)).matrix()
    lu, values = solver(matrix), matrix.values.copy()
    values[lu.own[static_lu.SOURCE][5]] = bad
    assert lu.factor(values, symmetric=True) == contract.NOT_FINITE
    assert lu.factor(matrix.values, symmetric=True) == 0
    assert np.isfinite(lu.solve(np.ones(matrix.n + matrix.m))).all()


def products(lu: StaticLU) -> int:
    """Multiplications of one symmetric elimination."""
    width, below = np.diff(lu.shared[static_lu.NODE_FIRST]), np.diff(lu.shared[static_lu.NODE_BELOW])
    return int((width * (width - 1) * (width + 1 + 3 * below) // 6 + width * below * (below + 1) // 2).sum())


def test_work_of_a_chain() -> None:
    """Four tenths of the products of an LU: joints couple the turning of neighbours by their stiffness alone."""
    lu = solver_of(Equations(chain_model(20), "test").system)
    assert isinstance(lu, StaticLU)
    assert in_panels(lu)
    assert products(lu) < 0.42 * lu.pattern.flops / 2  # 2 for a multiplication and an addition
    assert len(lu.shared[static_lu.PAIRS]) < 0.35 * products(lu)  # panels: places are looked up for a third of them


def test_few_wide_blocks_are_eliminated_densely() -> None:
    """A car of natural coordinates: bodies share points, and most of the factors is dense."""
    lu = solver_of(Equations(iltis(), "test").system)
    assert isinstance(lu, StaticLU)
    assert not in_panels(lu)
    assert np.diff(lu.shared[static_lu.NODE_FIRST]).max() > 20


def test_small_mechanisms_are_halved_too() -> None:
    lu = solver_of(Equations(double_pendulum(), "test").system)
    assert isinstance(lu, StaticLU)
    assert in_panels(lu)
    assert lu.factor(np.zeros(len(lu.entries.indices)), symmetric=True) == contract.BODY_SINGULAR
    assert halved(lu)


def test_no_panel_without_rows_below() -> None:
    """A matrix of one scalar: nothing is changed by its elimination."""
    lu = StaticLU(Bordered(1, 0, [0, 1], [0], [0], 1, []))
    assert lu.factor([4.0], symmetric=True) == 0
    assert halved(lu)
    assert not in_panels(lu)
    assert lu.solve([2.0]) == pytest.approx([0.5])


def test_projections_say_so() -> None:
    """The matrices of projections and accelerations are factored by halves; those of Newton's iterations are not."""
    equations = Equations(chain_model(4), "test")
    projection = equations.projection
    assert projection_kernels.assemble_accelerations(equations.state.handle, projection.handle) == 0
    factors = projection.factors
    assert factors[static_lu.CHOICE][static_lu.HALVED] == 1
    assert not factors[static_lu.LX].any()
    assert factors[contract.INFO][contract.SYMMETRIC] == 0
