"""Benchmarks can be loaded: they use parts of the package that no other program asks for by name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
PEERS = {"casadi", "exudyn", "mujoco", "pydrake"}
"""Packages that comparisons need and tests do not."""


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_loads(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as missing:
        assert missing.name in PEERS  # noqa: PT017
        pytest.skip(f"needs {missing.name}")
    assert module.__doc__
