"""A segment of a run as arrays, and back: all that changes while a method steps, to the last bit.

Kept are the state, the clock, counters and last two accepted states of the run, the tables of the method and of its
helpers, and all factors. Lines of output are not: they are taken before. Addresses are those of a process: tables that
name each other (a method may exchange two of them) do so again; those of kernels are not saved, since the new run knows
its own. Arrays saved from kernels run as plain Python (INDEX3_JIT=0) can be restored in the same process alone:
elsewhere kernels have other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.compiled import store
from index3.compiled.interface import JIT, Kernel, Table
from index3.engine.automatic import Choice
from index3.engine.segments import Segment
from index3.engine.variants import Variant
from index3.errors import Index3Error, ModelError
from index3.linear.solver import Solver
from index3.methods import projection_kernels, run
from index3.methods.output import Output
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.system.state import State
from index3.system.system import System

SCRATCH: dict[type, tuple[int, ...]] = {
    Run: (run.OUTPUT.index,),
    Projector: (projection_kernels.LINES.index,),
}
"""Slots of tables that say where output goes at present."""
APART = (State, System, Solver, Kernel, Output)
"""What is not looked into: the state saves itself, output was taken, the others do not change."""
FAR = 2**32
"""Integers beyond this are addresses; counters never get there."""


@dataclass(frozen=True)
class Part:
    """What changes together: a state, and what works on it, by name."""

    what: str
    state: State
    solver: Solver
    things: tuple[tuple[str, Any], ...]


def of_segment(segment: Segment) -> Part:
    """A method under way."""
    things = ("run", segment.run), ("method", segment.table), ("projection", segment.variant.projection)
    return Part(f"method '{segment.method.key}'", segment.variant.state, segment.run.solver, things)


def of_variant(variant: Variant) -> Part:
    """Equations that a run has left for a while, or has come back to."""
    return Part("a variant", variant.state, variant.projection.solver, (("projection", variant.projection),))


def save(segment: Segment) -> dict[str, np.ndarray]:
    """Copies of all that changes in a segment, by name, for `restore`; its output must have been taken.

    Raises
    ------
    Index3Error : lines of output are left, or a table holds an address that is not known.
    """
    if segment.run.output.count:
        raise Index3Error("A run is saved between blocks of output. Take the block first.")
    return save_part(of_segment(segment)) | labels(segment)


def save_part(part: Part) -> dict[str, np.ndarray]:
    """Copies of all that changes in a part, by name.

    Raises
    ------
    Index3Error : a table holds an address that is not known.
    """
    arrays, known, kernels = changing(part), handles(part), kernel_addresses()
    addresses = np.concatenate([known, kernels])
    for name, array in arrays.items():
        if array.dtype == np.int64 and JIT:
            strange = (np.abs(array) >= FAR) & ~np.isin(array, addresses) & (array != np.iinfo(np.int64).max)
            if np.any(strange):
                raise Index3Error(f"{name} of {part.what} holds an address of nothing that is known.")
    saved = {name: array.copy() for name, array in arrays.items()}
    for array in saved.values():
        if array.dtype == np.int64:
            array[np.isin(array, kernels)] = 0
    saved |= {f"state/{name}": array for name, array in part.state.save().items()}
    return saved | {"handles": known}


def restore(segment: Segment, saved: Mapping[str, np.ndarray]) -> None:
    """Let a segment that was begun in the same way, and has not stepped yet, go on where another was saved.

    How many steps it may take is its own.

    Raises
    ------
    ModelError : the arrays were saved from another model, method or plan.
    """
    begin_anew(segment, saved)
    limits = segment.run[run.LIMITS].copy()
    restore_part(of_segment(segment), saved)
    own = [run.BUDGET_STEPS, run.MAX_STEPS, run.LOOK_UP]
    segment.run[run.LIMITS][own] = limits[own]


def restore_part(part: Part, saved: Mapping[str, np.ndarray]) -> None:
    """Let a part go on where another of the same make was saved.

    Raises
    ------
    ModelError : it is of another make.
    """
    arrays, kernels = changing(part), kernel_addresses()
    given = {name: array for name, array in saved.items() if "/" in name and not name.startswith("state/")}
    for name in sorted(arrays.keys() | given.keys()):
        there = name in arrays and name in given
        if not there or (arrays[name].shape, arrays[name].dtype) != (given[name].shape, given[name].dtype):
            raise ModelError(f"The saved run does not fit this one: '{name}' differs. Begin it as the other was begun.")
    part.state.restore(state_in(saved))
    moved = dict(zip(saved["handles"].tolist(), handles(part).tolist(), strict=True))
    for name, array in arrays.items():
        keep = np.isin(array, kernels) if array.dtype == np.int64 else np.zeros(array.shape, bool)
        np.copyto(array, given[name], where=~keep)
        if array.dtype == np.int64:
            for old in set(array[~keep].tolist()) & moved.keys():
                array[given[name] == old] = moved[old]


def state_in(saved: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What is saved of a state."""
    return {name.removeprefix("state/"): array for name, array in saved.items() if name.startswith("state/")}


