"""Changed numbers of a model: elements made anew by their own classes, which check them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from index3.bodies.marker import Marker, as_vector, check_name
from index3.element_type import overflows_raise, too_large
from index3.errors import ModelError
from index3.files.entries import ENTRIES, Entry, refusal
from index3.files.entries import entry as entry_for
from index3.files.inner_changes import change_inner, owner_of
from index3.files.units import near
from index3.model.model import Model, parts_of
from index3.registry import checked_fields

PLAIN = contextlib.nullcontext()
"""Where numbers of Python alone are looked at: to let NumPy's overflows raise takes longer than to change a mass."""
AFTERWARDS = ("shape", "color", "q0", "v0")
"""Fields of bodies that are no arguments of their classes."""


def apply(model: Model, changes: Mapping[str, Any]) -> Callable[[], None]:
    """Change some fields of a model: {"coil.stiffness": 2e4, "gravity": (0, 0, -1.6)}; a function that undoes it.

    Numbers inside an element have one name more: {"coil.second.position": (0, 0, 0.1)} is that of a marker. All else is
    as a model file would have it: lengths and angles that followed from positions stay what they were.

    Raises
    ------
    ModelError : an unknown element or field, or a value that the element refuses; the model is then as it was.
    """
    by_name: dict[str, dict[str, Any]] = {}
    before: list[tuple[Any, dict[str, Any]]] = []

    def undo() -> None:
        for element, values in reversed(before):
            vars(element).clear()
            vars(element).update(values)

    try:
        for key, value in changes.items():
            if key == "gravity":
                before.append((model, dict(vars(model))))
                model.gravity = as_vector(value, f"Model '{model.name}'", "gravity")
            else:
                name, field = element_and_field(key)
                by_name.setdefault(name, {})[field] = value
        for name, fields in by_name.items():
            element = model[name]
            inside = split(fields)
            for part, numbers in inside.items():
                owner = owner_of(model, element, part)
                before.append((owner, dict(vars(owner))))
                change_inner(owner, element, part, numbers)
            fields = {key: value for key, value in fields.items() if "." not in key}
            if inside and not fields:
                continue
            before.append((element, dict(vars(element))))
            change(model, element, fields)
    except BaseException:
        undo()
        raise
    return undo


def element_and_field(key: Any) -> tuple[str, str]:
    """The two names of a change, "coil.stiffness"."""
    name, _, field = key.partition(".") if isinstance(key, str) else ("", "", "")
    if not field:
        raise ModelError(f"changes: {key!r} is not a field of an element. Give names such as 'coil.stiffness'.")
    return name, field


def check_names(model: Model, names: Iterable[str]) -> None:
    """Raise for a name that no element or field of the model has, whatever its value would be."""
    for key in names:
        if key == "gravity":
            continue
        name, field = element_and_field(key)
        element, (part, dot, _) = model[name], field.partition(".")
        if dot:
            owner_of(model, element, part)
        else:
            check_field(element, entry_of(element), field)


def set_attribute(element: Any, key: str, value: Any) -> None:
    """Set an attribute of an element that is made; a field by making the element anew, as `change` does.

    Raises
    ------
    ModelError : there is no such attribute, the class of the element refuses the value, or it follows from others.
    """
    if key == "name":
        rename(element, value)
        return
    cls: Any = type(element)
    entry = known_entry(element) or own_entry(element)
    fields = {} if entry is None else entry.fields
    builds = entry is not None and bool(grown(entry))  # itself, step by step
    known = key in vars(element) or hasattr(cls, key)
    if key in fields and not builds and not fields[key].short and key in checked_fields(cls):
        try:
            change(model_of(element), element, {key: value}, others=True)
        except ModelError as error:
            raise ModelError(str(error).removeprefix("changes: ")) from None
    elif not known:
        names = [*(entry.fields if entry else ()), *(name for name in vars(element) if not name.startswith("_"))]
        raise ModelError(f"{element.label} has no attribute '{key}'. {near(key, dict.fromkeys(names))}")
    elif cls.__module__.startswith("index3.") and key in vars(element) and not builds:
        settable = [name for name, field in fields.items() if not field.short and name in checked_fields(cls)]
        advice = f"Set {', '.join(settable)}, or" if settable else "Remove it and"
        raise ModelError(f"{element.label}: {key} follows from what it was made with. {advice} add another one.")
    else:
        object.__setattr__(element, key, value)


