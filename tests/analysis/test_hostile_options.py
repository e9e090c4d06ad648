"""Options of methods, sweeps, batches, controllers and commands that nobody should give: refused by name."""

import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest
from small_models import pendulum

import index3 as ix

JUNK = (
    math.nan, math.inf, -math.inf, -1, -1.5, "x", "", [], {}, (), object(), b"1", 1 + 2j, [1, 2, 3],
    ("a", "b"), np.array([1.0, 2.0]), np.float64("nan"), lambda: 1,
)  # fmt: skip
"""Right for no option of any method; None, 0 and True are right for some."""
OPTIONS = [(key, field.name) for key, method in ix.METHODS.items() for field in dataclasses.fields(method)]
ALLOWED = {
    "None": {"alpha", "guard", "lower", "upper", "max_outer", "newmark", "penalty_3", "radau5: kappa"},
    "0": {"alpha", "corrections", "h_switch", "predictor_degree", "rho_inf"},
    "True": {"filtered", "shift"},
}


@pytest.mark.parametrize(("key", "name"), OPTIONS, ids=lambda x: x)
def test_options_of_methods(key, name):
    for junk in JUNK:
        with pytest.raises(ix.ModelError, match=name):
            ix.METHODS[key](**{name: junk})
    with pytest.raises(ix.ModelError, match=f"{name}|so large that"):
        ix.METHODS[key](**{name: 10**400})
    for value in (None, 0, True):
        if not {name, f"{key}: {name}"} & ALLOWED[str(value)]:
            with pytest.raises(ix.ModelError, match=name):
                ix.METHODS[key](**{name: value})


@pytest.mark.parametrize("key", ix.METHODS)
def test_options_misspelt(key):
    with pytest.raises(ix.Index3Error, match="alfa"):
        ix.simulate(pendulum(), (0.0, 0.1), key, alfa=0.1)
    with pytest.raises(ix.Index3Error, match="alfa"):
        ix.METHODS[key](alfa=0.1)


ANY = (None, "x", -1.0, math.nan, 10**400, [], {}, np.zeros(3), np.array(3.0), 1j, b"x", object(), lambda: 1)


def test_sweeps_and_batches():
    simulation = ix.prepare(pendulum(), "dopri5")
    measure = {"x": len}
    for junk in ANY:
        with pytest.raises(ix.ModelError, match=r"^sweep: "):
            ix.sweep(ix.library.pendulum, junk, t_span=(0.0, 0.1), measure=measure)
        with pytest.raises(ix.ModelError, match=r"^sweep: t_span"):
            ix.sweep(ix.library.pendulum, {"length": [1.0]}, t_span=junk, measure=measure)
        with pytest.raises(ix.ModelError, match=r"^batch: t_span"):
            ix.batch(simulation, [{}], junk)
        with pytest.raises(ix.ModelError, match=r"^batch: "):
            ix.batch(junk, [{}], (0.0, 0.1))
        with pytest.raises(ix.Index3Error, match=r"\S"):
            simulation.stepper().advance(junk)


def test_controllers():
    model = pendulum()
    push = model.add(ix.Force("push", model["rod"], (0, 0, 0)))

    def answer(t, u, memory):
        return (0, 0, 0)

    for junk in (None, 3, 1j, 10**400, np.array(3.0), object(), b"x", answer, [None], ""):
        with pytest.raises(ix.ModelError, match="Controller 'c' has inputs"):
            ix.Controller("c", 0.1, answer, junk, [push])
    for junk in (None, -1, 10**400, 10**9, 1.5, object(), "x", [math.nan]):
        with pytest.raises(ix.ModelError, match="Controller 'c' has memory"):
            ix.Controller("c", 0.1, answer, ["rod.position.z"], [push], memory=junk)
    for junk in (None, 0, -1.0, math.nan, math.inf, "x", 10**400, []):
        with pytest.raises(ix.ModelError, match="Controller 'c' has period"):
            ix.Controller("c", junk, answer, ["rod.position.z"], [push])


@pytest.mark.parametrize("command", ["view", "resume", "convert", "run", "check"])
def test_commands_refuse_nonsense_files(command, tmp_path):
    """One line on the standard error, an exit code that is not 0, and no traceback."""
    nonsense = tmp_path / "model.json"
    nonsense.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    extra = [str(tmp_path / "out.toml")] if command == "convert" else []
    given = subprocess.run(
        [sys.executable, "-m", "index3", command, str(nonsense), *extra], capture_output=True, text=True, check=False
    )
    assert given.returncode != 0
    assert "Traceback" not in given.stderr
    assert "model.json" in given.stderr
