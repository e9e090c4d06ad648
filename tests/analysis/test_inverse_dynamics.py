"""Drive forces against closed formulas and against runs in which nothing drives."""

import numpy as np
import pytest
from small_models import G, Y, four_bar, pendulum, spatial_loop

import index3 as ix


def wave(amplitude, rate):
    """amplitude sin(rate t) with its derivatives."""
    return (
        lambda t: amplitude * np.sin(rate * t),
        lambda t: amplitude * rate * np.cos(rate * t),
        lambda t: -amplitude * rate**2 * np.sin(rate * t),
    )


@pytest.mark.jit_off
def test_pendulum():
    """About y, from a start along x: I a'' - m g l/2 cos(a)."""
    curve = wave(1.2, 3.0)
    found = ix.inverse_dynamics(pendulum(), {"pin": curve}, (0.0, 2.0), t_eval=0.05)
    t = found.t
    expected = curve[2](t) / 3.0 - 0.5 * G * np.cos(curve[0](t))
    assert found["pin.angle"] == pytest.approx(expected, abs=1e-9)
    assert found.powers["pin.angle"] == pytest.approx(expected * curve[1](t), abs=1e-8)


def arm():
    """Two uniform links of 0.8 m, 3 kg and 0.6 m, 2 kg along x, hinges about y, gravity along -z."""
    model = ix.Model("arm")
    upper = model.add(ix.RigidBody.rod("upper", (0, 0, 0), (0.8, 0, 0), mass=3.0))
    lower = model.add(ix.RigidBody.rod("lower", (0.8, 0, 0), (1.4, 0, 0), mass=2.0))
    model.add(ix.Revolute("shoulder", model.ground, upper, at=(0, 0, 0), axis=Y))
    model.add(ix.Revolute("elbow", upper, lower, at=(0.8, 0, 0), axis=Y))
    return model


def arm_torques(curves, t):
    """The closed formula of the two-link arm with uniform links; angles turn from x to -z."""
    (a, da, dda), (b, db, ddb) = ([f(t) for f in curve] for curve in curves)
    l1, l2, m1, m2 = 0.8, 0.6, 3.0, 2.0
    coupling = 0.5 * m2 * l1 * l2 * np.cos(b)
    swirl = 0.5 * m2 * l1 * l2 * np.sin(b)
    i1, i2 = m1 * l1**2 / 3.0, m2 * l2**2 / 3.0
    weight2 = -0.5 * m2 * G * l2 * np.cos(a + b)
    elbow = (i2 + coupling) * dda + i2 * ddb + swirl * da**2 + weight2
    shoulder = (i1 + i2 + m2 * l1**2 + 2.0 * coupling) * dda + (i2 + coupling) * ddb
    shoulder += -swirl * (2.0 * da * db + db**2) - (0.5 * m1 + m2) * G * l1 * np.cos(a) + weight2
    return shoulder, elbow


def test_two_link_arm():
    curves = wave(0.9, 2.0), wave(-1.3, 3.0)
    found = ix.inverse_dynamics(arm(), {"shoulder": curves[0], "elbow.angle": curves[1]}, (0.0, 2.0), t_eval=0.02)
    shoulder, elbow = arm_torques(curves, found.t)
    assert found["shoulder.angle"] == pytest.approx(shoulder, abs=1e-9)
    assert found["elbow.angle"] == pytest.approx(elbow, abs=1e-9)
    work = sum(found.powers.values())
    rate = np.gradient(found.result.energy.total, found.t, edge_order=2)
    assert work[2:-2] == pytest.approx(rate[2:-2], abs=0.02 * np.abs(rate).max())  # second differences over 20 ms


def test_samples_become_splines():
    curves = wave(0.9, 2.0), wave(-1.3, 3.0)
    t = np.linspace(0.0, 2.0, 201)
    samples = {"shoulder": curves[0][0](t), "elbow": curves[1][0](t)}
    found = ix.inverse_dynamics(arm(), samples, t_eval=t)
    inside = slice(10, -10)  # a spline is less good at its ends
    for name, expected in zip(("shoulder.angle", "elbow.angle"), arm_torques(curves, t), strict=True):
        assert found[name][inside] == pytest.approx(expected[inside], abs=1e-5)  # fourth power of 10 ms, w^6 = 729


def test_missing_derivatives_are_taken_by_differences():
    with pytest.warns(UserWarning, match="taken by differences"):
        found = ix.inverse_dynamics(pendulum(), {"pin": lambda t: 0.3 * np.sin(t)}, (0.0, 1.0), t_eval=0.5)
    exact = ix.inverse_dynamics(pendulum(), {"pin": wave(0.3, 1.0)}, (0.0, 1.0), t_eval=0.5)
    assert found["pin.angle"] == pytest.approx(exact["pin.angle"], abs=1e-6)  # rounding of second differences: 1e-9


@pytest.mark.parametrize("make", [arm, four_bar, spatial_loop])
def test_a_free_motion_needs_no_drive(make):
    """Known accelerations are followed: whether the output is coarse or every step, and the run accurate or not."""
    for settings in ({"rtol": 1e-11, "t_eval": 0.1}, {"rtol": 1e-4}):
        result = ix.simulate(make(), (0.0, 1.0), "dop853", **settings)
        found = ix.inverse_dynamics(make(), result)
        scale = max(np.abs(result.arrays["wrench"]).max(), 1.0)
        for drive in found.drives.values():
            assert np.abs(drive).max() < 1e-9 * scale  # rounding of accelerations that solve the equations of motion
        assert len(found.drives) == make().check().dof


