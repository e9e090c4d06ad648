"""Worker processes that compile kernels, and the handing out of work to them."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from index3.compiled import outside
from index3.compiled.sources import PACKAGE, Key, text
from index3.errors import Index3Error


def build(
    keys: Iterable[Key], directory: Path, jobs: int | None = None, report: Callable[[str], None] = lambda name: None
) -> None:
    """Compile kernels into `directory` in worker processes; `report` gets each one done.

    A worker is handed the kernels of one module at a time, which share helpers; large modules first.

    Raises
    ------
    Index3Error : a kernel cannot be compiled, or must not be; the message names it.
    """
    from concurrent.futures import ThreadPoolExecutor

    directory.mkdir(parents=True, exist_ok=True)
    names: dict[str, list[str]] = {}
    for module, name in keys:
        names.setdefault(module, []).append(name)
    waiting = deque((module, names[module]) for module in sorted(names, key=lambda name: -len(text(name))))
    jobs = min(jobs or os.cpu_count() or 1, len(waiting))
    with ThreadPoolExecutor(jobs) as pool:
        try:
            failures = list(filter(None, pool.map(lambda _: _employ(waiting, directory, report), range(jobs))))
        finally:
            waiting.clear()  # an interrupt: the workers end with what they have in hand
    if failures:
        raise Index3Error(f"Kernels could not be built:\n{failures[0]}")


ENVIRONMENT = {
    "INDEX3_BUILDING": "1",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_OPT": "2",  # level 3 takes a tenth longer, and kernels are not quicker for it
}
"""What tells a worker how to compile."""


class Worker:
    """A process that compiles kernels into a directory; what it has compiled once, helpers too, it keeps in mind."""

    def __init__(self, directory: Path) -> None:
        import subprocess  # imported here and below: only a miss needs them, and they take 0.02 s
        import tempfile

        environment = {**os.environ, **ENVIRONMENT}
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        command = [sys.executable, "-m", "index3.compiled.build", str(directory), "-"]
        pipe = subprocess.PIPE
        self.directory = directory
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by `end`)
        self.process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, stderr=self.errors, text=True
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

    def end(self) -> str:
        """Let the process end; what it says if it failed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.errors:
            with contextlib.suppress(OSError):  # it may be gone already
                self.process.stdin.close()
            code = self.process.wait()
            self.process.stdout.close()
            if not code:
                return ""
            self.errors.seek(0)
            return self.errors.read() or f"A worker ended with code {code}."


_idle: list[Worker] = []  # workers that may be given more


def _employ(waiting: deque[tuple[str, list[str]]], directory: Path, report: Callable[[str], None]) -> str:
    """Hand modules to one worker, one at a time, until none is left; returns what it says if it fails."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = Worker(directory)
    if worker.directory != directory:
        worker.end()
        worker = Worker(directory)
    done = False
    try:
        while waiting:
            try:
                module, names = waiting.popleft()
            except IndexError:  # another worker took the last module
                break
            if not worker.make(module, names, report):
                waiting.clear()
                return worker.end() or "A worker ended before its kernels were built."
        done = True
    finally:
        if done:
            _idle.append(worker)
        elif not worker.errors.closed:
            worker.end()
    return ""


@atexit.register
def dismiss() -> None:
    """Let idle workers go. Whoever has all the kernels it needs says so; else they end with this process."""
    while _idle:
        _idle.pop().end()
