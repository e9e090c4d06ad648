"""What lines of output cost: placed on the constraints, then completed by accelerations, reactions and energies.

    python benchmarks/lines.py [--models hmmwv14,hmmwv50] [--repeats 5]

Lines of a run by hht-i3 with rtol 1e-3 are taken as the method interpolates them. `place_us` and `complete_us` are the
CPU time per line, `factorisations` and `solutions` what a line needs on average to be placed.
"""

import argparse
import functools

import numpy as np
from timing import best, print_json, print_table

import index3 as ix
from index3.engine.equations import Equations
from index3.methods import projection_kernels
from index3.methods.output import Output

MODELS = {
    "hmmwv14": (ix.library.hmmwv14, 4.0, 401),
    "hmmwv50": (ix.library.hmmwv50, 10.0, 1001),
    "andrews": (ix.library.andrews, 0.05, 501),
    "chain": (functools.partial(ix.library.chain, 50), 1.0, 101),
}
WRITTEN = ("t", "q", "v", "a", "lam", "angle", "work")


def run(name, repeats):
    """One row of the table."""
    build, end, count = MODELS[name]
    model, times = build(), np.linspace(0.0, end, count)
    result = ix.simulate(model, (0.0, end), "hht-i3", rtol=1e-3, t_eval=times, progress=False, project=False)
    equations = Equations(model, "benchmark")
    equations.assemble()
    projection, columns = equations.projection, {key: result.arrays[key] for key in WRITTEN}

    def place():
        output = Output(projection.sizes, count)
        output.add(columns)
        projection.table[projection_kernels.REPORT][:] = 0
        error = projection.place_lines(output, 0, count, True)[1]
        if error is not None:
            raise error
        return output, projection.table[projection_kernels.REPORT].copy()

    placing, (_, report) = best(place, repeats)
    both, _ = best(lambda: projection.completion.fill(place()[0], 0, count, check=True), repeats)
    return {
        "model": name,
        "lines": count,
        "place_us": 1e6 * placing / count,
        "complete_us": 1e6 * (both - placing) / count,
        "factorisations": report[projection_kernels.N_LINE_FACTOR] / count,
        "solutions": report[projection_kernels.N_LINE_SOLVE] / count,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = [run(name, options.repeats) for name in options.models.split(",")]
    print_table(rows, ["model", "lines", "place_us", "complete_us", "factorisations", "solutions"])
    print_json("lines", rows)


if __name__ == "__main__":
    main()
