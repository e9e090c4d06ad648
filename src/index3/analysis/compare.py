"""Work against precision: every method on one model, at several tolerances, with one reference."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from index3.analysis.simulate import simulate
from index3.engine.reasons import INTERRUPTED
from index3.engine.settings import check_model, check_span, listed
from index3.errors import Index3Error
from index3.methods.registry import METHODS, choose
from index3.model.model import Model
from index3.results.result import Result

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
REFERENCE = (("dop853", 1e-12), ("hht-i3", 1e-10))
"""Where a reference comes from, first choice first: method and rtol."""


@dataclass
class Comparison:
    """Rows of (method, rtol, error, seconds, counters); prints as a table, plots as a work-precision diagram.

    `error` is the RMS difference of all coordinates from the reference at the end, `seconds` CPU time of the stepping.
    `interrupted`: Ctrl-C came before the last of them.
    """

    model: str
    t_end: float
    reference: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False

    def __str__(self) -> str:
        lines = [
            f"model '{self.model}' to t = {self.t_end:g} s; reference: {self.reference}",
            f"{'method':<24}{'rtol':>8}{'error':>11}{'CPU ms':>10}{'steps':>9}{'rejected':>9}{'evals':>9}{'matrix':>8}",
        ]
        for row in self.rows:
            head = f"{row['method']:<24}{row['rtol']:>8.0e}"
            if row["failed"]:
                lines.append(f"{head}  {row['failed']}")
                continue
            numbers = f"{row['error']:>11.2e}{1e3 * row['seconds']:>10.2f}{row['steps']:>9}{row['rejected']:>9}"
            lines.append(f"{head}{numbers}{row['evaluations']:>9}{row['jacobians']:>8}")
        return "\n".join([*lines, "interrupted: these are the rows so far"] if self.interrupted else lines)

    def plot(self, path: str | None = None) -> Any:
        """CPU time against error, one line per method; saved if a path is given. Needs matplotlib."""
        from matplotlib import colormaps
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 6), layout="constrained")
        axes = figure.subplots()
        axes.set_prop_cycle(color=colormaps["tab20"](range(20)))
        marks = "osv^D<>pXP*h"
        for k, name in enumerate(dict.fromkeys(row["method"] for row in self.rows)):
            points = [(r["error"], r["seconds"]) for r in self.rows if r["method"] == name and not r["failed"]]
            if points:
                error, seconds = np.array(sorted(points)).T
                axes.loglog(error, 1e3 * seconds, marker=marks[k % len(marks)], label=name)
        axes.invert_xaxis()
        axes.set(xlabel=f"error at t = {self.t_end:g} s (RMS of coordinates)", ylabel="CPU time [ms]")
        axes.set_title(f"{self.model}: work and precision", loc="left", fontweight="bold")
        axes.grid(which="both", alpha=0.25)
        if axes.lines:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure


def compare(
    model: Model,
    t_end: float,
    methods: Iterable[str] | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    *,
    repeats: int = 2,
    budget: float = 10.0,
) -> Comparison:
    """Run methods on a model at several tolerances and measure error and CPU time.

    Parameters
    ----------
    model : Model
    t_end : end of the run [s], from t = 0
    methods : keys; all of `index3.METHODS` by default
    repeats : runs per point; the smallest time counts
    budget : a method is not run at tighter tolerances once a run took longer than this [s]

    A method that rejects the model or fails has a row that says why. Ctrl-C returns the rows so far.

    Raises
    ------
    ModelError : there is no such method, or an argument is wrong.
    KeyboardInterrupt : Ctrl-C came before there was a reference.
    """
    check_model(model, "compare")
    t_end = check_span((0.0, t_end), "compare")[1]
    keys = list(METHODS) if methods is None else listed(methods, "compare: methods =", "Give keys of index3.METHODS.")
    steps = listed(tolerances, "compare: tolerances =", "Give numbers such as (1e-3, 1e-6).")
    for key in keys:
        choose(key, {})
    exact, source = _reference(model, t_end)
    result = Comparison(model.name, t_end, source)
    try:
        for key in keys:
            for rtol in steps:
                row = _measure(model, t_end, key, rtol, exact, repeats)
                result.rows.append(row)
                if row["failed"] or row["seconds"] > budget:
                    break
    except KeyboardInterrupt:
        result.interrupted = True
    return result


def _run(model: Model, t_end: float, key: str, rtol: float) -> Result:
    """A run to the end; one that Ctrl-C ended is none."""
    run = simulate(model, (0.0, t_end), key, rtol=rtol, t_eval=[t_end], progress=False)
    if run.status == INTERRUPTED:
        raise KeyboardInterrupt
    return run


def _reference(model: Model, t_end: float) -> tuple[np.ndarray, str]:
    for key, rtol in REFERENCE:
        if key in METHODS:
            run = _run(model, t_end, key, rtol)
            if run.success:
                return run.q[-1], f"{key} at rtol {rtol:g}"
    raise Index3Error(f"No method gave a reference for model '{model.name}' to t = {t_end:g}.")


def _measure(model: Model, t_end: float, key: str, rtol: float, exact: np.ndarray, repeats: int) -> dict[str, Any]:
    row: dict[str, Any] = {"method": key, "rtol": rtol, "failed": ""}
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        try:
            run = _run(model, t_end, key, rtol)
        except Index3Error as error:
            return {**row, "failed": str(error), "seconds": 0.0}
        if not run.success:
            return {**row, "failed": run.message, "seconds": time.process_time() - start}
        seconds.append(run.stats["seconds"])
        if time.process_time() - start > 1.0:
            break
    distance = float(np.sqrt(np.mean((run.q[-1] - exact) ** 2)))
    counters = {name: run.stats[name] for name in ("steps", "rejected", "evaluations", "jacobians")}
    return {**row, "error": distance, "seconds": min(seconds), **counters}
