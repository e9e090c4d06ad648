"""The models of the paper on HHT-I3 by its own comparison: work of HHT-I3 and of BDF, and how far the runs agree.

    python benchmarks/paper_models.py belt [--methods hht-i3,bdf-i3,bdf-si2,bdf-si2:1] [--tolerances 1e-3,1e-4]
    python benchmarks/paper_models.py atv
    python benchmarks/paper_models.py track [--end 3] [--reference 1e-5] [--second bdf-i3@1e-5]

Methods are keys, with a fixed order after a colon if wanted. The reference is hht-i3 at `--reference`; `--second` names
another run at a tight tolerance, whose distance from the reference is printed first: errors below it mean nothing.
Errors are root mean squares of the difference over that of the reference, from the time on that is judged (belt: 20
ms, track: 0.5 s): of a position, a velocity, an acceleration and forces. Work is evaluations and factorisations; CPU
seconds are those of the step loop. A model is one entry in CASES: how it is made, its span, what is looked at.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from timing import print_json, print_table

import index3 as ix
from index3.library.belt_drive import CORNERS, belt_loop

COUNTS = ("steps", "rejected", "evaluations", "jacobians", "factorisations")


@dataclass(frozen=True)
class Case:
    """A model and what is looked at."""

    make: Callable[[], ix.Model]
    end: float
    judged_from: float
    interval: float
    outputs: Callable[[ix.Result], dict[str, np.ndarray]]
    tolerances: str = "1e-3,1e-4"
    reference: float = 1e-5


def belt_outputs(result: ix.Result) -> dict[str, np.ndarray]:
    """Angle and speed of the alternator, the x force of its axle, the tensions of the four free spans."""
    axle = result["alternator axle"]
    return {
        "angle": axle.angle,
        "angle_rate": axle.angle_rate,
        "axle_force": axle.force[:, 0],
        "tensions": span_tensions(result),
    }


def span_tensions(result: ix.Result) -> np.ndarray:
    """Tension in the middle of each free span (n_t, 4), from the two links next to it.

    Links are found by where they were on the pitch line at the start and how far the belt has gone since.
    """
    loop = belt_loop()
    names = [body["name"] for body in result.layout.bodies if body["name"].startswith("segment ")]
    count, each = len(names), loop.length / len(names)
    tension = np.column_stack([link_tension(result, k + 1) for k in range(count)])
    gone = belt_travel(result, names)
    middles = [start + 0.5 * length for start, length, _, _, curvature in loop.pieces if curvature == 0.0]
    out = np.empty((len(result.t), len(middles)))
    for m, middle in enumerate(middles):
        place = (middle - gone) / each - 1.0  # link k + 1 is at (k + 1) lengths from the start
        k = np.floor(place).astype(int)
        part, rows = place - k, np.arange(len(place))
        out[:, m] = (1 - part) * tension[rows, k % count] + part * tension[rows, (k + 1) % count]
    return out


def belt_travel(result: ix.Result, names: list[str]) -> np.ndarray:
    """How far the belt has gone [m]: the mean speed of its segments, added up."""
    speed = np.mean([np.linalg.norm(result[name].velocity, axis=1) for name in names], axis=0)
    return np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(result.t))])


def link_tension(result: ix.Result, k: int) -> np.ndarray:
    """Sum of the axial forces of the four points of a link."""
    forces = sum(result[f"link {k} {corner}"].force for corner in range(1, len(CORNERS) + 1))
    return np.linalg.norm(forces, axis=1)


def track_outputs(result: ix.Result) -> dict[str, np.ndarray]:
    """Place, velocity and acceleration of shoe 8, force of the tension spring, sum of the normal forces of the soil."""
    shoe = result["shoe 8"]
    return {
        "position": shoe.position,
        "velocity": shoe.velocity,
        "acceleration": shoe.acceleration,
        "yoke_force": result["tension spring"].tension,
        "soil_force": result["soil"].normal.sum(axis=1),
    }


def atv_outputs(result: ix.Result) -> dict[str, np.ndarray]:
    """What the paper looks at: a reaction, the pitch rate of the engine; and the frame's modes and stresses."""
    return {
        "reaction": result["right swing arm pivot"].force[:, 2],
        "pitch_rate": result["engine"].angular_velocity[:, 1],
        "modal": result["frame"].modal,
        "stress": result["frame"].stress(["BL", "CL"]),
    }


CASES = {
    "atv": Case(lambda: ix.library.atv(), 0.5, 0.0, 1e-3, atv_outputs, "1e-4,1e-5", 1e-8),
    "belt": Case(lambda: ix.library.belt_drive(), 0.05, 0.02, 1e-4, belt_outputs),
    "track": Case(lambda: ix.library.crawler_track(), 3.0, 0.5, 5e-3, track_outputs),
}
METHODS = "hht-i3,bdf-i3,bdf-si2,bdf-si2:1"


def run(case: Case, method: str, rtol: float, end: float) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Counters of one run, and its outputs from the time on that is judged."""
    key, _, order = method.partition(":")
    settings: dict[str, Any] = {"order": int(order)} if order else {}
    start = time.process_time()
    result = ix.simulate(
        case.make(), (0.0, end), key, rtol=rtol, t_eval=case.interval, progress=False, on_failure="return", **settings
    )
    row = {"method": method, "rtol": rtol, "end": float(result.t[-1])} | {c: result.stats[c] for c in COUNTS}
    row |= {"cpu": result.stats["seconds_steps"], "cpu_in_all": time.process_time() - start, "status": result.status}
    judged = result.t >= case.judged_from - 1e-12
    return row, {name: values[judged] for name, values in case.outputs(result).items()}


def difference(outputs: dict[str, np.ndarray], reference: dict[str, np.ndarray]) -> dict[str, float | None]:
    """Relative root mean squares; None for a run that ended early."""
    if any(outputs[name].shape != values.shape for name, values in reference.items()):
        return dict.fromkeys(reference)
    return {
        name: float(np.sqrt(np.mean((outputs[name] - values) ** 2) / np.mean(values**2)))
        for name, values in reference.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=list(CASES))
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--tolerances")
    parser.add_argument("--reference", type=float)
    parser.add_argument("--second", help="another tight run, such as bdf-i3@1e-5")
    parser.add_argument("--end", type=float)
    options = parser.parse_args()
    case = CASES[options.model]
    end, tight = options.end or case.end, options.reference or case.reference
    row, reference = run(case, "hht-i3", tight, end)
    rows = [row | {"of": "reference"}]
    print(json.dumps(rows[0]), flush=True)
    jobs = [options.second.split("@")] if options.second else []
    tolerances = (options.tolerances or case.tolerances).split(",")
    jobs += [[method, rtol] for rtol in tolerances for method in options.methods.split(",")]
    for method, rtol in jobs:
        row, outputs = run(case, method, float(rtol), end)
        rows.append(row | difference(outputs, reference))
        print(json.dumps(rows[-1]), flush=True)  # runs are long: what is measured is kept
    print_table(rows, ["method", "rtol", "end", *COUNTS, "cpu", *reference])
    print_json("paper_models", rows, model=options.model, end=end)


if __name__ == "__main__":
    main()
