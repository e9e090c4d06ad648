"""TLISMNI, explicit Adams and HHT on the HMMWV with 50 bodies, by bushing stiffness, tolerance and outer iterations.

    python benchmarks/tlismni_car.py [--span 0.02] [--stiff-span 0.002]

The experiments of the TLISMNI/Adams paper on its vehicle (Tables 9 and 10, and the stiff bushings), on a car with the
printed masses, springs and counts, but other hard points, curves and tyres. Work is counted in evaluations of the
accelerations. Tables: tolerance (soft bushings, rtol 1e-5 ... 1e-7), outer iterations (n_it = 1 ... 5), stiff (2e11
N/m, damping 1e3 and 1e5 N s/m).
"""

import argparse

from timing import print_json, print_table

import index3 as ix

TLISMNI = ("tlismni-adams3", "tlismni-adams4", "tlismni-trapezoidal")
COLUMNS = ("table", "method", "rtol", "n_it", "damping", "steps", "rejected", "newton_failed", "evaluations", "cpu_ms")


def measure(table, model, key, span, rtol=1e-5, n_it=None, damping=1e3):
    """One run as a row."""
    options = {} if n_it is None else {"max_outer": n_it}
    settings = {"t_eval": [0.0, span], "max_steps": 50_000, "progress": False, "on_failure": "raise"}
    stats = ix.simulate(model, (0.0, span), key, rtol=rtol, **settings, **options).stats
    row = {"table": table, "method": key, "rtol": rtol, "n_it": n_it, "damping": damping}
    return row | {name: stats[name] for name in COLUMNS[5:9]} | {"cpu_ms": 1e3 * stats["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--span", type=float, default=0.02, help="time simulated with soft bushings, s")
    parser.add_argument("--stiff-span", type=float, default=0.002, help="the same with stiff ones, s")
    options = parser.parse_args()
    car, rows = ix.library.hmmwv50(), []
    for rtol in (1e-5, 1e-6, 1e-7):
        rows += [measure("tolerance", car, key, options.span, rtol) for key in ("adams", *TLISMNI)]
    for n_it in range(1, 6):
        rows += [measure("outer iterations", car, key, options.span, n_it=n_it) for key in TLISMNI]
    for damping in (1e3, 1e5):
        stiff = ix.library.hmmwv50(bushing_stiffness=2e11, bushing_damping=damping)
        keys = ("adams", *TLISMNI, "hht-i3")
        rows += [measure("stiff", stiff, key, options.stiff_span, damping=damping) for key in keys]
    print_table(rows, COLUMNS)
    print_json("tlismni_car", rows)


if __name__ == "__main__":
    main()
