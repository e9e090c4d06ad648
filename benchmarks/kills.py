"""Kill stored runs at random moments, resume them until they end, and compare: all bits must be those of a whole run.

    python benchmarks/kills.py [--kills 20] [--seconds 4] [--seed 0] [--model four_bar,heap,...] [METHOD ...]

Each pair of a model (`kill_models.py`; `--model all` takes all of them) and a method is killed that many times in all,
by SIGKILL, in processes of its own; after each kill the file must open and hold the first lines of the run. Finally the
cost of storing is measured: CPU seconds of a run with a store and without.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kill_models import MODELS

import index3 as ix

METHODS = ("bdf-i3", "hht-i3", "dopri5", "al-index3", "auto")
SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import index3 as ix
from index3.engine import resuming
from kill_models import MODELS
resuming.WAIT, resuming.SHARE = 0.05, 0.5
model, settings = MODELS[{name!r}]()
print("ready", flush=True)
if {begin}:
    ix.simulate(model, (0.0, {end!r}), {method!r}, progress=False, store={store!r}, **settings)
else:
    settings.pop("rtol", None)
    ix.resume({store!r}, model, progress=False, **settings)
"""


def long_enough(name: str, method: str, seconds: float) -> tuple[float, ix.Result]:
    """A span that takes about so many seconds, and the run over it."""
    end = 0.2
    while True:
        model, settings = MODELS[name]()
        result = ix.simulate(model, (0.0, end), method, progress=False, **settings)
        took = result.stats["seconds_steps"] + result.stats["seconds_output"]
        if took > 0.5 * seconds:
            return end, result
        end *= max(2.0, min(10.0, seconds / took))


def compare(part: ix.Result, whole: ix.Result) -> None:
    """Raise unless a result has the first lines of another."""
    for name, array in part.arrays.items():
        if array.tobytes() != whole.arrays[name][: len(array)].tobytes():
            raise SystemExit(f"{name} differs")


def trial(name: str, method: str, kills: int, seconds: float, draw: random.Random, folder: Path) -> None:
    """Kill one run after the other until there were enough kills."""
    end, whole = long_enough(name, method, seconds)
    done, runs = 0, 0
    while done < kills:
        store, begin, runs = folder / f"{name}-{method}-{runs}.nc", True, runs + 1
        while True:
            here = str(Path(__file__).parent)
            text = SCRIPT.format(here=here, name=name, begin=begin, end=end, method=method, store=str(store))
            process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
            process.stdout.readline()
            try:
                if process.wait(draw.uniform(0.0, 0.6 * seconds) if done < kills else None):
                    raise SystemExit(f"{name} by {method}: the run failed")
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done += 1
            begin = not any(folder.glob(f"{store.name}*"))
            if not begin:
                compare(ix.load(store), whole)
        found = ix.load(store)
        compare(found, whole)
        counters = [key for key in whole.stats if not key.startswith("seconds")]
        if len(found) != len(whole) or any(found.stats[key] != whole.stats[key] for key in counters):
            raise SystemExit(f"{name} by {method}: {runs}. run is another one")
        left = [file.name for file in folder.iterdir() if file.name.lstrip(".").startswith(store.stem)]
        if left != [store.name]:
            raise SystemExit(f"{name} by {method}: left behind: {left}")
    print(f"{name:10} {method:12} {done} kills in {runs} runs of {len(whole)} lines: all bits equal", flush=True)


def cost(folder: Path) -> None:
    """What a store costs beside a run of some seconds."""
    for name, model, end in (("four_bar", ix.library.four_bar(), 100.0), ("chain of 200", ix.library.chain(200), 2.0)):
        times = []
        for store in (None, folder / "cost.nc"):
            start = time.process_time()
            result = ix.simulate(model, (0.0, end), "hht-i3", progress=False, store=store)
            times.append((time.process_time() - start, result.stats["seconds_steps"], len(result)))
        (plain, steps, lines), (stored, stored_steps, _) = times
        print(f"{name}: {lines} lines; CPU {plain:.2f} s without, {stored:.2f} s with a store, of which steps "
              f"{steps:.2f} s and {stored_steps:.2f} s")  # fmt: skip


def main() -> None:
    """Run the trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS, metavar="METHOD")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="four_bar", help="names with commas between, or all")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS if arguments.model == "all" else arguments.model.split(","):
            for method in arguments.methods:
                trial(name, method, arguments.kills, arguments.seconds, draw, Path(folder))
        cost(Path(folder))


if __name__ == "__main__":
    main()
