"""Forces in model files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from index3.files.fields import (
    BODY,
    FLAG,
    JOINT,
    TEXT,
    Block,
    Float,
    Kind,
    Matrix3,
    Numbers,
    Place,
    choice,
    number,
    vector,
)
from index3.files.laws import Law, Laws, Six, TimeFunction, TimeVector
from index3.files.markers import END
from index3.files.surfaces import BODY_PAIRS, ROAD, SURFACE_LIST, TWO_SURFACES
from index3.files.word import (
    ENDS,
    FORM,
    LENGTH,
    POINT,
    RATIO,
    TWO_POINTS,
    Field,
    Word,
    coordinate_dimension,
    effort_dimension,
    exponent,
    fields,
    marker,
    short,
)
from index3.forces.actuator import Actuator
from index3.forces.added_mass import AddedMass
from index3.forces.bushing import Bushing
from index3.forces.contact import Contact, ContactSet
from index3.forces.drag import Drag
from index3.forces.gravity import PointGravity, UniformGravity
from index3.forces.joint_friction import JointFriction
from index3.forces.joint_limit import JointLimit
from index3.forces.load import Force, Torque
from index3.forces.rotational_spring_damper import RotationalSpringDamper
from index3.forces.spring_damper import SpringDamper
from index3.forces.tyre import Tyre

SPEED = number("length/time")
LOAD = fields(on=marker(0), follower=FLAG, reaction=marker(1))


def contact_stiffness(place: Place) -> str:
    """N/m^exponent, the exponent 1.5 by default."""
    return f"force/length^{float(place.entry.get('exponent', 1.5))}"


def contact_damping(place: Place) -> str:
    """s/m of Hunt and Crossley, or N s/m of a damper with an onset."""
    return "force*time/length" if "onset" in place.entry else "time/length"


def law(key: str, kind: Kind) -> dict[str, Field]:
    """A setting of the law of contacts."""
    return {key: Field(kind, lambda contact: getattr(contact.law, key))}


def in_order(key: str, index: int) -> Callable[[Any], Any]:
    """A marker or shape of a contact in the order in which the user gave them."""
    return lambda contact: getattr(contact, key)[1 - index if contact.swapped else index]


def beyond(key: str) -> Field:
    """A limit of a joint, None where it has none."""
    return Field(
        number(coordinate_dimension), lambda limit: None if math.isinf(getattr(limit, key)) else getattr(limit, key)
    )


CONTACT = (
    law("stiffness", number(contact_stiffness))
    | law("exponent", RATIO)
    | law("damping", number(contact_damping))
    | {"onset": Field(LENGTH, lambda contact: contact.law.onset or None)}
    | fields(restitution=short(RATIO), impact_velocity=short(SPEED))
    | law("friction", RATIO)
    | law("static_friction", RATIO)
    | law("stick_velocity", SPEED)
    | law("decay_velocity", SPEED)
)

FORCES = [
    Word(
        SpringDamper,
        ENDS,
        TWO_POINTS,
        stiffness=Law(out="force", by="length"),
        damping=Law(out="force", by="length/time"),
        length=LENGTH,
        force=number("force"),
    ),
    Word(
        RotationalSpringDamper,
        joint=JOINT,
        stiffness=Law(out="force*length", by="angle"),
        damping=Law(out="force*length", by="angle/time"),
        free_angle=number("angle"),
        torque=number("force*length"),
    ),
    Word(
        Bushing,
        ENDS,
        FORM,
        stiffness=Field(Laws(), lambda bushing: (*bushing.stiffness, bushing.size)),
        damping=Field(Laws(rate="/time"), lambda bushing: (*bushing.damping, bushing.size)),
        preload=Field(Six(first="force", last="force*length"), lambda bushing: bushing.preload[: bushing.size]),
        free=Field(Six(first="length", last="angle"), lambda bushing: bushing.free[: bushing.size]),
    ),
    Word(Force, LOAD, vector=TimeVector(dimension="force"), at=short(POINT)),
    Word(Torque, LOAD, vector=TimeVector(dimension="force*length")),
    Word(
        UniformGravity,
        body=Field(BODY, lambda gravity: gravity.markers[0].body),
        acceleration=TimeVector(dimension="length/time^2"),
    ),
    Word(
        PointGravity,
        body=Field(BODY, lambda gravity: gravity.markers[1].body),
        centre=marker(0),
        mu=number("length^3/time^2"),
    ),
    Word(
        Drag,
        on=marker(0),
        coefficient=RATIO,
        area=number("length^2"),
        density=number("mass/length^3"),
        wind=TimeVector(dimension="length/time"),
        at=short(POINT),
    ),
    Word(
        AddedMass,
        on=marker(0),
        mass=Block(dimension="mass"),
        inertia=Block(),
        coupling=Field(
            Numbers(Matrix3, "a 3x3 matrix", "mass*length"),
            lambda added: added.coupling if added.coupling.any() else None,
        ),
        at=short(POINT),
    ),
    Word(
        JointFriction,
        joint=JOINT,
        friction=RATIO,
        static_friction=RATIO,
        stick_velocity=SPEED,
        decay_velocity=SPEED,
        radius=LENGTH,
        arm=LENGTH,
        preload=number("force"),
    ),
    Word(
        JointLimit,
        joint=JOINT,
        lower=beyond("lower"),
        upper=beyond("upper"),
        stiffness=number(lambda place: f"{effort_dimension(place)}/{coordinate_dimension(place)}^{exponent(place)}"),
        damping=number(lambda place: f"{effort_dimension(place)}*time/{coordinate_dimension(place)}"),
        exponent=RATIO,
        onset=number(coordinate_dimension),
        coordinate=TEXT,
    ),
    Word(Actuator, joint=JOINT, f=TimeFunction(dimension=effort_dimension), coordinate=TEXT),
    Word(
        Contact,
        CONTACT,
        first=Field(END, in_order("markers", 0)),
        second=Field(END, in_order("markers", 1)),
        shapes=Field(TWO_SURFACES, lambda contact: contact.shapes[:: -1 if contact.swapped else 1]),
    ),
    Word(ContactSet, CONTACT, shapes=SURFACE_LIST, skip=BODY_PAIRS),
    Word(
        Tyre,
        wheel=marker(0),
        on=marker(1),
        road=ROAD,
        radius=LENGTH,
        stiffness=number(lambda place: f"force/length^{exponent(place)}"),
        exponent=RATIO,
        damping=number("force*time/length"),
        onset=LENGTH,
        pulls=FLAG,
        longitudinal_stiffness=number("force"),
        cornering_stiffness=number("force"),
        friction=RATIO,
        sliding_friction=RATIO,
        patch=LENGTH,
        rolling_resistance=RATIO,
        relaxation=Numbers(Float | vector("length", 2).type, "a length, or two", "length"),
        low_speed=SPEED,
        normal=choice("road", "vertical"),
        camber=FLAG,
    ),
]
