"""A poly-V belt that drives the pump and the alternator of an engine: 100 segments, 400 forces, 400 contacts."""

import math
from typing import Any

import numpy as np

from index3.bodies.marker import as_number, as_positive
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.files.expressions import Expression
from index3.forces.actuator import Actuator
from index3.forces.bushing import Bushing
from index3.forces.contact_set import ContactSet
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.forces.load import Torque
from index3.forces.shapes import Cylinder, Sphere
from index3.joints.standard import Revolute
from index3.library.arguments import as_whole
from index3.library.loops import Loop
from index3.model.model import Model

# name: centre [m], pitch radius [m], mass [kg], inertia about the axle [kg m^2]; in the order in which the belt runs
PULLEYS = {
    "crank": ((0.0, 0.0), 0.075, 6.0, 0.015),
    "water pump": ((0.020, 0.215), 0.060, 1.5, 0.0025),
    "alternator": ((-0.165, 0.175), 0.030, 2.5, 0.003),
    "tensioner": ((-0.095, 0.088), 0.035, 0.6, 0.0002),
}
BACK = "tensioner"  # runs on the back of the belt
LOADS = {"water pump": -6.0, "alternator": -10.0}  # [N m]
PIVOT, ARM_MASS, ARM_INERTIA = (-0.150, 0.060), 0.4, 0.0004
TENSIONER = {"stiffness": 40.0, "damping": 1.0, "torque": 12.0}  # [N m/rad], [N m s/rad], [N m] onto the belt
SPEED = 150.0  # of the crank [rad/s]
HOLD = 5.0, 200.0  # torque of the drive per error of speed and of angle [N m s/rad, N m/rad]
WIDTH, HEIGHT, DENSITY = 0.021, 0.0045, 0.11  # of the belt [m, m, kg/m]
EA = 120e3  # stretch stiffness [N]
LATERAL = 0.1  # stiffness across the belt in parts of that along it
DAMPING_TIME = 2e-5  # damping over stiffness of the forces between segments [s]
CORNERS = [(y * WIDTH / 4, z * HEIGHT / 2) for y in (-1, 1) for z in (-1, 1)]
CONTACT: dict[str, Any] = {"stiffness": 2e6, "exponent": 1.0, "damping": 1.0, "onset": 1e-5, "stick_velocity": 0.01}
RIBS, SMOOTH = 1.2, 0.4  # friction of the ribs on the pulleys, of the back on the tensioner
LIFT = 0.002  # by which the tensioner reaches further than its pitch radius [m]
FEWEST = 40


def belt_drive(segments: int = 100, *, pretension: float = 300.0) -> Model:
    """Return an accessory drive with a poly-V belt of rigid segments: crank, water pump, alternator and tensioner.

    Parameters
    ----------
    segments : int
        Segments of the belt, at least 40. The belt keeps its length, mass and stiffness; 40 make a short model for
        tests.
    pretension : float
        Tension of the belt at the start, N.

    Raises
    ------
    ModelError
        If there are fewer than 40 segments, or the pretension is not positive.

    Notes
    -----
    [NegrutHHT], section 4.1: 100 segments, 400 forces of three components, three pulleys and a tensioner with a
    rotational spring, 200 ms, 3725 equations. Nothing else is printed: the numbers are those of a model of the same
    structure and a usual size. Here 105 bodies have 735 coordinates, 130 constraints and 605 degrees of freedom, so
    HHT-I3 solves for 865 unknowns; the count of the paper has forces and their arguments as unknowns, too.

    The belt runs counter-clockwise in the x-y plane. Bodies are `segment 1` ... `segment 100`, `crank`, `water pump`,
    `alternator`, `tensioner` and `arm`; `crank axle` and so on are their revolute joints, `arm pivot` that of the arm.
    Segments have their x axis along the belt, y along the axles and z outwards. Neighbours are joined by four `Bushing`
    elements with three stiffnesses, at a quarter of the width and half of the height to either side of the middle of
    their end faces: `link 1 1` ... `link 100 4`. These make EA = 120 kN and EI = 0.61 N m^2. `ribs` is the set of
    contacts with the three pulleys (friction 1.2), `back` that with the tensioner (0.4): 400 pairs of a segment and a
    pulley.

    Chosen where the source is silent or says two things: the belt is straight where it is free of forces, and its
    links are shortened such that each carries the pretension at the start. Contact forces act half a belt height below
    the pitch line, on the surface of the pulley. The damper of the contact sets in over a depth of 0.01 mm. The belt
    starts on a circle of 35 mm around the tensioner, whose contact begins at 37 mm: a blow at the start. The moments of
    inertia of a segment are those of its box. The crank is held at 150 rad/s by a torque of 5 N m s/rad times the
    error of its speed and 200 N m/rad times that of its angle, on top of the 32.5 N m that the loads take. There is no
    gravity. The part by angle is made of a spring and of a torque that grows with time, so the potential energy and the
    work of a run grow alike, far beyond the energy of the belt: look at their balance.

    Look at the speed of the alternator, 375 rad/s, and at the force of its axle. The first 20 ms are a start from a
    state that is far from steady.

    >>> from index3 import library
    >>> len(library.belt_drive(segments=40).bodies)
    45
    """
    segments = as_whole(segments, "belt_drive", "segments")
    pretension = as_number(pretension, "belt_drive", "pretension")
    if segments < FEWEST:
        raise ModelError(f"belt_drive: segments is {segments}. Give a whole number, at least {FEWEST}.")
    pretension = as_positive(pretension, "belt_drive", "pretension")
    model = Model(f"belt drive {segments}", gravity=(0.0, 0.0, 0.0))
    add_pulleys(model)
    add_drive(model)
    loop = belt_loop()
    length = loop.length / segments
    belt = []
    for k in range(segments):
        place, heading, curvature = loop.at((k + 0.5) * length)
        c, s = math.cos(heading), math.sin(heading)
        speed = SPEED * PULLEYS["crank"][1]
        segment = RigidBody.box(
            f"segment {k + 1}",
            (length, WIDTH, HEIGHT),
            DENSITY * length,
            position=(*place, 0.0),
            orientation=((c, 0.0, s), (s, 0.0, -c), (0.0, 1.0, 0.0)),
            velocity=(speed * c, speed * s, 0.0),
            angular_velocity=(0.0, 0.0, speed * curvature),
        )
        belt.append(model.add(segment))
    add_links(model, belt, length, pretension)
    ends = [(segment, Sphere(HEIGHT / 2)) for segment in belt]
    ribs = [pulley_surface(model, name, -HEIGHT / 2) for name in PULLEYS if name != BACK]
    model.add(ContactSet("ribs", ends, against=ribs, friction=RIBS, **CONTACT))
    back = [pulley_surface(model, BACK, LIFT - HEIGHT / 2)]
    model.add(ContactSet("back", ends, against=back, friction=SMOOTH, **CONTACT))
    return model


