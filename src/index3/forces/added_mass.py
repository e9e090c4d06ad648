"""Added mass: a wrench against the acceleration of a marker, as a fluid that a body sets in motion exerts it.

With u = (acceleration of the point, angular acceleration) in ground axes, R the marker's axes (twice on the diagonal)
and S the constant matrix in them, the wrench is F = -B u, B = R S R^T. As the marker turns by dtheta,
dF = dtheta x F + B (dtheta x u), three components at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.vectors import skew
from index3.bodies.mass_properties import as_array
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.errors import ModelError
from index3.fields import POINT, declare, field, marker, short_form
from index3.forces.force import ForceElement, Place, add_block, element_table, moving_end
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker

ADDED = np.dtype([("i", "i8"), ("group", "i8"), ("matrix", "f8", (36,))])
"""Marker, first place in GROUP_K and GROUP_M, S row by row."""
ADDEDS, ROOM = slots(addeds=(ADDED, 1), room=("f8", 2))
"""ROOM: B in its first six lines, the wrench in the next."""
MEMORY = (ROOM,)
WRENCH = 6


class AddedMass(ForceElement):
    """Mass and inertia that a body gains for its accelerations alone, such as those of the fluid around it.

    Parameters
    ----------
    name : str
    on : the marker, or the body, on which it acts; a body stands for its origin and axes, or with `at` another point
    mass : number >= 0, three numbers >= 0 along the axes of the marker, or a symmetric 3x3 matrix in them [kg]
    inertia : the same about these axes [kg m^2]
    coupling : 3x3 matrix [kg m]: force by angular acceleration; its transpose is torque by acceleration
    at : point on a given body, in ground at the initial configuration [m]

    The marker gets minus this matrix times its acceleration, seen in its axes. There is no weight, and there are no
    terms with velocities: where mass differs between axes, a fluid adds some that are not here (Kirchhoff's equations
    have w x (S v) and v x (S v) too). Its work is counted as work: kinetic energy is that of the bodies.

    Raises
    ------
    ModelError : names the element.

    >>> from index3.bodies.rigid_body import RigidBody
    >>> ball = RigidBody.sphere("ball", 0.1, mass=2.0)
    >>> water = AddedMass("water", ball, 0.5 * 1000.0 * 4.0 / 3.0 * 3.14159265 * 0.1**3)
    >>> water.mass[0, 0].round(4).item()
    2.0944
    """

    kind = __name__
    symbol = ""
    page = "elements/accelerations.md"
    fields = declare(
        on=marker(0),
        mass=field("block", dimension="mass"),
        inertia=field("block"),
        coupling=field("matrix", dimension="mass*length").found(lambda x: x.coupling if x.coupling.any() else None),
        at=short_form(POINT),
    )
    reads_accelerations = True

    def __init__(
        self,
        name: str,
        on: BodyOrMarker,
        mass: ArrayLike = 0.0,
        inertia: ArrayLike = 0.0,
        *,
        coupling: ArrayLike | None = None,
        at: ArrayLike | None = None,
    ) -> None:
        super().__init__(name)
        self.markers = (moving_end(self.label, on, at),)
        self.mass = self._block(mass, "mass")
        self.inertia = self._block(inertia, "inertia")
        self.coupling = np.zeros((3, 3)) if coupling is None else self._numbers(coupling, "coupling", ((3, 3),))
        if not self.matrix.any():
            raise ModelError(f"{self.label} has neither mass nor inertia. Give one of them.")
        if self.markers[0].body.kind == "point" and (self.inertia.any() or self.coupling.any()):
            raise ModelError(
                f"{self.label} has inertia, but {self.markers[0].body.label} does not turn. Give mass alone."
            )

    @classmethod
    def from_matrix(cls, name: str, on: BodyOrMarker, matrix: ArrayLike, *, at: ArrayLike | None = None) -> AddedMass:
        """From the symmetric 6x6 matrix as a whole: force, then torque, by acceleration, then angular acceleration."""
        whole = as_array(matrix, f"AddedMass '{name}'", "matrix")
        if whole.shape != (6, 6) or not np.allclose(whole, whole.T, rtol=1e-9, atol=0.0):
            raise ModelError(f"AddedMass '{name}' has matrix {short(matrix)}. Give a symmetric 6x6 matrix.")
        return cls(name, on, whole[:3, :3], whole[3:, 3:], coupling=whole[:3, 3:], at=at)

    def _numbers(self, value: Any, what: str, shapes: tuple[tuple[int, ...], ...]) -> np.ndarray:
        array = as_array(value, self.label, what)
        if array.shape not in shapes:
            wanted = {(): "a number", (3,): "three numbers", (3, 3): "a 3x3 matrix"}
            given = " or ".join(wanted[shape] for shape in shapes)
            raise ModelError(f"{self.label} has {what} {short(value)}. Give {given}.")
        return array

    def _block(self, value: Any, what: str) -> np.ndarray:
        array = self._numbers(value, what, ((), (3,), (3, 3)))
        if array.ndim < 2:
            if np.any(array < 0.0):
                raise ModelError(f"{self.label} has {what} {array.tolist()}. Give numbers of at least 0.")
            return np.diag(np.broadcast_to(array, 3)).astype(float)
        if not np.allclose(array, array.T, rtol=1e-9, atol=0.0):
            raise ModelError(f"{self.label} has a {what} matrix that is not symmetric. Give a symmetric one.")
        return array

    @property
    def matrix(self) -> np.ndarray:
        """S (6, 6): minus the force and torque by acceleration and angular acceleration, in the marker's axes."""
        return np.block([[self.mass, self.coupling], [self.coupling.T, self.inertia]])

    def record(self, place: Place) -> tuple[Any, ...]:
        """Its row in the table."""
        return place.markers[0], place.stiffness, tuple(self.matrix.ravel())


