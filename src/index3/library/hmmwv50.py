"""The HMMWV with 50 bodies that coasts on a flat road."""

from typing import Any

import numpy as np

from index3.algebra.rotations import E_transposed
from index3.analysis.assemble import assemble
from index3.bodies.body import Body
from index3.bodies.marker import as_number, as_positive, frame
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.forces.bushing import Bushing
from index3.forces.curve import Curve
from index3.forces.relative import relative_pose
from index3.forces.spring_damper import SpringDamper
from index3.forces.tyre import Tyre
from index3.joints.standard import Cylindrical, Fixed, Revolute, ShaftCoupling, Spherical
from index3.library import hmmwv_data as data
from index3.library.hmmwv50_steering import add_steering
from index3.model.model import Model

Points = dict[str, np.ndarray]
Part = tuple[float, tuple[float, float, float]]
SUBFRAMES: dict[str, Part] = {"front": (50.0, (1e-6, 1e-6, 1e-6)), "rear": (45.359, (0.00029264,) * 3)}
STRUT: Part = (5.0, (1e-6, 1e-6, 1e-6))
SLENDER: dict[str, dict[str, Part]] = {  # their long axis, or the one they spin about, is the last
    "front": {
        "tie rod": (0.5545, (0.0057854, 0.0057854, 1.7745e-05)),
        "tripot": (1.9851, (0.0011019, 0.0011019, 0.0008139)),
        "drive shaft": (4.2175, (0.16599, 0.16599, 0.00069283)),
    },
    "rear": {
        "tie rod": (2.0412, (0.0422, 0.0422, 0.00019)),
        "tripot": (2.0307, (0.0011383, 0.0011383, 0.00084254)),
        "drive shaft": (6.0495, (0.24565, 0.24565, 0.0014463)),
    },
}
TRIPOT, OUTER = (0.2, 0.03), 0.7  # distance from the middle of the car and height above the wheel centre [m]
DAMPERS = {"front": (12521.564, 22460.008), "rear": (14535.522, 35025.354)}  # in compression and rebound [N s/m]
RATES = np.array((-2.0, -0.2, -0.05, 0.0, 0.05, 0.2, 2.0))  # where the damper curves have their points [m/s]
STIFFNESS = 2e6  # of the bushings [N/m]
ANGLES = np.linspace(-0.5, 0.5, 41)  # the same of the torques of the bushings [rad]
SLIP: dict[str, Any] = {
    "longitudinal_stiffness": 193929.0,
    "cornering_stiffness": 50000.0,
    "friction": 0.9835,
    "sliding_friction": 0.5568,
    "rolling_resistance": 0.015,
}
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def hmmwv50(
    speed: float = 5.0, *, bushing_stiffness: float = STIFFNESS, bushing_damping: float = 1e3, settled: bool = True
) -> Model:
    """Return the HMMWV with 50 bodies on a flat road: 350 coordinates, 320 constraints, 30 degrees of freedom.

    Parameters
    ----------
    speed : float
        Speed along x at the start, m/s, the wheels rolling; the default is 18 km/h. Not negative.
    bushing_stiffness : float
        Of the bushings between chassis and struts across the strut, N/m; along it 1.0476 times that. With `settled`,
        stiffer bushings are free where the car rests in the same place. Up to 5e11 runs well; with 2e12, the stiff
        case of the source, the steps of HHT, generalized-alpha and BDF collapse.
    bushing_damping : float
        The same for damping, in all directions, N s/m.
    settled : bool
        Start at rest on the springs, but for the speed; False: in the design position, with the tyres unloaded, from
        which the car drops.

    Raises
    ------
    ModelError
        If a number is not finite or out of range.

    Notes
    -----
    A. A. Shabana, D. Zhang, G. Wang, TLISMNI/Adams algorithm for the solution of the differential/algebraic equations
    of constrained dynamical systems, section 6.2: masses and inertias (Table 7), counts of constraints (Table 8),
    springs, bushings, manoeuvre. What it does not print is assumed here: the list of joints, which gives its counts,
    the points of steering and drive line, the curves of dampers and bushings, tyres; `hmmwv_data` says where the rest
    is from. The paper counts the ground as a body: here the body `road`, held by the joint `hold`. The others are
    `chassis`, `front subframe`, `rear subframe`; for each corner such as `front left` an `upper arm`, `lower arm`,
    `upright`, `spindle`, `wheel`, `upper strut`, `lower strut`, `tie rod`, `tripot` and `drive shaft`; and `steering
    wheel`, `column`, `intermediate shaft`, `steering shaft`, `pinion`, `rack`.

    | Table 8 | rows | here |
    |---|---|---|
    | ground | 6 | `Fixed` of the road |
    | Euler parameters | 50 | one for each body |
    | spherical | 81 | 27 `Spherical` |
    | revolute | 85 | 17 `Revolute` |
    | rigid | 42 | 7 `Fixed`: subframes, wheels, steering wheel |
    | cylindrical | 36 | 9 `Cylindrical`: struts, tripots, column |
    | relative angular velocity | 1 | `RelativeAngularVelocity`: the column is held |
    | gear | 11 | 11 `ShaftCoupling`: ends of drive shafts, joints of the steering shafts, pinion |
    | relative coordinate projection | 1 | `RelativeCoordinate`: the pinion's axis stays level |
    | rack and pinion | 2 | `RackPinion`, and `PerpendicularAxes` of the pinion and the rack |
    | dot product | 5 | `Prismatic` of the rack, five dot products |

    30 degrees of freedom: 6 of the chassis, 4 of the suspensions, 12 of the struts, 4 wheels, 4 tie rods about
    themselves. Tyres have slip forces and rolling resistance, which slows the car by 0.145 m/s^2. The light struts turn
    on stiff bushings: rates of 2e5 1/s, strongly damped, so that explicit methods crawl. Usual end time 10 s; look at
    the speed and height of the chassis.

    >>> from index3 import library
    >>> len(library.hmmwv50(settled=False).bodies)
    50
    """
    speed = as_number(speed, "hmmwv50", "speed")
    bushing_stiffness = as_number(bushing_stiffness, "hmmwv50", "bushing_stiffness")
    bushing_damping = as_number(bushing_damping, "hmmwv50", "bushing_damping")
    speed = as_number(speed, "hmmwv50", "speed")
    if speed < 0.0:
        raise ModelError(f"hmmwv50: speed is {speed}. Give at least 0.")
    k = as_positive(bushing_stiffness, "hmmwv50", "bushing_stiffness")
    c = as_positive(bushing_damping, "hmmwv50", "bushing_damping")
    rest = hmmwv50(0.0) if settled and k != STIFFNESS else None
    model = Model("hmmwv50", gravity=data.GRAVITY)
    road = model.add(RigidBody("road", 1.0, (1.0, 1.0, 1.0)))
    model.add(Fixed("hold", model.ground, road, at=(0, 0, 0)))
    chassis = add_body(model, "chassis", data.CHASSIS, data.in_ground(*data.CHASSIS_CENTRE))
    add_frames(model, chassis)
    for corner in data.CORNERS:
        at = data.corner_points(corner)
        add_arms(model, corner, at, model["rack" if data.axle_of(corner) == "front" else "rear subframe"])
        add_drive_line(model, corner, at)
        add_strut(model, corner, at, chassis, k, c, shim(rest, corner, k))
        wheel = model[f"{corner} wheel"].marker_at(at["wheel"], z=Y)
        model.add(Tyre(f"{corner} tyre", wheel, road, **data.TYRE, **SLIP))
    if rest is not None:
        for body in model.bodies.values():
            body.q0[:] = rest[body.name].q0
    elif settled:
        data.move_to_rest(model)
    roll(model, speed)
    return model


