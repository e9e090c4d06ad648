"""Sinks: where the lines of a run go, in blocks of whole lines, while it runs.

A block is a dict of the columns by name (`index3.compiled.columns`), each with the same number of lines. Sinks are
registered (`index3.register`) by their name.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.compiled import columns
from index3.errors import Index3Error, ModelError
from index3.registry import Registry, register

if TYPE_CHECKING:  # files are imported by those who write them
    from index3.results.journal import JournalWriter
    from index3.results.layout import Layout

Block = dict[str, np.ndarray]
SMALL = 4096
"""Bytes that may stay with a part of them."""


class StoreFailed(Index3Error):
    """What a run puts out cannot be written: no folder, no room, no right."""


def check_sink(cls: Any) -> None:
    """Raise unless a class of sinks is complete."""
    missing = [word for word, there in (("name", bool(cls.name)), ("take", cls.take is not Sink.take)) if not there]
    if missing:
        raise ModelError(f"it has no {' and no '.join(missing)}. Give the class what is missing.")


SINKS = Registry("sink", "SINKS", name=lambda cls: cls.name or cls.__name__, check=check_sink)
"""Sinks by name."""


class Sink:
    """Takes what a run puts out: `begin`, then `take` for every block, then `finish`.

    Attributes
    ----------
    name : by which it is known once it is registered
    keeps : whether a block taken is kept; if not, the next one comes in the same arrays
    wait : seconds for which lines may wait for their block to fill
    """

    registry: ClassVar[Registry] = SINKS
    name: ClassVar[str] = ""
    keeps = False
    wait = 0.0

    def begin(self, layout: Layout, sizes: Mapping[str, int]) -> None:
        """A run starts: what its columns mean, and the sizes of their dimensions."""
        self.sizes = dict(sizes)

    def take(self, block: Block) -> bool | None:
        """Some lines, closed and complete; True ends the run."""
        raise NotImplementedError

    def finish(self, layout: Layout, info: Mapping[str, Any]) -> None:
        """The run has ended, in the way that `info` says; only now `layout` knows which reactions are unique."""

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The columns of all lines taken that the sink can give back."""
        return columns.zeros(0, self.sizes)


class Written(Block):
    """Columns as a run wrote them: whoever takes them need not look at their types and shapes."""


@register
class MemorySink(Sink):
    """Keeps all lines. A run whose lines are known in advance writes them where they stay; others are copied once."""

    name = "memory"
    keeps = True
    wait = math.inf

    def begin(self, layout: Layout, sizes: Mapping[str, int]) -> None:
        """A run starts."""
        super().begin(layout, sizes)
        self.blocks: list[Block] = []

    def take(self, block: Block) -> None:
        """Keep a block."""
        self.blocks.append(block)

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The columns of all lines."""
        if not self.blocks:
            return super().arrays
        if len(self.blocks) == 1 and isinstance(self.blocks[0], Written):
            return self.blocks[0]
        names = list(self.blocks[0])  # column by column: the parts of one are free before the next is joined
        self.blocks = [Written({name: joined([block.pop(name) for block in self.blocks]) for name in names})]
        return self.blocks[0]


@register
class FileSink(Sink):
    """Writes lines to a journal beside a netCDF file while the run goes on, and that file when it has ended.

    Whatever ends the process, the journal (`index3.results.journal`) holds all lines but those of the last `wait`
    seconds. When the run has ended the journal becomes the file that `Result.save` would write, and is removed.
    """

    name = "file"
    wait = 1.0

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from pathlib import Path

        from index3.results.journal import SUFFIX

        self.path = Path(path).absolute()
        self.journal = self.path.with_name(f"{self.path.name}{SUFFIX}")

    def begin(self, layout: Layout, sizes: Mapping[str, int]) -> None:
        """Open the journal."""
        from index3.results.journal import JournalWriter

        super().begin(layout, sizes)
        self.writer: JournalWriter | None = JournalWriter(self.journal, layout, sizes)

    def take(self, block: Block) -> None:
        """Put a block on the disk."""
        assert self.writer is not None
        self.writer.write_lines(block)

    def finish(self, layout: Layout, info: Mapping[str, Any]) -> None:
        """Turn the journal into the netCDF file."""
        from index3.results.netcdf import write_netcdf

        assert self.writer is not None
        self.writer.write_end(layout, info)
        try:
            write_netcdf(layout, self.arrays, info, self.path)
        except (OSError, RuntimeError) as error:  # of a full disk, HDF5 says the latter
            self.writer.close()
            raise StoreFailed(
                f"File '{self.path}' cannot be written: {getattr(error, 'strerror', None) or error}. All lines of the "
                f"run are in the journal '{self.journal}'."
            ) from error
        self.writer.close()  # only now: nobody else may write the file meanwhile
        self.journal.unlink()
        self.writer = None

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The columns on the disk, each read when first asked for."""
        from index3.results.journal import read_journal
        from index3.results.netcdf import stored_arrays

        return stored_arrays(self.path) if self.writer is None else read_journal(self.journal).arrays


@register
class CallbackSink(Sink):
    """Gives every block to a function and keeps none; if the function returns True, the run stops.

    The next block comes in the same arrays: copy what is to stay.
    """

    name = "callback"

    def __init__(self, function: Callable[[Block], Any]) -> None:
        self.function = function

    def take(self, block: Block) -> bool:
        """Call the function."""
        answer = self.function(block)
        return isinstance(answer, bool | np.bool_) and bool(answer)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """One array of all parts; a part of a much larger array is copied, so that the rest of it is set free."""
    base = parts[0].base
    whole = base is None or getattr(base, "nbytes", SMALL + 1) <= SMALL
    return parts[0] if len(parts) == 1 and whole else np.concatenate(parts)
