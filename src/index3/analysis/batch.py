"""Many runs of one prepared simulation in the threads of one process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from reprlib import repr as short
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.simulation import Simulation
from index3.engine.interrupts import interrupt_runs
from index3.engine.reasons import INTERRUPTED
from index3.engine.settings import check_span, listed
from index3.errors import Index3Error, ModelError
from index3.model.model import Model
from index3.results.result import Result

if TYPE_CHECKING:
    from xarray import Dataset

    from index3.user_types import Changes, InitialState

OWN = ("case", "status", "message", "seconds", "t", "time", "coordinate")
"""Names that the result has of its own."""


@dataclass
class Row:
    """What came of a case: "ok", "failed" (the run did) or "raised" (Python did), the reason, and what was measured."""

    status: str = "ok"
    message: str = ""
    seconds: float = 0.0
    measured: dict[str, np.ndarray] = field(default_factory=dict)


def batch(
    simulation: Simulation,
    changes: Sequence[Changes | None],
    t_span: tuple[float, float],
    *,
    initial: InitialState | Sequence[InitialState | None] | None = None,
    measure: Mapping[str, Callable[[Result], Any]] | None = None,
    workers: int | None = None,
    **settings: Any,
) -> Dataset:
    """Run a prepared simulation once for each of several changes, on all processors; returns an `xarray.Dataset`.

    The runs share the compiled structure and proceed in threads, since compiled loops release Python's lock. Each is
    identical, bit for bit, to that of `simulation.run`.

    Parameters
    ----------
    simulation : what `prepare` returned
    changes : a list of what `Simulation.run` takes: a dict such as {"coil.stiffness": 2e4}, a Model of the same
        structure, or None
    t_span : (t0, t1) [s] of every run
    initial : where to start, as in `simulate`, for all runs; or a list with one for each
    measure : {name: function of the Result}, which returns a number or an array of the same shape for every case. None:
        the state at the end, `t`, `q` and `v`; with `t_eval` the whole histories
    workers : number of threads, by default one for each processor
    settings : of `Simulation.run`: rtol, t_eval, ...

    Returns
    -------
    Dimension `case`; variables are what was measured (NaN where a run gave nothing), `status` ("ok", "failed": the run
    did, "raised": Python did), `message` and `seconds`. Ctrl-C ends the runs under way and leaves the others out;
    their rows say so.

    Raises
    ------
    ModelError : an argument is wrong. What is wrong with one case is in its row.

    >>> import index3 as ix
    >>> pendulum = ix.prepare(ix.library.pendulum(), rtol=1e-4)
    >>> found = ix.batch(pendulum, [{"rod.mass": 1.0}, {"rod.mass": -1.0}], (0.0, 0.2))
    >>> found.status.values.tolist(), found.q.dims
    (['ok', 'raised'], ('case', 'coordinate'))
    """
    cases = check_cases(simulation, changes)
    span = check_span(t_span, "batch")
    starts = check_starts(initial, len(cases))
    measures = own_measures(simulation, settings) if measure is None else check_measures(measure)
    simulation.run_settings(settings)
    count = check_workers(workers)

    rows = [Row("failed", "Interrupted before it began.") for _ in cases]

    def run(k: int) -> bool:
        """Put the row of a case in its place; whether others may follow."""
        rows[k], goes_on = case(simulation, cases[k], span, starts[k], measures, settings)
        return goes_on

    if count == 1 or len(cases) < 2:
        all(map(run, range(len(cases))))
    else:
        in_threads(run, len(cases), count)
    names = [] if measure is not None else simulation.coordinate_names
    return dataset(rows, measures, names)


@contextmanager
def threads_of(count: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """Threads for runs, which Ctrl-C ends as it does those of the main thread."""
    threads: list[Thread] = []
    pool = ThreadPoolExecutor(count, name, initializer=lambda: threads.append(current_thread()))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        while alive := {thread.ident for thread in threads if thread.is_alive()}:  # a run may be about to begin
            interrupt_runs(alive)
            time.sleep(0.02)
        raise
    finally:
        pool.shutdown()


def in_threads(run: Callable[[int], bool], cases: int, workers: int) -> None:
    """Call a function for each case; upon Ctrl-C those that run are ended and the others left out."""
    with suppress(KeyboardInterrupt), threads_of(workers, "index3-batch") as pool:
        wait([pool.submit(run, k) for k in range(cases)])


def case(
    simulation: Simulation, changes: Any, t_span: Any, initial: Any, measures: Mapping[str, Any], settings: Any
) -> tuple[Row, bool]:
    """One run and what was measured of it; and whether Ctrl-C did not end it."""
    start, row, goes_on = time.perf_counter(), Row(), True
    try:
        result = simulation.run(t_span, initial=initial, changes=changes, **settings)
        goes_on = result.status != INTERRUPTED
        if not result.success:
            row.status, row.message = "failed", result.message
        else:
            row.message = result.message
            row.measured = {name: np.asarray(function(result)) for name, function in measures.items()}
    except Index3Error as error:
        row.status, row.message = "raised", str(error)
    except Exception as error:  # of a user's function: one case must not take the others with it
        row.status, row.message = "raised", f"{type(error).__name__}: {error}"
    row.seconds = time.perf_counter() - start
    return row, goes_on


def own_measures(simulation: Simulation, settings: Mapping[str, Any]) -> dict[str, Callable[[Result], Any]]:
    """The state at the end, or the histories at given times."""
    if settings.get("t_eval", simulation.settings["t_eval"]) is None:
        return {
            "t": lambda result: result.t[-1],
            "q": lambda result: result.q[-1].copy(),
            "v": lambda result: result.v[-1].copy(),
        }
    return {"t": lambda result: result.t, "q": lambda result: result.q, "v": lambda result: result.v}


def check_cases(simulation: Any, changes: Any) -> list[Any]:
    """The cases as a list."""
    if not isinstance(simulation, Simulation):
        raise ModelError(f"batch: {simulation!r} is not a prepared simulation. Give what prepare(model) returns.")
    advice = "Give a list with a dict, a Model or None for each case."
    if isinstance(changes, Mapping | str | Model):
        raise ModelError(f"batch: changes is one case. {advice}")
    cases = listed(changes, "batch: changes =", advice)
    for k, one in enumerate(cases):
        if one is not None and not isinstance(one, Mapping | Model):
            raise ModelError(f"batch: case {k} is {short(one)}. Give a dict such as {{'coil.stiffness': 2e4}}.")
    return cases


def check_starts(initial: Any, count: int) -> list[Any]:
    """Where each case starts."""
    if not isinstance(initial, list):
        return [initial] * count
    if len(initial) != count:
        raise ModelError(f"batch: {len(initial)} initial states for {count} cases. Give one for all, or one for each.")
    return initial


def check_measures(measure: Any) -> dict[str, Callable[[Result], Any]]:
    """The measures, by names that are free."""
    if not isinstance(measure, Mapping) or not measure or not all(callable(one) for one in measure.values()):
        raise ModelError("batch: measure must be {name: function of the Result}.")
    taken = [name for name in measure if name in OWN]
    if taken:
        raise ModelError(f"batch: the measure {taken[0]!r} has a name that the result uses. Choose another.")
    return dict(measure)


def check_workers(workers: Any) -> int:
    """The number of threads."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ModelError(f"batch: workers = {workers!r}. Give a number of threads, at least 1.")
    return workers


