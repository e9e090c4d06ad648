"""Every wrong input has a named, helpful error, and nothing is left half done."""

import contextlib

import numpy as np
import pytest
from small_models import Y, four_bar, impossible, locked, particle, pendulum

import index3 as ix

LATE = 0.5  # s, when things go wrong mid-run


def refused(call, *words, error=ix.ModelError):
    """The message of the error that a call raises, which holds the words."""
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert isinstance(caught.value, ix.Index3Error)
    return caught.value


def stops(model, *words, span=(0.0, 1.0), **settings):
    """A run that fails mid-run, twice: as a result, which is returned, and as an error that carries it."""
    result = ix.simulate(model, span, **settings)
    assert not result.success
    assert result.status < 0
    for word in words:
        assert word in result.message
    assert result.t[0] == span[0]
    assert len(result.t) > 5
    assert result.t[-1] < span[1]
    assert np.all(np.isfinite(result.q))
    assert np.all(np.isfinite(result.energy.total))
    assert result.violation.scaled.velocity.max() < 1e-9
    with pytest.raises(ix.SimulationFailed) as caught:
        ix.simulate(model, span, on_failure="raise", **settings)
    assert str(caught.value) == result.message
    assert np.array_equal(caught.value.result.q, result.q)
    return result, caught.value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ix.RigidBody("b", -1.0, (1, 1, 1)), ("RigidBody 'b'", "mass")),
        (lambda: ix.RigidBody("b", 0.0, (1, 1, 1)), ("RigidBody 'b'", "mass")),
        (lambda: ix.RigidBody("b", np.nan, (1, 1, 1)), ("RigidBody 'b'", "mass")),
        (lambda: ix.PointMass("b", np.inf), ("PointMass 'b'", "mass")),
        (lambda: ix.RigidBody("b", 1.0, (1, 1, 3)), ("RigidBody 'b'", "no rigid body can have these")),
        (lambda: ix.RigidBody("b", 1.0, (1, 1, np.nan)), ("RigidBody 'b'", "inertia")),
        (lambda: ix.RigidBody("b", 1.0, (1, 1, -1)), ("RigidBody 'b'", "negative")),
        (lambda: ix.PlanarBody("b", 1.0, -1.0), ("PlanarBody 'b'", "inertia")),
    ],
)
def test_impossible_bodies(make, words):
    refused(make, *words)


def test_names_and_owners():
    model = pendulum()
    rod = model["rod"]
    refused(lambda: model.add(ix.PointMass("rod", 1.0)), "PointMass 'rod'", "another name")
    refused(lambda: ix.Revolute("loop", rod, rod, at=(0, 0, 0), axis=Y), "Revolute 'loop' joins body 'rod' to itself")
    refused(lambda: ix.Revolute("flat", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 0)), "Revolute 'flat'", "axis")
    other, bob = particle()
    refused(lambda: model.add(ix.Spherical("tie", rod, bob, at=(0, 0, 0))), "Spherical 'tie'", "model 'particle'")
    refused(lambda: other.add(rod), "RigidBody 'rod' belongs to model 'pendulum'")
    assert list(model) == ["rod", "pin"]  # nothing half done
    assert ix.simulate(model, (0.0, 0.1)).success


@pytest.mark.parametrize("span", [(1.0, 0.0), (1.0, 1.0), (0.0, np.inf), (0.0, np.nan), (0.0,), 1.0, ("a", "b"), None])
def test_time_span(span):
    refused(lambda: ix.simulate(pendulum(), span), "t_span", "t0")


@pytest.mark.parametrize(
    ("t_eval", "word"),
    [
        (0.0, "positive"), (-0.1, "positive"), (np.nan, "positive"), (1e-13, "output times"), ("often", "array"),
        ([], "array"), ([[0.0, 1.0]], "array"), ([0.0, np.nan], "array"), (["a"], "array"), (True, "array"),
        (1 + 2j, "array"), ([0.5, 0.2], "0.2 follows 0.5"), ([0.2, 0.2], "increase"), ([0.5, 2.0], "it has 2.0"),
        ([-0.5, 0.5], "it has -0.5"),
    ],
)  # fmt: skip
def test_output_times(t_eval, word):
    refused(lambda: ix.simulate(pendulum(), (0.0, 1.0), t_eval=t_eval), "t_eval", word)


def test_output_times_that_round_beyond_the_end():
    times = np.arange(0.0, 0.35, 0.1)
    assert times[-1] > 0.3
    assert ix.simulate(pendulum(), (0.0, 0.3), t_eval=times).t[-1] == 0.3
    assert times[-1] > 0.3  # those of the user stay


