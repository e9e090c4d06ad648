"""What besides its sources an object is made by: versions, settings of the compiler, and the machine that it is for.

Kernels are built in one of two ways. "quick" leaves out of Numba what kernels have no use for (`frontend`, `indexing`)
and so depends on how Numba works inside. "standard" is Numba's documented interface, for versions that the quick way
does not know. Both give the same numbers.
"""

from __future__ import annotations

import functools
import os
import re
import sys

QUICK, STANDARD = "quick", "standard"
ENVIRONMENT = {
    "INDEX3_BUILDING": "1",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_OPT": "2",  # level 3 takes a tenth longer, and kernels are not quicker for it
}
"""What tells a worker how to compile; no other setting of Numba reaches it."""


def ways() -> tuple[str, ...]:
    """The ways to build that may be taken, the best one first; `INDEX3_NUMBA` names a single one.

    Raises
    ------
    Index3Error : it names none.
    """
    named = os.environ.get("INDEX3_NUMBA", "")
    if named in (QUICK, STANDARD):
        return (named,)
    if named:
        from index3.errors import Index3Error

        raise Index3Error(f"INDEX3_NUMBA is '{named}'. Set it to '{QUICK}' or '{STANDARD}', or leave it unset.")
    return QUICK, STANDARD


@functools.cache
def version(package: str) -> str:
    """The version of Numba or llvmlite, read from its files: importing Numba takes half a second."""
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return "not installed"
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        text = ""
    found = re.search(r"version[\"' =:]+(\d[\w.+]*)", text)
    if found:
        return found[1]
    from importlib.metadata import version as installed_version  # takes 0.02 s, so only where the file says nothing

    return installed_version(package)


@functools.cache
def description(way: str) -> str:
    """Everything that an object depends on besides its sources."""
    from llvmlite.binding import get_default_triple

    versions = sys.implementation.cache_tag, version("numba"), version("llvmlite")
    return repr((way, versions, sorted(ENVIRONMENT.items()), get_default_triple()))
