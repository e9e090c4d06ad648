"""The slider-crank whose rod bends: two kinds of flexible bodies beside each other, and the rigid one."""

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

CRANK, ROD = 0.15, 0.3


def middle(model, result):
    """Deflection of the rod's middle from the line between its ends [m]."""
    body = model["rod"]
    first, last = (result.marker(marker).position for marker in (model["B"].second, model["C"].first))
    if body.kind == "modal":
        node = int(np.argmin(np.abs(body.nodes[:, 0] - CRANK - 0.5 * ROD)))
        place = result.marker(body.marker(node=node)).position
    else:
        place = result["rod"].points([0.5 * ROD])[:, 0]
    d, x = last - first, place - first
    return (d[:, 0] * x[:, 1] - d[:, 1] * x[:, 0]) / np.linalg.norm(d, axis=1)


def test_modal_and_nodal_rods_bend_alike():
    """At 40 rad/s, where the force along the rod is 1 % of Euler's load."""
    found = []
    for kind in ("modal", "ancf"):
        model = ix.library.flexible_slider_crank(kind, speed=40.0)
        found.append(middle(model, ix.simulate(model, (0.0, 0.02), "hht-i3", rtol=1e-6, t_eval=5e-4)))
    assert 1e-4 < np.abs(found[1]).max() < 2e-4
    # tension and shear, which the modal rod does not have, change its frequency by 0.2 %: 5 % in phase after 4 periods
    assert np.abs(found[0] - found[1]).max() < 0.05 * np.abs(found[1]).max()


@pytest.mark.parametrize("kind", ["modal", "ancf", "rigid"])
def test_a_slow_rod_is_rigid(kind):
    model = ix.library.flexible_slider_crank(kind, speed=5.0, elements=2, modes=0)
    result = ix.simulate(model, (0.0, 0.5), "hht-i3", rtol=1e-6, t_eval=0.05)
    angle = 5.0 * result.t
    slider = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    assert result["slider"].position[:, 0] == pytest.approx(slider, abs=1e-6)  # 25 of 22500 of what it bends at speed


def test_an_unknown_kind_is_refused():
    with pytest.raises(ModelError, match="modal, ancf, rigid"):
        ix.library.flexible_slider_crank("rubber")
