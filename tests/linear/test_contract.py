"""Solvers behind one contract: what they offer, that they agree, what they refuse, and that nobody goes around it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from mechanisms import chain, four_bars, lattice, random_mechanism, zero_rows
from test_complex_lu import complex_values
from test_static_lu import check_random_mechanisms, check_solution, right_side, two_masses, with_diagonal_block

import index3
import index3 as ix
from index3.engine.settings import check_solver
from index3.errors import ModelError, SingularError
from index3.linear import contract, scipy_lu
from index3.linear import solver as solving
from index3.linear.registry import SOLVERS, solver_class
from index3.linear.scipy_lu import ScipyLU
from index3.linear.solver import NEEDS

SOURCES = Path(index3.__file__).parent
OPEN = {"__init__", "contract", "solver", "registry", "reference", "envelope"}
"""Modules of `linear` that the rest of the package may know: the contract, dense algebra, the numbering of joints."""
HIDDEN = sorted({path.stem for path in (SOURCES / "linear").glob("*.py")} - OPEN)
METHODS = list(ix.METHODS)
ACCELERATIONS_ONLY = [key for key, method in ix.METHODS.items() if not method.needs]


def test_nobody_outside_names_a_solver():
    """No import of a solver's module, no mention of its class or (unless it is an English word) of its name."""
    assert {
        "static_lu",
        "static_ldl",
        "static_panels",
        "static_factor",
        "supernodes",
        "static_substitution",
        "static_solver",
        "partial_lu",
        "partial_solver",
        "complex_lu",
        "scipy_lu",
        "reduced",
        "reduced_kernels",
    } <= set(HIDDEN)
    names = [name for name in HIDDEN if "_" in name] + [cls.__name__ for cls in SOLVERS.values()]
    mention = re.compile(rf"\b({'|'.join(names)})\b")
    of_linear = re.compile(rf"index3\.linear(\.| import .*\b)({'|'.join(HIDDEN)})\b")
    for path in SOURCES.rglob("*.py"):
        if path.parent != SOURCES / "linear" and path != SOURCES / "names.py":  # the table of declarations
            for line in path.read_text().splitlines():
                assert not mention.search(line), f"{path}: {line}"
                assert not of_linear.search(line), f"{path}: {line}"


def test_the_import_contract_hides_every_solver():
    """The list in pyproject.toml is that of the folder, and holds for all rooms above `linear`."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (found,) = (one for one in contracts if one["name"] == "Solvers are known by their contract")
    assert sorted(found["forbidden_modules"]) == [f"index3.linear.{name}" for name in HIDDEN]
    (layers,) = (one["layers"] for one in contracts if one["type"] == "layers")
    above = re.findall(r"\w+", " ".join(layers[: layers.index("linear")]))
    there = [room for room in above if (SOURCES / room).is_dir() or (SOURCES / f"{room}.py").exists()]
    assert sorted(found["source_modules"]) == sorted(f"index3.{room}" for room in there)


def test_every_solver_keeps_to_the_contract():
    for name in SOLVERS:
        solver = solver_class(name)
        assert solver.name == name
        assert solver.offers <= set(NEEDS)
        assert solver.slots[: len(contract.SLOTS)] == contract.SLOTS
    for method in ix.METHODS.values():
        assert method.needs <= set(NEEDS)


@pytest.mark.jit_off
@pytest.mark.parametrize("block", range(3))
def test_scipy_finds_rank_and_accelerations_of_random_mechanisms(block):
    check_random_mechanisms(block, lambda matrix: ScipyLU(matrix.given()))


@pytest.mark.jit_off
@pytest.mark.parametrize("find_rank", [True, False])
@pytest.mark.parametrize("name", ["static", "partial", "scipy"])
def test_a_diagonal_of_the_rows_enters_the_solution(name, find_rank):
    """Penalties: also in rows whose square the static solver adds to a body's block."""
    rng = np.random.default_rng(3)
    matrix = chain(4, rng).matrix(stiffness=0.1)
    matrix.values = with_diagonal_block(matrix, -0.3)
    solver = solver_class(name)(matrix.given())
    table = solver.table(np.append(matrix.values, 0.0), find_rank=find_rank)
    assert solving.factor(table) == 0
    b = rng.normal(size=matrix.n + matrix.m)
    expected = np.linalg.solve(matrix.dense(), b)
    for solve in (solving.solve, solving.solve_refined):
        table[contract.X][:] = b
        solve(table)
        assert abs(table[contract.X] - expected).max() < 1e-11 * abs(expected).max()  # rounding of a short chain


