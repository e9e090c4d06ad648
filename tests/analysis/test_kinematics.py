"""Driven mechanisms against their formulas; what is left free, contradicts or locks."""

import warnings

import numpy as np
import pytest
from small_models import Y, Z, four_bar, pendulum

import index3 as ix


def swing(t):
    """An angle that goes round several times, its rate and second derivative."""
    return 3.0 * t + 0.4 * np.sin(5.0 * t), 3.0 + 2.0 * np.cos(5.0 * t), -10.0 * np.sin(5.0 * t)


def drive(model, joint, f=swing):
    """Drive a joint by a function that returns value, rate and second derivative."""
    parts = [lambda t, k=k: f(t)[k] for k in range(3)]
    return model.add(ix.Motion("drive", model[joint], *parts))


def planar_slider_crank(r=0.1, l=0.35):  # noqa: E741
    model = ix.Model("slider-crank", gravity=(0, -9.81, 0))
    crank = model.add(ix.PlanarBody.rod("crank", (0, 0), (r, 0), mass=0.5))
    rod = model.add(ix.PlanarBody.rod("rod", (r, 0), (r + l, 0), mass=0.8))
    slider = model.add(ix.PlanarBody("slider", 1.2, 0.001, position=(r + l, 0)))
    model.add(ix.Revolute("A", model.ground, crank, at=(0, 0, 0), axis=Z))
    model.add(ix.Revolute("B", crank, rod, at=(r, 0, 0), axis=Z))
    model.add(ix.Revolute("C", rod, slider, at=(r + l, 0, 0), axis=Z))
    model.add(ix.Prismatic("guide", model.ground, slider, at=(r + l, 0, 0), axis=(1, 0, 0)))
    return model


@pytest.mark.jit_off
def test_planar_slider_crank_against_its_formula():
    r, l = 0.1, 0.35  # noqa: E741
    model = planar_slider_crank(r, l)
    drive(model, "A")
    result = ix.kinematics(model, (0.0, 6.0), t_eval=0.05)
    assert result.success
    angle, rate, second = swing(result.t)
    c, s = np.cos(angle), np.sin(angle)
    root = np.sqrt(l**2 - (r * s) ** 2)
    x = r * c + root
    slope = -r * s - r**2 * s * c / root  # dx/dangle
    bend = -r * c - r**2 * (c**2 - s**2) / root - r**4 * (s * c) ** 2 / root**3
    slider = result["slider"]
    assert slider.position[:, 0] == pytest.approx(x, abs=1e-10)  # positions close to 1e-12
    assert slider.velocity[:, 0] == pytest.approx(slope * rate, abs=1e-10)
    assert slider.acceleration[:, 0] == pytest.approx(slope * second + bend * rate**2, abs=1e-9)  # of size 10
    assert result["A"].angle == pytest.approx(angle, abs=1e-10)  # three turns, none lost


def test_spatial_slider_crank_against_its_formula():
    """Haug's: the pin of the crank moves in a plane x = 0, the slider along x at the end of a rod of 0.3 m."""
    model = ix.library.slider_crank()
    drive(model, "A")
    result = ix.kinematics(model, (0.0, 3.0))
    assert len(result.t) == 201  # by default
    angle = swing(result.t)[0]
    pin = np.column_stack([0.1 - 0.08 * np.sin(angle), 0.12 + 0.08 * np.cos(angle)])
    assert result["slider"].position[:, 0] == pytest.approx(np.sqrt(0.09 - np.sum(pin**2, axis=1)), abs=1e-10)


def test_reactions_satisfy_newton_and_drive_power_is_the_change_of_energy():
    model = ix.library.slider_crank()
    drive(model, "A")
    result = ix.kinematics(model, (0.0, 2.0), t_eval=0.002)
    slider = result["slider"]
    force = result["guide"].force + result["C"].on_first()[0]  # the slider is the first body of C
    lift = slider.acceleration - np.array((0, 0, -9.81))
    assert force == pytest.approx(2.0 * lift, abs=1e-9)  # forces of size 50
    power = -result["drive"].lam[:, 0] * swing(result.t)[1]
    rate = np.gradient(result.energy.total, result.t, edge_order=2)[1:-1]
    assert power[1:-1] == pytest.approx(rate, abs=2e-4 * np.abs(rate).max())  # error of the differences
    assert np.ptp(result.energy.balance) < 1e-6 * result.energy.kinetic.max()  # Simpson with intervals of 2 ms


