"""Motion of bodies and markers, reactions and coordinates of joints, against closed forms and differences."""

from __future__ import annotations

import traceback

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stored_four_bar import SPEED, Y_AXIS, bar_ends

import index3 as ix
from index3.errors import ModelError
from index3.results.arrays import empty_arrays
from index3.results.layout import Layout
from index3.results.result import Result

STEP = 1e-4  # of the central differences: error h^2/6 of a third derivative of order 10, about 2e-8, in rates
RATE = 1e-6  # tolerance for rates, fifty times that error
SECOND = 1e-5  # for second derivatives: rounding 4 eps / h^2 is 1e-7 and grows by arms and double products


def differences(coordinates, t):
    """q, v, a of a function of time, rates by central differences."""
    before, q, after = (coordinates(t + s) for s in (-STEP, 0.0, STEP))
    return q, (after - before) / (2 * STEP), (after - 2 * q + before) / STEP**2


def rate(function, t):
    return (function(t + STEP) - function(t - STEP)) / (2 * STEP)


def tumbling(t, phase):
    """q of a spatial body on a smooth, arbitrary path."""
    p = np.stack([np.cos(t + phase), np.sin(0.7 * t), 0.5 * np.cos(1.3 * t), 0.3 + 0.2 * np.sin(t * t)], axis=-1)
    p /= np.linalg.norm(p, axis=-1, keepdims=True)
    r = np.stack([np.sin(t + phase), np.cos(2 * t), t * 0.3 + phase], axis=-1)
    return np.concatenate([r, p], axis=-1)


def tumbling_pair(t, kind="Planar", coordinates=("angle", "displacement", "x", "y", "length"), zeros=None):
    """Two free bodies and a made-up joint between oblique markers that measures every coordinate."""
    axes = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [2.0, 0.0, 1.0]]))[0]
    axes *= np.linalg.det(axes)
    first = {"body": "a", "position": [0.1, -0.2, 0.3], "axes": axes.tolist()}
    second = {"body": "b", "position": [-0.4, 0.1, 0.2], "axes": Y_AXIS}
    joint = {"name": "j", "type": kind, "first": first, "second": second, "rows": [], "row_labels": []}
    joint |= {"coordinates": list(coordinates), "angle": 0 if "angle" in coordinates else -1, "angle_zero": 0.25}
    joint |= {"zeros": zeros or {}, "unique": True}
    body = {"kind": "rigid", "size": 7, "shape": {}, "mass": 1.0}
    bodies = [body | {"name": name, "start": 7 * k} for k, name in enumerate("ab")]
    arrays = empty_arrays(len(t), 14, 0, 1, 1)
    q, v, a = differences(lambda s: np.hstack([tumbling(s, 0.0), tumbling(s, 1.0)]), t)
    arrays |= {"t": t, "q": q, "v": v, "a": a, "wrench": np.cos(t[:, None, None] + np.arange(6))}
    arrays["angle"] = np.sin(t)[:, None]
    return Result(Layout("pair", bodies, [joint]), arrays)


TIMES = np.linspace(0.1, 2.0, 17)


def test_four_bar_bodies_follow_the_closed_form(four_bar):
    A, B, C, _ = bar_ends(four_bar.t)
    middle = (B + C) / 2
    assert four_bar["coupler"].position[:, 0] == pytest.approx(middle.real, abs=1e-15)  # copied, not computed
    assert four_bar["coupler"].position[:, 2] == pytest.approx(middle.imag, abs=1e-15)
    direction = four_bar["crank"].rotation[:, :, 0]  # body x lies along the bar
    bar = (B - A) / 0.4
    assert direction == pytest.approx(np.column_stack([bar.real, 0 * bar.real, bar.imag]), abs=1e-14)  # rounding
    assert four_bar["crank"].angular_velocity == pytest.approx(np.tile([0, SPEED, 0], (201, 1)), abs=RATE)
    assert four_bar["crank"].angular_acceleration == pytest.approx(np.zeros((201, 3)), abs=SECOND)
    assert four_bar["crank"].orientation.shape == (201, 4)


@pytest.mark.parametrize("side", ["first", "second"])
def test_marker_velocity_and_acceleration_are_derivatives(side):
    def position(t):
        return getattr(tumbling_pair(t)["j"], side).position

    marker = getattr(tumbling_pair(TIMES)["j"], side)
    assert marker.velocity == pytest.approx(rate(position, TIMES), abs=RATE)
    wanted = (position(TIMES + STEP) - 2 * position(TIMES) + position(TIMES - STEP)) / STEP**2
    assert marker.acceleration == pytest.approx(wanted, abs=SECOND)


def test_angular_rates_are_derivatives_of_the_rotation():
    body = tumbling_pair(TIMES)["a"]
    A_dot = rate(lambda t: tumbling_pair(t)["a"].rotation, TIMES)
    w = body.angular_velocity
    for axis in range(3):
        assert np.cross(w, body.rotation[:, :, axis]) == pytest.approx(A_dot[:, :, axis], abs=RATE)
    w_dot = rate(lambda t: tumbling_pair(t)["a"].angular_velocity, TIMES)
    assert body.angular_acceleration == pytest.approx(w_dot, abs=SECOND)


