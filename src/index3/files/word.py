"""What a word is to model files: a constructor and its fields; and groups of fields that many words share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from index3.bodies.time_functions import derivative
from index3.files.fields import DIRECTION, Kind, Place, number, points, vector
from index3.files.laws import TimeFunction
from index3.files.markers import END

SECTIONS = {"bodies": "body", "states": "states", "joints": "joint", "motions": "motion", "forces": "force"}
"""Parts of a file, in order, and the kind of element that each holds."""


@dataclass(frozen=True)
class Field:
    """A field of a word: its kind, and where the writer finds its value.

    `short` ones are read but never written; those with `set` are no arguments: they are set on the element once made.
    """

    kind: Kind
    get: Callable[[Any], Any] | None = None
    short: bool = False
    set: Callable[[Any, Any], None] | None = None


def fields(*groups: Mapping[str, Field], **own: Field | Kind) -> dict[str, Field]:
    """Fields by name."""
    made: dict[str, Field] = {}
    for group in groups:
        made |= group
    return made | {key: field if isinstance(field, Field) else Field(field) for key, field in own.items()}


class Word:
    """A type of element in files: `make`, a class or one of its class methods, and the fields of its entries.

    The names of fields are those of the arguments of `make`, whose signature says which may be left out.
    """

    def __init__(self, make: Callable[..., Any], *groups: Mapping[str, Field], **own: Field | Kind) -> None:
        owner: Any = make if inspect.isclass(make) else make.__self__  # type: ignore[attr-defined]
        self.make = make
        self.name = owner.__name__ if make is owner else f"{owner.__name__}.{make.__name__}"
        self.section = next(key for key, kind in SECTIONS.items() if kind == owner.element)
        self.fields = fields(*groups, **own)

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


def short(kind: Kind) -> Field:
    """A field of a short form: files are written in the long form."""
    return Field(kind, short=True)


def marker(index: int) -> Field:
    """One of the markers of a force."""
    return Field(END, lambda force: force.markers[index] if index < len(force.markers) else None)


def exponent(place: Place) -> float:
    """The exponent of a power law, 1 by default."""
    return float(place.entry.get("exponent", 1.0))


def coordinate_dimension(place: Place) -> str:
    """Of a joint's coordinate: an angle or a length."""
    joint = place.model.joints.get(place.entry.get("joint", ""))
    name = place.entry.get("coordinate") or (joint.coordinates[0] if joint is not None and joint.coordinates else "")
    return "angle" if name == "angle" else "length"


def effort_dimension(place: Place) -> str:
    """Of what drives a joint's coordinate: a torque or a force."""
    return "force*length" if coordinate_dimension(place) == "angle" else "force"


def function(index: int, dimension: str | Callable[[Place], str]) -> Field:
    """f, df or ddf of an element with `functions`; what follows from those before it is not written."""

    def get(element: Any) -> Any:
        value, rate, second = element.functions
        if index == 0:
            return value
        if index == 1:
            return None if rate == derivative(value) else rate
        follows = derivative(value, 2) if rate == derivative(value) else derivative(rate)
        return None if second == follows else second

    def by_time(place: Place) -> str:
        base = dimension(place) if callable(dimension) else dimension
        return base if index == 0 else f"{base}/time^{index}"

    return Field(TimeFunction(dimension=by_time), get)


POINT, LENGTH, RATIO = vector("length"), number("length"), number("1")
FORM = fields(at=short(POINT), axis=short(DIRECTION), x=short(DIRECTION))
PAIR = fields(first=END, second=END)
ENDS = fields(first=marker(0), second=marker(1))
TWO_POINTS = fields(points=short(points("length", 3, 2, 2)))
