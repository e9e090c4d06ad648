"""Lines of a run on their way to a sink: a segment's run writes them, here they are closed and handed on in blocks."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Mapping
from math import prod
from time import monotonic
from typing import Any

import numpy as np

from index3.compiled import columns
from index3.compiled.workspace import Workspace
from index3.engine.late import late_arrays
from index3.engine.segments import Segment
from index3.errors import Index3Error
from index3.methods.output import SMALL, Output
from index3.results.layout import Layout
from index3.results.sinks import MemorySink, Sink, Written

STAGES = ("placed", "complete")
"""Of a line: positions and velocities are closed; so is what follows from them."""
BLOCK_BYTES, BLOCK_LINES = 8_000_000, 4096
"""A block holds at most about so much, and so many lines (but always 4)."""
KEPT_BYTES = 1_000_000_000
"""The same where the sink keeps its blocks: one block then holds all lines that are to come, or as many as there are
already if nobody knows, because few large pieces of memory go back to the system where many small ones do not. What is
not written takes no memory, but a run that ends early may ask for far more lines than there is room."""
FEW_LINES = 20
"""So few lines are completed during the run: they take less time than the equations of another state."""
NO_MEMORY = contextlib.nullcontext()
"""While lines of elements without memory are closed."""
Callback = Callable[[float, np.ndarray, np.ndarray], Any]
"""What a user wants called with every line: time, coordinates and rates; an answer of True stops the run."""


class OtherMemory:
    """While it lasts, elements remember what they did at a stage of the line before; a class, since generators take
    longer than to close a line."""

    def __init__(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.pairs = pairs  # what they remember at present, and what of the line before

    def __enter__(self) -> None:
        self.steps = [array.copy() for array, _ in self.pairs]
        for array, of_line in self.pairs:
            array[...] = of_line

    def __exit__(self, *_: object) -> None:
        for (array, of_line), of_steps in zip(self.pairs, self.steps, strict=True):
            of_line[...] = array
            array[...] = of_steps


class Collector:
    """The output of all segments of one run.

    Parameters
    ----------
    sink : where closed lines go
    layout, sizes : of the result
    lines : the number of lines to come, if it is known
    workspace : of the run
    late : whether columns that follow from others of their line may be left to whoever asks for them
    """

    def __init__(
        self, sink: Sink, layout: Layout, sizes: dict[str, int], lines: int | None, workspace: Workspace,
        *, late: bool = False,
    ) -> None:  # fmt: skip
        self.sink, self.lines, self.sizes = sink, lines, sizes
        self.late = late and isinstance(sink, MemorySink)
        self.stages: list[np.ndarray | int] = []  # of the lines of every block that was given; their number if complete
        self.given, self.given_at = 0, monotonic()
        sink.begin(layout, sizes)
        self.width = width_of(tuple(sizes.items()))
        self.output = output_of(workspace, self.sizes, self.block_lines(), self.width)
        self.events: list[int] = []  # lines of events that are not closed yet
        self.closed = 0  # lines that are complete; those behind them are as the method wrote them
        self.taken = False  # the block is full and the sink has it: another one is made for whoever writes more

    def block_lines(self) -> int:
        """How many lines the next block is to hold."""
        usual = min(max(BLOCK_BYTES // self.width, 4), BLOCK_LINES)
        if not self.sink.keeps:
            return usual
        wanted = max(usual, self.given) if self.lines is None else self.lines - self.given
        return max(min(wanted, KEPT_BYTES // self.width), 1)

    def follow(self, segment: Segment) -> None:
        """Let another segment write from now on; its rows may be some of all."""
        self.segment = segment
        if self.output.table[columns.PLACES] is not segment.variant.columns:
            self.output.table[columns.PLACES] = segment.variant.columns
        segment.run.write_to(self.output)
        present = segment.variant.state.remembered()
        self.memory = {f"{stage}:{name}": array.copy() for stage in STAGES for name, array in present.items()}

    def own_memory(self, stage: str) -> contextlib.AbstractContextManager[None]:
        """While lines are closed, elements remember this stage of the line before, and afterwards the steps again.

        How many lines are closed at a time is up to the clock (`interrupts`); what a function of the user starts from
        must not be.
        """
        if not self.memory:
            return NO_MEMORY
        present = self.segment.variant.state.remembered()
        return OtherMemory([(array, self.memory[f"{stage}:{name}"]) for name, array in present.items()])

    def make_room(self) -> None:
        """Let there be room for lines, if the sink has the block."""
        if self.taken:
            self.taken = False
            self.output.renew(self.block_lines())

    def drop(self, before: float) -> None:
        """Take back lines that are not closed yet, unless they are earlier than a time."""
        if before == math.inf:
            return
        written = self.output.arrays["t"][self.closed : self.output.count]
        self.output.count = self.closed + int(np.searchsorted(written, before))

    def add(self, line: Mapping[str, np.ndarray]) -> None:
        """Put the line of an event behind those written by the run."""
        if self.output.count == self.output.room:
            self.give()
        self.events.append(self.output.count)
        self.output.add(line)

    def close(self, project: bool) -> Index3Error | None:
        """Close the lines written since the last call; why one cannot be closed (it and later ones are dropped).

        What an interrupt leaves half done is done again by the next call.
        """
        first = self.closed
        with self.own_memory("placed"):
            good, error = self.place(project)
        times = self.output.arrays["t"][first:good]
        own = self.segment.own_times(times)
        now = self.output.table[columns.STAGE][first:good] != columns.PLACED
        if not self.late or self.segment.variant.open:
            now[:] = True
        elif own is not times:
            now |= own != times
        projection = self.segment.variant.projection
        with self.own_memory("complete"):
            for begin, end in stretches(now):
                done, why = projection.completion.fill(self.output, first + begin, first + end, check=project)
                if why is not None:
                    good, error = done, why
                    break
        if own is not times:
            times[:] = own
        self.cut(good)
        return error

    def place(self, project: bool) -> tuple[int, Index3Error | None]:
        """Close positions and velocities of the lines that are not yet; as `Projector.place_lines`.

        Those of events along directions of their own: what an event is located by must not move along the constraints.
        """
        projection, good, count = self.segment.variant.projection, self.closed, self.output.count
        error: Index3Error | None = None
        for k in (*(k for k in self.events if good <= k < count), count):
            good, error = projection.place_lines(self.output, good, k, project)
            if error is not None:
                break
            if k < count:
                projection.forget_directions()
        self.events = []
        return good, error

    def cut(self, lines: int) -> None:
        """Drop all but the first lines of the block, which are closed."""
        self.output.count = self.closed = lines

    def show(self, callback: Callback, first: int) -> bool:
        """Call the user's callback for every closed line from `first`; if it wants to stop, later ones are dropped."""
        t, q, v = (self.output.arrays[name] for name in ("t", "q", "v"))
        for k in range(first, self.closed):
            answer = callback(float(t[k]), q[k].copy(), v[k].copy())
            if isinstance(answer, bool | np.bool_) and answer:
                self.cut(k + 1)
                return True
        return False

    def give_if_due(self) -> bool:
        """Give the sink what is closed if the block is full or was waited for; whether it wants the run to stop."""
        waited = monotonic() - self.given_at >= self.sink.wait
        return self.give() if self.closed == self.output.room or (waited and self.closed) else False

    def give(self, more: bool = True) -> bool:
        """Give the sink what is closed, if anything is; whether it wants the run to stop. `more` lines may follow."""
        if not self.closed:
            return False
        coming = 0 if not more else math.inf if self.lines is None else self.lines
        variant, complete = self.segment.variant, False
        if self.late and not variant.open and max(self.given + self.closed, coming) < FEW_LINES:
            # of a line without accelerations: whoever asks for them is told
            complete = variant.projection.completion.fill(self.output, 0, self.closed, check=True)[1] is None
        whole = self.closed == self.output.room
        columns_of = self.output.arrays
        answer = self.sink.take(Written(columns_of) if whole else {k: x[: self.closed] for k, x in columns_of.items()})
        self.given += self.closed
        if self.late:
            self.stages.append(self.closed if complete else self.output.table[columns.STAGE][: self.closed].copy())
        if whole and more and self.sink.keeps and self.given == self.lines:  # no line is known to come
            self.taken, self.closed = True, 0
        else:
            if self.sink.keeps and more:
                self.output.renew(self.block_lines())
            self.cut(0)
        self.given_at = monotonic()
        return answer is True

    def arrays(self) -> Mapping[str, np.ndarray]:
        """The columns of all lines that the sink can give back; some may be filled when they are asked for."""
        arrays = self.sink.arrays
        if not any(np.count_nonzero(stage != columns.COMPLETE) for stage in self.stages if not isinstance(stage, int)):
            return arrays
        stage = np.concatenate([np.full(x, columns.COMPLETE) if isinstance(x, int) else x for x in self.stages])
        return late_arrays(arrays, self.sizes, stage, self.segment.variant)


def output_of(workspace: Workspace, sizes: dict[str, int], lines: int, width: int) -> Output:
    """Room for lines of some width in bytes; for few of them in the table of the run before, which goes on to know
    them."""
    if lines * width > SMALL:
        return Output(sizes, lines)
    output: Output | None = workspace.kept.get("output")
    if output is None or output.sizes != sizes:
        output = workspace.kept["output"] = Output(sizes, lines)
    else:
        output.renew(lines)
    return output


@functools.lru_cache(64)
def width_of(sizes: tuple[tuple[str, int], ...]) -> int:
    """Bytes of a line."""
    return 8 * sum(prod(shape) for shape in columns.shapes(1, dict(sizes)).values())


def stretches(chosen: np.ndarray) -> list[tuple[int, int]]:
    """First and end of every run of chosen lines.

    >>> stretches(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    count = int(np.count_nonzero(chosen))
    if count == 0:
        return []
    if count == len(chosen):
        return [(0, count)]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