@pytest.mark.parametrize("name", ["displacement", "x", "y", "length"])
def test_joint_coordinate_rates_are_derivatives(name):
    wanted = rate(lambda t: getattr(tumbling_pair(t)["j"], name), TIMES)
    assert getattr(tumbling_pair(TIMES)["j"], f"{name}_rate") == pytest.approx(wanted, abs=RATE)


def test_coordinates_are_zero_at_assembly():
    zeros = {name: getattr(tumbling_pair(TIMES)["j"], name)[0] for name in ("displacement", "x", "y")}
    joint = tumbling_pair(TIMES, zeros=zeros)["j"]
    for name in zeros:
        assert getattr(joint, name)[0] == 0.0
    assert joint.angle[0] == np.sin(TIMES[0]) - 0.25
    d = joint.second.position[0] - joint.first.position[0]
    assert joint.length[0] == pytest.approx(np.linalg.norm(d), rel=1e-15)  # rounding


def test_revolute_angle_rate(four_bar):
    for name in "ABCD":
        wanted = np.gradient(four_bar[name].angle, four_bar.t)[5:-5]
        # 0.05: second-order differences of the output at 0.02 s, h^2/6 of a third derivative of at most 200
        assert four_bar[name].angle_rate[5:-5] == pytest.approx(wanted, abs=0.05)
    assert four_bar["A"].angle == pytest.approx(SPEED * four_bar.t, abs=1e-12)  # rounding of unwrapped turns


def test_reactions_in_other_frames():
    joint = tumbling_pair(TIMES)["j"]
    assert joint.force_in("ground") is joint.force
    for side in ("first", "second"):
        A = getattr(joint, side).rotation
        assert np.einsum("tij,tj->ti", A, joint.force_in(side)) == pytest.approx(joint.force, abs=1e-14)  # rounding
        assert np.linalg.norm(joint.torque_in(side), axis=1) == pytest.approx(np.linalg.norm(joint.torque, axis=1))
    with pytest.raises(ModelError, match=r"'j' has no frame 'third'\. Use 'ground', 'first' or 'second'"):
        joint.force_in("third")


def test_action_and_reaction_balance_about_any_point():
    joint = tumbling_pair(TIMES)["j"]
    force, torque = joint.on_first()
    assert np.array_equal(force, -joint.force)
    # both about the ground origin
    on_first = torque + np.cross(joint.first.position, force)
    on_second = joint.torque + np.cross(joint.second.position, joint.force)
    assert on_first + on_second == pytest.approx(np.zeros((len(TIMES), 3)), abs=1e-14)  # rounding


def test_missing_coordinates_are_named(four_bar):
    with pytest.raises(AttributeError, match=r"Revolute 'B' has no coordinate 'displacement'. It has angle\."):
        _ = four_bar["B"].displacement
    ball = tumbling_pair(TIMES, "Spherical", ())["j"]
    with pytest.raises(AttributeError, match=r"Spherical 'j' has no coordinate 'angle'. It has no joint coordinates\."):
        _ = ball.angle
    assert not hasattr(ball, "length")


def test_joint_rows_and_names(four_bar):
    joint = four_bar["B"]
    assert np.array_equal(joint.lam, four_bar.lam[:, 5:10])
    assert joint.row_labels == ("x", "y", "z", "x1.z2", "y1.z2")
    assert joint.unique is False
    assert repr(joint) == "<Revolute 'B' at 201 times: force, torque, angle>"


def test_a_constraint_without_markers():
    result = tumbling_pair(TIMES, "CoordinateConstraint", ())
    result.layout.joints[0]["first"] = None
    assert result["j"].force.shape == (len(TIMES), 3)
    with pytest.raises(AttributeError, match="acts on one body and has no first marker"):
        result["j"].on_first()


def planar_and_point(t):
    bodies = [
        {"name": "disc", "kind": "planar", "start": 0, "size": 3, "shape": {}, "mass": 1.0},
        {"name": "bead", "kind": "point", "start": 3, "size": 3, "shape": {}, "mass": 1.0},
    ]
    arrays = empty_arrays(len(t), 6, 0, 0, 0)
    q, v, a = differences(lambda s: np.stack([np.sin(s), s**2, 3 * s, s, np.cos(s), s**3], axis=1), t)
    return Result(Layout("plane", bodies), arrays | {"t": t, "q": q, "v": v, "a": a})


def test_planar_bodies_have_three_columns_angle_and_spin():
    disc = planar_and_point(TIMES)["disc"]
    assert disc.position == pytest.approx(np.column_stack([np.sin(TIMES), TIMES**2, 0 * TIMES]))
    assert np.array_equal(disc.angle, 3 * TIMES)  # more than half a turn: not wrapped
    assert disc.spin == pytest.approx(3.0, abs=RATE)
    assert disc.rotation[:, 0, 0] == pytest.approx(np.cos(3 * TIMES), abs=1e-14)  # rounding
    assert disc.rotation[:, 1, 0] == pytest.approx(np.sin(3 * TIMES), abs=1e-14)
    assert disc.angular_velocity == pytest.approx(np.tile([0, 0, 3.0], (17, 1)), abs=RATE)
    assert disc.orientation[:, 3] == pytest.approx(np.sin(1.5 * TIMES))


