"""The schema of model files, made from the declared fields: what is checked on reading and published for editors."""

from __future__ import annotations

import functools
import json
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Field, create_model

from index3.files.entries import ENTRIES, SECTIONS, Entry
from index3.files.kinds import Strict, Vector3
from index3.files.units import UNITS

VERSION = 1
"""The version of the format, which files carry as `index3`."""
ADDRESS = "https://json-schema.org/draft/2020-12/schema"


@functools.cache
def entry_type(entry: Entry) -> type[BaseModel]:
    """The checked type of the entries of a type of element."""
    fields: dict[str, Any] = {"type": (Literal[entry.name], ...), "name": (str, Field(min_length=1))}
    for key, kind in entry.kinds.items():
        if entry.is_required(key):
            fields[key] = (kind.type, ...)
        else:
            fields[key] = (kind.type, Field(default=None, description=f"{kind.wanted}; may be left out"))
    return create_model(entry.name.replace(".", "_"), __base__=Strict, __doc__=first_line(entry.make), **fields)


def first_line(thing: Any) -> str:
    """What something is, in the words of its docstring."""
    return next(iter((thing.__doc__ or "").strip().splitlines()), "")


def file_type() -> type[BaseModel]:
    """The type of a whole file."""
    units = create_model(
        "Units",
        __base__=Strict,
        __doc__="Units of the numbers in the file; SI where none is named.",
        **{key: (Literal[tuple(known)], Field(default=next(iter(known)))) for key, known in UNITS.items()},  # type: ignore[call-overload]
    )
    fields: dict[str, Any] = {
        "address": (str, Field(default=None, alias="$schema", description="address of this schema, for editors")),
        "index3": (Literal[VERSION], Field(description="version of the format")),
        "name": (str, "model"),
        "gravity": (Vector3, Field(default=[0.0, 0.0, -9.80665], description="acceleration of free fall")),
        "units": (units, None),
    }
    for section in SECTIONS:
        types = tuple(entry_type(entry) for entry in ENTRIES.values() if entry.section == section)
        one = Annotated[Union[types], Field(discriminator="type")] if len(types) > 1 else types[0]  # noqa: UP007
        fields[section] = (list[one], Field(default=[]))  # type: ignore[valid-type]
    return create_model("ModelFile", __base__=Strict, __doc__="A mechanism for index3.", **fields)


def schema() -> dict[str, Any]:
    """The JSON schema of model files."""
    made = file_type().model_json_schema()
    clean(made)
    return {"$schema": ADDRESS, "title": "index3 model file"} | made


def schema_text() -> str:
    """The JSON schema as it is published."""
    return json.dumps(schema(), indent=1) + "\n"


def clean(part: Any) -> None:
    """Take out what does not help an editor: titles that repeat names, defaults of null."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            part.pop("title")
        if "default" in part and part["default"] is None:
            part.pop("default")
        for value in part.values():
            clean(value)
    elif isinstance(part, list):
        for value in part:
            clean(value)
