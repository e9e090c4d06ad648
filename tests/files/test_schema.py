"""The published schema: up to date, and of one mind with what reading accepts."""

from __future__ import annotations

import json

import pytest
from file_examples import EXAMPLES

from index3.files.entries import ENTRIES
from index3.files.schema import file_type, schema
from index3.files.write import data_of


def test_schema_has_every_type_and_field():
    definitions = schema()["$defs"]
    for entry in ENTRIES.values():
        properties = definitions[entry.name.replace(".", "_")]["properties"]
        assert set(properties) == {"type", "name", *entry.fields}
        assert definitions[entry.name.replace(".", "_")]["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_written_files_follow_the_schema(name):
    file_type().model_validate(json.loads(json.dumps(data_of(EXAMPLES[name]()))))
