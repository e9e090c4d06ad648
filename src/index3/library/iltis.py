"""One corner of the front suspension of the Iltis vehicle in natural coordinates."""

import math
from typing import Any

import numpy as np

from index3.bodies.marker import as_number
from index3.bodies.natural_linkage import NaturalLinkage
from index3.forces.user import UserForce
from index3.model.model import Model

POINTS = {  # chassis fixed in space; x forward, y left, z up from the road [m]
    "A1": (0.16, 0.25, 0.36),  # pivots of the lower arm
    "A2": (-0.16, 0.25, 0.36),
    "B1": (0.03, 0.27, 0.58),  # pivots of the leaf link
    "B2": (-0.03, 0.27, 0.58),
    "T1": (-0.12, 0.26, 0.43),  # inner end of the tie rod
    "S1": (0.03, 0.36, 0.765),  # upper end of the shock absorber
    "P1": (0.0, 0.57, 0.3),  # lower and upper ball joint of the wheel carrier
    "P2": (-0.01, 0.55, 0.535),
    "P3": (-0.12, 0.56, 0.385),  # outer end of the tie rod
    "P4": (0.0, 0.615, 0.36),  # wheel centre
    "P6": (0.02, 0.47, 0.33),  # lower end of the shock absorber
}
LEAF = (35900.0, 0.4402924791086351)  # stiffness [N/m], height of its end without load [m]
TYRE = (460000.0, 0.36)  # stiffness [N/m], radius [m]
SHOCK = (-4.0092e6, 2.8397e7, -6.7061e7, 5.2796e7)  # force by length: polynomial [N, m]
# force by rate [m/s]: polynomials below -0.2, between, and above 0.21
DAMPING = (
    (-416.42, 1844.3),
    (0.0, 9945.627, 33955.72, -59832.25, -395651.0),
    (1919.1638, 1634.727),
)


def iltis(bump: float = 0.06, length: float = 1.0, speed: float = 5.0) -> Model:
    """Return one corner of the Iltis front suspension on a road with a bump: 23 coordinates, 22 constraints.

    Parameters
    ----------
    bump, length : float
        Height and length of the bump, a full wave of a cosine, m.
    speed : float
        Speed of the vehicle, m/s; the wheel meets the bump at t = 3 s.

    Notes
    -----
    [CardenalMultiIndex] describes this suspension in natural coordinates with 23 variables, 22 constraints and one
    degree of freedom: the points P1 ... P4 and two unit vectors of the wheel carrier, P6 of the lower arm, the length s
    of the shock absorber and the compression d of the tyre. Parts share points, so there are no joints: one body
    `suspension` with the parts `carrier`, `lower arm`, `leaf link` and `tie rod`. The forces of leaf spring, shock
    absorber and tyre are the published ones; the geometry, masses and bump are a reconstruction, since the data of the
    original are not public. The chassis is fixed, the wheel does not spin, gravity is 9.81 m/s^2 along -z. It starts at
    rest in the design position and settles within 0.5 s.
    Look at `result["suspension"].part("P4").position`.

    >>> from index3 import library
    >>> library.iltis()["suspension"].size
    23
    """
    bump = as_number(bump, "iltis", "bump")
    length = as_number(length, "iltis", "length")
    speed = as_number(speed, "iltis", "speed")
    model = Model("iltis", gravity=(0.0, 0.0, -9.81))
    linkage = NaturalLinkage("suspension")
    at = {name: linkage.fixed(name, POINTS[name]) for name in ("A1", "A2", "B1", "B2", "T1", "S1")}
    at |= {name: linkage.point(name, POINTS[name]) for name in ("P1", "P2", "P3", "P4")}
    u, v = linkage.vector("u", (0.0, 1.0, 0.0)), linkage.vector("v", (1.0, 0.0, 0.0))
    at["P6"] = linkage.point("P6", POINTS["P6"])

    def centre(*names: str) -> np.ndarray:
        return np.mean([POINTS[name] for name in names], axis=0)

    carrier = [at["P1"], at["P2"], at["P3"], at["P4"], u, v]
    linkage.rigid("carrier", carrier, mass=42.0, inertia=(1.4, 2.2, 1.4), centre=POINTS["P4"])
    arm = [at["A1"], at["A2"], at["P1"], at["P6"]]
    linkage.rigid("lower arm", arm, mass=6.0, inertia=(0.06, 0.08, 0.13), centre=centre("A1", "A2", "P1", "P1"))
    leaf = [at["B1"], at["B2"], at["P2"]]
    linkage.rigid("leaf link", leaf, mass=9.0, inertia=(0.08, 0.01, 0.085), centre=centre("B1", "B2", "P2", "P2"))
    linkage.rigid("tie rod", [at["T1"], at["P3"]])
    linkage.length("s", at["S1"], at["P6"])
    linkage.component("d", at["P4"], (0.0, 0.0, -1.0), TYRE[1])
    model.add(linkage)
    end, wheel = linkage.point_marker(at["P2"]), linkage.point_marker(at["P4"])
    model.add(UserForce("leaf", [end], leaf_force, parameters=LEAF, jacobian=vertical_stiffness))
    ends = [model.ground.marker(POINTS["S1"]), linkage.point_marker(at["P6"])]
    model.add(UserForce("shock", ends, shock_force, jacobian="differences"))
    tyre = (*TYRE, float(bump), float(length), float(speed))
    half = 0.5 * float(length) / float(speed)
    model.add(UserForce("tyre", [wheel], tyre_force, tyre, vertical_stiffness, longest_step=half))
    return model


def leaf_force(t: float, r: Any, A: Any, v: Any, w: Any, p: Any, out: Any) -> None:
    """Vertical force of the leaf spring; p = (stiffness, height without load)."""
    stiffness, free = p.tolist()
    out[0, 2] = -stiffness * (r.item(2) - free)


def tyre_force(t: float, r: Any, A: Any, v: Any, w: Any, p: Any, out: Any) -> None:
    """Vertical force of the road; p = (stiffness, radius, height, length and speed of the bump)."""
    stiffness, radius, height, length, speed = p.tolist()
    way = speed * (t - 3.0)
    road = 0.5 * height * (1.0 - math.cos(2.0 * math.pi * way / length)) if 0.0 <= way <= length else 0.0
    out[0, 2] = stiffness * (radius - r.item(2) + road)


def vertical_stiffness(t: float, r: Any, A: Any, v: Any, w: Any, p: Any, K: Any, D: Any) -> None:
    """The derivative of a vertical force by its height."""
    K[2, 2] = -p[0]


def shock_force(t: float, r: Any, A: Any, v: Any, w: Any, p: Any, out: Any) -> None:
    """Tension of the shock absorber between two points: elastic and damping part."""
    (x0, y0, z0), (x1, y1, z1) = r.tolist()
    (u0, v0, w0), (u1, v1, w1) = v.tolist()
    x, y, z = x1 - x0, y1 - y0, z1 - z0
    length = math.sqrt(x * x + y * y + z * z)
    rate = (x * (u1 - u0) + y * (v1 - v0) + z * (w1 - w0)) / length
    law = DAMPING[0] if rate < -0.2 else DAMPING[1] if rate <= 0.21 else DAMPING[2]
    f = (power_series(SHOCK, length) + power_series(law, rate)) / length
    out[0, 0], out[0, 1], out[0, 2] = f * x, f * y, f * z
    out[1, 0], out[1, 1], out[1, 2] = -f * x, -f * y, -f * z


def power_series(coefficients: tuple[float, ...], x: float) -> float:
    """c0 + c1 x + c2 x^2 + ..."""
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total