def test_same_motion_as_simulate():
    model = planar_slider_crank()
    drive(model, "A")
    driven = ix.kinematics(model, (0.0, 1.0), t_eval=0.1)
    run = ix.simulate(model, (0.0, 1.0), "hht-i3", rtol=1e-8, t_eval=0.1)
    assert driven.q == pytest.approx(run.q, abs=1e-9)  # both are closed at the same times
    assert driven.lam == pytest.approx(run.lam, abs=1e-6)  # velocities are those of the constraints in both


def test_redundant_rows_are_no_obstacle():
    model = four_bar(angular_velocity=None)
    drive(model, "A", lambda t: (0.2 * t, 0.2, 0.0))
    result = ix.kinematics(model, (0.0, 1.0), t_eval=0.25)
    assert result.success
    assert not result["B"].unique
    assert result["A"].angle == pytest.approx(0.2 * result.t, abs=1e-12)


def test_few_outputs_lose_no_turn():
    model = pendulum()
    drive(model, "pin", lambda t: (40.0 * t, 40.0, 0.0))
    result = ix.kinematics(model, (0.0, 3.0), t_eval=[0.0, 3.0])
    assert result["pin"].angle[-1] == pytest.approx(120.0, abs=1e-9)
    assert result.stats["steps"] > 100  # between the two outputs


def test_start_from_rest_with_a_sudden_acceleration():
    model = pendulum()
    drive(model, "pin", lambda t: (50.0 * t**3, 150.0 * t**2, 300.0 * t))  # at rest, without acceleration, at t = 0
    result = ix.kinematics(model, (0.0, 1.0), t_eval=[0.0, 1.0])
    assert result["pin"].angle[-1] == pytest.approx(50.0, abs=1e-9)


def test_saves_like_a_run(tmp_path):
    model = planar_slider_crank()
    drive(model, "A")
    result = ix.kinematics(model, (0.0, 1.0), t_eval=0.1)
    result.save(tmp_path / "driven.nc")
    assert np.array_equal(ix.Result.load(tmp_path / "driven.nc").lam, result.lam)


def test_what_is_free_is_named():
    with pytest.raises(ix.ModelError, match=r"1 degree of freedom that no motion drives: the angle of Revolute 'pin'"):
        ix.kinematics(pendulum(), (0.0, 1.0))
    model = ix.library.double_pendulum()
    drive(model, "pivot")
    with pytest.raises(ix.ModelError, match=r"the angle of Revolute 'elbow'\. Add a Motion"):
        ix.kinematics(model, (0.0, 1.0))
    model = ix.Model("ball")
    model.add(ix.PointMass("ball", 1.0))
    with pytest.raises(ix.ModelError, match=r"3 degrees of freedom .* the position of PointMass 'ball'"):
        ix.kinematics(model, (0.0, 1.0))


def test_rows_of_velocities_do_not_drive_positions():
    model = ix.Model("blade", gravity=(0, 0, 0))
    model.add(ix.PlanarBody("sleigh", 1.0, 0.1))
    model.add(ix.KnifeEdge("blade", model.ground, model["sleigh"], at=(0, 0, 0), axis=Y))
    with pytest.raises(ix.ModelError, match="3 degrees of freedom"):
        ix.kinematics(model, (0.0, 1.0))


def test_contradicting_motions_are_an_error():
    model = pendulum()
    model.add(ix.Fixed("weld", model.ground, model["rod"], at=(1, 0, 0)))
    drive(model, "pin")
    with pytest.raises(ix.AssemblyError, match="contradict"):
        ix.kinematics(model, (0.0, 1.0))


