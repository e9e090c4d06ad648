"""One body on one joint, or on a spring: positions, rates, accelerations and reactions computed with ADAMS."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import index3 as ix

DATA = json.loads((Path(__file__).parents[1] / "reference" / "adams_joints" / "data.json").read_text())
AXIS = (0.0, 1.0, 1.0)
PLACE = (1.0, 2.0, 3.0)
TIGHT = {"rtol": 1e-12, "atol": 1e-14}
OWN = 1e-6  # our error at the tolerance below, times max(1, size): 3e-7 to 7e-7 by extrapolating from looser tolerances
CORRECTOR = 6e-4  # error of the accelerations and reactions of the source, see its README; torques: times the lever arm


def build(kind):
    """The body and its joint; the joint is second on ground, so that the reactions reported are those on ground."""
    model = ix.Model(kind)  # gravity 9.80665 along -z
    if kind == "transpring":
        body = model.add(ix.RigidBody("body", 1.0, (0.04, 0.1, 0.1), position=(0.0, 2.0, 0.0)))
        ends = ((0.0, 0.0, 0.0), (0.0, 2.0, 0.0))
        model.add(ix.SpringDamper("joint", model.ground, body, points=ends, stiffness=100.0, damping=5.0, length=2.0))
        return model
    turn = (math.cos(math.pi / 8), -math.sin(math.pi / 8), 0.0, 0.0)
    body = model.add(ix.RigidBody("body", 1.0, (0.04, 0.1, 0.1), position=(3.0, 2.0, 3.0), orientation=turn))
    if kind == "spherical":
        model.add(ix.Spherical("joint", body, model.ground, at=PLACE))
    else:
        joint = {"revolute": ix.Revolute, "prismatic": ix.Prismatic}[kind]
        model.add(joint("joint", body, model.ground, at=PLACE, axis=AXIS))
    return model


@pytest.fixture(scope="module")
def results():
    return {kind: ix.simulate(build(kind), (0.0, 5.0), **TIGHT, t_eval=DATA[kind]["t"]) for kind in DATA}


def printed(values, digits):
    """Half a unit of the last printed digit of every value."""
    size = np.where(values == 0.0, 1.0, np.abs(values))
    return 0.5 * 10.0 ** (np.floor(np.log10(size)) - digits + 1)


def assert_close(computed, reference, digits, extra=0.0):
    reference = np.array(reference)
    scale = np.max(np.abs(reference))
    tolerance = printed(reference, digits) + OWN * max(1.0, scale) + extra
    assert np.all(np.abs(computed - reference) <= tolerance), np.max(np.abs(computed - reference) / tolerance)


@pytest.mark.parametrize("kind", DATA)
def test_motion(results, kind):
    result, data = results[kind], DATA[kind]
    assert result.success, result.message
    digits = 7 if kind == "transpring" else 6
    body = result["body"]
    assert_close(body.position, data["position"], digits)
    assert_close(body.velocity, data["velocity"], digits)
    assert_close(body.acceleration, data["acceleration"], digits, CORRECTOR)
    if kind != "transpring":
        assert_close(body.orientation, data["orientation"], digits)
        assert_close(body.angular_velocity, data["angular_velocity"], digits)


@pytest.mark.parametrize("kind", ["revolute", "spherical", "prismatic"])
def test_reactions(results, kind):
    joint, data = results[kind]["joint"], DATA[kind]
    assert_close(joint.force, data["force"], 6, CORRECTOR)
    # The body is at most 85 m from the joint (prismatic), 2 m otherwise: the lever arm of the corrector's error.
    arm = np.linalg.norm(np.array(data["position"]) - PLACE, axis=1)[:, None]
    assert_close(joint.torque, data.get("torque", np.zeros((len(data["t"]), 3))), 6, CORRECTOR * arm)


def test_reactions_do_not_depend_on_the_order_of_the_bodies():
    model = ix.Model("swapped")
    turn = (math.cos(math.pi / 8), -math.sin(math.pi / 8), 0.0, 0.0)
    body = model.add(ix.RigidBody("body", 1.0, (0.04, 0.1, 0.1), position=(3.0, 2.0, 3.0), orientation=turn))
    model.add(ix.Revolute("joint", model.ground, body, at=PLACE, axis=AXIS))
    joint = ix.simulate(model, (0.0, 0.5), **TIGHT, t_eval=[0.0, 0.5])["joint"]
    data = DATA["revolute"]
    k = data["t"].index(0.5)
    assert_close(joint.force[-1], -np.array(data["force"][k]), 6, CORRECTOR)
    assert_close(joint.torque[-1], -np.array(data["torque"][k]), 6, CORRECTOR)
    force, torque = joint.on_first()
    assert np.allclose(force, -joint.force, rtol=0.0, atol=1e-9)  # action and reaction at one point, in N and N m
    assert np.allclose(torque, -joint.torque, rtol=0.0, atol=1e-9)
