"""Benchmarks can be loaded: they use parts of the package that no other program asks for by name."""

from __future__ import annotations

import importlib.util
import json
import subprocess
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


@pytest.mark.parametrize("sink", ["times", "steps", "file"])
def test_the_memory_of_every_sink_can_be_measured(sink):
    command = [sys.executable, str(FOLDER / "memory.py"), "--n", "2", "--lines", "11", "--alone", sink]
    row = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    assert row["lines"] == (1001 if sink == "steps" else 11)
    assert row["extra_MB"] <= row["read_MB"]
