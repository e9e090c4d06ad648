"""Springs and dampers on the coordinate of a joint: its angle or a displacement.

With the coordinate x and the rate x' = g . V: f = -k (x - x_0) - c x' + f_0, a torque if x is an angle, acts on the
second body and opposite on the first, as `index3.forces.along_coordinate` has it. Curves may stand for k x and c x'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_number
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.errors import ModelError
from index3.fields import JOINT, LENGTH, TEXT, declare, law, number
from index3.forces.along_coordinate import (
    COORDINATE_FIELDS,
    ROOM,
    JointForce,
    add_derivatives_along,
    add_force_along,
    coordinate,
)
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
from index3.forces.force import Place, next_switches
from index3.registry import register

if TYPE_CHECKING:
    from index3.joints.base import Joint

SPRING = np.dtype(
    [
        *COORDINATE_FIELDS,
        ("stiffness", "f8"),
        ("damping", "f8"),
        ("free", "f8"),  # the coordinate at which the spring is free
        ("constant", "f8"),  # force or torque
        ("elastic", "i8"),  # curves in place of stiffness and damping, or NONE
        ("viscous", "i8"),
    ]
)
SPRINGS, SPACE, CURVES, PIECES, ASKED, BANDS = slots(
    springs=(SPRING, 1), space=("f8", 2), curves=(CURVE, 1), pieces=("f8", 2), asked=("f8", 1), bands=(BAND, 1)
)
MEMORY = (SPACE, ASKED)


class CoordinateSpring(CurvedForce, JointForce):
    """Base of the two: what they share once a joint and one of its coordinates are chosen."""

    kind = __name__
    free_name: str
    """Of the setting for the coordinate at which the spring is free."""
    constant_name: str
    """Of the setting for the constant force or torque."""

    def _pull(self, stiffness: Any, damping: Any, free: Any, constant: Any) -> None:
        """Keep the law, or say what is wrong with it."""
        self.stiffness = as_stiffness(stiffness, self.label)
        self.damping = as_law(damping, self.label, "damping")
        setattr(self, self.free_name, as_number(free, self.label, self.free_name))
        setattr(self, self.constant_name, as_number(constant, self.label, self.constant_name))

    @property
    def damped(self) -> bool:
        """Whether it has a damper."""
        return acts(self.damping)

    @property
    def conservative(self) -> bool:
        """Whether it is only a spring with a potential energy."""
        pushes = getattr(self, self.constant_name) != 0.0
        return not acts(self.damping) and not pushes and has_potential(self.stiffness)

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of springs."""
        free, constant = getattr(self, self.free_name), getattr(self, self.constant_name)
        own = (slope_of(self.stiffness), slope_of(self.damping), free, constant, NONE, NONE)
        return (*self.place_of_coordinate(place), *own)


class RotationalSpringDamper(CoordinateSpring):
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

    symbol = "spiral"
    free_name, constant_name = "free_angle", "torque"
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
        if not isinstance(joint, type) and "angle" not in getattr(joint, "measures", ("angle",)):
            raise ModelError(
                f"{self.label} acts on {joint.label}, which has no angle. Use a joint that has one: Revolute, "
                "Cylindrical or Planar; on a displacement acts a TranslationalSpringDamper."
            )
        self._act_on(joint, "angle")
        self._pull(stiffness, damping, free_angle, torque)


