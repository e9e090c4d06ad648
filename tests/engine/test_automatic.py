"""`method="auto"`: what is chosen, why, and that it says so; `compare`."""

from __future__ import annotations

import re

import numpy as np
import pytest

import index3 as ix
from index3.analysis.compare import compare
from index3.engine import automatic, interrupts
from index3.engine.assembly import assemble_state
from index3.engine.automatic import fastest_rates
from index3.methods.projection import Projector
from index3.methods.run import COUNTS, N_STEPS
from index3.system.compile import compile_model
from index3.system.state import State


def rates(model):
    state = State(compile_model(model))
    projector = Projector(state)
    assemble_state(state, projector, 0.0)
    return fastest_rates(state, projector)


def test_fastest_rates_are_those_of_the_mechanism():
    """The stiff double pendulum decays at 9.987e4 1/s; 1 kg on 1e6 N/m vibrates at 1000 1/s."""
    assert rates(ix.library.double_pendulum())[1] == pytest.approx(99870.0, rel=1e-3)  # power iteration, well separated
    assert rates(ix.library.mass_spring(k=1e6))[0] == pytest.approx(1000.0, rel=1e-6)


def test_vibrations_of_states_are_seen():
    """x' = v, v' = -k x: every second iteration multiplies by 1, and a stiff beam of the IVP test set was slow."""
    for k in (1e2, 1e8):
        model = ix.Model("states")
        block = model.add(ix.States("x", (0.1, 0.0)))

        def f(t, r, A, v, w, p, out, x, rate):
            rate[0], rate[1] = x[1], -p[0] * x[0]

        model.add(ix.UserForce("spring", model.ground.marker(), f, (k,), states=block))
        assert rates(model)[1] == pytest.approx(np.sqrt(k), rel=1e-6)


def test_stiff_and_other_models_get_their_methods():
    stiff = ix.simulate(ix.library.double_pendulum(), (0, 0.1))
    assert stiff.method == "radau5"
    assert "stiff" in stiff.message
    assert ix.simulate(ix.library.double_pendulum(), (0, 0.1), rtol=1e-3).method == "hht-i3"
    loose = ix.simulate(ix.library.four_bar(), (0, 0.1))
    assert loose.method == "dopri5"
    assert "not stiff" in loose.message
    assert ix.simulate(ix.library.four_bar(), (0, 0.1), rtol=1e-9).method == "dop853"


def test_the_message_says_why_a_method_was_chosen():
    """Steps that stability allows and accuracy asks for, and the tolerance: what the choice follows from."""
    message = ix.simulate(ix.library.double_pendulum(), (0.0, 0.01), rtol=1e-3, progress=False).message
    assert re.search(
        r"hht-i3 \(stiff: rates up to \S+ 1/s allow explicit steps of \S+ s, accuracy asks for \S+ s", message
    )
    assert "; rtol above 0.0001)" in message
    message = ix.simulate(ix.library.pendulum(), (0.0, 0.01), rtol=1e-8, progress=False).message
    assert "dop853 (not stiff: nothing vibrates or decays; rtol 1e-07 or less)" in message


def test_rolling_is_not_stiff():
    """A coin that rolls on a circle: rows of velocities are no reason for small steps."""
    model = ix.Model("coin")
    coin = ix.RigidBody.cylinder(
        "coin",
        0.3,
        0.02,
        2.0,
        position=(0, 0, 0.3),
        orientation=(0.5**0.5, -(0.5**0.5), 0, 0),
        angular_velocity=(0.3, 4, 0.2),
    )
    model.add(coin)
    model.add(ix.RollingDisc("rim", model.ground, coin, radius=0.3, at=(0, 0, 0.3), axis=(0, 1, 0), normal=(0, 0, 1)))
    result = ix.simulate(model, (0, 2), rtol=1e-6)
    assert result.method == "dopri5", result.message
    assert result.stats["steps"] < 100  # 34 seen; hht-i3 takes 319
    fine = ix.simulate(model, (0, 2), "bdf-si2", rtol=1e-9, atol=1e-11)
    assert result["coin"].position[-1] == pytest.approx(fine["coin"].position[-1], abs=1e-5)  # 10 rtol; 1e-6 seen


