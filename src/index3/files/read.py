"""Reading model files: text to data, data to checked entries, entries to a model. Each error names its place."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from index3.errors import ModelError
from index3.files.entries import ENTRIES, SECTIONS, Entry, refusal
from index3.files.kinds import Place, Vector3
from index3.files.schema import VERSION, entry_type
from index3.files.units import Units, near
from index3.model.model import Model

if TYPE_CHECKING:
    from index3.user_types import FilePath

LARGEST = {".json": 64_000_000, ".toml": 4_000_000}
"""Bytes of a file; TOML is parsed in Python, where 4 MB take some seconds."""


def load_model(path: FilePath) -> Model:
    """Read a model from a file, JSON or TOML by its ending.

    Raises
    ------
    ModelError : one line that names the file, the element and what is wrong; no part of a model is returned.

    >>> import index3 as ix, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pendulum.json")
    >>> ix.save_model(ix.library.pendulum(), path)
    >>> ix.load_model(path)
    Model('pendulum', 1 body, 1 joint)
    """
    file = as_file(path, "load_model")
    with at(file.name):
        return model_of(parse(read_text(file), file.suffix.lower()), file.parent)


def as_file(path: Any, who: str) -> Path:
    """The path of a file."""
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in str(path):
        raise ModelError(f"{who}: {short(path)} is not a path of a file. Give one such as 'crane.json'.")
    return Path(path)


@contextmanager
def at(place: str) -> Iterator[None]:
    """Begin the messages of errors with a place, in one line."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{place}: {' '.join(str(error).split())}") from None


def check_suffix(file: Path) -> str:
    """The ending of a model file."""
    suffix = file.suffix.lower()
    if suffix not in LARGEST:
        raise ModelError("a model file ends in .json or .toml.")
    return suffix


def read_text(file: Path) -> str:
    """The text of a file of bearable size."""
    suffix = check_suffix(file)
    try:
        size = file.stat().st_size
        if size > LARGEST[suffix]:
            advice = " Write long tables in JSON." if suffix == ".toml" else ""
            raise ModelError(f"the file has {size / 1e6:.0f} MB, more than {LARGEST[suffix] / 1e6:.0f} MB.{advice}")
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"byte {error.start} is not UTF-8. Save the file as UTF-8.") from None
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}.") from None


