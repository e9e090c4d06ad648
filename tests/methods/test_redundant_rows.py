"""Redundant rows along whole runs: which are left out may change, multipliers that no force determines stay small.

docs/theory/linear_solver.md says why.
"""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.methods.registry import METHODS
from index3.system import evaluate


def hinge(*, redundant: bool) -> ix.Model:
    """A hinge made of a ball joint and a plane: one row too many, and which one changes as the body turns."""
    model = ix.Model("hinge", gravity=(0, 0, -9.81))
    body = model.add(
        ix.RigidBody(
            "body", 1.0, (0.1, 0.2, 0.25), position=(0.5, 0, 0), velocity=(0, 1.5, 0), angular_velocity=(0, 0, 3)
        )
    )
    if redundant:
        model.add(ix.Spherical("ball", model.ground, body, at=(0, 0, 0)))
        model.add(ix.Planar("plane", model.ground, body, at=(0.3, 0.4, 0.2), axis=(0, 0, 1)))
    else:
        model.add(ix.Revolute("hinge", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    return model


def bricard(last: type = ix.Revolute) -> ix.Model:
    """Bricard's linkage of six hinges; with a Cylindrical for the last one nothing is redundant."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    model = ix.Model("bricard", gravity=(0, -9.81, 0))
    before = model.ground
    for k in range(5):
        size = np.where(abs(corners[k + 1] - corners[k]) > 0.5, 1.0, 0.1)
        rod = model.add(ix.RigidBody.box(f"rod{k}", size, 1.0, position=(corners[k] + corners[k + 1]) / 2))
        model.add(ix.Revolute(f"hinge{k}", before, rod, at=corners[k], axis=np.eye(3)[(1, 2, 0)[k % 3]]))
        before = rod
    model.add(last("last", before, model.ground, at=corners[5], axis=(1, 0, 0)))
    return model


def tightest(key: str) -> float:
    """The rtol that a method is to reach."""
    if key.startswith("al-") or key == "multi-index" or "trapezoidal" in key:
        return 1e-6
    order = METHODS[key].order
    return 1e-10 if (order if isinstance(order, int) else order[1]) >= 4 else 1e-8


@pytest.mark.parametrize("key", METHODS)
def test_the_choice_of_redundant_rows_changes_on_the_way(key):
    """The body turns by 12 rad at a constant rate; the row left out is another one four times."""
    expected, errors = [0.5 * np.cos(12.0), 0.5 * np.sin(12.0), 0.0], {True: [], False: []}
    for redundant, part in [(False, 1.0), *((True, part) for part in np.geomspace(0.8, 1.25, 5))]:
        rtol = part * max(tightest(key), 1e-8)
        result = ix.simulate(hinge(redundant=redundant), (0, 4.0), key, rtol=rtol, t_eval=[4.0])
        assert result.success, result.message
        errors[redundant].append(np.abs(result["body"].position[-1] - expected).max())
    print(key, errors)
    # the plain hinge is followed to rounding by some; a change of rows between points slightly off the constraints
    # changes accelerations by as much, and where points lie is chance: 1e-8 to 1.5e-6 at rtol 1e-8, in the middle 4e-7
    assert np.median(errors[True]) < 3.0 * errors[False][0] + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("key", [key for key in METHODS if tightest(key) < 1e-8])
def test_tight_tolerances_pass_the_changes_too(key):
    result = ix.simulate(hinge(redundant=True), (0, 4.0), key, rtol=tightest(key), t_eval=[4.0])
    assert result.success, result.message


@pytest.mark.parametrize("rtol", [3e-3, 3e-4, 1e-4])
@pytest.mark.parametrize("key", ["hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5"])
def test_loose_tolerances_do_not_let_multipliers_grow(key, rtol):
    """With the redundant row |lam| is what it is without it; it grew from 28 to 1e31, and 1e9 J with it."""
    result = ix.simulate(bricard(), (0, 10.0), key, rtol=rtol, project=False)
    assert result.success, result.message
    without = ix.simulate(bricard(ix.Cylindrical), (0, 10.0), key, rtol=rtol, project=False)
    # the same forces by another choice of rows, at the worst with an angle of 2 degrees between them: 42 times seen
    assert np.abs(result.lam).max() < 100.0 * np.abs(without.lam).max()
    kinetic = ix.simulate(bricard(), (0, 10.0), "radau5", rtol=1e-6).energy.kinetic.max()
    gain = np.max(result.energy.balance - result.energy.balance[0]) / kinetic
    own = np.max(without.energy.balance - without.energy.balance[0]) / kinetic
    assert gain < max(0.05, 3.0 * own)  # what the method itself gains at this tolerance


REDUNDANT = {"four_bar": ix.library.four_bar, "bricard": bricard, "hinge": lambda: hinge(redundant=True)}


@pytest.mark.parametrize("name", REDUNDANT)
@pytest.mark.parametrize("key", METHODS)
def test_multipliers_of_every_method_stay_near_the_shortest(key, name):
    """A method's own lam beside the shortest with the same forces, which lines of output have."""
    model = REDUNDANT[name]()
    own, closed = (
        ix.simulate(model, (0, 0.3), key, rtol=1e-5, t_eval=0.05, project=project) for project in (False, True)
    )
    assert own.success, own.message
    size, shortest = (np.linalg.norm(result.lam[1:], axis=1).max() for result in (own, closed))
    assert size < 20.0 * shortest  # a choice of independent rows is not the shortest, but of its size


def test_all_redundant_models_of_the_library_are_looked_at():
    """By the test above; models of the library with their defaults. The two largest have none, and take seconds."""
    found = set()
    for name in set(ix.library.names()) - {"atv", "hmmwv50"}:
        model = ix.library.chain(3) if name == "chain" else getattr(ix.library, name)()
        if ix.check(model).redundant:
            found.add(name)
    assert found <= set(REDUNDANT)


@pytest.mark.parametrize(
    "key", ["dopri5", "hht-i3", "generalized-alpha", "descriptor-trapezoidal", "firstorder-sdirk4"]
)
def test_rows_that_count_again_after_a_singular_start(key):
    """A flat parallelogram of spatial rods has one more redundant row at the start than afterwards.

    A solver that kept that row out would let the coupler turn. (BDF and Radau end by name so close to the position.)
    """
    model = ix.Model("parallelogram", gravity=(0, 0, 0))
    tilt, w = 1e-6, 3.0
    along = np.array([np.cos(tilt), np.sin(tilt), 0.0])
    a, b, c, d = np.zeros(3), along, along + np.array([2.0, 0, 0]), np.array([2.0, 0, 0])
    left = model.add(ix.RigidBody.rod("left", a, b, mass=1.0, angular_velocity=(0, 0, w)))
    coupler = model.add(ix.RigidBody.rod("coupler", b, c, mass=1.0, velocity=np.cross((0, 0, w), along)))
    right = model.add(ix.RigidBody.rod("right", d, c, mass=1.0, angular_velocity=(0, 0, w)))
    for name, (one, two, at) in {
        "a": (model.ground, left, a), "b": (left, coupler, b), "c": (coupler, right, c), "d": (right, model.ground, d),
    }.items():  # fmt: skip
        model.add(ix.Revolute(name, one, two, at=at, axis=(0, 0, 1)))
    result = ix.simulate(model, (0, 0.5), key, rtol=1e-6, t_eval=0.05)
    assert result.success, result.message
    turn = result["coupler"].rotation[:, 1, 0]
    assert np.abs(turn).max() < 1e-5  # it stays parallel; the other branch turns it by 1 rad


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6])
def test_redundant_mechanisms_of_any_size(size):
    """A parallelogram of hinges in space with a third crank, held twice: it starts, and reactions are the shortest."""
    model = ix.Model("parallelogram")
    arm, across = size * np.array([0.6, 0, 0.8]), size * np.array([1.0, 0, 0])
    coupler = model.add(ix.RigidBody.rod("coupler", arm, 2 * across + arm, mass=1.0))
    for k in range(3):
        start = k * across
        crank = model.add(ix.RigidBody.rod(f"crank{k}", start, start + arm, mass=1.0))
        model.add(ix.Revolute(f"foot{k}", model.ground, crank, at=start, axis=(0, 1, 0)))
        model.add(ix.Revolute(f"tip{k}", crank, coupler, at=start + arm, axis=(0, 1, 0)))
    model.add(ix.Spherical("again", model.ground, crank, at=start))
    found = ix.assemble(model)
    state = Equations(model, "test").state
    state.move(0.0, found.q, found.v)
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    gradient = np.zeros((len(found.lam), len(found.q)))
    np.add.at(gradient, (state[s.BLOCK_ROW], state[s.BLOCK_COL]), state[s.PHI_Q])
    least = np.linalg.pinv(gradient.T, rcond=1e-10) @ (gradient.T @ found.lam)
    assert found.lam == pytest.approx(least, abs=1e-7 * np.abs(least).max())  # the limit of redundancy is 1e-9
    result = ix.simulate(model, (0.0, np.sqrt(size)), "hht-i3", t_eval=np.sqrt(size), rtol=1e-4)
    assert result.success, result.message
