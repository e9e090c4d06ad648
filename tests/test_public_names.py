"""Every name, parameter, option, field and attribute of the first public state works today, without a warning.

`public_names.txt` lists them, one thing in a line: `name(positional, keyword=)` of `index3`, options of a method
(`METHODS[key](...)`), what runs and analyses return (`simulate()[body].position`), commands with their options, and
the fields of an element in a model file. The list may grow with a release; what it holds is never taken out.
"""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import index3 as ix
from index3 import cli
from index3.files.schema import schema as schema_of_files

LINES = (Path(__file__).parent / "public_names.txt").read_text("utf-8").splitlines()
RETURNED = [line for line in LINES if re.match(r"\w+\(\)[.\[]", line)]
COMMANDS = [line for line in LINES if line.startswith("$ ")]
FIELDS = [line for line in LINES if line.startswith("file ")]
OPTIONS = [line for line in LINES if line.startswith("METHODS[")]
NAMES = [line for line in LINES if line not in {*RETURNED, *COMMANDS, *FIELDS, *OPTIONS}]


def named(path: str) -> Any:
    """The value of a dotted name in `index3`, found without a warning."""
    value: Any = ix
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for word in path.split("."):
            value = inspect.getattr_static(value, word) if inspect.isclass(value) else getattr(value, word)
    return value.__func__ if isinstance(value, classmethod | staticmethod) else value


def missing_parameters(f: Any, wanted: list[str]) -> list[str]:
    """The parameters that a call can no longer give as it could: positional ones at their place, others by name."""
    known = {key: p for key, p in inspect.signature(f).parameters.items() if key not in ("self", "cls")}
    by_place = [key for key, p in known.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    places = [word for word in wanted if word[-1] != "=" and word[0] != "*"]
    gone = [word for k, word in enumerate(places) if by_place[k : k + 1] != [word]]
    gone += [word for word in wanted if word[-1] == "=" and word[:-1] not in known]
    rest = [key for key, p in known.items() if p.kind is p.VAR_POSITIONAL]
    return gone + [word for word in wanted if word[0] == "*" and not rest]


@pytest.mark.fast_cases
@pytest.mark.parametrize("line", NAMES)
def test_a_name_takes_what_it_took(line):
    path, _, inside = line.partition("(")
    value = named(path)
    if inside.rstrip(")"):
        assert missing_parameters(value, inside.rstrip(")").split(", ")) == []


@pytest.mark.fast_cases
@pytest.mark.parametrize("line", OPTIONS)
def test_a_method_takes_its_options(line):
    key, options = re.match(r"METHODS\[(.*)\]\((.*)\)", line).groups()
    assert {word.rstrip("=") for word in options.split(", ")} <= set(ix.METHODS[key].options)


@pytest.mark.fast_cases
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_takes_its_options(line):
    _, _, name, *options = line.split()
    command = get_command(cli.app).commands[name]
    assert set(options) <= {word for parameter in command.params for word in parameter.opts}


@pytest.mark.fast_cases
@pytest.mark.parametrize("line", FIELDS)
def test_a_model_file_takes_its_fields(line):
    name, fields = line.removeprefix("file ").split(": ")
    schema = schema_of_files()
    entry = schema if name == "Model" else schema["$defs"][name]
    assert set(fields.split()) <= set(entry["properties"])


def test_results_have_what_they_had():
    model, swinging = ix.library.four_bar(), ix.library.double_pendulum()
    body, joint = next(iter(model.bodies)), next(iter(model.joints))
    run = ix.simulate(model, (0.0, 0.01), t_eval=0.01)
    things = {
        "simulate()": run, "simulate()[body]": run[body], "simulate()[joint]": run[joint],
        "simulate().energy": run.energy, "simulate().violation": run.violation,
        "simulate().marker()": run.marker(model.joints[joint].second), "check()": ix.check(model),
        "static()": ix.static(swinging), "linearize()": ix.linearize(swinging), "assemble()": ix.assemble(model),
        "topology()": ix.topology(model),
    }  # fmt: skip
    wanted = [line.rpartition(".")[::2] for line in RETURNED]
    assert {word for thing, word in wanted if thing == "simulate().stats"} <= set(run.stats)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gone = [f"{thing}.{word}" for thing, word in wanted if thing in things and word not in dir(things[thing])]
    assert gone == []
    assert {thing for thing, _ in wanted} == {*things, "simulate().stats"}


ANYTHING = {  # what these parameters take has no common type, or is passed on to be judged there
    "settings", "options", "others", "element", "site", "place", "parts", "t_span", "arguments",
}  # fmt: skip


def public_functions():
    """What users call: functions, constructors, methods and makers of classes, models of the library."""
    beside = {name for names in ix._BESIDE.values() for name in names}
    for name in sorted({*ix.__all__, *beside, *ix._METHODS}):
        value = getattr(ix, name)
        if inspect.isfunction(value):
            yield name, value
        for key, member in vars(value).items() if inspect.isclass(value) else ():
            inner = getattr(member, "__func__", member)
            if inspect.isfunction(inner) and (key == "__init__" or not key.startswith("_")):
                yield f"{name}.{key}", inspect.unwrap(inner)
    for name in ix.library.names():
        yield f"library.{name}", inspect.unwrap(getattr(ix.library, name))


def test_parameters_are_typed():
    """`Any` only where a value really can be anything."""
    found = [
        f"{name}({key})"
        for name, function in public_functions()
        for key in inspect.signature(function).parameters
        if key not in ("self", "cls")
        and (key not in function.__annotations__ or (function.__annotations__[key] == "Any" and key not in ANYTHING))
    ]
    assert found == []


def test_results_are_typed():
    """`Any` only of `Model.add` and `remove`, which give back what they were given, and of what is inside."""
    found = [name for name, function in public_functions() if function.__annotations__.get("return", "Any") == "Any"]
    assert found == ["Model.add", "Model.remove", "Result.applied"]
