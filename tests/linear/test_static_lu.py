"""The fixed-order LU against dense algebra and SciPy: rank, accelerations, multipliers, failures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from mechanisms import GROUND, Matrix, Mechanism, chain, four_bars, lattice, random_mechanism, zero_rows
from scipy.sparse.linalg import splu

from index3.linear import contract, static_lu
from index3.linear import solver as solving
from index3.linear.contract import BODY_SINGULAR, NOT_FINITE
from index3.linear.ordering import RULES
from index3.linear.reference import null_space, rank, sparse_matrix
from index3.linear.solver import Bordered, Solver
from index3.linear.static_solver import StaticLU

pytestmark = pytest.mark.jit_off


def solver(matrix: Matrix, rule: str | None = None) -> StaticLU:
    return StaticLU(matrix.given(), rule)


def right_side(matrix: Matrix, rng: np.random.Generator) -> np.ndarray:
    """Random forces, and rows that some accelerations satisfy even if they are redundant."""
    return np.r_[rng.normal(size=matrix.n), matrix.constraint_rows() @ rng.normal(size=matrix.n)]


def smallest_solution(rows: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smallest x that comes closest to rows x = b; redundant rows welcome."""
    return np.linalg.lstsq(rows, b, rcond=1e-11)[0]


def accelerations(matrix: Matrix, b: np.ndarray) -> np.ndarray:
    """Dense solution in the null space of P: one that satisfies the rows, and the rest by projection."""
    full = matrix.dense()
    H, P = full[: matrix.n, : matrix.n], full[matrix.n :, : matrix.n]
    particular = smallest_solution(P, b[matrix.n :])
    Z = null_space(P)
    return particular + Z @ np.linalg.solve(Z.T @ H @ Z, Z.T @ (b[: matrix.n] - H @ particular))


def check_solution(matrix: Matrix, lu: Solver, rng: np.random.Generator) -> None:
    """Rank, accelerations, and balance of forces with whatever multipliers came out."""
    assert lu.factor(matrix.values) == 0
    defect = matrix.m - rank(matrix.constraint_rows())
    assert len(zero_rows(lu)) == defect
    b = right_side(matrix, rng)
    x = lu.solve(b, refine=True)
    expected = accelerations(matrix, b)
    # 1e-10: measured 2e-11 at worst on these seeds and 4000 others, without positions close to singular ones
    assert abs(x[: matrix.n] - expected).max() < 1e-10 * abs(expected).max()
    residual = matrix.dense() @ x - b
    size = np.abs(matrix.dense()) @ np.abs(x) + np.abs(b)
    assert abs(residual).max() < 1e-10 * size.max()  # backward error; rows left out are satisfied by consistency
    assert not x[zero_rows(lu)].any()


def check_random_mechanisms(block: int, make: Callable[[Matrix], Solver]) -> None:
    """20 matrices: trees, loops, both kinds of bodies, repeated and dependent rows, gears, driven coordinates."""
    deficient = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        matrix = random_mechanism(rng).matrix(stiffness=0.1 * (seed % 2), unsymmetric=0.02 * (seed % 3 == 0))
        lu = make(matrix)
        check_solution(matrix, lu, rng)
        deficient += bool(zero_rows(lu).size)
    assert 0 < deficient < 20


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("block", range(6))
def test_random_mechanisms(rule: str, block: int) -> None:
    check_random_mechanisms(block, lambda matrix: solver(matrix, rule))


@pytest.mark.parametrize("rule", [*RULES, None])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: chain(12, rng),
        lambda rng: four_bars(3, rng),
        lambda rng: lattice((4, 3), rng),
        lambda rng: lattice((2, 2, 2), rng),
        lambda rng: lattice((5, 4), rng, planar=True),
    ],
    ids=["chain", "four bars", "plates", "cubes", "planar plates"],
)
def test_regular_mechanisms(make, rule: str | None) -> None:
    rng = np.random.default_rng(11)
    matrix = make(rng).matrix(stiffness=0.05, full_coupling=rule is None)
    check_solution(matrix, solver(matrix, rule), rng)


@pytest.mark.parametrize("loops", [1, 2, 5])
def test_redundant_rows_of_parallel_four_bars(loops: int) -> None:
    matrix = four_bars(loops, np.random.default_rng(0)).matrix()
    lu = solver(matrix)
    lu.factor(matrix.values)
    assert len(zero_rows(lu)) == 3 * loops


def test_multipliers_agree_with_superlu_where_unique() -> None:
    rng = np.random.default_rng(2)
    matrix = chain(10, rng).matrix(stiffness=0.1, unsymmetric=0.02)
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    b = rng.normal(size=matrix.n + matrix.m)
    expected = splu(sparse_matrix(matrix, matrix.values)).solve(b)
    # 1e-11: condition about 1e4 times rounding, with room for the other order of summation
    assert abs(lu.solve(b, refine=True) - expected).max() < 1e-11 * abs(expected).max()


