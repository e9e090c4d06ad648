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
    welded = pendulum()  # a tree without a way to move is not locked by a slip
    lid = welded.add(ix.RigidBody("lid", 1.0, (1, 1, 1)))
    for name, bodies in (("weld", (welded.ground, welded["rod"])), ("glue", (welded["rod"], lid))):
        welded.add(ix.Fixed(name, *bodies, at=(0, 0, 0)))
    assert "no degree of freedom" in warnings_of(welded)[0]  # pin and weld: a loop
    assert not warnings_of(welded, open_joints=["pin"])


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ((lambda t: t**2, lambda t: 2.08 * t, lambda t: 2.08), "df gives 0.0"),  # right at the start alone
        (
            (lambda t: t**2, lambda t: 2.0 * t, lambda t: 1.9),
            "ddf gives 1.9 at t = 0, but df changes there at the rate 2",
        ),
        ((lambda t: t**2, lambda t: 2.0 * t, lambda t: 0.0 if t < 0.02 else 2.0), "ddf gives 0 at t = 0"),
        ((lambda t: t**3, lambda t: 3.0 * t**2, lambda t: 6.0 * t), ""),
        ((lambda t: np.sin(3e5 * t), lambda t: 3e5 * np.cos(3e5 * t), lambda t: -9e10 * np.sin(3e5 * t)), ""),
    ],
    ids=["df", "ddf", "ddf at first", "right", "faster than differences"],
)
def test_derivatives_that_are_none(functions, said):
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], *functions))
    told = [each for each in warnings_of(model, max_steps=5) if "Motion 'drive'" in each]
    assert len(told) == bool(said)
    assert not said or said in told[0]


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ((lambda t: t**2, lambda t: t, lambda t: 1.0), "df gives 0.0.* as wrong at 4 of 5 times.* derivative of f, or"),
        (
            (lambda t: np.sin(3 * t), lambda t: np.cos(3 * t), None),
            "df gives 1 at t = 0, but f changes there at the rate 3",
        ),
        ((lambda t: np.sin(3 * t), lambda t: -3 * np.cos(3 * t), None), "df gives -3 .* at 5 of 5 times"),
        ((lambda t: t**2, lambda t: 2.0 * t, lambda t: 0.0), "ddf gives 0 at t = 0.*derivative of df, or leave it out"),
        ((lambda t: t**2, lambda t: 2.0 * t if t < 0.03 else 0.0, None), "df gives 0 at t = 0.0.*at 3 of 5 times"),
    ],
    ids=["half", "factor", "sign", "ddf", "later"],
)
def test_derivatives_that_are_far_off_are_refused(functions, said):
    """`auto` crawled to an end after 0.5 ms, and hht-i3 reached the end with velocities of df and positions of f."""
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], *functions))
    for ask in (ix.simulate, ix.kinematics):
        with pytest.raises(ix.ModelError, match=f"Motion 'drive': {said}"):
            ask(model, (0.0, 0.1))


def test_derivatives_of_joints_that_follow_functions():
    model = ix.Model("lift", gravity=(0, 0, 0))
    body = model.add(ix.PointMass("cabin", 1.0))
    model.add(ix.RelativeCoordinate("lift", model.ground, body, lambda t: t**2, lambda t: t, 1.0, at=(0, 0, 0),
                                    axis=(0, 0, 1)))  # fmt: skip
    with pytest.raises(ix.ModelError, match="RelativeCoordinate 'lift': df gives"):
        ix.simulate(model, (0.0, 0.1), "hht-i3", progress=False)


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
