"""Does the audit cry wolf, and what does it cost? Library models by every method that takes them.

usage: python benchmarks/audit.py [--rtol 1e-6] [--span 10] [--models pendulum,four_bar] [--methods radau5] [--cost]

Prints one line per model and method: gain of energy, bound, margin and whether anything was out of bounds; with --cost
also the CPU of the run with and without the audit (least of three). Runs stop at `MOST_STEPS`.
"""

from __future__ import annotations

import argparse
import time
import warnings

import index3 as ix

MOST_STEPS = 100_000
SPANS = {"andrews": 0.03}
"""Models with a span of their own [s]."""


def models() -> dict:
    """The models of the library with their defaults."""
    names = [name for name in dir(ix.library) if not name.startswith("_")]
    found = {}
    for name in names:
        make = getattr(ix.library, name)
        if callable(make) and getattr(make, "__module__", "").startswith("index3.library"):
            try:
                model = make()
            except TypeError:
                continue
            if isinstance(model, ix.Model):
                found[name] = make
    return found


def cpu(model: ix.Model, method: str, span: float, rtol: float, audit: str) -> float:
    """CPU of the steps of a run, least of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        ix.simulate(model, (0.0, span), method, rtol=rtol, t_eval=[0.0, span], audit=audit, max_steps=MOST_STEPS,
                    progress=False)  # fmt: skip
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--span", type=float, default=10.0)
    parser.add_argument("--models", default="")
    parser.add_argument("--methods", default="")
    parser.add_argument("--cost", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    known, wolves = models(), 0
    for name in given.models.split(",") if given.models else known:
        for method in given.methods.split(",") if given.methods else ["auto", *ix.METHODS]:
            model, span = known[name](), min(given.span, SPANS.get(name, given.span))
            try:
                result = ix.simulate(model, (0.0, span), method, rtol=given.rtol, t_eval=span / 100.0,
                                     max_steps=MOST_STEPS, progress=False)  # fmt: skip
            except ix.Index3Error as error:
                print(f"{name:<22}{method:<24}refused: {str(error)[:80]}", flush=True)
                continue
            check = result.audit["energy"]
            out = [x.name for x in result.audit.checks if not x.ok]
            wolves += bool(out)
            line = f"{name:<22}{method:<24}{check.value:>11.3g} J of {check.bound:<11.3g} margin {check.margin:<9.2g}"
            if given.cost:
                without, with_it = (cpu(model, method, span, given.rtol, x) for x in ("off", "fail"))
                line += f" CPU {1e3 * without:.1f} -> {1e3 * with_it:.1f} ms"
            state = "" if result.success else f"  {result.message[:90]}"
            print(line + (f"  OUT OF BOUNDS: {', '.join(out)}" if out else "") + state, flush=True)
    print(f"{wolves} pairs out of bounds")


if __name__ == "__main__":
    main()
