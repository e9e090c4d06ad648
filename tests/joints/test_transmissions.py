"""Gears, racks, couplers, screws and constant-velocity joints: ratios over many turns, reactions, refusals."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest
from mechanics import newton_euler

import index3 as ix
from index3.system.compile import compile_model

# Rows are closed at every output to 1e-12 of their terms; angles reach 130 rad.
KEPT = 1e-10
Z = (0, 0, 1)


def refused(text):
    return pytest.raises(ix.ModelError, match=re.escape(text))


def wheel(kind, name, inertia, at, spin=None):
    """A wheel about z at a place in the x-y plane."""
    if kind == "planar":
        rate = {} if spin is None else {"spin": spin}
        return ix.PlanarBody(name, 1.0, inertia, position=at, **rate)
    rate = {} if spin is None else {"angular_velocity": (0, 0, spin)}
    return ix.RigidBody(name, 1.0, (inertia, inertia, inertia), position=(*at, 0), **rate)


def gear_model(kind, ratio=-0.5, torque=0.05):
    """Two wheels on ground; the first is driven by a torque."""
    model = ix.Model("gears")
    pins = []
    for name, inertia, x, spin in (("small", 0.005, 0.0, 10.0), ("large", 0.08, 0.3, None)):
        body = model.add(wheel(kind, name, inertia, (x, 0.0), spin))
        pins.append(model.add(ix.Revolute(f"pin {name}", model.ground, body, at=(x, 0, 0), axis=Z)))
    model.add(ix.Gear("gear", *pins, ratio=ratio))
    model.add(ix.RotationalSpringDamper("drive", pins[0], torque=torque))
    return model


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-si2", "al-index3", "tlismni-hht"])
@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_gear_keeps_its_ratio_over_more_than_ten_turns(kind, method):
    """S0-09: the ratio of the unwrapped angles."""
    model = gear_model(kind)
    result = ix.simulate(model, (0.0, 5.0), method=method, t_eval=0.1)
    first, second = result["pin small"].angle, result["pin large"].angle
    assert first[-1] > 10 * 2 * np.pi
    np.testing.assert_allclose(second, -0.5 * first, atol=KEPT)
    # inertia seen by the first wheel: 0.005 + 0.25 * 0.08 = 0.025 kg m^2, so 2 rad/s^2; 2e-3: methods at rtol 1e-6
    np.testing.assert_allclose(result["pin small"].angle_rate, 10.0 + 2.0 * result.t, rtol=2e-3)


@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_reactions_of_a_gear_act_on_four_markers(kind, tmp_path):
    model = gear_model(kind)
    result = ix.simulate(model, (0.0, 0.5), t_eval=0.1)
    torques = [result["gear"].on(k)[1][:, 2] for k in range(4)]
    # carrier and wheel of the first joint, then of the second: 0.05 - 0.005 * 2 on the first, 0.08 * (-1) on the second
    for torque, wanted in zip(torques, (0.04, -0.04, 0.08, -0.08), strict=True):
        np.testing.assert_allclose(torque, wanted, atol=1e-12)  # rounding: accelerations are solved for at outputs
    np.testing.assert_array_equal(result["gear"].torque, result["gear"].on(1)[1])
    np.testing.assert_array_equal(result["gear"].on_first()[1], result["gear"].on(0)[1])
    with refused("Gear 'gear' has no marker 4."):
        result["gear"].on(4)
    load = np.zeros((len(result), 6))
    load[:, 5] = 0.05
    assert newton_euler(model, result, {"small": load}) < 1e-12
    result.to_html(tmp_path / "run.html")
    result.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    assert list(again.to_xarray()["joint"].values)[-3:] == ["gear.0", "gear.2", "gear.3"]
    np.testing.assert_array_equal(again["gear"].on(3)[1], result["gear"].on(3)[1])


def test_gear_removes_one_degree_of_freedom():
    check = gear_model("rigid").check()
    assert (check.constraints, check.dof, check.redundant) == (2 + 10 + 1, 1, [])
    check = gear_model("planar").check()
    assert (check.constraints, check.dof, check.redundant) == (4 + 1, 1, [])


def test_gears_couple_no_translations():
    gear = next(group for group in compile_model(gear_model("rigid")).groups if group.name == "gear")
    assert gear.turning  # so that wheels far apart fill little of the matrix
    assert len(gear.marker_numbers) == 4


def test_planetary_gear_has_its_arm_as_carrier():
    """Fixed sun, planet on the arm: the planet turns 1 + r_sun/r_planet times as fast as the arm."""
    model = ix.Model("planetary", gravity=(0, 0, 0))
    arm = model.add(ix.PlanarBody("arm", 1.0, 0.1, position=(0.3, 0), spin=7.0))
    planet = model.add(ix.PlanarBody("planet", 0.5, 0.01, position=(0.6, 0)))
    centre = model.add(ix.Revolute("centre", arm, model.ground, at=(0, 0, 0), axis=Z))
    pin = model.add(ix.Revolute("pin", arm, planet, at=(0.6, 0, 0), axis=Z))
    model.add(ix.Gear("teeth", centre, pin, ratio=-0.4 / 0.2))
    result = ix.simulate(model, (0.0, 10.0), t_eval=0.5)
    assert result["arm"].angle[-1] > 60.0
    np.testing.assert_allclose(result["planet"].angle, 3.0 * result["arm"].angle, rtol=1e-12, atol=KEPT)
    assert newton_euler(model, result) < 1e-9


@pytest.mark.parametrize("kind", ["rigid", "planar"])
def test_rack_travels_by_the_radius_times_the_angle(kind):
    """S0-11: over ten turns."""
    model = ix.Model("rack", gravity=(0, 0, 0))
    pinion = model.add(wheel(kind, "pinion", 0.01, (0.0, 0.0), 25.0))
    rack = model.add(wheel(kind, "rack", 0.01, (0.0, -0.1)))
    turn = model.add(ix.Revolute("turn", model.ground, pinion, at=(0, 0, 0), axis=Z))
    slide = model.add(ix.Prismatic("slide", model.ground, rack, at=(0, -0.1, 0), axis=(1, 0, 0)))
    model.add(ix.RackPinion("mesh", turn, slide, radius=0.1))
    model.add(ix.RotationalSpringDamper("spring", turn, stiffness=0.005))
    assert model.check().dof == 1
    result = ix.simulate(model, (0.0, 10.0), t_eval=0.05, rtol=1e-8)
    angle = result["turn"].angle
    assert np.ptp(angle) > 20.0 * math.pi  # ten turns
    np.testing.assert_allclose(result["slide"].displacement, 0.1 * angle, atol=KEPT)
    np.testing.assert_allclose(result["slide"].displacement_rate, 0.1 * result["turn"].angle_rate, atol=KEPT)
    assert np.ptp(result.energy.total) < 1e-5 * result.energy.total[0]  # rtol 1e-8 over 2 periods
    # the rack, 1 kg, is pushed along x by the mesh alone
    np.testing.assert_allclose(result["mesh"].on(3)[0][:, 0], result["rack"].acceleration[:, 0], atol=1e-11)


def test_coupler_of_three_coordinates():
    """A differential: the cage's angle is the mean of the two shafts', and a sliding ring adds to it."""
    model = ix.Model("differential", gravity=(0, 0, 0))
    joints = {}
    for k, name in enumerate("abc"):
        body = model.add(ix.RigidBody(name, 1.0, (0.1, 0.1, 0.1), position=(k, 0, 0), angular_velocity=(0, 0, 3.0 * k)))
        joints[name] = model.add(ix.Cylindrical(f"j{name}", model.ground, body, at=(k, 0, 0), axis=Z))
    terms = [(0.5, joints["a"], "angle"), (0.5, joints["b"], "angle"), (-2.0, joints["c"], "displacement")]
    coupler = model.add(ix.Coupler("mean", terms, constant=0.25))
    assert len(coupler.markers) == 6
    result = ix.simulate(model, (0.0, 20.0), t_eval=0.5)
    a, b, c = (result[f"j{name}"] for name in "abc")
    np.testing.assert_allclose(0.5 * a.angle + 0.5 * b.angle - 2.0 * c.displacement, 0.25, atol=KEPT)
    assert np.ptp(a.angle + b.angle) > 20.0
    assert newton_euler(model, result) < 1e-9


@pytest.mark.parametrize("pitch", [0.4, -0.1])
def test_screw_advances_by_its_pitch_per_turn(pitch):
    model = ix.Model("screw")
    nut = model.add(ix.RigidBody("nut", 2.0, (0.1, 0.1, 0.2)))
    model.add(ix.Screw("thread", model.ground, nut, at=(0, 0, 0), axis=Z, pitch=pitch))
    result = ix.simulate(model, (0.0, 6.0 if pitch > 0.2 else 25.0), t_eval=0.1, rtol=1e-8)
    thread = result["thread"]
    assert np.abs(thread.angle[-1]) > 10 * 2 * np.pi
    np.testing.assert_allclose(thread.displacement, pitch / (2 * np.pi) * thread.angle, atol=KEPT)
    # along the thread the nut has the inertia m + I (2 pi / pitch)^2; rounding is of terms of that size
    fall = -2.0 * 9.80665 / (2.0 + 0.2 * (2 * np.pi / pitch) ** 2)
    np.testing.assert_allclose(result["nut"].acceleration[:, 2], fall, rtol=1e-10)
    assert newton_euler(model, result) < 1e-9


def test_screw_can_be_driven():
    model = ix.Model("screw")
    nut = model.add(ix.RigidBody("nut", 2.0, (0.1, 0.1, 0.2)))
    thread = model.add(ix.Screw("thread", model.ground, nut, at=(0, 0, 0), axis=(1, 0, 0), pitch=0.02))
    model.add(ix.Motion("drive", thread, lambda t: 30.0 * t, 30.0, coordinate="angle"))
    result = ix.simulate(model, (0.0, 3.0), t_eval=0.1)
    np.testing.assert_allclose(result["nut"].position[:, 0], 0.02 * 30.0 * result.t / (2 * np.pi), atol=1e-12)


def shafts(joint, bend=0.6):
    """An input shaft along x at 5 rad/s and an output shaft bent by an angle, tied by a joint where they meet."""
    model = ix.Model("shafts", gravity=(0, 0, 0))
    out = np.array([math.cos(bend), math.sin(bend), 0.0])
    for name, axis, centre in (("input", np.array([1.0, 0, 0]), (-0.5, 0, 0)), ("output", out, 0.5 * out)):
        rate = {"angular_velocity": 5.0 * axis} if name == "input" else {}
        body = model.add(ix.RigidBody(name, 1.0, (0.02, 0.02, 0.02), position=centre, **rate))
        model.add(ix.Revolute(f"{name} bearing", model.ground, body, at=centre, axis=axis))
    across = {"axes": ((0, 1, 0), (0, 0, 1))} if joint == "Universal" else {"axes": ((1, 0, 0), out)}
    model.add(getattr(ix, joint)("joint", model["input"], model["output"], at=(0, 0, 0), **across))
    return model


def test_constant_velocity_joint_turns_both_shafts_equally():
    model = shafts("ConstantVelocity")
    result = ix.simulate(model, (0.0, 4.0), t_eval=0.05)
    speeds = [result[f"{name} bearing"].angle_rate for name in ("input", "output")]
    np.testing.assert_allclose(speeds[1], speeds[0], atol=1e-9)
    np.testing.assert_allclose(speeds[0], 5.0, rtol=1e-4)  # nothing acts; the run's rtol is 1e-6 over 3 turns
    assert result["input bearing"].angle[-1] > 3 * 2 * np.pi
    assert newton_euler(model, result) < 1e-9


def test_universal_joint_does_not():
    result = ix.simulate(shafts("Universal"), (0.0, 4.0), t_eval=0.05)
    first, second = (result[f"{name} bearing"] for name in ("input", "output"))
    # Cardan's formula; the input fork's axis starts in the plane of the shafts
    ratio = math.cos(0.6) / (1.0 - (math.sin(0.6) * np.cos(first.angle)) ** 2)
    np.testing.assert_allclose(second.angle_rate / first.angle_rate, ratio, atol=1e-9)
    assert np.ptp(second.angle_rate / first.angle_rate) > 0.3


def test_transmissions_can_be_pickled():
    model = pickle.loads(pickle.dumps(gear_model("rigid")))
    assert model["gear"].joints == (model["pin small"], model["pin large"])
    assert repr(model["gear"]) == "Gear('gear', 'pin small', 'pin large')"
    assert model.copy()["gear"].joints[0].second.body.name == "small"


def test_refused_couplings():
    model = gear_model("rigid")
    pins = model["pin small"], model["pin large"]
    model.add(ix.Spherical("ball", model["small"], model["large"], at=(0, 0, 0)))
    with refused("Gear 'g' has ratio 0."):
        ix.Gear("g", *pins, ratio=0)
    with refused("Gear 'g' has ratio nan."):
        ix.Gear("g", *pins, ratio=math.nan)
    with refused("Gear 'g' cannot relate 'pin'. Give a joint."):
        ix.Gear("g", "pin", pins[1], ratio=1)
    with refused("Gear 'g' names a coordinate twice."):
        ix.Gear("g", pins[0], pins[0], ratio=1)
    with refused("Spherical 'ball' has no coordinate 'angle'. It has none."):
        ix.Gear("g", pins[0], model["ball"], ratio=1)
    with refused("RackPinion 'r' has radius 0."):
        ix.RackPinion("r", *pins, radius=0)
    with refused("Revolute 'pin large' has no coordinate 'displacement'."):
        ix.RackPinion("r", *pins, radius=1)
    with refused("Screw 's' has pitch 0. Use Revolute"):
        ix.Screw("s", model.ground, model["small"], at=(0, 0, 0), axis=Z, pitch=0)
    for terms in ((), [(1.0, pins[0])], [(1.0, pins[0])] * 4, 3, [pins[0], pins[1]]):
        with refused("Coupler 'c' has terms"):
            ix.Coupler("c", terms)
    with refused("Coupler 'c' has coefficient 0 for Revolute 'pin small'."):
        ix.Coupler("c", [(0, pins[0]), (1, pins[1])])
    with refused("Coupler 'c' has constant inf."):
        ix.Coupler("c", [(1, pins[0]), (1, pins[1])], constant=math.inf)
    with refused("Coupler 'c': which coordinate of Spherical 'ball'?"):
        ix.Coupler("c", [(1, pins[0]), (1, model["ball"])])
    rod = ix.Distance("rod", model["small"], model["large"], points=((0, 0, 0), (0.3, 0, 0)))
    with refused("Coupler 'c' cannot relate the length of Distance 'rod', which that joint keeps constant."):
        ix.Coupler("c", [(1, pins[0]), (1, rod)])
    free = ix.Revolute("free", model.ground, model["large"], at=(0.3, 0, 0), axis=Z)
    with refused("Gear 'g' refers to Revolute 'free', which is not in model 'gears'. Add that first."):
        model.add(ix.Gear("g", pins[0], free, ratio=1))
    with refused("Motion 'm': Gear 'gear' has no coordinate to drive."):
        ix.Motion("m", model["gear"], 0.0)
    with refused("ConstantVelocity 'v' has shafts with cosine -1 between them"):
        ix.ConstantVelocity("v", model["small"], model["large"], at=(0, 0, 0), axes=(Z, (0, 0, -1)))
