"""Bodies and blocks of states in model files."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from index3.bodies.euler_angle_body import EulerAngleBody
from index3.bodies.natural_body import NaturalBody, NaturalPlanarBody
from index3.bodies.natural_linkage import NaturalLinkage
from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.bodies.states import States
from index3.errors import ModelError
from index3.files.fields import FLAG, INERTIA, ORIENTATION, SHAPE, TEXTS, Kind, Numbers, number, points, vector
from index3.files.linkage import STEPS, build
from index3.files.word import LENGTH, POINT, Field, Word, fields


def given(key: str, kind: Kind) -> dict[str, Field]:
    """An argument that a body was made with."""
    return {key: Field(kind, lambda body: arguments_of(body).get(key))}


def arguments_of(body: Any) -> dict[str, Any]:
    """What a body was made with, by name."""
    arguments, settings = body.given
    kind: Any = type(body)
    signature = signature_of(kind)
    bound = signature.bind(*arguments, **settings).arguments
    for key, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            bound |= bound.pop(key, {})
    return bound


@functools.cache
def signature_of(kind: Any) -> inspect.Signature:
    """The signature of a class, which is slow to find."""
    return inspect.signature(kind)


def state(key: str) -> Field:
    """Coordinates or rates at the start, in place of those that follow from the arguments."""

    def put(body: Any, values: list[float]) -> None:
        if len(values) != body.size:
            known = ", ".join(body.coordinate_names)
            raise ModelError(f"there are {len(values)} numbers. Give {body.size}: {known}.")
        getattr(body, key)[:] = values

    return Field(Numbers(), short=True, set=put)


def draw(body: Any, shape: dict[str, Any]) -> None:
    """Set the shape of a body."""
    body.shape = shape


STATE = fields(q0=state("q0"), v0=state("v0"))
"""Coordinates and rates at the start, written only where they do not follow from the arguments of a body."""
BODY = fields(STATE, shape=Field(SHAPE, lambda body: None if body.shape == {"type": "none"} else body.shape, set=draw))
"""Fields that bodies have besides their arguments."""
MASS, FLAT, PLANAR_INERTIA = number("mass", positive=True), vector("length", 2), number("mass*length^2")
RATES = given("velocity", vector("length/time")) | given("angular_velocity", vector("angle/time"))
POSE = given("position", POINT) | given("orientation", ORIENTATION) | RATES
PLANAR_RATES = given("velocity", vector("length/time", 2)) | given("spin", number("angle/time"))
PLANAR_POSE = given("position", FLAT) | given("angle", number("angle")) | PLANAR_RATES
SOLID = fields(POSE, BODY, mass=MASS, density=number("mass/length^3", positive=True))

REFERENCE = given("reference", ORIENTATION)
NATURAL = given("points", points("length", 3, 1, 4)) | given("vectors", points("1", 3, 0, 4))


def solids(cls: type[RigidBody], *own: dict[str, Field]) -> list[Word]:
    """A kind of rigid body and its convenient forms."""
    return [
        Word(cls, fields(mass=MASS, inertia=INERTIA), POSE, *own, BODY),
        Word(cls.rod, RATES, BODY, *own, start=POINT, end=POINT, mass=MASS, radius=LENGTH),
        Word(cls.box, SOLID, *own, size=POINT),
        Word(cls.cylinder, SOLID, *own, radius=LENGTH, length=LENGTH),
        Word(cls.sphere, SOLID, *own, radius=LENGTH),
    ]


BODIES = [
    *solids(RigidBody),
    Word(RigidBody.from_points, RATES, BODY, points=points("length", 3, 1), masses=Numbers(dimension="mass")),
    *solids(EulerAngleBody, REFERENCE),
    *solids(NaturalBody, NATURAL),
    Word(PlanarBody, fields(mass=MASS, inertia=PLANAR_INERTIA), PLANAR_POSE, BODY),
    Word(PlanarBody.rod, PLANAR_RATES, BODY, start=FLAT, end=FLAT, mass=MASS),
    Word(
        NaturalPlanarBody,
        fields(mass=MASS, inertia=PLANAR_INERTIA),
        PLANAR_POSE,
        given("points", points("length", 2, 2, 2)),
        BODY,
    ),
    Word(NaturalLinkage, given("planar", FLAG), fields(steps=Field(STEPS, set=build)), BODY),
    Word(PointMass, fields(mass=MASS), given("position", POINT), given("velocity", vector("length/time")), BODY),
    Word(
        States,
        initial=Field(Numbers(), lambda block: block.v0),
        names=Field(TEXTS, lambda block: list(block.coordinate_names)),
    ),
]
