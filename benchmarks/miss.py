"""What a missing kernel costs: CPU and wall seconds of the builds for the README's example, and for one more method.

    python benchmarks/miss.py [--methods dopri5,hht-i3] [--all-kernels]

The example (check, then `simulate` with the automatic method) runs in a new interpreter with an empty cache; each
method named then runs in an interpreter that finds what the example has built. CPU seconds are those of the workers
that compile; load on the machine makes them longer, though less than wall seconds. `--all-kernels` builds everything
too, as an installation does.
"""

import argparse
import json
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
import json, resource, sys, time
import index3 as ix
from index3.compiled import store
store.INSTALLED = store.cache_directory() / "none"  # as if the installation had brought no kernels
start = time.perf_counter()
model = ix.library.four_bar()
ix.check(model)
result = ix.simulate(model, (0.0, 0.5), {method!r}, progress=False)
assert result.success, result.message
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({{"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.perf_counter() - start}}))
"""
EVERYTHING = "import sys\nfrom index3.compiled.build import build_all\nbuild_all(sys.argv[1])"


def run_example(method, cache):
    """The example by one method on a cache: seconds of builds and the number of kernels built."""
    before = len(list(cache.glob("*.kob")))
    answer = subprocess.run(
        [sys.executable, "-c", EXAMPLE.format(method=method)],
        env={**os.environ, "INDEX3_CACHE": str(cache)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    return {**json.loads(answer.stdout), "kernels": len(list(cache.glob("*.kob"))) - before}


def build_everything(folder):
    """All kernels of the package: seconds and their number."""
    usage, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", EVERYTHING, str(folder)], check=True)
    later = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = later.ru_utime + later.ru_stime - usage.ru_utime - usage.ru_stime
    return {"cpu_s": cpu, "wall_s": time.perf_counter() - start, "kernels": len(list(folder.glob("*.kob")))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(ix.METHODS))
    parser.add_argument("--all-kernels", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        first.mkdir()
        rows = [{"case": "README example", **run_example("auto", first)}]
        for method in filter(None, options.methods.split(",")):
            cache = Path(folder) / method
            shutil.copytree(first, cache)
            rows.append({"case": f"then {method}", **run_example(method, cache)})
        if options.all_kernels:
            everything = Path(folder) / "everything"
            everything.mkdir()
            rows.append({"case": "all kernels", **build_everything(everything)})
    print_table(rows, ["case", "kernels", "cpu_s", "wall_s"])
    print_json("miss", rows)


if __name__ == "__main__":
    main()