class TranslationalSpringDamper(CoordinateSpring):
    """A spring and damper on a displacement of a joint, which is zero at assembly and may have either sign.

    The force on the second body along the axis is -stiffness (displacement - free_displacement) - damping rate + force,
    opposite on the first. A curve in place of a number stands for the product: a force that pushes back where it is
    positive.

    Parameters
    ----------
    name : str
    joint : a joint with a displacement: Prismatic, Cylindrical, Screw, Inline, Planar, InPlane
    stiffness : float >= 0 [N/m]; or a Curve: force [N] against the displacement as function of
        displacement - free_displacement [m]
    damping : float [N s/m], may be negative; or a Curve: force [N] against the rate as function of it [m/s]
    free_displacement : float [m]
    force : float, constant force on the second body [N]; its work is counted as work, not as potential energy
    coordinate : name of the displacement; needed only if the joint has two ("x", "y")

    Raises
    ------
    ModelError : names the spring.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> from index3.joints.standard import Prismatic
    >>> guide = Prismatic("guide", Ground(), RigidBody("block", 1.0, (1, 1, 1)), at=(0, 0, 0), axis=(1, 0, 0))
    >>> TranslationalSpringDamper("buffer", guide, stiffness=10.0)
    TranslationalSpringDamper('buffer', 'ground', 'block')
    """

    symbol = "coil"
    free_name, constant_name = "free_displacement", "force"
    fields = declare(
        joint=JOINT,
        stiffness=law("force", "length"),
        damping=law("force", "length/time"),
        free_displacement=LENGTH,
        force=number("force"),
        coordinate=TEXT,
    )

    def __init__(
        self,
        name: str,
        joint: Joint,
        *,
        stiffness: float | Curve = 0.0,
        damping: float | Curve = 0.0,
        free_displacement: float = 0.0,
        force: float = 0.0,
        coordinate: str | None = None,
    ) -> None:
        super().__init__(name)
        slides = [key for key, measure in getattr(joint, "measures", {}).items() if measure.kind == "in_plane"]
        self._act_on(joint, slides[0] if coordinate is None and len(slides) == 1 else coordinate)
        if self.turns:
            raise ModelError(f"{self.label} acts on an angle of {joint.label}. Use a RotationalSpringDamper.")
        self._pull(stiffness, damping, free_displacement, force)


def table(elements: Sequence[CoordinateSpring], places: Sequence[Place]) -> CurveTable:
    """The table of all springs of a system on coordinates of joints."""
    result = law_table(6, (SPRINGS, CURVES, PIECES, ASKED, BANDS), elements, places)
    result[SPACE] = np.zeros(ROOM)
    return result


@helper
def push(E, spring, x, rate):
    """The force on the second body at x from where the spring is free."""
    force = spring.constant - spring.stiffness * x - spring.damping * rate
    if is_curved(spring):
        curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
        elastic = value_of(curves, pieces, asked, spring.elastic, x)
        force -= elastic + value_of(curves, pieces, asked, spring.viscous, rate)
    return force


@kernel
def forces(T, E):
    """Push the two bodies of every spring against each other."""
    springs = view(E, SPRINGS)
    for e in range(springs.shape[0]):
        x, rate, g = coordinate(T, springs[e])
        force = push(E, springs[e], x - springs[e].free, rate)
        if is_curved(springs[e]) and not abs(force) < 1e300:  # also catches NaN
            return e + 1
        add_force_along(T, springs[e], force, g)
    return OK


@kernel
def force_derivatives(T, E):
    """Derivatives of every force: by x -k, by the rate -c."""
    springs, curves, pieces, room = view(E, SPRINGS), view(E, CURVES), view(E, PIECES), view(E, SPACE)
    for e in range(springs.shape[0]):
        x, rate, g = coordinate(T, springs[e])
        x -= springs[e].free
        k = springs[e].stiffness + slope_at(curves, pieces, springs[e].elastic, x)
        c = springs[e].damping + slope_at(curves, pieces, springs[e].viscous, rate)
        add_derivatives_along(T, springs[e], room, g, push(E, springs[e], x, rate), -k, -c)
    return OK


@kernel
def energy(T, E):
    """Energy of springs; power of dampers and constant forces."""
    springs, values = view(E, SPRINGS), view(T, s.ENERGY)
    curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
    for e in range(springs.shape[0]):
        x, rate, _ = coordinate(T, springs[e])
        x -= springs[e].free
        damping = springs[e].damping * rate + value_of(curves, pieces, asked, springs[e].viscous, rate)
        values[s.POTENTIAL] += 0.5 * springs[e].stiffness * x * x
        values[s.POWER] += (springs[e].constant - damping) * rate
        if springs[e].elastic >= 0:
            add_curve_energy(values, curves, pieces, asked, springs[e].elastic, x, rate)
    return OK


@kernel
def switches(T, E):
    """How far the coordinate of each spring with a dead band is from its nearer end, negative where it acts."""
    springs, bands, values = view(E, SPRINGS), view(E, BANDS), view(T, s.SWITCH)
    at = next_switches(T, bands.shape[0])
    for e in range(bands.shape[0]):
        spring = springs[bands[e].record]
        values[at + e] = clearance(bands[e], coordinate(T, spring)[0] - spring.free)
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches}

register(RotationalSpringDamper)
register(TranslationalSpringDamper)
