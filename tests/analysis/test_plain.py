"""Kernels as plain Python (`INDEX3_JIT=0`) give the trajectory of the compiled ones."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

SCRIPT = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np, index3 as ix, small_models
    from index3.compiled.interface import JIT
    assert JIT == (sys.argv[3] == "1")
    model = getattr(small_models, sys.argv[2])()
    result = ix.simulate(model, (0.0, float(sys.argv[4])), t_eval=0.01)
    assert result.success, result.message
    np.savez(sys.argv[5], t=result.t, q=result.q, v=result.v, a=result.a, lam=result.lam, work=result.energy.work)
"""


def run(name, jit, t_end, path):
    script, here = textwrap.dedent(SCRIPT), str(Path(__file__).parent)
    command = [sys.executable, "-c", script, here, name, jit, str(t_end), str(path)]
    subprocess.run(command, env={**os.environ, "INDEX3_JIT": jit}, check=True, timeout=120)
    with np.load(path) as data:
        return dict(data)


@pytest.mark.parametrize(("name", "t_end"), [("pendulum", 0.3), ("four_bar", 0.1), ("spatial_loop", 0.02)])
def test_same_trajectory(name, t_end, tmp_path):
    plain, compiled = (run(name, jit, t_end, tmp_path / f"{jit}.npz") for jit in "01")
    assert np.array_equal(plain["t"], compiled["t"])
    for key in ("q", "v", "work"):
        # 1e-12: the compiler may fuse or reorder sums, and some hundred steps add up the rounding
        assert np.abs(plain[key] - compiled[key]).max() <= 1e-12 * max(1.0, np.abs(compiled[key]).max()), key
    for key in ("a", "lam"):
        assert np.abs(plain[key] - compiled[key]).max() <= 1e-10 * max(1.0, np.abs(compiled[key]).max()), key