def test_options_mean_the_method_that_has_them():
    result = ix.simulate(ix.library.four_bar(), (0, 0.1), alpha=-0.1)
    assert result.method == "hht-i3"
    with pytest.raises(ix.errors.ModelError, match="alfa"):
        ix.simulate(ix.library.four_bar(), (0, 0.1), alfa=-0.1)


def stiffening():
    """A damper that stiffens with time."""
    model = ix.Model("stiffening", gravity=(0, 0, 0))
    bob = model.add(ix.PointMass("bob", 1.0, position=(1, 0, 0), velocity=(0, 1, 0)))

    def drag(t, r, A, v, w, p, out):
        out[0, :3] = -(1.0 + 1e5 * max(t - 0.2, 0.0)) * (v[0] - np.array((0.0, np.cos(t), 0.0)))

    def slope(t, r, A, v, w, p, K, D):
        D[0, 0] = D[1, 1] = D[2, 2] = -(1.0 + 1e5 * max(t - 0.2, 0.0))

    model.add(ix.UserForce("drag", bob, drag, jacobian=slope))
    return model


def test_stiffness_that_appears_later_changes_the_method():
    """The run starts explicit and ends implicit."""
    result = ix.simulate(stiffening(), (0, 2), rtol=1e-5, t_eval=0.1)
    assert result.success, result.message
    assert result.method == "radau5"
    assert "dopri5" in result.message
    assert result["bob"].velocity[-1, 1] == pytest.approx(np.cos(2.0), abs=1e-3)  # follows the stream


def test_long_runs_get_the_method_of_higher_order():
    """318 periods: fewer evaluations and a smaller error than the method that is best for short runs."""
    model, exact = ix.library.mass_spring(), 0.01 * np.cos(1e3)
    long, quick = (ix.simulate(model, (0, 1), key, rtol=1e-6, t_eval=[1.0]) for key in ("auto", "dopri5"))
    assert long.method == "dop853"
    assert "more than 200 steps to go" in long.message
    assert long.stats["evaluations"] < 0.8 * quick.stats["evaluations"]  # seen: 0.7
    errors = [abs(result["mass1"].position[-1, 0] - exact) for result in (long, quick)]
    assert errors[0] < errors[1]


def test_steps_that_are_bounded_gain_nothing_by_a_higher_order():
    result = ix.simulate(ix.library.pendulum(), (0, 2), rtol=1e-6, max_step=1e-3)
    assert result.stats["steps"] > 2000
    assert result.method == "dopri5"


def test_a_choice_does_not_depend_on_the_speed_of_the_machine(monkeypatch):
    """However often a run comes back to Python, the method changes after the same step."""
    runs = []
    for seconds in (1e-4, 0.1, 1e6):
        monkeypatch.setattr(interrupts, "TICKER", interrupts.Ticker(seconds))
        runs.append(ix.simulate(stiffening(), (0, 0.5), rtol=1e-5))
    for run in runs[1:]:
        assert run.message == runs[0].message
        np.testing.assert_array_equal(run.q, runs[0].q)
    assert runs[0].method == "radau5"


def test_compare_gives_a_row_for_every_point():
    table = compare(ix.library.pendulum(), 0.2, ["hht-i3", "dopri5"], (1e-4, 1e-6), repeats=1)
    assert [(row["method"], row["rtol"]) for row in table.rows] == [
        ("hht-i3", 1e-4), ("hht-i3", 1e-6), ("dopri5", 1e-4), ("dopri5", 1e-6),
    ]  # fmt: skip
    assert all(row["error"] < 1e-2 and not row["failed"] for row in table.rows)
    assert "dopri5" in str(table)
    assert table.plot() is not None


