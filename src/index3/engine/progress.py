"""Progress of a run: a bar on a terminal, silence in pipes, or a function of the user."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from reprlib import repr as short
from typing import Any

from index3.errors import ModelError

Report = Callable[[float], None]
"""A function to call with the time reached."""


def reporter(progress: Any, name: str, span: tuple[float, float]) -> contextlib.AbstractContextManager[Report]:
    """A function to call with the time reached, while the context lasts."""
    if callable(progress):
        return contextlib.nullcontext(lambda t: progress(t, span[1]))
    if not is_shown(progress, "simulate", "(t, t1)"):
        return contextlib.nullcontext(silent)
    return bar_of_time(name, *span)


def silent(t: float) -> None:
    """A report that nobody sees."""


@contextlib.contextmanager
def bar_of_time(name: str, t0: float, t1: float) -> Iterator[Report]:
    """A report by a bar on the terminal."""
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


@contextlib.contextmanager
def bar_of_cases(progress: Any, total: int) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of cases that are finished."""
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if not is_shown(progress, "sweep", "(done, total)"):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("sweep"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweep", total=total)
        yield lambda done: bar.update(task, completed=done)


def is_shown(progress: Any, who: str, arguments: str) -> bool:
    """Whether there is to be a bar.

    Raises
    ------
    ModelError : the setting is none of its choices.
    """
    if not isinstance(progress, bool) and not (isinstance(progress, str) and progress == "auto"):
        raise ModelError(
            f"{who}: progress = {short(progress)}. Choose 'auto', True, False, or give a function of {arguments}."
        )
    return progress is True or (progress == "auto" and sys.stderr.isatty())