def dataset(rows: list[Row], measures: Mapping[str, Any], coordinates: Sequence[str]) -> Any:
    """The rows with names."""
    import xarray

    variables: dict[str, Any] = {}
    for name in measures:
        known = [row.measured[name] for row in rows if name in row.measured]
        shapes = {values.shape for values in known}
        if len(shapes) > 1:
            raise ModelError(f"batch: the measure {name!r} has the shapes {sorted(shapes)}. Give equal ones.")
        shape = shapes.pop() if shapes else ()
        table = np.full((len(rows), *shape), np.nan)
        for k, row in enumerate(rows):
            if name in row.measured:
                table[k] = row.measured[name]
        own = {1: ("time",) if name == "t" else ("coordinate",), 2: ("time", "coordinate")}
        sizes = own.get(len(shape), ()) if coordinates else tuple(f"{name}_{k}" for k in range(len(shape)))
        variables[name] = (("case", *sizes), table)
    variables["status"] = ("case", np.array([row.status for row in rows], dtype=str))
    variables["message"] = ("case", np.array([row.message for row in rows], dtype=object))
    variables["seconds"] = ("case", np.array([row.seconds for row in rows]))
    labels: dict[str, Any] = {"case": np.arange(len(rows))}
    if coordinates and any("coordinate" in dims for dims, _ in variables.values()):
        labels["coordinate"] = list(coordinates)
    return xarray.Dataset(variables, labels)
