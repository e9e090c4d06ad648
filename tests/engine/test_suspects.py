"""Forces of the user whose derivatives make Newton's iteration suffer are named; others are not."""

from __future__ import annotations

import warnings

import pytest

import index3 as ix

WORDS = "Derivatives mislead Newton's iteration"


def spring(t, r, A, v, w, p, out):
    out[0, :3] = -p[0] * (r[0] - (1, 0, 0)) - 0.01 * p[0] * v[0]


def slopes(t, r, A, v, w, p, K, D):
    for c in range(3):
        K[c, c], D[c, c] = -p[0], -0.01 * p[0]


def of_wrong_sign(t, r, A, v, w, p, K, D):
    for c in range(3):
        K[c, c], D[c, c] = p[0], 0.01 * p[0]


def hung(jacobian, stiffness=1e8):
    """A mass on a stiff strut, and a harmless force beside it whose derivatives are right."""
    model = ix.Model("strut", gravity=(0, 0, -9.81))
    mass = model.add(ix.PointMass("mass", 1.0, position=(1, 0, 0)))
    model.add(ix.UserForce("strut", mass, spring, (stiffness,), jacobian))
    model.add(ix.UserForce("other", mass, spring, (1.0,), slopes))
    return model


@pytest.mark.parametrize(
    ("jacobian", "said"),
    [("none", "UserForce 'strut' leaves its derivatives out"), (of_wrong_sign, "UserForce 'strut' are off by 200 %")],
    ids=["none", "wrong"],
)
@pytest.mark.parametrize("method", ["hht-i3", "bdf-si2", "radau5"])
def test_a_force_that_misleads_is_named(method, jacobian, said):
    result = ix.simulate(hung(jacobian), (0.0, 1.0), method, max_steps=100)
    assert not result.success
    assert WORDS in result.message
    assert said in result.message
    assert "'other'" not in result.message


def test_a_run_that_succeeds_with_pain_warns():
    with pytest.warns(UserWarning, match=f"{WORDS}.*UserForce 'strut'"):
        result = ix.simulate(hung("none"), (0.0, 1e-2), "hht-i3", first_step=1e-4)  # 15 iterations fail, 10 count
    assert result.success
    assert WORDS in result.message


@pytest.mark.parametrize(
    ("jacobian", "stiffness"), [(None, 1e8), ("differences", 1e8), (slopes, 1e8), ("none", 1.0)], ids=str
)
def test_nobody_is_named_where_nothing_hurts(jacobian, stiffness):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(hung(jacobian, stiffness), (0.0, 0.1), "hht-i3")
    assert result.success
    assert WORDS not in result.message


def test_derivatives_of_an_actuator():
    model = ix.Model("servo", gravity=(0, 0, 0))
    arm = model.add(ix.RigidBody.cylinder("arm", 0.2, 0.1, mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    wrong = {"derivatives": lambda t, x, rate: (1e8, 1e6)}
    model.add(ix.Actuator("servo", pin, lambda t, x, rate: -1e8 * (x - 0.1) - 1e6 * rate, **wrong))
    result = ix.simulate(model, (0.0, 1.0), "hht-i3", max_steps=100)
    assert WORDS in result.message
    assert "those of Actuator 'servo' are off by" in result.message


def test_an_explicit_method_blames_no_derivatives():
    result = ix.simulate(hung("none"), (0.0, 1.0), "dopri5", max_steps=50)
    assert not result.success
    assert WORDS not in result.message
