"""A process that does cases for a sweep, one after the other, and may be killed without harm to anybody else.

It is started as a command, so that workers which may not have children of `multiprocessing` can start it, too. Messages
are pickles with their length before them: what to do on its standard input, rows on what was its standard output. What
users' functions print goes to standard error.
"""

from __future__ import annotations

import contextlib
import multiprocessing.spawn
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import IO, Any

from index3.analysis.sweep_work import KILLED, RAISED, TIMEOUT, Job, Row

HEAD = struct.Struct("<Q")
MARK = "INDEX3_SWEEP_CHILD"
"""Environment variable of a child: `sweep` refuses to begin there."""
GRACE = 5.0
"""Seconds that a process may take from closing its pipes to its end."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread of linear algebra for each child: the sweep uses the other processors."""


def send(pipe: IO[bytes], message: Any) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    pipe.write(HEAD.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read a message; EOFError if the other side has ended."""
    head = pipe.read(HEAD.size)
    if len(head) < HEAD.size:
        raise EOFError
    (length,) = HEAD.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


class Child:
    """The process as its owner sees it; it has read the work of one job."""

    def __init__(self, job: Job) -> None:
        self.key = job.key
        environment = {**dict.fromkeys(THREADS, "1"), **os.environ, MARK: "1"}
        paths = [path for path in sys.path if path]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        command = [sys.executable, "-m", "index3.analysis.sweep_child"]
        own_group = {"start_new_session": True} if os.name == "posix" else {}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            **own_group,  # type: ignore[call-overload]
        )
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self.listen, name="index3 sweep", daemon=True).start()
        self.say(job)
        self.wrong = self.hear(None)

    def listen(self) -> None:
        """Take what the process says, until it ends."""
        try:
            while True:
                self.answers.put(receive(self.process.stdout))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.answers.put(EOFError())

    def say(self, message: Any) -> None:
        """Tell the process something; if it has ended, `hear` will tell."""
        with contextlib.suppress(OSError, ValueError):
            send(self.process.stdin, message)

    def hear(self, timeout: float | None) -> Any:
        """What the process says next.

        Raises
        ------
        queue.Empty : nothing in time.
        """
        return self.answers.get(timeout=timeout)

    def wait(self) -> None:
        """Let a process that has closed its pipes end by itself, so that its exit code is its own."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)

    def end(self) -> int:
        """End the process, whatever it does, and all that it started; its exit code."""
        self.process.poll()
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL) if os.name == "posix" else self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
        return code


IDLE: list[Child] = []
LOCK = threading.Lock()


def take_child(job: Job) -> Child:
    """A process that waits for a case of this job; those that wait for others are ended."""
    with LOCK:
        waiting, IDLE[:] = IDLE[:], []
    mine = [child for child in waiting if child.key == job.key and child.process.poll() is None]
    for child in waiting:
        if child not in mine:
            child.end()
    with LOCK:
        IDLE.extend(mine[1:])
    return mine[0] if mine else Child(job)


def do_in_child(job: Job, values: Mapping[str, Any], time_limit: float | None) -> Row:
    """Do one case in a process that is ended if it takes too long."""
    child, reusable = take_child(job), False
    start = time.perf_counter()
    try:
        answer = child.wrong
        if answer is None:
            child.say(dict(values))
            answer = child.hear(time_limit)
        seconds = time.perf_counter() - start
        if isinstance(answer, Row):
            reusable = True
            return answer
        if isinstance(answer, str):
            return Row(RAISED, answer, seconds, {})
        child.wait()
        return Row(KILLED, f"The process of the case ended: {how_it_ended(child.end())}.", seconds, {})
    except queue.Empty:
        return Row(TIMEOUT, f"More than {time_limit:g} s.", time.perf_counter() - start, {})
    finally:
        if reusable:
            with LOCK:
                IDLE.append(child)
        else:
            child.end()


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def end_children() -> None:
    """End the processes that wait for cases."""
    with LOCK:
        waiting, IDLE[:] = IDLE[:], []
    for child in waiting:
        child.end()


def messages(pipe: IO[bytes]) -> Iterator[Any]:
    """What the owner says. When the owner has ended, so does this process, even in the middle of a case."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                arrived.put(receive(pipe))
        except BaseException:
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield arrived.get()


def serve() -> None:
    """Do cases until there is nobody to do them for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who then ends this process
    out, inward = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    told = messages(inward)
    job = next(told)
    try:
        multiprocessing.spawn.prepare(dict(job.main))
        work = job.work()
    except BaseException as error:
        send(out, f"The case cannot be read in another process: {type(error).__name__}: {error}")
        return
    import index3.analysis.simulate  # noqa: F401  # before the clock of the first case starts

    send(out, None)
    for values in told:
        send(out, work.do(values))


if __name__ == "__main__":
    from index3.analysis import sweep_child

    sweep_child.serve()
