"""Controllers: sampled at exact instants in every method, held in between, known to results, checks and files."""

import math
import pickle

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

PERIOD = 0.05


def cart(function=None, inputs=("rail.displacement", "rail.displacement_rate"), memory=0, period=PERIOD):
    """A mass on a rail without gravity along it, pushed by a controller."""
    m = ix.Model("cart")
    body = m.add(ix.RigidBody.box("body", (1, 1, 1), mass=2.0, velocity=(1.0, 0, 0)))
    rail = m.add(ix.Prismatic("rail", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    motor = m.add(ix.Actuator("motor", rail, 0.0))
    m.add(ix.Controller("pilot", period, function or spring, inputs, [motor], memory))
    return m


def spring(t, u, memory):
    return -30.0 * u[0] - 4.0 * u[1]


def by_hand(end, period=PERIOD):
    """Position and speed: constant acceleration between samples."""
    x, v, t, xs = 0.0, 1.0, 0.0, []
    while t < end - 1e-9:
        a = (-30.0 * x - 4.0 * v) / 2.0
        xs.append((t, x, v, 2.0 * a))
        x, v, t = x + v * period + 0.5 * a * period**2, v + a * period, t + period
    return x, v, xs


def test_a_controller_that_is_removed_gives_back_what_it_set():
    model = cart()
    with pytest.raises(ModelError, match="Actuator 'motor' cannot be removed: Controller 'pilot' need it"):
        model.remove("motor")
    model.remove("pilot")
    result = ix.simulate(model, (0.0, 1.0), progress=False)
    assert result["rail"].displacement[-1] == pytest.approx(1.0, abs=1e-9)  # no force


@pytest.mark.parametrize("method", ["hht-i3", "bdf-i3", "dopri5", "adams", "radau5", "al-index3"])
def test_vectors_act_from_their_instant_on(method):
    """A force that carries the weight from the start, and from 0.05 s on twice the weight."""
    model = ix.Model("hover")
    ball = model.add(ix.PointMass("ball", 2.0))
    lift = model.add(ix.Force("lift", ball, (0, 0, 0)))
    weight = 2.0 * 9.80665
    model.add(
        ix.Controller("pilot", 0.05, lambda t, u, memory: (0, 0, weight * (2.0 if t > 0.04 else 1.0)), [], [lift])
    )
    result = ix.simulate(model, (0.0, 0.09), method, t_eval=[0.05, 0.09], progress=False)
    # constant accelerations, exact in every method; one step with a stale force is off by 1e-6 and more
    assert result["ball"].position[:, 2] == pytest.approx([0.0, 0.5 * 9.80665 * 0.04**2], abs=1e-8)


METHODS = ("auto", "hht-i3", "bdf-si2", "radau5", "dopri5", "adams", "al-index3", "descriptor-sdirk4", "tlismni-adams3")


@pytest.mark.parametrize("method", METHODS)
def test_samples_are_held_and_exact_in_every_method(method):
    result = ix.simulate(cart(), (0.0, 0.52), method, rtol=1e-6, progress=False)
    x, v, samples = by_hand(0.5)
    a = (-30.0 * x - 4.0 * v) / 2.0
    # constant accelerations between the instants: every method is exact there but for its start and its iterations
    assert result["rail"].displacement[-1] == pytest.approx(x + v * 0.02 + 0.5 * a * 0.02**2, abs=2e-5)
    pilot = result["pilot"]
    assert pilot.t == pytest.approx(PERIOD * np.arange(11), abs=1e-15)
    assert pilot.y[:10, 0] == pytest.approx([force for *_, force in samples], abs=2e-3)
    motor = result["motor"]
    assert -motor.tension == pytest.approx(pilot.outputs[:, 0], abs=1e-12)
    # Newton's law at every line, on the right side of each sample
    assert 2.0 * result["body"].acceleration[:, 0] == pytest.approx(pilot.outputs[:, 0], abs=1e-8)


def test_output_times_that_are_samples_are_after_them():
    result = ix.simulate(cart(), (0.0, 0.5), t_eval=PERIOD, rtol=1e-8, progress=False)
    assert 2.0 * result["body"].acceleration[:, 0] == pytest.approx(result["pilot"].outputs[:, 0], abs=1e-8)
    assert -result["motor"].tension == pytest.approx(result["pilot"].outputs[:, 0], abs=1e-12)
    assert np.ptp(result.energy.balance) < 1e-7  # the work of what is held is counted; 1e-8 per step


def test_memory_inputs_and_several_outputs():
    m = ix.Model("ship")
    ship = m.add(ix.RigidBody.box("ship", (1, 1, 1), mass=1.0))
    m.add(ix.SpringDamper("rope", m.ground, ship, points=((0, 0, 1), (0, 0, 0)), stiffness=50.0))
    jet, turn = m.add(ix.Force("jet", ship, (0, 0, 0))), m.add(ix.Torque("turn", ship, (0, 0, 0)))
    seen = []

    def pilot(t, u, memory):
        memory[0] += 1.0
        seen.append((t, u.copy()))
        return [(0.0, 0.0, memory[0]), (0.1, 0.0, 0.0)]

    m.add(
        ix.Controller(
            "pilot", 0.1, pilot, ["rope.tension", "ship.acceleration", "energy.kinetic"], [jet, turn], memory=1
        )
    )
    for _ in range(2):  # memory starts anew
        result = ix.simulate(m, (1.0, 1.35), t_eval=0.05, progress=False)
        assert result["pilot"].y[:, 2].tolist() == [1.0, 2.0, 3.0, 4.0]
        assert result["pilot"].t == pytest.approx([1.0, 1.1, 1.2, 1.3])
    assert result["jet"].force[:, 2].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    times = np.array([t for t, _ in seen[4:]])
    at = np.searchsorted(result.t, times - 1e-9)
    u = np.array([u for _, u in seen[4:]])
    assert u.shape == (4, 5)
    assert u[:, 0] == pytest.approx(result["rope"].tension[at], abs=1e-9)
    assert u[1:, 3] == pytest.approx(result["ship"].acceleration[at[1:], 2] - 1.0, abs=1e-9)  # before the new sample
    assert u[:, 4] == pytest.approx(result.energy.kinetic[at], abs=1e-9)


def test_two_controllers_with_their_own_clocks():
    m = cart()
    push = m.add(ix.Force("push", m["body"], (0, 0, 0)))
    m.add(ix.Controller("slow", 0.15, lambda t, u, memory: (t, 0, 0), [], [push]))
    result = ix.simulate(m, (0.0, 0.5), progress=False)
    assert result["slow"].t == pytest.approx([0.0, 0.15, 0.3, 0.45])
    assert len(result["pilot"].t) == 10
    assert np.diff(result.t).min() >= 0.0


def test_saved_pickled_prepared_and_copied(tmp_path):
    model = cart()
    runs = ix.prepare(model, t_eval=0.1, progress=False)
    result = runs.run((0.0, 0.5))
    again = ix.simulate(model, (0.0, 0.5), t_eval=0.1, progress=False)
    assert np.array_equal(result.q, again.q)
    result.save(tmp_path / "run.nc")
    read = ix.Result.load(tmp_path / "run.nc")
    assert np.array_equal(read["pilot"].outputs, result["pilot"].outputs)
    assert np.array_equal(read["motor"].force, result["motor"].force)
    assert "pilot" in read.names
    heavy = runs.run((0.0, 0.5), changes={"body.mass": 4.0})
    assert heavy["motor"].force == pytest.approx(4.0 * heavy["body"].acceleration, abs=1e-8)
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(ix.simulate(other, (0.0, 0.5), t_eval=0.1, progress=False).q, again.q)
    with pytest.raises(ModelError, match="Controller 'pilot' cannot be written to a file"):
        model.save(tmp_path / "cart.toml")
    assert "pilot, every 0.05 s: rail.displacement, rail.displacement_rate -> motor" in str(model.check())
    assert "note: Controller 'pilot' has an input that is not known: 'rail' has no history 'speed'" in str(
        cart(inputs=["rail.speed"]).check()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"period": 0.0}, "Controller 'pilot' has period 0"),
        ({"period": 1e-12}, "Controller 'pilot' has a period of 1e-12 s, for more than"),
        ({"function": 3}, "Controller 'pilot' has function 3"),
        ({"function": lambda t, u, memory: None}, "Controller 'pilot' gave None at t = 0. Return 1 finite numbers"),
        ({"function": lambda t, u, memory: math.nan}, "Controller 'pilot' gave nan"),
        ({"function": lambda t, u, memory: (1, 2)}, r"Controller 'pilot' gave \(1, 2\)"),
        ({"inputs": ["rail.displacment"]}, "Controller 'pilot' has an input that is not known: 'rail' has no history"),
        ({"inputs": [3]}, "Controller 'pilot' has inputs"),
        ({"memory": -1}, "Controller 'pilot' has memory -1"),
    ],
)
def test_nonsense_is_refused_by_name(change, said):
    with pytest.raises(ModelError, match=said):
        ix.simulate(cart(**{"function": spring, **change}), (0.0, 0.5), progress=False)