def add_body(model: Model, name: str, part: Part, at: np.ndarray, along: Any = None) -> RigidBody:
    """A body at a point, its axes those of ground, or its z axis along a direction."""
    orientation = frame(along, None, name)
    return model.add(RigidBody(name, *part, position=at, orientation=orientation))


def add_frames(model: Model, chassis: Body) -> None:
    """Both subframes, and the steering line on the front one."""
    for axle, x in (("front", data.AXLE), ("rear", -data.AXLE)):
        at = data.in_ground(x, 0.0, 0.0)
        subframe = add_body(model, f"{axle} subframe", SUBFRAMES[axle], at)
        model.add(Fixed(f"{axle} subframe bolts", chassis, subframe, at=at))
    ends = [data.corner_points(corner)["tie rod inner"] for corner in data.CORNERS[:2]]
    add_steering(model, chassis, model["front subframe"], np.mean(ends, axis=0))


def add_arms(model: Model, corner: str, at: Points, inner: Body) -> None:
    """Arms, upright and tie rod of one corner; `inner` carries the inner end of the tie rod."""
    axle = data.axle_of(corner)
    parts, subframe = data.PARTS[axle], model[f"{axle} subframe"]
    upright = add_body(model, f"{corner} upright", parts["upright"], at["upright"])
    for level in ("upper", "lower"):
        arm = add_body(model, f"{corner} {level} arm", parts[f"{level} arm"], at[f"{level} arm"])
        front, rear = at[f"{level} arm front"], at[f"{level} arm rear"]
        model.add(Revolute(f"{corner} {level} arm pivot", subframe, arm, at=0.5 * (front + rear), axis=rear - front))
        model.add(Spherical(f"{corner} {level} ball", arm, upright, at=at[f"{level} ball"]))
    start, end = at["tie rod inner"], at["tie rod outer"]
    rod = add_body(model, f"{corner} tie rod", SLENDER[axle]["tie rod"], 0.5 * (start + end), end - start)
    model.add(Spherical(f"{corner} tie rod inner", inner, rod, at=start))
    model.add(Spherical(f"{corner} tie rod outer", rod, upright, at=end))


