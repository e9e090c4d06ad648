"""Small flexible structures and mechanisms for tests."""

from __future__ import annotations

import numpy as np

import index3 as ix

TUBE = {"outer_diameter": 0.03, "wall": 0.003, "density": 7800.0}
STEEL = {**TUBE, "young": 2.0e11}


def beam(elements=6, length=1.0, **settings):
    """A straight tube along x from the origin."""
    ends = {"A": (0, 0, 0), "B": (length, 0, 0)}
    return ix.flexible.frame(ends, ["AB"], elements=elements, **(STEEL | settings))


def bent_frame(**settings):
    """A frame of three tubes in space, with a free end."""
    places = {"A": (0, 0, 0), "B": (0.8, 0, 0), "C": (0.8, 0.5, 0.1), "D": (0.2, 0.6, 0.4)}
    return ix.flexible.frame(places, ["AB", "BC", "CD"], elements=3, **(STEEL | settings))


def lumps(seed=1, count=6):
    """Point masses at random places on random springs, three coordinates each."""
    rng = np.random.default_rng(seed)
    nodes, masses = rng.normal(size=(count, 3)), rng.uniform(0.5, 1.5, count)
    K = np.zeros((3 * count, 3 * count))
    for i in range(count):
        for j in range(i):
            u = (nodes[i] - nodes[j]) / np.linalg.norm(nodes[i] - nodes[j])
            row = np.zeros(3 * count)
            row[3 * i : 3 * i + 3], row[3 * j : 3 * j + 3] = u, -u
            K += rng.uniform(200.0, 400.0) * np.outer(row, row)
    return nodes, masses, np.diag(np.repeat(masses, 3)), K


def modes_of_lumps(seed, count=4):
    """A body of point masses in shapes that are orthogonal to nothing, and its masses."""
    nodes, masses, M, K = lumps(seed)
    shapes = np.random.default_rng(seed).normal(size=(len(M), count))
    return ix.ModalBody.from_modes("lumps", shapes, M, K, nodes), masses


def swinging():
    """A frame on a ball with a rod hinged to it, a spring at a node between, and an arm from a node."""
    model = ix.Model("swinging")
    body = model.add(bent_frame(young=2e9).body("frame", interface=["A", "D"], modes=4, damping=0.02))
    model.add(ix.Spherical("ball", model.ground, body, at=(0, 0, 0)))
    place = body.marker((0.02, 0.01, 0.0), node="D").pose()[0]
    rod = model.add(ix.RigidBody.rod("rod", place, place + np.array((0.3, 0, 0)), mass=0.3, radius=0.02))
    model.add(
        ix.Revolute("hinge", body.marker((0.02, 0.01, 0.0), node="D", z=(0, 1, 0)), rod.marker_at(place, z=(0, 1, 0)))
    )
    model.add(
        ix.SpringDamper("spring", model.ground.marker((1, 0, 1)), body.marker(node="B"), stiffness=100.0, damping=1.0)
    )
    return model
