"""The HMMWV with 14 bodies, stiff bushings, and a bump on the road."""

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import as_number, as_positive
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.forces.road import Road
from index3.forces.spring_damper import SpringDamper
from index3.forces.tyre import Tyre
from index3.joints.primitive import Distance, RelativeCoordinate
from index3.joints.standard import Prismatic, Revolute, Spherical
from index3.library import hmmwv_data as data
from index3.model.model import Model

DAMPERS = {"front": 19015.5692, "rear": 36725.2201}  # between shock top and shock foot [N s/m]
BUSHING = {"stiffness": 2e7, "damping": 2e6, "length": 0.1}
FIRST_CONTACT = 0.5  # when the front wheels meet the bump [s]
SLOWEST = 0.1  # speed with a bump [m/s]: the car must come to rest before it
Points = dict[str, np.ndarray]


def hmmwv14(
    rack_locked: bool = True,
    stiff: bool = True,
    *,
    speed: float = 4.4704,
    bump: float = 0.05,
    settled: bool = True,
) -> Model:
    """Return the HMMWV with 14 bodies that drives over a half cylinder: 98 coordinates, 80 constraints, stiff.

    Parameters
    ----------
    rack_locked : bool
        Hold the steering rack in the chassis.
    stiff : bool
        Carry each upper arm by a spherical joint and two stiff spring-dampers; False: by a revolute joint.
    speed : float
        Speed along x at the start, m/s; the default is 10 mph. At least 0.1 if there is a bump.
    bump : float
        Radius of the half cylinder across the road, m; 0 for a flat road. The front wheels meet it at t = 0.5 s, the
        rear wheels 3.31 m later.
    settled : bool
        Start at rest on the springs, but for the speed; False: in the design position, with the tyres unloaded, from
        which the car drops.

    Raises
    ------
    ModelError
        If a number is not finite, the bump is negative, or there is a bump and the speed is below 0.1 m/s.

    Notes
    -----
    D. Negrut, On the implicit integration of differential-algebraic equations of multibody dynamics, thesis, The
    University of Iowa, 1998, sections 3.4.3.5 and 5.2: topology, counts, constants of bushings and tyres, manoeuvre.
    Its parameters are not printed; `hmmwv_data` says where those here are from. Bodies are `chassis`, `rack`, and for
    each corner an upper arm, a lower arm and a spindle, which is upright, spindle and tyre in one: `front left spindle`
    and so on; the forces are `front left tyre`, `front left spring`, `front left damper`, `front left bushing 1`. Tie
    rods are distances, at the front from the rack, at the rear from the chassis. Dampers are linear. Each upper arm
    has two bushings (2e7 N/m, 2e6 N s/m) 0.1 m long at its front chassis point, across the line between its chassis
    points; their place is not printed either. Tyres are vertical springs and dampers that also pull, with no forces
    along the road, so that speed, lateral position and heading are free; the slope of the road has no part in them.

    | | coordinates | constraints | degrees of freedom |
    |---|---|---|---|
    | stiff, rack locked | 98 | 80 | 18 |
    | stiff | 98 | 79 | 19 |
    | not stiff, rack locked | 98 | 88 | 10 |
    | not stiff | 98 | 87 | 11 |

    The bushings bring real eigenvalues of -7e5 1/s (the thesis: -2.6e5), so explicit methods crawl. The wheels
    meet the bump at t = 0.5 and 1.24 s and leave it 22 ms later: as `discontinuities`, these times let steps end there.
    Look at the height of the chassis: 0.683 m, twice raised by 4 mm.

    >>> from index3 import library
    >>> len(library.hmmwv14(settled=False).bodies)
    14
    """
    speed = as_number(speed, "hmmwv14", "speed")
    bump = as_number(bump, "hmmwv14", "bump")
    speed = as_number(speed, "hmmwv14", "speed")
    if bump != 0.0:
        bump = as_positive(bump, "hmmwv14", "bump")
        if speed < SLOWEST:
            raise ModelError(f"hmmwv14: speed {speed} is too slow for the bump. Give at least {SLOWEST}, or bump=0.")
    model = Model("hmmwv14", gravity=data.GRAVITY)
    chassis = add_body(model, "chassis", data.CHASSIS, data.in_ground(*data.CHASSIS_CENTRE), speed)
    points = {corner: data.corner_points(corner) for corner in data.CORNERS}
    middle = np.mean([points[corner]["tie rod inner"] for corner in data.CORNERS[:2]], axis=0)
    mass, (across, _, along) = data.RACK
    rack = add_body(model, "rack", (mass, (across, along, across)), middle, speed)
    model.add(Prismatic("rack slide", chassis, rack, at=middle, axis=(0, 1, 0)))
    if rack_locked:
        model.add(RelativeCoordinate("rack lock", chassis, rack, at=middle, axis=(0, 1, 0)))
    front = points["front left"]["wheel"][0]
    road = Road.half_cylinder(front + FIRST_CONTACT * speed + bump, bump) if bump else Road.flat()
    for corner in data.CORNERS:
        inner = rack if data.axle_of(corner) == "front" else chassis
        add_corner(model, corner, points[corner], chassis, inner, speed, stiff)
        wheel = model[f"{corner} spindle"].marker_at(points[corner]["wheel"], z=(0, 1, 0))
        tyre = Tyre(
            f"{corner} tyre", wheel, model.ground, road, **data.TYRE, pulls=True, normal="vertical", camber=False
        )
        model.add(tyre)
    if settled:
        data.move_to_rest(model)
        wheels = [model[f"{corner} tyre"].markers[0].pose()[0][0] for corner in data.CORNERS[:2]]
        for body in model.bodies.values():  # nothing holds the car along the road: keep its front wheels in place
            body.q0[0] += front - np.mean(wheels)
    return model


