"""A sweep over 1000 double pendulums, some of which are broken, hang or kill their process: 970 results, 30 reasons.

    python benchmarks/sweeps.py [--cases 1000] [--time-limit 10] [--dask] [--parent]

With `--dask` on a local cluster of two workers, one of which is killed half-way (needs the extra `sweep`). With
`--parent` the process of the sweep is killed half-way, and another goes on with what it stored.
"""

from __future__ import annotations

import argparse
import collections
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import index3 as ix

SPAN = (0.0, 0.2)
BROKEN, HANGING, DEADLY = range(100, 120), range(200, 205), range(300, 305)


def build(number: int, c2: float) -> ix.Model:
    """A double pendulum, or what some numbers stand for."""
    if number in HANGING:
        time.sleep(1e6)
    if number in DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    model = ix.library.double_pendulum(c2)
    if number in BROKEN:
        model.add(ix.PointMass("lead", mass=-1.0))
    return model


def peak(result: ix.Result) -> float:
    """The largest kinetic energy."""
    return float(result.energy.kinetic.max())


def cases(count: int) -> list[dict[str, float]]:
    """The cases: those beyond 305 are sound."""
    return [{"number": k, "c2": 5e4 + 10.0 * k} for k in range(count)]


def swept(arguments: argparse.Namespace, executor=None, **more):
    """The sweep."""
    start = time.perf_counter()
    settings = {"time_limit": arguments.time_limit, "rtol": 1e-4, "progress": report} | more
    found = ix.sweep(build, cases(arguments.cases), t_span=SPAN, measure={"peak": peak}, executor=executor, **settings)
    counts = collections.Counter(found.status.values.tolist())
    print(f"{dict(counts)} in {time.perf_counter() - start:.1f} s", flush=True)
    bad = {*BROKEN, *HANGING, *DEADLY} & {*range(arguments.cases)}
    good = [k for k in range(arguments.cases) if found.status.values[k] == "ok"]
    assert good == [k for k in range(arguments.cases) if k not in bad]
    assert all(found.message.values[k] for k in bad)
    for k in good[:: len(good) // 10]:
        assert found.peak.values[k] == peak(ix.simulate(build(**cases(k + 1)[k]), SPAN, rtol=1e-4, progress=False))
    return found


def report(done: int, total: int) -> None:
    """Say how far the sweep is."""
    if done % 100 == 0:
        print(f"{done} of {total}", flush=True)


def on_dask(arguments: argparse.Namespace) -> None:
    """The same on a cluster, one of whose workers is killed half-way."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        half = threading.Event()

        def kill_one() -> None:
            half.wait()
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            print(f"killed worker {pid}", flush=True)

        def watch(done: int, total: int) -> None:
            report(done, total)
            if done >= total // 2:
                half.set()

        threading.Thread(target=kill_one, daemon=True).start()
        swept(arguments, client.get_executor(), progress=watch)


def with_killed_parent(arguments: argparse.Namespace) -> None:
    """The same by a process that is killed half-way, and another that goes on."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.jsonl"
        own = [sys.executable, __file__, "--cases", str(arguments.cases), "--time-limit", str(arguments.time_limit)]
        process = subprocess.Popen([*own, "--store", folder])
        while not file.exists() or file.read_bytes().count(b"\n") < arguments.cases // 2:
            time.sleep(0.05)
        process.kill()
        process.wait()
        print("killed with", file.read_bytes().count(b"\n"), "cases finished", flush=True)
        swept(arguments, store=folder, resume=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--parent", action="store_true")
    parser.add_argument("--store")
    arguments = parser.parse_args()
    if arguments.dask:
        on_dask(arguments)
    elif arguments.parent:
        with_killed_parent(arguments)
    else:
        swept(arguments, store=arguments.store)


if __name__ == "__main__":
    main()
