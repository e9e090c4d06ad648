"""Many runs of a planar double pendulum with a changed mass: prepared once, against `simulate` of each changed model.

    python benchmarks/prepared.py [--runs 1000] [--repeats 3]

Both ways give the same results, which is checked to the last bit. The shorter the runs, the more their set-up counts:
spans of 0.01 s, 0.1 s and 1 s; also the same on a chain of 20 links. Figures are CPU milliseconds per run, smallest of
the repeats, and how many times faster the prepared runs are. `unchanged` are prepared runs without changes, `set-up`
is what `simulate` itself counts as such.
"""

import argparse

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

CASES = {
    "double pendulum": (ix.library.double_pendulum, "rod1"),
    "chain of 20": (lambda: ix.library.chain(20), "link1"),
}
COLUMNS = ("model", "span_s", "simulate_ms", "set_up_ms", "prepared_ms", "unchanged_ms", "faster", "identical")


def measure(name, span, runs, repeats):
    """One line of the table."""
    build, body = CASES[name]
    model, settings = build(), {"method": "hht-i3", "t_eval": np.linspace(0.0, span, 11), "progress": False}
    body = body if body in model.bodies else next(iter(model.bodies))
    masses = model[body].mass * (1.0 + np.arange(runs) / runs)
    prepared, other = ix.prepare(model, **settings), model.copy()

    def simulate(mass):
        other[body].mass = float(mass)  # each time another one: a model that is met again unchanged is not compiled
        return ix.simulate(other, (0.0, span), **settings)

    def plain():
        return [simulate(mass) for mass in masses]

    def changed():
        return [prepared.run((0.0, span), changes={f"{body}.mass": float(mass)}) for mass in masses]

    def unchanged():
        return [prepared.run((0.0, span)) for _ in masses]

    times, results = zip(*(best(way, repeats) for way in (plain, changed, unchanged)), strict=True)
    same = all(np.array_equal(a.q, b.q) and np.array_equal(a.lam, b.lam) for a, b in zip(*results[:2], strict=True))
    ms = [1e3 * cpu / runs for cpu in times]
    set_up = 1e3 * float(np.mean([run.stats["seconds_setup"] for run in results[0]]))
    values = (name, span, ms[0], set_up, ms[1], ms[2], ms[0] / ms[1], same)
    return dict(zip(COLUMNS, values, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = [measure("double pendulum", span, options.runs, options.repeats) for span in (0.01, 0.1, 1.0)]
    rows += [measure("chain of 20", span, max(1, options.runs // 20), options.repeats) for span in (0.01, 0.1)]
    print_table(rows, COLUMNS)
    print_json("prepared", rows)


if __name__ == "__main__":
    main()
