"""Angles over many turns: however large the steps, none is lost."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix


@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-5])
def test_wound_spring_of_a_planar_rotor(rtol):
    """A rotor winds its spring up by 3.2 turns and back; at loose tolerances a step turns it by over half a turn."""
    stiffness, inertia, turns = 0.05, 0.02, 3.2
    omega = np.sqrt(stiffness / inertia)
    model = ix.Model("wound", gravity=(0, 0, 0))
    rotor = model.add(ix.PlanarBody("rotor", 1.0, inertia, spin=2 * np.pi * turns * omega))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.RotationalSpringDamper("spring", pin, stiffness=stiffness))
    result = ix.simulate(model, (0, 2 * np.pi / omega), "hht-i3", rtol=rtol, t_eval=np.pi / 2 / omega)
    seen = result["pin"].angle / (2 * np.pi)
    # the phase error of the method at this rtol, some 50 rtol^(2/3) of the amplitude
    assert np.abs(seen - turns * np.sin(omega * result.t)).max() < 0.1 + 10 * rtol ** (2 / 3)
    assert abs(seen[1] - turns) < 0.01


def test_rate_that_is_not_the_derivative_is_refused():
    model = ix.Model("driven", gravity=(0, 0, 0))
    rotor = model.add(ix.PlanarBody("rotor", 1.0, 1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: t, 0.0, 0.0))
    with pytest.raises(ix.ModelError, match="Motion 'drive': df gives 0 at t = 0, but f changes there at the rate 1"):
        ix.simulate(model, (0, 0.1), "hht-i3")
