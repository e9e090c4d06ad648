"""The store of a run: a netCDF file once it has ended; until then a journal beside it, and the last checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import Index3Error, ModelError
from index3.results.arrays import plain
from index3.results.journal import RUN, START, SUFFIX, Journal, JournalWriter, StoreFailed, as_json, read_journal
from index3.results.layout import Layout
from index3.results.netcdf import read_netcdf, write_netcdf
from index3.results.sinks import Block, FileSink
from index3.results.writing import beside, clear_leftovers

if TYPE_CHECKING:
    from index3.results.result import Result

UNFINISHED = 2
"""Status of a run that has not ended: the same as that of one that was interrupted."""


class StoreSink(FileSink):
    """A file for a run that can be resumed: `open` it anew, or `reopen` it, before the first line.

    `keep` puts a checkpoint beside the journal, in place of the last one. A run that is interrupted leaves both. When
    something cannot be written, `StoreFailed` is raised once, and nothing is written from then on.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self.checkpoint = checkpoint_path(self.path)
        self.failed = False

    def begin(self, layout: Layout, sizes: Mapping[str, int]) -> None:
        """A run starts."""
        self.sizes, self.layout, self.writer = dict(sizes), layout, None

    def open(self, asked: Mapping[str, Any], start: bytes) -> None:
        """Begin a journal with what was asked of the run, and with what it begins from."""
        more = ((RUN, as_json(plain(asked))), (START, start))
        self.writer = JournalWriter(self.journal, self.layout, self.sizes, more)

    def reopen(self, end: int) -> None:
        """Go on with a journal behind one of its records."""
        self.writer = JournalWriter.reopened(self.journal, end)
        clear_leftovers(self.path)

    @property
    def end(self) -> int:
        """The place behind the last record of the journal."""
        return 0 if self.writer is None else self.writer.end

    def take(self, block: Block) -> None:
        """Put a block on the disk."""
        if not self.failed:
            with self.failing():
                super().take(block)

    def keep(self, data: bytes) -> None:
        """Put a checkpoint on the disk, in place of the last one."""
        unfinished = beside(self.checkpoint)
        with self.failing():
            try:
                with open(unfinished, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, self.checkpoint)
            except OSError as error:
                unfinished.unlink(missing_ok=True)
                raise StoreFailed(
                    f"Checkpoint '{self.checkpoint}' cannot be written: {error.strerror or error}. Make room; the "
                    "lines of the run until then are kept."
                ) from error

    def finish(self, layout: Layout, info: Mapping[str, Any]) -> None:
        """Turn the journal into the netCDF file, unless the run may be resumed."""
        assert self.writer is not None
        if self.failed or info["status"] == UNFINISHED:
            self.writer.close()
            return
        with self.failing():
            super().finish(layout, info)
        self.checkpoint.unlink(missing_ok=True)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Write nothing more once something could not be written."""
        try:
            yield
        except StoreFailed:
            self.failed = True
            raise


def journal_path(path: Path) -> Path:
    """The journal beside a netCDF file."""
    return path.with_name(f"{path.name}{SUFFIX}")


def checkpoint_path(path: Path) -> Path:
    """The last checkpoint beside a netCDF file."""
    return path.with_name(f"{path.name}.checkpoint")


def open_journal(path: str | os.PathLike[str]) -> Journal | None:
    """The journal of a run that has not become a netCDF file; None if there is none.

    Raises
    ------
    ModelError : this is not a path of a file.
    Index3Error : the journal cannot be read.
    """
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in str(path):
        raise ModelError(f"{short(path)} is not a path of a file. Give that of a stored run, such as 'run.nc'.")
    journal = journal_path(Path(path))
    try:
        return read_journal(journal) if journal.exists() else None
    except Index3Error:
        if journal.exists():
            raise
        return None  # the run has just ended


def complete(path: str | os.PathLike[str], journal: Journal) -> None:
    """Write the netCDF file of a run that has ended, from its journal.

    Raises
    ------
    Index3Error : another process does so, or the file cannot be written.
    """
    assert journal.info is not None
    target = Path(path).absolute()
    writer = JournalWriter.reopened(journal_path(target), journal_path(target).stat().st_size - journal.ignored)
    try:
        write_netcdf(Layout.from_dict(journal.layout), journal.arrays, journal.info, target)
    finally:
        writer.close()
    journal_path(target).unlink()
    checkpoint_path(target).unlink(missing_ok=True)


def read_store(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Layout, arrays and information on a run, from its journal if there is one, else from the netCDF file.

    Raises
    ------
    Index3Error : there is neither, or it cannot be read.
    """
    journal = open_journal(path)
    if journal is None:
        return read_netcdf(path)
    info = journal.info
    if info is None:
        said = (
            f"The run has not ended: its journal holds {journal.lines} lines. It is still running, or it was killed or "
            f"its disk was full; then index3.resume('{path}') goes on with it."
        )
        asked = journal.asked or {}
        info = {"status": UNFINISHED, "success": False, "message": said, "method": str(asked.get("method", ""))}
    return journal.layout, dict(journal.arrays), info


def load(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `Result.save` or a stored run wrote; of a run that has not ended, what there is of it.

    Raises
    ------
    Index3Error : there is no such file, or it is no result.

    >>> import index3 as ix, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.nc")
    >>> result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), t_eval=0.05, store=path)
    >>> len(ix.load(path).t)
    3
    """
    from index3.results.result import Result  # which reads its files through this module

    return Result.load(path)
