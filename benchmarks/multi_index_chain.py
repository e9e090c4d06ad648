"""What steps by the energy invariant save on chains of growing length.

    python benchmarks/multi_index_chain.py [--span 1.0] [--links 2,10,50] [--rtol 1e-5]

A claim of the multi-index augmented Lagrangian paper: the gain over constant steps grows with the size of the system.
`gain` is the work (evaluations of the forces) of al-index3 with as many equal steps, brought to the energy error of the
variable run by the square of the step, over the work of multi-index. `real_time` is simulated over CPU time.
"""

import argparse

import numpy as np
from timing import print_json, print_table

import index3 as ix

COLUMNS = ("links", "steps", "rejected", "switches", "evaluations", "drift", "drift_fixed", "gain", "real_time")


def drift(result):
    """Largest change of the energy invariant."""
    return float(np.abs(result.energy.balance - result.energy.balance[0]).max())


def measure(links, span, rtol):
    """One row of the table."""
    model = ix.library.chain(links)
    settings = {"t_eval": span / 200, "progress": False, "on_failure": "raise"}
    ix.simulate(model, (0.0, 1e-3), "multi-index", progress=False)  # so that no kernel is built while time is taken
    variable = ix.simulate(model, (0.0, span), "multi-index", rtol=rtol, **settings)
    stats = variable.stats
    fixed = ix.simulate(model, (0.0, span), "al-index3", step=span / stats["steps"], **settings)
    work = fixed.stats["evaluations"] * np.sqrt(drift(fixed) / drift(variable))
    row = {name: stats[name] for name in COLUMNS[1:5]}
    row |= {"links": links, "drift": drift(variable), "drift_fixed": drift(fixed)}
    return row | {"gain": float(work / stats["evaluations"]), "real_time": span / stats["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--span", type=float, default=1.0, help="time simulated, s")
    parser.add_argument("--links", default="2,10,50")
    parser.add_argument("--rtol", type=float, default=1e-5)
    options = parser.parse_args()
    rows = [measure(int(n), options.span, options.rtol) for n in options.links.split(",")]
    print_table(rows, COLUMNS)
    print_json("multi_index_chain", rows)


if __name__ == "__main__":
    main()
