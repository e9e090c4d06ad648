"""Memory that output takes: the peak of a run against the arrays of its result.

    python benchmarks/memory.py [--n 1000] [--lines 1001] [--sinks times,steps,file]

Model: `index3.library.chain(n)`, 1 s at constant steps of 1 ms by hht-i3. `times` asks for the lines by `t_eval`,
`steps` for every step, `file` writes the same lines as `times` to a file during the run (`store=`). Each runs in a
process of its own, after a short run that loads kernels: `extra_MB` is what its peak of resident memory grew by during
the run, `read_MB` the same once all arrays of the result were asked for (accelerations and reactions are found then),
`stored_MB` the sum of these arrays, `per_stored` `read_MB` over it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from timing import print_json, print_table

STEPS = 1000
MB = 2.0**20
COLUMNS = ["sink", "n", "lines", "stored_MB", "before_MB", "extra_MB", "read_MB", "per_stored"]


def peak():
    """Largest resident memory of this process so far, MB."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / MB if sys.platform == "darwin" else largest / 1024.0


def measure(n, lines, sink):
    """One row of the table, in a process that has done nothing else."""
    import index3 as ix

    model = ix.library.chain(n)
    settings = {"step": 1.0 / STEPS, "progress": False, "on_failure": "raise"}
    ix.simulate(model, (0.0, 2.0 / STEPS), "hht-i3", **settings)
    times = None if sink == "steps" else np.linspace(0.0, 1.0, lines)
    with tempfile.TemporaryDirectory() as folder:
        if sink == "file":
            settings["store"] = Path(folder, "run.nc")
        before = peak()
        result = ix.simulate(model, (0.0, 1.0), "hht-i3", t_eval=times, **settings)
        extra = peak() - before
        stored = sum(array.nbytes for array in result.arrays.values()) / MB
        read = peak() - before
    values = (sink, n, len(result), stored, before, extra, read, read / stored)
    return dict(zip(COLUMNS, values, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=1001)
    parser.add_argument("--sinks", type=lambda text: text.split(","), default=["times", "steps", "file"])
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure(options.n, options.lines, options.alone)))
        return
    command = [sys.executable, __file__, "--n", str(options.n), "--lines", str(options.lines), "--alone"]
    rows = [json.loads(subprocess.check_output([*command, sink]).splitlines()[-1]) for sink in options.sinks]
    print_table(rows, COLUMNS)
    print_json("memory", rows)


if __name__ == "__main__":
    main()
