"""One side of a crawler: a chain of shoes around sprocket, rollers and idler, 704 candidate contacts."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.rigid_body import RigidBody
from index3.files.expressions import Expression
from index3.forces.bushing import Bushing
from index3.forces.contact_set import ContactSet
from index3.forces.coordinate_spring import RotationalSpringDamper
from index3.forces.curve import Curve
from index3.forces.joint_limit import JointLimit
from index3.forces.shapes import Cylinder, Plane, Sphere, Sprocket, Strip
from index3.forces.spring_damper import SpringDamper
from index3.joints.drives import Motion
from index3.joints.primitive import Inline
from index3.joints.standard import Fixed, Planar, Prismatic, Revolute
from index3.library.loops import Loop
from index3.model.model import Model

ACROSS = (0.0, 1.0, 0.0)  # the axis of pins and wheels
PITCH, WIDTH, HEIGHT = 0.3, 0.6, 0.12  # of a shoe [m]
INNER = 0.03  # height of its inner face over the pitch line [m]
CORNER, PIN = 0.01, 0.03  # radii of the corners on the ground and of the pins [m]
LEVEL = HEIGHT - INNER  # of the lower pitch line over the ground [m]
SHOE = 60.0, (1.9, 0.5, 2.25)  # mass [kg], moments of inertia [kg m^2]
CONTACT: dict[str, Any] = {"stiffness": 4e7, "exponent": 1.5, "damping": 1.5, "stick_velocity": 0.02}
ROLLING, SOIL = 0.5, 0.7  # coefficients of friction: wheels on shoes, shoes on ground
GEARING: dict[str, Any] = {"stiffness": 2e7, "exponent": 1.0, "damping": 1.5}
TENSION = {"stiffness": 2e6, "damping": 4e4}  # of the spring behind the idler
PRELOAD = 6e4  # [N]
PIN_DAMPING = 5.0  # [N m s/rad]
STOP, STOP_STIFFNESS = math.pi / 4, 1e5  # of a pin: [rad], [N m/rad]
RAMP = "0.4*where(t < 0.5, 0, where(t < 1.5, (t - 0.5)**3 - 0.5*(t - 0.5)**4, t - 1))"
"""Angle of the sprocket: at rest for 0.5 s, then its speed rises to 0.4 rad/s within 1 s, as 3 u^2 - 2 u^3."""


@dataclass(frozen=True)
class Size:
    """What a long and a short track differ in: lengths [m], masses [kg], moments of inertia [kg m^2]."""

    shoes: int
    teeth: int
    idler_radius: float  # of the pitch line
    lower: tuple[float, ...]  # x of the rollers
    lower_radius: float
    carriers: tuple[float, ...]
    carrier_radius: float
    sprocket: tuple
    idler: tuple
    frame: tuple
    frame_at: float
    fixed: tuple[float, ...]  # masses of gear case, ballast, guide plates


LONG = Size(
    44, 18, 0.78, (0.55, 1.03, 1.51, 1.99, 2.47, 2.95, 3.43), 0.2, (1.3, 2.7), 0.15,
    (900.0, (200.0, 340.0, 200.0)), (700.0, (130.0, 215.0, 130.0)), (6000.0, (1500.0, 9000.0, 9000.0)), 2.0,
    (800.0, 2500.0, 150.0, 150.0),
)  # fmt: skip
SHORT = Size(
    22, 12, 0.55, (0.42, 0.78, 1.14), 0.15, (0.78,), 0.1,
    (400.0, (40.0, 67.0, 40.0)), (350.0, (33.0, 55.0, 33.0)), (1500.0, (150.0, 600.0, 600.0)), 0.75,
    (200.0, 600.0, 40.0, 40.0),
)  # fmt: skip
ROLLER, CARRIER = (120.0, (2.0, 2.4, 2.0)), (60.0, (0.6, 0.7, 0.6))
YOKE = 250.0, (20.0, 20.0, 20.0)


def crawler_track(short: bool = False) -> Model:
    """Return one side of a crawler that stands on the ground, settles, and drives off: 61 bodies, 704 contacts.

    Parameters
    ----------
    short : bool
        A short track for tests: 22 shoes, 3 rollers, 1 carrier roller, a sprocket of 12 teeth; 34 bodies, 242 contacts.

    Notes
    -----
    [NegrutHHT], section 4.2: the track of an excavator with 61 parts, 54 revolute, 1 planar, 1 translational, 4 fixed
    joints, 1 inline primitive and 1 motion, 61 degrees of freedom, 690 contacts, 4675 equations, 14 s. Nothing else is
    printed: the numbers are those of a machine of a usual size with these joints. Here 427 coordinates and 366
    constraints leave 61 degrees of freedom, and HHT-I3 solves for 793 unknowns; the count of the paper has forces and
    their arguments as unknowns, too.

    Everything turns about y; it drives along x. Bodies are `shoe 1` ... `shoe 44`, the first at the front, the
    others following over the top; `frame`, `sprocket`, `idler`, `yoke` (it carries the idler and slides in the frame),
    `roller 1` ... `roller 7`, `carrier 1`, `carrier 2`, `gear case`, `ballast`, `guide plate 1`, `guide plate 2`. Shoes
    are joined by `pin 1` ... `pin 43`, and by the inline joint `last pin`; `plane` keeps the chain in the plane of the
    frame. `drive` turns the sprocket: at rest for 0.5 s, while the track settles, then up to 0.4 rad/s within 1 s,
    which is 0.34 m/s. `tension spring` pushes the yoke forward.

    Candidate contacts: `soil`, four corners of each shoe (176); `rollers`, 9 rollers and each inner face (396);
    `idler rim` and each inner face (44); `gearing`, the pins and the sprocket (44); stops of the pins at 45 degrees,
    `stop 1` ... `stop 43` and, with the damping of the last pin, `last stop` (44). Together 704, the paper has 690.

    Chosen where the source is silent: the track stands on the ground at the start. Pins are 0.3 m apart, in a polygon
    around sprocket and idler, so the idler is 13 mm further out than around arcs. The rim of the idler touches the
    middle of the inner faces there. Shoes have their centre of mass in the middle of their height, corners rounded by
    10 mm. Teeth of the sprocket have flanks at 45 degrees (`Sprocket`), without friction: they hold a seated pin with
    2e7 N/m in all directions and let it go, where a spring to the nearest gap would hold it back. Contacts with the
    sprocket have the damping factor of the others.

    Look at the sum of the forces of the ground, 147.6 kN but for the settling, at the tension spring, and at the
    acceleration of a shoe. The gear case stands to the left, so the machine leans a little.

    >>> from index3 import library
    >>> len(library.crawler_track(short=True).bodies)
    34
    """
    size = SHORT if short else LONG
    model = Model("short crawler track" if short else "crawler track")
    sprocket = Sprocket.of_pitch(PITCH, size.teeth)
    centre = (0.0, LEVEL + sprocket.radius)
    reach, pins = close_chain(size, centre, sprocket.radius)
    idler_at = (reach, LEVEL + size.idler_radius)
    frame = add_body(model, "frame", size.frame, (size.frame_at, centre[1]))
    frame.shape = {"type": "box", "size": [0.6 * reach, 0.3, 0.2]}
    for name, mass, at in zip(*fixed_parts(size, centre), strict=True):
        part = model.add(RigidBody(name, mass, (20.0, 20.0, 20.0), position=at))
        part.shape = {"type": "box", "size": [0.4, 0.04 if "plate" in name else 0.3, 0.3]}
        model.add(Fixed(f"{name} mount", frame, part, at=at))
    gap = middle(pins[0] - centre)
    shoes = add_chain(model, np.roll(pins, -(size.shoes // 2), axis=0))
    model.add(Planar("plane", frame, shoes[0], at=shoes[0].q0[:3], axis=ACROSS))
    wheel = add_wheel(model, "sprocket", size.sprocket, frame, centre, sprocket.radius - PIN)
    model.add(Motion("drive", model["sprocket axle"], Expression(RAMP)))
    add_idler(model, size, frame, idler_at)
    add_rollers(model, size, frame, Loop([(centre, sprocket.radius), (idler_at, size.idler_radius)]))
    add_contacts(model, size, shoes, wheel.marker((0, 0, 0), z=ACROSS, x=gap), sprocket)
    return model


def middle(point: Any) -> tuple[float, float, float]:
    """A point of the x-z plane in space."""
    return (float(point[0]), 0.0, float(point[1]))


def close_chain(size: Size, centre: tuple[float, float], radius: float) -> tuple[float, np.ndarray]:
    """Distance of the idler for which the chain closes, and the pins, the first of them half-way around the sprocket.

    Pins lie on the line around both wheels, each 0.3 m from the last; the secant method finds the distance.
    """

    def chain(reach: float) -> tuple[float, list[np.ndarray]]:
        loop = Loop([(centre, radius), ((reach, LEVEL + size.idler_radius), size.idler_radius)])
        s = start = loop.length - 0.5 * loop.pieces[-1][1]
        pins = [loop.at(s)[0]]
        for _ in range(size.shoes):
            point, step = pins[-1], PITCH
            for _ in range(20):  # the chord is a little shorter than its arc
                step += PITCH - float(np.linalg.norm(loop.at(s + step)[0] - point))
            s += step
            pins.append(loop.at(s)[0])
        return start + loop.length - s, pins[:-1]

    near = 0.5 * (size.shoes * PITCH - math.pi * (radius + size.idler_radius))
    far = near + 0.02
    slack = chain(near)[0]
    for _ in range(20):
        more, pins = chain(far)
        if abs(more) < 1e-14 or more == slack:
            break
        near, far, slack = far, far - more * (far - near) / (more - slack), more
    return far, np.array(pins)


def add_body(model: Model, name: str, part: tuple, at: Any) -> RigidBody:
    """A body in the middle plane."""
    mass, inertia = part
    return model.add(RigidBody(name, mass, inertia, position=middle(at)))


def add_wheel(model: Model, name: str, part: tuple, carrier: Body, at: Any, radius: float) -> RigidBody:
    """A wheel on an axle."""
    wheel = add_body(model, name, part, at)
    wheel.shape = {"type": "cylinder", "radius": radius, "length": 0.4 * WIDTH, "axis": "y"}
    model.add(Revolute(f"{name} axle", carrier, wheel, at=middle(at), axis=ACROSS))
    return wheel


def fixed_parts(size: Size, centre: tuple[float, float]) -> tuple[list[str], list[float], list[tuple]]:
    """Names, masses and places of what is fixed to the frame."""
    x, z = size.frame_at, centre[1]
    names = ["gear case", "ballast", "guide plate 1", "guide plate 2"]
    plates = 0.55 * WIDTH
    places = [(0.0, 0.35, z), (x, 0.0, z + 0.45), (x, plates, z - 0.55), (x, -plates, z - 0.55)]
    return names, list(size.fixed), places


def add_chain(model: Model, pins: np.ndarray) -> list[RigidBody]:
    """Shoes between the pins; z of a shoe points inwards, its origin is the middle of its height."""
    count, shoes = len(pins), []
    headings = np.arctan2(*(np.roll(pins, -1, axis=0) - pins).T[::-1])
    for k in range(count):
        c, s = math.cos(headings[k]), math.sin(headings[k])
        centre = 0.5 * (pins[k] + pins[(k + 1) % count]) + (INNER - HEIGHT / 2) * np.array((-s, c))
        axes = np.array(((c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c)))
        mass, inertia = SHOE
        shoe = RigidBody(f"shoe {k + 1}", mass, inertia, position=middle(centre), orientation=axes)
        shoe.shape = {"type": "box", "size": [0.96 * PITCH, WIDTH, HEIGHT]}
        shoes.append(model.add(shoe))
    for k in range(1, count):
        pin = model.add(Revolute(f"pin {k}", shoes[k - 1], shoes[k], at=middle(pins[k]), axis=ACROSS))
        turn = -math.remainder(headings[k] - headings[k - 1], 2 * math.pi)  # about y, of which the pin counts no part
        model.add(RotationalSpringDamper(f"pin damper {k}", pin, damping=PIN_DAMPING))
        model.add(JointLimit(f"stop {k}", pin, lower=-STOP - turn, upper=STOP - turn, stiffness=STOP_STIFFNESS))
    model.add(Inline("last pin", shoes[0], shoes[-1], at=middle(pins[0]), axis=ACROSS))
    beyond = STOP_STIFFNESS * (1.0 - STOP)
    stop = Curve([-1.0, -STOP, STOP, 1.0], [-beyond, 0.0, 0.0, beyond], interpolation="linear")
    up = HEIGHT / 2 - INNER
    ends = shoes[-1].marker((0.5 * PITCH, 0.0, up)), shoes[0].marker((-0.5 * PITCH, 0.0, up))
    laws: dict[str, Any] = {"stiffness": (0, 0, 0, 0, stop, 0), "damping": (0, 0, 0, 0, PIN_DAMPING, 0)}
    model.add(Bushing("last stop", *ends, **laws))
    return shoes


def add_idler(model: Model, size: Size, frame: Body, at: tuple[float, float]) -> None:
    """Idler and yoke, pushed forward by the tension spring."""
    yoke = add_body(model, "yoke", YOKE, (at[0] - 0.4, at[1]))
    yoke.shape = {"type": "box", "size": [0.5, 0.5 * WIDTH, 0.15]}
    model.add(Prismatic("slide", frame, yoke, at=middle((at[0] - 0.4, at[1])), axis=(1, 0, 0)))
    add_wheel(model, "idler", size.idler, yoke, at, rim(size))
    ends = middle((at[0] - 0.8, at[1])), middle((at[0] - 0.4, at[1]))
    free = 0.4 + PRELOAD / TENSION["stiffness"]
    model.add(SpringDamper("tension spring", frame, yoke, points=ends, length=free, **TENSION))


def rim(size: Size) -> float:
    """Radius of the idler: it touches the middle of the shoes whose pins lie on its pitch circle."""
    return math.sqrt(size.idler_radius**2 - 0.25 * PITCH**2) - INNER


def add_rollers(model: Model, size: Size, frame: Body, loop: Loop) -> None:
    """Rollers on the lower run, carrier rollers below the upper one."""
    for k, x in enumerate(size.lower, start=1):
        add_wheel(model, f"roller {k}", ROLLER, frame, (x, LEVEL + INNER + size.lower_radius), size.lower_radius)
    _, _, (x0, z0), heading, _ = loop.pieces[2]
    for k, x in enumerate(size.carriers, start=1):
        below = (INNER + size.carrier_radius) / -math.cos(heading)  # the upper run heads back
        z = z0 + math.tan(heading) * (x - x0) - below
        add_wheel(model, f"carrier {k}", CARRIER, frame, (x, z), size.carrier_radius)


def add_contacts(model: Model, size: Size, shoes: list[RigidBody], wheel: Any, sprocket: Sprocket) -> None:
    """Ground, rollers, idler and sprocket."""
    x, y, z = PITCH / 2 - CORNER, WIDTH / 2 - CORNER, CORNER - HEIGHT / 2
    places = [(i * x, j * y, z) for i in (-1, 1) for j in (-1, 1)]
    corners = [(shoe.marker(place), Sphere(CORNER)) for shoe in shoes for place in places]
    model.add(ContactSet("soil", corners, against=[(model.ground, Plane())], friction=SOIL, **CONTACT))
    faces = [(shoe.marker((0, 0, HEIGHT / 2)), Strip(PITCH)) for shoe in shoes]

    def round_wheel(name: str, radius: float) -> tuple:
        return model[name].marker((0, 0, 0), z=ACROSS), Cylinder(radius, 0.4 * WIDTH)

    rollers = [round_wheel(f"roller {k + 1}", size.lower_radius) for k in range(len(size.lower))]
    rollers += [round_wheel(f"carrier {k + 1}", size.carrier_radius) for k in range(len(size.carriers))]
    model.add(ContactSet("rollers", rollers, against=faces, friction=ROLLING, **CONTACT))
    model.add(ContactSet("idler rim", [round_wheel("idler", rim(size))], against=faces, friction=ROLLING, **CONTACT))
    pins = [(shoe.marker((-PITCH / 2, 0, HEIGHT / 2 - INNER)), Sphere(PIN)) for shoe in shoes]
    model.add(ContactSet("gearing", pins, against=[(wheel, sprocket)], **GEARING))
