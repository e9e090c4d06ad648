"""Many runs of one prepared simulation in threads."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError


@pytest.fixture(scope="module")
def pendulum():
    return ix.prepare(ix.library.pendulum(), method="dopri5", rtol=1e-4)


MASSES = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5]


@pytest.mark.parametrize("workers", [1, 3])
def test_each_case_is_the_run_of_its_own_bit_by_bit(pendulum, workers):
    initial = [None, None, *[ix.simulate(ix.library.pendulum(), (0, 0.1))] * 4]
    found = ix.batch(
        pendulum, [{"rod.mass": mass} for mass in MASSES], (0.0, 0.3), initial=initial, workers=workers, t_eval=0.1
    )
    assert found.q.dims == ("case", "time", "coordinate")
    assert found.coordinate.values[0] == "rod.x"
    for k, mass in enumerate(MASSES):
        alone = pendulum.run((0.0, 0.3), changes={"rod.mass": mass}, initial=initial[k], t_eval=0.1)
        for name in ("t", "q", "v"):
            assert np.array_equal(found[name].values[k], getattr(alone, name))


def test_what_is_wrong_with_a_case_is_in_its_row(pendulum):
    cases = [None, {"rod.mass": -1.0}, {"rod.length": 2.0}, {"rod.mass": 2.0}]

    def measure(result):
        if result["rod"].position.shape[0] > 1 and result.layout.bodies[0]["mass"] == 2.0:
            raise ZeroDivisionError("of mine")
        return result.energy.kinetic.max()

    found = ix.batch(pendulum, cases, (0.0, 0.2), measure={"peak": measure}, workers=2)
    assert found.status.values.tolist() == ["ok", "raised", "raised", "raised"]
    assert "mass -1.0" in found.message.values[1]
    assert found.message.values[3] == "ZeroDivisionError: of mine"
    assert np.isfinite(found.peak.values).tolist() == [True, False, False, False]


def test_a_run_that_fails_is_a_row():
    found = ix.batch(ix.prepare(ix.library.pendulum(), max_steps=3), [None, None], (0.0, 5.0))
    assert found.status.values.tolist() == ["failed", "failed"]
    assert "3 steps" in found.message.values[0]


def test_a_sweep_of_trusted_cases_runs_in_this_process(pendulum):
    here = []
    found = ix.sweep(
        pendulum, {"rod.mass": MASSES[:3]}, t_span=(0.0, 0.2), isolate=False, progress=False,
        measure={"peak": lambda result: here.append(1) or result.energy.kinetic.max()},
    )  # fmt: skip
    assert found.status.values.tolist() == ["ok"] * 3
    assert len(here) == 3


@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        (("model", [None]), {}, "is not a prepared simulation"),
        ((None, {"rod.mass": 1.0}), {}, "Give a list"),
        ((None, [3]), {}, "case 0 is 3"),
        ((None, [None]), {"initial": [None, None]}, "2 initial states for 1 cases"),
        ((None, [None]), {"workers": 0}, "workers = 0"),
        ((None, [None]), {"measure": {"case": len}}, "'case' has a name"),
        ((None, [None]), {"measure": len}, "must be"),
        ((None, [None]), {"rtoll": 1e-3}, "no setting 'rtoll'"),
    ],
)
def test_bad_arguments_are_refused(pendulum, arguments, settings, words):
    first, changes = arguments
    with pytest.raises(ModelError, match=words):
        ix.batch(pendulum if first is None else first, changes, (0.0, 0.1), **settings)