@pytest.mark.parametrize(
    "settings",
    [
        {"rtol": 0.0}, {"rtol": -1e-6}, {"rtol": "small"}, {"rtol": None}, {"rtol": np.nan}, {"rtol": 1.0},
        {"atol": 0.0}, {"atol": -1.0}, {"atol": (1e-8, 1e-8)}, {"atol": "small"}, {"atol": np.nan},
        {"step": 0.0, "method": "hht-i3"}, {"step": -0.1, "method": "hht-i3"}, {"step": np.inf, "method": "hht-i3"},
        {"step": "short", "method": "hht-i3"}, {"step": 0.1}, {"max_step": 0.0}, {"max_step": np.nan},
        {"first_step": -1.0}, {"max_steps": 0}, {"max_steps": 2.5}, {"progress": "loud"}, {"callback": 3},
        {"on_failure": "ignore"}, {"on_failure": np.zeros(3)}, {"project": "maybe"}, {"events": 1.5}, {"events": [1.5]},
    ],
)  # fmt: skip
def test_settings(settings):
    calls = []
    model, bob = particle()
    model.add(ix.UserForce("spy", bob, lambda t, r, A, v, w, p, out: calls.append(t) if t > 0 else None))
    refused(lambda: ix.simulate(model, (0.0, 1.0), **settings), "simulate: ", next(iter(settings)))
    assert calls == []  # no step was taken


@pytest.mark.parametrize("names", [True, 1.5, [3], [["pin"]]])
def test_open_joints_that_are_no_names(names):
    refused(lambda: ix.simulate(pendulum(), (0.0, 1.0), open_joints=names), "open_joints")


def test_times_beyond_all_numbers_end_by_name():
    result = ix.simulate(ix.library.double_pendulum(), (1e300, 2e300), "dop853")
    assert not result.success
    assert "step became too small" in result.message


@pytest.mark.parametrize(
    "make",
    [
        lambda: ix.RigidBody.rod("huge", (0, 0, 0), (1e200, 0, 0), 1.0),
        lambda: ix.RigidBody.cylinder("huge", 1e200, 1.0, 1.0),
        lambda: ix.RigidBody.sphere("huge", 1e200, density=1.0),
    ],
)
def test_bodies_beyond_all_numbers(make):
    refused(make, "'huge'", "overflow")


def strange(mass=1.0, length=1.0, gravity=9.81, stiffness=1e3):
    """Two rods and a spring with numbers of any size."""
    model = ix.Model("strange", gravity=(0, 0, -gravity))
    rods = [
        model.add(ix.RigidBody.rod(name, (k * length, 0, 0), ((k + 1) * length, 0, 0), mass))
        for k, name in enumerate("ab")
    ]
    model.add(ix.Revolute("p", model.ground, rods[0], at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Revolute("r", *rods, at=(length, 0, 0), axis=(0, 1, 0)))
    ends = model.ground.marker((0, 0, 3 * length)), rods[1].marker()
    model.add(ix.SpringDamper("s", *ends, stiffness=stiffness))
    return model


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "numbers", [{"mass": 1e-200}, {"mass": 1e150}, {"length": 1e100}, {"gravity": 1e200}, {"stiffness": 1e300}]
)
def test_numbers_of_any_size_give_no_warnings_of_numpy(numbers, tmp_path):
    """Nor errors that are not index3's own."""
    for method in ("auto", "hht-i3", "dop853"):
        with contextlib.suppress(ix.Index3Error):
            result = ix.simulate(strange(**numbers), (0.0, 1.0), method, max_steps=50)
            assert "strange" in repr(result)
            result.to_html(tmp_path / "page.html")
    for analysis in (ix.linearize, ix.assemble):
        with contextlib.suppress(ix.Index3Error):
            assert str(analysis(strange(**numbers)))


def test_long_values_are_shortened():
    """The head names what is wrong, the end says what to do."""
    with pytest.raises(
        ix.ModelError, match=r"simulate: events holds 'xxx(?s:.*)Give functions of \(t, state\)"
    ) as caught:
        ix.simulate(pendulum(), (0.0, 1.0), events=["x" * 100_000])
    assert len(str(caught.value)) < 1000
    assert "characters left out" in str(caught.value)


