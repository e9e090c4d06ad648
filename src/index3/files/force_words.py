"""Forces in model files."""

from __future__ import annotations

from index3.files.fields import BODY, FLAG, JOINT, number
from index3.files.laws import Law, Laws, Six, TimeVector
from index3.files.word import ENDS, FORM, LENGTH, POINT, RATIO, TWO_POINTS, Field, Word, fields, marker, short
from index3.forces.bushing import Bushing
from index3.forces.drag import Drag
from index3.forces.gravity import PointGravity, UniformGravity
from index3.forces.joint_friction import JointFriction
from index3.forces.load import Force, Torque
from index3.forces.rotational_spring_damper import RotationalSpringDamper
from index3.forces.spring_damper import SpringDamper

SPEED = number("length/time")
LOAD = fields(on=marker(0), follower=FLAG, reaction=marker(1))

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
        JointFriction,
        joint=JOINT,
        coefficient=RATIO,
        static=RATIO,
        velocity=SPEED,
        stribeck=SPEED,
        radius=LENGTH,
        arm=LENGTH,
        preload=number("force"),
    ),
]
