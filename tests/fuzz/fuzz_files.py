"""Files with random damage, and faults of disk and cache: what was saved, an error of index3, and nothing else."""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_draw import Draw
from fuzz_faults import FAULTS, RUN
from fuzz_judge import Finding, Outcome, cause, guarded
from fuzz_runs import EXAMPLES
from test_mutations import changed

import index3 as ix
from index3.files.write import data_of

TOKENS = (b"null", b"NaN", b"-Infinity", b"1e999", b"{}", b"[]", b'"', b"\\", b",", b"[[[[", b"\x00", b"\xff\xfe", b"-",
          b"true", b'{"body": "ground"}', b"\n", b"9" * 400, b"ground", b"index3", b"{" * 2000)  # fmt: skip
"""What is put into text."""


def model_text(draw: Draw, path: Path) -> None:
    """A model file with its bytes damaged, or with other things in some of its fields."""
    model = EXAMPLES[draw.pick(sorted(EXAMPLES))]()
    if draw.chance(0.3):
        model.save(path)
        path.write_bytes(damaged(draw, path.read_bytes(), text=True))
        return
    data = data_of(model)
    for _ in range(draw.pick((1, 1, 2, 3))):
        data = changed(data, random.Random(draw.whole(0, 1 << 30)))
    path.with_suffix(".json").write_text(json.dumps(data))


def damaged(draw: Draw, data: bytes, text: bool) -> bytes:
    """Some bytes changed, left out, repeated, exchanged or cut off."""
    for _ in range(draw.pick((1, 1, 1, 2, 5))):
        a, b = sorted(draw.whole(0, len(data)) for _ in range(2))
        b = min(b, a + draw.pick((1, 8, 100, 100000)))
        kind = draw.whole(0, 5)
        if kind == 0 and data:
            at = min(a, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ (1 << draw.whole(0, 7))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:a] + data[b:]
        elif kind == 2:
            data = data[:b] + data[a:b] + data[b:]
        elif kind == 3 and text:
            data = data[:a] + draw.pick(TOKENS) + data[b:]
        elif kind == 3:
            data = data[:a] + bytes(b - a) + data[b:]
        elif kind == 4:
            data = data[:a] if draw.chance(0.3) else data
        else:
            data = data[:a] + draw.rng.bytes(b - a) + data[b:]
    return data


def model_file(seed: int) -> Outcome:
    """A damaged model file: a model that can be run, or a named error."""
    draw = Draw(seed)

    def read() -> Any:
        model = ix.Model.load(next(path.parent.iterdir()))
        return model, ix.simulate(model, (0.0, 0.01), max_steps=20, progress=False, t_eval=0.01)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json" if draw.chance(0.7) else "model.toml")
        model_text(draw, path)
        ran = guarded(read)
    return Outcome(ran.word, cause(ran.text.partition(": ")[2]))


@functools.cache
def saved_result() -> tuple[dict[str, np.ndarray], bytes]:
    """The arrays of a run, and its file."""
    result = ix.simulate(ix.library.four_bar(), (0.0, 0.2), "hht-i3", rtol=1e-3, t_eval=0.02, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.nc")
        result.save(path)
        return {name: np.array(result.arrays[name]) for name in result.arrays}, path.read_bytes()


def result_file(seed: int) -> Outcome:
    """A damaged result file: refused, or nothing in it is other than what was saved."""
    draw = Draw(seed)
    arrays, data = saved_result()

    def read() -> dict[str, np.ndarray]:
        result = ix.Result.load(path)
        str(result)
        result["crank"].position  # noqa: B018
        return {name: np.array(result.arrays[name]) for name in result.arrays}

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.nc")
        path.write_bytes(damaged(draw, data, text=False))
        ran = guarded(read)
    if ran.result is None:
        return Outcome(ran.word, cause(ran.text.partition("is damaged: ")[2] or ran.text))
    for name, x in arrays.items():
        if not np.array_equal(ran.result[name], x, equal_nan=True):
            return Outcome("differs", f"{name} is not what was saved")
    return Outcome(ran.word)


def fault(seed: int) -> Outcome:
    """A fault of disk or cache in a process of its own: the run goes on, or an error of index3 says what is wrong."""
    draw = Draw(seed)
    name = sorted(FAULTS)[seed % len(FAULTS)]
    with tempfile.TemporaryDirectory() as folder:
        code = FAULTS[name](draw, Path(folder))
        variables = {**os.environ, "INDEX3_CACHE": str(Path(folder, "cache")), "TMPDIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", code + RUN], env=variables, capture_output=True, text=True, timeout=600, cwd=folder
        )
    said = done.stdout.strip().rpartition("\n")[2]
    if done.returncode < 0:
        return Outcome("crash", f"{name}: signal {-done.returncode}", done.stderr[-3000:])
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return Outcome("raw exception", f"{name}: {last[:80]}", done.stderr[-3000:])
    return Outcome("faced", f"{name}: {cause(said)}")


def judged(take: Callable[[int], Outcome]) -> Callable[[int], Outcome]:
    """The same with what it finds as its outcome."""

    def judge(seed: int) -> Outcome:
        try:
            return take(seed)
        except Finding as finding:
            return finding.outcome

    return judge


KINDS = {"model files": judged(model_file), "result files": judged(result_file), "faults": judged(fault)}
