"""Small models for the tests of the system room."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix


@pytest.fixture
def planar_pair():
    """A model with two planar bodies, in the ground x-y plane."""
    model = ix.Model("planar pair")
    for k, x in enumerate((0.0, 2.0)):
        model.add(ix.PlanarBody(f"p{k}", 1.0, 0.1, position=(x, 0.0), angle=0.3 * k))
    return model


@pytest.fixture
def mixed():
    """One body of each kind and a rigid one more: r0, r1, p0, m0."""
    model = ix.Model("mixed")
    model.add(ix.RigidBody("r0", 1.0, (1, 1, 1), position=(0, 0, 0)))
    model.add(ix.PlanarBody("p0", 1.0, 0.1, position=(1, 0)))
    model.add(ix.PointMass("m0", 1.0, position=(2, 0, 0)))
    model.add(ix.RigidBody("r1", 1.0, np.diag([1.0, 2.0, 2.5]), position=(3, 0, 0)))
    return model
