"""Where functions of time jump, or begin to act: looked for before a run, so that its steps end there.

Error control knows a function of time at the points of its steps alone. A force that jumps between two of them is met
late or, if it jumps back before the next, not at all. So each function is asked at evenly spread times first, and where
its values leap the time is found by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from index3.bodies.smooth import Components, SmoothFunction, onsets
from index3.bodies.time_functions import Constant, Difference, Vector
from index3.errors import warn

CELLS, FINER = 1024, 4
"""Parts of the span at whose ends a function is asked, what is over within one of them may be overlooked; and into how
many each is divided if something was found, for such a function may have more of it."""
SLOW = 2
"""Parts divided by this for formulas as text, which take twenty times as long and tell some of their breaks."""
ROUGH, STEEP = 5.0, 0.1
"""Times the change of the slope nearby by which that of a cell must differ to be looked into, and part of the change
over a cell that stays in ever smaller parts of it if the function leaps there."""
HALVINGS = 8
"""Halvings after which such a change counts as one at once."""
SMALL = 1e-9
"""Part of the largest value below which a change is rounding."""
MOST = CELLS * FINER // 4
"""Jumps beyond which a function is not resolved by so many cells."""
DEEPEST = 6
"""Jumps looked for in one cell, in halves of it that lie beside one found: at most two to this power."""
EARLY = math.sqrt(3.0) / 1024.0
"""Part of the span that a first step may take where functions of time act: a step from rest has no other measure. No
fraction of whole numbers, for spans are often whole periods of what drives a model."""

SAME = 1e-12
"""Part of a time by which two may differ and still be one."""

Function = Callable[[float], Any]


def functions_of_time(model: Any) -> dict[str, list[Function]]:
    """Users' functions of time alone by the label of their element, each function once: forces, rates of motions."""
    found: dict[str, list[Function]] = {}
    known: set[int] = set()
    for label, f in _given(model):
        for leaf in _leaves(f):
            if id(leaf) not in known:
                known.add(id(leaf))
                found.setdefault(label, []).append(leaf)
    return found


def _given(model: Any) -> Iterator[tuple[str, Function]]:
    """Functions of time of all elements; those of position only where no rates are known."""
    for force in model.forces.values():
        for f in force.functions_of_time:
            yield force.label, f
    driven = [*model.motions.values(), *(joint for joint in model.joints.values() if hasattr(joint, "functions"))]
    moving = {id(marker): marker for element in (*model.joints.values(), *model.forces.values())
              for marker in getattr(element, "markers", ()) if hasattr(marker, "functions")}  # fmt: skip
    several = [(each.label, each.functions) for each in driven]
    several += [(marker.label, three) for marker in moving.values() for three in marker.functions]
    for label, functions in several:
        known = [f for f in functions if not isinstance(f, Difference)]
        for f in known[1:] or known:
            yield label, f


def _leaves(f: Any) -> Iterator[Function]:
    """What a function of time is made of: components, what a wrapper or a derivative belongs to."""
    if isinstance(f, Vector):
        f = f.f
    owner = getattr(f, "__self__", None)
    if isinstance(owner, SmoothFunction):  # its derivative
        f = owner
    if isinstance(f, Components):
        for part in f.parts:
            yield from _leaves(part)
    elif callable(f) and not isinstance(f, Constant):
        yield f


def find_breaks(model: Any, span: tuple[float, float]) -> tuple[np.ndarray, float]:
    """Times inside the span at which functions of time jump or begin to act, and the longest first step there.

    The step is infinite where all functions are constant and none of the state follows the time. A function that jumps
    too often is named in a warning.
    """
    times = [np.zeros(0)]
    early = EARLY * (span[1] - span[0]) if follows_time(model) else math.inf
    for label, functions in functions_of_time(model).items():
        for f in functions:
            try:
                found, step = breaks_of(f, span)
            except Exception:  # the run itself will say what is wrong with the function
                continue
            if len(found) > MOST:
                warn(
                    f"{label}: its function of time jumps more than {MOST} times between t = {span[0]:.6g} and "
                    f"{span[1]:.6g}, and steps may miss jumps. Declare them by discontinuities=, limit max_step to a "
                    "part of the time between two of them, or use a Controller."
                )
                found = []
            times.append(np.array(found, float))
            early = min(early, step)
    every = np.concatenate(times)
    start = span[0] + SAME * (span[1] - span[0])  # a run begins with what a function does after its first instant
    return every[(every > start) & (every <= span[1])], early