def table(elements: Sequence[AddedMass], places: Sequence[Place]) -> Table:
    """The table of all added masses of a system."""
    result = Table(2)
    result[ADDEDS] = element_table(ADDEDS, elements, places)[ADDEDS]
    result[ROOM] = np.zeros((7, 6))
    return result


@helper
def look(T, E, added):
    """Fill ROOM: B = R S R^T in ground axes, and the wrench."""
    A, W, room = view(T, s.MARKER_A), view(T, s.MARKER_W), view(E, ROOM)
    for a in range(2):
        for b in range(2):
            for i in range(3):
                for j in range(3):
                    x = 0.0
                    for k in range(3):
                        for m in range(3):
                            part = added.matrix[6 * (3 * a + k) + 3 * b + m]
                            x += A[added.i, 3 * i + k] * part * A[added.i, 3 * j + m]
                    room[3 * a + i, 3 * b + j] = x
    for i in range(6):
        x = 0.0
        for j in range(6):
            x -= room[i, j] * W[added.i, j]
        room[WRENCH, i] = x


@kernel
def forces(T, E):
    """Hold back every marker against its acceleration."""
    addeds, room, f = view(E, ADDEDS), view(E, ROOM), view(T, s.MARKER_F)
    for e in range(addeds.shape[0]):
        look(T, E, addeds[e])
        for c in range(6):
            f[addeds[e].i, c] += room[WRENCH, c]
    return OK


@kernel
def force_derivatives(T, E):
    """By the acceleration: B; by the axes: skew(F) + B skew(u), three rows at a time."""
    addeds, room, W = view(E, ADDEDS), view(E, ROOM), view(T, s.MARKER_W)
    K, M = view(T, s.GROUP_K), view(T, s.GROUP_M)
    for e in range(addeds.shape[0]):
        first = addeds[e].group
        look(T, E, addeds[e])
        for i in range(6):
            for j in range(6):
                M[first + 6 * i + j] += room[i, j]
        for a in range(2):
            turned = skew((room[WRENCH, 3 * a], room[WRENCH, 3 * a + 1], room[WRENCH, 3 * a + 2]))
            add_block(K, first, 6, a, 1, turned, 1.0)
            swung = skew((W[addeds[e].i, 3 * a], W[addeds[e].i, 3 * a + 1], W[addeds[e].i, 3 * a + 2]))
            for i in range(6):
                for j in range(3):
                    for k in range(3):
                        K[first + 6 * i + 3 + j] += room[i, 3 * a + k] * swung[3 * k + j]
    return OK


@kernel
def energy(T, E):
    """Power of every added mass."""
    addeds, room, V, values = view(E, ADDEDS), view(E, ROOM), view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(addeds.shape[0]):
        look(T, E, addeds[e])
        for c in range(6):
            values[s.POWER] += room[WRENCH, c] * V[addeds[e].i, c]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(AddedMass)
