"""Finished cases of a sweep on the disk: a folder with what was asked, and a line of JSON for each case."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from index3.analysis.sweep_work import Row
from index3.errors import Index3Error, ModelError

ASKED, CASES = "sweep.json", "cases.jsonl"


class SweepStore:
    """A folder; `finished` holds the rows that are there already, by the number of the case.

    Raises
    ------
    ModelError : the folder holds a sweep and `resume` is False, or it is another sweep.
    Index3Error : it cannot be written.
    """

    def __init__(self, folder: Any, asked: Mapping[str, Any], resume: bool) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise ModelError(f"sweep: store = {folder!r}. Give the path of a folder.")
        self.folder = Path(folder)
        self.finished: dict[int, Row] = {}
        plain = json.loads(json.dumps(asked))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self.folder / ASKED
            if file.exists():
                self.check(json.loads(file.read_text()), plain, resume)
            else:
                unfinished = file.with_suffix(f".{os.getpid()}")
                unfinished.write_text(json.dumps(plain, indent=1))
                os.replace(unfinished, file)
            size = self.read()
            self.file = open(self.folder / CASES, "ab")  # noqa: SIM115  # open as long as the sweep goes on
            self.file.truncate(size)  # of a line that was being written
        except OSError as error:
            raise Index3Error(f"sweep: store '{folder}' cannot be written: {error.strerror or error}.") from error

    def check(self, found: Mapping[str, Any], asked: Mapping[str, Any], resume: bool) -> None:
        """Raise unless the folder holds the same sweep, and it is to go on."""
        if not resume:
            raise ModelError(
                f"sweep: store '{self.folder}' holds a sweep already. Say resume=True to go on, or give another folder."
            )
        for name, value in asked.items():
            if found.get(name) != value:
                raise ModelError(
                    f"sweep: store '{self.folder}' holds another sweep: its {name} differ. Give another folder."
                )

    def read(self) -> int:
        """Read finished cases; the number of bytes that are whole lines."""
        file, size = self.folder / CASES, 0
        if not file.exists():
            return 0
        for line in file.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                number, *row = json.loads(line)
                self.finished[number] = Row(*row)
            except (TypeError, ValueError, OverflowError):
                break
            size += len(line)
        return size

    def add(self, number: int, row: Row) -> None:
        """Put a row on the disk."""
        try:
            self.file.write(json.dumps([number, *row]).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise Index3Error(
                f"sweep: store '{self.folder}' cannot be written: {error.strerror or error}. The cases in it are kept; "
                "make room and go on by resume=True."
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()
