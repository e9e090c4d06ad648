"""What is doubtful about a run is told before it begins, and nothing else is."""

import warnings

import numpy as np
import pytest

import index3 as ix


def pendulum(**rates):
    model = ix.Model("pendulum")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, **rates))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    return model


def warnings_of(model, **settings):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ix.simulate(model, (0.0, 0.1), "hht-i3", rtol=1e-3, progress=False, **settings)
    return [str(each.message) for each in told]


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"velocity": (3, 0, 0)}, "'rod' by 3 m/s."),
        ({"angular_velocity": (0, 0, 5)}, "'rod' by 5 rad/s."),
        ({"velocity": (0, 0, -1), "angular_velocity": (0, 2.1, 0)}, "'rod' by 0.0"),  # 2 rad/s would fit
        ({"velocity": (0, 0, -1), "angular_velocity": (0, 2, 0)}, ""),
        ({"velocity": (0, 0, -1.0004), "angular_velocity": (0, 2, 0)}, ""),  # three digits
        ({"angular_velocity": (0, 2, 0)}, ""),
        ({"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}, ""),
        ({}, ""),
    ],
)
def test_velocities_that_joints_do_not_allow(rates, said):
    told = warnings_of(pendulum(**rates))
    assert bool(told) == bool(said)
    if said:
        assert "joints do not allow the velocities given" in told[0]
        assert said in told[0]


def test_a_motion_decides_against_a_velocity():
    model = pendulum(angular_velocity=(0, 2, 0))
    model.add(ix.Motion("drive", model["pin"], lambda t: 3.0 * t, 3.0, 0.0))
    assert "'rod' by 1 rad/s" in warnings_of(model)[0]


def four_bar(tilt):
    """A four-bar at rest; the axis of one hinge is tilted."""
    model = ix.Model("four-bar")
    at = [(0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)]
    rods = [model.add(ix.RigidBody.rod(f"rod{k}", at[k], at[k + 1], mass=1.0)) for k in range(3)]
    ends = [model.ground, *rods, model.ground]
    for k in range(4):
        axis = (tilt if k == 2 else 0.0, 1, 0)
        model.add(ix.Revolute(f"hinge{k}", ends[k], ends[k + 1], at=at[k], axis=axis))
    return model


def test_a_mechanism_that_cannot_move():
    told = warnings_of(four_bar(0.01))
    assert "joints leave model 'four-bar' no degree of freedom" in told[0]
    assert not warnings_of(four_bar(0.0))
    model = pendulum()  # driven: no other degree of freedom, and none is needed
    model.add(ix.Motion("drive", model["pin"], lambda t: t**2, lambda t: 2.0 * t, 2.0))
    assert not warnings_of(model)
    assert not warnings_of(pendulum(), open_joints=["pin"])


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ((lambda t: t**2, lambda t: t, lambda t: 1.0), "df gives 0.0"),  # right at the start alone
        (
            (lambda t: t**2, lambda t: 2.0 * t, lambda t: 0.0),
            "ddf gives 0 at t = 0, but df changes there at the rate 2",
        ),
        ((lambda t: t**3, lambda t: 3.0 * t**2, lambda t: 3.0 * t), "ddf gives"),
        ((lambda t: t**3, lambda t: 3.0 * t**2, lambda t: 6.0 * t), ""),
        ((lambda t: np.sin(3e5 * t), lambda t: 3e5 * np.cos(3e5 * t), lambda t: -9e10 * np.sin(3e5 * t)), ""),
    ],
    ids=["df", "ddf", "ddf later", "right", "faster than differences"],
)
def test_derivatives_that_are_none(functions, said):
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], *functions))
    told = [each for each in warnings_of(model, max_steps=5) if "Motion 'drive'" in each]
    assert len(told) == bool(said)
    assert not said or said in told[0]


def test_derivatives_of_joints_that_follow_functions():
    model = ix.Model("lift", gravity=(0, 0, 0))
    body = model.add(ix.PointMass("cabin", 1.0))
    model.add(ix.RelativeCoordinate("lift", model.ground, body, lambda t: t**2, lambda t: t, 1.0, at=(0, 0, 0),
                                    axis=(0, 0, 1)))  # fmt: skip
    assert "RelativeCoordinate 'lift': df gives" in warnings_of(model)[0]


def test_a_force_that_answers_the_same_question_differently():
    calls, noise = [], np.random.default_rng(1)

    def counting(t, x, rate):
        calls.append(t)
        return 0.001 * len(calls)

    for function in (counting, lambda t, x, rate: noise.normal()):
        model = pendulum()
        model.add(ix.Actuator("servo", model["pin"], function))
        told = warnings_of(model, max_steps=5)
        assert "Actuator 'servo' gives another force when called twice" in told[0]
    model = pendulum()
    model.add(ix.Actuator("servo", model["pin"], lambda t, x, rate: np.cos(x) - rate))
    assert not warnings_of(model)


@pytest.mark.parametrize(
    "name", ["andrews", "four_bar", "free_double_pendulum", "iltis", "slider_crank", "spinning_top"]
)
def test_models_of_the_library_are_beyond_doubt(name):
    assert not warnings_of(getattr(ix.library, name)(), max_steps=3)
