"""Steps that are far shorter than usual: what they leave of velocities is carried on by the long ones behind them."""

import numpy as np
import pytest

import index3 as ix


def comet(miss):
    """A point that passes a centre of gravity, from 1 m at 1 m/s; it comes as close as 1.7 miss^2 [m]."""
    model = ix.Model("comet", gravity=(0, 0, 0))
    body = model.add(ix.PointMass("comet", 1.0, position=(-1.0, miss, 0.0), velocity=(1.0, 0.0, 0.0)))
    model.add(ix.PointGravity("pull", body, (0.0, 0.0, 0.0), mu=0.3))
    return model


@pytest.mark.parametrize("rtol", [1e-5, 1e-6])
@pytest.mark.parametrize("method", ["hht-i3", "generalized-alpha", "bdf-i3"])
def test_a_comet_that_passes_closely_leaves_where_it_should(method, rtol):
    """Off by 0.02, 0.016, 0.008 m at rtol 1e-5, by 8e-4, 9e-4, 0.008 m at 1e-6; 2 m from there on a wrong orbit.

    Where errors of positions counted alike in all steps: by 1.4, 0.2, 1.5 and 0.16, 0.17, 1.5 m, a success each;
    `bdf-i3` stayed near the centre for 72,600 steps.
    """
    times = [0.0, 2.0]
    exact = ix.simulate(comet(0.02), (0, 2), "dop853", rtol=1e-12, t_eval=times).q[-1]
    result = ix.simulate(comet(0.02), (0, 2), method, rtol=rtol, t_eval=times)
    assert result.success
    assert np.abs(result.q[-1] - exact).max() < 0.05
    assert result.stats["steps"] < 3000


def test_steps_of_a_smooth_motion_are_what_they_were():
    """An error counts more where steps are five times shorter than their mean: nowhere in a swinging pendulum."""
    assert ix.simulate(ix.library.pendulum(), (0, 5), "hht-i3", rtol=1e-6).stats["steps"] == pytest.approx(
        1207, rel=0.02
    )
