"""What the page on the architecture says: its types carry a run, its rooms and files are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import index3 as ix

PACKAGE = Path(ix.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "develop" / "architecture.md").read_text("utf-8")
TYPES = re.findall(r"^\| `([A-Z]\w+)` \| ", PAGE, re.M)
ROOMS = re.findall(r"^\| (`[a-z].*?`) \| (.*) \|$", PAGE, re.M)


def test_the_types_of_the_page_carry_a_run():
    """From `simulate` to a kernel there are at most twelve, and each has work to do in a run."""
    met = set()

    def note(frame, event, argument):
        if event == "call" and "self" in frame.f_locals:
            met.update(base.__name__ for base in type(frame.f_locals["self"]).__mro__)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ix.simulate(ix.library.pendulum(), (0.0, 0.01))
    finally:
        sys.setprofile(before)
    assert 10 <= len(TYPES) <= 12
    assert set(TYPES) - met == set()


def test_every_folder_has_a_row():
    named = {name for names, _ in ROOMS for name in re.findall(r"`(\w+)`", names)}
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__", "cli", "errors", "shapes"}
    assert folders | modules == named


def test_files_of_a_room_are_in_it():
    seen = 0
    for names, words in ROOMS:
        room = re.findall(r"`(\w+)`", names)[0]
        for file in re.findall(r"`(\w+\.py)`", words):
            seen += 1
            assert (PACKAGE / room / file).exists(), f"{room}/{file}"
    assert seen > 30


def test_what_contributing_names_is_there():
    """Paths and commands of CONTRIBUTING.md."""
    root = Path(__file__).parents[2]  # the package may be installed elsewhere
    text = (root / "CONTRIBUTING.md").read_text("utf-8")
    paths = re.findall(r"`((?:src|tests|docs|\.ci)/[\w/.]+)`", text) + re.findall(r"\]\(([\w/.]+)(?:#[\w-]+)?\)", text)
    assert len(paths) > 12
    assert [path for path in paths if not (root / path).exists()] == []
    commands = set(re.findall(r"go\.py (\w+)", text))
    assert {"test", "check", "declare", "package"} <= commands
    offered = subprocess.run([sys.executable, root / "go.py", "--help"], capture_output=True, text=True, check=True)
    assert [name for name in commands if f"{name}:" not in offered.stdout] == []
