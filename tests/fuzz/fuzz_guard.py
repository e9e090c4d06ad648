"""Cases one after the other in a child process, so that whatever ends it is seen and counted.

`python fuzz_guard.py models 0 100` is such a child: a line with the seed before each case, a line of JSON after it.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from fuzz_judge import Outcome

GIVE_UP = 120
"""Seconds of processor time after which the system ends a child, for all runs of a case together."""
SHARE = 200
"""Cases that a child takes."""
CHILD = (sys.executable, __file__)
"""The command that starts a child."""


def take(kind: str, seed: int) -> Outcome:
    """Try the case of a seed."""
    if kind == "models":
        from fuzz_judge import judge
        from fuzz_runs import draw_case

        return judge(draw_case(seed))
    if kind == "uses":
        from fuzz_uses import take_use

        return take_use(seed)
    from fuzz_files import KINDS

    return KINDS[kind](seed)


def child(kind: str, first: int, last: int) -> None:
    """Cases of some seeds, told on the standard output."""
    faulthandler.enable()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a case prints is no answer
    for seed in range(first, last):
        print(seed, file=out, flush=True)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, GIVE_UP)  # its signal ends the process, wherever it is
        outcome = take(kind, seed)
        print(json.dumps(dataclasses.asdict(outcome)), file=out, flush=True)


def outcomes(kind: str, first: int, last: int) -> Iterator[tuple[int, Outcome]]:
    """Each seed from first up to last with its outcome; a new child after each that died."""
    while first < last:
        for seed, outcome in watched(kind, first, min(last, first + SHARE)):
            yield seed, outcome
            first = seed + 1


def watched(kind: str, first: int, last: int) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of one child, the last one a crash if it died."""
    command = [*CHILD, kind, str(first), str(last)]
    with tempfile.TemporaryFile("w+") as errors:
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # others wait in loops, which counts as processor time
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=alone)
        seed = first
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield seed, Outcome(**json.loads(line))
                    seed += 1
            code = process.wait()
        finally:
            process.kill()
            process.wait()
        if code and seed < last:
            errors.seek(0)
            yield seed, death(code, errors.read().partition("Extension modules:")[0][-4000:])


def death(code: int, said: str) -> Outcome:
    """What the end of a child says about its case."""
    if code == -getattr(signal, "SIGPROF", 0):
        return Outcome("above 10 s", f"ended after {GIVE_UP} s", said, float(GIVE_UP))
    frames = [line.strip() for line in said.splitlines() if line.lstrip().startswith("File ")]
    return Outcome("crash", f"exit code {code} {frames[0] if frames else said.strip()[-80:]}", said)


if __name__ == "__main__":
    arguments: Any = sys.argv[1:]
    child(arguments[0], int(arguments[1]), int(arguments[2]))
