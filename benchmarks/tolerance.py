"""Error against the tolerance, for every method on the models it is meant for.

    python benchmarks/tolerance.py [--methods hht-i3,adams] [--models andrews,chain]

Andrews' mechanism, the stiff double pendulum, a chain of four links; rtol 1e-3 to 1e-7, three samples a decade,
atol = rtol / 100. `slope` is the fitted exponent of the error against rtol, `promised` the least (and largest) of the
method's class, `spread` the largest factor by which an error leaves the fitted line; then error/rtol at each decade
and the steps at the first and last. Augmented-Lagrangian methods: error of the energy [J]. How errors are measured:
`tests/methods/tolerance_law.py`.
"""

import argparse
import sys
from pathlib import Path

from timing import print_json, print_table

import index3 as ix

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "methods"))
from tolerance_law import DECADES, MODELS, cases, measure, promised


def line(case):
    """One row of the table."""
    law, (least, largest) = measure(case), promised(case)
    method = " ".join([case.key, *(f"{name} {value}" for name, value in case.options.items())])
    row = {"method": method, "model": case.model, "slope": round(law.slope, 3), "spread": round(law.spread, 2)}
    row["promised"] = f"{least:.2f}" + (f"-{largest:.2f}" if largest < 10 else "")
    row["monotone"] = "yes" if law.monotone else "no"
    for decade, error in zip(DECADES, law.errors, strict=True):
        row[f"1e-{decade}"] = float(f"{error * 10.0**decade:.3g}")
    row["steps"] = f"{law.steps[0]}-{law.steps[-1]}"
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(ix.METHODS))
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    methods, models = options.methods.split(","), options.models.split(",")
    rows = [line(case) for case in cases() if case.key in methods and case.model in models]
    columns = ["method", "model", "slope", "promised", "spread", "monotone", *(f"1e-{d}" for d in DECADES), "steps"]
    print_table(rows, columns)
    print_json("tolerance", rows)


if __name__ == "__main__":
    main()