def test_points_do_not_turn():
    bead = planar_and_point(TIMES)["bead"]
    assert bead.position.shape == (17, 3)
    assert np.array_equal(bead.rotation, np.tile(np.eye(3), (17, 1, 1)))
    assert np.array_equal(bead.orientation, np.tile([1.0, 0, 0, 0], (17, 1)))
    assert not bead.angular_velocity.any()
    with pytest.raises(AttributeError, match="Body 'bead' is point, only planar bodies have 'spin'"):
        _ = bead.spin


def test_a_name_that_joints_do_not_have_is_answered_with_those_they_have():
    result = ix.simulate(ix.library.pendulum(), (0, 0.1))
    with pytest.raises(
        AttributeError, match=r"Revolute 'pivot' has no 'angel'\. Did you mean angle\? It has force, tor"
    ):
        result["pivot"].angel  # noqa: B018
    with pytest.raises(
        ModelError, match=r"'angel'\. Did you mean angle\? Use one of force, torque, angle, angle_rate\."
    ):
        result.plot("pivot.angel")
    with pytest.raises(AttributeError) as caught:
        result["pivot"].rate  # noqa: B018
    shown = "".join(traceback.format_exception(caught.value))
    assert "Did you mean angle_rate? It has" in shown
    assert "x_rate" not in shown  # which Python would propose
    with pytest.raises(AttributeError, match=r"body 'rod' has no 'positon'\. Did you mean position\?"):
        result["rod"].positon  # noqa: B018


def test_elements_say_where_histories_are():
    model = ix.library.pendulum()
    with pytest.raises(AttributeError, match=r"in the result of a run: result\['pivot'\]\.angle"):
        model["pivot"].angle  # noqa: B018
    with pytest.raises(AttributeError, match=r"RigidBody has no attribute 'acceleration'\. Histories are in"):
        model["rod"].acceleration  # noqa: B018
    with pytest.raises(AttributeError, match=r"Revolute has no attribute 'angel'\.$"):
        model["pivot"].angel  # noqa: B018


def test_a_run_of_an_older_version_says_what_it_lacks():
    model = ix.Model("rope")
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.005, elements=2, young=1e8, density=1e3))
    model.add(ix.Spherical("hook", model.ground.marker(), rope.marker(s=0.0)))
    result = ix.simulate(model, (0, 0.01), "hht-i3", progress=False)
    assert np.all(np.isfinite(result["rope"].axial_force([0.5])))
    (body,) = result.layout.bodies
    del body["constants"]["line_density"]
    with pytest.raises(ix.ModelError, match="older version of index3 and lacks 'line_density'"):
        result["rope"].axial_force([0.5])


def test_angles_of_a_universal_joint(tmp_path):
    """Axes of the second body = A Rx(first angle) Ry(second angle) A^T times those at the start, through full turns."""
    A = Rotation.from_rotvec((0.4, -0.7, 0.3))
    spin = A.apply((9.0, -7.0, 0.0))  # both axes at the start
    model = ix.Model("cross")
    arm = ix.RigidBody("arm", 1.0, (0.1, 0.12, 0.14), position=A.apply((0.2, 0.3, -1.0)), angular_velocity=spin)
    axes = A.as_matrix().T
    model.add(arm)
    model.add(ix.Universal("joint", model.ground, arm, at=(0, 0, 0), axes=(axes[0], axes[1])))
    result = ix.simulate(model, (0.0, 3.0), t_eval=0.01, rtol=1e-8)
    joint = result["joint"]
    turned = A * Rotation.from_euler("XY", joint.angles) * A.inv()
    assert np.abs(turned.as_matrix() @ result["arm"].rotation[0] - result["arm"].rotation).max() < 1e-10  # rounding
    assert joint.angles[0] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert joint.angles[-1, 0] > 30.0  # five turns
    assert joint.angle_rates[0] == pytest.approx([9.0, -7.0], abs=1e-10)
    rates = np.gradient(joint.angles, result.t, axis=0)[2:-2]
    assert joint.angle_rates[2:-2] == pytest.approx(rates, abs=0.05)  # h^2/6 of third derivatives of 2000
    assert joint.rotation == pytest.approx(np.swapaxes(joint.first.rotation, 1, 2) @ joint.second.rotation, abs=1e-15)
    result.save(tmp_path / "cross.nc")
    assert np.array_equal(ix.Result.load(tmp_path / "cross.nc")["joint"].angles, joint.angles)
    with pytest.raises(AttributeError, match=r"no coordinate 'angle'\. It has angles and angle_rates"):
        _ = joint.angle
    with pytest.raises(AttributeError, match="'pivot' has no angles, which a Universal has"):
        _ = ix.simulate(ix.library.pendulum(), (0.0, 0.1))["pivot"].angles
