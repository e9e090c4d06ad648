"""A place in a model for what was compiled of it."""

from __future__ import annotations

from typing import Any


class Compiled:
    """Systems of a model by what is open, and the content that the model had then (`index3.system.unchanged`).

    They go with the model. Copies and pickles of it begin with nothing.
    """

    def __init__(self) -> None:
        self.known: tuple[Any, dict[frozenset[str], Any]] = None, {}  # one word, so that threads see both or none

    def __copy__(self) -> Compiled:
        return Compiled()

    def __deepcopy__(self, memo: Any) -> Compiled:
        return Compiled()

    def __reduce__(self) -> tuple[Any, ...]:
        return Compiled, ()
