"""Notices a run that makes no progress: tiny steps that lead nowhere, events that occur ever faster."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from index3.errors import warn

WINDOW = 100_000
"""Tried steps over which progress is measured: far more than a contact or an event takes, at most some seconds
unless functions in Python are slow."""
MANY = 1e9
"""Steps to the end, at the rate of the last window, above which a warning is given: hours for a small model."""
NEVER_ENDING = 1e14
"""Steps to the end that no run makes, years for the smallest model: the steps count as too small. A window then covered
1e-9 of what is left, 10 us in a run of 1e4 s, so that nothing short-lived in a long run is mistaken for it."""
BEHIND = 1000.0
"""How many times max_steps the rest may take at the rate of the last window, before a run is given up early."""
FAR, STEADY = 10.0, 5
"""The same for so many windows in a row that do not get faster: half of the steps are then spent on a twentieth of what
was left at most, and the other half would have to be twenty times as long."""
GROWING, LAST = 6_000, 1_500_000
"""Tried steps at the first look at the growth of a motion, each later one after twice as many; and those after which
growth without end ends the run."""
SHRINKING = 12
"""Occurrences of an event in a row with shrinking intervals, before their limit is estimated."""
GATHERED = 1e-8
"""Fraction of the span within which infinitely many occurrences lie ahead: no run gets past them."""
QUICK, AT_ONCE = 4, 1e-11
"""As few occurrences do where infinitely many lie within this part of the span: nearly all of the speed is lost each
time, and the twelfth interval would be far below rounding."""


class Stalling:
    """How fast a run approaches its end.

    Attributes
    ----------
    note : what to say of a run that has stalled
    """

    def __init__(self, span: tuple[float, float]) -> None:
        self.t, self.end = span
        self.tried, self.warned, self.note = 0, False, ""

    @property
    def next_look(self) -> int:
        """The number of tried steps at which `is_stalled` is to be asked next."""
        return self.tried + WINDOW

    def is_stalled(self, tried: int, t: float) -> bool:
        """Whether the last steps made no progress; `tried` is the number of steps tried until t. Warns once if slow."""
        if tried - self.tried < WINDOW:
            return False
        count, came = tried - self.tried, t - self.t
        self.tried, self.t = tried, t
        left = (self.end - t) / came * count if came > 0.0 else float("inf")
        if left <= MANY:
            return False
        story = f"the last {count} steps advanced by {came:.3g} s; at this rate the rest takes {left:.2g} steps"
        if left > NEVER_ENDING:
            self.note = f" Overall, {story}."
            return True
        if not self.warned:
            self.warned = True
            warn(
                f"simulate at t = {t:g}: {story}. Something is far stiffer or less smooth than the rest: a stiff "
                "method, a larger tolerance or a softer element may help. max_steps limits a run; Ctrl-C returns the "
                "result so far.",
            )
        return False


class Allowance:
    """Whether the steps that a run may take, `max_steps`, can lead it to its end.

    A window is a tenth of them, tried, but at least 1000: a run is given up that spends one on less than a
    ten-thousandth of the time that is left, or five in a row on less than a hundredth each, unless the last advances by
    twice as much as the first, as after a start. A contact, an impact or a start takes far fewer steps.

    Attributes
    ----------
    note : what to say of a run that is given up
    """

    def __init__(self, span: tuple[float, float], max_steps: int | None) -> None:
        self.t, self.end = span
        self.tried, self.max_steps, self.note = 0, max_steps, ""
        self.slow: list[float] = []  # what each of the last windows advanced by, while all fell short by FAR

    @property
    def next_look(self) -> float:
        """The number of tried steps at which `is_short` is to be asked next."""
        return float("inf") if self.max_steps is None else self.tried + max(1000, self.max_steps // 10)

    def is_short(self, tried: int, t: float) -> bool:
        """Whether the end is out of reach; `tried` is the number of steps tried until time t."""
        if tried < self.next_look:
            return False
        assert self.max_steps is not None
        count, came = tried - self.tried, t - self.t
        self.tried, self.t = tried, t
        left = (self.end - t) / came * count if came > 0.0 else float("inf")
        self.slow = [*self.slow, came][-STEADY:] if left > FAR * self.max_steps else []
        steady = len(self.slow) == STEADY and self.slow[-1] < 2.0 * self.slow[0]
        if left <= BEHIND * self.max_steps and not steady:
            return False
        if steady:
            count, came = STEADY * count, sum(self.slow)
        self.note = (
            f"Gave up at t = {t:g}: the last {count} steps that were tried advanced by {came:.3g} s. At this rate the "
            f"rest takes {left:.2g} steps, and max_steps = {self.max_steps}. Something is far stiffer or less smooth "
            "than the rest: a stiff method, a larger tolerance or a softer element may help."
        )
        return True

    def forgive(self) -> None:
        """Another method goes on: what the last one did says nothing of it."""
        self.note, self.slow = "", []


class Growth:
    """Whether rates grow exponentially while the steps shrink with them, as where a feedback turns a wheel ever faster.

    Such a run never ends, nor do its rates get near the bound of all motions: each step takes a part of a turn.

    Attributes
    ----------
    note : what to say of a run that is ended for it
    """

    def __init__(self, span: tuple[float, float]) -> None:
        self.end, self.next_look, self.warned, self.note = span[1], GROWING, False, ""
        self.marks: list[list[float]] = []  # times and logarithms of the largest rate at the last looks

    def is_endless(self, tried: int, t: float, rate: float) -> bool:
        """Whether the run is to be ended; `rate` is the largest one of any coordinate so far. Warns once before.

        If rates and tried steps grow like exp(c t), all looks are equally far apart in time; if they grow like a power
        of t, or steps do not shrink, the looks come later and later.
        """
        if tried < self.next_look:
            return False
        self.next_look = 2 * tried
        self.marks = [*self.marks, [t, math.log(rate) if rate > 0.0 else -1e3]][-5:]
        came, grown = np.diff(np.array(self.marks), axis=0).T
        if len(came) < 4 or not (came.min() > 0.7 * came.max() and grown.min() > 0.7 * grown.max()):
            return False
        if grown.min() < 0.35:  # half of log 2: the steps shrink for another reason
            return False
        pace = float(np.sum(grown) / np.sum(came))
        ahead = math.log10(tried) + pace * (self.end - t) / math.log(10.0)
        if ahead < math.log10(NEVER_ENDING):
            return False
        story = (
            f"rates grow by the factor e every {1.0 / pace:.3g} s, and steps shrink with them: with this growth the "
            f"rest takes 1e{ahead:.0f} steps"
        )
        if tried >= LAST:
            self.note = f" Its {story}."
            return True
        if not self.warned:
            self.warned = True
            warn(
                f"simulate at t = {t:g}: {story}. Something drives the motion: check the signs and gains of actuators, "
                f"forces and feedbacks. After {LAST} steps of this kind the run ends; Ctrl-C returns the result so far."
            )
        return False


class Zeno:
    """The intervals between occurrences of every event that changes the run, as of a ball that bounces ever faster."""

    def __init__(self, span: tuple[float, float]) -> None:
        self.span = span[1] - span[0]
        self.times: dict[int, deque[float]] = {}

    def last_gap(self, function: int, start: float) -> float:
        """Time between the last two occurrences of a function, or from the start of the run to the first."""
        times = self.times[function]
        return times[-1] - (times[-2] if len(times) > 1 else start)

    def gathers(self, function: int, t: float) -> float | None:
        """Where the occurrences of a function, by number, gather, if the run has all but reached it; `t` is the last.

        Intervals that shrink by the factor r last another r / (1 - r) of the last one. Beyond that point, which an
        event-driven motion does not pass, the next occurrence would be lost in rounding.
        """
        times = self.times.setdefault(function, deque(maxlen=SHRINKING))
        times.append(t)
        gaps = np.diff(times)[-(QUICK - 1) if len(times) < SHRINKING else 0 :]
        if len(times) < QUICK or not (np.all(gaps > 0.0) and np.all(np.diff(gaps) < 0.0)):
            return None
        factor = gaps[-1] / gaps[-2]
        ahead = float(gaps[-1] * factor / (1.0 - factor))
        near = AT_ONCE if len(times) < SHRINKING else GATHERED
        return t + ahead if ahead < near * self.span else None
