"""Every joint that makes sense in a plane: planar bodies move like spatial ones that are held in the plane."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
AT = (1, 0, 0)
JOINTS = {  # what to put between the two bodies, and its rows between planar ones
    "Revolute": (lambda a, b: ix.Revolute("j", a, b, at=AT, axis=Z), 2),
    "Spherical": (lambda a, b: ix.Spherical("j", a, b, at=AT), 2),
    "Universal": (lambda a, b: ix.Universal("j", a, b, at=AT, axes=(Z, X)), 2),
    "Prismatic": (lambda a, b: ix.Prismatic("j", a, b, at=AT, axis=(1, 1, 0)), 2),
    "Cylindrical": (lambda a, b: ix.Cylindrical("j", a, b, at=AT, axis=(1, 1, 0)), 2),
    "Cylindrical along z": (lambda a, b: ix.Cylindrical("j", a, b, at=AT, axis=Z), 2),
    "Planar": (lambda a, b: ix.Planar("j", a, b, at=AT, axis=Z), 0),
    "Planar across": (lambda a, b: ix.Planar("j", a, b, at=AT, axis=Y), 2),
    "Fixed": (lambda a, b: ix.Fixed("j", a, b, at=AT), 3),
    "Distance": (lambda a, b: ix.Distance("j", a, b, points=((0.5, 0.2, 0), (1.5, 0.3, 0))), 1),
    "PointInPlane": (lambda a, b: ix.PointInPlane("j", a, b, at=AT, axis=Y), 1),
    "PerpendicularAxes": (lambda a, b: ix.PerpendicularAxes("j", a, b, at=AT, axes=(X, Y)), 1),
}
# dop853 with rtol 1e-9 over half a second
SLACK = 1e-7


def mechanism(joint, kinds):
    """A body on a hinge, or ground, and a second one tied to it; a spatial body is held in the plane by three rows."""
    model = ix.Model("plane", gravity=(0.5, -9.81, 0))
    bodies = []
    for k, kind in enumerate(kinds):
        start, end = ((0, 0), (1, 0)) if k == 0 else ((1, 0), (2, 0.5))
        if kind == "ground":
            bodies.append(model.ground)
        elif kind == "rigid":
            body = ix.RigidBody.rod(f"b{k}", (*start, 0), (*end, 0), mass=1.0)
            bodies.append(model.add(body))
            model.add(ix.Planar(f"plane{k}", model.ground, body, at=body.q0[:3], axis=Z))
        else:
            cls = ix.PlanarBody if kind == "planar" else ix.NaturalPlanarBody
            bodies.append(model.add(cls.rod(f"b{k}", start, end, mass=1.0)))
    if bodies[0] is not model.ground:
        model.add(ix.Revolute("pin", model.ground, bodies[0], at=(0, 0, 0), axis=Z))
    model.add(JOINTS[joint][0](*bodies))
    return model


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("first", ["planar", "ground"])
def test_planar_bodies_move_like_spatial_ones(joint, first):
    spatial = mechanism(joint, ("rigid" if first == "planar" else "ground", "rigid"))
    expected = ix.simulate(spatial, (0, 0.5), "dop853", rtol=1e-9, t_eval=0.1)
    pairs = [(first, "planar"), (first, "natural")]
    if first == "planar":
        pairs += [("planar", "rigid"), ("rigid", "planar"), ("natural", "natural")]
    for pair in pairs:
        model = mechanism(joint, pair)
        result = ix.simulate(model, (0, 0.5), "dop853", rtol=1e-9, t_eval=0.1)
        assert result.success, (pair, result.message)
        for name in model.bodies:
            assert np.abs(result[name].position - expected[name].position).max() < SLACK, (pair, name)
            assert np.abs(result[name].rotation - expected[name].rotation).max() < SLACK, (pair, name)
        assert model.check().dof == spatial.check().dof, pair


@pytest.mark.parametrize("joint", JOINTS)
def test_only_rows_in_the_plane_are_kept(joint):
    model = mechanism(joint, ("planar", "planar"))
    assert model.check().constraints == 2 + JOINTS[joint][1]
    assert model.check().redundant == []
