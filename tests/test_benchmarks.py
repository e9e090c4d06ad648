"""Benchmarks can be loaded: they use parts of the package that no other program asks for by name."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import index3 as ix
from index3.linear import static_lu

FOLDER = Path(__file__).parents[1] / "benchmarks"
PEERS = {"casadi", "exudyn", "mujoco", "pydrake"}
"""Packages that comparisons need and tests do not."""


@pytest.fixture
def load(monkeypatch):
    """A function that loads a benchmark by name."""

    def benchmark(name):
        monkeypatch.syspath_prepend(str(FOLDER))
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        try:
            spec.loader.exec_module(module)
        except ModuleNotFoundError as missing:
            assert missing.name in PEERS  # noqa: PT017
            pytest.skip(f"needs {missing.name}")
        return module

    return benchmark


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_loads(name, load):
    assert load(name).__doc__


def test_a_code_of_the_dassl_family_agrees(load, monkeypatch):
    """A-21: CasADi's IDAS, if it is installed, on Andrews' mechanism: the end that index3 finds."""
    pytest.importorskip("casadi")
    andrews = load("andrews")
    monkeypatch.setattr(andrews, "TOLERANCES", [1e-9])
    (theirs,), (mine,) = andrews.run_casadi(1), andrews.run_index3("adams", 1)
    assert theirs["error"] < 1e-5
    assert mine["error"] < 1e-5


@pytest.mark.parametrize("sink", ["times", "steps", "file"])
def test_the_memory_of_every_sink_can_be_measured(sink):
    command = [sys.executable, str(FOLDER / "memory.py"), "--n", "2", "--lines", "11", "--alone", sink]
    row = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert row["lines"] == (1001 if sink == "steps" else 11)
    assert row["extra_MB"] <= row["read_MB"]


def test_elimination_written_out_without_loops(load):
    """S4-69: the generated code of Andrews' mechanism finds the factors of the static LU: a line for each operation."""
    generated = load("generated")
    solver, system, values = generated.problem(ix.library.andrews())
    assert solver.factor(values) == 0
    text, space = generated.source(solver.pattern, system.sparsity.indptr, system.sparsity.indices), {}
    assert not any(word in text for word in ("for ", "while ", "if "))
    below = np.diff(solver.pattern.lp)
    assert text.count(" * ") == below.sum() + solver.pattern.flops // 2
    exec(text, space)
    found = [np.zeros_like(solver.own[slot]) for slot in (static_lu.LX, static_lu.UX, static_lu.UD)]
    space["factor"](values, *found)
    for mine, slot in zip(found, (static_lu.LX, static_lu.UX), strict=False):
        assert mine == pytest.approx(solver.own[slot], rel=1e-9, abs=1e-12)  # rounding, conditions of 1e4
    assert found[2] * solver.own[static_lu.UD] == pytest.approx(np.ones(len(below)), rel=1e-9)  # kept as inverses there
