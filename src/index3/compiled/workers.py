"""Worker processes that compile kernels, and the handing out of work to them."""

from __future__ import annotations

import atexit
import base64
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from index3.compiled import outside, target
from index3.compiled.notice import say
from index3.compiled.sources import PACKAGE, Key, text
from index3.errors import Index3Error

REFUSED, NOT_STORED = 3, 4  # how a worker ends that must not compile a kernel, or cannot write it

_quick_failed = False  # the quick way does not work here: it is not tried again


class NotStored(Index3Error):
    """An object could not be written."""


def build(
    keys: Iterable[Key], directory: Path | None, jobs: int | None = None, report: Callable[[str], None] = lambda _: None
) -> dict[str, bytes]:
    """Compile kernels into `directory` in worker processes; `report` gets each one done.

    Without a directory nothing is written: what the files would hold is returned, by the names of the kernels. If the
    quick way does not know this version of Numba, or fails, the standard way is taken, and a line says so.

    Raises
    ------
    NotStored : the directory cannot be written, or is full.
    Index3Error : a kernel cannot be compiled, or must not be; the message names it.
    """
    global _quick_failed
    if directory is not None:
        directory = directory.absolute()
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise NotStored(problem.strerror or str(problem)) from problem
    missing = list(dict.fromkeys(keys))
    done: dict[str, bytes] = {}

    def note(answer: str) -> None:
        name, _, content = answer.partition(" ")
        done[name] = base64.b64decode(content)
        report(name)

    ways = target.ways()
    for way in ways[-1:] if _quick_failed else ways:
        code, problem_text = _share([key for key in missing if ".".join(key) not in done], way, directory, jobs, note)
        if not problem_text:
            break
        if code == NOT_STORED:
            raise NotStored(problem_text.strip())
        if code == REFUSED or way == ways[-1]:
            raise Index3Error(f"Kernels could not be built:\n{problem_text}")
        _quick_failed = True
        reason = problem_text.strip().splitlines()[-1]
        say(
            f"the quick build does not work with Numba {target.version('numba')} ({reason}). "
            "Kernels are built by Numba's documented interface, which takes longer."
        )
    return {} if directory is not None else done


def _share(
    keys: list[Key], way: str, directory: Path | None, jobs: int | None, report: Callable[[str], None]
) -> tuple[int, str]:
    """Have kernels compiled by several workers; how one that failed has ended, and what it says.

    A worker is handed the kernels of one module at a time, which share helpers; large modules first.
    """
    from concurrent.futures import ThreadPoolExecutor

    names: dict[str, list[str]] = {}
    for module, name in keys:
        names.setdefault(module, []).append(name)
    waiting = deque((module, names[module]) for module in sorted(names, key=lambda name: -len(text(name))))
    jobs = min(jobs or os.cpu_count() or 1, len(waiting))
    with ThreadPoolExecutor(jobs) as pool:
        try:
            ends = list(pool.map(lambda _: _run_worker(waiting, way, directory, report), range(jobs)))
        finally:
            waiting.clear()  # an interrupt: the workers end with what they have in hand
    failures = [one for one in ends if one[1]]
    return max(failures, key=lambda one: one[0] in (REFUSED, NOT_STORED)) if failures else (0, "")


class Worker:
    """A process that compiles kernels; what it has compiled once, helpers too, it keeps in mind.

    Objects go into a directory, or with the answers if there is none.
    """

    def __init__(self, directory: Path | None, way: str) -> None:
        import subprocess  # imported here and below: only a miss needs them, and they take 0.02 s
        import tempfile

        pipe = subprocess.PIPE
        self.directory, self.way = directory, way
        try:
            self.errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by `end`)
        except OSError:  # no file can be written anywhere: what the process says is lost
            self.errors = open(os.devnull, "w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "index3.compiled.build", "" if directory is None else str(directory), "-"],
            env=environment(way),
            cwd=PACKAGE,  # with -P: nothing is taken from the folder in which the user happens to be
            stdin=pipe,
            stdout=pipe,
            stderr=self.errors,
            text=True,
        )

    def make(self, module: str, names: list[str], report: Callable[[str], None]) -> bool:
        """Have kernels of one module built; False if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(" ".join((outside.token(module), *names)) + "\n")
            self.process.stdin.flush()
        except OSError:
            return False
        for _ in names:
            done = self.process.stdout.readline()
            if not done:
                return False
            report(done.strip())
        return True

    def end(self) -> tuple[int, str]:
        """Let the process end; its exit code, and what it says if it failed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.errors:
            with contextlib.suppress(OSError):  # it may be gone already
                self.process.stdin.close()
            code = self.process.wait()
            self.process.stdout.close()
            if not code:
                return 0, ""
            self.errors.seek(0)
            return code, self.errors.read() or f"A worker ended with code {code}."


def environment(way: str) -> dict[str, str]:
    """The variables of a worker: those of this process, but of Numba's settings only ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    paths = [os.path.dirname(PACKAGE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    found = os.pathsep.join(map(os.path.abspath, paths))
    return {**kept, **target.ENVIRONMENT, "INDEX3_NUMBA": way, "PYTHONPATH": found}


_idle: list[Worker] = []  # workers that may be given more


def _run_worker(
    waiting: deque[tuple[str, list[str]]], way: str, directory: Path | None, report: Callable[[str], None]
) -> tuple[int, str]:
    """Hand modules to one worker, one at a time, until none is left; how it ended and what it says, if it fails."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = Worker(directory, way)
    if (worker.directory, worker.way) != (directory, way):
        worker.end()
        worker = Worker(directory, way)
    done = False
    try:
        while waiting:
            try:
                module, names = waiting.popleft()
            except IndexError:  # another worker took the last module
                break
            if not worker.make(module, names, report):
                waiting.clear()
                code, problem = worker.end()
                return code, problem or "A worker ended before its kernels were built."
        done = True
    finally:
        if done:
            _idle.append(worker)
        elif not worker.errors.closed:
            worker.end()
    return 0, ""


@atexit.register
def stop_idle() -> None:
    """Let idle workers go. Whoever has all the kernels it needs says so; else they end with this process."""
    if not _idle:
        return
    with contextlib.suppress(IndexError):  # empty, perhaps by another thread
        while True:
            _idle.pop().end()
