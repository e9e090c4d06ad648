"""A mass without extent or orientation: three coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.bodies import body_fields
from index3.bodies.body import Body, diagonal
from index3.bodies.kinematics import Kinematics, still
from index3.bodies.marker import Marker, as_mass, as_vector
from index3.bodies.pairs import distance
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike


@register
class PointMass(Body):
    """A point with mass; it has no orientation, so joints that need its axes are refused.

    Parameters
    ----------
    name : str
    mass : float > 0 [kg]
    position, velocity : in ground [m, m/s]; velocity is zero if left out, and then known as "not given"

    Attributes `mass` and those of `Body`; q = (x, y, z). Its markers all sit at the point and keep ground's directions.

    Raises
    ------
    ModelError : names the body.

    >>> PointMass("bob", 1.0, position=(0, 0, -1)).q0.tolist()
    [0.0, 0.0, -1.0]
    """

    fields = body_fields.POINT_MASS
    of_record: ClassVar[Mapping[str, Any]] = {"mass": as_mass}
    kernels = "index3.bodies.point_kernels"
    kind_name = "point"
    couplings = diagonal(3)

    def __init__(
        self, name: str, mass: float, *, position: ArrayLike = (0, 0, 0), velocity: ArrayLike | None = None
    ) -> None:
        super().__init__(name, self.kind_name)
        self.mass = as_mass(mass, self.label)
        self.q0[:] = as_vector(position, self.label, "position")
        if velocity is not None:
            self.v0[:] = as_vector(velocity, self.label, "velocity")
            self.velocity_given = True

    def record(self, site: Any) -> tuple[Any, ...]:
        """Its row in the table of its kind."""
        return (site.first, site.marker, site.marker_count, self.mass)

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return Places(np.array([[0, 1, 2]]), np.ones(1))

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """The point (3,) and ground's axes (3, 3) at the initial configuration."""
        return self.q0.copy(), np.eye(3)

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """q = (x, y, z)."""
        zero = np.zeros((len(q), 3))
        return Kinematics(q, v, a, still(len(q)), zero, zero)

    def is_oriented(self, part: str | None) -> bool:
        """Never: it has no axes."""
        return False

    def _place(self, position: np.ndarray, axes: np.ndarray, name: str | None) -> Marker:
        if distance(self.q0, self.q0 + position) > 0.0:  # an arm that cannot turn would take moments silently
            raise ModelError(
                f"{self.label} has no extent, so no marker {position.tolist()} away from it. "
                f"Put the marker at {self.q0.tolist()} in ground, or use a RigidBody."
            )
        return super()._place(position, axes, name)
