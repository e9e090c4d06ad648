"""Benchmarks can be loaded: they use parts of the package that no other program asks for by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

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
