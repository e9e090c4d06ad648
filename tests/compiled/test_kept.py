"""Functions of users that Numba compiled are kept on disk, and found by all that their code follows from."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from types import ModuleType

import numba
import numpy as np
import pytest

from index3.compiled import callbacks, kept
from index3.compiled.callbacks import Form, compile_callback
from index3.compiled.interface import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="kernels are plain Python, and so are functions of users")

FORM = Form(("x", "out"), ((3,), (3,)), ("out",))
NAMES = ("x", "out")
FACTOR = 2.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own; nothing is known of earlier functions."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("INDEX3_CACHE", str(tmp_path))
    compile_callback.cache_clear()
    yield tmp_path
    compile_callback.cache_clear()


def scaled(factor):
    """A function that depends on a value of its closure."""

    @numba.njit
    def f(t, x, out):
        for k in range(3):
            out[k] = factor * x[k] + t

    return f


@numba.njit
def by_global(t, x, out):
    out[0] = FACTOR * x[0]


@numba.njit
def raising(t, x, out):
    if x[0] > 1.0:
        raise ValueError("too far")
    out[0] = x[0]


@numba.njit
def allocating(t, x, out):
    """Needs Numba's memory manager, and an object of Python for what a wrong shape raises."""
    out[:] = np.zeros(int(x[0])) + x


def called(compiled, x, t=0.0):
    """What a C function returns, and what it fills in."""
    block = np.array([*x, 0.0, 0.0, 0.0])
    code = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_void_p)(compiled.address)(t, block.ctypes.data)
    return code, block[3:].tolist()


def refuse(*arguments):
    raise AssertionError("compiled although it was kept")


def test_found_without_compiling(folder, monkeypatch):
    first, _ = compile_callback(scaled(3.0), NAMES, FORM)
    assert len(list(folder.glob("function-*.kob"))) == 1
    monkeypatch.setattr(callbacks, "wrap", refuse)
    again, returned = compile_callback(scaled(3.0), NAMES, FORM)
    assert returned == "none"
    assert called(again, (1.0, 2.0, 3.0), 0.5) == called(first, (1.0, 2.0, 3.0), 0.5) == (0, [3.5, 6.5, 9.5])


def test_exceptions_and_memory_from_the_disk(folder, monkeypatch):
    for function in (raising, allocating):
        compile_callback(function, NAMES, FORM)
    compile_callback.cache_clear()
    monkeypatch.setattr(callbacks, "wrap", refuse)
    kept_raising, kept_allocating = (compile_callback(function, NAMES, FORM)[0] for function in (raising, allocating))
    assert called(kept_raising, (0.5, 0.0, 0.0)) == (0, [0.5, 0.0, 0.0])
    assert called(kept_raising, (2.0, 0.0, 0.0))[0] == 1
    assert called(kept_allocating, (3.0, 1.0, 2.0)) == (0, [3.0, 1.0, 2.0])
    assert called(kept_allocating, (5.0, 1.0, 2.0))[0] == 1  # shapes do not fit


def test_what_a_digest_sees(monkeypatch):
    digest = kept.digest(scaled(3.0), NAMES, FORM)
    assert digest == kept.digest(scaled(3.0), NAMES, FORM)
    others = [
        kept.digest(scaled(4.0), NAMES, FORM),
        kept.digest(scaled(3), NAMES, FORM),
        kept.digest(scaled(np.array([3.0])), NAMES, FORM),
        kept.digest(numba.njit(fastmath=True)(scaled(3.0).py_func), NAMES, FORM),
        kept.digest(scaled(3.0), NAMES, Form(NAMES, ((4,), (3,)), ("out",))),
        kept.digest(raising, NAMES, FORM),
    ]
    before = kept.digest(by_global, NAMES, FORM)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    others += [before, kept.digest(by_global, NAMES, FORM)]
    assert None not in others
    assert len({digest, *others}) == len(others) + 1
    monkeypatch.setattr(np, "__version__", "0")
    assert kept.digest(scaled(3.0), NAMES, FORM) != digest


def test_a_digest_sees_through_functions_and_modules():
    def outer(inner, module):
        @numba.njit
        def f(t, x, out):
            out[0] = inner(x[0]) * module.gain

        return f

    def plus(number):
        return numba.njit(lambda y: y + number)

    module, other = ModuleType("gains"), ModuleType("gains")
    module.gain, other.gain = 1.0, 2.0
    forms = {kept.digest(outer(plus(n), gains), NAMES, FORM) for n in (1.0, 2.0) for gains in (module, other)}
    assert None not in forms
    assert len(forms) == 4


def test_what_cannot_be_told_by_its_content_is_not_kept(folder):
    address = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(abs)
    for value in (address, {"gain": 1.0}, lambda y: y, object()):
        assert kept.digest(scaled(value), NAMES, FORM) is None


@pytest.mark.parametrize("harm", ["damaged", "writable by others"])
def test_a_file_that_is_not_what_was_written_is_compiled_anew(folder, harm):
    if harm != "damaged" and (sys.platform == "win32"):
        pytest.skip("no such rights")
    compile_callback(scaled(3.0), NAMES, FORM)
    (path,) = folder.glob("function-*.kob")
    if harm == "damaged":
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    else:
        path.chmod(0o666)
    assert kept.load(path.stem.removeprefix("function-")) is None
    again, _ = compile_callback(scaled(3.0), NAMES, FORM)
    assert called(again, (1.0, 0.0, 0.0)) == (0, [3.0, 0.0, 0.0])
    assert kept.load(path.stem.removeprefix("function-")) is not None


SCRIPT = """
import numba, index3 as ix
from index3.compiled import callbacks
compile = callbacks.wrap
callbacks.wrap = lambda *arguments: print("compiled") or compile(*arguments)

@numba.njit
def pull(t, r, A, v, w, p, out):
    out[0, :3] = -p[0] * r[0]

model = ix.Model("pull", gravity=(0, 0, 0))
model.add(ix.UserForce("pull", model.add(ix.PointMass("ball", 1.0, position=(1, 0, 0))), pull, (4.0,)))
print(ix.simulate(model, (0.0, 1.0), "dopri5")["ball"].position[-1, 0].hex())
"""


def test_another_process_finds_it(tmp_path):
    """Bit by bit the same run, in a process that compiles nothing for it."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    runs = []
    for name in ("one", "two"):
        environment = os.environ | {"PYTHONHASHSEED": "1" if name == "one" else "2"}
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
        )
        runs.append(done.stdout.split())
    assert runs[0][-1] == runs[1][-1]
    assert runs[1][0] != "compiled"