def test_between_the_times_of_a_result_its_motion_is_followed():
    result = ix.simulate(arm(), (0.0, 1.0), "dop853", rtol=1e-11, t_eval=0.02)
    found = ix.inverse_dynamics(arm(), result, t_eval=np.linspace(0.01, 0.99, 25))
    for drive in found.drives.values():
        assert np.abs(drive).max() < 1e-4 * np.abs(result.arrays["wrench"]).max()  # h^4 of pieces of degree 5


def test_at_its_own_times_a_result_is_not_followed_between_them():
    """Hundreds of turns between two lines, which took thousands of closures."""
    model = pendulum(velocity=(0, 0, -2500), angular_velocity=(0, 5000, 0))
    result = ix.simulate(model, (0.0, 1.0), "dop853", rtol=1e-3, t_eval=0.5)
    assert np.diff(result["pin"].angle).min() > 2e3
    found = ix.inverse_dynamics(model, result)
    assert found.result.stats["steps"] == 0
    assert np.array_equal(found.t, result.t)
    assert found.result["pin"].angle == pytest.approx(result["pin"].angle)
    assert np.abs(found["pin.angle"]).max() < 1e-9 * np.abs(result.arrays["wrench"]).max()


@pytest.mark.parametrize("t_eval", [[1.0], [0.0, 1.0]])
def test_a_result_of_less_than_two_times_is_refused(t_eval):
    result = ix.simulate(arm(), (0.0, 1.0), t_eval=t_eval, max_steps=2)
    with pytest.raises(ix.ModelError, match=f"the result has {len(t_eval) - 1} times"):
        ix.inverse_dynamics(arm(), result)


def test_a_motion_that_jumps_is_refused():
    def halfway(t, state):
        return t - 0.5

    halfway.action = lambda switch: None
    result = ix.simulate(arm(), (0.0, 1.0), events=halfway)
    result.arrays["t"][3] = result.arrays["t"][2]
    with pytest.raises(ix.ModelError, match="the motion of the result jumps"):
        ix.inverse_dynamics(arm(), result)


def test_forces_of_the_model_help():
    model = pendulum()
    model.add(ix.RotationalSpringDamper("spring", model["pin"], stiffness=2.0, damping=0.3))
    curve = wave(0.5, 2.0)
    found = ix.inverse_dynamics(model, {"pin": curve}, (0.0, 1.0), t_eval=0.1)
    bare = ix.inverse_dynamics(pendulum(), {"pin": curve}, (0.0, 1.0), t_eval=0.1)
    help_ = 2.0 * curve[0](found.t) + 0.3 * curve[1](found.t)
    assert found["pin.angle"] == pytest.approx(bare["pin.angle"] + help_, abs=1e-9)


def test_own_motions_are_reported_by_name_and_the_model_is_left_alone():
    model = arm()
    model.add(ix.Motion("turn", model["shoulder"], *wave(0.9, 2.0)))
    found = ix.inverse_dynamics(model, {"elbow": wave(-1.3, 3.0)}, (0.0, 1.0), t_eval=0.1)
    assert list(found.drives) == ["turn", "elbow.angle"]
    assert found["turn"] == pytest.approx(arm_torques((wave(0.9, 2.0), wave(-1.3, 3.0)), found.t)[0], abs=1e-9)
    assert list(model.motions) == ["turn"]
    assert "elbow.angle" in str(found)
    alone = pendulum()
    alone.add(ix.Motion("turn", alone["pin"], *wave(0.9, 2.0)))
    assert list(ix.inverse_dynamics(alone, None, (0.0, 1.0)).drives) == ["turn"]


def test_chosen_coordinates_of_a_result():
    result = ix.simulate(four_bar(), (0.0, 0.2), t_eval=0.01)
    assert list(ix.inverse_dynamics(four_bar(), result, coordinates="D").drives) == ["D.angle"]


@pytest.mark.parametrize(
    ("motion", "settings", "words"),
    [
        (
            {"shoulder": wave(1, 1)},
            {},
            "^inverse_dynamics: .* Revolute 'elbow'. Give a trajectory for each",
        ),
        ({"wrist": wave(1, 1)}, {}, "is not a joint. There are: shoulder, elbow"),
        ({"elbow.length": wave(1, 1)}, {}, "Coordinates of Revolute 'elbow': 'elbow.angle'"),
        ({"elbow": [1.0, 2.0]}, {}, "neither a function"),
        ({"elbow": [1.0, 2.0]}, {"t_eval": [0.0, 1.0]}, "2 samples"),
        (None, {}, "nothing is driven"),
        (5, {}, "motion is 5"),
        ({"elbow": wave(1, 1)}, {"coordinates": "elbow"}, "coordinates go with a result"),
        ({"shoulder": wave(1, 1), "elbow": wave(1, 1)}, {"t_span": None}, "t_span"),
    ],
)
def test_bad_motions_are_named(motion, settings, words):
    settings = {"t_span": (0.0, 1.0)} | settings
    with pytest.raises(ix.ModelError, match=words):
        ix.inverse_dynamics(arm(), motion, **settings)


def test_unknown_drive_is_named():
    found = ix.inverse_dynamics(pendulum(), {"pin": wave(1, 1)}, (0.0, 0.1), t_eval=0.1)
    with pytest.raises(ix.ModelError, match=r"no drive 'pun'\. There are: pin\.angle"):
        found["pun"]
