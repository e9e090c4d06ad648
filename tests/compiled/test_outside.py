"""Kernels of modules that are not part of the package."""

from __future__ import annotations

import pytest

from index3.compiled.interface import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="plain kernels need no store")

OWN = '''
from helping import doubled
from index3.compiled.interface import OK, kernel, slots, view

(X,) = slots(x=("f8", 1))


@kernel
def double(T, E):
    """Twice the first number."""
    view(T, X)[0] = doubled(view(T, X)[0])
    return OK
'''
HELPING = '''
from index3.compiled.interface import helper


@helper
def doubled(x):
    """2 x."""
    return 2.0 * x
'''
RUN = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from index3.compiled.interface import Table
from own import X, double
table = Table(1)
table[X] = np.array([3.0])
assert double(table.handle, 0) == 0
print(table[X][0], "numba" in sys.modules)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a module that has a kernel, one that has its helper, and a cache."""
    path = tmp_path / "own modules"
    path.mkdir()
    (path / "own.py").write_text(OWN, "utf-8")
    (path / "helping.py").write_text(HELPING, "utf-8")
    return path


def test_a_module_outside_the_package_has_its_kernels_built_once(workshop, folder):
    code, cache = RUN.format(folder=str(folder)), {"INDEX3_CACHE": str(folder / "cache")}
    output, messages = workshop.run(code, **cache)
    assert output == "6.0 False\n"
    assert "building 1 kernel" in messages
    assert workshop.run(code, **cache) == ("6.0 False\n", "")


def test_an_edited_helper_beside_it_is_never_served_stale(workshop, folder):
    code, cache = RUN.format(folder=str(folder)), {"INDEX3_CACHE": str(folder / "cache")}
    workshop.run(code, **cache)
    (folder / "helping.py").write_text(HELPING.replace("2.0 * x", "4.0 * x"), "utf-8")
    output, messages = workshop.run(code, **cache)
    assert output == "12.0 False\n"
    assert "building 1 kernel" in messages
