"""Fields of elements in model files: a class of elements declares them by name in its attribute `fields`.

The names are those of the arguments of its constructor, whose signature says which may be left out. A field has a
kind of value; how values of a kind stand in a file is known to `index3.files.kinds` alone. Dimensions are written as
"force*time/length" and the like; None says that the dimension is not known, so that files with other than SI units are
refused; a function of the place in the file gives one that depends on other fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Dimension = str | None | Callable[[Any], str | None]
Fields = Mapping[str, "Field"]


class Field(NamedTuple):
    """A field: the kind of its values, what is special about them, and where the writer finds the value.

    `short` ones are read but never written, since files are written in the long form; those with `set` are no
    arguments: they are set on the element once it is made.
    """

    kind: Any
    settings: tuple[tuple[str, Any], ...] = ()
    get: Callable[[Any], Any] | None = None
    short: bool = False
    set: Callable[[Any, Any], None] | None = None

    def found(self, get: Callable[[Any], Any]) -> Field:
        """The field whose value `get(element)` gives, None if it is to be left out."""
        return self._replace(get=get)


def field(kind: Any, **settings: Any) -> Field:
    """A field of a kind of `index3.files.kinds.KINDS`, with the settings of that kind."""
    return Field(kind, tuple(settings.items()))


def declare(*groups: Fields, **own: Field) -> Fields:
    """The fields of a class: those of some groups, and its own."""
    return MappingProxyType({key: field for group in (*groups, own) for key, field in group.items()})


def number(dimension: Dimension, *, positive: bool = False) -> Field:
    """A number."""
    return field("number", dimension=dimension, positive=positive)


def numbers(dimension: Dimension = None) -> Field:
    """A list of numbers."""
    return field("numbers", dimension=dimension)


def vector(dimension: Dimension, size: int = 3) -> Field:
    """Some numbers of one dimension."""
    return field("vector", dimension=dimension, size=size)


def points(dimension: Dimension, size: int, least: int, most: int | None = None) -> Field:
    """From `least` to `most` rows of `size` numbers each."""
    return field("points", dimension=dimension, size=size, least=least, most=most)


def law(out: str, by: str) -> Field:
    """A number of the dimension out/by, or a curve."""
    return field("law", out=out, by=by)


def choice(*words: str) -> Field:
    """One of some words."""
    return field("choice", words=words)


def time_function(dimension: Dimension) -> Field:
    """A number or a function of time."""
    return field("time_function", dimension=dimension)


def time_vector(dimension: Dimension) -> Field:
    """Three numbers or functions of time."""
    return field("time_vector", dimension=dimension)


def marker(index: int) -> Field:
    """One of the markers of a force, or a body."""
    return END.found(lambda force: force.markers[index] if index < len(force.markers) else None)


def short_form(kind: Field) -> Field:
    """A field of the short form."""
    return kind._replace(short=True)


def exponent(place: Any) -> float:
    """The exponent of a power law, 1 by default."""
    return float(place.entry.get("exponent", 1.0))


def coordinate_dimension(place: Any) -> str:
    """Of a joint's coordinate: an angle or a length."""
    joint = place.model.joints.get(place.entry.get("joint", ""))
    name = place.entry.get("coordinate") or (joint.coordinates[0] if joint is not None and joint.coordinates else "")
    return "angle" if name == "angle" else "length"


def effort_dimension(place: Any) -> str:
    """Of what drives a joint's coordinate: a torque or a force."""
    return "force*length" if coordinate_dimension(place) == "angle" else "force"


END, BODY, JOINT = field("end"), field("body"), field("joint")
"""A marker or body; the names of a body and of a joint."""
TEXT, TEXTS, FLAG = field("text"), field("texts"), field("flag")
POINT, LENGTH, RATIO, SPEED, DIRECTION = (
    vector("length"), number("length"), number("1"), number("length/time"), vector("1"),
)  # fmt: skip
FORM = declare(at=short_form(POINT), axis=short_form(DIRECTION), x=short_form(DIRECTION))
PAIR = declare(first=END, second=END)
ENDS = declare(first=marker(0), second=marker(1))
TWO_POINTS = declare(points=short_form(points("length", 3, 2, 2)))