def model_of(element: Any) -> Model | None:
    """The model that an element is in."""
    things = [element, *parts_of(element)]
    things += [body for part in things for body in getattr(part, "bodies", ())]
    models = [thing.model for thing in things if getattr(thing, "model", None) is not None]
    return next((model for model in models if element.name in model and model[element.name] is element), None)


def rename(element: Any, name: Any) -> None:
    """Give an element another name, also in the tables of its model.

    Raises
    ------
    ModelError : it cannot be a name, another element has it, or a controller reads the element by its name.
    """
    word, model = type(element).__name__, model_of(element)
    check_name(name, word)
    if model is not None and name != element.name:
        model.rename(element, name)
    for thing in (element, *getattr(element, "own_states", ())):
        object.__setattr__(thing, "name", name)


def split(fields: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Changes of what is inside an element, "first.position", by the marker or part."""
    inside: dict[str, dict[str, Any]] = {}
    for key, value in fields.items():
        part, dot, number = key.partition(".")
        if dot:
            inside.setdefault(part, {})[number] = value
    return inside


def change(model: Model | None, element: Any, changes: Mapping[str, Any], *, others: bool = False) -> None:
    """Let an element become what its class makes of the changed fields; all that refers to it goes on doing so.

    With `others`, fields may name other parts of the model.
    """
    entry, of_record = entry_of(element), vars(type(element)).get("of_record", {})
    if changes and entry.make is type(element) and changes.keys() <= of_record.keys():
        change_records([(element, changes)])
        return
    for key in changes if not others else ():
        check_field(element, entry, key)
    before = arguments(element, entry)
    made = entry.make(element.name, **before | {key: x for key, x in changes.items() if key not in AFTERWARDS})
    if entry.section == "bodies":
        keep_start(element, entry.make(element.name, **before), made, changes)
        made.shape, made.color = changes.get("shape", element.shape), changes.get("color", element.color)
    if others and model is not None:
        model.check_parts(made)
    for body in (made, *getattr(made, "own_states", ())):
        if hasattr(body, "model"):
            object.__setattr__(body, "model", model)
    vars(element).clear()
    vars(element).update(vars(made))


def of_records(model: Model, names: Iterable[Any]) -> dict[str, dict[str, str]] | None:
    """{body: {field: name}} of changes such as "rod.mass", which alter nothing of bodies but their records; None if
    there is more.

    >>> from index3.library import pendulum
    >>> of_records(pendulum(), ["rod.mass"]), of_records(pendulum(), ["rod.position"])
    ({'rod': {'mass': 'rod.mass'}}, None)
    """
    found: dict[str, dict[str, str]] = {}
    for key in names:
        name, _, field = key.partition(".") if isinstance(key, str) else ("", "", "")
        body = model.bodies.get(name)
        if body is None or field not in vars(type(body)).get("of_record", ()):
            return None
        if entry_of(body).make is not type(body):
            return None
        found.setdefault(name, {})[field] = key
    return found


def change_records(bodies: Iterable[tuple[Any, Mapping[str, Any]]]) -> Callable[[], None]:
    """Give bodies other masses and inertias, as their classes make them; nothing else of them follows from these.

    Returns a function that undoes it.

    Raises
    ------
    ModelError : a value that a body refuses; all are then as they were.
    """
    made, before = [], []
    for body, changes in bodies:
        own, label, words = vars(body), body.label, body.of_record
        try:
            with PLAIN if all(type(value) is float for value in changes.values()) else overflows_raise():
                made.append((own, {key: words[key](value, label) for key, value in changes.items()}))
        except (OverflowError, FloatingPointError):
            raise too_large(type(body).__name__, (body.name,), {}) from None
        before.append((own, {key: own[key] for key in changes}))
    for own, values in made:
        own.update(values)

    def undo() -> None:
        for own, values in before:
            own.update(values)

    return undo


def arguments(element: Any, entry: Entry) -> dict[str, Any]:
    """What makes an element again."""
    values = dict(getattr(element, "made_with", {}))  # arguments that no attribute keeps under their names
    values |= {key: getattr(element, key) for key in entry.arguments if key not in {*entry.fields, *values}}
    for key, field in entry.fields.items():
        known = key in values or field.short or entry.setter(key) is not None
        value = None if known else entry.value(element, key)
        if value is not None:
            values[key] = entry.kinds[key].argument(value)
    return values


def entry_of(element: Any) -> Entry:
    """What model files know of an element."""
    entry = known_entry(element) or own_entry(element)
    if entry is None:
        reason = refusal(type(element).__name__) or "model files know only the elements that are registered"
        raise ModelError(f"changes: {element.label} has no fields to change: {reason}. Give a changed Model instead.")
    if grown(entry):
        raise ModelError(
            f"changes: {element.label} is built step by step ({', '.join(grown(entry))}). Name a number of one of its "
            f"parts, such as '{element.name}.part.mass', or give a changed Model."
        )
    return entry


def own_entry(element: Any) -> Entry | None:
    """What a class declares that no file knows: no file can hold all of it, but numbers can change."""
    cls: Any = type(element)
    return entry_for(cls, "") if "fields" in vars(cls) and cls.__name__ not in ENTRIES else None


def known_entry(element: Any) -> Entry | None:
    """The type by which an element is made again, if there is one: that of its class, or the one that files write.

    A body that was not made by its constructor does not know the arguments of it.
    """
    cls = type(element)
    name, maker = cls.__name__, getattr(cls, "written_by", "")
    entry = ENTRIES.get(name)
    if entry is None or entry.make is not cls:
        return None
    return ENTRIES[f"{name}.{maker}"] if maker and "given" not in vars(element) else entry


@functools.cache
def grown(entry: Entry) -> list[str]:
    """The fields of an element that is built step by step, after it is made."""
    return [key for key in entry.fields if entry.setter(key) is not None and key not in AFTERWARDS]


def check_field(element: Any, entry: Entry, key: str) -> None:
    """Raise unless an element has a field of this name that holds numbers or functions."""
    known = [name for name, field in entry.fields.items() if not field.short or name in AFTERWARDS]
    if key in known:
        if key in AFTERWARDS or not refers(entry.value(element, key)):
            return
        raise ModelError(
            f"changes: {element.label}: {key} names other parts of the model. Name a number of a marker, such as "
            f"'{element.name}.{key}.position', or give a changed Model."
        )
    short = ""
    if key in entry.fields:
        short = f" {key} is a short form, from which markers were made when it was added."
    raise ModelError(f"changes: {element.label} has no field '{key}' to change.{short} {near(key, known)}")


def refers(value: Any) -> bool:
    """Whether a value is, or holds, another part of the model."""
    if isinstance(value, list | tuple):
        return any(map(refers, value))
    return isinstance(value, Marker) or hasattr(value, "element")


def keep_start(body: Any, again: Any, made: Any, changes: Mapping[str, Any]) -> None:
    """Give a body the coordinates and rates that were set since it was made, or that the changes give.

    Raises
    ------
    ModelError : they were set apart, so that a change of the fields that they follow from would be lost.
    """
    for key in ("q0", "v0"):
        now, first, new = (getattr(x, key) for x in (body, again, made))
        if key in changes:
            new[:] = as_vector(changes[key], body.label, key, body.size)
        elif not np.array_equal(now, first):
            if not np.array_equal(new, first):
                fields = ", ".join(name for name in changes if name not in AFTERWARDS)
                raise ModelError(f"changes: {body.label}: its {key} was set apart from {fields}. Change {key} instead.")
            new[:] = now
