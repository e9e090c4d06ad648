"""Angles are followed by the speed at which the two sides of a joint turn against each other."""

import numpy as np
import pytest

import index3 as ix
from index3.methods import run
from index3.methods.run_table import Run


@pytest.mark.parametrize("method", ["dopri5", "hht-i3"])
def test_neither_travel_nor_common_turning_counts(monkeypatch, method):
    """At 7546 m/s both bodies turn at 2 rad/s, the panel by 0.3 rad/s more: it is these that cut a step into pieces."""
    runs = []

    class Kept(Run):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            runs.append((self, float(self.table[run.CLOCK][run.SPEED_NEW])))

    monkeypatch.setattr("index3.engine.segments.Run", Kept)
    model = ix.Model("orbit")
    fast = {"velocity": (0.0, 7546.0, 0.0)}
    satellite = model.add(ix.RigidBody.box("satellite", (1, 1, 1), 100.0, angular_velocity=(0, 0, 2.0), **fast))
    panel = model.add(ix.RigidBody.box("panel", (1, 1, 0.1), 5.0, angular_velocity=(0, 0, 2.3), **fast))
    model.add(ix.Revolute("hinge", satellite, panel, at=(0, 0, 0), axis=(0, 0, 1)))
    result = ix.simulate(model, (0.0, 30.0), method, rtol=1e-6, progress=False)
    (progress, first), *_ = runs
    assert result.success
    assert first == pytest.approx(0.3)
    assert progress[run.CLOCK][run.SPEED_NEW] == pytest.approx(0.3, rel=1e-3)
    np.testing.assert_allclose(result["hinge"].angle[-1], 0.3 * 30.0, rtol=1e-3)  # more than a turn
