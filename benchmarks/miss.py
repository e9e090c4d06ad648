"""What a missing kernel costs: CPU and wall seconds for the README's example, and for one more method.

    python benchmarks/miss.py [--method all | dopri5,hht-i3 | none] [--all-kernels]

The example (check, then `simulate` with the automatic method) runs in a new interpreter with an empty cache; each
method then runs alone in an interpreter that finds what the example has built, and once more with nothing left to
build. `cpu_s` is the CPU time of the interpreter and of the workers that compile, `again_s` that of the second run,
`miss_s` the difference: what the miss costs, to be below 8 s for one more method. Load on the machine makes all of
them longer, wall seconds most. `--all-kernels` builds everything too, as an installation does.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import print_json, print_table

import index3 as ix

EXAMPLE = """
import sys
import index3 as ix
from index3.compiled import store
store.INSTALLED = str(store.cache_directory() / "none")  # as if the installation had brought no kernels
model = ix.library.four_bar()
ix.check(model)
result = ix.simulate(model, (0.0, 0.5), sys.argv[1], progress=False)
assert result.success, result.message
"""
EVERYTHING = "import sys\nfrom index3.compiled.build import build_all\nbuild_all(sys.argv[1])"


def timed(code, argument, **more):
    """CPU seconds of a new interpreter and of its children, and wall seconds."""
    usage, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(argument)], stderr=subprocess.DEVNULL, check=True, **more)
    later = resource.getrusage(resource.RUSAGE_CHILDREN)
    return later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime, time.perf_counter() - start


def run_example(method, cache):
    """The example by one method on a cache, twice: seconds, and the number of kernels built."""
    environment, before = {**os.environ, "INDEX3_CACHE": str(cache)}, len(list(cache.glob("*.kob")))
    cpu, wall = timed(EXAMPLE, method, env=environment)
    built = len(list(cache.glob("*.kob"))) - before
    again, _ = timed(EXAMPLE, method, env=environment)
    return {"kernels": built, "cpu_s": cpu, "again_s": again, "miss_s": cpu - again, "wall_s": wall}


def build_everything(folder):
    """All kernels of the package: seconds and their number."""
    cpu, wall = timed(EVERYTHING, folder)
    return {"kernels": len(list(folder.glob("*.kob"))), "cpu_s": cpu, "wall_s": wall}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="all", help="all, none, or keys with commas between")
    parser.add_argument("--all-kernels", action="store_true")
    options = parser.parse_args()
    methods = {"all": list(ix.METHODS), "none": []}.get(options.method, options.method.split(","))
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        first.mkdir()
        rows = [{"case": "README example", **run_example("auto", first)}]
        for method in methods:
            cache = Path(folder) / method
            shutil.copytree(first, cache)
            rows.append({"case": f"then {method}", **run_example(method, cache)})
        if options.all_kernels:
            everything = Path(folder) / "everything"
            everything.mkdir()
            rows.append({"case": "all kernels", **build_everything(everything)})
    print_table(rows, ["case", "kernels", "cpu_s", "again_s", "miss_s", "wall_s"])
    print_json("miss", rows)


if __name__ == "__main__":
    main()
