"""The all-terrain vehicle with a flexible frame, on a shaker of four posts."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.marker import Marker, frame
from index3.bodies.modal_body import ModalBody
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.files.expressions import Expression
from index3.flexible.frames import frame as tube_frame
from index3.forces.contact import Contact
from index3.forces.shapes import Plane, Sphere
from index3.forces.spring_damper import SpringDamper
from index3.joints.drives import Motion
from index3.joints.standard import Fixed, Prismatic, Revolute, Spherical, Universal
from index3.library import atv_data as data
from index3.library.hmmwv_data import move_to_rest
from index3.model.model import Model

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SIDES = {"left": 1.0, "right": -1.0}
ALL_MODES = 134


def atv(modes: int = ALL_MODES, *, settled: bool = True) -> Model:
    """Return an all-terrain vehicle with a flexible frame that a shaker of four posts shakes.

    Parameters
    ----------
    modes : int
        How many modes the frame has, from the lowest; 134 are all of them. A short variant for tests has 20.
    settled : bool
        Start at rest on the springs, but for the rate of the steering; False: in the design position, with the tyres
        unloaded and the frame straight, from which the vehicle drops.

    Raises
    ------
    ModelError
        If there is no such number of modes.

    Notes
    -----
    [NegrutHHT], section 4.3, describes the vehicle and prints its counts; ours are beside them.

    | | paper | here |
    |---|---|---|
    | moving parts besides the frame | 28 | 28 |
    | modes of the frame | 134, 56.7 Hz to 13.1 kHz | 134, 56.7 Hz to 13.08 kHz |
    | joints | 43 | 33: 11 fixed, 8 revolute, 8 spherical, 2 universal, 4 prismatic |
    | motions | 5 | 5: four posts, steering column |
    | equations of HHT | 532 | 529: 337 coordinates and 192 constraints |
    | equations of index-3 BDF | 927 | 866: those of 337 velocities besides |
    | degrees of freedom | not printed | 145 |

    Of the joints the paper lists none; the ten that ours does not have most likely hold parts without a part in the
    motion. The 145 degrees of freedom are 134 of the frame and 11 others: the two spherical joints of the swing arm
    leave it the turning about their line, and keep the frame from stretching there.

    The frame of 25 round tubes (114 nodes) has the 14 junctions and two nodes on cross tubes as interfaces. Every lump
    (`engine`, `rider`, racks, `tank`, `battery`, `differential`) is fixed to one node of it by an arm; the arms of the
    front suspension turn on brackets of the junctions A; the shocks stand on E and G, the column on the right E, the
    swing arm on both C. Modes are damped by 1 % below 100 Hz, 10 % up to 1 kHz, and critically above. Tyres touch the
    pads as balls of 0.28 m with 1e5 N/m, 600 N s/m that sets in over the first millimetre, and friction of 0.8, fully
    developed at 0.01 m/s. Posts move by 0.02 m at 4 Hz, a quarter of a period one after the other, faded in over
    0.25 s; the column turns by 10 degrees at 0.5 Hz. What the paper does not print is chosen (see `atv_data`).

    The paper runs 2 s with steps of at most 5e-4 s. Look at `result["frame"].hot_spots(10)`, the force along z of
    `right swing arm pivot`, and the pitch rate `result["engine"].angular_velocity[:, 1]`.

    >>> from index3 import library
    >>> short = library.atv(20, settled=False)
    >>> len(short.bodies), len(short.joints), short["frame"].modes
    (29, 33, 20)
    """
    model = Model("atv", gravity=(0.0, 0.0, -9.81))
    body = model.add(frame_body(modes))
    for name, part in data.LUMPS.items():
        lump = add_part(model, name, part)
        model.add(Fixed(f"{name} mount", on_frame(body, data.SEATS[name], part[2]), lump.marker_at(part[2])))
    add_steering(model, body)
    for side in SIDES:
        add_front(model, body, side)
    add_rear(model, body)
    for corner, phase in data.PHASES.items():
        add_post(model, corner, phase)
    if settled:
        move_to_rest(model)
    return model


def frame_body(modes: int) -> ModalBody:
    """The frame of tubes, with all its modes or the lowest of them."""
    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or not 1 <= modes <= ALL_MODES:
        raise ModelError(f"atv: modes is {modes!r}. Give a whole number from 1 to {ALL_MODES}.")
    half = data.JUNCTIONS
    nodes = {f"{name}{s}": data.mirrored(at, y) for s, y in (("L", 1.0), ("R", -1.0)) for name, at in half.items()}
    tubes = [(f"{a}{s}", f"{b}{s}") for s in "LR" for a, b in data.SIDE_TUBES]
    structure = tube_frame(nodes, [*tubes, *((f"{a}L", f"{a}R") for a in half)], **data.TUBE)
    for name in "BC":
        structure.names[f"{name}1"] = structure.along(f"{name}L", f"{name}R")[1]
    held = [*nodes, "B1", "C1"]
    whole = structure.body("frame", interface=held, modes=data.HELD_MODES, damping=data.ratio_to_critical)
    if modes == ALL_MODES:
        return whole
    shapes = whole.data.shapes[:, :, :modes].reshape(-1, modes)
    return structure.body_of_modes("frame", shapes, damping=data.ratio_to_critical)


def add_part(model: Model, name: str, part: data.Part, side: float = 1.0) -> RigidBody:
    """A rigid part at its place."""
    mass, inertia, centre = part
    return model.add(RigidBody(name, mass, inertia, position=data.mirrored(centre, side)))


def on_frame(body: ModalBody, node: str, point: Any, z: Any = None) -> Marker:
    """A marker at a point of ground, on an arm from a node of the frame."""
    at = body.data.nodes[body.data.names[node]]
    return body.marker(np.subtract(point, at), node=node, z=z)


def add_steering(model: Model, body: ModalBody) -> None:
    """Column with the rider's arms, turned by a motion, and the pitman lever."""
    column, pitman = add_part(model, "column", data.COLUMN), add_part(model, "pitman lever", data.PITMAN)
    centre, axis = np.array(data.COLUMN[2]), np.array(data.STEERING_AXIS)
    at = centre + axis * (data.COLUMN_BEARING - centre[2]) / axis[2]
    bearing = Revolute("column bearing", on_frame(body, "ER", at, -axis), column.marker_at(at, z=-axis))
    model.add(bearing)
    model.add(Fixed("pitman mount", column, pitman, at=data.PITMAN[2]))
    model.add(Motion("steering", bearing, Expression(data.STEER)))


