"""Files with something wrong: one line that names the place, nothing half-done, in few steps."""

from __future__ import annotations

import copy
import json

import pytest
from counting import count_calls

import index3 as ix
from index3.files import read

GOOD = {
    "$schema": "model_file.schema.json",
    "index3": 1,
    "name": "crank",
    "bodies": [{"type": "RigidBody.rod", "name": "crank", "start": [0, 0, 0], "end": [1, 0, 0], "mass": 1.0}],
    "joints": [
        {"type": "Revolute", "name": "A", "first": "ground", "second": "crank", "at": [0, 0, 0], "axis": [0, 1, 0]}
    ],
    "motions": [{"type": "Motion", "name": "drive", "joint": "A", "f": {"expression": "0.5*sin(2*t)"}}],
    "forces": [
        {"type": "SpringDamper", "name": "s", "first": {"body": "ground", "at": [0, 0, 1]}, "stiffness": 5,
         "second": {"body": "crank", "position": [0.5, 0, 0], "z": [0, 1, 0]}}
    ],
}  # fmt: skip
NESTED: list = [0]
for _ in range(500):
    NESTED = [NESTED]
A, CRANK, DRIVE, SPRING = "joints[0] 'A': ", "bodies[0] 'crank': ", "motions[0] 'drive': ", "forces[0] 's': "
AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
CHANGES = [
    (("joints", 0, "second"), "crnk", A + "second: there is no body 'crnk'. Did you mean 'crank'?"),
    (("units",), {"length": "furlong"}, "units: unknown unit 'furlong' of length. There are: m, mm"),
    (("units",), {"lenght": "mm"}, "units: unknown quantity 'lenght'. Did you mean 'length'?"),
    (("units",), "mm", "units is 'mm'. Give an object"),
    (("joints", 0, "axis"), [1, 0, 0, 0, 1, 2, 3], A + "axis is [1, 0, 0, 0, 1, 2, ...], 7 entries. Give 3 finite"),
    (("joints", 0, "axis"), NESTED, A + "axis"),
    (("joints", 0, "axis"), [0, 0, 0], A + "Revolute 'A' has axis (0, 0, 0), which has no direction"),
    (("joints", 0, "axs"), [0, 1, 0], A + "Revolute has no field 'axs'. Did you mean 'axis'?"),
    (("joints", 0, "type"), "Revolut", A + "unknown type 'Revolut'. Did you mean 'Revolute'?"),
    (("joints", 0, "type"), ["Revolute"], A + "unknown type ['Revolute']"),
    (("joints", 0, "type"), "RigidBody", A + "the type 'RigidBody' belongs in bodies"),
    (("forces", 0, "type"), "UserForce", SPRING + "a file cannot hold the type 'UserForce': it holds Python functions"),
    (("joints", 0), 5, "joints[0]: is 5. Give an object"),
    (("joints",), {}, "joints is {}. Give a list"),
    (("joint",), [], "unknown field 'joint'. Did you mean 'joints'?"),
    (("joints", 0, "name"), "crank", "joints[0] 'crank': Revolute 'crank' has the name of a RigidBody"),
    (("joints", 0, "name"), "ground", "joints[0] 'ground': Revolute has the name 'ground'"),
    (("joints", 0, "name"), 3, "joints[0]: name is 3. Give text."),
    (("bodies", 0, "mass"), -1, CRANK + "mass is -1. Give a positive number."),
    (("bodies", 0, "mass"), "1", CRANK + "mass is '1'. Give a positive number."),
    (("bodies", 0, "mass"), True, CRANK + "mass is True."),
    (("bodies", 0, "mass"), None, CRANK + "mass is None."),
    (("bodies", 0, "mass"), float("nan"), CRANK + "mass is NaN."),
    (("bodies", 0, "mass"), 10**400, CRANK + "mass is 1000"),
    (("bodies", 0, "start"), [0, float("-inf"), 0], CRANK + "start[1] is -Infinity. Give 3 finite numbers."),
    (("bodies", 0, "end"), [0, 0, 0], CRANK + "RigidBody 'crank' starts and ends at [0.0, 0.0, 0.0]"),
    (("bodies", 0, "q0"), [0, 1], CRANK + "q0: there are 2 numbers. Give 7: x, y, z"),
    (("motions", 0, "f"), {"expression": "__import__('os').system('true')"}, DRIVE + "f: Expression"),
    (("motions", 0, "f"), {"expression": "1", "code": "x"}, DRIVE + "f has no field 'code'."),
    (("motions", 0, "f"), {"table": {"t": [0, 1, 0.5], "y": [0, 1, 2]}}, DRIVE + "f: TimeTable has t[2] = 0.5 after"),
    (("motions", 0, "f"), {"table": {"t": [0, "1"], "y": [0, 1]}}, DRIVE + "f.table.t[1] is '1'. Give a number,"),
    (("motions", 0, "f"), "sin(t)", DRIVE + "f is 'sin(t)'. Give a number, {expression: '...'} or"),
    (("motions", 0, "joint"), "B", DRIVE + "joint: there is no joint 'B' before this. There are: A."),
    (("forces", 0, "first"), {"body": "ground", "pos": [0, 0, 0]}, SPRING + "first has no field 'pos'."),
    (("forces", 0, "first"), {"position": [0, 0, 0]}, SPRING + "first has no 'body'. Give it."),
    (("forces", 0, "first"), {"body": "ground", "position": [0, "a", 0]}, SPRING + "first.position[1] is 'a'."),
    (("forces", 0, "first"), {"body": "ground", "at": [0, 0, 0], "axes": AXES}, SPRING + "first: a marker has at and"),
    (("forces", 0, "first"), {"body": "crank", "path": [0, 0, 1]}, SPRING + "first: a marker that moves"),
    (("forces", 0, "first"), {"body": "ground", "position": None}, SPRING + "first.position is None."),
    (("index3",), 2, "index3 is 2. This version reads format 1."),
    (("gravity",), [0, 0, float("nan")], "gravity is [0, 0, NaN]. Give three finite numbers."),
    (("name",), 5, "Model has the name 5."),
]  # fmt: skip


