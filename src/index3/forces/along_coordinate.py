"""Forces along a joint coordinate x, with its gradient g and second derivatives H: what a law f(x, x') makes of them.

The wrench on the two markers is f g. With rate x' = g . V it has K = -(f_x g g^T + f_x' g (V^T H) + f H) and
D = -f_x' g g^T.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

from index3.algebra.vectors import add_at, apply_transposed, cross, dot, load, load_at, outer, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.constraints.projection import add_projection_curvature
from index3.constraints.rows import axis, clear_hessian, put_gradient
from index3.constraints.turning_angle import angle_curvature, angle_gradient, angle_near, combine
from index3.errors import ModelError
from index3.forces.force import ForceElement, Place, add_block

COORDINATE_FIELDS = [
    ("i", "i8"),
    ("j", "i8"),
    ("group", "i8"),  # first place in GROUP_K and GROUP_D
    ("angular", "i8"),  # 1: an angle, 0: a displacement
    ("number", "i8"),  # of an angle: its place in ANGLE_REF; of a displacement: the axis of marker i
    ("zero", "f8"),  # what the markers show at assembly, where the joint's coordinate is zero
]
"""The first fields of a record."""
ROOM = 2, 12
"""Shape of the room that `add_derivatives_along` needs in the kind's table: for g and V^T H."""


class JointForce(ForceElement):
    """Base of forces on a coordinate of a joint: an angle or a displacement.

    Attributes
    ----------
    joint : Joint
    coordinate : str, its name in the joint
    """

    def _act_on(self, joint: Any, coordinate: str | None) -> None:
        """Keep joint and coordinate, or say what is wrong with them."""
        if getattr(joint, "element", None) != "joint" or isinstance(joint, type):
            raise ModelError(f"{self.label} cannot act on {short(joint)}. Give a joint.")
        measures: Mapping[str, Any] = joint.measures
        known = [name for name, measure in measures.items() if measure.kind in ("angle", "in_plane")]
        if not known:
            raise ModelError(
                f"{self.label} acts on {joint.label}, which has no angle or displacement. Use a joint that has one: "
                "Revolute, Prismatic, Cylindrical or Planar."
            )
        if coordinate is None and len(known) > 1:
            choice = " or ".join(f"coordinate='{key}'" for key in known)
            raise ModelError(f"{self.label}: {joint.label} has several coordinates. Give {choice}.")
        if coordinate is not None and not (isinstance(coordinate, str) and coordinate in known):
            raise ModelError(f"{self.label}: {joint.label} has no coordinate {short(coordinate)} to act on. "
                             f"Choose from {', '.join(known)}.")  # fmt: skip
        self.joint, self.coordinate = joint, coordinate or known[0]
        self.markers = (joint.first, joint.second)

    @property
    def along(self) -> tuple[Any, ...]:
        """Its coordinate."""
        return ((self.joint, self.coordinate),)

    @property
    def turns(self) -> bool:
        """Whether the coordinate is an angle."""
        return bool(self.joint.measures[self.coordinate].kind == "angle")

    def place_of_coordinate(self, place: Place) -> tuple[Any, ...]:
        """The first fields of its record."""
        i, j = place.markers
        measure = self.joint.measures[self.coordinate]
        number = place.angle(self.joint) if self.turns else measure.fields["axis_first"]
        return (i, j, place.stiffness, int(self.turns), number, place.coordinate_zero(self.joint, self.coordinate))