def add_drive_line(model: Model, corner: str, at: Points) -> None:
    """Spindle, wheel, drive shaft and tripot of one corner."""
    axle = data.axle_of(corner)
    side = np.sign(at["wheel"][1])
    out = (0.0, side, 0.0)
    inner = np.array((at["wheel"][0], side * TRIPOT[0], at["wheel"][2] + TRIPOT[1]))
    outer = np.array((at["wheel"][0], side * OUTER, at["wheel"][2]))
    spindle = add_body(model, f"{corner} spindle", data.PARTS[axle]["spindle"], at["wheel"], Y)
    wheel = add_body(model, f"{corner} wheel", data.PARTS[axle]["tyre"], at["wheel"])
    tripot = add_body(model, f"{corner} tripot", SLENDER[axle]["tripot"], inner, Y)
    shaft = add_body(model, f"{corner} drive shaft", SLENDER[axle]["drive shaft"], 0.5 * (inner + outer), outer - inner)
    model.add(Revolute(f"{corner} wheel bearing", model[f"{corner} upright"], spindle, at=at["wheel"], axis=Y))
    model.add(Fixed(f"{corner} wheel bolts", spindle, wheel, at=at["wheel"]))
    model.add(Cylindrical(f"{corner} tripot bearing", model[f"{axle} subframe"], tripot, at=inner, axis=Y))
    model.add(Spherical(f"{corner} inner joint", tripot, shaft, at=inner))
    model.add(ShaftCoupling(f"{corner} inner coupling", tripot, shaft, at=inner, axes=(out, outer - inner)))
    model.add(Spherical(f"{corner} outer joint", shaft, spindle, at=outer))
    model.add(ShaftCoupling(f"{corner} outer coupling", shaft, spindle, at=outer, axes=(outer - inner, out)))


def shim(rest: Model | None, corner: str, stiffness: float) -> np.ndarray:
    """Where a bushing of some stiffness is free, so that it bears the same force as that of a model at rest."""
    free = np.zeros(6)
    if rest is not None:
        free[:3] = (1.0 - STIFFNESS / stiffness) * relative_pose(*rest[f"{corner} bushing"].markers)[:3]
    return free


def add_strut(
    model: Model, corner: str, at: Points, chassis: Body, stiffness: float, damping: float, free: np.ndarray
) -> None:
    """Strut with spring and damper of one corner, on a bushing at its top and a pin in the lower arm at its foot."""
    axle = data.axle_of(corner)
    top, foot = at["spring top"], at["spring foot"]
    upper = add_body(model, f"{corner} upper strut", STRUT, 0.75 * top + 0.25 * foot)
    lower = add_body(model, f"{corner} lower strut", STRUT, 0.25 * top + 0.75 * foot)
    model.add(Revolute(f"{corner} strut foot", model[f"{corner} lower arm"], lower, at=foot, axis=X))
    model.add(Cylindrical(f"{corner} strut", lower, upper, at=0.5 * (top + foot), axis=foot - top))
    compression, rebound = DAMPERS[axle]
    curve = Curve(RATES, np.where(RATES < 0.0, compression, rebound) * RATES)
    spring = data.SPRINGS[axle]
    model.add(SpringDamper(f"{corner} spring", upper, lower, points=(top, foot), damping=curve, **spring))
    torque = Curve(ANGLES, 500.0 * ANGLES + 5e4 * ANGLES**3)
    bushing = Bushing(
        f"{corner} bushing", chassis, upper, at=top, axis=foot - top,
        stiffness=(stiffness, stiffness, 1.0476 * stiffness, torque, torque, torque),
        damping=(damping,) * 3 + (0.057296,) * 3, free=free,
    )  # fmt: skip
    model.add(bushing)


def roll(model: Model, speed: float) -> None:
    """Give all bodies the velocities of a car that rolls straight on, its tyres without slip."""
    for body in model.bodies.values():
        body.velocity_given = body.angular_velocity_given = True
        body.v0[0] = 0.0 if body.name == "road" else speed
    for corner in data.CORNERS:
        r, A = model[f"{corner} wheel"].pose()
        axis = A[:, 1]
        spin = speed * np.sqrt(1.0 - axis[2] ** 2) / r[2] * axis  # the leaning wheel has a longer way to the road
        for part in ("wheel", "spindle"):
            body = model[f"{corner} {part}"]
            body.v0[3:] = E_transposed(body.q0[3:], (0.5 * spin).tolist())  # as in RigidBody: w = 2 E p'
        for part in ("tripot", "drive shaft"):
            model[f"{corner} {part}"].angular_velocity_given = False  # follows from that of the spindle
    for body, own in zip(model.bodies.values(), data.own_parts(model, assemble(model).v), strict=True):
        body.v0[:] = own
        body.angular_velocity_given = True