@pytest.mark.parametrize("factor", [0.1, 1.0, 10.0])
def test_augmentation_changes_nothing_but_the_pivots(factor: float) -> None:
    rng = np.random.default_rng(3)
    matrix = chain(4, rng).matrix()
    matrix.augmentation = [(row, factor * c) for row, c in matrix.augmentation]
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    b = rng.normal(size=matrix.n + matrix.m)
    expected = np.linalg.solve(matrix.dense(), b)
    assert abs(lu.solve(b) - expected).max() < 1e-11 * abs(expected).max()  # rounding only: the same equations


def two_masses(first: float) -> Matrix:
    """Two coordinates of two bodies tied to each other: x_1 - x_0 = b; the mass of the first is given."""
    return Matrix(
        n=2,
        m=1,
        indptr=np.array([0, 3, 6, 9]),
        indices=np.tile(np.arange(3), 3),
        values=np.array([first, 0.0, -1.0, 0.0, 2.0, 1.0, -1.0, 1.0, 0.0]),
        node_of_scalar=np.array([0, 1, 2]),
        n_bodies=2,
        joint_bodies=[[0, 1]],
        augmentation=[],
    )


def test_massless_body_is_named() -> None:
    lu = solver(two_masses(0.0))
    assert lu.factor(two_masses(0.0).values) == BODY_SINGULAR
    assert lu.own[contract.INFO][contract.BAD_SCALAR] == 0
    assert lu.factor(two_masses(1.0).values) == 0  # and the failure leaves nothing behind
    assert lu.own[contract.INFO][contract.BAD_SCALAR] == -1
    assert lu.solve([3.0, 3.0, 1.0]) == pytest.approx([4 / 3, 7 / 3, -5 / 3], rel=1e-14)  # by hand


def test_joint_row_makes_up_for_missing_mass() -> None:
    matrix = two_masses(0.0)
    matrix.augmentation = [(2, 5.0)]
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    assert lu.solve([3.0, 3.0, 1.0]) == pytest.approx([2.0, 3.0, -3.0], rel=1e-14)  # by hand


