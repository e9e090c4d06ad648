"""A rigid body that moves in the x-y plane of ground: two coordinates of its centre of mass and an angle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np

from index3.algebra.rotations import rotation
from index3.bodies import body_fields
from index3.bodies.body import Body, diagonal
from index3.bodies.kinematics import Kinematics, as_matrices
from index3.bodies.marker import as_mass, as_number, as_positive, as_vector
from index3.bodies.pairs import distance
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, PlanarKindSettings


def as_polar_inertia(value: Any, owner: str) -> float:
    """An inertia about the axis of the plane."""
    inertia = as_number(value, owner, "inertia")
    if inertia < 0.0:
        raise ModelError(f"{owner} has inertia {inertia}. Give a positive number, or 0 for a point.")
    return inertia


@register
class PlanarBody(Body):
    """A rigid body in the ground x-y plane; its frame has its origin at the centre of mass, z = 0.

    Parameters
    ----------
    name : str
    mass : float > 0 [kg]
    inertia : float >= 0, about the centre of mass and the z axis [kg m^2]
    position : (x, y) of the centre of mass in ground [m]
    angle : from ground x to body x about z [rad]
    velocity, spin : (x', y') [m/s] and angle' [rad/s]; zero if left out, and then known as "not given"

    Attributes `mass`, `inertia` (float) and those of `Body`; q = (x, y, angle).

    Raises
    ------
    ModelError : names the body; for numbers that no body has.

    >>> PlanarBody("bar", 1.0, 0.1, position=(0.5, 0), angle=0.2).q0.tolist()
    [0.5, 0.0, 0.2]
    """

    fields = body_fields.PLANAR
    makers = body_fields.PLANAR_MAKERS
    of_record: ClassVar[Mapping[str, Any]] = {"mass": as_mass, "inertia": as_polar_inertia}
    kernels = "index3.bodies.planar_kernels"
    kind_name = "planar"
    couplings = diagonal(3)
    turning = (2,)
    translations = 2
    angle_coordinate = 2
    planar = True

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: float,
        *,
        position: ArrayLike = (0, 0),
        angle: float = 0.0,
        velocity: ArrayLike | None = None,
        spin: float | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        self.mass = as_mass(mass, self.label)
        self.inertia = as_polar_inertia(inertia, self.label)
        self.q0[:2] = as_vector(position, self.label, "position", 2)
        self.q0[2] = as_number(angle, self.label, "angle")
        if velocity is not None:
            self.v0[:2] = as_vector(velocity, self.label, "velocity", 2)
            self.velocity_given = True
        if spin is not None:
            self.v0[2] = as_number(spin, self.label, "spin")
            self.angular_velocity_given = True

    @property
    def lacks_inertia(self) -> bool:
        """Whether it has no inertia."""
        return self.inertia == 0.0

    @property
    def turn_length(self) -> float:
        """Its radius of gyration."""
        return float((self.inertia / self.mass) ** 0.5)

    def record(self, site: Any) -> tuple[Any, ...]:
        """Its row in the table of its kind."""
        return (site.first, site.marker, site.marker_count, self.mass, float(self.inertia))

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return Places(np.array([[0, 1]]), np.ones(1), angle=2)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3,) with z = 0 and body axes (3, 3) in ground at the initial configuration."""
        x, y, angle = self.q0.tolist()
        c, s = math.cos(angle), math.sin(angle)
        return np.array((x, y, 0.0)), np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """q = (x, y, angle)."""
        zero = np.zeros((len(q), 3))
        position, velocity, acceleration = (np.column_stack([x[:, :2], zero[:, 0]]) for x in (q, v, a))
        half = 0.5 * q[:, 2]
        p = (np.cos(half), zero[:, 0], zero[:, 0], np.sin(half))  # counts full turns of the half angle
        w, w_dot = (np.column_stack([zero[:, :2], x[:, 2]]) for x in (v, a))
        A = as_matrices(rotation(p))
        return Kinematics(position, velocity, acceleration, A, w, w_dot, np.column_stack(p))

    @classmethod
    def rod(
        cls,
        name: str,
        start: ArrayLike,
        end: ArrayLike,
        mass: float,
        *,
        velocity: ArrayLike | None = None,
        spin: float | None = None,
        **settings: Unpack[PlanarKindSettings],
    ) -> Self:
        """A uniform thin rod between two points (x, y); origin in the middle, body x axis from start to end.

        `settings` are those that other kinds of planar bodies have in addition: `points` of `NaturalPlanarBody`.

        >>> round(PlanarBody.rod("bar", (0, 0), (0, 2), mass=3.0).inertia, 12)
        1.0
        """
        owner = f"{cls.__name__} '{name}'"
        a, b = as_vector(start, owner, "start", 2), as_vector(end, owner, "end", 2)
        length = distance(a, b)
        if length == 0.0:
            raise ModelError(f"{owner} starts and ends at {a.tolist()}. Give two different points.")
        mass = as_positive(mass, owner, "mass")
        dx, dy = (b - a).tolist()
        pose: dict[str, Any] = {"position": 0.5 * (a + b), "angle": math.atan2(dy, dx), **settings}
        body = cls(name, mass, mass * length**2 / 12.0, velocity=velocity, spin=spin, **pose)
        body.shape = {"type": "rod", "ends": [[-length / 2, 0.0, 0.0], [length / 2, 0.0, 0.0]]}
        return body
