"""Three masses on springs with TLISMNI: who damps, who fails, and what outer iterations cost.

    python benchmarks/mass_spring.py [--span 0.2] [--stiffest]

The experiment of the TLISMNI/Adams paper (section 6.1), by its own step control (`controller="paper"`) and by the
truncation error (`controller="error"`). `amplitude` is that of a mass at the end over the one at the start: 1 is
exact, below 1 damped, above 1 grown. Work is counted in evaluations of the accelerations, beside CPU time; a run that
needs more than 50000 steps, 25 times those of the reference, counts as failed. Tables:

- tolerance: equal springs of 1e6 N/m, rtol 1e-4 and 1e-7 (Table 1, Figs. 3 and 4 of the paper);
- first step: 1e-3 and 1e-5 s (Table 2);
- outer iterations: n_it = 1 ... 5 (Table 3);
- stiff: springs of 1e6, 1e8, 1e8 N/m over a tenth of the span (Figs. 5 ff.); with --stiffest the third one has
  1e12 N/m, over 1/10000 of the span;
- contraction: largest h omega at which constant steps converge, found by bisection.

Methods beside TLISMNI: `adams` (the paper's explicit comparison) where it exists, and `hht-i3`, which damps by design.
"""

import argparse

import numpy as np
from timing import print_json, print_table

import index3 as ix

TLISMNI = ("tlismni-trapezoidal", "tlismni-adams3", "tlismni-adams4", "tlismni-hht", "tlismni-bdf2")
OTHERS = tuple(key for key in ("adams", "hht-i3") if key in ix.METHODS)
COLUMNS = ("method", "controller", "rtol", "first_step", "n_it", "amplitude1", "amplitude2", "amplitude3")
COUNTS = ("steps", "rejected", "newton_failed", "evaluations", "h_omega", "cpu_ms")


def measure(key, span, stiffness=(1e6, 1e6, 1e6), rtol=1e-6, first_step=None, limit=50_000, **options):
    """One run as a row of the table."""
    if key not in TLISMNI:
        options = {}
    settings = {"rtol": rtol, "t_eval": [span], "first_step": first_step, "max_steps": limit, "progress": False}
    result = ix.simulate(ix.library.mass_spring(k=stiffness), (0.0, span), key, **settings, **options)
    row = {"method": key, "rtol": rtol, "first_step": first_step, "n_it": options.get("max_outer")}
    row |= {"controller": options.get("controller"), "cpu_ms": 1e3 * result.stats["seconds"]}
    row |= {name: result.stats[name] for name in COUNTS[:4]}
    if not result.success:
        return row | {f"amplitude{i}": "failed" for i in (1, 2, 3)}
    row["h_omega"] = span / result.stats["steps"] * max(stiffness) ** 0.5
    for i, k in enumerate(stiffness, start=1):
        mass = result[f"mass{i}"]
        amplitude = np.hypot(mass.position[-1, 0], mass.velocity[-1, 0] / k**0.5) / 0.01
        row[f"amplitude{i}"] = f"{amplitude:.5f}"
    return row


def tolerance(span):
    """Equal springs against rtol."""
    rows = []
    for rtol in (1e-4, 1e-6, 1e-7):
        for controller in ("paper", "error"):
            rows += [measure(key, span, rtol=rtol, first_step=1e-4, controller=controller) for key in TLISMNI]
        rows += [measure(key, span, rtol=rtol, first_step=1e-4) for key in OTHERS]
    return rows


def first_step(span):
    """Equal springs against the first step."""
    cases = [(h, c, key) for h in (1e-3, 1e-5) for c in ("paper", "error") for key in TLISMNI[:3]]
    return [measure(key, span, first_step=h, controller=c) for h, c, key in cases]


def outer_iterations(span):
    """Equal springs against n_it."""
    cases = [(c, key, n) for c in ("paper", "error") for key in TLISMNI[:3] for n in range(1, 6)]
    return [measure(key, span, first_step=1e-4, max_outer=n, controller=c) for c, key, n in cases]


def stiff(span, stiffness):
    """Springs far apart."""
    rows = []
    for rtol in (1e-4, 1e-6):
        for controller in ("paper", "error"):
            rows += [measure(key, span, stiffness, rtol, 1e-4, controller=controller) for key in TLISMNI]
        rows += [measure(key, span, stiffness, rtol) for key in OTHERS]
    return rows


def contraction(key, expected):
    """Largest h omega at which ten constant steps on springs of 1e6 N/m converge, within 0.1 %.

    Few steps and a small displacement: Adams' formulas amplify at such steps, until a spring turns over.
    """
    low, high = 0.5 * expected, 1.5 * expected
    model = ix.library.mass_spring(displacement=1e-5)
    while high - low > 1e-3 * expected:
        h_omega = 0.5 * (low + high)
        h = 1e-3 * h_omega
        result = ix.simulate(model, (0.0, 10 * h), key, step=h, max_outer=20_000, newton_tol=1e-9, progress=False)
        low, high = (h_omega, high) if result.success else (low, h_omega)
    return {"method": key, "limit": 0.5 * (low + high), "theory": expected}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--span", type=float, default=0.2, help="time simulated, s (the paper's figures: 0.2)")
    parser.add_argument("--stiffest", action="store_true", help="also a spring of 1e12 N/m, over span/10000")
    options = parser.parse_args()
    for key in TLISMNI[:1] + OTHERS:  # so that no kernel is built while time is taken
        measure(key, 1e-3)
    tables = {
        "tolerance": tolerance(options.span),
        "first step": first_step(options.span),
        "outer iterations": outer_iterations(options.span),
        "stiff": stiff(options.span / 10, (1e6, 1e8, 1e8)),
    }
    if options.stiffest:
        tables["stiffest"] = stiff(options.span / 10_000, (1e6, 1e8, 1e12))
    for name, rows in tables.items():
        print(name)
        print_table(rows, COLUMNS + COUNTS)
    limits = zip(TLISMNI, (2.0, 2.4, 8 / 3, (0.3025 * 0.9) ** -0.5, 1.5), strict=True)
    tables["contraction"] = [contraction(key, expected) for key, expected in limits]
    print("contraction")
    print_table(tables["contraction"], ("method", "limit", "theory"))
    print_json("mass_spring", [{"table": name, **row} for name, rows in tables.items() for row in rows])


if __name__ == "__main__":
    main()
