"""Bushings: springs and dampers along and about the three axes of a first marker."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_vector, length_of
from index3.errors import ModelError
from index3.fields import ENDS, FORM, declare, field
from index3.forces.curve import Curve
from index3.forces.curve_kernels import NONE, CurvedForce, acts, as_law, as_stiffness, has_potential, slope_of
from index3.forces.force import Place
from index3.forces.relative import LIMIT, relative_markers, relative_pose
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index3.user_types import ArrayLike, BodyOrMarker

DIRECTIONS = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
Laws = tuple[np.ndarray, list[float | Curve]]
"""A 6x6 matrix, and the six laws on its diagonal (0 where the matrix says it all)."""


class Bushing(CurvedForce):
    """Springs and dampers along and about the axes of the first marker, towards the second.

    The deflection e is the position of the second marker's point in the axes of the first [m], then the rotation
    vector from the first marker's axes to the second's [rad] (the angle, where the turn is about one axis), minus
    `free`. The force on the second body, at its marker, in the axes of the first, is preload - stiffness e - damping e'
    with the moments accordingly; the first body takes the opposite at the same point.

    Parameters
    ----------
    name : str
    first, second : two markers, or two bodies together with `at` and, if wanted, `axis` (z) and `x`, in ground at the
        initial configuration
    stiffness : three numbers or curves along x, y, z [N/m, or N as functions of m]; or six, the last three about
        x, y, z [N m/rad, or N m as functions of rad]; or a symmetric 3x3 or 6x6 matrix. Curves as numbers: positive
        values pull back.
    damping : as many numbers or curves [N s/m, N m s/rad; or N, N m as functions of m/s, rad/s], or a matrix
    preload : as many numbers, force [N] and moment [N m] on the second body where e and e' are zero
    free : as many numbers, where the springs are free [m, rad]; by default where the markers coincide. "initial": at
        the initial configuration

    With three, no axis of the second marker matters, so it may sit on a PointMass: belt segments, for example. With
    six, the bodies may turn against each other by less than 3 rad; as far as they like if only damping acts about the
    axes, which is then a torque against the relative angular velocity, as of a damped ball joint.

    Raises
    ------
    ModelError : names the bushing.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> engine = RigidBody.box("engine", (0.4, 0.4, 0.4), mass=120.0)
    >>> Bushing("mount", Ground(), engine, at=(0, 0, -0.2), stiffness=(2e5, 2e5, 3e5, 50.0, 50.0, 80.0))
    Bushing('mount', 'ground', 'engine')
    """

    kind = "index3.forces.bushing_kernels"
    symbol = "bushing"
    fields = declare(
        ENDS,
        FORM,
        stiffness=field("laws").found(lambda bushing: (*bushing.stiffness, bushing.size)),
        damping=field("laws", rate="/time").found(lambda bushing: (*bushing.damping, bushing.size)),
        preload=field("six", first="force", last="force*length").found(lambda x: x.preload[: x.size]),
        free=field("six", first="length", last="angle").found(lambda x: x.free[: x.size]),
    )

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        *,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        x: ArrayLike | None = None,
        stiffness: ArrayLike | Sequence[float | Curve] | None = None,
        damping: ArrayLike | Sequence[float | Curve] | None = None,
        preload: ArrayLike | None = None,
        free: ArrayLike | None = None,
    ) -> None:
        super().__init__(name)
        self.markers = relative_markers(self.label, first, second, at, axis, x)
        self.size = self._size(stiffness=stiffness, damping=damping, preload=preload, free=free)
        self.stiffness, self.damping = self._laws(stiffness, "stiffness"), self._laws(damping, "damping")
        matrix = self.stiffness[0]
        if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
            raise ModelError(f"{self.label} has a stiffness matrix that is not symmetric. Give a symmetric one.")
        self.preload = self._numbers(preload, "preload")
        if isinstance(free, str) and free == "initial":
            free = relative_pose(*self.markers)[: self.size]
        self.free = self._numbers(free, "free")
        if self.size == 6 and not self.markers[1].oriented:
            raise ModelError(
                f"{self.label} cannot turn {self.markers[1].body.label}, which has no orientation. "
                "Give three stiffnesses, or use a RigidBody."
            )

    def _size(self, **given: Any) -> int:
        """How many directions it has: 3 or 6, as all that is given says."""
        sizes = {}
        for what, value in given.items():
            if value is not None and not (what == "free" and isinstance(value, str)):
                sizes[what] = length_of(value)
                if sizes[what] not in (3, 6):
                    raise ModelError(f"{self.label} has {what} {short(value)}. Give three numbers, or six.")
        if not sizes:
            raise ModelError(f"{self.label} has no stiffness, damping or preload. Give at least one of them.")
        if len(set(sizes.values())) > 1:
            words = ", ".join(f"{size} of {what}" for what, size in sizes.items())
            raise ModelError(f"{self.label} has {words}. Give as many of each: three, or six.")
        return next(iter(sizes.values()))

    def _laws(self, value: Any, what: str) -> Laws:
        matrix = np.zeros((6, 6))
        laws: list[float | Curve] = [0.0] * 6
        if value is None:
            return matrix, laws
        if all(hasattr(row, "__len__") for row in value):
            rows = [as_vector(row, self.label, f"row of {what}", self.size) for row in value]
            matrix[: self.size, : self.size] = rows
            return matrix, laws
        for k, given in enumerate(value):
            number = as_stiffness if what == "stiffness" else as_law
            law = number(given, self.label, f"{what} along {DIRECTIONS[k]}")
            matrix[k, k] = slope_of(law)
            laws[k] = law if isinstance(law, Curve) else 0.0
        return matrix, laws

    def _numbers(self, value: Any, what: str) -> np.ndarray:
        numbers = np.zeros(6)
        if value is not None:
            numbers[: self.size] = as_vector(value, self.label, what, self.size)
        return numbers

    @property
    def damped(self) -> bool:
        """Whether it has dampers."""
        return bool(self.damping[0].any()) or any(map(acts, self.damping[1]))

    @property
    def conservative(self) -> bool:
        """Whether it has no dampers, and a potential energy."""
        return not self.damped and all(map(has_potential, self.stiffness[1]))

    @property
    def angular(self) -> bool:
        """Whether it depends on the angles, and not on their rates alone."""
        matrix, laws = self.stiffness
        return bool(matrix[3:].any() or self.preload[3:].any()) or any(map(acts, laws[3:]))

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table of bushings."""
        matrices = (self.stiffness[0].ravel(), self.damping[0].ravel())
        none, free = [NONE] * 6, self.free
        if not self.angular:
            free = np.concatenate([free[:3], np.zeros(3)])
        own = (*matrices, self.preload, free, none, none)
        return (*place.markers, place.stiffness, self.size, self.angular, *own)

    def explain(self, stage: str, t: float) -> str:
        """What the function of a curve raised, or bodies turned too far."""
        if self.failure is not None:
            return super().explain(stage, t)
        return (
            f"{self.label} has turned by more than {LIMIT:g} rad at t = {t:.6g}, the limit of its angles. Keep "
            "turns below that, or give three stiffnesses and a RotationalSpringDamper on a joint. Dampers about the "
            "axes alone have no limit."
        )


register(Bushing)
