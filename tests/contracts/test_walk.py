"""What the page on adding parts says: the examples stand outside, and no file of the package knows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import index3

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "develop" / "walk.md"
ROWS = re.findall(r"^\| ([a-z ]+) \| `(\w+)` \| (`tests/.*?`) \| ", PAGE.read_text("utf-8"), re.M)


def test_the_page_has_every_kind_of_part():
    assert [kind for kind, _, _ in ROWS] == [
        "joint", "primitive", "force", "body kind with spans of its own", "solver", "method", "sink of output",
    ]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "files"), ROWS, ids=[name for _, name, _ in ROWS])
def test_an_example_stands_in_its_files_and_nowhere_in_the_package(kind, name, files):
    texts = [(ROOT / path).read_text("utf-8") for path in re.findall(r"`(\S+)`", files)]
    assert re.search(rf"\b(class|from|register)\b.*\b{name}\b", texts[0]) or name in files
    package = Path(index3.__file__).parent
    knowing = [
        path for path in package.rglob("*.py") if re.search(rf"\bclass {name}\b|[\"']{name}[\"']", path.read_text())
    ]
    assert not knowing


def test_all_paths_of_the_page_exist():
    paths = re.findall(r"`((?:tests|docs|src)/[\w/.]+)`", PAGE.read_text("utf-8"))
    assert len(paths) > 12
    assert [path for path in paths if not (ROOT / path).exists()] == []
