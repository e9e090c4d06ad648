"""Progress of a run: a bar on a terminal, silence in pipes, or a function of the user."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from index3.errors import ModelError


@contextlib.contextmanager
def reporter(progress: Any, name: str, span: tuple[float, float]) -> Iterator[Callable[[float], None]]:
    """A function to call with the time reached."""
    t0, t1 = span
    if callable(progress):
        yield lambda t: progress(t, t1)
        return
    if progress not in ("auto", True, False):
        raise ModelError(
            f"simulate: progress = {progress!r}. Choose 'auto', True, False, or give a function of (t, t1)."
        )
    if progress is False or (progress == "auto" and not sys.stderr.isatty()):
        yield lambda t: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("t = {task.fields[t]:.4g} s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=t1 - t0, t=t0)
        yield lambda t: bar.update(task, completed=t - t0, t=t)
