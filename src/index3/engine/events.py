"""Events: where a user's function of the state passes through zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.engine.instant import Instant
from index3.engine.passages import LOCATION, Piece, first_zero, passes, pieces_between, times_within
from index3.engine.segments import Segment
from index3.engine.settings import listed
from index3.errors import ModelError
from index3.methods import probe, run
from index3.methods.hermite import hermite_between
from index3.methods.output import Output
from index3.methods.run_table import Run
from index3.results.arrays import empty_arrays, wrench_names
from index3.results.layout import Layout
from index3.results.result import Result

EARLY = 1e-2
"""Part of the first step after an action at which the function that fired is asked for its side of zero."""
EARLIER, EARLIEST, FLOOR = 0.25, 1e-9, 1e-13
"""Factor by which it is asked earlier and earlier for a passage before that, down to which part of the step, and down
to which part of its later values, or four times its value at the action: below lie roundings."""


@dataclass(frozen=True)
class Hit:
    """Events of one instant: its time, the numbers and names of their functions, their actions; without any, an end."""

    t: float
    functions: tuple[int, ...]
    standing: tuple[int, ...]  # these, and others that only note the instant
    name: str
    actions: tuple[Callable[[Any], Any], ...]


class Events:
    """The event functions of a run, asked after every accepted step.

    Parameters
    ----------
    functions : one function of (t, state), or several; attributes `terminal` (True, or the number of the occurrence
        that ends the run) and `direction` (+1: only rising, -1: only falling) as in SciPy; `action`, a function of a
        `Switch` that changes the run at the event
    segment, layout : of the run
    span : from when to when the run is to last
    moving : markers that follow functions of time, as `layout` numbers them
    source : what gives forces to results
    """

    def __init__(
        self, functions: Any, segment: Segment, layout: Layout, span: tuple[float, float], moving: Sequence[Any] = (),
        source: Any = None,
    ) -> None:  # fmt: skip
        self.functions: list[Callable[[float, Instant], float]] = as_functions(functions)
        self.segment, self.layout, progress = segment, layout, segment.run
        self.moving, self.source = moving, source
        self.table = Table(len(probe.SLOTS))
        self.table[probe.RUN] = np.array([progress.table.handle], np.int64)
        self.table[probe.TIME] = np.zeros(1)
        self.table[probe.KEPT] = np.zeros(len(progress.state[s.ANGLE_REF]))
        self.found: list[list[tuple[float, np.ndarray, np.ndarray]]] = [[] for _ in self.functions]
        self.fired: set[int] = set()  # functions that stood at zero where an action changed the run at its last restart
        self.time, self.span = progress.t, span[1] - span[0]
        self.values = self.values_at(progress.t)
        self.largest = [abs(value) for value in self.values]
        self.earlier: list[tuple[float, float] | None] = [None] * len(self.functions)  # values before the last ones

    @property
    def progress(self) -> Run:
        """The run of the present segment."""
        return self.segment.run

    def resume(self, segment: Segment, standing: Sequence[int]) -> None:
        """Go on in another segment of the run, at its start; `standing`: functions at zero if actions changed it."""
        self.segment, self.time = segment, segment.run.t
        self.table[probe.RUN][0] = segment.run.table.handle
        self.earlier = [None] * len(self.functions)
        if standing:
            self.fired.update(standing)
            self.values = self.values_at(segment.run.t)

    def instant(self, t: float) -> Instant:
        """The state at a time of the last accepted step."""
        state = self.progress.state
        self.table[probe.TIME][0] = t
        probe.at_time(state.handle, self.table.handle)
        system = self.progress.system
        rows, joints = len(self.layout.row_names), len(wrench_names(self.layout))
        arrays = empty_arrays(1, system.n, rows, joints, len(state[s.ANGLES]))
        arrays |= {"t": np.array([t]), "q": state[s.Q][None].copy(), "v": state[s.V][None].copy()}
        arrays["angle"] = state[s.ANGLES][None].copy()
        variant = self.segment.variant

        def closed() -> Result:
            arrays["work"] = np.array([self.work_until(t)])
            output = Output(variant.projection.sizes | {"row": rows}, 1, variant.columns)
            output.add({name: arrays[name] for name in ("t", "q", "v", "a", "angle", "work")})
            error = variant.projection.project_lines(output, 0, 1, project=True)[1]
            if error is not None:
                raise error
            return self.result(output.arrays)

        return Instant(self.result(arrays), closed)

    def result(self, arrays: dict[str, np.ndarray]) -> Result:
        """Arrays of one instant as a result."""
        result = Result(self.layout, arrays)
        result.moving, result.source = self.moving, self.source
        return result

    def values_at(self, t: float, only: int | None = None) -> list[float]:
        """Values of the functions (or of one) at a time."""
        instant = self.instant(t)
        chosen = self.functions if only is None else [self.functions[only]]
        return [as_number(function, function(t, instant)) for function in chosen]

    def find_first(self) -> Hit | None:
        """Find the events of the last accepted step, up to the first that ends the run or acts on it; that one."""
        clock = self.progress[run.CLOCK]
        t0, t1 = float(clock[run.T_OLD]), float(clock[run.T_NEW])
        if t1 <= self.time:  # the last step was rejected
            return None
        self.time = t1
        width = max(LOCATION * (t1 - t0), 8.0 * float(np.spacing(abs(t1))))
        hits = [(first_zero(self.asking(k), piece, width), k) for k, piece in self.pieces(t0, t1)]
        return self.first_of(sorted(hits), width)

    def asking(self, k: int) -> Callable[[float], float]:
        """A function alone, of the time."""
        return lambda t: self.values_at(t, k)[0]

    def pieces(self, t0: float, t1: float) -> list[tuple[int, Piece]]:
        """Functions, and parts of the last step in which they pass through zero."""
        passing, t = [], t0
        for end in times_within(t0, t1, self.span):
            before, self.values = self.values, self.values_at(end)
            for k, (old, new) in enumerate(zip(before, self.values, strict=True)):
                if k in self.fired:  # it stood at zero: its side is known a little later
                    found = [self.after_action(k, (t, old, end, new))]
                else:
                    self.largest[k] = max(self.largest[k], abs(old), abs(new))
                    found = pieces_between(self.asking(k), self.earlier[k], (t, old), (end, new), self.largest[k])
                self.earlier[k] = (t, old)
                direction = getattr(self.functions[k], "direction", 0)
                passing += [(k, piece) for piece in found if passes(piece[1], piece[3], direction)]
            self.fired.clear()
            t = end
        return passing

    def first_of(self, hits: list[tuple[float, int]], width: float) -> Hit | None:
        """The first events that act or end the run, from times and functions in order; those before are noted.

        What is located within `width` of the first is of the same instant. It must act at once: after a restart such a
        function begins at zero, or beyond, and would never be seen to pass.
        """
        chosen: dict[bool, list[tuple[float, int]]] = {True: [], False: []}  # that end the run, that act on it
        until = np.inf
        for t, k in hits:
            if t > until:
                break
            limit, action = (getattr(self.functions[k], name, None) for name in ("terminal", "action"))
            if action is not None and getattr(action, "idle", lambda opened: False)(self.segment.variant.open):
                continue  # a string that is taut already passes its length by roundings
            instant = self.instant(t)
            self.found[k].append((t, instant.q.copy(), instant.v.copy()))
            ends = limit is not None and 0 < int(limit) <= len(self.found[k])
            if ends or action is not None:
                chosen[ends].append((t, k))
                until = min(until, t + width)
        of = chosen[True] or chosen[False]
        if not of:
            return None
        end = of[-1][0]
        functions: list[Any] = [self.functions[k] for _, k in of]
        actions = () if chosen[True] else tuple(function.action for function in functions)
        standing = tuple(k for t, k in hits if abs(t - end) <= width)
        return Hit(end, tuple(k for _, k in of), standing, " and ".join(map(name_of, functions)), actions)

    def after_action(self, k: int, step: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """The piece of the step after an action in which its function passes through zero again, or the whole step.

        It begins where the side of the function is known. A bounce may be over in the smallest part of a step: earlier
        and earlier times are asked until one is on the other side, or lost in rounding.
        """
        t0, at_action, t1, after = step
        direction, part = getattr(self.functions[k], "direction", 0), EARLY
        t = t0 + part * (t1 - t0)
        value = self.values_at(t, k)[0]
        whole = (t, value, t1, after)
        if passes(value, after, direction) or value * direction < 0.0:
            return whole
        floor = max(4.0 * abs(at_action), FLOOR * max(abs(value), abs(after)))
        while part > EARLIEST:
            part *= EARLIER
            earlier = self.values_at(t0 + part * (t1 - t0), k)[0]
            if abs(earlier) <= floor:
                break
            if passes(earlier, value, direction):
                return t0 + part * (t1 - t0), earlier, t, value
            t, value = t0 + part * (t1 - t0), earlier
        return whole

    def line(self, t: float) -> dict[str, np.ndarray]:
        """One line of raw output at a time of the last accepted step."""
        instant, progress = self.instant(t), self.progress
        return {
            "t": np.array([t]), "q": instant.q[None], "v": instant.v[None], "a": progress[run.NEW_A][None].copy(),
            "lam": progress[run.NEW_LAM][None].copy(), "angle": progress.state[s.ANGLES][None].copy(),
            "work": np.array([self.work_until(t)]),
        }  # fmt: skip

    def work_until(self, t: float) -> float:
        """Work that was done until a time of the last accepted step."""
        clock = self.progress[run.CLOCK]
        if clock[run.T_OLD] == clock[run.T_NEW]:  # no step yet
            return float(self.progress[run.WORK][run.WORK_NEW])
        slots = (run.NODE_T, run.NODE_WORK, run.NODE_POWER, run.NODES)
        return float(hermite_between(t, *(self.progress[slot] for slot in slots)))

    def times(self) -> list[np.ndarray]:
        """Times of the events, one array per function."""
        return [np.array([t for t, _, _ in found]) for found in self.found]

    def states(self) -> list[np.ndarray]:
        """Coordinates and rates (k, 2, n) at the events, one array per function."""
        n = self.progress.system.n
        return [np.array([(q, v) for _, q, v in found]).reshape(-1, 2, n) for found in self.found]


def as_functions(events: Any) -> list[Callable[[float, Instant], float]]:
    """One or several event functions as a list."""
    from index3.forces.driven import takes  # here: most runs have no events, and not every model has such forces

    advice = "Give a function of (t, state), or several in a list."
    functions = [events] if callable(events) else listed(events, "simulate: events =", advice)
    for function in functions:
        if not callable(function):
            raise ModelError(f"simulate: events holds {function!r}. Give functions of (t, state).")
        if not takes(function, 2):
            raise ModelError(
                f"simulate: event {name_of(function)} cannot be called with two arguments. Give a function of "
                "(t, state); state['pin'].angle, state['rod'].position, state.q and state.v tell where the model is."
            )
        action = getattr(function, "action", None)
        if action is not None and not callable(action):
            raise ModelError(
                f"simulate: event {name_of(function)} has the action {action!r}. Give open_joint(...) or a function."
            )
        check_attributes(function)
    return functions


def check_attributes(function: Callable) -> None:
    """Refuse what `terminal` and `direction` cannot be.

    Raises
    ------
    ModelError : one of them is no number, or `terminal` no number of occurrences.
    """
    terminal, direction = getattr(function, "terminal", None) or 0, getattr(function, "direction", 0)
    if not (isinstance(terminal, Real | np.bool_) and float(terminal) >= 0 and float(terminal).is_integer()):
        raise ModelError(
            f"simulate: event {name_of(function)} has terminal = {terminal!r}. Give True, or the number of the "
            "occurrence that ends the run."
        )
    if not (isinstance(direction, Real) and direction == direction):
        raise ModelError(
            f"simulate: event {name_of(function)} has direction = {direction!r}. Give 1 (rising), -1 (falling) or 0."
        )


def name_of(function: Callable) -> str:
    """What messages call an event function."""
    return str(getattr(function, "__name__", repr(function)))


def as_number(function: Callable, value: Any) -> float:
    """An event's value as a finite float."""
    name = name_of(function)
    if isinstance(value, bool | np.bool_):
        raise ModelError(
            f"simulate: event {name} gave {value}. Return a number that changes its sign at the event, such as x - 0.5 "
            "in place of x > 0.5."
        )
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"simulate: event {name} gave {value!r}. Return one number.") from None
    if not np.isfinite(number):
        raise ModelError(f"simulate: event {name} gave {number}. Return a finite number.")
    return number
