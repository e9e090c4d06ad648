"""Cholesky coordinates of planar beams: identity mass, the same motion."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from test_derivatives import check_matrix

import index3 as ix
from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

SOFT = {"height": 0.03, "width": 0.02, "young": 1e6, "poisson": 0.3, "density": 1000.0, "damping": (0.1, 1e-3)}
ARC = [(0, 0), (0.2, 0.03), (0.5, 0.0)]


def swing(coordinates, law="continuum", elements=3):
    """A curved beam on a pin, welded to a block between its nodes, with a torque."""
    model = ix.Model("swing", gravity=(0, -9.81, 0))
    beam = model.add(ix.AncfBeam("beam", points=ARC, elements=elements, law=law, coordinates=coordinates, **SOFT))
    model.add(ix.Revolute("pin", model.ground, beam, at=(0, 0, 0), axis=(0, 0, 1)))
    place = beam.marker(s=0.3).pose()[0]
    block = model.add(ix.RigidBody("block", 0.05, (1e-5, 1e-5, 1e-5), position=place))
    model.add(ix.Fixed("weld", beam, block, at=place))
    model.add(ix.Torque("turn", beam.marker(s=0.45), (0, 0, 0.01)))
    return model


@pytest.mark.parametrize("law", ["continuum", "elastic-line"])
def test_the_same_motion(law):
    """S3-08: trajectories and section forces as in nodal coordinates, to rounding."""
    runs = [
        ix.simulate(swing(key, law), (0, 0.2), "dop853", rtol=1e-9, atol=1e-11, t_eval=0.05)
        for key in ("nodal", "cholesky")
    ]
    one, two = (run["beam"] for run in runs)
    assert one.points([0.1, 0.5]) == pytest.approx(two.points([0.1, 0.5]), abs=1e-10)
    assert one.position == pytest.approx(two.position, abs=1e-10)
    assert one.moment([0.0, 0.4]) == pytest.approx(two.moment([0.0, 0.4]), abs=1e-7)
    assert runs[0].energy.balance == pytest.approx(runs[1].energy.balance, abs=1e-9)


def test_the_mass_matrix_is_the_identity():
    """S3-08: to 1e-12, in the matrix and in M a; also where the matrix holds stiffness besides."""
    model = ix.Model("alone", gravity=(0, 0, 0))
    beam = model.add(ix.AncfBeam("beam", points=ARC, elements=4, coordinates="cholesky", **SOFT))
    state = State(compile_model(model))
    n, sparsity = beam.size, state.system.sparsity
    dense = []
    for stiff in (0.0, 1e-9):
        for mass in (0.0, 1.0):
            state[s.COEF][:] = 0.0
            state[s.COEF][s.C_M], state[s.COEF][s.C_K] = mass, stiff
            assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
            full = np.zeros((sparsity.size, sparsity.size))
            full[sparsity.indices, np.repeat(np.arange(sparsity.size), np.diff(sparsity.indptr))] = state[s.MATRIX][:-1]
            dense.append(full[:n, :n])
    assert dense[1] == pytest.approx(np.eye(n), abs=1e-12)
    assert dense[3] - dense[2] == pytest.approx(np.eye(n), abs=1e-12)


def test_derivatives():
    """The matrix of forces on elements and markers against differences, with damping and a torque."""
    state = zoo.random_state(compile_model(swing("cholesky", "elastic-line", 2)), seed=3)
    check_matrix(state)


def test_files_keep_it_and_long_beams_are_refused(tmp_path):
    model = swing("cholesky")
    model.save(tmp_path / "beam.json")
    again = ix.load_model(tmp_path / "beam.json")
    assert again["beam"].coordinates == "cholesky"
    np.testing.assert_array_equal(again["beam"].q0, model["beam"].q0)
    result = ix.simulate(again, (0, 0.01), "hht-i3")
    result.save(tmp_path / "run.nc")
    seen = ix.load(tmp_path / "run.nc")["beam"].points(0.5)
    assert seen == pytest.approx(result["beam"].points(0.5), abs=1e-12)
    straight = {**SOFT, "coordinates": "cholesky"}
    with pytest.raises(ix.ModelError, match=r"AncfBeam 'b' has 51 elements and coordinates 'cholesky'.*at most 50"):
        ix.AncfBeam("b", (0, 0), (1, 0), elements=51, **straight)
    with pytest.raises(ix.ModelError, match=r"has coordinates 'modal'\. Give 'nodal' or 'cholesky'"):
        ix.AncfBeam("b", (0, 0), (1, 0), elements=5, **SOFT, coordinates="modal")