def labels(segment: Segment) -> dict[str, np.ndarray]:
    """What is said of a segment in words and counts: the work before it, and the methods that were chosen."""
    words = {"earlier": np.array([[key, str(count)] for key, count in segment.earlier.items()], str).reshape(-1, 2)}
    if segment.choice is None:
        return words | {"methods": np.array([[segment.method.key, "", ""]])}
    return words | {"methods": np.array([[x.key, x.reason, float(t).hex()] for t, x in segment.choice.choices])}


def begin_anew(segment: Segment, saved: Mapping[str, np.ndarray]) -> None:
    """Take the work before, and start the methods that had taken over, so that their tables are there."""
    methods = [tuple(map(str, line)) for line in saved["methods"]]
    if segment.method.key != methods[0][0]:
        raise ModelError(f"The saved run began by method '{methods[0][0]}', this one by '{segment.method.key}'.")
    segment.earlier = {str(key): int(count) for key, count in saved["earlier"]}
    if segment.choice is not None:
        for key, reason, t in methods[len(segment.choice.choices) :]:
            segment.table = segment.choice.take(segment.run, float.fromhex(t), Choice(key, reason))
            segment.method = segment.choice.method


def changing(part: Part) -> dict[str, np.ndarray]:
    """Every array that changes outside the state, each once, by where it is found."""
    own = (array for array in part.state.table.arrays if array is not None)
    fixed = (*part.solver.common, *part.state.workspace.shared, *own)
    seen = {id(array) for array in fixed}
    arrays = {}
    for path, table, scratch in tables(part):
        for k, array in enumerate(table.arrays):
            if array is not None and k not in scratch and id(array) not in seen:
                seen.add(id(array))
                arrays[f"{path}/{k}"] = array
    return arrays


def handles(part: Part) -> np.ndarray:
    """The addresses by which the tables of a part know each other and the state."""
    return np.array([part.state.handle, *(table.handle for _, table, _ in tables(part))], np.int64)


def kernel_addresses() -> np.ndarray:
    """The addresses of kernels in this process."""
    return np.array(store.loaded_addresses() if JIT else [], np.int64)


def tables(part: Part) -> Iterator[tuple[str, Table, tuple[int, ...]]]:
    """All tables of a part: where each is found, the table, and its slots that are filled for every block."""
    seen: set[int] = set()
    for name, thing in part.things:
        yield from tables_in(thing, name, (), seen)


def tables_in(
    thing: Any, path: str, scratch: tuple[int, ...], seen: set[int]
) -> Iterator[tuple[str, Table, tuple[int, ...]]]:
    """The tables in an object of the package, or in a list of them, each once."""
    if isinstance(thing, list | tuple):
        parts = {str(k): part for k, part in enumerate(thing)}
    elif type(thing).__module__.startswith("index3.") and not isinstance(thing, APART):
        if id(thing) in seen:
            return
        seen.add(id(thing))
        if isinstance(thing, Table):
            yield path, thing, scratch
        parts = vars(thing)
    else:
        return
    for name, part in parts.items():
        own = SCRATCH.get(type(thing), ()) if name == "table" else ()
        yield from tables_in(part, f"{path}.{name}", own, seen)
