"""Flexible bodies in model files: numbers in a file beside, and matrices named by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from file_examples import EXAMPLES
from test_round_trip import assert_same

import index3 as ix


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_numbers_lie_beside_the_file(suffix, tmp_path):
    model = EXAMPLES["ModalBody"]()
    model.save(tmp_path / f"car{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["car.a.npz", f"car{suffix}"]
    assert (tmp_path / f"car{suffix}").stat().st_size < 2000
    again = ix.load_model(tmp_path / f"car{suffix}")
    assert_same(model, again)
    assert again["a"].data.names == {"A": 0, "B": 1}
    one, two = (m["a"].data.stress.equivalent(np.ones((1, m["a"].modes))) for m in (model, again))
    assert np.array_equal(one, two)
    again.save(tmp_path / f"car{suffix}")  # over itself
    assert_same(model, ix.load_model(tmp_path / f"car{suffix}"))


def test_bodies_of_like_names_have_files_of_their_own(tmp_path):
    model = ix.Model("two")
    for name in ("left/front", "left front"):
        body = EXAMPLES["ModalBody"]()["a"]
        model.add(ix.ModalBody.from_data(name, body.file_arrays()[1]))
    model.save(tmp_path / "two.json")
    assert sorted(path.name for path in tmp_path.glob("*.npz")) == ["two.left_front.2.npz", "two.left_front.npz"]
    assert_same(model, ix.load_model(tmp_path / "two.json"))


def by_hand(folder):
    """A model file that names matrices in its folder."""
    structure = ix.flexible.frame(
        [(0, 0, 0), (1, 0, 0)], [(0, 1)], outer_diameter=0.03, young=2e11, density=7800.0, elements=2
    )
    scipy.io.mmwrite(folder / "mass.mtx", sp.coo_matrix(structure.mass_matrix), precision=17)
    sp.save_npz(folder / "stiffness.npz", structure.stiffness_matrix)
    entry = {"type": "ModalBody", "name": "tube", "mass_matrix": "mass.mtx", "stiffness_matrix": "stiffness.npz",
             "nodes": structure.nodes.tolist(), "interface": [0, "end"], "names": {"end": 1}, "modes": 2,
             "damping": 0.01, "members": [[0, 2], [2, 1]], "radius": 0.015}  # fmt: skip
    return structure, {"index3": 1, "bodies": [entry]}


def test_matrices_named_by_hand(tmp_path):
    structure, data = by_hand(tmp_path)
    (tmp_path / "tube.json").write_text(json.dumps(data))
    tube = ix.load_model(tmp_path / "tube.json")["tube"]
    exact = structure.body("tube", interface=[0, 1], modes=2)
    assert tube.frequencies == pytest.approx(exact.frequencies, rel=1e-9)  # matrices printed with 17 digits
    assert tube.marker(node="end").part == "node1"
    data["units"] = {"length": "mm"}
    (tmp_path / "tube.json").write_text(json.dumps(data))
    with pytest.raises(ix.ModelError, match="mass_matrix: its unit is not fixed"):
        ix.load_model(tmp_path / "tube.json")


def test_files_that_are_missing_or_broken_are_named(tmp_path):
    EXAMPLES["ModalBody"]().save(tmp_path / "car.json")
    beside = tmp_path / "car.a.npz"
    content = beside.read_bytes()
    for broken, words in (
        (None, "'car.a.npz' cannot be read: No such file"),
        (b"", "'car.a.npz' cannot be read"),
        (content[: len(content) // 2], "'car.a.npz' cannot be read: it is not an .npz file"),
    ):
        beside.unlink()
        if broken is not None:
            beside.write_bytes(broken)
        with pytest.raises(ix.ModelError) as caught:
            ix.load_model(tmp_path / "car.json")
        assert str(caught.value).startswith(f"car.json: bodies[0] 'a': data: {words}")
        beside.write_bytes(b"")


WRONG = {
    "'shapes' is of the shape [3, 6, 6]": lambda x: x | {"shapes": x["shapes"][:, :, :6]},
    "'mass' is missing": lambda x: {key: value for key, value in x.items() if key != "mass"},
    "a negative or vanishing 'stiffness'": lambda x: x | {"stiffness": -x["stiffness"]},
    "an inertia that no body can have": lambda x: x | {"inertia": -x["inertia"]},
    "'lines' name nodes that do not exist": lambda x: x | {"lines": x["lines"] + 5},
    "stresses that do not fit": lambda x: x | {"stress_nodes": x["stress_nodes"] + 5},
    "names of nodes that cannot be read": lambda x: x | {"names": x["names"][1:]},
    "'colour', which it does not know": lambda x: x | {"colour": np.ones(3)},
}


@pytest.mark.parametrize("words", WRONG)
def test_data_that_fit_no_body_are_refused(words):
    arrays = EXAMPLES["ModalBody"]()["a"].file_arrays()[1]
    with pytest.raises(ix.ModelError) as caught:
        ix.ModalBody.from_data("tube", WRONG[words](arrays))
    assert words in str(caught.value)
    assert str(caught.value).startswith("ModalBody 'tube' has data ")
