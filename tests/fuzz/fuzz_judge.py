"""What became of a case: agreement of two methods, an honest failure by cause, or a finding."""

from __future__ import annotations

import os
import re
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from fuzz_draw import Planned
from fuzz_questions import ask
from fuzz_runs import Case

import index3 as ix

LONGEST = float(os.environ.get("FUZZ_LONGEST", "10"))
"""Seconds of processor time that a run may take."""
MAX_STEPS = 20000
NEAR = 100.0
"""Differences up to this many times rtol need no explanation: errors of many steps add up."""
ROUNDING = 1e-8
"""Differences below this at the tighter tolerances: closing of constraints and sums over thousands of steps."""
SATURATED = 0.1
"""Differences of the size of the motion no longer follow tolerances: lines of output behind the first such one are not
compared."""
CONVERGES = 0.4
"""Part of a difference that is left after one more decade of rtol: 0.22 by methods of order 2, 0.32 by those of 1."""
STARTS = 5
"""Other starts tried where one moves the end nearly as far as methods differ: a motion that has lost its start."""
FINDINGS = ("crash", "raw exception", "leaked warning", "above 10 s", "not finite", "differs")


@dataclass
class Outcome:
    """What became of a case: a word of `FINDINGS`, or another; its cause; and how it went."""

    word: str
    cause: str = ""
    detail: str = ""
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        return self.word in FINDINGS


