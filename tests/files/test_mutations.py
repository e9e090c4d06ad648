"""Files with one thing changed at random: a model or one named error, never anything else."""

from __future__ import annotations

import copy
import random
import warnings

import pytest
from file_examples import EXAMPLES

import index3 as ix
from index3.files.read import model_of
from index3.files.write import data_of

JUNK = [
    None, True, -1, 0, 1e308, 10**30, -1e-300, "", "ground", "a", "sin(t)", [], [0], [0, 0, 0], [[1]], {}, [1e200] * 3,
    {"body": "a"}, {"expression": "1/t"}, {"table": {"t": [0, 1], "y": [0, 1]}}, {"type": "Plane"},
]  # fmt: skip


def places(data, path=()) -> list[tuple]:
    """The paths to all parts of some data."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [path, *(place for key in keys for place in places(data[key], (*path, key)))]


def changed(data, rng: random.Random):
    """A copy with one part replaced, left out, or a strange field added."""
    data = copy.deepcopy(data)
    *path, last = rng.choice([place for place in places(data) if place])
    part = data
    for key in path:
        part = part[key]
    action = rng.random()
    if action < 0.15:
        del part[last]
    elif action < 0.25 and isinstance(part, dict):
        part[f"{last}s"] = part.pop(last)
    else:
        part[last] = copy.deepcopy(rng.choice(JUNK))
    return data


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_one_change_gives_a_model_or_a_named_error(name):
    rng = random.Random(name)
    data, outcomes = data_of(EXAMPLES[name]()), set()
    for _ in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = model_of(changed(data, rng))
                outcomes.add(type(model))
            except ix.ModelError as error:
                outcomes.add(ix.ModelError)
                message = str(error)
                outcomes.add("long" if len(message) > 1000 or "\n" in message else "short")
    assert outcomes == {ix.Model, ix.ModelError, "short"}
