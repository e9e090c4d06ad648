"""The published schema: up to date, and of one mind with what reading accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from file_examples import EXAMPLES

from index3.files.schema import file_type, schema, schema_text
from index3.files.words import WORDS
from index3.files.write import data_of

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "model_file.schema.json"


def test_published_schema_is_up_to_date():
    """To renew it: index3 schema > docs/reference/model_file.schema.json"""
    assert PUBLISHED.read_text("utf-8") == schema_text()


def test_schema_has_every_word_and_field():
    definitions = schema()["$defs"]
    for word in WORDS.values():
        properties = definitions[word.name.replace(".", "_")]["properties"]
        assert set(properties) == {"type", "name", *word.fields}
        assert definitions[word.name.replace(".", "_")]["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_written_files_follow_the_schema(name):
    file_type().model_validate(json.loads(json.dumps(data_of(EXAMPLES[name]()))))
