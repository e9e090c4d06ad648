"""The types of elements that files can hold: made from what classes of elements say about their fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from index3.fields import Field
from index3.files import arrays, kinds, laws, surfaces
from index3.files.kinds import Kind
from index3.files.linkage import Steps
from index3.files.markers import End, Ends
from index3.files.terms import Terms
from index3.registry import ELEMENTS

SECTIONS = {"bodies": "body", "states": "states", "joints": "joint", "motions": "motion", "forces": "force"}
"""Parts of a file, in order, and the kind of element that each holds."""

KINDS: dict[str, Callable[..., Kind]] = {
    "number": kinds.number,
    "numbers": lambda dimension: kinds.Numbers(dimension=dimension),
    "vector": kinds.vector,
    "points": kinds.points,
    "path": kinds.path,
    "one_or_two": kinds.one_or_two,
    "flat_or_not": kinds.flat_or_not,
    "axis": kinds.axis,
    "damping": kinds.Damping,
    "matrix": lambda dimension: kinds.Numbers(kinds.Matrix3, "a 3x3 matrix", dimension),
    "inertia": kinds.Inertia,
    "block": kinds.Block,
    "orientation": kinds.Orientation,
    "text": Kind,
    "texts": lambda: kinds.TEXTS,
    "nodes": lambda: kinds.NODES,
    "numbers_by_name": lambda: kinds.NUMBERS_BY_NAME,
    "count": lambda: kinds.COUNT,
    "ratios": lambda: kinds.RATIOS,
    "file": arrays.FileName,
    "arrays": arrays.Arrays,
    "flag": lambda: Kind(bool, "true or false"),
    "choice": kinds.Choice.of,
    "shape": kinds.Shape,
    "end": End,
    "ends": Ends,
    "body": kinds.BodyName,
    "joint": kinds.JointName,
    "terms": Terms,
    "steps": Steps,
    "law": laws.Law,
    "laws": laws.Laws,
    "six": laws.Six,
    "time_function": laws.TimeFunction,
    "time_vector": laws.TimeVector,
    "road": surfaces.RoadKind,
    "surfaces": surfaces.Surfaces,
    "two_surfaces": surfaces.TwoSurfaces,
    "body_pairs": surfaces.BodyPairs,
}
"""Kinds of fields by the names that `index3.fields` gives them."""


def kind_of(field: Field) -> Kind:
    """The kind of a field: by its name, or as it is."""
    return KINDS[field.kind](**dict(field.settings)) if isinstance(field.kind, str) else field.kind


class Entry:
    """A type of element in files: a class or one of its makers, with the fields and the kinds of their values."""

    def __init__(self, cls: Any, maker: str) -> None:
        self.make: Callable[..., Any] = getattr(cls, maker) if maker else cls
        self.name = f"{cls.__name__}.{maker}" if maker else cls.__name__
        self.section = next(key for key, kind in SECTIONS.items() if kind == cls.element)
        self.fields: dict[str, Field] = dict(cls.makers[maker] if maker else cls.fields)

    @functools.cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the fields."""
        return {key: kind_of(field) for key, field in self.fields.items()}

    @functools.cached_property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """The arguments of the constructor that have names, without name."""
        named = (p for p in inspect.signature(self.make).parameters.values() if p.kind < p.VAR_KEYWORD)
        return {p.name: p for p in named if p.name != "name" and p.kind is not p.VAR_POSITIONAL}

    def is_required(self, key: str) -> bool:
        """Whether a field must be given."""
        return key in self.arguments and self.arguments[key].default is inspect.Parameter.empty

    def default(self, key: str) -> Any:
        """The value of a field that is left out; None if it has no value then."""
        return None if key not in self.arguments or self.is_required(key) else self.arguments[key].default

    def value(self, element: Any, key: str) -> Any:
        """What an element has in a field."""
        get = self.fields[key].get
        return getattr(element, key) if get is None else get(element)

    def setter(self, key: str) -> Callable[[Any, Any], None] | None:
        """What sets a field that is no argument of the constructor; None if it is one."""
        return self.fields[key].set or self.kinds[key].put


@functools.cache
def entry(cls: Any, maker: str) -> Entry:
    """The type of a class, or of one of its makers."""
    return Entry(cls, maker)


class Entries(Mapping[str, Entry]):
    """All types of elements by name, those that were registered in the meantime too."""

    def __getitem__(self, name: str) -> Entry:
        owner, _, maker = name.partition(".")
        cls = ELEMENTS[owner]
        if cls.no_file or (maker and maker not in cls.makers):
            raise KeyError(name)
        return entry(cls, maker)

    def __iter__(self) -> Iterator[str]:
        for name, cls in ELEMENTS.items():
            if not cls.no_file:
                yield name
                yield from (f"{name}.{maker}" for maker in cls.makers)

    def __len__(self) -> int:
        return sum(1 for _ in self)


ENTRIES = Entries()
"""The types that files can hold."""


def refusal(name: str) -> str:
    """Why no file can hold an element of a registered class; empty if it can."""
    return ELEMENTS[name].no_file if name in ELEMENTS else ""
