"""A package of its own brings along a joint, a force and a method by entry points; nothing of it is imported before."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError
from index3.methods.method import METHODS
from index3.registry import ELEMENTS

PAGES = Path(__file__).parents[2] / "docs" / "develop"
PAGE, EXTEND = PAGES / "own_elements.md", (PAGES / "extend.md").read_text("utf-8")
WRONG = {"Broken": "hooks.nowhere:Broken", "Other": "hooks.hook:Hook"}


def block(language):
    """The block of code of the page on packages."""
    (text,) = re.findall(rf"```{language}\n(.*?)```", EXTEND, re.DOTALL)
    return text


def entry_points():
    """What pip makes of the page's pyproject.toml, and two wrong ones."""
    groups = tomllib.loads(block("toml"))["project"]["entry-points"]
    groups["index3.elements"] |= WRONG
    lines = [[f"[{group}]", *(f"{name} = {place}" for name, place in names.items())] for group, names in groups.items()]
    text = "\n".join(line for group in lines for line in group)
    return text.replace("= hooks.", "= hooks_outside.").replace("own-taylor", "outside-taylor")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `hooks_outside` as pip installs it: modules, and a folder that says what they are."""
    folder, info = tmp_path / "hooks_outside", tmp_path / "hooks_outside-1.0.dist-info"
    folder.mkdir()
    info.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "hook.py").write_text(block("python"))
    force = re.search(r"## A force\n.*?```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    magnet, _, _ = force.group(1).partition("ix.register(Magnet)")  # the manual's own, without its model
    (folder / "magnet.py").write_text("import index3 as ix\n" + magnet)
    method = (Path(__file__).parents[1] / "methods" / "own_method.py").read_text("utf-8")
    (folder / "taylor.py").write_text(method.replace("own-taylor", "outside-taylor"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks-outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points())
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for registry, names in ((ELEMENTS, ("Hook", "Magnet")), (METHODS, ("outside-taylor",))):
        for name in names:
            registry.added.pop(name, None)
    for name in [name for name in sys.modules if name.startswith("hooks_outside")]:
        del sys.modules[name]


def model_file(folder):
    text = """
        index3 = 1
        name = "hooked"
        [[bodies]]
        type = "RigidBody.rod"
        name = "rod"
        start = [0, 0, 0]
        end = [1, 0, 0]
        mass = 1.0
        [[joints]]
        type = "Hook"
        name = "hook"
        first = "ground"
        second = "rod"
        at = [0, 0, 0]
        axis = [0, 1, 0]
        [[forces]]
        type = "Magnet"
        name = "pull"
        first = {body = "ground", position = [0, 0, -3]}
        second = {body = "rod", position = [0.5, 0, 0]}
        strength = 8.0
    """
    path = folder / "hooked.toml"
    path.write_text("\n".join(line.strip() for line in text.splitlines()))
    return path


def test_joint_force_and_method_are_found_by_name(package):
    assert not [name for name in sys.modules if name.startswith("hooks_outside")]
    assert "Hook" in ELEMENTS
    assert "outside-taylor" in METHODS
    model = ix.load_model(model_file(package))
    assert type(model["hook"]).__module__ == "hooks_outside.hook"
    assert model.check().constraints == 4 + 1
    model["pull"].strength = 9.0
    model.save(package / "again.toml")
    assert ix.load_model(package / "again.toml")["pull"].strength == 9.0
    result = ix.simulate(model, (0.0, 0.2), rtol=1e-8, t_eval=0.1, progress=False)
    own = ix.simulate(model, (0.0, 0.2), "outside-taylor", step=1e-4, t_eval=0.1, progress=False)
    assert own.method == "outside-taylor"
    assert own["rod"].position == pytest.approx(result["rod"].position, abs=1e-5)  # of first order: h times 0.1
    pull = result["pull"]
    distance = np.linalg.norm(pull.second.position - pull.first.position, axis=1)
    assert np.linalg.norm(pull.force, axis=1) == pytest.approx(9.0 / distance**2)


def test_what_is_wrong_with_an_entry_point_is_told_by_name(package):
    with pytest.raises(
        ModelError, match="The element 'Broken' of package hooks-outside cannot be loaded: ModuleNotFound"
    ):
        ELEMENTS["Broken"]
    with pytest.raises(
        ModelError, match=r"'Other' of package hooks-outside is called 'Hook' in hooks_outside.hook:Hook"
    ):
        ELEMENTS["Other"]
    with pytest.raises(KeyError):
        ELEMENTS["Nothing"]
