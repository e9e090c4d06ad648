"""A rigid body in space: three coordinates of its centre of mass and four Euler parameters."""

from __future__ import annotations

import math
from reprlib import repr as short
from typing import Any, Self

import numpy as np

from index3.algebra.rotations import E_transposed, rotation
from index3.bodies.body import Body, distance
from index3.bodies.marker import as_number, as_positive, as_vector, frame, is_rotation
from index3.errors import ModelError

# Relative slack of i1 + i2 >= i3 and of the symmetry of an inertia matrix: data printed with nine digits pass.
INERTIA_SLACK = 1e-9
# Rounding of computed principal values, relative to the largest.
ROUNDING = 1e-12
# Largest error of A^T A = 1 in an orientation matrix: data printed with six digits pass; the result is normalised.
ROTATION_SLACK = 1e-6
# Radius over length of a rod given without a radius, used for its inertia about its own axis only.
SLENDER = 0.01


class RigidBody(Body):
    """A rigid body that moves in space; its frame has its origin at the centre of mass.

    Parameters
    ----------
    name : str
    mass : float > 0 [kg]
    inertia : (Ixx, Iyy, Izz) or 3x3, about the centre of mass in body axes [kg m^2]; principal values may be zero
    position : centre of mass in ground [m]
    orientation : quaternion (w, x, y, z), 3x3 matrix (columns are the body axes) or SciPy `Rotation`, body to ground
    velocity, angular_velocity : in ground axes [m/s, rad/s]; zero if left out, and then known as "not given"

    Attributes `mass`, `inertia` (3, 3) and those of `Body`; q = (r, p) with Euler parameters p, and v = q'.

    Raises
    ------
    ModelError : names the body; for numbers that no rigid body has.

    >>> RigidBody("rod", 1.0, (0.1, 0.1, 0.001), position=(0, 0, -0.5)).q0.tolist()
    [0.0, 0.0, -0.5, 1.0, 0.0, 0.0, 0.0]
    """

    kind_name = "rigid"
    own_rows: tuple[str, ...] = ("normalisation",)
    own_columns: tuple[tuple[int, ...], ...] = ((3, 4, 5, 6),)
    block = (  # three diagonal entries of r, the 16 of the p block
        np.concatenate([np.arange(3), np.repeat(np.arange(3, 7), 4)]),
        np.concatenate([np.arange(3), np.tile(np.arange(3, 7), 4)]),
    )
    turning: tuple[int, ...] = (3, 4, 5, 6)

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: Any,
        *,
        position: Any = (0, 0, 0),
        orientation: Any = (1, 0, 0, 0),
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        self.mass = as_positive(mass, owner, "mass")
        self.inertia = as_inertia(inertia, owner)
        p = as_quaternion(orientation, owner)
        self.q0[:3] = as_vector(position, owner, "position")
        if velocity is not None:
            self.v0[:3] = as_vector(velocity, owner, "velocity")
            self.velocity_given = True
        w = None if angular_velocity is None else as_vector(angular_velocity, owner, "angular velocity")
        self.angular_velocity_given = w is not None
        self._orient(p, w)

    def _orient(self, p: tuple[float, ...], w: np.ndarray | None) -> None:
        """Set the coordinates of the orientation with Euler parameters p, and their rates if w is given."""
        self.q0[3:] = p
        if w is not None:
            self.v0[3:] = E_transposed(p, (0.5 * w).tolist())  # w = 2 E p' and p . p' = 0

    @property
    def slender(self) -> bool:
        """Whether it has no inertia about some axis."""
        return is_singular(self.inertia)

    def row_weights(self) -> list[float]:
        """4 tr(J)/3, the size of the p block of the mass matrix."""
        return [4.0 * max(float(np.trace(self.inertia)), 1e-6 * self.mass) / 3.0]

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3,) and body axes (3, 3) in ground at the initial configuration."""
        return self.q0[:3].copy(), np.array(rotation(self.q0[3:].tolist())).reshape(3, 3)

    @classmethod
    def rod(
        cls,
        name: str,
        start: Any,
        end: Any,
        mass: float,
        *,
        radius: float = 0.0,
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> Self:
        """A uniform rod between two points of ground; origin in the middle, body x axis from start to end.

        With a radius it has the inertia of a solid cylinder. Without one it is thin: m L^2 / 12 about y and z, and
        about x that of a rod with radius L / 100, so that its inertia is never singular.

        >>> RigidBody.rod("crank", (0, 0, 0), (0, 0, 2), mass=3.0).inertia.diagonal().round(6).tolist()
        [0.0006, 1.0, 1.0]
        """
        owner = f"{cls.__name__} '{name}'"
        a, b = as_vector(start, owner, "start"), as_vector(end, owner, "end")
        radius, mass = as_number(radius, owner, "radius"), as_positive(mass, owner, "mass")
        length = distance(a, b)
        if length == 0.0:
            raise ModelError(f"{owner} starts and ends at {a.tolist()}. Give two different points.")
        if radius < 0.0:
            raise ModelError(f"{owner} has radius {radius}. Give a positive radius, or 0 for a thin rod.")
        along = mass * (radius or SLENDER * length) ** 2 / 2.0
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        body = cls(
            name,
            mass,
            (along, across, across),
            position=0.5 * (a + b),
            orientation=parameters_of(frame(None, b - a, owner)),
            velocity=velocity,
            angular_velocity=angular_velocity,
        )
        body.shape = {"type": "rod", "ends": [[-length / 2, 0.0, 0.0], [length / 2, 0.0, 0.0]], "radius": radius}
        return body

    @classmethod
    def box(cls, name: str, size: Any, mass: float | None = None, *, density: float | None = None, **pose: Any) -> Self:
        """A uniform box with edges `size` = (along x, y, z); give mass or density, and the keywords of `RigidBody`."""
        owner = f"{cls.__name__} '{name}'"
        a, b, c = (as_positive(edge, owner, "edge") for edge in as_vector(size, owner, "size").tolist())
        mass = mass_of(mass, density, a * b * c, owner)
        squares = (b * b + c * c, c * c + a * a, a * a + b * b)
        body = cls(name, mass, [mass * square / 12.0 for square in squares], **pose)
        body.shape = {"type": "box", "size": [a, b, c]}
        return body

    @classmethod
    def cylinder(
        cls,
        name: str,
        radius: float,
        length: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        **pose: Any,
    ) -> Self:
        """A uniform solid cylinder about body z; give mass or density, and the keywords of `RigidBody`."""
        owner = f"{cls.__name__} '{name}'"
        radius, length = as_positive(radius, owner, "radius"), as_positive(length, owner, "length")
        mass = mass_of(mass, density, math.pi * radius**2 * length, owner)
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        body = cls(name, mass, (across, across, mass * radius**2 / 2.0), **pose)
        body.shape = {"type": "cylinder", "radius": radius, "length": length, "axis": "z"}
        return body

    @classmethod
    def sphere(
        cls, name: str, radius: float, mass: float | None = None, *, density: float | None = None, **pose: Any
    ) -> Self:
        """A uniform solid sphere; give mass or density, and the keywords of `RigidBody`."""
        owner = f"{cls.__name__} '{name}'"
        radius = as_positive(radius, owner, "radius")
        mass = mass_of(mass, density, 4.0 / 3.0 * math.pi * radius**3, owner)
        body = cls(name, mass, (0.4 * mass * radius**2,) * 3, **pose)
        body.shape = {"type": "sphere", "radius": radius}
        return body


def is_singular(inertia: np.ndarray) -> bool:
    """Whether a principal value is zero, but for rounding."""
    principal = np.linalg.eigvalsh(inertia)
    return bool(principal[0] <= ROUNDING * max(principal[-1], 1e-300))


def mass_of(mass: float | None, density: float | None, volume: float, owner: str) -> float:
    """The mass of a solid, given directly or by its density."""
    if (mass is None) == (density is None):
        fault = "neither mass nor density" if mass is None else "both mass and density"
        raise ModelError(f"{owner} is given {fault}. Give exactly one of the two.")
    if density is None:
        return as_positive(mass, owner, "mass")
    return as_positive(density, owner, "density") * volume


def as_inertia(value: Any, owner: str) -> np.ndarray:
    """An inertia matrix (3, 3) from three principal values or a symmetric matrix, checked to be physical."""
    try:
        given = np.array(value, dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape not in ((3,), (3, 3)):
        raise ModelError(f"{owner} has inertia {short(value)}. Give (Ixx, Iyy, Izz) or a 3x3 matrix.")
    if not all(map(math.isfinite, given.ravel().tolist())):
        raise ModelError(f"{owner} has inertia {given.tolist()}. Give finite numbers.")
    if given.shape == (3,):
        inertia, principal, rounding = np.zeros((3, 3)), sorted(given.tolist()), 0.0
        inertia.flat[::4] = given
    else:
        inertia, rounding = 0.5 * (given + given.T), ROUNDING
        if np.abs(given - given.T).max() > INERTIA_SLACK * np.abs(given).max():
            raise ModelError(f"{owner} has an inertia matrix that is not symmetric. Give Ixy = Iyx, and so on.")
        principal = np.linalg.eigvalsh(inertia).tolist()
    low, middle, high = principal
    if low < -rounding * abs(high):
        raise ModelError(
            f"{owner} has principal inertias {low:.6g}, {middle:.6g}, {high:.6g}, one of them negative. "
            "Check the signs; products of inertia are -integral(x y dm)."
        )
    if low + middle < high * (1.0 - INERTIA_SLACK):
        raise ModelError(
            f"{owner} has principal inertias {low:.6g}, {middle:.6g}, {high:.6g}: no rigid body has it, as the largest "
            "exceeds the sum of the other two. Check the values and that they are about the centre of mass."
        )
    return inertia


def as_quaternion(value: Any, owner: str) -> tuple[float, float, float, float]:
    """Unit Euler parameters (w, x, y, z) from a quaternion, a rotation matrix or a SciPy `Rotation`."""
    try:
        given = np.array(value.as_matrix() if hasattr(value, "as_matrix") else value, dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape not in ((4,), (3, 3)):
        raise ModelError(
            f"{owner} has orientation {short(value)}. Give a quaternion (w, x, y, z), a 3x3 matrix or one Rotation."
        )
    numbers = given.ravel().tolist()
    if not all(map(math.isfinite, numbers)):
        raise ModelError(f"{owner} has orientation {given.tolist()}. Give finite numbers.")
    if len(numbers) == 4:
        largest = max(map(abs, numbers))
        if largest == 0.0:
            raise ModelError(
                f"{owner} has orientation (0, 0, 0, 0), which is no rotation. Give a quaternion like (1, 0, 0, 0)."
            )
        numbers = [e / largest for e in numbers]  # scaled first: squares neither overflow nor vanish
    else:
        if not is_rotation(given, ROTATION_SLACK):
            raise ModelError(
                f"{owner} has an orientation matrix that is not a rotation. "
                "Its columns must be the body's unit axes in ground, right-handed."
            )
        numbers = parameters_of(given)
    length = math.sqrt(sum(e * e for e in numbers))
    return tuple(e / length for e in numbers)  # type: ignore[return-value]


def parameters_of(A: np.ndarray) -> list[float]:
    """Euler parameters, up to a factor, of a rotation matrix; e0 is not negative.

    4 p p^T is linear in A; the column of the largest parameter, read off with it, loses no digits.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A.tolist()
    columns = (
        (1.0 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx),
        (xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy),
        (yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz),
    )
    k = max(range(4), key=lambda i: columns[i][i])
    sign = -1.0 if columns[k][0] < 0.0 else 1.0
    return [sign * e for e in columns[k]]
