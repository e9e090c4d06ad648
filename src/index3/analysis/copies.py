"""Copies of a prepared model: a run with changes has one to itself while it lasts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
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
        self._done: dict[int, System] = {}  # and such with other records, which nobody asks any more
        self._fields: dict[tuple[Any, ...], dict[str, dict[str, str]] | None] = {}  # `of_records`, by the names
        self.renumbered: dict[int, System] = {}

    def take(self) -> Model:
        """A copy that no run has changed at present."""
        try:
            return self._spare.pop()
        except IndexError:
            return self._model.copy()

    def give_back(self, copy: Model) -> None:
        """Let another run have a copy whose changes are undone."""
        self._spare.append(copy)

    def change(
        self, copy: Model, changes: Mapping[str, Any], compile_copy: Callable[[Model], System]
    ) -> Callable[[], None]:
        """Change a copy, which may have to be compiled before; returns what undoes it.

        Raises
        ------
        ModelError : a change that the element refuses; the copy is then as it was.
        """
        apply, change_records, of_records, renumbered = tools()
        names = tuple(changes)
        if names not in self._fields:
            self._fields[names] = of_records(self._model, names)
        fields = self._fields[names]
        if fields is None:
            return apply(copy, changes)
        system, bodies = self._system(copy, compile_copy), [copy.bodies[name] for name in fields]
        values = ({field: changes[key] for field, key in keys.items()} for keys in fields.values())
        undo = change_records(zip(bodies, values, strict=True))
        spare = self._done.pop(id(copy), None)
        if spare is not None and spare.altered != (system, bodies):
            spare = None
        try:
            changed = renumbered(system, bodies, spare)
        except BaseException:
            undo()
            raise
        if changed is not None:
            self.renumbered[id(copy)] = changed
        return undo

    def finish(self, copy: Model) -> None:
        """Nobody asks the system of a changed copy any more: the next change may write over its records."""
        if id(copy) in self.renumbered:
            self._done[id(copy)] = self.renumbered[id(copy)]

    def _system(self, copy: Model, compile_copy: Callable[[Model], System]) -> System:
        """The system of a copy that nothing has changed at present, with the layout of its results."""
        if id(copy) not in self._unchanged:
            from index3.system.renumbering import note_inertias

            system = compile_copy(copy)
            describe(copy, system)
            note_inertias(system)
            self._unchanged[id(copy)] = system
        return self._unchanged[id(copy)]


@functools.cache
def tools() -> tuple[Callable[..., Any], ...]:
    """What makes changes: imported once, by the first run that has any, since it knows model files."""
    from index3.files.changes import apply, change_records, of_records
    from index3.system.renumbering import renumbered

    return apply, change_records, of_records, renumbered


class Changed:
    """A copy with changes, which are undone in the end; a class, since generators take longer than a change of mass.

    Raises, when it is entered, what `Copies.change` does.
    """

    def __init__(self, copies: Copies, changes: Mapping[str, Any], compile_copy: Callable[[Model], System]) -> None:
        self.copies, self.changes, self.compile_copy = copies, changes, compile_copy

    def __enter__(self) -> Model:
        self.copy = self.copies.take()
        try:
            self.undo = self.copies.change(self.copy, self.changes, self.compile_copy)
        except BaseException:
            self.copies.give_back(self.copy)
            raise
        return self.copy

    def __exit__(self, *_: object) -> None:
        self.copies.renumbered.pop(id(self.copy), None)
        try:
            self.undo()
        finally:
            self.copies.give_back(self.copy)
