"""Objects that are put into memory without LLVM do what those do that it loads."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from index3.compiled import loading, store
from index3.compiled.interface import JIT

GRADIENTS = "index3.system.evaluate", "gradients"
LOCAL_FUNCTION = 2  # in the table of symbols

pytestmark = pytest.mark.skipif(
    not JIT or not sys.platform.startswith("linux") or ctypes.sizeof(ctypes.c_void_p) != 8, reason="of x86-64 Linux"
)
SOURCE = """
@table = internal constant [3 x i64] [i64 {number}, i64 20, i64 30]
@count = internal global i64 0
declare double @cos(double)
declare i64 @{missing}()
define weak i64 @helper(i64 %k) {{ %p = getelementptr [3 x i64], ptr @table, i64 0, i64 %k
 %x = load i64, ptr %p
 ret i64 %x }}
define i64 @kernel{number}(i64 %k) {{ %x = call i64 @helper(i64 %k) noinline
 %c = call double @cos(double 0.0)
 %one = fptosi double %c to i64
 %n = load i64, ptr @count
 %m = add i64 %n, %one
 store i64 %m, ptr @count
 %y = mul i64 %m, %x
 ret i64 %y }}
define i64 @never() {{ %x = call i64 @{missing}()
 ret i64 %x }}
"""


def compiled(number, model="large", missing="numba_do_raise"):
    """An object with a helper, constants, memory of its own, a call of the C library and one of what is provided."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="static", codemodel=model)
    module = llvm.parse_assembly(SOURCE.format(number=number, missing=missing))
    for function in module.functions:
        if function.name == "helper":
            function.linkage = "internal"
    return f"kernel{number}", machine.emit_object(module)


def test_objects_are_loaded_side_by_side():
    addresses = loading.load([compiled(1), compiled(2)], {"numba_do_raise": 1})
    first, second = (ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address) for address in addresses)
    assert [first(0), first(1), second(0), second(2), first(0)] == [1, 2 * 20, 2, 2 * 30, 3]


def test_code_can_be_executed_and_not_written():
    (address,) = loading.load([compiled(1)], {"numba_do_raise": 1})
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        first, last = (int(word, 16) for word in line.split()[0].split("-"))
        if first <= address < last:
            assert line.split()[1] == "r-xp"
            return
    raise AssertionError("no page of this address")


@pytest.mark.parametrize("case", ["near code", "unknown name", "not an object", "cut", "other name"])
def test_what_it_does_not_understand_is_left_to_llvm(case):
    model = "small" if case == "near code" else "large"
    name, code = compiled(1, model, "nobody_has_this" if case == "unknown name" else "pow")
    code = {"not an object": b"MZ" + code, "cut": code[:100]}.get(case, code)
    assert loading.load([("kernel2" if case == "other name" else name, code)], {}) is None


BOTH = """
import hashlib, sys
import index3 as ix
from index3.compiled import loading
if sys.argv[1] == "llvm":
    loading.load = lambda objects, provided: None
result = ix.simulate(ix.library.andrews(), (0.0, 0.01))
print(len(result.q), hashlib.sha256(result.q.tobytes() + result.lam.tobytes()).hexdigest())
"""


def test_a_run_is_the_same_to_the_last_bit():
    said = [
        subprocess.run([sys.executable, "-c", BOTH, way], capture_output=True, text=True, check=True).stdout.split()
        for way in ("llvm", "own")
    ]
    assert said[0] == said[1]
    assert int(said[0][0]) > 1


def test_every_kernel_that_is_built_is_understood():
    """With LLVM away, the whole of a run is loaded."""
    keys = [("index3.system.evaluate", name) for name in ("forces", "mass", "matrix", "levels")]
    store.prepare(keys)
    objects = [store.read(*key) for key in keys]
    found = loading.load([(one.symbol, one.code) for one in objects], dict.fromkeys(store.STUBS, 1))
    assert found is not None
    assert len(set(found)) == len(keys)


def test_what_is_called_from_one_place_is_part_of_its_caller():
    """A twelfth of the instructions of small models: calls, and what stands in memory for them."""
    store.prepare([GRADIENTS])
    kept = store.read(*GRADIENTS)
    assert kept is not None
    image = loading.Image(kept.code)
    own = [first for first, kind, *_ in image.symbols if kind == LOCAL_FUNCTION]
    names = [image.strings[first : image.strings.index(b"\0", first)] for first in own]
    assert [name for name in names if b"fill_jacobian" in name] == []
