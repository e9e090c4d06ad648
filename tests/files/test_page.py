"""The examples of the page on model files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import index3 as ix
from index3.files.read import model_of, parse

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "model_files.md").read_text("utf-8")


def example(language: str) -> ix.Model:
    """The model of a block of the page."""
    return model_of(parse(re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1], f".{language}"))


def test_the_example_moves_as_it_should():
    model = example("json")
    assert model.check().dof == 0
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.5)
    # a full turn in two seconds; 1e-9: held to the Newton tolerance
    assert result["A"].angle[-1] == pytest.approx(2.0 * np.pi, abs=1e-9)
    assert model["buffer"].stiffness == 500.0
    assert model["buffer"].damping(-1.0) == -20.0


def test_both_languages_say_the_same():
    one, two = example("json"), example("toml")
    for name in ("crank", "A", "drive"):
        assert repr(one[name]) == repr(two[name])
    np.testing.assert_array_equal(one["crank"].q0, two["crank"].q0)
    assert one["drive"].functions[0] == two["drive"].functions[0]
