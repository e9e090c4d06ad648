"""Numbers of the HMMWV that its two models share, and how a car is put on its springs.

Geometry, chassis centre of mass, dampers and tyre slip: Project Chrono's HMMWV model (BSD-3), which goes back to J.
Aardema, TACOM TR 13337. Masses, inertias, springs and bushings: A. A. Shabana, D. Zhang, G. Wang, TLISMNI/Adams
algorithm for the solution of the differential/algebraic equations of constrained dynamical systems, section 6.2 and
Table 7. Vertical stiffness and damping of the tyres: D. Negrut, On the implicit integration of differential-algebraic
equations of multibody dynamics, thesis, The University of Iowa, 1998, section 5.2.

Axes: x forward, y left, z up from the road. Points of the suspensions are those of the left side, from the frame of the
suspension, which is `AXLE` in front of or behind the middle of the car; the right side mirrors them. In the design
position the tyres just touch the road; the car then comes to rest about 0.03 m lower.
"""

from typing import Any

import numpy as np

from index3.analysis.static import static
from index3.model.model import Model

GRAVITY = (0.0, 0.0, -9.81)
AXLE = 1.688965
CORNERS = ("front left", "front right", "rear left", "rear right")
TYRE: dict[str, Any] = {"radius": 0.4699, "stiffness": 296325.0, "damping": 3502.0}
POINTS = {
    "front": {
        "wheel": (-0.040386, 0.909701, -0.026289),
        "upright": (-0.040386, 0.7510145, -0.026289),
        "upper arm front": (-0.0479146, 0.4459605, 0.2446223),
        "upper arm rear": (-0.2682138, 0.4777359, 0.1955597),
        "upper ball": (-0.0530352, 0.715518, 0.2154936),
        "upper arm": (-0.105537, 0.5886704, 0.217805),
        "lower arm front": (0.223266, 0.307086, 0.0),
        "lower arm rear": (-0.223266, 0.307086, 0.0),
        "lower ball": (-0.03556, 0.786511, -0.11811),
        "lower arm": (0.0, 0.5468112, -0.059055),
        "shock top": (0.104013, 0.4977892, 0.3231388),
        "shock foot": (0.0972058, 0.543179, -0.046609),
        "spring top": (0.104013, 0.509778, 0.197485),
        "spring foot": (0.0972058, 0.543179, -0.046609),
        "tie rod inner": (-0.250317, 0.448437, 0.054229),
        "tie rod outer": (-0.1758188, 0.8211058, -0.0163322),
    },
    "rear": {
        "wheel": (0.03556, 0.909701, -0.026289),
        "upright": (0.03556, 0.7510145, -0.026289),
        "upper arm front": (0.3491103, 0.4622571, 0.2275942),
        "upper arm rear": (0.0771017, 0.4620489, 0.2237638),
        "upper ball": (0.03556, 0.715518, 0.2159),
        "upper arm": (0.124333, 0.5888482, 0.2207768),
        "lower arm front": (0.223266, 0.307086, 0.0),
        "lower arm rear": (-0.223266, 0.307086, 0.0),
        "lower ball": (0.03556, 0.786511, -0.11811),
        "lower arm": (0.0, 0.5467858, -0.059055),
        "shock top": (-0.104013, 0.4977892, 0.3231388),
        "shock foot": (-0.0972058, 0.543941, -0.0383794),
        "spring top": (-0.104013, 0.5015738, 0.2564892),
        "spring foot": (-0.0972058, 0.543179, -0.046609),
        "tie rod inner": (0.223266, 0.416052, 0.058674),
        "tie rod outer": (0.1702816, 0.8211058, -0.009271),
    },
}
CHASSIS = (2086.5, (1078.5, 2955.7, 3570.2))  # mass [kg] and principal inertias [kg m^2], as in all tables of parts
CHASSIS_CENTRE = (0.056, 0.0, 0.213)
RACK = (3.4424, (0.23089, 0.23089, 0.00026961))  # the long axis is the last
PARTS = {
    "front": {
        "upper arm": (5.4431, (0.0233, 0.0361, 0.0132)),
        "lower arm": (16.329, (0.14688, 0.23163, 0.11852)),
        "upright": (3.6382, (0.0408, 0.0423, 0.00834)),
        "spindle": (1.1028, (0.0004779, 0.0004779, 0.00049628)),  # spins about its last axis
        "tyre": (68.039, (1.1998, 1.7558, 1.1998)),  # spins about y
    },
    "rear": {
        "upper arm": (5.932, (0.0684, 0.0914, 0.024)),
        "lower arm": (16.287, (0.29036, 0.51811, 0.23229)),
        "upright": (3.6382, (0.0408, 0.0423, 0.00834)),
        "spindle": (1.5046, (0.00077539, 0.00077539, 0.00092387)),
        "tyre": (68.039, (1.1998, 1.7558, 1.1998)),
    },
}
SPRINGS = {  # stiffness [N/m] and free length [m], between spring top and spring foot
    "front": {"stiffness": 167071.0, "length": 0.33934},
    "rear": {"stiffness": 302619.0, "length": 0.31572},
}
LIFT = TYRE["radius"] - POINTS["front"]["wheel"][2]
"""Height of the middle of the car, where the suspension frames are, in the design position."""


def axle_of(corner: str) -> str:
    """The axle of a corner: front or rear."""
    return corner.split()[0]


def in_ground(x: float, y: float, z: float) -> np.ndarray:
    """A point given from the middle of the car, in ground."""
    return np.array((x, y, z + LIFT))


def corner_points(corner: str) -> dict[str, np.ndarray]:
    """The points of one corner in ground, in the design position."""
    axle, side = corner.split()
    start, turn = (AXLE if axle == "front" else -AXLE), (1.0 if side == "left" else -1.0)
    return {name: in_ground(start + x, turn * y, z) for name, (x, y, z) in POINTS[axle].items()}


def move_to_rest(model: Model) -> None:
    """Move all bodies of a vehicle, in the model, to where it rests on its springs; velocities follow the motions."""
    rest = static(model, method="relaxation")  # Newton's method does not find it from the design position
    for body, own in zip(model.bodies.values(), own_parts(model, rest.q), strict=True):
        body.q0[:] = own


def own_parts(model: Model, x: np.ndarray) -> list[np.ndarray]:
    """Coordinates or rates of a model, body by body."""
    return np.split(x, np.cumsum([body.size for body in model.bodies.values()]))[: len(model.bodies)]