def test_compare_names_a_refusal():
    model = ix.Model("skate", gravity=(2, 0, 0))
    skate = model.add(ix.PlanarBody("skate", 1.0, 0.1, spin=3.0))
    model.add(ix.KnifeEdge("edge", model.ground, skate, at=(0, 0, 0), axis=(0, 1, 0)))
    (row,) = compare(model, 0.1, ["rosenbrock4"], (1e-4,)).rows
    assert "edge" in row["failed"]


def fading(rate):
    """A double pendulum whose second spring gives way to a start in motion: a transient first, stiff afterwards."""
    model = ix.Model("fading", gravity=(0.0, -9.81, 0.0))
    rods = [model.add(ix.PlanarBody(f"rod{k}", 1.0, 0.1, position=(0.5 + k, 0.0))) for k in range(2)]
    rods[1].v0[:] = 0.0, 5.0, 10.0
    first = model.add(ix.Revolute("A", model.ground, rods[0], at=(0, 0, 0), axis=(0, 0, 1)))
    second = model.add(ix.Revolute("B", rods[0], rods[1], at=(1, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("soft", first, stiffness=100.0, damping=1.0))
    model.add(ix.RotationalSpringDamper("hard", second, stiffness=1e4, damping=rate))
    return model


def test_stiffness_behind_a_transient_is_seen_soon(monkeypatch):
    """The transient takes 20 steps of an explicit method, not 100: a look is far cheaper than the steps after it."""
    run = {"rtol": 1e-5, "t_eval": [1.0], "progress": False}
    soon = ix.simulate(fading(5e3), (0.0, 1.0), **run)
    assert ", from t = " in soon.message
    monkeypatch.setattr(automatic, "SOON", automatic.RECONSIDER)
    late = ix.simulate(fading(5e3), (0.0, 1.0), **run)
    assert late.stats["steps"] - soon.stats["steps"] > 50  # measured 78
    assert np.abs(late.q - soon.q).max() < 1e-4  # ten times rtol


@pytest.mark.parametrize(
    ("model", "end"), [(ix.library.free_double_pendulum, 1.0), (lambda: ix.library.mass_spring(100.0), 3.0)]
)
def test_a_motion_that_cannot_become_stiff_is_not_looked_at_soon(monkeypatch, model, end):
    """Nothing vibrates, or so slowly that explicit steps are never many."""
    looks = []
    plain = automatic.Automatic.reconsider
    monkeypatch.setattr(automatic.Automatic, "reconsider", lambda *x: looks.append(x) or plain(*x))
    result = ix.simulate(model(), (0.0, end), rtol=1e-5, progress=False)
    assert 20 < result.stats["steps"] < 100
    assert not looks


def beam(elements=20, **settings):
    """A clamped steel beam that gravity begins to bend: without damping it vibrates for ever in all its modes."""
    model = ix.Model("beam", gravity=(0.0, -9.81, 0.0))
    steel = {"height": 0.01, "width": 0.01, "young": 2.1e11, "poisson": 0.3, "density": 7850.0}
    body = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=elements, **steel, **settings))
    model.add(ix.Fixed("clamp", model.ground, body, at=(0, 0, 0)))
    return model


@pytest.mark.parametrize("elements", [20, 100])
def test_vibrations_that_positions_cannot_show_are_damped(elements):
    """radau5 follows those of 20 elements in 4,442 steps; the beam bends by 0.1 mm."""
    run = {"t_eval": [5e-3], "progress": False}
    result = ix.simulate(beam(elements), (0.0, 5e-3), **run)
    assert result.method == "hht-i3"
    assert result.stats["steps"] < 500  # 204 and 205 seen
    assert re.search(r"hht-i3 \(vibrations of up to \S+ 1/s held steps to \S+ s, \S+ to go", result.message)
    fine = ix.simulate(beam(elements), (0.0, 5e-3), "radau5", rtol=1e-4, **run)
    assert np.abs(result.q - fine.q).max() < 1e-5  # ten times rtol, slopes are of size 1; 8e-7 seen


