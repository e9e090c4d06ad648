"""What kernel objects need of the system that loads them: the reason of a wheel's manylinux tag."""

from __future__ import annotations

import ctypes
import platform
import sys

import pytest

from index3.compiled import emit, sources, store, symbols

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="objects of other systems have another format"
)


@pytest.fixture(scope="module")
def files():
    """Objects of some kernels, built if need be."""
    keys = [key for key in sources.kernels(sources.kernel_modules()) if key[0].startswith("index3.forces.t")]
    store.prepare(keys)
    return [store.find(*key) for key in keys]


def test_kernels_need_only_what_every_system_of_the_tag_has(files):
    symbols.check_portable(files)
    needed = set.union(*(symbols.open_symbols(store.unpack(file)[1]) for file in files))
    assert "pow" in needed  # the table of symbols is really read


def test_every_allowed_name_of_the_c_library_and_python_is_found_here():
    process = ctypes.CDLL(None)
    mathematics = ctypes.CDLL("libm.so.6")
    for name in symbols.C_LIBRARY | symbols.PYTHON:
        assert hasattr(process, name) or hasattr(mathematics, name) or hasattr(ctypes.pythonapi, name), name


def test_what_kernels_may_call_is_portable():
    called = [name for name in symbols.C_LIBRARY if emit.ALLOWED.fullmatch(name)]
    assert symbols.C_LIBRARY - set(called) == {"sincos", "exp2"}  # LLVM makes them of sin and cos, and of pow(2, x)


def test_a_strange_symbol_is_refused_by_name(files, monkeypatch):
    monkeypatch.setattr(symbols, "PORTABLE", symbols.PORTABLE - {"pow"})
    with pytest.raises(RuntimeError, match=r"forces\.t.* needs pow, which may not be on every system with glibc 2\.17"):
        symbols.check_portable(files)


def test_what_is_no_object_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not an ELF object"):
        symbols.open_symbols(b"MZ")
    (tmp_path / "damaged.kob").write_bytes(b"nothing")
    with pytest.raises(RuntimeError, match=r"damaged\.kob needs a readable object"):
        symbols.check_portable([tmp_path / "damaged.kob"])
