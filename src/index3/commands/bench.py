"""`index3 bench`: how long runs take on this machine, set-up, steps and output apart."""

from __future__ import annotations

import gc
import json
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from index3.commands.common import DebugOption, clean_errors
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.results.result import Result

WORK: tuple[tuple[str, dict[str, Any], float, str, dict[str, Any]], ...] = (
    ("andrews", {}, 0.03, "dopri5", {"rtol": 1e-6, "t_eval": [0.03]}),
    ("double_pendulum", {}, 2.0, "radau5", {"rtol": 1e-5, "t_eval": [2.0]}),
    ("chain", {"n": 50}, 1.0, "dopri5", {"rtol": 1e-5, "t_eval": [1.0]}),
    ("chain", {"n": 50}, 1.0, "hht-i3", {"rtol": 1e-5, "t_eval": 0.01}),
    ("hmmwv14", {}, 4.0, "hht-i3", {"rtol": 1e-3, "t_eval": 0.01}),
    ("ancf_pendulum", {}, 1.0, "bdf-i3", {"rtol": 1e-4, "t_eval": 0.01}),
)
"""Mechanism of the library, its parameters, end of the run [s], method, settings."""
PARTS = ("setup", "steps", "output")


def bench(
    rounds: Annotated[int, typer.Option(help="How often each run is repeated; the smallest time counts.")] = 5,
    file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the figures, too.")] = None,
    debug: DebugOption = False,
) -> None:
    """Measure some runs on this machine: CPU time of set-up, steps and output, smallest of several rounds."""
    with clean_errors(debug):
        if rounds < 1:
            raise ModelError(f"--rounds {rounds}: give at least 1.")
        if file is not None and not file.parent.is_dir():
            raise ModelError(f"The folder {str(file.parent)!r} for {file.name!r} does not exist. Make it first.")
        typer.echo(f"{'mechanism':<18}{'method':<10}{'steps':>7}{'total ms':>10}{'set-up':>9}{'steps':>9}{'output':>9}")
        rows = []
        for work in WORK:
            rows.append(measured(work, rounds))
            row = rows[-1]
            times = "".join(
                f"{row[part]:>{width}.2f}" for part, width in zip(("total", *PARTS), (10, 9, 9, 9), strict=True)
            )
            typer.echo(f"{row['mechanism']:<18}{row['method']:<10}{row['count']:>7}{times}")
        if file is not None:
            machine = {"machine": platform.machine(), "python": platform.python_version()}
            file.write_text(json.dumps({**machine, "milliseconds": rows}, indent=1) + "\n", "utf-8")
            typer.echo(f"wrote {file}")


def measured(work: tuple[str, dict[str, Any], float, str, dict[str, Any]], rounds: int) -> dict[str, Any]:
    """The smallest CPU times of a run [ms], after one that loads what is needed."""
    from index3 import library
    from index3.analysis.simulate import simulate

    name, parameters, end, method, settings = work

    def run() -> tuple[float, Result]:
        model = getattr(library, name)(**parameters)  # made anew: nothing compiled for it is kept
        gc.collect()
        start = time.process_time()
        result = simulate(model, (0.0, end), method, progress=False, on_failure="raise", **settings)
        return time.process_time() - start, result

    run()
    total, result = min((run() for _ in range(rounds)), key=lambda one: one[0])
    label = " ".join([name, *(str(value) for value in parameters.values())])
    parts = {part: 1e3 * result.stats[f"seconds_{part}"] for part in PARTS}
    return {"mechanism": label, "method": method, "count": result.stats["steps"], "total": 1e3 * total, **parts}