def test_outputs_are_forces_of_the_model_each_once():
    m = cart()
    with pytest.raises(
        ModelError, match=r"Controller 'other' cannot set Actuator 'motor', which Controller 'pilot' sets"
    ):
        ix.Controller("other", 0.1, spring, [], [m["motor"]])
    own = ix.Actuator("own", m["rail"], lambda t: t)
    with pytest.raises(ModelError, match="cannot set Actuator 'own', which has a function of its own"):
        ix.Controller("other", 0.1, spring, [], own)
    with pytest.raises(ModelError, match=r"sets Force 'push', which is not in model 'cart'\. Add that first"):
        m.add(ix.Controller("other", 0.1, spring, [], ix.Force("push", m["body"], (0, 0, 0))))
    with pytest.raises(ModelError, match="Controller 'other' cannot set 'motor'"):
        ix.Controller("other", 0.1, spring, [], ["motor"])


def test_what_the_function_raises_is_raised():
    def broken(t, u, memory):
        if t > 0.2:
            raise ZeroDivisionError("in the pilot")
        return 0.0

    with pytest.raises(ZeroDivisionError, match="in the pilot") as caught:
        ix.simulate(cart(broken), (0.0, 0.5), progress=False)
    assert caught.value.result.t[-1] == pytest.approx(0.25)
