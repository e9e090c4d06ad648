"""Classes that hold named fields, made without compiling anything.

A dataclass writes its functions as text that Python compiles in every process: one to two per cent of a start each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform


class Fresh:
    """The default of a field that each record has one of its own of."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def fresh(*, default_factory: Callable[[], Any]) -> Any:
    """Let a field that is not given be what a function returns."""
    return Fresh(default_factory)


@dataclass_transform(eq_default=False, field_specifiers=(fresh,))
class Record:
    """What its annotations say, by place or name, with their defaults; as a dataclass, with one constructor for all.

    Parameters
    ----------
    frozen : attributes cannot be set
    eq : records of one class are compared by their fields, and shown with them

    >>> class Span(Record, eq=True):
    ...     first: float
    ...     last: float = 1.0
    >>> Span(0.0), Span(0.0) == Span(last=1.0, first=0.0)
    (Span(first=0.0, last=1.0), True)
    >>> Span()
    Traceback (most recent call last):
    TypeError: Span takes first, last, and was not given first
    """

    field_names: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, frozen: bool = False, eq: bool = False, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = [name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar")]
        cls.field_names = (*cls.field_names, *own)
        cls.defaults = cls.defaults | {name: vars(cls)[name] for name in own if name in vars(cls)}
        if eq:
            cls.__eq__, cls.__repr__ = _equal, _shown  # type: ignore[method-assign, assignment]
            cls.__hash__ = _hash if frozen else None  # type: ignore[method-assign, assignment]
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse  # type: ignore[method-assign, assignment]

    def __init__(self, *given: Any, **named: Any) -> None:
        names = self.field_names
        values = {**dict(zip(names, given, strict=False)), **named}
        if len(values) != len(given) + len(named):
            raise self._misfit(given, named)
        if len(values) < len(names):
            for name, default in self.defaults.items():
                if name not in values:
                    values[name] = default.make() if type(default) is Fresh else default
        if len(values) != len(names) or not values.keys() <= set(names):
            raise self._misfit(given, named)
        self.__dict__.update(values)

    def _misfit(self, given: tuple[Any, ...], named: dict[str, Any]) -> TypeError:
        """The error of a call with too many, unknown or missing values."""
        known, places = self.field_names, self.field_names[: len(given)]
        missing = [name for name in known if name not in (*places, *named, *self.defaults)]
        wrong = [name for name in named if name not in known or name in places]
        said = f"was not given {', '.join(missing)}" if missing else f"was given {len(given)} values by place"
        said += f" and {', '.join(wrong)}" if wrong else ""
        return TypeError(f"{type(self).__name__} takes {', '.join(known)}, and {said}")

    def replaced(self, **changes: Any) -> Self:
        """A record of this class with other values of some fields."""
        return type(self)(**{name: getattr(self, name) for name in self.field_names} | changes)


def _values(record: Record) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record.field_names)


def _equal(self: Record, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Record) -> int:
    return hash(_values(self))


def _shown(self: Record) -> str:
    fields = (f"{name}={getattr(self, name)!r}" for name in self.field_names)
    return f"{type(self).__qualname__}({', '.join(fields)})"


def _refuse(self: Record, name: str, *value: Any) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")
