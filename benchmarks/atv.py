"""The all-terrain vehicle of [NegrutHHT], section 4.3, by HHT and by BDF: work, hot spots, outputs.

python benchmarks/atv.py [end time, 0.5 by default] [runs, all by default]

Work is counted, CPU time beside it. Error: relative RMS of the outputs against the tightest run, over all lines.
"""

import sys
import time
from typing import Any

import numpy as np

import index3 as ix

LINE = 1e-3
LONGEST = 5e-4  # HMAX of the paper
RUNS: dict[str, tuple[Any, float, float]] = {  # method, rtol, longest step
    "tight": ("bdf-si2", 1e-8, 1e-4),
    "tight, hht-i3": ("hht-i3", 1e-8, 1e-4),
    "hht-i3": ("hht-i3", 1e-5, LONGEST),
    "bdf-i3": ("bdf-i3", 1e-4, LONGEST),
    "bdf-si2": ("bdf-si2", 1e-4, LONGEST),
    "bdf-si2, order 1": (ix.METHODS["bdf-si2"](order=(1, 1)), 1e-2, LONGEST),
    "hht-i3, free": ("hht-i3", 1e-5, np.inf),
    "bdf-i3, free": ("bdf-i3", 1e-4, np.inf),
    "bdf-si2, free": ("bdf-si2", 1e-4, np.inf),
    "bdf-i3, free, 1e-5": ("bdf-i3", 1e-5, np.inf),
    "bdf-i3, free, 1e-6": ("bdf-i3", 1e-6, np.inf),
}
COUNTS = ("steps", "evaluations", "factorisations")


def outputs(result: ix.Result) -> dict[str, np.ndarray]:
    """What the paper looks at."""
    return {
        "reaction": result["right swing arm pivot"].force[:, 2],
        "pitch rate": result["engine"].angular_velocity[:, 1],
        "modal": result["frame"].modal,
        "stress BL, CL": result["frame"].stress(["BL", "CL"]),
    }


def run(model: ix.Model, end: float, name: str) -> tuple[ix.Result, float]:
    """A run and the CPU time of its steps [s]."""
    method, rtol, longest = RUNS[name]
    limit = {"max_step": longest} if np.isfinite(longest) else {}
    begin = time.process_time()
    result = ix.simulate(model, (0.0, end), method, rtol=rtol, t_eval=LINE, **limit)
    total = time.process_time() - begin
    return result, min(total, result.stats["seconds_steps"])


def main(end: float, names: list[str]) -> None:
    """Print a table of work and errors, and the hot spots of the first and the other runs."""
    model = ix.library.atv()
    results, seconds = {}, {}
    for name in names:
        results[name], seconds[name] = run(model, end, name)
        stats = results[name].stats
        print(name, {key: stats[key] for key in COUNTS}, f"{seconds[name]:.2f} s", flush=True)
    best = outputs(results[names[0]])
    print(f"\n| run | {' | '.join(COUNTS)} | CPU of steps [s] | {' | '.join(best)} |")
    for name, result in results.items():
        errors = [
            np.sqrt(np.mean((x - best[key]) ** 2) / np.mean(best[key] ** 2)) for key, x in outputs(result).items()
        ]
        counts = " | ".join(str(result.stats[key]) for key in COUNTS)
        print(f"| {name} | {counts} | {seconds[name]:.2f} | {' | '.join(f'{error:.1e}' for error in errors)} |")
    for name in names[1:]:
        compare(name, results[name], names[0], results[names[0]])


def compare(name: str, result: ix.Result, other: str, reference: ix.Result) -> None:
    """The hot spots of two runs beside each other, and the largest differences of reaction and pitch rate."""
    print(f"\n{other} against {name}")
    pairs = zip(reference["frame"].hot_spots(10), result["frame"].hot_spots(10), strict=True)
    for k, (a, b) in enumerate(pairs, start=1):
        part = 100.0 * (b.stress / a.stress - 1.0)
        print(
            f"| {k} | {a.node} | {a.stress / 1e6:.2f} | {a.time:.3f} | {b.node} | {b.stress / 1e6:.2f} "
            f"| {b.time:.3f} | {part:.2f} % |"
        )
    mine, theirs = outputs(result), outputs(reference)
    for key in ("reaction", "pitch rate"):
        print(f"{key}: {100 * np.abs(mine[key] - theirs[key]).max() / np.abs(theirs[key]).max():.2f} % of its largest")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.5, sys.argv[2:] or list(RUNS))
