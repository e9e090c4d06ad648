"""Objects of kernels do not see each other's helpers."""

import pytest

from index3.compiled import emit, store
from index3.compiled.interface import JIT

SOURCE = """
define weak i64 @helper() {{ ret i64 {number} }}
define i64 @kernel{number}() {{ %x = call i64 @helper() noinline
 ret i64 %x }}
"""


@pytest.mark.skipif(not JIT, reason="no objects are loaded")
def test_two_objects_with_a_helper_of_one_name(monkeypatch):
    """Workers number their helpers by themselves: of records with other layouts, a helper of that name is another."""
    import ctypes

    import llvmlite.binding as llvm

    store.address("index3.system.evaluate", "forces")  # LLVM is ready
    monkeypatch.setattr(store, "_addresses", {})
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic")
    objects = {}
    for number in (1, 2):
        module = llvm.parse_assembly(SOURCE.format(number=number))
        emit.hide_helpers(module, f"kernel{number}")
        code = machine.emit_object(module)
        objects["test", f"kernel{number}"] = store.Stored(None, f"kernel{number}", code)
    store._load(objects)
    answers = [ctypes.CFUNCTYPE(ctypes.c_int64)(address)() for address in store._addresses.values()]
    assert answers == [1, 2]