@pytest.mark.jit_off
@pytest.mark.parametrize("make", [lambda rng: chain(5, rng), lambda rng: four_bars(3, rng), random_mechanism])
def test_complex_matrices_give_the_same_by_all(make):
    rng = np.random.default_rng(1)
    matrix = make(rng).matrix(stiffness=0.1)
    values, b, found = complex_values(matrix, rng), right_side(matrix, rng), []
    for name in ("static", "partial", "scipy"):
        lu = solver_class(name)(matrix.given())
        assert lu.factor(matrix.values) == 0
        table = lu.complex_table(lu.own)
        table[contract.COMPLEX_A][:-1] = values
        assert solving.factor(table) == 0
        table[contract.COMPLEX_X][:] = b
        solving.solve(table)
        found.append(table[contract.COMPLEX_X][: matrix.n].copy())
        assert not table[contract.COMPLEX_X][zero_rows(lu)].any()
        table[contract.COMPLEX_A][:-1] = np.nan
        assert solving.factor(table) == contract.NOT_FINITE
    for other in found[1:]:
        assert abs(found[0] - other).max() < 1e-10 * abs(found[0]).max()  # no refinement; 1e-12 seen


@pytest.mark.jit_off
@pytest.mark.parametrize("name", ["static", "partial", "scipy"])
def test_the_margin_falls_with_the_square_of_the_sine(name):
    """Two rows on one mass, an angle apart: one of them is left out at a squared sine of 1e-9."""
    margins = []
    for angle in (1e-1, 1e-2, 1e-3, 1e-6):
        matrix = two_rows(angle)
        lu = solver_class(name)(matrix.given())
        assert lu.factor(matrix.values) == 0
        margins.append(lu.own[contract.MARGIN][0])
        assert len(zero_rows(lu)) == (angle < 3e-5)
    assert 1e6 < margins[0] < 1e8  # squared sine of 0.1 over 1e-9
    assert margins[1] == pytest.approx(1e-2 * margins[0], rel=0.3)  # an estimate, and the curvature of the sine
    assert margins[2] == pytest.approx(1e-2 * margins[1], rel=0.3)
    assert margins[3] > 1e6  # of the row that is left


def two_rows(angle):
    """Two coordinates of one body, held along x and along a direction close to it."""
    matrix = two_masses(1.0)
    matrix.m, matrix.indptr, matrix.indices = 2, np.arange(0, 17, 4), np.tile(np.arange(4), 4)
    full = np.zeros((4, 4))
    full[:2, :2] = np.eye(2)
    full[2:, :2] = [[1.0, 0.0], [np.cos(angle), np.sin(angle)]]
    full[:2, 2:] = full[2:, :2].T
    matrix.values, matrix.node_of_scalar = full.T.ravel(), np.array([0, 0, 1, 2])
    matrix.n_bodies, matrix.joint_bodies = 1, [[0, -1], [0, -1]]
    return matrix


@pytest.mark.jit_off
def test_scipy_names_a_body_without_inertia_and_numbers_that_are_not_finite():
    lu = ScipyLU(two_masses(0.0).given())
    values = two_masses(0.0).values
    values[[2, 6]] = 0.0  # nothing holds the first body either
    assert lu.factor(values) == contract.BODY_SINGULAR
    assert lu.own[contract.INFO][contract.BAD_SCALAR] == 0
    values[0] = np.nan
    assert lu.factor(values) == contract.NOT_FINITE
    assert lu.factor(two_masses(1.0).values) == 0
    assert lu.solve([3.0, 3.0, 1.0]) == pytest.approx([4 / 3, 7 / 3, -5 / 3], rel=1e-14)  # by hand
    assert lu.own[contract.INFO][[contract.N_FACTOR, contract.BAD_SCALAR]].tolist() == [3, -1]


@pytest.mark.jit_off
@pytest.mark.filterwarnings("error")
def test_scipy_says_nothing_of_solutions_whose_squares_overflow():
    """Of a matrix that is all but singular."""

    class Lu:
        def solve(self, x, transposed):
            return 1e200 * x

    value, direction = scipy_lu.smallest_direction(Lu(), 3)
    assert value == 0.0
    assert np.isfinite(direction).all()


def test_scipy_refuses_large_systems_whose_rank_it_cannot_tell(monkeypatch):
    matrix = four_bars(2, np.random.default_rng(0)).matrix()
    lu = ScipyLU(matrix.given())
    monkeypatch.setattr(scipy_lu, "DENSE", matrix.m - 1)
    assert lu.factor(matrix.values) == contract.ROW_REDUNDANT
    row = lu.own[contract.INFO][contract.BAD_SCALAR] - matrix.n
    P = matrix.constraint_rows()
    assert np.linalg.matrix_rank(np.delete(P, row, 0), 1e-9) == np.linalg.matrix_rank(P, 1e-9)


@pytest.mark.jit_off
def test_plates_by_both():
    rng = np.random.default_rng(11)
    matrix = lattice((4, 3), rng).matrix(stiffness=0.05)
    check_solution(matrix, ScipyLU(matrix.given()), rng)