def test_vibrations_that_fade_are_left_to_the_accurate_method():
    """At the first look 284 steps are left: too few to give up accuracy."""
    result = ix.simulate(beam(damping=1e-5), (0.0, 5e-3), progress=False)
    assert result.method == "radau5"


def test_damping_of_hidden_vibrations_is_the_same_prepared():
    run = {"t_eval": 1e-3, "progress": False}
    one = ix.simulate(beam(), (0.0, 5e-3), **run)
    assert "hht-i3 damps them" in one.message
    prepared = ix.prepare(beam(), **run)
    for two in (prepared.run((0.0, 5e-3)), prepared.run((0.0, 5e-3))):
        assert two.message == one.message
        np.testing.assert_array_equal(two.q, one.q)


def test_a_vibration_is_not_stiff_where_it_passes_the_middle():
    """There accelerations vanish for an instant: one look in some hundred took that for a motion at rest."""
    result = ix.simulate(ix.library.mass_spring(), (0.0, 8.0), rtol=1e-3, t_eval=[8.0], progress=False)
    assert result.method == "dopri5", result.message  # changed to hht-i3 at t = 7.7, which damps all of the motion


def test_a_long_vibration_gets_the_method_of_higher_order_at_loose_tolerances():
    """318 periods at rtol 1e-4: less work and a fourth of the error."""
    model, exact = ix.library.mass_spring(), 0.01 * np.cos(1e3)
    long, quick = (ix.simulate(model, (0, 1), key, rtol=1e-4, t_eval=[1.0]) for key in ("auto", "dopri5"))
    assert long.method == "dop853"
    errors = [abs(result["mass1"].position[-1, 0] - exact) for result in (long, quick)]
    assert errors[0] < 0.5 * errors[1]


def test_a_run_that_used_up_its_steps_says_what_held_them():
    model = ix.library.mass_spring()
    result = ix.simulate(model, (0, 20), rtol=1e-3, max_steps=500, on_failure="return", progress=False)
    assert result.message.startswith("Gave up at t = ")
    assert "Method: dopri5 (not stiff: rates up to 1e+03 1/s" in result.message


def test_early_looks_are_for_stiffness_alone(monkeypatch):
    """A method of higher order takes over after 100 steps, also where the choice is looked at after 20."""
    seen = {"reconsider": [], "take": []}
    for name, steps in seen.items():
        plain = getattr(automatic.Automatic, name)

        def noted(self, progress, *more, plain=plain, steps=steps):
            steps.append(int(progress[COUNTS][N_STEPS]))
            return plain(self, progress, *more)

        monkeypatch.setattr(automatic.Automatic, name, noted)
    ix.simulate(ix.library.mass_spring(1e4), (0.0, 30.0), rtol=1e-5, t_eval=[30.0], progress=False)
    assert seen["reconsider"][:2] == [20, 40]
    assert seen["take"] == [100]


@pytest.mark.parametrize(
    "watch", [{"events": lambda t, state: 1.0}, {"dense_output": True}], ids=["event", "dense output"]
)
def test_to_watch_a_run_leaves_the_choice_alone(watch):
    """Where each of the first 150 steps ends a segment, a look falls on such an end, and is made before the next."""
    stops = np.linspace(0.0, 0.015, 151)[1:]
    settings = {"rtol": 1e-6, "t_eval": [20.0], "progress": False, "discontinuities": stops}
    plain = ix.simulate(ix.library.free_double_pendulum(), (0.0, 20.0), **settings)
    watched = ix.simulate(ix.library.free_double_pendulum(), (0.0, 20.0), **settings, **watch)
    assert ", from t = " in plain.message
    assert (watched.message, watched.q.tobytes()) == (plain.message, plain.q.tobytes())
