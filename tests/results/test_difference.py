"""Errors against a reference: by hand, and on runs."""

import numpy as np
import pytest

import index3 as ix
from index3.results.arrays import empty_arrays
from index3.results.difference import cubic
from index3.results.layout import Layout
from index3.results.result import Result


def made(t, z):
    layout = Layout("ball", [{"name": "ball", "kind": "point", "start": 0, "size": 3, "shape": {}, "mass": 1.0}])
    arrays = empty_arrays(len(t), 3, 0, 0, 0) | {"t": np.asarray(t, float)}
    arrays["q"][:, 2] = z
    return Result(layout, arrays)


def test_hand_example():
    """S4-25: the reference is t^3, which cubics meet exactly; the result is off by 0.1, 0.2, -0.4 at three times."""
    t = np.linspace(0.0, 4.0, 9)
    reference = made(t, t**3)
    times = np.array((0.1, 1.7, 3.9))
    result = made(times, times**3 + (0.1, 0.2, -0.4))
    (found,) = ix.difference(result, reference, "ball.position.z")
    assert found.errors == pytest.approx((0.1, 0.2, 0.4), abs=1e-12)
    assert (found.largest, found.t) == (pytest.approx(0.4, abs=1e-12), 3.9)
    assert found.percent == pytest.approx(100.0 * 0.4 / 3.9**3, rel=1e-12)
    assert found.average == pytest.approx(np.sqrt(0.01 + 0.04 + 0.16) / 3.0, rel=1e-12)
    assert "ball.position.z: largest error 0.4 (0.674 %) at t = 3.9" in str(found)


def test_all_positions_by_default_and_no_percentage_of_zero():
    t = np.linspace(0.0, 1.0, 5)
    found = ix.difference(made(t, t), made(t, t))
    assert [x.name for x in found] == ["ball.position.x", "ball.position.y", "ball.position.z"]
    assert all(x.largest == 0.0 for x in found)
    assert np.isnan(found[0].percent)


def test_four_nearest_points():
    """A kink beyond the four points around t has no influence."""
    times = np.arange(10.0)
    values = np.where(times > 6.0, 50.0, times)[:, None]
    assert cubic(times, values, np.array([4.5, 0.0, 9.0]))[:, 0] == pytest.approx((4.5, 0.0, 50.0), abs=1e-12)


def test_stored_runs(tmp_path):
    model = ix.library.pendulum()
    fine = ix.simulate(model, (0.0, 1.0), "dop853", rtol=1e-11, t_eval=0.001)
    fine.save(tmp_path / "fine.nc")
    loaded = ix.Result.load(tmp_path / "fine.nc")
    errors = [
        ix.difference(ix.simulate(model, (0.0, 1.0), rtol=rtol), loaded, "pivot.angle")[0].largest
        for rtol in (1e-4, 1e-6, 1e-8)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6


@pytest.mark.parametrize(
    ("times", "name", "words"),
    [
        ((0.0, 1.0, 2.0), "ball.position", "3 output times"),
        ((0.0, 0.1, 0.2, 0.3), "ball.position", "covers all times"),
        ((0.0, 0.3, 0.6, 1.0), "ball.mass", "no history 'mass'"),
    ],
)
def test_bad_references_are_named(times, name, words):
    with pytest.raises(ix.ModelError, match=words):
        ix.difference(made((0.0, 1.0), 0.0), made(times, 0.0), name)
