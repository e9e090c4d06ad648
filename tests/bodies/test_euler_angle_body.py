"""Euler angles: the chosen reference, rates, the singular position."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.errors import ModelError

ROUNDING = 1e-14


@pytest.mark.parametrize("seed", range(5))
def test_pose_and_angles_are_those_of_scipy(seed):
    turn = Rotation.random(random_state=seed)
    body = ix.EulerAngleBody("b", 1.0, (1, 1, 1), orientation=turn, reference=np.eye(3))
    np.testing.assert_allclose(body.pose()[1], turn.as_matrix(), atol=ROUNDING)
    np.testing.assert_allclose(body.q0[3:], turn.as_euler("ZXZ"), atol=1e-12)  # SciPy's own rounding
    assert body.coordinate_names == ("x", "y", "z", "phi", "theta", "psi")


def test_rates_give_the_angular_velocity():
    w = np.array((1.0, -2.0, 0.5))
    body = ix.EulerAngleBody("b", 1.0, (1, 1, 1), orientation=(0.5, 0.5, 0.5, 0.5), angular_velocity=w)
    np.testing.assert_allclose(body.axes() @ body.v0[3:], w, atol=ROUNDING)


def test_a_reference_is_chosen_near_the_singular_position():
    far = ix.EulerAngleBody("far", 1.0, (1, 1, 1), orientation=Rotation.from_euler("X", 30, degrees=True))
    np.testing.assert_array_equal(far.reference, np.eye(3))
    near = ix.EulerAngleBody("near", 1.0, (1, 1, 1), orientation=Rotation.from_euler("X", 5, degrees=True))
    np.testing.assert_allclose(near.q0[3:], (0, np.pi / 2, 0), atol=ROUNDING)
    np.testing.assert_allclose(near.pose()[1], Rotation.from_euler("X", 5, degrees=True).as_matrix(), atol=ROUNDING)


def test_a_given_reference_that_is_singular_is_refused():
    with pytest.raises(ModelError, match=r"EulerAngleBody 'b' starts where its Euler angles are singular.*RigidBody"):
        ix.EulerAngleBody("b", 1.0, (1, 1, 1), reference=np.eye(3))
    with pytest.raises(ModelError, match="EulerAngleBody 'b', reference: has orientation"):
        ix.EulerAngleBody("b", 1.0, (1, 1, 1), reference="north")


@pytest.mark.parametrize("method", ["hht-i3", "rosenbrock4"])
def test_a_run_into_the_singular_position_ends_with_its_name(method):
    """S2-01: The singular position is detected and named."""
    model = ix.Model("tumbler")
    turned = Rotation.from_euler("X", 45, degrees=True)
    model.add(ix.EulerAngleBody("die", 1.0, (1, 1, 1), orientation=turned, angular_velocity=(-1, 0.001, 0)))
    result = ix.simulate(model, (0, 2), method)
    assert not result.success
    assert "EulerAngleBody 'die' has come to where its Euler angles are singular" in result.message
    assert "Use a RigidBody" in result.message
    assert result.t[-1] == pytest.approx(np.pi / 4, abs=0.01)


def test_it_survives_pickling_and_saving(tmp_path):
    model = ix.Model("top")
    body = model.add(pickle.loads(pickle.dumps(ix.EulerAngleBody.box("b", (1, 2, 3), 1.0, angular_velocity=(1, 2, 3)))))
    result = ix.simulate(model, (0, 0.1), t_eval=0.05)
    result.save(tmp_path / "run.nc")
    loaded = ix.Result.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded["b"].rotation, result["b"].rotation)
    np.testing.assert_allclose(result["b"].rotation[0], body.pose()[1], atol=ROUNDING)
    assert "b.phi" in result.to_xarray()["coordinate"].values


@pytest.mark.jit_off
def test_angular_momentum_is_kept():
    """Of a free body, by the explicit method, also as plain Python."""
    model = ix.Model("free", gravity=(0, 0, 0))
    body = model.add(ix.EulerAngleBody.box("b", (1, 2, 3), 1.0, angular_velocity=(0.3, 0.2, 0.1)))
    result = ix.simulate(model, (0, 0.5), "dopri5", rtol=1e-9, t_eval=0.25)
    A, w = result["b"].rotation, result["b"].angular_velocity
    momentum = np.einsum("tij,jk,tlk,tl->ti", A, body.inertia, A, w)
    assert np.abs(momentum - momentum[0]).max() < 1e-8  # rtol with a margin
