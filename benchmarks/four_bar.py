"""Energy balance, residuals and cost of the spatial four-bar against the tolerance.

    python benchmarks/four_bar.py [--method hht-i3] [--repeats 3]

Model: `index3.library.four_bar()`, 5 s, one method with its defaults apart from rtol. `energy` is the largest change
of the energy balance as a fraction of the largest kinetic energy, `fall` by how much it fell since the row above;
`position`, `velocity` and `acceleration` are the largest scaled constraint residuals at the output points.
"""

import argparse
import itertools

import numpy as np
from timing import best, print_json, print_table

import index3 as ix


def run(method, rtol, repeats):
    """One row of the table."""
    model, settings = ix.library.four_bar(), {"rtol": rtol, "t_eval": 0.01, "progress": False}
    cpu, result = best(lambda: ix.simulate(model, (0.0, 5.0), method, **settings), repeats)
    if not result.success:
        raise SystemExit(f"four_bar by {method} at rtol {rtol:g}: {result.message}")
    residual = result.violation.scaled
    return {
        "rtol": rtol,
        "energy": float(np.ptp(result.energy.balance) / np.max(result.energy.kinetic)),
        "position": float(np.max(residual.position)),
        "velocity": float(np.max(residual.velocity)),
        "acceleration": float(np.max(residual.acceleration)),
        "steps": result.stats["steps"],
        "cpu_ms": 1e3 * cpu,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=["auto", *ix.METHODS], default="hht-i3")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = [run(options.method, rtol, options.repeats) for rtol in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)]
    for looser, row in itertools.pairwise(rows):
        row["fall"] = looser["energy"] / row["energy"]
    print_table(rows, ["rtol", "energy", "fall", "position", "velocity", "acceleration", "steps", "cpu_ms"])
    print_json("four_bar", rows, method=options.method)


if __name__ == "__main__":
    main()