class NotFinite:
    """Stands for NaN and Infinity, which JSON does not have, until the check of its field names the place."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return self.token


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, unless it gives a field twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        owner = f" of '{data['name']}'" if isinstance(data.get("name"), str) else ""
        raise ModelError(f"the field '{double}'{owner} is given twice. Give it once.")
    return data


def parse(text: str, suffix: str) -> Any:
    """The data of a text."""
    try:
        if suffix == ".toml":
            return tomllib.loads(text)
        return json.loads(text, parse_constant=NotFinite, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ModelError(f"line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{error}.") from None
    except RecursionError:
        raise ModelError("the file is nested too deeply.") from None
    except ModelError:
        raise
    except ValueError:  # a number with thousands of digits
        raise ModelError("the file has a number of too many digits.") from None


def model_of(data: Any, folder: Path = Path()) -> Model:
    """The model that the data of a file in a folder describe."""
    if not isinstance(data, dict) or "index3" not in data:
        raise ModelError(
            f'this is not a model file. Write an object with "index3": {VERSION}, "bodies": [...] and so on.'
        )
    if data["index3"] != VERSION or isinstance(data["index3"], bool):
        raise ModelError(f"index3 is {short(data['index3'])}. This version reads format {VERSION}.")
    for key in data:
        if key not in ("$schema", "index3", "name", "gravity", "units", *SECTIONS):
            known = ["name", "gravity", "units", *SECTIONS]
            raise ModelError(f"unknown field '{key}'. {near(key, known)}")
    given = data.get("units", {})
    if not isinstance(given, dict):
        raise ModelError(f"units is {short(given)}. Give an object such as {{length: 'mm'}}.")
    units = Units(given)
    settings = {}
    if "gravity" in data:
        settings["gravity"] = read_gravity(data["gravity"], units)
    model = Model(data.get("name", "model"), **settings)
    place = Place(model, units, folder=folder)
    for section in SECTIONS:
        entries = data.get(section, [])
        if not isinstance(entries, list):
            raise ModelError(f"{section} is {short(entries)}. Give a list of elements.")
        for k, entry in enumerate(entries):
            add_element(place, section, k, entry)
    return model


def read_gravity(value: Any, units: Units) -> Any:
    """The gravity of the model in SI."""
    try:
        checked = TypeAdapter(Vector3).validate_python(value)
    except ValidationError:
        raise ModelError(f"gravity is {short(value)}. Give three finite numbers.") from None
    return [units.factor("length/time^2") * x for x in checked]


def add_element(place: Place, section: str, k: int, entry: Any) -> None:
    """Check one entry, make its element and add it."""
    named = isinstance(entry, dict) and isinstance(entry.get("name"), str)
    with at(f"{section}[{k}] {short(entry['name'])}" if named else f"{section}[{k}]"):
        if not isinstance(entry, dict):
            raise ModelError(f"is {short(entry)}. Give an object with type and name.")
        kind = find_type(entry, section)
        check_entry(kind, entry)
        place.entry = entry
        place.model.add(make(kind, entry, place))


def find_type(entry: Mapping[str, Any], section: str) -> Entry:
    """What the type of an entry names."""
    name = entry.get("type")
    found = ENTRIES.get(name) if isinstance(name, str) else None
    if found is None:
        if isinstance(name, str) and refusal(name):
            raise ModelError(f"a file cannot hold the type '{name}': {refusal(name)}.")
        advice = near(str(name), [key for key, known in ENTRIES.items() if known.section == section])
        raise ModelError(f"unknown type {short(name)}. {advice}" if "type" in entry else f"has no type. {advice}")
    if found.section != section:
        raise ModelError(f"the type '{name}' belongs in {found.section}.")
    return found


def check_entry(kind: Entry, entry: Mapping[str, Any]) -> None:
    """Raise unless the fields of an entry are those of its type, of the right form."""
    try:
        entry_type(kind).model_validate(entry)
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_context=False, include_input=False)
        error = max(errors, key=lambda each: len(each["loc"]))  # the deepest: of alternatives the one meant
        raise ModelError(explain(error["type"], error["loc"], entry, kind)) from None


def explain(slip: str, loc: tuple[int | str, ...], entry: Any, kind: Entry) -> str:
    """What is wrong with an entry, in words."""
    path, value, last = "", entry, loc[-1]
    for step in loc:
        if isinstance(value, dict) and step in value and not (step == last and slip == "extra_forbidden"):
            path, value = f"{path}.{step}" if path else str(step), value[step]
        elif isinstance(value, list) and isinstance(step, int):
            path, value = f"{path}[{step}]", value[step]
    owner = path or kind.name
    if slip == "extra_forbidden":
        known = [] if path else list(kind.fields)
        return f"{owner} has no field '{last}'. {near(str(last), ['name', *known]) if known else ''}"
    if slip == "missing":
        return f"{owner} has no '{last}'. Give it."
    wanted = kind.kinds[str(loc[0])].wanted if loc[0] in kind.kinds else "text"
    count = f", {len(value)} entries" if isinstance(value, list) and len(value) > 6 else ""
    return f"{path} is {short(value)}{count}. Give {wanted}."


def make(kind: Entry, entry: Mapping[str, Any], place: Place) -> Any:
    """The element of a checked entry."""
    values = {"name": entry["name"]}
    later: list[tuple[str, Callable[[Any, Any], None], Any]] = []
    for key, field in kind.kinds.items():
        if key in entry:
            with at(key):
                read = field.read(entry[key], place)
            put = kind.setter(key)
            if put is None:
                values[key] = read
            else:
                later.append((key, put, read))
    element = kind.make(**values)
    for key, put, read in later:
        with at(key):
            put(element, read)
    return element
