"""The build: what a kernel must not do, and how work is shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from index3.compiled import build, emit, sources, store, workers
from index3.compiled.interface import BUILDING, JIT

pytestmark = pytest.mark.skipif(not JIT, reason="plain kernels are not built")

HEAD = """
import numpy as np
from index3.compiled.interface import OK, kernel, slots, view
(X,) = slots(x=("f8", 1))

@kernel
def {name}(T, E):
    x = view(T, X)
"""
BAD = {
    "allocate": ("    y = x + 1.0\n    x[0] = y[0]\n    return OK\n", "must not use NRT_"),
    "throw": ("    if x[0] > 0.0:\n        raise ValueError('positive')\n    return OK\n", "can raise an exception"),
    "grow": ("    x[0] = len([k for k in range(int(x[0]))])\n    return OK\n", "must not use"),
}
TRY = """
import sys
from pathlib import Path
from index3.compiled import workers, sources
from index3.errors import Index3Error
for name in sys.argv[1:] or {names}:
    try:
        module = "index3." + name
        workers.build(sources.kernels([module]) or [(module, "missing")], Path("refused"))
    except Index3Error as error:
        print(str(error).strip().splitlines()[-1])
    else:
        print("built", name)
print(len(list(Path("refused").iterdir())))
"""


def test_kernels_that_allocate_or_raise_are_refused_by_name(workshop):
    for name, (body, _) in BAD.items():
        (workshop.package / f"bad_{name}.py").write_text(HEAD.format(name=name) + body, "utf-8")
    output, _ = workshop.run(TRY.format(names=[f"bad_{name}" for name in BAD]))
    *lines, left = output.splitlines()
    for (name, (_, reason)), line in zip(BAD.items(), lines, strict=True):
        assert f"kernel index3.bad_{name}.{name} " in line
        assert reason in line
    assert left == "0"  # nothing was written


def test_a_module_that_cannot_be_imported_is_an_error_that_shows_why(workshop):
    (workshop.package / "bad_import.py").write_text("from index3.compiled.interface import nothing\n", "utf-8")
    output, _ = workshop.run(TRY.format(names=["bad_import"]))
    assert "ImportError" in output
    assert "nothing" in output


@pytest.mark.parametrize("symbol", ["sqrt", "llvm.fabs.f64", "memset", "pow", "PyErr_Clear", "numba_gil_ensure"])
def test_allowed_symbols(symbol):
    assert emit.ALLOWED.fullmatch(symbol)


@pytest.mark.parametrize("symbol", ["NRT_MemInfo_alloc_aligned", "NRT_Allocate", "malloc", "system", "sqrt2"])
def test_forbidden_symbols(symbol):
    assert not emit.ALLOWED.fullmatch(symbol)


def test_open_symbols_are_read_from_declarations():
    code = 'declare double @sqrt(double) #1\ndeclare i8* @"NRT_Allocate"(i64)\ndefine i64 @mine(i64 %x) {\n'
    assert emit.OPEN.findall(code) == ["sqrt", "NRT_Allocate"]


def test_a_worker_outside_a_build_refuses():
    assert not BUILDING
    with pytest.raises(SystemExit, match="INDEX3_BUILDING=1"):
        build.serve(Path(), ["index3.system.evaluate\n"], print)


@pytest.fixture
def modules(monkeypatch):
    """Two modules in the package, and a build that only writes files."""
    built = []

    def write(keys, directory, jobs=None):
        for key in keys:
            built.append(key)
            (directory / store.file_name(*key)).write_bytes(store.pack("symbol", b"code"))

    monkeypatch.setattr(sources, "kernel_modules", lambda: ["index3.forces.load", "index3.forces.user_kernels"])
    monkeypatch.setattr(workers, "build", write)
    return built


def test_build_all_builds_what_is_missing_and_removes_what_is_old(modules, tmp_path):
    (tmp_path / "forces.load.forces-0123456789.kob").write_bytes(b"of older sources")
    (tmp_path / "readme.txt").write_text("stays")
    wanted = build.build_all(tmp_path)
    stages = ("forces", "force_derivatives", "energy")
    assert modules == [(f"index3.forces.{name}", stage) for name in ("load", "user_kernels") for stage in stages]
    assert sorted(tmp_path.iterdir()) == sorted([*wanted, tmp_path / "readme.txt"])
    build.build_all(tmp_path)
    assert len(modules) == 6  # nothing more to do
    wanted[0].write_bytes(b"damaged")
    build.build_all(tmp_path)
    assert len(modules) == 7


def test_modules_are_handed_out_one_by_one(monkeypatch, tmp_path):
    """A worker that is done takes the next module: no worker waits while modules do."""
    taken, done = [], []

    def employ(waiting, way, directory, report):
        while waiting:
            taken.append(waiting.popleft())
            for name in taken[-1][1]:
                report(f"{taken[-1][0]}.{name}")
        return 0, ""

    monkeypatch.setattr(workers, "_run_worker", employ)
    keys = sources.kernels(sources.kernel_modules())
    workers.build(keys, tmp_path / "new", jobs=1, report=done.append)
    sizes = [len(sources.text(module)) for module, _ in taken]
    assert sorted(done) == sorted(".".join(key) for key in keys)
    assert len(taken) == len({module for module, _ in keys})  # kernels of one module share helpers: one worker's work
    assert sizes == sorted(sizes, reverse=True)  # long ones first, so that none is left for the end


COUNT = """
from numba.core.dispatcher import Dispatcher
from index3.compiled import emit
from index3.compiled.frontend import speed_up_numba
speed_up_numba()
import index3.{module} as module
emit.compile_kernel(module.{kernel})
print({{name: len(v.overloads) for name, v in vars(module).items() if isinstance(v, Dispatcher) and v.overloads}})
"""
LITERALS = (
    HEAD
    + """
    put(x, 0, 2)
    put(x, 1, 3)
    put(x, int(x[0]), 4)
    return OK
"""
)
PUT = """
from index3.compiled.interface import helper

@helper
def put(x, k, value):
    x[k] = value
"""


def test_a_helper_is_compiled_once_for_all_literal_integers(workshop):
    (workshop.package / "literals.py").write_text(PUT + LITERALS.format(name="fill"), "utf-8")
    output, _ = workshop.run(COUNT.format(module="literals", kernel="fill"), INDEX3_BUILDING="1")
    assert output == "{'put': 1}\n"


CLOSURES = (
    HEAD
    + """
    total = 0.0
    for value in [2.0 * y for y in (x[0], x[1])]:
        total += value
    x[2] = total
    return OK
"""
)


def test_functions_within_functions_get_all_of_numbas_passes(workshop):
    (workshop.package / "closures.py").write_text(CLOSURES.format(name="double"), "utf-8")
    output, _ = workshop.run(TRY.format(names=["closures"]))
    assert "kernel index3.closures.double must not use NRT_" in output  # understood, and refused for what it does


def test_every_kernel_of_the_package_is_built_or_can_be():
    """An installation that could not build one of them only warns: each would be missed by the run that needs it."""
    store.prepare(sources.kernels(sources.kernel_modules()))
