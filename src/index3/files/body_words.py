"""Bodies and blocks of states in model files."""

from __future__ import annotations

import inspect
from typing import Any

from index3.bodies.planar_body import PlanarBody
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.bodies.states import States
from index3.files.fields import INERTIA, ORIENTATION, SHAPE, TEXTS, Kind, Numbers, number, vector
from index3.files.word import LENGTH, POINT, Field, Word, fields, short


def given(key: str, kind: Kind) -> dict[str, Field]:
    """An argument that a body was made with."""
    return {key: Field(kind, lambda body: arguments_of(body).get(key))}


def arguments_of(body: Any) -> dict[str, Any]:
    """What a body was made with, by name."""
    arguments, settings = body.given
    signature = inspect.signature(type(body))
    bound = signature.bind(*arguments, **settings).arguments
    for key, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            bound |= bound.pop(key, {})
    return bound


STATE = fields(q0=short(Numbers()), v0=short(Numbers()))
"""Coordinates and rates at the start, written only where they do not follow from the arguments of a body."""
BODY = fields(STATE, shape=Field(SHAPE, lambda body: None if body.shape == {"type": "none"} else body.shape))
"""Fields that bodies have besides their arguments."""
MASS, FLAT = number("mass", positive=True), vector("length", 2)
RATES = given("velocity", vector("length/time")) | given("angular_velocity", vector("angle/time"))
POSE = given("position", POINT) | given("orientation", ORIENTATION) | RATES
PLANAR_RATES = given("velocity", vector("length/time", 2)) | given("spin", number("angle/time"))
PLANAR_POSE = given("position", FLAT) | given("angle", number("angle")) | PLANAR_RATES
SOLID = fields(POSE, BODY, mass=MASS, density=number("mass/length^3", positive=True))

BODIES = [
    Word(RigidBody, fields(mass=MASS, inertia=INERTIA), POSE, BODY),
    Word(RigidBody.rod, RATES, BODY, start=POINT, end=POINT, mass=MASS, radius=LENGTH),
    Word(RigidBody.box, SOLID, size=POINT),
    Word(RigidBody.cylinder, SOLID, radius=LENGTH, length=LENGTH),
    Word(RigidBody.sphere, SOLID, radius=LENGTH),
    Word(PlanarBody, fields(mass=MASS, inertia=number("mass*length^2")), PLANAR_POSE, BODY),
    Word(PlanarBody.rod, PLANAR_RATES, BODY, start=FLAT, end=FLAT, mass=MASS),
    Word(PointMass, fields(mass=MASS), given("position", POINT), given("velocity", vector("length/time")), BODY),
    Word(
        States,
        initial=Field(Numbers(), lambda block: block.v0),
        names=Field(TEXTS, lambda block: list(block.coordinate_names)),
    ),
]
