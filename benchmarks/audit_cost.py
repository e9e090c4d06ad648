"""What do the audit and the account of work cost, and how good is that account? Models of the library by some methods.

usage: python benchmarks/audit_cost.py [--models iltis,hmmwv14] [--methods bdf-i3,radau5] [--rtol 1e-6] [--steps 400]
                                       [--repeats 7] [--quality]

One line per model and method: CPU of a prepared run (start, steps and two lines of output) and of its steps; the parts
of the run that are the audit (bound: 3 %) and the integral of the power (bound: 10 %), and the latter as a part of the
steps; evaluations of forces for that integral per step (bound: 1). All runs of a line
take the same steps, which is checked. With --quality also the error of the work against fine quadrature of the power
along the same dense output, in rtol times the integral of |power| (bound: 10), and the error that the run states, in
the same unit. Runs end after --steps steps. CPU is the least of --repeats runs in turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import warnings
from functools import partial

import numpy as np

import index3 as ix
from index3.compiled import slots as s
from index3.engine.variants import Variant
from index3.methods import projection_kernels
from index3.system import evaluate

METHODS = ("hht-i3", "bdf-i3", "bdf-si2", "radau5", "dopri5", "dop853", "adams", "tlismni-bdf2", "descriptor-sdirk4")
KINDS = {"bare": ("off", False), "work": ("off", True), "audit": ("fail", True)}
"""What a run watches: the setting `audit`, and whether work is added up."""

ROUNDING = 1e-9
"""Integral of |power| that is nothing beside the kinetic energy: a car that rolls evenly."""


def runs(model: ix.Model, method: str, rtol: float, steps: int, span: float, repeats: int) -> dict[str, ix.Result]:
    """The run of least CPU of each kind."""
    simulation = ix.prepare(model, method, rtol=rtol, progress=False, max_steps=steps)
    system = simulation.compile()
    works, best = not system.conservative, {}
    for _ in range(repeats):
        for kind, (audit, tracks) in KINDS.items():
            object.__setattr__(system, "conservative", not (works and tracks))
            result = simulation.run((0.0, span), t_eval=[0.0, span], audit=audit)
            if kind not in best or result.stats["seconds_steps"] < best[kind].stats["seconds_steps"]:
                best[kind] = result
    object.__setattr__(system, "conservative", not works)
    return best


def fine_work(model: ix.Model, result: ix.Result, parts: int = 2) -> tuple[float, float]:
    """Integrals of the power and of its magnitude: Gauss's rule of five points in each part of each step."""
    simulation = ix.prepare(model, "hht-i3")
    variant = Variant(simulation.model, partial(simulation.compile, simulation.model), linear=simulation.linear)
    variant.close(0.0, variant.start(None, 0.0))
    x, w = np.polynomial.legendre.leggauss(5)
    edges = [np.linspace(a, b, parts + 1)[:-1] for a, b in itertools.pairwise(result.sol.t)]
    edges = np.append(np.concatenate(edges), result.sol.t[-1])
    half, work, size = 0.5 * np.diff(edges), 0.0, 0.0
    for middle, h in zip(edges[:-1] + half, half, strict=True):
        for place, weight in zip(x, w, strict=True):
            variant.state.move(middle + h * place, *result.sol(middle + h * place))
            if variant.system.reactions_work:
                projection_kernels.assemble_accelerations(variant.state.handle, variant.projection.handle)
            variant.state.run(evaluate.forces, evaluate.energy)
            power = float(variant.state[s.ENERGY][s.POWER])
            work += h * weight * power
            size += h * weight * abs(power)
    return work, size


def quality(model: ix.Model, method: str, rtol: float, steps: int, span: float) -> str:
    """Error of the work and the error stated, in rtol times the integral of |power|."""
    result = ix.simulate(model, (0.0, span), method, rtol=rtol, progress=False, max_steps=steps, dense_output=True)
    exact, size = fine_work(model, result)
    if size <= ROUNDING * np.max(result.energy.kinetic):
        return "   no work"
    error, stated = abs(result.energy.work[-1] - exact), result.energy.work_error
    return f"{error / (rtol * size):10.2g}{stated / (rtol * size):10.2g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--span", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quality", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'model':<22}{'method':<22}{'run ms':>9}{'steps ms':>9}{'audit %':>9}{'work %':>9}{'of steps':>9}"
        f"{'per step':>9}{'error':>10}{'stated':>10}"
    )
    worst = {"audit": 0.0, "work": 0.0}
    for name in given.models.split(",") if given.models else ix.library.names():
        make = getattr(ix.library, name)
        for method in given.methods.split(","):
            model = make(5) if name == "chain" else make()
            try:
                found = runs(model, method, given.rtol, given.steps, given.span, given.repeats)
            except ix.Index3Error as error:
                print(f"{name:<22}{method:<22}refused: {str(error)[:60]}", flush=True)
                continue
            ms = {kind: 1e3 * result.stats["seconds_steps"] for kind, result in found.items()}
            same = len({result.stats["steps"] for result in found.values()}) == 1
            stats = found["audit"].stats
            whole = 1e3 * sum(stats[f"seconds_{part}"] for part in ("setup", "steps", "output"))
            parts = {"audit": (ms["audit"] - ms["work"]) / whole, "work": (ms["work"] - ms["bare"]) / whole}
            line = f"{name:<22}{method:<22}{whole:9.2f}{ms['audit']:9.2f}{100 * parts['audit']:9.1f}"
            line += f"{100 * parts['work']:9.1f}{100 * (1.0 - ms['bare'] / ms['work']):9.1f}"
            line += f"{stats['work_evaluations'] / max(stats['steps'], 1):9.2f}"
            if given.quality:
                line += quality(model, method, given.rtol, given.steps, given.span)
            print(line + ("" if same else "  other steps"), flush=True)
            worst = {key: max(worst[key], parts[key]) for key in worst}
    print(json.dumps({"machine": platform.processor() or platform.machine(), "largest_parts": worst}))


if __name__ == "__main__":
    main()
