"""Where the default `atol` is much of the whole motion, a run says so; where it is not, it does not."""

from __future__ import annotations

import warnings

import pytest

import index3 as ix

WORDS = "No coordinate changes by more than"


def told(model, t_end, method, **settings):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = ix.simulate(model, (0.0, t_end), method, progress=False, **settings)
    assert result.success, result.message
    warned = any(WORDS in str(each.message) for each in seen)
    assert warned == (WORDS in result.message)
    return warned


def oscillator(amplitude, damping=0.0):
    """31 kHz/(2 pi): 0.3 ms are one and a half periods."""
    model = ix.Model("oscillator", gravity=(0, 0, 0))
    mass = model.add(ix.PointMass("mass", 1e-9, position=(amplitude, 0, 0)))
    law = {"stiffness": (1.0, 1.0, 1.0), "damping": (damping, damping, damping)}
    model.add(ix.Bushing("spring", model.ground.marker(), mass.marker(), **law))
    return model


@pytest.mark.parametrize("method", ["hht-i3", "generalized-alpha", "bdf-i3", "al-index3"])
def test_a_vibration_of_a_micrometre(method):
    """`hht-i3` was 20 % off after one and a half periods, without a word."""
    assert told(oscillator(1e-6), 3e-4, method)


def test_methods_that_control_velocities_follow_it():
    assert not told(oscillator(1e-6), 3e-4, "radau5")
    assert told(oscillator(1e-9), 3e-4, "radau5")  # too slow for that as well


@pytest.mark.parametrize(
    ("model", "t_end", "settings"),
    [
        (oscillator(1e-6), 3e-4, {"atol": 1e-14}),  # what the warning says
        (oscillator(1e-6), 3e-4, {"atol": 1e-9}),  # the user's own choice
        (oscillator(1e-6), 3e-4, {"step": 1e-6}),
        (oscillator(1e-3), 3e-4, {}),
        (oscillator(1e-6, damping=1e-4), 3e-3, {}),  # comes to rest
        (ix.library.pendulum(), 1e-4, {}),  # has hardly begun
    ],
)
def test_silence(model, t_end, settings):
    assert not told(model, t_end, "hht-i3", **settings)
