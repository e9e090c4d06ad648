"""A spring and damper on the angle of a joint.

With the joint's angle theta and its rate omega = g . V, g = (0, -n, 0, n) as in `index3.constraints.turning_angle`: the
torque tau = -k (theta - theta_0) - c omega + f acts along n on the second body and opposite on the first. Curves may
stand for k x and c x.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import add, add_at, apply_transposed, dot, load_at, outer, scale, sub
from index3.bodies.marker import as_number
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.rows import axis
from index3.constraints.turning_angle import angle_curvature, angle_gradient, angle_near, combine
from index3.errors import ModelError
from index3.fields import JOINT, declare, law, number
from index3.forces.curve import Curve
from index3.forces.curve_kernels import (
    BAND,
    CURVE,
    NONE,
    CurvedForce,
    CurveTable,
    acts,
    add_curve_energy,
    as_law,
    as_stiffness,
    clearance,
    has_potential,
    is_curved,
    law_table,
    slope_at,
    slope_of,
    value_of,
)
from index3.forces.force import Place, add_block, next_switches
from index3.registry import register

if TYPE_CHECKING:
    from index3.joints.base import Joint

SPRING = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("angle", "i8"),  # place in ANGLE_REF
        ("zero", "f8"),  # angle between the markers at assembly, where the joint's angle is zero
        ("stiffness", "f8"),
        ("damping", "f8"),
        ("free_angle", "f8"),
        ("torque", "f8"),
        ("elastic", "i8"),  # curves in place of stiffness and damping, or NONE
        ("viscous", "i8"),
    ]
)
SPRINGS, CURVES, PIECES, ASKED, BANDS = slots(
    springs=(SPRING, 1), curves=(CURVE, 1), pieces=("f8", 2), asked=("f8", 1), bands=(BAND, 1)
)
MEMORY = (ASKED,)


class RotationalSpringDamper(CurvedForce):
    """A spring and damper on the angle of a joint, which is zero at assembly and not limited to one turn.

    The torque on the second body is -stiffness (angle - free_angle) - damping rate + torque, opposite on the first. A
    curve in place of a number stands for the product: a torque that turns back where it is positive.

    Parameters
    ----------
    name : str
    joint : a joint with the coordinate `angle`: Revolute, Cylindrical, Planar
    stiffness : float >= 0 [N m/rad]; or a Curve: torque [N m] against the turn as function of
        angle - free_angle [rad]
    damping : float [N m s/rad], may be negative; or a Curve: torque [N m] against the rate as function of it [rad/s]
    free_angle : float [rad]
    torque : float, constant torque on the second body [N m]; its work is counted as work, not as potential energy

    Raises
    ------
    ModelError : names the spring.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.planar_body import PlanarBody
    >>> from index3.joints.standard import Revolute
    >>> pin = Revolute("pin", Ground(), PlanarBody("arm", 1.0, 0.1), at=(0, 0, 0), axis=(0, 0, 1))
    >>> RotationalSpringDamper("spring", pin, stiffness=10.0)
    RotationalSpringDamper('spring', 'ground', 'arm')
    """

    kind = __name__
    symbol = "spiral"
    fields = declare(
        joint=JOINT,
        stiffness=law("force*length", "angle"),
        damping=law("force*length", "angle/time"),
        free_angle=number("angle"),
        torque=number("force*length"),
    )

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        stiffness: float | Curve = 0.0,
        damping: float | Curve = 0.0,
        free_angle: float = 0.0,
        torque: float = 0.0,
    ) -> None:
        super().__init__(name)
        if getattr(joint, "element", None) != "joint" or isinstance(joint, type):
            raise ModelError(f"{self.label} cannot act on {short(joint)}. Give a joint.")
        if "angle" not in joint.coordinates:
            raise ModelError(
                f"{self.label} acts on {joint.label}, which has no angle. Use a joint that has one: Revolute, "
                "Cylindrical or Planar; on a displacement acts a TranslationalSpringDamper."
            )
        self.joint = joint
        self.markers = (joint.first, joint.second)
        self.stiffness = as_stiffness(stiffness, self.label)
        self.damping = as_law(damping, self.label, "damping")
        self.free_angle = as_number(free_angle, self.label, "free_angle")
        self.torque = as_number(torque, self.label, "torque")

    @property
    def along(self) -> tuple[Any, ...]:
        """The angle of its joint."""
        return ((self.joint, "angle"),)

    @property
    def damped(self) -> bool:
        """Whether it has a damper."""
        return acts(self.damping)

    @property
    def conservative(self) -> bool:
        """Whether it is only a spring with a potential energy."""
        return not acts(self.damping) and self.torque == 0.0 and has_potential(self.stiffness)

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of springs."""
        i, j = place.markers
        own = (slope_of(self.stiffness), slope_of(self.damping), self.free_angle, self.torque, NONE, NONE)
        return (i, j, place.stiffness, place.angle(self.joint), place.angle_zero(self.joint), *own)


