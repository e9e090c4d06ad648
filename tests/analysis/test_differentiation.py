"""The differentiation index of formulations, by ranks of derivative arrays."""

import numpy as np
import pytest
from small_models import Y, four_bar, pendulum, spatial_loop

import index3 as ix
from index3.analysis.differentiation import index


@pytest.mark.parametrize("make", [pendulum, four_bar, spatial_loop])
def test_formulations_have_their_index(make):
    """S4-124."""
    found = ix.differentiation_index(make())
    assert list(found.index.values()) == [3, 2, 2, 1]
    assert "positions: Phi = 0" in str(found)


def test_a_nilpotent_chain_has_its_length():
    for size in (1, 2, 3, 4):
        assert index(np.eye(size, k=1), np.eye(size)) == size


def test_a_singular_pencil_has_no_index():
    assert index(np.zeros((2, 2)), np.zeros((2, 2))) == 5  # more than the highest that is looked for


def test_limits_are_named():
    with pytest.raises(ix.ModelError, match="at most 100"):
        ix.differentiation_index(ix.library.chain(15))
    model = ix.Model("blade", gravity=(0, 0, 0))
    model.add(ix.PlanarBody("sleigh", 1.0, 0.1))
    model.add(ix.KnifeEdge("blade", model.ground, model["sleigh"], at=(0, 0, 0), axis=Y))
    with pytest.raises(ix.ModelError, match="velocity-level rows"):
        ix.differentiation_index(model)
