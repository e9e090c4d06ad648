"""A hundred mechanisms, drawn at random from joints, bodies and forces, and run by HHT-I3 with no settings."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix

JOINTS = {
    "Revolute": {"axis": True}, "Spherical": {}, "Prismatic": {"axis": True}, "Cylindrical": {"axis": True},
    "Fixed": {}, "Planar": {"axis": True}, "Inline": {"axis": True}, "Universal": {"axes": True},
    "PointInPlane": {"axis": True}, "ParallelAxes": {"axis": True},
}  # fmt: skip
KINDS = (ix.RigidBody, ix.RigidBody, ix.NaturalBody)


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def add_joint(model, name, first, second, at, rng):
    """A joint of a random kind at a point, with random axes."""
    kind = str(rng.choice(list(JOINTS)))
    axis = unit(rng)
    settings = {} if kind == "ParallelAxes" else {"at": at}
    if "axis" in JOINTS[kind]:
        settings["axis"] = axis
    if "axes" in JOINTS[kind]:
        across = np.cross(axis, unit(rng))
        settings["axes"] = (axis, across / np.linalg.norm(across))
    return model.add(getattr(ix, kind)(name, first, second, **settings))


def random_mechanism(seed):
    """A tree of two to six bodies with springs and dampers; every third closes a loop, every fourth drives a joint."""
    rng = np.random.default_rng(seed)
    model = ix.Model(f"mechanism {seed}")
    bodies = [model.ground]
    for k in range(int(rng.integers(2, 7))):
        kind = KINDS[int(rng.integers(len(KINDS)))]
        size = tuple(rng.uniform(0.2, 0.5, 3))
        body = model.add(kind.box(f"body{k}", size, rng.uniform(0.5, 3.0), position=rng.uniform(-1, 1, 3)))
        parent = bodies[int(rng.integers(len(bodies)))]
        add_joint(model, f"joint{k}", parent, body, rng.uniform(-1, 1, 3), rng)
        if rng.random() < 0.7:
            points = rng.uniform(-1, 1, (2, 3))
            stiffness, damping = 10.0 ** rng.uniform(1, 4), 10.0 ** rng.uniform(-1, 1)
            model.add(
                ix.SpringDamper(f"strut{k}", model.ground, body, points=points, stiffness=stiffness, damping=damping)
            )
        bodies.append(body)
    if seed % 3 == 0:
        ends = rng.uniform(-1, 1, (2, 3))
        model.add(ix.Distance("loop", bodies[1].marker(ends[0]), bodies[-1].marker(ends[1])))
    if seed % 4 == 0:
        driven = [joint for joint in model.joints.values() if "angle" in joint.coordinates]
        if driven:
            options = {"coordinate": "angle"}
            model.add(ix.Motion("drive", driven[0], np.sin, np.cos, lambda t: -np.sin(t), **options))
    return model


@pytest.mark.parametrize("decade", range(10))
def test_random_mechanisms_run_without_settings(decade):
    """S2-43: each runs, its constraints hold at three levels, and its energy is accounted for."""
    for seed in range(10 * decade, 10 * decade + 10):
        result = ix.simulate(random_mechanism(seed), (0.0, 0.5), "hht-i3", t_eval=0.05)
        assert result.success, (seed, result.message)
        for level in ("position", "velocity", "acceleration"):
            assert getattr(result.violation.scaled, level).max() < 1e-9, (seed, level)
        size = np.ptp(result.energy.kinetic) + np.ptp(result.energy.potential)
        # numerical damping at rtol 1e-6: measured at most 2e-4 of the energy that went to and fro
        assert np.ptp(result.energy.balance) < 1e-3 * size + 1e-6, (seed, np.ptp(result.energy.balance) / size)
