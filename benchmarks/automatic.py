"""Does `method="auto"` choose well? Its cost at the error it makes, against each of its candidates at the same error.

    python benchmarks/automatic.py [--models andrews,hmmwv14] [--tolerances 1e-3,1e-4,1e-6] [--repeats 3]

A run of `auto` at each tolerance gives CPU time and error: the largest difference of a coordinate from the reference,
over its largest size, at 51 times. Each candidate is run at half a decade of rtol after the other; its CPU time at
auto's error is interpolated (log-log; a candidate that is more accurate at the loosest rtol counts with that run).
`ratio` is auto's time over the least of these, `best` the candidate that has it.
"""

import argparse

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

SPANS = {
    "pendulum": 2.0, "double_pendulum": 2.0, "four_bar": 2.0, "slider_crank": 1.0, "andrews": 0.05, "chain": 1.0,
    "free_double_pendulum": 2.0, "mass_spring": 1.0, "spinning_top": 1.0, "iltis": 1.0, "parallelogram": 1.0,
    "hmmwv14": 2.0, "hmmwv50": 2.0,
}  # fmt: skip
OPTIONS = {"hmmwv14": {"stiff": True}, "chain": {"n": 10}}
STOPS = {"hmmwv14": (0.5, 0.51, 1.24, 1.25)}
REFERENCE = {"hmmwv14": ("radau5", 1e-8), "hmmwv50": ("radau5", 1e-8)}
CANDIDATES = ("dopri5", "dop853", "radau5", "hht-i3")
GRID = tuple(10.0 ** (-k / 2) for k in range(4, 17))
SLOW = 100
"""A candidate that has taken this many times auto's CPU time is not the best one: it is given up."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(SPANS))
    parser.add_argument("--tolerances", default="1e-3,1e-4,1e-6")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    rows = [row for name in given.models.split(",") for row in of_model(name, given)]
    columns = ("model", "rtol", "auto", "error", "cpu_ms", "best", "best_ms", "ratio")
    print_table(rows, columns)
    print_json("automatic", rows)


def of_model(name, given):
    """The rows of one model."""
    model, end = getattr(ix.library, name)(**OPTIONS.get(name, {})), SPANS[name]
    times = np.linspace(0.0, end, 51)

    def run(method, rtol, most=10**6):
        settings = {"discontinuities": STOPS.get(name, ()), "progress": False, "max_steps": most}
        return ix.simulate(model, (0.0, end), method, rtol=rtol, t_eval=times, on_failure="return", **settings)

    exact = run(*REFERENCE.get(name, ("dop853", 1e-12))).q
    size = np.maximum(np.abs(exact).max(axis=0), 1e-3)

    def measured(method, rtol, most=10**6):
        """(CPU time, error) of a run; None if it did not get to the end."""
        if not run(method, rtol, most).success:
            return None
        cpu, result = best(lambda: run(method, rtol), given.repeats)
        return cpu, float((np.abs(result.q - exact) / size).max())

    curves = {method: curve(method, measured, run("hht-i3", 1e-3).stats["steps"]) for method in CANDIDATES}
    for rtol in map(float, given.tolerances.split(",")):
        cpu, error = measured("auto", rtol)
        costs = {method: at_error(points, error) for method, points in curves.items()}
        least = min((cost, method) for method, cost in costs.items() if cost is not None)
        row = {"model": name, "rtol": rtol, "auto": run("auto", rtol).method, "error": error, "cpu_ms": 1e3 * cpu}
        row |= {"best": least[1], "best_ms": 1e3 * least[0], "ratio": cpu / least[0]}
        print(row, flush=True)
        yield row


def curve(method, measured, steps):
    """(CPU time, error) of a candidate over the grid of tolerances."""
    points = []
    for rtol in GRID:
        point = measured(method, rtol, SLOW * max(steps, 100))
        if point is None:
            break
        points.append(point)
    return points


def at_error(points, error):
    """CPU time at an error, None if no run was as accurate."""
    fine = [k for k, (_, e) in enumerate(points) if e <= error]
    if not fine:
        return None
    k = fine[0]
    if k == 0 or points[k - 1][1] <= points[k][1]:
        return points[k][0]
    (c0, e0), (c1, e1) = points[k - 1], points[k]
    part = np.log(e0 / error) / np.log(e0 / e1)
    return float(np.exp((1 - part) * np.log(c0) + part * np.log(c1)))


if __name__ == "__main__":
    main()