@helper
def coordinate(T, c):
    """Value, rate and gradient (by r_i, theta_i, r_j, theta_j) of the coordinate of a record."""
    A, r, V, zero = view(T, s.MARKER_A), view(T, s.MARKER_R), view(T, s.MARKER_V), (0.0, 0.0, 0.0)
    if c.angular == 1:
        xi, yi, xj = axis(A, c.i, 0), axis(A, c.i, 1), axis(A, c.j, 0)
        n = angle_gradient(xi, yi, xj)
        x = angle_near(xi, yi, xj, view(T, s.ANGLE_REF)[c.number])
        g, rate = (zero, scale(-1.0, n), zero, n), dot(n, turning(V, c))
    else:
        u, d = axis(A, c.i, c.number), sub(load(r, c.j), load(r, c.i))
        x = dot(u, d)
        g = (scale(-1.0, u), cross(u, d), u, zero)
        rate = dot(u, sub(load(V, c.j), load(V, c.i))) + dot(g[1], load_at(V, c.i, 3))
    return x - c.zero, rate, g


@helper
def add_force_along(T, c, force, g):
    """Put the wrench of a force on the coordinate on its two markers."""
    f = view(T, s.MARKER_F)
    add_at(f, c.i, 3, scale(force, g[1]))
    if c.angular == 1:
        add_at(f, c.j, 3, scale(force, g[3]))
    else:
        add_at(f, c.i, 0, scale(force, g[0]))
        add_at(f, c.j, 0, scale(force, g[2]))


@helper
def turning(V, c):
    """Angular velocity of the second marker from the first."""
    return sub(load_at(V, c.j, 3), load_at(V, c.i, 3))


@helper
def add_derivatives_along(T, c, room, g, force, by_x, by_rate):
    """Add the derivatives of the wrench of a force on the coordinate, whose own ones are by_x and by_rate."""
    if c.angular == 1:
        add_derivatives_about(T, c, g[3], force, by_x, by_rate)
        return
    K, D, V, H = view(T, s.GROUP_K), view(T, s.GROUP_D), view(T, s.MARKER_V), clear_hessian(T)
    A, r = view(T, s.MARKER_A), view(T, s.MARKER_R)
    add_projection_curvature(H, 0, 2, axis(A, c.i, c.number), sub(load(r, c.j), load(r, c.i)), 1.0)
    put_gradient(room[0], 0, g[0], g[1], g[2], g[3])
    for b in range(12):
        room[1, b] = by_x * room[0, b]
        for a in range(6):
            room[1, b] += by_rate * (V[c.i, a] * H[a, b] + V[c.j, a] * H[6 + a, b])
    for a in range(12):
        for b in range(12):
            K[c.group + 12 * a + b] -= room[0, a] * room[1, b] + force * H[a, b]
            D[c.group + 12 * a + b] -= by_rate * room[0, a] * room[0, b]


@helper
def add_derivatives_about(T, c, n, torque, by_x, by_rate):
    """The same of a torque on an angle: only rotations enter, in both of whose rows dn stands, with opposite signs."""
    A, K, D, w = view(T, s.MARKER_A), view(T, s.GROUP_K), view(T, s.GROUP_D), turning(view(T, s.MARKER_V), c)
    by_i, by_j = angle_curvature(axis(A, c.i, 0), axis(A, c.i, 1), axis(A, c.j, 0))  # dn/dtheta
    row_i = sub(scale(by_x, n), scale(by_rate, apply_transposed(by_i, w)))
    row_j = sub(scale(-by_x, n), scale(by_rate, apply_transposed(by_j, w)))
    K_i, K_j = combine(1.0, outer(n, row_i), -torque, by_i), combine(1.0, outer(n, row_j), -torque, by_j)
    add_block(K, c.group, 12, 3, 1, K_i, 1.0)
    add_block(K, c.group, 12, 3, 3, K_j, 1.0)
    add_block(K, c.group, 12, 1, 1, K_i, -1.0)
    add_block(K, c.group, 12, 1, 3, K_j, -1.0)
    if by_rate != 0.0:
        damping = outer(scale(by_rate, n), n)
        add_block(D, c.group, 12, 1, 1, damping, -1.0)
        add_block(D, c.group, 12, 3, 3, damping, -1.0)
        add_block(D, c.group, 12, 1, 3, damping, 1.0)
        add_block(D, c.group, 12, 3, 1, damping, 1.0)
