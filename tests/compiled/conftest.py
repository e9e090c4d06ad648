"""A workshop: a copy of the package with small kernels of its own and a private cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import index3

SAMPLE = '''
from index3.algebra.vectors import norm
from index3.compiled.interface import OK, kernel, slots, view

(X,) = slots(x=("f8", 1))


@kernel
def fill_length(T, E):
    """Length of the first three numbers, into the fourth."""
    x = view(T, X)
    x[3] = norm((x[0], x[1], x[2]))
    return OK
'''
RUN = """
import sys
import numpy as np
from index3.compiled.interface import Table
from index3.sample import X, fill_length
table = Table(1)
table[X] = np.array([2.0, 3.0, 6.0, 0.0])
assert fill_length(table.handle, 0) == 0
print(table[X][3], "numba" in sys.modules)
"""


class Workshop:
    """Runs Python on a copy of the package."""

    sample = RUN

    def __init__(self, folder: Path) -> None:
        self.folder, self.package, self.cache = folder, folder / "src" / "index3", folder / "cache"
        ignored = shutil.ignore_patterns("__pycache__", "kernels")
        shutil.copytree(Path(index3.__file__).parent, self.package, ignore=ignored)
        (self.package / "sample.py").write_text(SAMPLE, "utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """Variables of a run: this copy, this cache, no bytecode (sources are edited within a second)."""
        own = {"PYTHONPATH": str(self.package.parent), "INDEX3_CACHE": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        kept = {key: value for key, value in os.environ.items() if key not in ("INDEX3_JIT", "INDEX3_BUILDING")}
        return {**kept, **own, **more}

    def start(self, code: str = RUN, **more: str) -> subprocess.Popen[str]:
        """A process that runs some code."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=self.environment(**more),
            cwd=self.folder,
        )

    def run(self, code: str = RUN, **more: str) -> tuple[str, str]:
        """Output and messages of some code, which must succeed."""
        process = self.start(code, **more)
        output, messages = process.communicate(timeout=300)
        assert process.returncode == 0, messages
        return output, messages

    def objects(self) -> list[Path]:
        """The objects in the cache."""
        return sorted(self.cache.glob("*.kob"))


@pytest.fixture(scope="session")
def make_workshop():
    """Makes a workshop in a folder."""
    return Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A workshop whose kernels have been built once."""
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    made.first = made.run()
    return made