def locking():
    """A crank longer than its rod: at some angle the rod is stretched across the guide."""
    model = planar_slider_crank(r=0.4, l=0.3)
    drive(model, "A", lambda t: (t, 1.0, 0.0))
    return model


def test_a_mechanism_that_locks_returns_what_it_has():
    result = ix.kinematics(locking(), (0.0, 2.0), t_eval=0.01)
    dead = np.arcsin(0.3 / 0.4)
    assert not result.success
    assert "cannot follow its motions beyond" in result.message
    assert dead - 0.011 < result.t[-1] < dead
    with pytest.raises(ix.SimulationFailed, match="cannot follow") as caught:
        ix.kinematics(locking(), (0.0, 2.0), t_eval=0.01, on_failure="raise")
    assert len(caught.value.result) == len(result)


def test_what_is_only_tried_on_the_way_to_a_lock_warns_of_nothing():
    model, z = ix.Model("locks", gravity=(0, -9.81, 0)), (0, 0, 1)
    points = [(0, 0), (0, 0.6), (1, 0.7), (1.2, 0)]
    rods = [model.add(ix.PlanarBody.rod(f"rod{k}", points[k], points[k + 1], 1.0)) for k in range(3)]
    ends = [model.ground, *rods, model.ground]
    for k, (x, y) in enumerate(points):
        model.add(ix.Revolute(f"pin{k}", ends[k], ends[k + 1], at=(x, y, 0), axis=z))
    model.add(ix.Motion("drive", model["pin0"], lambda t: 2 * t, 2.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.kinematics(model, (0.0, 3.0))
    assert "beyond t = 0.4946" in result.message
    assert len(result) == 33


def test_a_motion_that_jumps_ends_there():
    model = ix.library.pendulum()
    model.add(ix.Motion("step", model["pivot"], lambda t: 0.0 if t < 0.5 else 1.0, 0.0, 0.0))
    result = ix.kinematics(model, (0.0, 1.0), t_eval=[0.25, 0.5])  # at the jump itself steps were halved for ever
    assert not result.success
    assert "beyond t = 0.5: its position jumps there" in result.message
    assert result.t.tolist() == [0.25]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"t_span": (1.0, 0.0)}, "kinematics: t_span"),
        ({"t_eval": -1.0}, "kinematics: t_eval"),
        ({"t_eval": [0.0, 5.0]}, "stay inside"),
        ({"on_failure": "ignore"}, "kinematics: on_failure"),
        ({"model": "pendulum"}, "kinematics: the model"),
        ({"initial": 3}, "cannot start from 3"),
    ],
)
def test_bad_settings_are_named(change, words):
    model = pendulum()
    drive(model, "pin")
    settings = {"model": model, "t_span": (0.0, 1.0)} | change
    with pytest.raises(ix.ModelError, match=words):
        ix.kinematics(settings.pop("model"), settings.pop("t_span"), **settings)


@pytest.mark.parametrize("speed", [0.1, 5.0])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.filterwarnings("ignore:.*by differences")
def test_a_marker_that_moves_carries_its_body(speed, exact):
    """However fast: the marker's own speed is no error of a forecast."""
    model = ix.Model("hand")
    box = model.add(ix.RigidBody.box("box", (0.1, 0.1, 0.1), 1.0))
    path = (lambda t: (speed * t, 0, 0), lambda t: (speed, 0, 0), lambda t: (0, 0, 0))
    hand = model.ground.moving_marker(path=path if exact else path[0], name="hand")
    model.add(ix.Fixed("grip", hand, box.marker_at((0, 0, 0))))
    result = ix.kinematics(model, (0, 1), t_eval=0.1)
    assert result.success
    assert result["box"].position[:, 0] == pytest.approx(speed * result.t, abs=1e-9)


def test_a_mechanism_that_locks_before_its_only_output_has_no_lines():
    result = ix.kinematics(locking(), (0.0, 2.0), t_eval=[2.0])
    assert not result.success
    assert len(result) == 0
    assert "cannot follow its motions" in result.message
    assert "no output" in repr(result)