def table(elements: Sequence[RotationalSpringDamper], places: Sequence[Place]) -> CurveTable:
    """The table of all rotational springs of a system."""
    return law_table(5, (SPRINGS, CURVES, PIECES, ASKED, BANDS), elements, places)


@helper
def twist(T, spring):
    """Angle from the free angle, n and the relative angular velocity of a spring."""
    A, V, near = view(T, s.MARKER_A), view(T, s.MARKER_V), view(T, s.ANGLE_REF)[spring.angle]
    xi, yi, xj = axis(A, spring.i, 0), axis(A, spring.i, 1), axis(A, spring.j, 0)
    angle = angle_near(xi, yi, xj, near) - spring.zero - spring.free_angle
    return angle, angle_gradient(xi, yi, xj), sub(load_at(V, spring.j, 3), load_at(V, spring.i, 3))


@helper
def torque(E, spring, angle, rate):
    """The torque on the second body."""
    tau = spring.torque - spring.stiffness * angle - spring.damping * rate
    if is_curved(spring):
        curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
        elastic = value_of(curves, pieces, asked, spring.elastic, angle)
        tau -= elastic + value_of(curves, pieces, asked, spring.viscous, rate)
    return tau


@kernel
def forces(T, E):
    """Turn the two bodies of every spring against each other."""
    springs, f = view(E, SPRINGS), view(T, s.MARKER_F)
    for e in range(springs.shape[0]):
        angle, n, w = twist(T, springs[e])
        tau = torque(E, springs[e], angle, dot(n, w))
        if is_curved(springs[e]) and not abs(tau) < 1e300:  # also catches NaN
            return e + 1
        add_at(f, springs[e].i, 3, scale(-tau, n))
        add_at(f, springs[e].j, 3, scale(tau, n))
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of tau g: -g (k g + c V^T H) + tau H with H = dg/dxi by pose, -c g g^T by twist."""
    springs, A, K, D = view(E, SPRINGS), view(T, s.MARKER_A), view(T, s.GROUP_K), view(T, s.GROUP_D)
    curves, pieces = view(E, CURVES), view(E, PIECES)
    for e in range(springs.shape[0]):
        i, j, first = springs[e].i, springs[e].j, springs[e].group
        angle, n, w = twist(T, springs[e])
        tau = torque(E, springs[e], angle, dot(n, w))
        k = springs[e].stiffness + slope_at(curves, pieces, springs[e].elastic, angle)
        c = springs[e].damping + slope_at(curves, pieces, springs[e].viscous, dot(n, w))
        by_i, by_j = angle_curvature(axis(A, i, 0), axis(A, i, 1), axis(A, j, 0))  # dn/dtheta
        row_i = add(scale(-k, n), scale(c, apply_transposed(by_i, w)))
        row_j = add(scale(k, n), scale(c, apply_transposed(by_j, w)))
        K_i, K_j = combine(1.0, outer(n, row_i), -tau, by_i), combine(1.0, outer(n, row_j), -tau, by_j)
        damping = outer(scale(c, n), n)
        add_block(K, first, 12, 3, 1, K_i, 1.0)
        add_block(K, first, 12, 3, 3, K_j, 1.0)
        add_block(K, first, 12, 1, 1, K_i, -1.0)
        add_block(K, first, 12, 1, 3, K_j, -1.0)
        if c != 0.0:
            add_block(D, first, 12, 1, 1, damping, 1.0)
            add_block(D, first, 12, 3, 3, damping, 1.0)
            add_block(D, first, 12, 1, 3, damping, -1.0)
            add_block(D, first, 12, 3, 1, damping, -1.0)
    return OK


@kernel
def energy(T, E):
    """Energy of springs; power of dampers and constant torques."""
    springs, values = view(E, SPRINGS), view(T, s.ENERGY)
    curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
    for e in range(springs.shape[0]):
        spring = springs[e]
        angle, n, w = twist(T, spring)
        rate = dot(n, w)
        damping = spring.damping * rate + value_of(curves, pieces, asked, spring.viscous, rate)
        values[s.POTENTIAL] += 0.5 * spring.stiffness * angle * angle
        values[s.POWER] += (spring.torque - damping) * rate
        if spring.elastic >= 0:
            add_curve_energy(values, curves, pieces, asked, spring.elastic, angle, rate)
    return OK


@kernel
def switches(T, E):
    """How far the angle of each spring with a dead band is from its nearer end, negative where the spring acts."""
    springs, bands, values = view(E, SPRINGS), view(E, BANDS), view(T, s.SWITCH)
    at = next_switches(T, bands.shape[0])
    for e in range(bands.shape[0]):
        angle, _, _ = twist(T, springs[bands[e].record])
        values[at + e] = clearance(bands[e], angle)
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches}

register(RotationalSpringDamper)