def add_front(model: Model, body: ModalBody, side: str) -> None:
    """Arms, knuckle, wheel, tie rod and shock of one side."""
    y, node = SIDES[side], f"A{side[0].upper()}"
    knuckle, wheel = (
        add_part(model, f"{side} knuckle", data.KNUCKLE, y),
        add_part(model, f"front {side} wheel", data.FRONT_WHEEL, y),
    )
    levels = (
        ("upper", data.UPPER_ARM, data.UPPER_PIVOT, data.UPPER_BALL),
        ("lower", data.LOWER_ARM, data.LOWER_PIVOT, data.LOWER_BALL),
    )
    for level, part, pivot, ball in levels:
        arm, at = add_part(model, f"{side} {level} arm", part, y), data.mirrored(pivot, y)
        model.add(Revolute(f"{side} {level} pivot", on_frame(body, node, at, X), arm.marker_at(at, z=X)))
        model.add(Spherical(f"{side} {level} ball", arm, knuckle, at=data.mirrored(ball, y)))
    centre = data.mirrored(data.FRONT_CENTRE, y)
    model.add(Revolute(f"front {side} bearing", knuckle, wheel, at=centre, axis=Y))
    inner, outer = (np.array(data.mirrored(at, y)) for at in (data.TIE_ROD_INNER, data.TIE_ROD_OUTER))
    along = outer - inner
    pose: dict[str, Any] = {"position": 0.5 * (inner + outer), "orientation": frame(along, None, "tie rod")}
    rod = model.add(RigidBody(f"{side} tie rod", *data.TIE_ROD, **pose))
    cross = (data.STEERING_AXIS, np.cross(along, data.STEERING_AXIS))
    model.add(Universal(f"{side} tie rod inner", model["pitman lever"], rod, at=inner, axes=cross))
    model.add(Spherical(f"{side} tie rod outer", rod, knuckle, at=outer))
    foot, top = (data.mirrored(at, y) for at in data.FRONT_SHOCK)
    ends = model[f"{side} lower arm"].marker_at(foot), on_frame(body, f"E{side[0].upper()}", top)
    model.add(SpringDamper(f"front {side} shock", *ends, **data.FRONT_LAW))


def add_rear(model: Model, body: ModalBody) -> None:
    """Both halves of the swing arm, axle, wheels and shock."""
    halves = [add_part(model, f"{side} swing arm", data.SWING_ARM, y) for side, y in SIDES.items()]
    for half, (side, y) in zip(halves, SIDES.items(), strict=True):
        node = f"C{side[0].upper()}"
        at = data.mirrored(data.JUNCTIONS["C"], y)
        model.add(Spherical(f"{side} swing arm pivot", body.marker(node=node), half.marker_at(at)))
    middle = (data.SWING_ARM[2][0], 0.0, data.SWING_ARM[2][2])
    model.add(Fixed("swing arm bolts", *halves, at=middle))
    axle = add_part(model, "rear axle", data.REAR_AXLE)
    model.add(Revolute("rear axle bearing", halves[0], axle, at=data.REAR_AXLE[2], axis=Y))
    for side, y in SIDES.items():
        wheel = add_part(model, f"rear {side} wheel", data.REAR_WHEEL, y)
        model.add(Fixed(f"rear {side} wheel bolts", axle, wheel, at=data.mirrored(data.REAR_CENTRE, y)))
    foot, top = data.REAR_SHOCK
    model.add(SpringDamper("rear shock", halves[0].marker_at(foot), on_frame(body, "GL", top), **data.REAR_LAW))


def add_post(model: Model, corner: str, phase: str) -> None:
    """A post with its motion under a wheel, and the contact of its pad with the tyre."""
    wheel = model[f"{corner} wheel"]
    x, y, _ = wheel.pose()[0]
    post = model.add(RigidBody(f"{corner} post", *data.POST, position=(x, y, data.POST_CENTRE)))
    guide = model.add(Prismatic(f"{corner} guide", model.ground, post, at=(x, y, data.POST_CENTRE), axis=Z))
    model.add(Motion(f"{corner} shake", guide, Expression(data.SHAKE.format(phase=phase))))
    post.shape = {"type": "cylinder", "radius": 0.05, "length": -2.0 * data.POST_CENTRE, "axis": "z"}
    wheel.shape = {"type": "cylinder", "radius": data.RADIUS, "length": 0.18, "axis": "y"}
    pad, shapes = post.marker_at((x, y, 0.0)), (Sphere(data.RADIUS), Plane())
    model.add(Contact(f"{corner} tyre", wheel, pad, shapes, **data.TYRE))
