"""What people do with models and results besides running them once: go on, copy, pickle, run several at a time."""

import copy
import pickle
import threading

import numpy as np
import pytest
from small_models import pendulum

import index3 as ix
from index3.errors import ModelError


def test_a_run_goes_on_where_another_ended(tmp_path):
    """Also from a file, and after ten turns, which the angle and a spring on it remember."""
    model = pendulum(angular_velocity=(0, 30, 0))
    model.add(ix.RotationalSpringDamper("spring", model["pin"], stiffness=0.05))
    settings = {"rtol": 1e-9, "t_eval": 0.25}
    whole = ix.simulate(model, (0.0, 3.0), **settings)
    first = ix.simulate(model, (0.0, 2.0), **settings)
    assert first["pin"].angle[-1] > 40.0
    first.save(tmp_path / "first.nc")
    for start in (first, ix.Result.load(tmp_path / "first.nc")):
        second = ix.simulate(model, (2.0, 3.0), initial=start, **settings)
        assert second["pin"].angle[0] == pytest.approx(first["pin"].angle[-1], abs=1e-9)  # assembled anew
        assert second["pin"].angle == pytest.approx(whole["pin"].angle[8:], abs=1e-5)  # both err by some 1e-6
        assert second.energy.total == pytest.approx(whole.energy.total[8:], abs=1e-4)


def test_results_are_copied_and_pickled_whole():
    result = ix.simulate(pendulum(), (0.0, 1.0), t_eval=0.1, dense_output=True, events=lambda t, state: t - 0.5)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert np.array_equal(other.q, result.q)
        assert np.array_equal(other["pin"].force, result["pin"].force)
        assert np.array_equal(other.sol(0.55)[0], result.sol(0.55)[0])
        assert np.array_equal(other.t_events[0], result.t_events[0])
        assert other.message == result.message


def swing(t, r, A, v, w, p, out):
    """A force that comes and goes, in Python."""
    out[0, 2] = np.sin(3.0 * t)


def test_one_model_runs_in_several_threads():
    model = pendulum()
    model.add(ix.UserForce("swing", model["rod"].marker(), swing, jacobian="differences"))
    expected = ix.simulate(model, (0.0, 2.0), t_eval=0.1)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(ix.simulate(model, (0.0, 2.0), t_eval=0.1))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result.q, expected.q) for result in results)


def test_names_in_any_script_go_through_files(tmp_path):
    model = ix.Model("Маятник 1")
    rod = model.add(ix.RigidBody.rod("стержень 長い", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin with spaces", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.PointMass("n" * 300, 1.0))
    result = ix.simulate(model, (0.0, 0.1), t_eval=0.05)
    result.save(tmp_path / "run.nc")
    model.save(tmp_path / "model.json")
    again, loaded = ix.Result.load(tmp_path / "run.nc"), ix.load_model(tmp_path / "model.json")
    assert list(loaded) == list(model)
    assert np.array_equal(again["стержень 長い"].position, result["стержень 長い"].position)
    assert np.array_equal(again["pin with spaces"].angle, result["pin with spaces"].angle)
    assert "стержень 長い" in str(ix.linearize(model))


def test_the_beginning_of_time_does_not_matter():
    times = np.linspace(0.0, 1.0, 11)
    expected = ix.simulate(pendulum(), (0.0, 1.0), t_eval=times)["pin"].angle
    for start in (-5.0, 1e9):
        angle = ix.simulate(pendulum(), (start, start + 1.0), t_eval=start + times)["pin"].angle
        assert angle == pytest.approx(expected, abs=1e-5)  # 1e9 s is known to 1e-7 s, and the rod turns at 5 rad/s


def a_pendulum(length=1.0):
    return ix.library.pendulum(length=length)


def test_slips_of_a_first_hour_are_answered_by_name():
    """Seen with strangers: a span for `prepare`, misspelt parameters of a sweep, names of results as attributes."""
    model = a_pendulum()
    model.add(ix.Actuator("motor", model["pivot"], 1.0))
    with pytest.raises(ModelError, match=r"prepare: \(0, 1.0\) stands in the place of the method. A time span belongs"):
        ix.prepare(model, (0, 1.0))
    measure = {"end": lambda result: result.t[-1]}
    with pytest.raises(
        ModelError, match=r"sweep: a_pendulum has no parameter 'lenght'. Did you mean length\? It takes"
    ):
        ix.sweep(a_pendulum, {"lenght": [1.0]}, t_span=(0, 0.1), measure=measure)
    with pytest.raises(ModelError, match="sweep: <lambda> needs mass, which no case has"):
        ix.sweep(lambda length, mass: model, {"length": [1.0]}, t_span=(0, 0.1), measure=measure)
    result = ix.simulate(model, (0, 0.1), "hht-i3")
    with pytest.raises(AttributeError, match=r"Actuator 'motor' has no history 'momnt'. Did you mean moment\? It has"):
        result["motor"].momnt  # noqa: B018
    with pytest.raises(AttributeError, match=r"Result has no attribute 'motor'. Write result\['motor'\]"):
        result.motor  # noqa: B018
    with pytest.raises(AttributeError, match=r"Result has no attribute 'energi'. Did you mean energy\?"):
        result.energi  # noqa: B018
