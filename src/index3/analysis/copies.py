"""Copies of a prepared model: a run with changes has one to itself while it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from index3.engine.layout import describe
from index3.model.model import Model
from index3.system.system import System


class Copies:
    """Copies of a model, changed for one run and put right for the next.

    Parameters
    ----------
    model : what is copied
    Attributes
    ----------
    renumbered : systems of copies that are changed at present in nothing but records, by the copy's id
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._spare: list[Model] = []  # copies that no run has changed at present
        self._unchanged: dict[int, System] = {}  # their systems, by their id
        self.renumbered: dict[int, System] = {}

    @contextmanager
    def changed(self, changes: Mapping[str, Any], compile_copy: Callable[[Model], System]) -> Iterator[Model]:
        """A copy with changes, which are undone in the end; a copy without changes may have to be compiled before.

        Raises
        ------
        ModelError : a change that the element refuses.
        """
        from index3.files.changes import apply  # knows model files, which are slow to import
        from index3.system.renumbering import only_records, renumbered  # for runs with changes alone

        copy = self._spare.pop() if self._spare else self._model.copy()
        try:
            bodies = only_records(copy, changes)
            system = None if bodies is None else self._system(copy, compile_copy)
            undo = apply(copy, changes)
            try:
                changed = None if system is None or bodies is None else renumbered(system, bodies)
                if changed is not None:
                    self.renumbered[id(copy)] = changed
                yield copy
            finally:
                self.renumbered.pop(id(copy), None)
                undo()
        finally:
            self._spare.append(copy)

    def _system(self, copy: Model, compile_copy: Callable[[Model], System]) -> System:
        """The system of a copy that nothing has changed at present, with the layout of its results."""
        if id(copy) not in self._unchanged:
            from index3.system.renumbering import note_inertias

            system = compile_copy(copy)
            describe(copy, system)
            note_inertias(system)
            self._unchanged[id(copy)] = system
        return self._unchanged[id(copy)]