class Finding(Exception):
    """Something that must not happen."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass
class Ran:
    """One run: "clean", "warned", "ended", "refused" or "own" (an exception that a function of the user raised)."""

    word: str
    text: str = ""
    result: Any = None
    seconds: float = 0.0


def cause(text: str) -> str:
    """A message without its names and numbers, for counting."""
    text = re.sub(r"'[^']*'", "'..'", text)
    text = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", text)
    return text.partition("\n")[0][:90]


def guarded(act: Any) -> Ran:
    """Do something that may fail in the ways that are allowed; anything else is a finding."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            ran = Ran("clean", "", act())
        except ix.Index3Error as error:
            ran = Ran("refused", str(error), getattr(error, "result", None))
            if not str(error).strip():
                raise Finding(Outcome("raw exception", "an error without a message", traceback.format_exc())) from error
        except Planned as error:
            ran = Ran("own", str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            name = f"{type(error).__name__} in {where.filename.rpartition('index3/')[2]}:{where.lineno} {error!s:.60}"
            raise Finding(Outcome("raw exception", name, traceback.format_exc())) from error
    ran.seconds = time.process_time() - start
    for one in heard:
        if one.category is not UserWarning:
            said = f"{one.category.__name__}: {one.message} ({one.filename.rpartition('index3/')[2]}:{one.lineno})"
            raise Finding(Outcome("leaked warning", said))
    if ran.word == "clean" and heard:
        ran.word, ran.text = "warned", str(heard[0].message)
    if ran.seconds > LONGEST:
        raise Finding(Outcome("above 10 s", f"{ran.word}: {cause(ran.text)}", seconds=ran.seconds))
    return ran


def run(case: Case, model: ix.Model, method: str, rtol: Any, start: Any = None, tighter: bool = False) -> Ran:
    """A run of the case by one of its methods."""
    settings = dict(case.settings)
    if not case.broken:
        settings |= {"t_eval": np.linspace(*case.span, 21), "progress": False}
    if method == case.method:
        settings |= case.options
    else:
        for name in ("step", "linear", "first_step"):
            settings.pop(name, None)
    if start is not None:
        settings["initial"] = start
    if tighter:
        settings.pop("atol", None)
        settings.pop("linear", None)
    slow = str(settings.get("linear")) == "scipy" or any(type(f) is ix.UserEquations for f in model.forces.values())
    steps = MAX_STEPS // 10 if slow else MAX_STEPS  # many calls of Python for every evaluation
    ran = guarded(lambda: ix.simulate(model, case.span, method, rtol=rtol, max_steps=steps, **settings))
    result = ran.result
    if result is not None:
        if not result.success:
            ran.word, ran.text = "ended", result.message
        if len(result.t) and not all(np.all(np.isfinite(result.arrays[name])) for name in ("t", "q", "v")):
            raise Finding(Outcome("not finite", f"{ran.word} {cause(ran.text)}", f"{method}: {result.message}"))
        if not result.success and not result.message.strip():
            raise Finding(Outcome("raw exception", "a run that ended without a message"))
        if ran.word == "clean" and not is_sound(result):
            ran.word, ran.text = "warned", result.message
    return ran


def is_sound(result: Any) -> bool:
    """Whether the audit of a success is content; that it cannot be read is a finding."""
    try:
        return result.audit is None or bool(result.audit.ok)
    except Exception as error:
        name = f"audit of a success: {type(error).__name__} {error!s:.60}"
        raise Finding(Outcome("raw exception", name, traceback.format_exc())) from error


def differences(first: Any, second: Any) -> np.ndarray:
    """The largest difference of coordinates at each line of output, relative to their size.

    As the tolerances weigh it: coordinates below 0.01 count as absolute, since atol is a hundredth of rtol.
    """
    size = np.maximum(np.abs(first.q).max(axis=0), np.abs(second.q).max(axis=0))
    return np.max(np.abs(first.q - second.q) / (size + 0.01), axis=1, initial=0.0)


def distance(first: Any, second: Any, lines: int | None = None) -> float:
    """The largest of the differences of two runs at the first lines of output."""
    return float(np.max(differences(first, second)[:lines], initial=0.0))


def compared_lines(first: Any, second: Any) -> int:
    """How many lines say something about two runs: up to the first at which they have nothing to do with each other."""
    far = np.flatnonzero(differences(first, second) > SATURATED)
    return int(far[0]) + 1 if len(far) else len(first.q)


def judge(case: Case) -> Outcome:
    """Run a case by both its methods and compare."""
    try:
        return compare(case)
    except Finding as finding:
        return finding.outcome


def compare(case: Case) -> Outcome:
    built = guarded(case.model)
    if built.result is None:
        return Outcome("refused", cause(built.text))
    model = built.result
    for question in case.asks:
        guarded(lambda question=question: ask(question, model, case))
    first = run(case, model, case.method, case.rtol)
    seconds = first.seconds
    if not case.comparable or case.broken:
        return Outcome(first.word, cause(first.text), seconds=seconds)
    if first.word != "clean":
        return Outcome(first.word, cause(first.text), seconds=seconds)
    for other in case.others:
        second = run(case, model, other, case.rtol)
        if second.word == "clean":
            break
    else:
        return Outcome("alone", f"no other method: {cause(second.text)}")
    if first.result.q.shape != second.result.q.shape:
        return Outcome("differs", "outputs of different shapes", f"{first.result.q.shape}, {second.result.q.shape}")
    apart = distance(first.result, second.result)
    if apart <= NEAR * case.rtol:
        return Outcome("agree", seconds=seconds)
    try:
        return explain(case, model, other, [first.result, second.result])
    except Finding as finding:
        if finding.outcome.word == "above 10 s":  # at tolerances that the judge chose
            return Outcome("undecided", "tighter: more than 10 s")
        raise


def tightened(case: Case, model: ix.Model, other: str, times: float = 1000.0) -> list[Any] | Outcome:
    """Results of both methods at a thousandth of the tolerance, or why there are none."""
    runs = [run(case, model, method, case.rtol / times, tighter=True) for method in (case.method, other)]
    for one in runs:
        if one.word != "clean":
            return Outcome("undecided", f"tighter: {cause(one.text)}")
    return [one.result for one in runs]


def explain(case: Case, model: ix.Model, other: str, loose: list[Any]) -> Outcome:
    """Why two methods differ: tolerances, or a motion that follows its start too closely to be compared.

    Both may be further from the motion than from each other, by chance: so what the tighter tolerances moved the one
    that they moved less counts as well.
    """
    lines = compared_lines(*loose)
    apart, tight = distance(*loose, lines), tightened(case, model, other)
    if isinstance(tight, Outcome):
        return tight
    left = distance(tight[0], tight[1], lines)
    moved_by = min(distance(x, y, lines) for x, y in zip(loose, tight, strict=True))
    if left <= max(0.1 * apart, ROUNDING):
        return Outcome("agree at tighter tolerances", "" if lines == len(tight[0].q) else "until they parted")
    if left <= 0.1 * moved_by:
        return Outcome("explained", "both converge, and were close by chance")
    random, shift = np.random.default_rng(case.seed), 0.0
    for _ in range(STARTS):
        q, v = (x + 1e-10 * random.normal(size=x.shape) for x in (tight[1].q[0], tight[1].v[0]))
        moved = run(case, model, other, case.rtol / 1000, (q, v), tighter=True)
        if moved.word != "clean":
            return Outcome("undecided", f"another start: {cause(moved.text)}")
        shift = max(shift, distance(moved.result, tight[1], lines))
        if shift > left:
            return Outcome("set aside", "moved more by 1e-10 in the start")
        if shift < 0.1 * left:
            break
    if shift / 1e-10 * case.rtol / 1000 > left:
        return Outcome("explained", "the motion moves more by a change of the start within the tighter tolerance")
    finer = tightened(case, model, other, 10 * 1000.0)
    if not isinstance(finer, Outcome) and distance(finer[0], finer[1], lines) <= CONVERGES * left:
        return Outcome("explained", "both converge, and errors were not yet in proportion before")
    detail = f"{apart:.2e} at rtol {case.rtol:.1e}, {left:.2e} at a thousandth, in the first {lines} lines; "
    return Outcome("differs", f"{case.method} and {other}", f"{detail}1e-10 in the start moves {shift:.2e}")