def test_euler_parameters_without_augmentation_are_singular() -> None:
    matrix = chain(1, np.random.default_rng(0)).matrix()
    matrix.augmentation = []
    lu = solver(matrix)
    assert lu.factor(matrix.values) == BODY_SINGULAR
    assert lu.own[contract.INFO][contract.BAD_SCALAR] < matrix.n


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(bad: float) -> None:
    rng = np.random.default_rng(4)
    matrix = chain(3, rng).matrix()
    lu = solver(matrix)
    for place in (0, matrix.values.size // 2, matrix.values.size - 1):
        broken = matrix.values.copy()
        broken[place] = bad
        assert lu.factor(broken) == NOT_FINITE
    check_solution(matrix, lu, rng)  # nothing of the failures is left


def test_overflow_on_the_way_is_noticed() -> None:
    matrix = two_masses(1.0)
    matrix.values[[2, 5, 6, 7]] *= 1e200
    assert solver(matrix).factor(matrix.values) == NOT_FINITE


def test_solve_does_not_read_the_matrix() -> None:
    rng = np.random.default_rng(5)
    matrix = chain(3, rng).matrix()
    lu = solver(matrix)
    lu.factor(matrix.values)
    b = rng.normal(size=matrix.n + matrix.m)
    before = lu.solve(b), lu.solve(b, refine=True)
    assert (lu.own[contract.A][:-1] == matrix.values).all()
    lu.own[contract.A][:] = np.nan
    lu.own[static_lu.AUG_WEIGHT][:] = np.nan
    after = lu.solve(b), lu.solve(b, refine=True)
    assert all((x == y).all() for x, y in zip(before, after, strict=True))


def test_two_tables_share_one_matrix() -> None:
    rng = np.random.default_rng(6)
    matrix = chain(4, rng).matrix()
    lu = solver(matrix)
    values = np.append(matrix.values, np.nan)  # the last place is nobody's
    tables = lu.table(values), lu.table(values)
    tables[1][static_lu.AUG_WEIGHT] = 3.0 * tables[1][static_lu.AUG_WEIGHT]
    b = rng.normal(size=matrix.n + matrix.m)
    expected = np.linalg.solve(matrix.dense(), b)
    assert solving.factor(tables[0]) == 0
    values[: matrix.values.size] *= 2.0  # the first keeps its factors while the second sees a new matrix
    assert solving.factor(tables[1]) == 0
    for table, scale in zip(tables, (1.0, 2.0), strict=True):
        table[contract.X][:] = b
        solving.solve(table)
        # 1e-11: rounding at the condition of a short chain
        assert abs(table[contract.X] * scale - expected).max() < 1e-11 * abs(expected).max()


def test_refinement_does_not_make_it_worse() -> None:
    rng = np.random.default_rng(7)
    matrix = four_bars(4, rng).matrix(stiffness=0.1, unsymmetric=0.02)
    lu = solver(matrix)
    lu.factor(matrix.values)
    b = right_side(matrix, rng)
    expected = accelerations(matrix, b)
    plain, refined = (abs(lu.solve(b, refine=refine)[: matrix.n] - expected).max() for refine in (False, True))
    assert refined < max(plain, 1e-12 * abs(expected).max())  # 1e-12: where the reference's own rounding shows


def with_diagonal_block(matrix: Matrix, value: float) -> np.ndarray:
    """The values with `value` on the diagonal of the rows."""
    rows = np.repeat(np.arange(matrix.n + matrix.m), np.diff(matrix.indptr))
    values = matrix.values.copy()
    values[(matrix.indices == rows) & (rows >= matrix.n)] = value
    return values


def test_quasi_definite_matrix_without_the_rule() -> None:
    """[H P^T; P -I] is regular though rows are redundant: tolerance 0 treats every pivot as meant."""
    rng = np.random.default_rng(8)
    mech = Mechanism(rng)
    bodies = [mech.planar(rng.normal(size=3)) for _ in range(4)]
    for i, j in zip([GROUND, *bodies], [*bodies, GROUND], strict=True):
        mech.planar_joint(i, j, rng.normal(size=3))
    mech.repeat(2)
    matrix = mech.matrix(stiffness=0.1)
    matrix.values = with_diagonal_block(matrix, -1.0)
    table = solver(matrix).table(np.append(matrix.values, 0.0), find_rank=False)
    assert solving.factor(table) == 0
    assert not table[contract.ZERO].any()
    b = rng.normal(size=matrix.n + matrix.m)
    expected = np.linalg.solve(matrix.dense(), b)
    table[contract.X][:] = b
    solving.solve(table)
    assert abs(table[contract.X] - expected).max() < 1e-12 * abs(expected).max()  # well conditioned: rounding


def test_zero_row_is_left_out_by_the_rule_and_refused_without_it() -> None:
    matrix = two_masses(1.0)
    matrix.values[[2, 5, 6, 7]] = 0.0
    lu = solver(matrix)
    assert lu.factor(matrix.values) == 0
    assert zero_rows(lu).tolist() == [2]
    assert lu.solve([3.0, 4.0, 0.0]).tolist() == [3.0, 2.0, 0.0]
    table = lu.table(np.append(matrix.values, 0.0), find_rank=False)
    assert solving.factor(table) == NOT_FINITE


def test_counts_over_a_singular_position() -> None:
    """A four-bar with all rods in line has one more redundant row than elsewhere; the fewest seen is kept."""
    aligned, open_ = (four_bars(1, np.random.default_rng(9), angle).matrix() for angle in (0.0, 1.0))
    indptr, indices = common_pattern(aligned, open_)
    lu = StaticLU(open_.given().replaced(indptr=indptr, indices=indices))
    info = lu.own[contract.INFO]
    counts = []
    for matrix in (aligned, open_, aligned):
        values = matrix.dense()[lu.entries.indices, np.repeat(np.arange(lu.entries.size), np.diff(lu.entries.indptr))]
        assert lu.factor(values) == 0
        counts.append((int(info[contract.N_ZERO]), int(info[contract.FEWEST_ZERO])))
    assert counts == [(4, 4), (3, 3), (4, 3)]
    assert info[contract.N_FACTOR] == 3


def common_pattern(*matrices: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """A pattern that holds the entries of all matrices."""
    columns, rows = np.nonzero(sum(abs(m.dense()) for m in matrices).T + np.eye(matrices[0].n + matrices[0].m))
    return np.searchsorted(columns, np.arange(matrices[0].n + matrices[0].m + 1)), rows


def test_matrix_of_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 10 values"):
        solver(two_masses(1.0)).table(np.zeros(9))


def test_augmentation_outside_the_pattern_is_refused() -> None:
    indptr, indices = np.array([0, 2, 4, 7]), np.array([0, 2, 1, 2, 0, 1, 2])
    with pytest.raises(ValueError, match="lacks entry"):
        StaticLU(Bordered(2, 1, indptr, indices, [0, 1, 2], 2, [[0, 1]], [(2, 1.0)]))


def test_reference_rank_and_null_space() -> None:
    rows = np.array([[1.0, 0.0, 0.0], [1e-8, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert rank(rows) == 2  # rows are scaled: a small one counts as much as any
    Z = null_space(rows)
    assert Z.shape == (3, 1)
    assert abs(rows @ Z).max() < 1e-15  # rounding of an orthonormal vector
    assert rank(np.zeros((2, 3))) == 0


def test_sifted_factors_give_the_same_solution():
    """Bodies whose coupling in H is zero: solving passes over what comes out zero and changes nothing."""
    matrix = lattice((3, 3), np.random.default_rng(3)).matrix()
    values = matrix.values
    plain, sifting = solver(matrix), solver(matrix)
    sifting.sift = True
    b = right_side(matrix, np.random.default_rng(4))
    for lu in (plain, sifting):
        assert lu.factor(values) == 0
    assert np.array_equal(plain.solve(b, refine=True), sifting.solve(b, refine=True))
    table = sifting.own
    kept = np.count_nonzero(table[static_lu.LX])
    assert table[static_lu.SLP][-1] == kept < len(table[static_lu.LX])
