"""The steering line of the HMMWV with 50 bodies: from the steering wheel to the rack."""

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import frame
from index3.bodies.rigid_body import RigidBody
from index3.joints.primitive import PerpendicularAxes, RelativeAngularVelocity, RelativeCoordinate
from index3.joints.standard import Cylindrical, Fixed, Prismatic, Revolute, ShaftCoupling, Spherical
from index3.joints.transmissions import RackPinion
from index3.library import hmmwv_data as data
from index3.model.model import Model

WHEEL = (2.15, (0.025892, 0.025892, 0.051629))  # mass and inertias, its axis or long axis last, as of all of these
COLUMN = (2.7985, (0.064319, 0.064319, 0.00030466))
INTERMEDIATE = (2.2535, (0.032103, 0.032103, 0.00024336))
SHAFT = (2.0182, (0.023725, 0.023725, 0.00022182))
PINION = (0.5, (1e-6, 1e-6, 1e-6))
# assumed points from the middle of the car: steering wheel, joints of the intermediate shaft, end of the shaft
POINTS = ((0.35, 0.45, 0.95), (0.75, 0.45, 0.6), (1.1, 0.42, 0.25), (1.388648, 0.4, 0.154229))
PINION_CENTRE = (0.0, 0.35, 0.05)  # from the middle of the rack, which is its radius below it
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def add_steering(model: Model, chassis: Body, subframe: Body, middle: np.ndarray) -> None:
    """Add the steering line, its rack with the centre at `middle`."""
    top, first, second, end = (data.in_ground(*point) for point in POINTS)
    column_axis, shaft_axis = first - top, end - second

    def add(name: str, part: tuple, at: np.ndarray, along: object) -> RigidBody:
        return model.add(RigidBody(name, *part, position=at, orientation=frame(along, None, name)))

    wheel = add("steering wheel", WHEEL, top, column_axis)
    column = add("column", COLUMN, 0.5 * (top + first), column_axis)
    link = add("intermediate shaft", INTERMEDIATE, 0.5 * (first + second), second - first)
    shaft = add("steering shaft", SHAFT, 0.5 * (second + end), shaft_axis)
    rack = add("rack", data.RACK, middle, Y)
    centre = middle + PINION_CENTRE
    pinion = add("pinion", PINION, centre, X)

    model.add(Fixed("steering wheel hub", column, wheel, at=top))
    model.add(Cylindrical("column bearing", chassis, column, at=0.5 * (top + first), axis=column_axis))
    model.add(RelativeAngularVelocity("column hold", chassis, column, axis=column_axis))
    model.add(Spherical("upper joint", column, link, at=first))
    model.add(ShaftCoupling("upper coupling", column, link, at=first, axes=(column_axis, second - first)))
    model.add(Spherical("lower joint", link, shaft, at=second))
    model.add(ShaftCoupling("lower coupling", link, shaft, at=second, axes=(second - first, shaft_axis)))
    bearing = model.add(Revolute("steering shaft bearing", subframe, shaft, at=end, axis=shaft_axis))
    slide = model.add(Prismatic("rack slide", subframe, rack, at=middle, axis=Y))
    model.add(Spherical("pinion centre", subframe, pinion, at=centre))
    model.add(PerpendicularAxes("pinion mesh", rack, pinion, at=centre, axes=(Y, X)))
    tip = pinion.marker_at(centre + np.array((0.1, 0.0, 0.0)))
    model.add(RelativeCoordinate("pinion level", subframe.marker_at(centre, z=Z), tip))
    model.add(ShaftCoupling("pinion coupling", shaft, pinion, at=centre, axes=(shaft_axis, X)))
    # the pinion turns with the shaft, whose bearing counts the turns
    model.add(RackPinion("rack and pinion", bearing, slide, radius=PINION_CENTRE[2]))
