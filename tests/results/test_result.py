"""The Result: names, energy, residuals, checks of what it is given, what it prints."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from stored_four_bar import four_bar_result

from index3.errors import Index3Error, ModelError
from index3.results.arrays import empty_arrays
from index3.results.layout import Layout
from index3.results.result import Result
from index3.results.summary import stats_lines


def test_arrays_have_time_first(four_bar):
    assert four_bar.t.shape == (201,)
    assert four_bar.q.shape == four_bar.v.shape == four_bar.a.shape == (201, 21)
    assert four_bar.lam.shape == (201, 23)
    assert len(four_bar) == 201
    assert four_bar.names == ("crank", "coupler", "rocker", "A", "B", "C", "D")
    assert "crank" in four_bar
    assert "B" in four_bar
    assert "E" not in four_bar
    assert dict(four_bar.states) == {}


def test_information_on_the_run(four_bar):
    assert (four_bar.success, four_bar.status, four_bar.method) == (True, 0, "hht-i3")
    assert four_bar.stats["steps"] == 812
    assert "reached" in four_bar.message


def test_balance_is_total_minus_work(four_bar):
    energy = four_bar.energy
    assert np.array_equal(energy.total, energy.kinetic + energy.potential)
    assert np.array_equal(energy.balance, energy.total - energy.work)
    assert np.ptp(energy.balance) == pytest.approx(2e-4, rel=0.01)  # the made-up drift, 1e-4 sin(5 t)


def test_violation_at_three_levels_and_scaled(four_bar):
    stored, scaled = four_bar.arrays["violation"], four_bar.arrays["violation_scaled"]
    for k, level in enumerate(("position", "velocity", "acceleration")):
        assert np.array_equal(getattr(four_bar.violation, level), stored[:, k])
        assert np.array_equal(getattr(four_bar.violation.scaled, level), scaled[:, k])


def test_histories_by_name(four_bar):
    result = four_bar
    np.testing.assert_array_equal(result["crank.position"], result["crank"].position)
    np.testing.assert_array_equal(result["crank.position.z"], result["crank"].position[:, 2])
    np.testing.assert_array_equal(result["energy.kinetic"], result.energy.kinetic)
    with pytest.raises(KeyError, match=r"'crank' has no history 'colour'. Use one of position, velocity"):
        result["crank.colour"]
    with pytest.raises(KeyError, match="Did you mean 'crank'"):
        result["cronk.position"]


def test_unknown_name_lists_close_ones(four_bar):
    with pytest.raises(ModelError, match=r"has no 'crnk'\. Did you mean 'crank'"):
        four_bar["crnk"]
    with pytest.raises(KeyError, match="Names there: 'crank', 'coupler'"):
        four_bar["zzz"]


def test_force_elements_need_the_model():
    result = four_bar_result(3)
    result.layout.forces.append({"name": "spring", "type": "SpringDamper", "markers": []})
    result = Result(result.layout, result.arrays)
    with pytest.raises(Index3Error, match=r"does not know its model.*use_model"):
        _ = result["spring"].power


def test_marker_follows_its_body(four_bar):
    end = SimpleNamespace(
        body=SimpleNamespace(name="crank"), position=np.array([0.2, 0.0, 0.0]), axes=np.eye(3), part=None
    )
    fixed = SimpleNamespace(
        body=SimpleNamespace(name="ground"), position=np.array([1.0, 2.0, 3.0]), axes=np.eye(3), part=None
    )
    speed = np.linalg.norm(four_bar.marker(end).velocity, axis=1)
    assert speed == pytest.approx(0.4 * 3.0, rel=1e-7)  # radius times speed; rates by differences, good to 1e-8
    assert np.array_equal(four_bar.marker(fixed).position, np.tile([1.0, 2.0, 3.0], (201, 1)))
    assert not four_bar.marker(fixed).velocity.any()
    stray = SimpleNamespace(body=SimpleNamespace(name="cranc"), position=np.zeros(3), axes=np.eye(3), part=None)
    with pytest.raises(ModelError, match="Did you mean 'crank'"):
        four_bar.marker(stray)


def test_repr_tells_how_it_went(four_bar):
    text = repr(four_bar)
    assert "'four-bar': finished, 201 times from 0 to 4 s by hht-i3" in text
    assert "steps 812, rejected 13, newton 1730, factorisations 96" in text
    assert "energy balance varies by 0.0002 J" in text
    assert "(acceleration)" in text


def test_repr_of_failures():
    layout = four_bar_result(2).layout
    failed = Result(layout, empty_arrays(1, 21, 23, 4, 4), {"success": False, "status": 3, "message": "No step."})
    assert "FAILED (status 3)" in repr(failed)
    assert "No step." in repr(failed)
    nothing = Result(layout, empty_arrays(0, 21, 23, 4, 4), {"success": False, "message": "No start."})
    assert "no output. No start." in repr(nothing)
    assert len(nothing) == 0


def test_layout_is_json_and_pickle():
    layout = four_bar_result(2).layout
    layout.bodies[0]["shape"] = {"type": "rod", "ends": np.zeros((2, 3))}
    plain = json.loads(json.dumps(layout.to_dict()))
    assert plain["bodies"][0]["shape"]["ends"] == [[0.0, 0.0, 0.0]] * 2
    assert Layout.from_dict(plain).to_dict() == plain
    result = pickle.loads(pickle.dumps(four_bar_result(5)))
    assert result["crank"].position.shape == (5, 3)


def test_a_result_is_not_a_sequence(four_bar):
    with pytest.raises(TypeError, match="not iterable"):
        iter(four_bar)


@pytest.mark.parametrize("name", ["q", "lam", "wrench", "violation", "kinetic"])
def test_arrays_of_the_wrong_shape_are_refused(name):
    good = four_bar_result(4)
    with pytest.raises(ModelError, match=f"'{name}' of model 'four-bar' has shape"):
        Result(good.layout, good.arrays | {name: np.zeros((4, 99))})
    with pytest.raises(ModelError, match=f"lacks the array '{name}'"):
        Result(good.layout, {key: x for key, x in good.arrays.items() if key != name})


def test_importing_results_loads_nothing_heavy():
    heavy = "{'matplotlib', 'xarray', 'h5py', 'numba', 'scipy'}"
    code = f"import sys, index3.results.result; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_times_of_a_run_are_told_apart_from_its_counts():
    stats = {
        "steps": 5,
        "rejected": 0,
        "work_evaluations": 2,
        "seconds": 0.25,
        "work_error": 1e-3,
        "seconds_setup": 0.1234,
    }
    assert stats_lines(stats) == ["steps 5, work evaluations 2", "stepping took 0.25 s; CPU time: setup 0.12 s"]
    assert stats_lines({"steps": 3}) == ["steps 3"]
    assert stats_lines({}) == []