@pytest.mark.parametrize("model", [ix.library.four_bar, ix.library.slider_crank, lambda: ix.library.chain(3)])
@pytest.mark.parametrize("key", METHODS)
def test_all_methods_agree_with_scipy(key, model):
    """A spatial loop with redundant rows, a planar one, a tree: the same motion and reactions."""
    runs = [
        ix.simulate(model(), (0.0, 0.1), key, rtol=1e-5, t_eval=[0.05, 0.1], linear=linear)
        for linear in ("static", "scipy")
    ]
    for result in runs:
        assert result.success, result.message
    static, scipy = runs
    assert np.abs(static.q - scipy.q).max() < 1e-8  # rounding in the choice of steps; rtol is 1e-5, 1e-10 seen
    scale = max(1.0, np.abs(static.lam).max())
    assert np.abs(static.lam - scipy.lam).max() < 1e-7 * scale  # accelerations follow q and v by the frequencies
    assert scipy.options["linear"] == "scipy"
    assert "linear" not in static.options


@pytest.mark.parametrize("key", ACCELERATIONS_ONLY)
def test_methods_that_need_accelerations_alone_take_the_reduced_matrix(key):
    for model in (ix.library.chain(3), ix.library.andrews()):
        end = 0.1 if model.name != "andrews" else 0.005
        static, reduced = (
            ix.simulate(model, (0.0, end), key, rtol=1e-5, t_eval=[end], linear=linear)
            for linear in ("static", "reduced")
        )
        assert reduced.success, reduced.message
        assert np.abs(static.q - reduced.q).max() < 1e-8  # as above
        assert np.abs(static.lam - reduced.lam).max() < 1e-7 * max(1.0, np.abs(static.lam).max())


def test_an_automatic_run_with_scipy():
    result = ix.simulate(ix.library.four_bar(), (0.0, 0.1), linear="scipy")
    assert result.success, result.message


def test_unsuitable_solvers_are_refused_by_name():
    for key in sorted(set(METHODS) - set(ACCELERATIONS_ONLY)):
        with pytest.raises(ModelError, match=rf"Method '{key}' needs .* linear='reduced' cannot take.*'static'"):
            ix.simulate(ix.library.chain(2), (0.0, 0.1), key, linear="reduced")
    with pytest.raises(ModelError, match=r"method='auto' needs .* linear='reduced'"):
        ix.simulate(ix.library.chain(2), (0.0, 0.1), linear="reduced")
    model = ix.library.chain(2)
    model.add(ix.AddedMass("water", model["link1"], mass=1.0))
    with pytest.raises(ModelError, match=r"'water', which depends on accelerations, needs unsymmetric matrices"):
        check_solver("reduced", ix.METHODS["dopri5"], model)
    with pytest.raises(SingularError, match=r"Row .* of Revolute .* is redundant.* Use linear='static'"):
        ix.simulate(ix.library.four_bar(), (0.0, 0.1), "dopri5", linear="reduced")


@pytest.mark.parametrize("wrong", ["sparse", None, 3])
def test_unknown_solvers_are_refused_with_the_list(wrong):
    with pytest.raises(ModelError, match=r"no linear solver .*'static' or 'scipy' or 'reduced'"):
        ix.simulate(ix.library.pendulum(), (0.0, 0.1), linear=wrong)


def test_a_solver_of_ones_own_is_found_by_its_name():
    made = []

    class Counted(ScipyLU):
        """Tells how often it is made."""

        name = "counted"

        def __init__(self, given):
            made.append(given)
            super().__init__(given)

    class Nameless(solving.Solver):
        """Without a name."""

    ix.register(Counted)
    try:
        result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), "hht-i3", linear="counted")
    finally:
        del SOLVERS.added["counted"]
    assert result.success
    assert made
    with pytest.raises(ModelError, match="The solver 'Nameless' cannot be registered: it has no name"):
        ix.register(Nameless)


def test_what_a_solver_in_python_raises_reaches_the_user(monkeypatch):
    def full(_matrix):
        raise MemoryError("no room for factors")

    monkeypatch.setattr(scipy_lu, "decomposed", full)
    with pytest.raises(SingularError) as caught:
        ix.simulate(ix.library.pendulum(), (0.0, 0.1), "hht-i3", linear="scipy")
    assert isinstance(caught.value.__cause__, MemoryError)


def test_an_interrupt_in_a_solver_in_python_ends_the_run(monkeypatch):
    decomposed, calls = scipy_lu.decomposed, []

    def interrupted(matrix):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return decomposed(matrix)

    monkeypatch.setattr(scipy_lu, "decomposed", interrupted)
    result = ix.simulate(ix.library.pendulum(), (0.0, 10.0), "hht-i3", linear="scipy", step=1e-2)
    assert not result.success
    assert "Interrupted" in result.message
    assert result.t[-1] < 10.0
