"""From the start of the process to a finished one-second pendulum, and the import alone.

    python benchmarks/start.py [--repeats 7]

Each case runs in a new interpreter; figures are CPU seconds (user and system) of that process, smallest of the
repeats. The pendulum's process fails if Numba was imported: with built kernels it is not needed. Bytecode is kept in a
folder of the benchmark, as it is beside installed packages.
"""

import argparse
import functools
import os
import resource
import subprocess
import sys
import tempfile

from timing import print_json, print_table

CASES = {
    "python alone": "pass",
    "import numpy": "import numpy",
    "import index3": "import index3",
    "pendulum, 1 s": """
import sys
import index3 as ix
result = ix.simulate(ix.library.pendulum(), (0.0, 1.0))
assert result.success, result.message
assert "numba" not in sys.modules, "Numba was imported: the kernels are not built (index3 warmup)"
""",
}


def children_cpu():
    """CPU seconds of all finished child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@functools.cache
def bytecode():
    """A folder for the bytecode of all modules; it goes with the process."""
    return tempfile.TemporaryDirectory()


def run(source):
    """Run the source in a new interpreter."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables["PYTHONPYCACHEPREFIX"] = bytecode().name
    subprocess.run([sys.executable, "-c", source], check=True, env=variables)


def measure(source, repeats):
    """Smallest CPU time of a new interpreter that runs the source; the first run, untimed, warms the caches."""
    smallest = float("inf")
    for k in range(repeats + 1):
        before = children_cpu()
        run(source)
        if k > 0:
            smallest = min(smallest, children_cpu() - before)
    return smallest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rows = [{"case": name, "cpu_s": measure(source, options.repeats)} for name, source in CASES.items()]
    print_table(rows, ["case", "cpu_s"])
    print_json("start", rows)


if __name__ == "__main__":
    main()
