"""What the HMMWV costs: 14 bodies with stiff bushings over a bump, 50 bodies coasting.

    python benchmarks/cars.py [--model hmmwv14] [--methods hht-i3,rosenbrock4] [--tolerances 1e-3,1e-4] [--repeats 3]

`hmmwv14` runs for 2 s, `hmmwv50` for 10 s; explicit methods, which the bushings hold to steps of microseconds, for
0.02 s and 0.1 s. `cpu_per_s` is the CPU time for one simulated second; `error` the largest error of the height of the
chassis at intervals of 10 ms (hmmwv50: 100 ms), in mm, against hht-i3 at a hundredth of the smallest tolerance.
"""

import argparse

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

SPANS = {"hmmwv14": 2.0, "hmmwv50": 10.0}
INTERVALS = {"hmmwv14": 0.01, "hmmwv50": 0.1}
BUMPS = {"hmmwv14": (0.5, 0.51, 1.24, 1.25), "hmmwv50": ()}  # when wheels meet the bump and are on it [s]
SHORT = 0.02
METHODS = {
    "hmmwv14": "hht-i3,bdf-i3,statespace-trapezoidal,descriptor-trapezoidal,descriptor-sdirk4,firstorder-sdirk4,"
    "rosenbrock4,dopri5,adams",
    "hmmwv50": "hht-i3,generalized-alpha,bdf-i3,al-index3,adams",
}


def simulate(name, model, method, rtol, end):
    """One run."""
    times = np.linspace(0.0, end, round(end / INTERVALS[name]) + 1)
    settings = {"discontinuities": BUMPS[name], "progress": False, "on_failure": "raise"}
    return ix.simulate(model, (0.0, end), method, rtol=rtol, t_eval=times, **settings)


def run(name, model, method, rtol, heights, repeats):
    """One row of the table."""
    explicit = not ix.METHODS[method].implicit
    end = max(SHORT, INTERVALS[name]) if explicit else SPANS[name]
    cpu, result = best(lambda: simulate(name, model, method, rtol, end), 1 if explicit else repeats)
    height = result["chassis"].position[:, 2]
    return {
        "method": method,
        "rtol": rtol,
        "span": end,
        "steps": result.stats["steps"],
        "rejected": result.stats["rejected"],
        "cpu_ms": 1e3 * cpu,
        "cpu_per_s": cpu / end,
        "error": 1e3 * float(np.abs(height - heights[: len(height)]).max()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=list(SPANS), default="hmmwv14")
    parser.add_argument("--methods", help="keys of methods, with commas between them")
    parser.add_argument("--tolerances", default="1e-2,1e-3,1e-4,1e-5")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    methods = (options.methods or METHODS[options.model]).split(",")
    tolerances = [float(rtol) for rtol in options.tolerances.split(",")]
    name, model = options.model, getattr(ix.library, options.model)()
    reference = simulate(name, model, "hht-i3", 0.01 * min(tolerances), SPANS[name])
    heights = reference["chassis"].position[:, 2]
    rows = [run(name, model, method, rtol, heights, options.repeats) for method in methods for rtol in tolerances]
    print_table(rows, ["method", "rtol", "span", "steps", "rejected", "cpu_ms", "cpu_per_s", "error"])
    print_json("cars", rows, model=name)


if __name__ == "__main__":
    main()