@pytest.mark.parametrize("method", sorted(ix.METHODS))
def test_a_run_that_fails_before_its_only_output_has_no_lines(method):
    result = ix.simulate(pendulum(), (0.0, 1.0), method, t_eval=[1.0], max_steps=2)
    assert not result.success
    assert len(result) == 0
    assert "max_steps = 2" in result.message
    assert "no output" in repr(result)


def test_step_and_first_step_exclude_each_other():
    refused(lambda: ix.simulate(pendulum(), (0, 1), "hht-i3", step=0.1, first_step=0.1), "exclude each other")


def test_methods_and_options():
    model = pendulum()
    refused(lambda: ix.simulate(model, (0, 1), "hht"), "no method 'hht'", "Did you mean 'hht-i3'?")
    refused(lambda: ix.simulate(model, (0, 1), "verlet"), "no method 'verlet'", "Choose")
    for nonsense in (None, ["hht-i3"], 3, dict):
        refused(lambda nonsense=nonsense: ix.simulate(model, (0, 1), nonsense), "no method")
    refused(lambda: ix.simulate(model, (0, 1), alfa=-0.1), "no option 'alfa'", "Did you mean 'alpha'?")
    refused(lambda: ix.simulate(model, (0, 1), colour="red"), "no option 'colour'", "It takes")
    refused(lambda: ix.simulate(model, (0, 1), tol=1e-3), "simulate has no option 'tol'", "Did you mean 'rtol'?")
    refused(lambda: ix.simulate(model, (0, 1), "adams", teval=1), "no option 'teval'", "Did you mean 't_eval'?")
    refused(lambda: ix.simulate(model, (0, 1), dt=0.1), "no option 'dt'", "Give t_eval for the interval of output")
    refused(lambda: ix.simulate(model, (0, 1), ix.HHT(), alpha=-0.1), "beside")
    for alpha in (0.1, -0.5, np.nan, "much", True):
        refused(lambda alpha=alpha: ix.simulate(model, (0, 1), alpha=alpha), "alpha", "from -0.333333 to 0")
    refused(lambda: ix.HHT(max_iterations=1.5), "max_iterations", "whole number")
    refused(lambda: ix.HHT(mass="middle"), "mass", "'alpha' or 'end'")


@pytest.mark.parametrize("analysis", [lambda m: ix.simulate(m, (0, 1)), ix.check, ix.assemble])
def test_not_a_model(analysis):
    refused(lambda: analysis("four_bar"), "'four_bar'", "Give an index3.Model")
    refused(lambda: analysis(ix.Model("empty")), "Model 'empty' has no bodies")


def test_impossible_assembly():
    for analysis in (ix.assemble, lambda m: ix.simulate(m, (0, 1))):
        refused(lambda analysis=analysis: analysis(impossible()), "Spherical", "right.x", error=ix.AssemblyError)


def test_motions_of_one_coordinate():
    model = pendulum()
    model.add(ix.Motion("one", model["pin"], 0.0))
    refused(lambda: model.add(ix.Motion("two", model["pin"], 0.1)), "'two'", "'one'", "contradictory motions")


def test_motions_that_fight_through_a_loop():
    model = four_bar()
    model.add(ix.Motion("m1", model["A"], lambda t: 3 * t, 3.0))
    model.add(ix.Motion("m2", model["D"], lambda t: -t, -1.0))
    refused(lambda: ix.simulate(model, (0, 1)), "Motion 'm2'", "contradict", error=ix.AssemblyError)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_motion_of_a_locked_joint(power):
    """Wrong in the angle, in its rate, or in its second derivative."""
    f = [lambda t: 0.1, lambda t: t, lambda t: t * t][power]
    df, ddf = [(0.0, 0.0), (1.0, 0.0), (lambda t: 2 * t, 2.0)][power]
    refused(lambda: ix.simulate(locked(f, df, ddf), (0, 1)), "Motion 'drive'", error=ix.AssemblyError)


def test_motion_of_a_locked_joint_that_starts_to_contradict_later():
    model = locked(*(lambda t, k=k: max(0.0, t - LATE) ** (4 - k) * (1, 4, 12)[k] for k in range(3)))
    result, _ = stops(model, "Motion 'drive'", "contradict", t_eval=0.05)
    assert result.t[-1] == pytest.approx(LATE)
    assert result["rod"].position[-1] == pytest.approx((0.5, 0, 0), abs=1e-12)


def test_motion_that_stays_true_to_a_locked_joint_is_fine():
    result = ix.simulate(locked(0.0, 0.0, 0.0), (0, 1))
    assert result.success
    assert not result["drive"].unique


