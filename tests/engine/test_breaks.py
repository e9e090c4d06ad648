"""Functions of time that jump or begin to act: found before the run, so that every method meets them."""

import math
import warnings

import numpy as np
import pytest

import index3 as ix
from index3.analysis import planning
from index3.engine.breaks import CELLS, EARLY, find_breaks, looked_through
from index3.methods.registry import METHODS

SPAN = (0.0, 10.0)


def square(t):
    """One, and minus one in the second half of every second."""
    return 1.0 if t % 1.0 < 0.5 else -1.0


def hammer(t):
    """A blow of 10 ms at rest."""
    return 100.0 if 5.0 <= t < 5.01 else 0.0


def bump(t):
    """A smooth blow in a weak vibration."""
    return 1e-3 * math.sin(3.0 * t) + 100.0 * math.exp(-0.5 * ((t - 5.0) / 0.02) ** 2)


def pushed(force):
    """A block on a rail under a force."""
    model = ix.Model("pushed", gravity=(0, 0, 0))
    block = model.add(ix.RigidBody.box("block", (0.1, 0.1, 0.1), mass=1.0))
    model.add(ix.Prismatic("rail", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Force("push", block, (force, 0, 0)))
    return model


def end_speed(force, key, rtol):
    """Speed of the block after 10 s, of a run that says nothing bad of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ix.simulate(pushed(force), SPAN, key, rtol=rtol, t_eval=0.25, progress=False)
    assert result.success, result.message
    assert np.array_equal(result.t, np.arange(41) / 4.0)  # no line is lost at a jump
    return result["block"].velocity[:, 0]


@pytest.mark.parametrize("key", ["auto", *METHODS])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_every_method_meets_jumps(key, rtol):
    """A square wave, also at the last instant of the run: dopri5 was 200 % wrong at 1e-6, others up to 80 % at 1e-3."""
    speed = end_speed(square, key, rtol)
    exact = np.array([min(t % 1.0, 1.0 - t % 1.0) for t in np.arange(41) / 4.0])
    assert np.max(np.abs(speed - exact)) < 5.0 * rtol  # rosenbrock4 2.8 rtol, the others 1e-12


@pytest.mark.parametrize("key", ["auto", *METHODS])
@pytest.mark.parametrize("force", [hammer, bump], ids=["hammer", "bump"])
def test_every_method_meets_a_blow(key, force):
    """All of them stepped over the blow at rest, most of them over the smooth one at 1e-3."""
    impulse = {hammer: 1.0, bump: 100.0 * 0.02 * math.sqrt(2.0 * math.pi)}[force]
    assert end_speed(force, key, 1e-3)[-1] == pytest.approx(impulse, rel=0.01)  # 3.9e-3 seen


def test_what_is_found():
    """To the last bits where a function jumps; else the beginning of what it does."""
    found, early = find_breaks(pushed(square), SPAN)
    assert np.allclose(found, np.arange(1, 21) / 2.0, rtol=1e-15, atol=0.0)
    assert early == EARLY * 10.0
    assert np.allclose(find_breaks(pushed(hammer), SPAN)[0], [5.0, 5.01], rtol=1e-15, atol=0.0)
    found, _ = find_breaks(pushed(bump), SPAN)
    assert len(found) == 1
    assert 4.8 < found[0] < 5.0
    assert find_breaks(pushed(lambda t: math.sin(30.0 * t)), SPAN)[0].size == 0
    found, early = find_breaks(pushed(lambda t: 2.0), SPAN)
    assert found.size == 0
    assert early == math.inf


def test_several_jumps_in_one_cell():
    """Three steps within a third of a cell."""
    times = [3.0 + k * 10.0 / CELLS / 10.0 for k in (1, 2, 3)]
    found, _ = looked_through(lambda t: float(sum(t >= x for x in times)), SPAN, CELLS)
    assert np.allclose(sorted(found), times, rtol=1e-15, atol=0.0)


def test_vectors_motions_and_formulas_are_asked():
    """A vector at once, the rate of a motion, numbers of a formula, and the points of a table."""
    model = ix.Model("several")
    bob = model.add(ix.PointMass("bob", 1.0))
    model.add(ix.Force("push", bob, lambda t: (0.0, 1.0 if t > 2.0 else 0.0, 0.0)))
    arm = model.add(ix.RigidBody.box("arm", (0.1, 0.1, 0.1), mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: max(t - 3.0, 0.0), lambda t: float(t > 3.0), lambda t: 0.0))
    model.add(ix.Torque("turn", arm, (0, 0, ix.Expression("where(t < 4, 0, where(t < 4.001, 1, 0))"))))
    table = ix.TimeTable(np.linspace(0, 10, 101), [float(k == 60) for k in range(101)])
    model.add(ix.Force("shake", bob, (table, 0, 0)))
    found = sorted(find_breaks(model, SPAN)[0])
    for time in (2.0, 3.0, 4.0, 4.001):
        assert np.min(np.abs(np.array(found) - time)) < 1e-12
    assert 5.0 < found[4] < 5.9  # the spline swings before its only point


def test_a_function_that_jumps_too_often_is_named():
    """One of noise, for example."""
    noise = np.random.default_rng(1)
    with pytest.warns(UserWarning, match="Force 'push': its function of time jumps more than 1024 times"):
        find_breaks(pushed(lambda t: noise.random()), SPAN)


def test_constant_steps_are_left_alone():
    """They are where the user wants them."""
    result = ix.simulate(pushed(square), (0.0, 1.0), "hht-i3", step=0.3, progress=False)
    assert np.allclose(result.t, [0.0, 0.3, 0.6, 0.9, 1.0])


def test_a_function_that_fails_is_left_to_the_run():
    """What it raises is said where it is needed."""
    result = ix.simulate(pushed(lambda t: 1.0 if t < 2.0 else 1 / 0), (0.0, 3.0), "dopri5", progress=False)
    assert not result.success
    assert "ZeroDivisionError" in result.message


def test_work_at_a_jump_is_a_number(monkeypatch):
    """Nodes of the work shrank to a rounding at a jump, then to the same time: NaN, and "energy came from nowhere"."""
    monkeypatch.setattr(planning, "find_breaks", lambda model, span: (np.zeros(0), math.inf))
    model = pushed(square)
    block, ends = model.bodies["block"], ((-20, 0, 0), (0, 0, 0))
    model.add(ix.SpringDamper("spring", model.ground, block, points=ends, stiffness=1.0))
    settings = {"rtol": 1e-10, "atol": 1e-12, "progress": False}
    result = ix.simulate(model, (0, 3), "dop853", discontinuities=np.arange(1, 6) / 2.0, **settings)
    assert result.success, result.message
    assert np.isfinite(result.energy.work_error)
