"""Ropes over points: tension, winches, pulleys on bodies, what is refused."""

import warnings

import numpy as np
import pytest

import index3 as ix

G = 9.81


def hoist(x=0.0, **settings):
    """A weight of 1 kg and one of 3 kg on a rope over two pulleys."""
    model = ix.Model("hoist", gravity=(0, 0, -G))
    light = model.add(ix.PointMass("light", 1.0, position=(x, 0, -1)))
    heavy = model.add(ix.PointMass("heavy", 3.0, position=(1, 0, -0.5)))
    wheels = [model.ground.marker(place) for place in ((0, 0, 0), (1, 0, 0))]
    model.add(ix.Rope("rope", [light, *wheels, heavy], **settings))
    return model


def test_tension_and_forces_on_all_points():
    rope = ix.assemble(hoist())["rope"]
    tension = 2 * 1.0 * 3.0 * G / 4.0  # Atwood's machine
    assert rope.tension == pytest.approx(tension, rel=1e-13)
    for k, force in enumerate([(0, 0, 1), (1, 0, -1), (-1, 0, -1), (0, 0, 1)]):
        assert rope.on(k)[0][0] == pytest.approx(tension * np.array(force), abs=1e-12)


def test_a_distance_has_a_tension_too():
    model = ix.Model("hanging", gravity=(0, 0, -G))
    bob = model.add(ix.PointMass("bob", 2.0, position=(0, 0, -1)))
    model.add(ix.Distance("string", model.ground.marker(), bob.marker()))
    result = ix.simulate(model, (0, 0.1), t_eval=0.1)
    assert result["string.tension"] == pytest.approx(2.0 * G, rel=1e-12)


def test_joints_without_a_line_have_no_tension():
    result = ix.simulate(ix.library.pendulum(), (0, 0.1))
    with pytest.raises(AttributeError, match="has no tension"):
        _ = result["pivot"].tension


@pytest.mark.parametrize("method", ["auto", "hht-i3", "al-index3", "descriptor-sdirk4"])
def test_a_winch_lifts_a_block_on_two_strands(method):
    """The rope is hauled in by f; the block rises by half of it, and the work is the energy of the block."""
    model = ix.Model("winch", gravity=(0, 0, -G))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.2), 10.0, position=(0, 0, -3)))
    left, right = (model.ground.marker((x, 0, 0)) for x in (-0.1, 0.1))
    hooks = [block.marker((x, 0, 0.1)) for x in (-0.1, 0.1)]
    model.add(ix.Inline("guide", model.ground.marker(), block.marker()))
    model.add(ix.Orientation("upright", model.ground, block))
    haul = {"f": lambda t: -0.2 * t * t, "df": lambda t: -0.4 * t, "ddf": -0.4}
    model.add(ix.Rope("rope", [left, *hooks, right], **haul))
    result = ix.simulate(model, (0, 2), method, rtol=1e-7, t_eval=0.1)
    assert result["block"].position[:, 2] == pytest.approx(-3 + 0.1 * result.t**2, abs=1e-12)  # all of it is given
    assert result["rope"].tension == pytest.approx(10.0 * (G + 0.2) / 2, rel=1e-12)
    gained = 10.0 * (G * 0.4 + 0.5 * 0.4**2)
    assert result.energy.work[-1] == pytest.approx(gained, rel=1e-7)  # the work is integrated, to rtol


@pytest.mark.parametrize("method", ["auto", "hht-i3", "bdf-i3", "radau5", "adams", "dop853"])
def test_a_weight_that_is_pulled_into_a_pulley_ends_the_run(method):
    """The rope has no direction there; `adams`, `dopri5` and others chattered about the pulley to the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ix.simulate(hoist(), (0, 1.5), method, rtol=1e-5, on_failure="return")
    assert not result.success
    assert result.t[-1] == pytest.approx(np.sqrt(2 * 1.0 / (G / 2)), rel=1e-3)
    if method != "bdf-i3":  # its steps become too small just before
        assert "Rope 'rope' has two neighbouring points in one place" in result.message


def test_a_narrow_miss_is_no_meeting():
    """The weight passes the pulley at 0.1 mm, turns round it and comes back; energy is kept."""
    result = ix.simulate(hoist(1e-4), (0, 1.5), "dop853", rtol=1e-8)
    assert result.success, result.message
    assert np.ptp(result.energy.balance) < 1e-4  # of 19.6 J; 3e-6 seen


def test_what_is_refused():
    model = ix.Model("rope")
    ball = ix.PointMass("ball", 1.0, position=(0, 0, -1))
    with pytest.raises(ix.errors.ModelError, match="Rope 'r' has one point"):
        ix.Rope("r", [ball])
    with pytest.raises(ix.errors.ModelError, match="points 1 and 2 in one place"):
        ix.Rope("r", [ball, model.ground, model.ground.marker((0, 0, 0))])
    with pytest.raises(ix.errors.ModelError, match="cannot act on"):
        ix.Rope("r", [ball, (0, 0, 0)])