def thrown_at_its_anchor(**settings):
    model, bob = particle(position=(1, 0, 0), velocity=(-2, 0, 0))
    model.add(ix.SpringDamper("strut", model.ground.marker(), bob.marker(), stiffness=1.0, **settings))
    return model


@pytest.mark.parametrize("settings", [{}, {"t_eval": 0.01}, {"method": "hht-i3", "step": 0.003}])
def test_spring_that_reaches_zero_length(settings):
    result, _ = stops(thrown_at_its_anchor(), "SpringDamper 'strut'", "both ends at one point", **settings)
    assert 0.0 < result["bob"].position[-1, 0] < 0.02  # up to the last step or output before it


def test_spring_that_passes_zero_length_narrowly_goes_on():
    model, _ = particle(position=(1, 1e-3, 0), velocity=(-2, 0, 0))
    model.add(ix.SpringDamper("strut", model.ground.marker(), model["bob"].marker(), stiffness=1.0, length=0.5))
    result = ix.simulate(model, (0.0, 1.0))
    assert result.success, result.message
    assert np.ptp(result.energy.total) < 1e-2 * result.energy.kinetic.max()  # rtol 1e-6, the force turns sharply


def test_spring_without_free_length_passes_zero():
    """Its force is linear in the distance, so it has a limit there."""
    result = ix.simulate(thrown_at_its_anchor(length=0.0), (0.0, 3.0), rtol=1e-8, t_eval=0.1)
    assert result.success
    assert result["bob"].position[:, 0] == pytest.approx(np.cos(result.t) - 2 * np.sin(result.t), abs=1e-4)  # rtol 1e-8


def test_spring_that_starts_at_zero_length():
    model, _ = particle()
    model.add(ix.SpringDamper("strut", model.ground.marker(), model["bob"].marker(), stiffness=1.0, length=1.0))
    refused(lambda: ix.simulate(model, (0, 1)), "SpringDamper 'strut'", "both ends at one point")


def test_body_that_turns_without_inertia():
    model = ix.Model("needle")
    rod = model.add(ix.RigidBody("rod", 1.0, (0, 0.1, 0.1), position=(0.5, 0, 0)))
    model.add(ix.Spherical("pin", model.ground, rod, at=(0, 0, 0)))
    for analysis in (lambda m: ix.simulate(m, (0, 1)), ix.assemble, ix.check):
        refused(lambda analysis=analysis: analysis(model), "RigidBody 'rod'", "no inertia", error=ix.SingularError)


def test_planar_body_out_of_its_plane():
    model = ix.Model("tilted")
    bar = model.add(ix.PlanarBody("bar", 1.0, 0.1))
    model.add(ix.Spherical("pin", model.ground.marker((0, 0, 1)), bar.marker()))
    refused(lambda: ix.simulate(model, (0, 1)), "Spherical 'pin'", "x-y plane")


def test_too_many_steps():
    result = ix.simulate(pendulum(), (0.0, 1.0), max_steps=10)
    assert not result.success
    assert "max_steps = 10" in result.message
    assert len(result.t) == 11


def test_a_step_that_is_too_long_ends_the_run():
    model, _ = particle(position=(1, 0, 0), velocity=(0, 3, 0))
    model.add(ix.SpringDamper("strut", model.ground.marker(), model["bob"].marker(), stiffness=1e6))
    result = ix.simulate(model, (0.0, 5.0), "hht-i3", step=0.5, newton_tol=1e-15, max_iterations=2)
    assert not result.success
    assert "Newton" in result.message
    assert "smaller step" in result.message


def test_a_motion_that_jumps():
    model = pendulum()
    jump = [lambda t: 0.0 if t < LATE else 0.1, 0.0, 0.0]
    model.add(ix.Motion("drive", model["pin"], *jump))
    result, _ = stops(model, "not smooth")
    assert result.t[-1] == pytest.approx(LATE, abs=1e-9)


def test_euler_parameters_of_no_orientation_are_refused():
    model = ix.library.pendulum()
    q, v = ix.assemble(model).q, np.zeros(7)
    ix.simulate(model, (0.0, 0.1), initial=(q * [1, 1, 1, 2, 2, 2, 2], v))  # closed to length 1
    with pytest.raises(ix.ModelError, match=r"Euler parameters \[0.0, 0.0, 0.0, 0.0\] for RigidBody 'rod'"):
        ix.simulate(model, (0.0, 0.1), initial=(q * [1, 1, 1, 0, 0, 0, 0], v))
