"""The all-terrain vehicle on its shaker: counts, rest on its springs, the same stresses by three methods."""

from collections import Counter

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

MASS = 246.63 + 9.957604699712515  # of all parts but the posts, and of the tubes: 7850 kg/m^3 times their volume [kg]
METHODS = {"hht-i3": 1e-5, "bdf-i3": 1e-4, "bdf-si2": 1e-4}
"""With the tolerances of [NegrutHHT], section 4.3."""


@pytest.fixture(scope="module")
def short():
    return ix.library.atv(20)


def test_counts_of_the_paper():
    """S2-40: 28 parts, 5 motions, 134 modes; the equations of both formulations."""
    model = ix.library.atv(settled=False)
    assert len(model.bodies) == 28 + 1
    assert model["frame"].modes == 134
    assert model["frame"].frequencies[[0, -1]] == pytest.approx([56.7, 13.1e3], rel=2e-3)  # as printed
    kinds = Counter(type(joint).__name__ for joint in model.joints.values())
    assert kinds == {"Fixed": 11, "Revolute": 8, "Spherical": 8, "Universal": 2, "Prismatic": 4}
    assert len(model.motions) == 5
    report = model.check()
    assert (report.dof, report.redundant) == (145, [])
    assert report.coordinates + report.constraints == 529  # the paper: 532
    assert 2 * report.coordinates + report.constraints == 866  # the paper: 927


def test_the_short_variant_has_the_lowest_modes_of_the_frame(short):
    whole = ix.library.atv(settled=False)["frame"]
    assert short["frame"].frequencies == pytest.approx(whole.frequencies[:20], rel=1e-9)  # eigenvalues, to rounding
    with pytest.raises(ModelError, match="from 1 to 134"):
        ix.library.atv(135)


def test_it_starts_at_rest_on_its_springs(short):
    """With the posts still: nothing moves, the pads carry the weight, the stresses are those of `static`."""
    rest = ix.static(short)
    assert rest.stable
    assert max((way for way, _ in rest.moved.values()), default=0.0) < 1e-9  # it starts there
    load = sum(rest[f"{corner} tyre"].force[2] for corner in ("front left", "front right", "rear left", "rear right"))
    assert abs(load) == pytest.approx(9.81 * MASS, rel=1e-9)
    assert 1e8 < rest.result["frame"].hot_spots(1)[0].stress < 1e9


def test_three_methods_find_the_same_stresses(short):
    """S2-41, S2-42 in small: 0.1 s of the short variant; bounds of the paper."""
    runs = {
        name: ix.simulate(short, (0.0, 0.1), name, rtol=rtol, max_step=5e-4, t_eval=1e-3)
        for name, rtol in METHODS.items()
    }
    first = runs.pop("hht-i3")
    spots, force = first["frame"].hot_spots(10), first["right swing arm pivot"].force[:, 2]
    pitch = first["engine"].angular_velocity[:, 1]
    for run in runs.values():
        others = run["frame"].hot_spots(10)
        assert [spot.node for spot in others] == [spot.node for spot in spots]
        assert [spot.stress for spot in others] == pytest.approx([spot.stress for spot in spots], rel=5e-3)
        assert np.abs(run["right swing arm pivot"].force[:, 2] - force).max() < 0.02 * np.abs(force).max()
        assert np.abs(run["engine"].angular_velocity[:, 1] - pitch).max() < 0.016 * np.abs(pitch).max()
