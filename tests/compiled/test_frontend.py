"""What makes Numba quick leaves what it computes, and that it computes, as it is."""

import subprocess
import sys

ADDED = """
from index3.compiled.frontend import skip_registries
skip_registries()
from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.types import float64
context = cpu_target.target_context
context.refresh()

def added_later(x):
    return x

builtin_registry.lower(added_later, float64)(lambda context, builder, signature, values: values[0])
context.get_function(added_later, float64(float64))
"""


def test_functions_that_numba_adds_while_it_compiles_are_found():
    """`min` of three numbers is one: where nothing was imported in between, half of the kernels, by chance of the order
    in which workers took them, were built the slow way ("No definition for lowering")."""
    done = subprocess.run([sys.executable, "-c", ADDED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