def add_body(model: Model, name: str, part: tuple, position: np.ndarray, speed: float) -> RigidBody:
    """A body that moves along x with the car."""
    mass, inertia = part
    still = (0.0, 0.0, 0.0)
    return model.add(
        RigidBody(name, mass, inertia, position=position, velocity=(speed, 0.0, 0.0), angular_velocity=still)
    )


def add_corner(model: Model, corner: str, at: Points, chassis: Body, inner: Body, speed: float, stiff: bool) -> None:
    """Arms, spindle, tie rod, spring and damper of one corner; `inner` carries the inner end of the tie rod."""
    axle = data.axle_of(corner)
    parts = data.PARTS[axle]
    upper = add_body(model, f"{corner} upper arm", parts["upper arm"], at["upper arm"], speed)
    spindle = add_body(model, f"{corner} spindle", *lumped(parts, at), speed)
    lower = add_body(model, f"{corner} lower arm", parts["lower arm"], at["lower arm"], speed)
    line = at["upper arm rear"] - at["upper arm front"]
    if stiff:
        middle = 0.5 * (at["upper arm front"] + at["upper arm rear"])
        model.add(Spherical(f"{corner} upper arm pivot", chassis, upper, at=middle))
        add_bushings(model, corner, chassis, upper, at["upper arm front"], line)
    else:
        model.add(Revolute(f"{corner} upper arm pivot", chassis, upper, at=at["upper arm front"], axis=line))
    line = at["lower arm rear"] - at["lower arm front"]
    model.add(Revolute(f"{corner} lower arm pivot", chassis, lower, at=at["lower arm front"], axis=line))
    model.add(Spherical(f"{corner} upper ball", upper, spindle, at=at["upper ball"]))
    model.add(Spherical(f"{corner} lower ball", lower, spindle, at=at["lower ball"]))
    model.add(Distance(f"{corner} tie rod", inner, spindle, points=(at["tie rod inner"], at["tie rod outer"])))
    ends = (at["spring top"], at["spring foot"])
    model.add(SpringDamper(f"{corner} spring", chassis, lower, points=ends, **data.SPRINGS[axle]))
    ends = (at["shock top"], at["shock foot"])
    model.add(SpringDamper(f"{corner} damper", chassis, lower, points=ends, damping=DAMPERS[axle]))


def lumped(parts: dict[str, tuple], at: Points) -> tuple[tuple, np.ndarray]:
    """Upright, spindle and tyre as one part, and its centre of mass; the last two have theirs at the wheel centre."""
    axes = {"upright": (0, 1, 2), "spindle": (0, 2, 1), "tyre": (0, 1, 2)}  # the spindle spins about its last axis
    places = {"upright": at["upright"], "spindle": at["wheel"], "tyre": at["wheel"]}
    mass = sum(parts[name][0] for name in places)
    centre = np.sum([parts[name][0] * place for name, place in places.items()], axis=0) / mass
    inertia = np.zeros((3, 3))
    for name, place in places.items():
        own, d = np.array(parts[name][1])[list(axes[name])], place - centre
        inertia += np.diag(own) + parts[name][0] * (d @ d * np.eye(3) - np.outer(d, d))
    return (mass, inertia), centre


def add_bushings(model: Model, corner: str, chassis: Body, arm: Body, at: np.ndarray, line: np.ndarray) -> None:
    """Two stiff spring-dampers between arm and chassis, across a line and each other: about down, and to the left."""
    down = np.cross(line, (0.0, 1.0, 0.0))
    for number, direction in enumerate((down, np.cross(down, line)), start=1):
        end = at + BUSHING["length"] * direction / np.linalg.norm(direction)
        model.add(SpringDamper(f"{corner} bushing {number}", chassis, arm, points=(end, at), **BUSHING))
