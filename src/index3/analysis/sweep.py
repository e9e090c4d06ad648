"""Many runs of a mechanism with other numbers: on all processors of a machine, or of a cluster."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.analysis.batch import threads_of
from index3.analysis.simulation import Simulation
from index3.analysis.sweep_cases import Cases, cases_of
from index3.analysis.sweep_child import MARK, end_children
from index3.analysis.sweep_store import SweepStore
from index3.analysis.sweep_work import KILLED, OK, RAISED, Job, Row, Work, do_case, job_of
from index3.element_type import nearest
from index3.engine.progress import bar_of_cases
from index3.engine.settings import check_span, is_number
from index3.errors import ModelError

if TYPE_CHECKING:
    from xarray import Dataset

AHEAD = 256
"""Cases given to an executor at a time."""
OWN = ("case", "status", "message", "seconds")
"""Names that the result has of its own."""


def sweep(
    build: Callable[..., Any] | Simulation,
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    t_span: tuple[float, float],
    measure: Mapping[str, Callable[[Any], Any]],
    executor: Executor | None = None,
    isolate: bool = True,
    time_limit: float | None = None,
    samples: int | tuple[str, int] | np.ndarray | None = None,
    seed: int | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    **settings: Any,
) -> Dataset:
    """Run a mechanism for many values of its parameters and return the measures of each run as an `xarray.Dataset`.

    A case that fails, raises, hangs or kills its process is a row like the others, with the reason in it.

    Parameters
    ----------
    build : a function of the parameters that returns a Model; or what `prepare` returned, whose runs take the
        parameters as `changes`: {"coil.stiffness": [1e4, 2e4]}
    parameters : {name: values} for all combinations; a list with a dict per case; with `samples` {name: (low, high)} or
        {name: (low, high, "log")}
    t_span : (t0, t1) [s] of every run
    measure : {name: function of the Result}, which returns a number or an array of the same shape for every case
    executor : any `concurrent.futures.Executor`, such as Dask's `client.get_executor()`; by default one worker for each
        processor of this machine
    isolate : a case runs in a child process that can be killed; False for cases that can be trusted, a little faster
    time_limit : seconds after which a case is stopped; needs `isolate`
    samples : n for a Latin hypercube, ("sobol", n), or an array (n, number of parameters) of numbers from 0 to 1
    seed : of the samples
    store : a folder that keeps the finished cases; with `resume` a sweep that it holds in part is continued
    settings : of `simulate` (method, rtol, t_eval, ...), or of `Simulation.run`; `progress` is that of the sweep:
        "auto", True, False or a function of (cases done, cases in all)

    Returns
    -------
    Dimensions are the parameters for combinations, `case` otherwise; variables are the measures, `status` ("ok",
    "failed": the run did, "raised": Python did, "timeout", "killed": the process ended, twice), `message`, `seconds`.

    Raises
    ------
    ModelError : an argument is wrong.

    >>> import index3 as ix
    >>> pendulum = ix.prepare(ix.library.pendulum(), t_eval=0.1)
    >>> found = ix.sweep(pendulum, {"rod.mass": [1.0, 2.0]}, t_span=(0.0, 0.2), isolate=False,
    ...     executor=ThreadPoolExecutor(1), measure={"low": lambda result: result["rod"].position[:, 2].min()})
    >>> found.low.dims, found.status.values.tolist()
    (('rod.mass',), ['ok', 'ok'])
    """
    cases = cases_of(parameters, samples, seed)
    progress = settings.pop("progress", "auto")
    check(build, cases, measure, executor, isolate, time_limit, resume, store, settings)
    work = Work(build, check_span(t_span, "sweep"), dict(measure), settings)
    with ExitStack() as stack:
        kept = None
        if store is not None:
            kept = SweepStore(store, described(work, cases), resume)
            stack.callback(kept.close)
        rows = {} if kept is None else dict(kept.finished)
        report = stack.enter_context(bar_of_cases(progress, len(cases.values)))
        job: Any = work
        threads = executor is None and not isolate and isinstance(build, Simulation)  # as `batch` does
        pool = stack.enter_context(own_executor(isolate, threads)) if executor is None else executor
        if not isinstance(pool, ThreadPoolExecutor) or isolate:
            job = job_of(work)
        report(len(rows))
        for number, row in finished_cases(pool, job, cases, rows, isolate, time_limit):
            rows[number] = row
            if kept is not None:
                kept.add(number, row)
            report(len(rows))
    return as_dataset(cases, [rows[k] for k in range(len(cases.values))], work)


def check_parameters(build: Any, cases: Cases) -> None:
    """Raise for parameters that the function does not take or lacks, or the model has not: every case would raise."""
    if isinstance(build, Simulation):
        from index3.files.changes import check_names  # knows model files, which are slow to import

        try:
            check_names(build.model, cases.names)
        except ModelError as error:
            raise ModelError(f"sweep: {str(error).removeprefix('changes: ')}") from None
        return
    try:
        own = list(inspect.signature(build).parameters.values())
    except (TypeError, ValueError):  # of code that does not say
        return
    if not own or any(x.kind is x.VAR_KEYWORD for x in own):
        return
    known = {x.name: x for x in own if x.kind in (x.POSITIONAL_OR_KEYWORD, x.KEYWORD_ONLY)}
    word, takes = getattr(build, "__name__", "build"), f"It takes {', '.join(known)}."
    for name in cases.names:
        if name not in known:
            raise ModelError(f"sweep: {word} has no parameter '{name}'. {nearest(name, list(known))}{takes}")
    missing = [name for name, x in known.items() if x.default is x.empty and name not in cases.names]
    if missing:
        raise ModelError(f"sweep: {word} needs {' and '.join(missing)}, which no case has. {takes}")


def check(
    build: Any, cases: Cases, measure: Any, executor: Any, isolate: Any, time_limit: Any, resume: Any, store: Any,
    settings: Mapping[str, Any],
) -> None:  # fmt: skip
    """Raise for arguments that mean nothing."""
    if MARK in os.environ:
        raise ModelError(
            "sweep: this script is read by a process of the sweep. Put the call under: if __name__ == '__main__':"
        )
    if not isinstance(build, Simulation) and not callable(build):
        raise ModelError(f"sweep: build is {build!r}. Give a function that returns a Model, or what prepare returned.")
    if not isinstance(measure, Mapping) or not all(isinstance(k, str) and callable(f) for k, f in measure.items()):
        raise ModelError(f"sweep: measure = {measure!r}. Give a dict of functions of the result, by name.")
    taken = [name for name in measure if name in (*cases.names, *OWN)]
    if taken or any(name in OWN for name in cases.names):
        raise ModelError(
            f"sweep: the name {(taken or [n for n in cases.names if n in OWN])[0]!r} is taken. Choose another."
        )
    check_parameters(build, cases)
    if executor is not None and not isinstance(executor, Executor):
        raise ModelError(f"sweep: executor = {executor!r}. Give a concurrent.futures.Executor.")
    for name, value in (("isolate", isolate), ("resume", resume)):
        if not isinstance(value, bool):
            raise ModelError(f"sweep: {name} = {value!r}. Choose True or False.")
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0.0):
        raise ModelError(f"sweep: time_limit = {time_limit!r}. Give a positive number of seconds.")
    if time_limit is not None and not isolate:
        raise ModelError("sweep: without isolate a case cannot be ended. Leave out time_limit, or isolate=False.")
    if resume and store is None:
        raise ModelError("sweep: resume needs the folder of a sweep. Give store=.")
    for name in ("store", "on_failure", "changes"):
        if name in settings:
            raise ModelError(f"sweep: {name} is not a setting of its runs.")


@contextmanager
def own_executor(isolate: bool, threads: bool = False) -> Iterator[Executor]:
    """One worker for each processor: a thread with a child process, or a process."""
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads:
        with threads_of(workers, "index3 sweep") as own:
            yield own
        return
    if isolate:
        pool: Executor = ThreadPoolExecutor(workers, "index3 sweep")
    else:
        from multiprocessing import get_context

        pool = ProcessPoolExecutor(workers, get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        end_children()


def finished_cases(
    pool: Executor, job: Job | Work, cases: Cases, rows: Mapping[int, Row], isolate: bool, time_limit: float | None
) -> Iterator[tuple[int, Row]]:
    """Rows as they are finished; a case whose process ended is tried twice."""
    waiting = [(k, 1) for k in reversed(range(len(cases.values))) if k not in rows]
    running: dict[Future[Row], tuple[int, int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AHEAD:
                number, attempt = waiting.pop()
                values = cases.values[number]
                future = submitted(pool, job, values, isolate, time_limit, (number, attempt))
                running[future] = number, attempt
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, attempt = running.pop(future)
                row = row_of(future)
                if row.status == KILLED and attempt == 1:
                    waiting.append((number, 2))
                else:
                    yield number, row
    finally:
        for future in running:
            future.cancel()


def submitted(pool: Executor, *arguments: Any) -> Future[Row]:
    """A case given to an executor; one that has lost its workers takes none, and the case says so."""
    try:
        return pool.submit(do_case, *arguments)
    except BrokenExecutor as error:
        future: Future[Row] = Future()
        future.set_exception(error)
        return future


def row_of(future: Future[Row]) -> Row:
    """The row of a case; the executor itself says if it lost a worker."""
    try:
        return future.result()
    except Exception as error:
        lost = isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"  # Dask's
        said = f"{type(error).__name__}: {error}"
        return Row(KILLED if lost else RAISED, f"The worker ended: {said}" if lost else said, float("nan"), {})


def described(work: Work, cases: Cases) -> dict[str, Any]:
    """What tells a sweep from another, in plain data."""
    from index3.files.digests import digests, told

    build = digests(work.build.model) if isinstance(work.build, Simulation) else told(work.build)
    return {
        "parameters": told(cases.values), "t_span": list(work.t_span), "settings": told(work.settings),
        "measures": {name: told(function) for name, function in work.measure.items()}, "build": build,
    }  # fmt: skip


def as_dataset(cases: Cases, rows: list[Row], work: Work) -> Dataset:
    """The rows as an xarray dataset."""
    import xarray as xr

    sizes = cases.dimensions
    shape = tuple(sizes.values())
    coordinates: dict[str, Any] = {name: (("case",), labels([c[name] for c in cases.values])) for name in cases.names}
    if cases.grid is not None:
        coordinates = {name: labels(values) for name, values in cases.grid.items()}
    rows = [checked(row, rows, work.measure) for row in rows]
    variables: dict[str, Any] = {}
    for name in work.measure:
        inner = shape_of(name, rows)
        empty = np.full(inner, np.nan)
        values = np.array([row.measures.get(name, empty) if row.status == OK else empty for row in rows], float)
        dims = (*sizes, *(f"{name}_{k}" for k in range(len(inner))))
        variables[name] = (dims, values.reshape(*shape, *inner))
    for name, kind in (("status", object), ("message", object), ("seconds", float)):
        variables[name] = (tuple(sizes), np.array([getattr(row, name) for row in rows], kind).reshape(shape))
    return xr.Dataset(variables, coordinates, {"t_span": list(work.t_span)})


def shape_of(name: str, rows: list[Row]) -> tuple[int, ...]:
    """The shape of a measure: that of the first case that was measured."""
    return next((np.shape(row.measures[name]) for row in rows if row.status == OK), ())


def checked(row: Row, rows: list[Row], measure: Mapping[str, Any]) -> Row:
    """A row, unless one of its measures has another shape than those of others: then it says so."""
    for name in measure:
        if row.status == OK and np.shape(row.measures[name]) != shape_of(name, rows):
            said = f"measure '{name}' has shape {np.shape(row.measures[name])}, in other cases {shape_of(name, rows)}"
            return Row(RAISED, said, row.seconds, {})
    return row


def labels(values: list[Any]) -> Any:
    """Values along an axis; those that are no numbers or words, as text."""
    plain = all(isinstance(value, str | int | float) for value in values)
    return np.array(values) if plain else np.array([repr(value) for value in values])