def turning(name: str) -> float:
    """Angular velocity of a pulley at the start: the belt does not slip."""
    return (-1.0 if name == BACK else 1.0) * SPEED * PULLEYS["crank"][1] / PULLEYS[name][1]


def add_pulleys(model: Model) -> None:
    """The pulleys on their axles, the tensioner on its arm."""
    at = PULLEYS[BACK][0]
    reach = math.dist(PIVOT, at)
    heading = math.atan2(at[1] - PIVOT[1], at[0] - PIVOT[0])
    middle = (0.5 * (PIVOT[0] + at[0]), 0.5 * (PIVOT[1] + at[1]), 0.0)
    half = 0.5 * heading
    arm = RigidBody("arm", ARM_MASS, (ARM_INERTIA,) * 3, position=middle,
                    orientation=(math.cos(half), 0.0, 0.0, math.sin(half)))  # fmt: skip
    arm.shape = {"type": "box", "size": [reach, 0.012, 0.012]}
    model.add(arm)
    pivot = model.add(Revolute("arm pivot", model.ground, arm, at=(*PIVOT, 0.0), axis=(0, 0, 1)))
    model.add(RotationalSpringDamper("arm spring", pivot, **TENSIONER))
    for name, (centre, radius, mass, inertia) in PULLEYS.items():
        pulley = RigidBody(
            name, mass, (0.6 * inertia, 0.6 * inertia, inertia), position=(*centre, 0.0),
            angular_velocity=(0.0, 0.0, turning(name)),
        )  # fmt: skip
        pulley.shape = {"type": "cylinder", "radius": radius - HEIGHT / 2, "length": 1.2 * WIDTH, "axis": "z"}
        model.add(pulley)
        carrier = arm if name == BACK else model.ground
        model.add(Revolute(f"{name} axle", carrier, pulley, at=(*centre, 0.0), axis=(0, 0, 1)))


def add_drive(model: Model) -> None:
    """Loads of pump and alternator, and the torque that holds the speed of the crank.

    p (speed - rate) + i (speed t - angle) + steady, as a spring with a damper and a torque that grows with time.
    """
    for name, torque in LOADS.items():
        model.add(Torque(f"{name} load", model[name], (0.0, 0.0, torque)))
    by_rate, by_angle = HOLD
    steady = -sum(torque * turning(name) for name, torque in LOADS.items()) / SPEED
    axle = model["crank axle"]
    model.add(
        RotationalSpringDamper("speed hold", axle, stiffness=by_angle, damping=by_rate, torque=by_rate * SPEED + steady)
    )
    model.add(Actuator("speed set", axle, Expression(f"{by_angle * SPEED}*t")))


def add_links(model: Model, belt: list[RigidBody], length: float, pretension: float) -> None:
    """Four forces between each segment and the next one, the last and the first as well."""
    along = EA / (4 * length)
    stiffness = np.array((along, LATERAL * along, LATERAL * along))
    for k, (first, second) in enumerate(zip(belt, [*belt[1:], belt[0]], strict=True), start=1):
        face, next_face = first.marker((length / 2, 0.0, 0.0)), second.marker((-length / 2, 0.0, 0.0))
        (r, A), (r_next, _) = face.pose(), next_face.pose()
        gap = float((A.T @ (r_next - r))[0]) - 0.25 * pretension / along
        for corner, (y, z) in enumerate(CORNERS, start=1):
            ends = first.marker((length / 2, y, z)), second.marker((-length / 2, y, z))
            force = Bushing(f"link {k} {corner}", *ends, stiffness=stiffness, damping=DAMPING_TIME * stiffness,
                            free=(gap, 0.0, 0.0))  # fmt: skip
            model.add(force)


def pulley_surface(model: Model, name: str, offset: float) -> tuple:
    """A pulley as a shape of contact, larger than its pitch radius by an offset."""
    return model[name], Cylinder(PULLEYS[name][1] + offset, WIDTH)


def belt_loop() -> Loop:
    """The pitch line of the belt at the start."""
    return Loop([(centre, -radius if name == BACK else radius) for name, (centre, radius, *_) in PULLEYS.items()])