def message_of(text: str | bytes, folder, suffix: str = ".json") -> str:
    """What is said about a file."""
    file = folder / f"model{suffix}"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ix.ModelError) as caught:
        ix.load_model(file)
    message = str(caught.value)
    assert message.startswith(f"model{suffix}: ")
    assert "\n" not in message
    assert len(message) < 600
    return message.removeprefix(f"model{suffix}: ")


def test_the_good_one_is_good(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(GOOD))
    model = ix.load_model(file)
    assert [*model] == ["crank", "A", "drive", "s"]
    assert model["s"].markers[1].axes[:, 2].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(("path", "value", "message"), CHANGES)
def test_change_is_named_with_its_place(path, value, message, tmp_path):
    data = copy.deepcopy(GOOD)
    part = data
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    assert message_of(json.dumps(data), tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2", "line 1, column 6: Expecting ',' delimiter."),
        ('{\n "a": 1,\n}', "line 3, column 1: "),
        ("", "line 1, column 1: Expecting value."),
        ("[" * 100_000, "the file is nested too deeply."),
        ("[" * 900 + "]" * 900, "this is not a model file. Write"),
        (b"\xff\xfe{", "byte 0 is not UTF-8."),
        ('{"index3": 1, "index3": 1}', "the field 'index3' is given twice."),
        ('{"index3": 1, "bodies": [{"name": "a", "mass": 1, "mass": 2}]}', "the field 'mass' of 'a' is given twice."),
        ('{"index3": ' + "9" * 5000 + "}", "the file has a number of too many digits."),
        ('{"index3": 1, "gravity": [0, 0, 1e999]}', "gravity is [0, 0, inf]."),
    ],
)
def test_bad_json_is_named(text, message, tmp_path):
    assert message_of(text, tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("index3 = 1\na = \n", "Invalid value (at line 2, column 5)."),
        ("index3 = 1\n[[bodies]]\ntype = 'PointMass'\nname = 'p'\nmass = nan\n", "bodies[0] 'p': mass is nan."),
        ("index3 = 1\nname = 2020-01-01", "Model has the name datetime.date(2020, 1, 1)."),
        ("index3 = true", "index3 is True."),
        ("index3 = 1\nx = " + "[" * 5000, "the file is nested too deeply."),
        ("index3 = 1\nx = [" + "0," * 2_500_000 + "]", "the file has 5 MB, more than 4 MB. Write long tables in JSON."),
    ],
)
def test_bad_toml_is_named(text, message, tmp_path):
    assert message_of(text, tmp_path, ".toml").startswith(message)


def test_long_list_is_named_without_looking_at_every_entry(tmp_path):
    """A hundred times longer list, of 5 MB: no more calls."""
    calls = {}
    for entries in (16, 16_600, 1_660_000):  # the first for what is made once
        data = copy.deepcopy(GOOD)
        data["joints"][0]["axis"] = "LIST"
        text = json.dumps(data).replace('"LIST"', "[" + "0, " * entries + "0]")
        calls[entries], message = count_calls(lambda text=text: message_of(text, tmp_path))
        assert message == A + f"axis is [0, 0, 0, 0, 0, 0, ...], {entries + 1} entries. Give 3 finite numbers."
    print(calls)
    assert calls[1_660_000] < calls[16_600] + 100  # equal, unless a file is read in chunks


def test_long_table_is_refused_before_it_is_built(tmp_path):
    data = copy.deepcopy(GOOD)
    data["motions"][0]["f"] = {"table": {"t": list(range(1_000_001)), "y": [0.0]}}
    assert message_of(json.dumps(data), tmp_path).startswith(DRIVE + "f.table.t is [0, 1, 2, 3, 4, 5, ...], 1000001")


def test_file_beyond_all_size_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setitem(read.LARGEST, ".json", 100)
    assert message_of(json.dumps(GOOD), tmp_path).startswith("the file has 0 MB, more than")


@pytest.mark.parametrize(
    ("name", "message"), [("none.json", "none.json: cannot be read"), ("a.yaml", "ends in .json or")]
)
def test_missing_or_other_file_is_named(name, message, tmp_path):
    with pytest.raises(ix.ModelError, match=message):
        ix.load_model(tmp_path / name)
