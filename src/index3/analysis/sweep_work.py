"""One case of a sweep: built, run and measured, in this process or in a child that may be killed."""

from __future__ import annotations

import hashlib
import importlib.util
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from index3.errors import ModelError

OK, FAILED, RAISED, TIMEOUT, KILLED = "ok", "failed", "raised", "timeout", "killed"
"""What may become of a case: measured; the run failed; Python raised; too slow; its process ended."""


class Row(NamedTuple):
    """What came of a case."""

    status: str
    message: str
    seconds: float
    measures: dict[str, Any]


class Work(NamedTuple):
    """What is done for every case; `build` is a function or a Simulation."""

    build: Any
    t_span: Any
    measure: Mapping[str, Callable[[Any], Any]]
    settings: Mapping[str, Any]

    def do(self, values: Mapping[str, Any]) -> Row:
        """Run one case; whatever it raises is in the row."""
        start = time.perf_counter()
        try:
            result = self.run(values)
            if not result.success:
                return Row(FAILED, result.message, time.perf_counter() - start, {})
            measures = {name: as_numbers(name, function(result)) for name, function in self.measure.items()}
        except (Exception, SystemExit) as error:  # a script may leave by sys.exit
            return Row(RAISED, f"{type(error).__name__}: {error}", time.perf_counter() - start, {})
        return Row(OK, "", time.perf_counter() - start, measures)

    def run(self, values: Mapping[str, Any]) -> Any:
        """The result of one case."""
        settings = {**self.settings, "progress": False, "on_failure": "return"}
        if hasattr(self.build, "run"):
            return self.build.run(self.t_span, changes=dict(values), **settings)
        from index3.analysis.simulate import simulate

        return simulate(self.build(**values), self.t_span, **settings)


def as_numbers(name: str, value: Any) -> Any:
    """A measure as a number, or as nested lists of numbers."""
    try:
        return np.asarray(value, float).tolist()
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"measure '{name}' gave {value!r}. Return a number, or an array of numbers.") from None


class Job(NamedTuple):
    """Work in bytes, for other processes: `main` lets them find functions of the user's script."""

    data: bytes
    main: Mapping[str, Any]
    key: str

    def work(self) -> Work:
        """The work itself, read once in each process."""
        with LOCK:
            if self.key not in KNOWN:
                KNOWN.clear()
                KNOWN[self.key] = pickle.loads(self.data)
            return KNOWN[self.key]


PLACES = ("sys_path", "sys_argv", "dir", "orig_dir", "init_main_from_path", "init_main_from_name")
"""What `multiprocessing` tells a new process of where modules are, and the user's script among them."""
KNOWN: dict[str, Work] = {}
LOCK = threading.Lock()


def job_of(work: Work) -> Job:
    """Work made ready for other processes.

    Raises
    ------
    ModelError : a function cannot be sent there.
    """
    from multiprocessing.spawn import get_preparation_data

    known = get_preparation_data("index3 sweep")
    main = {name: known[name] for name in PLACES if name in known}
    dumps = pickle.dumps
    if importlib.util.find_spec("cloudpickle"):  # sends functions of a script, and lambdas, as they are
        dumps = importlib.import_module("cloudpickle").dumps
        main = {name: value for name, value in main.items() if not name.startswith("init_main")}
    try:
        data = dumps(work)
    except Exception as error:
        raise ModelError(
            f"sweep: {error}. Functions that go to other processes are defined with def at the top of a module; others "
            "need cloudpickle, which comes with pip install 'index3[sweep]'."
        ) from error
    return Job(data, main, hashlib.sha256(data).hexdigest())


def do_case(
    job: Job | Work, values: Mapping[str, Any], isolate: bool, time_limit: float | None, attempt: tuple[int, int]
) -> Row:
    """What a worker of an executor does for one case; `attempt` (case and try) makes each call another one."""
    if isinstance(job, Work):
        return job.do(values)  # in this process
    if not isolate:
        return job.work().do(values)
    from index3.analysis.sweep_child import do_in_child

    return do_in_child(job, values, time_limit)
