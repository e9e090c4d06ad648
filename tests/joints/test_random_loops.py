"""Random closed mechanisms in every kind of spatial body: reactions satisfy Newton's and Euler's equations."""

from __future__ import annotations

import numpy as np
import pytest
from mechanics import newton_euler
from scipy.spatial.transform import Rotation

import index3 as ix

KINDS = {
    "Euler parameters": (ix.RigidBody,) * 3,
    "Euler angles": (ix.EulerAngleBody,) * 3,
    "natural coordinates": (ix.NaturalBody,) * 3,
    "mixed": (ix.RigidBody, ix.NaturalBody, ix.EulerAngleBody),
}
LAST = (ix.Spherical, ix.Cylindrical, ix.Planar)  # the joint that closes the loop: 3, 4 or 3 rows


def loop(kinds, rng):
    """Ground, three bodies anywhere, and ground again: revolute, spherical, universal, and a last joint."""
    model = ix.Model("loop")
    bodies = []
    for k, kind in enumerate(kinds):
        cloud = rng.normal(size=(3, 3))
        square = cloud @ cloud.T
        inertia = np.trace(square) * np.eye(3) - square  # of a cloud of points: always possible
        bodies.append(
            model.add(
                kind(
                    f"b{k}", rng.uniform(0.5, 2.0), inertia, position=rng.normal(size=3),
                    orientation=Rotation.random(random_state=rng.integers(1 << 30)),
                    velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3),
                )
            )
        )  # fmt: skip
    chain = [model.ground, *bodies, model.ground]
    at, axis = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    model.add(ix.Revolute("one", chain[0], chain[1], at=at[0], axis=axis[0]))
    model.add(ix.Spherical("two", chain[1], chain[2], at=at[1]))
    across = np.cross(axis[1], axis[2])
    model.add(ix.Universal("three", chain[2], chain[3], at=at[2], axes=(axis[1], across)))
    last = LAST[int(rng.integers(len(LAST)))]
    more = {} if last is ix.Spherical else {"axis": axis[3]}
    model.add(last("four", chain[3], chain[4], at=at[3], **more))
    return model


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", KINDS)
def test_reactions_balance_every_body(kinds, seed):
    model = loop(KINDS[kinds], np.random.default_rng(100 * seed))
    counts = model.check()
    assert not counts.redundant
    assert counts.dof > 0
    result = ix.simulate(model, (0.0, 0.3), rtol=1e-6, t_eval=0.05)
    assert result.success, result.message
    assert newton_euler(model, result) < 1e-9  # reported accelerations and reactions solve the equations to rounding


def test_the_same_loops_in_all_coordinates():
    """Revolute angles of two mechanisms agree to a hundred times the tolerance."""
    for seed in (1, 2):
        angles = []
        for kinds in KINDS.values():
            result = ix.simulate(loop(kinds, np.random.default_rng(seed)), (0.0, 0.3), "dop853", rtol=1e-9)
            angles.append(result["one"].angle[-1])
        assert np.ptp(angles) < 1e-7
