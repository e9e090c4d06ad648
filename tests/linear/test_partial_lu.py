"""The solver of the part in use: same solutions, analyses only when something new touches."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms import lattice
from test_static_lu import check_random_mechanisms, right_side

import index3 as ix
from index3.engine.equations import Equations
from index3.linear import contract, partial_lu
from index3.linear.partial_solver import PartialLU
from index3.linear.registry import solver_of
from index3.linear.solver import Bordered
from index3.linear.static_solver import StaticLU


@pytest.mark.jit_off
@pytest.mark.parametrize("block", range(3))
def test_random_mechanisms(block):
    check_random_mechanisms(block, lambda matrix: PartialLU(matrix.given()))


def coupled(rng, links):
    """Six bodies of two coordinates each, all of which may be coupled; only those in `links` are. (Given, values)."""
    size = 12
    dense = np.kron(np.eye(6), np.eye(2)) * 5.0
    for i, j in links:
        dense[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = rng.normal(size=(2, 2))
        dense[2 * j : 2 * j + 2, 2 * i : 2 * i + 2] = rng.normal(size=(2, 2))
    nodes = np.repeat(np.arange(6), 2)
    pattern = np.arange(0, size * size + 1, size), np.tile(np.arange(size), size)
    return Bordered(size, 0, *pattern, nodes, 6, []), dense


@pytest.mark.jit_off
def test_a_new_coupling_is_seen_and_an_old_one_is_kept_for_a_while():
    rng = np.random.default_rng(2)
    given, first = coupled(rng, [(0, 1), (2, 3)])
    lu = PartialLU(given)
    numbers, b = lu.own[partial_lu.NUMBERS], rng.normal(size=12)

    def solved(matrix):
        assert lu.factor(matrix.T.ravel()) == 0
        # a handful of eliminations on a matrix that is nearly diagonal
        assert lu.solve(b) == pytest.approx(np.linalg.solve(matrix, b), rel=1e-12)
        return int(numbers[partial_lu.N_ANALYSES]), int(numbers[partial_lu.N_ENTRIES])

    assert solved(first) == (1, 6 * 4 + 2 * 8)  # blocks of bodies, and two couplings in both directions
    _, less = coupled(rng, [(0, 1)])
    assert solved(less) == (1, 40)  # a coupling that ended stays in the pattern
    _, other = coupled(rng, [(0, 1), (4, 5)])
    assert solved(other) == (2, 48)  # and is kept, should it come again
    numbers[partial_lu.N_FACTORED] += partial_lu.MEMORY
    _, later = coupled(rng, [(1, 2)])
    assert solved(later) == (3, 32)  # long after: only what is in use
    later[0, 9] = np.nan  # in a block that is not in use
    assert lu.factor(later.T.ravel()) == contract.NOT_FINITE


@pytest.mark.jit_off
def test_whole_lattice_agrees_with_the_static_order():
    matrix = lattice((3, 3), np.random.default_rng(3)).matrix()
    b, found = right_side(matrix, np.random.default_rng(4)), []
    for lu in (StaticLU(matrix.given()), PartialLU(matrix.given())):
        assert lu.factor(matrix.values) == 0
        found.append(lu.solve(b, refine=True)[: matrix.n])
    assert found[1] == pytest.approx(found[0], rel=1e-10)  # another order of elimination: rounding


def row_of_balls(count):
    """Balls in a row on a floor, every one a candidate for every other; the first one rolls towards the rest."""
    model, shapes = ix.Model("row"), []
    for k in range(count):
        speed = 1.0 if k == 0 else 0.0
        ball = ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=(0.21 * k, 0, 0.0995), velocity=(speed, 0, 0))
        shapes.append((model.add(ball), ix.Sphere(0.1)))
    shapes.append((model.ground, ix.Plane()))
    model.add(ix.ContactSet("all", shapes, stiffness=1e5, damping=0.2, friction=0.2))
    return model


def test_candidates_that_do_not_touch_are_not_in_the_factors():
    """Six balls, of which neighbours touch one after the other: the entries of the part follow the collisions."""
    equations = Equations(row_of_balls(6), "test")
    solver = solver_of(equations.system)
    assert solver.name == "partial"
    whole = len(solver.entries.indices)
    result = ix.simulate(row_of_balls(6), (0.0, 0.3), "hht-i3", rtol=1e-5, progress=False)
    assert result.success
    factors = equations.projection.factors
    equations.assemble(0.0, None)
    assert factors[partial_lu.NUMBERS][partial_lu.N_ENTRIES] < 0.3 * whole  # blocks of balls alone
    assert factors[partial_lu.NUMBERS][partial_lu.N_ANALYSES] == 1


@pytest.mark.parametrize("method", ["hht-i3", "radau5"])
def test_runs_agree_with_scipy(method):
    """Both ways to factor, real and complex (radau5: the order of the whole pattern)."""
    ends = [
        ix.simulate(row_of_balls(4), (0.0, 0.15), method, step=5e-4, linear=linear, progress=False).q[-1]
        for linear in ("static", "scipy")
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-12  # rounding; steps are constant, lest it chooses other ones
