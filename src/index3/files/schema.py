"""The schema of model files, made from the table of words: what is checked on reading and published for editors."""

from __future__ import annotations

import functools
import json
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Field, create_model

from index3.files.fields import Strict, Vector3
from index3.files.units import UNITS
from index3.files.word import SECTIONS, Word
from index3.files.words import WORDS

VERSION = 1
"""The version of the format, which files carry as `index3`."""
ADDRESS = "https://json-schema.org/draft/2020-12/schema"


@functools.cache
def entry_type(name: str) -> type[BaseModel]:
    """The checked type of the entries of a word."""
    word = WORDS[name]
    fields: dict[str, Any] = {"type": (Literal[name], ...), "name": (str, Field(min_length=1))}
    for key, field in word.fields.items():
        if word.is_required(key):
            fields[key] = (field.kind.type, ...)
        else:
            fields[key] = (field.kind.type, Field(default=None, description=f"{field.kind.wanted}; may be left out"))
    made = create_model(name.replace(".", "_"), __base__=Strict, __doc__=first_line(word), **fields)
    return made


def first_line(word: Word) -> str:
    """What a word is."""
    return (word.make.__doc__ or "").strip().splitlines()[0]


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
        types = tuple(entry_type(word.name) for word in WORDS.values() if word.section == section)
        entry = Annotated[Union[types], Field(discriminator="type")] if len(types) > 1 else types[0]  # noqa: UP007
        fields[section] = (list[entry], Field(default=[]))  # type: ignore[valid-type]
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