def follows_time(model: Any) -> bool:
    """Whether users' functions of the state may depend on time as well: nothing tells before a run what they do."""
    elements = (*model.forces.values(), *model.joints.values())
    return any(getattr(element, "uses_time", False) for element in elements)


def breaks_of(f: Function, span: tuple[float, float]) -> tuple[list[float], float]:
    """Times at which a function jumps or begins to act, and the longest first step that sees what it does."""
    step, known, cells = EARLY * (span[1] - span[0]), list[float](), CELLS
    if isinstance(f, SmoothFunction):
        known, cells = f.breaks(span), CELLS // SLOW
        if f.finest is not None:
            return known, min(f.finest, step)
    found, acts = looked_through(f, span, cells)
    if found:
        found, acts = looked_through(f, span, FINER * cells)
    return known + found, step if acts else math.inf


def looked_through(f: Function, span: tuple[float, float], cells: int) -> tuple[list[float], bool]:
    """Times at which a function jumps or begins to act, and whether it changes at all."""
    grid = np.linspace(*span, cells + 1)
    y = np.array([f(t) for t in grid.tolist()], float).reshape(cells + 1, -1)
    scale = float(np.abs(y).max())
    if not np.isfinite(scale):
        return [], False
    change = np.diff(y, axis=0)
    if np.abs(change).max() <= SMALL * scale:
        return [], False
    found: list[float] = []
    for k in rough_cells(change, SMALL * scale):
        ends = float(grid[k]), float(grid[k + 1])
        seek(f, ends, (f(ends[0]), f(ends[1])), found, DEEPEST)
        if len(found) > MOST:
            return found, True
    beside = 2.0 * (grid[1] - grid[0])
    found += [t for t in grid[onsets(np.abs(change).max(axis=1), SMALL * scale)].tolist()
              if all(abs(t - other) > beside for other in found)]  # fmt: skip
    return found, True


def rough_cells(change: np.ndarray, least: float) -> np.ndarray:
    """Cells over which the values change otherwise than over those beside them."""
    padded = np.pad(change, ((2, 2), (0, 0)), "edge")
    bend = np.abs(np.diff(padded, axis=0))  # of cells k - 2 and k - 1, and so on
    off = np.maximum(bend[1:-2], bend[2:-1])  # from the cell before, to the one behind
    return np.flatnonzero(np.any(off > ROUGH * np.minimum(bend[:-3], bend[3:]) + least, axis=1))


def gap(a: Any, b: Any) -> float:
    """The largest difference of two values, numbers or vectors."""
    if isinstance(a, int | float):
        return abs(b - a)
    return max(abs(y - x) for x, y in zip(a, b, strict=True))


def seek(f: Function, ends: tuple[float, float], values: tuple[Any, Any], found: list[float], depth: int) -> None:
    """Append the times at which a function leaps between two times, where it has these values."""
    (a, b), (first, last) = ends, values
    whole = size = gap(first, last)
    least, halvings = 2.0 * math.ulp(max(abs(a), abs(b))), 0
    while b - a > least:
        middle = 0.5 * (a + b)
        y = f(middle)
        left, right = gap(first, y), gap(y, last)
        whole = max(whole, left, right)  # it may rise and fall between two values that are alike
        if left >= right:
            b, last, size = middle, y, left
        else:
            a, first, size = middle, y, right
        if not size > STEEP * whole:
            break
        halvings += 1
    if halvings < HALVINGS:
        return
    found += [b] if size > STEEP * whole else [a, b]  # a jump; else a steep slope, which has two ends
    if depth > 0:
        for piece, at in (((ends[0], a), (values[0], first)), ((b, ends[1]), (last, values[1]))):
            if gap(*at) > STEEP * whole:
                seek(f, piece, at, found, depth - 1)


def apart(found: np.ndarray, declared: np.ndarray) -> np.ndarray:
    """Times found, each once but for roundings, without those that were declared."""
    kept = list(declared)
    for t in sorted(found.tolist()):
        if all(abs(t - other) > SAME * max(abs(t), abs(other)) for other in kept):
            kept.append(t)
    return np.array(kept[len(declared) :])
