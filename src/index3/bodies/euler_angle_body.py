"""A rigid body in space by 3-1-3 Euler angles: six coordinates and no constraint row of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.rotations import rotation
from index3.bodies import body_fields
from index3.bodies.euler_kernels import SINGULAR
from index3.bodies.kinematics import Kinematics, as_matrices
from index3.bodies.rigid_body import RigidBody
from index3.bodies.rigid_data import as_quaternion, gyration
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, RotationLike

# |sin theta| of the initial orientation below which a reference of the body's own is chosen: 12 degrees from singular.
CLOSE = 0.2


@register
class EulerAngleBody(RigidBody):
    """A rigid body whose orientation is R Rz(phi) Rx(theta) Rz(psi); its frame has its origin at the centre of mass.

    The angles are singular where sin(theta) = 0: there phi and psi turn about one axis. A run that comes within
    |sin(theta)| = 0.001 of it stops with a message; use `RigidBody` for bodies that tumble.

    Parameters
    ----------
    reference : the constant rotation R, given as `orientation` is; by default none, so that phi, theta and psi are the
        precession, nutation and spin about ground z, unless the initial |sin(theta)| is then below 0.2. In that case R
        is chosen so that the body starts at phi = psi = 0 and theta = 90 degrees.
    others : those of `RigidBody`; so are `.rod`, `.box`, `.cylinder`, `.sphere`

    Attributes `mass`, `inertia`, `reference` (3, 3) and those of `Body`; q = (x, y, z, phi, theta, psi).

    Raises
    ------
    ModelError : names the body; also if the given reference makes the initial orientation singular.

    >>> body = EulerAngleBody("top", 1.0, (1.0, 1.0, 0.5), orientation=(0.5**0.5, 0.5**0.5, 0, 0))
    >>> body.q0.round(6).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.570796, 0.0]
    """

    fields = body_fields.rigid(body_fields.REFERENCE)
    makers = body_fields.solids(body_fields.REFERENCE)
    kernels = "index3.bodies.euler_kernels"
    kind_name = "euler"
    own_rows = ()
    own_columns = ()
    couplings = (  # three diagonal entries of r, the nine of the angle block
        np.concatenate([np.arange(3), np.repeat(np.arange(3, 6), 3)]),
        np.concatenate([np.arange(3), np.tile(np.arange(3, 6), 3)]),
    )
    turning = (3, 4, 5)

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        *,
        reference: RotationLike | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        self._given_reference = reference
        pose: dict[str, Any] = {"position": position, "orientation": orientation, "velocity": velocity}
        super().__init__(name, mass, inertia, **pose, angular_velocity=angular_velocity)
        del self._given_reference

    @property
    def turn_length(self) -> float:
        """A radius of gyration."""
        return gyration(self.inertia, self.mass)

    def row_weights(self) -> list[float]:
        """None: it has no rows of its own."""
        return []

    def constants(self) -> dict[str, Any]:
        """The reference rotation."""
        return {"reference": self.reference.tolist()}

    def record(self, site: Any) -> tuple[Any, ...]:
        """Its row in the table of its kind."""
        inertia, reference = tuple(np.ravel(self.inertia)), tuple(np.ravel(self.reference))
        return (site.first, site.marker, site.marker_count, self.mass, inertia, reference)

    def _orient(self, p: tuple[float, ...], w: np.ndarray | None) -> None:
        A = np.array(rotation(p)).reshape(3, 3)
        given = self._given_reference
        self.reference = np.eye(3)
        if given is not None:
            quaternion = as_quaternion(given, f"{self.label}, reference:")
            self.reference = np.array(rotation(quaternion)).reshape(3, 3)
        elif math.hypot(A[0, 2], A[1, 2]) < CLOSE:
            self.reference = A @ np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))  # A Rx(-90 degrees)
        self.q0[3:] = angles_of(self.reference.T @ A)
        if abs(math.sin(self.q0[4])) < SINGULAR:
            raise ModelError(
                f"{self.label} starts where its Euler angles are singular: z of the body along z of the reference. "
                "Leave reference out, so that one is chosen, or use a RigidBody."
            )
        if w is not None:
            self.v0[3:] = np.linalg.solve(self.axes(), w)

    def axes(self) -> np.ndarray:
        """The axes of the three angles in ground at the initial configuration, as columns (3, 3): w = axes @ rates."""
        phi, theta, _ = self.q0[3:].tolist()
        columns = (
            (0.0, 0.0, 1.0),
            (math.cos(phi), math.sin(phi), 0.0),
            (math.sin(phi) * math.sin(theta), -math.cos(phi) * math.sin(theta), math.cos(theta)),
        )
        return self.reference @ np.array(columns).T

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return None  # angles do not add up

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3,) and body axes (3, 3) in ground at the initial configuration."""
        turned = self.reference
        for k, angle in enumerate(self.q0[3:].tolist()):
            c, s = math.cos(angle), math.sin(angle)
            about_z = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
            about_x = ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
            turned = turned @ np.array(about_x if k == 1 else about_z)
        return self.q0[:3].copy(), turned

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """q = (r, 3-1-3 Euler angles), after a constant reference rotation."""
        R = np.asarray(constants["reference"], float)
        (cf, ct, cp), (sf, st, sp), zero = np.cos(q[:, 3:].T), np.sin(q[:, 3:].T), np.zeros(len(q))
        A = as_matrices(
            (
                cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st,
                sf * cp + cf * ct * sp, -sf * sp + cf * ct * cp, -cf * st,
                st * sp, st * cp, ct,
            )
        )  # fmt: skip
        b = np.stack([np.stack([zero, zero, zero + 1.0]), np.stack([cf, sf, zero]), np.stack([sf * st, -cf * st, ct])])
        b = np.einsum("ij,cjt->cti", R, b)  # axes of the three angles, (3, n_t, 3)
        w, w_dot = (np.einsum("cti,tc->ti", b, x[:, 3:]) for x in (v, a))
        for k, c in ((0, 1), (0, 2), (1, 2)):  # an angle carries the later axes along
            w_dot = w_dot + np.cross(b[k], b[c]) * (v[:, 3 + k] * v[:, 3 + c])[:, None]
        return Kinematics(q[:, :3], v[:, :3], a[:, :3], R @ A, w, w_dot)

    def explain(self, stage: str, t: float) -> str:
        """What is wrong where its kernels fail."""
        return (
            f"{self.label} has come to where its Euler angles are singular (|sin(theta)| < {SINGULAR:g}) at "
            f"t = {t:.6g}. Use a RigidBody, or give a reference whose z axis stays away from z of the body."
        )


def angles_of(A: np.ndarray) -> tuple[float, float, float]:
    """3-1-3 Euler angles of a rotation matrix, theta between 0 and pi; phi = 0 where they are singular."""
    theta = math.atan2(math.hypot(A[0, 2], A[1, 2]), A[2, 2])
    if math.sin(theta) < SINGULAR:
        return 0.0, theta, math.atan2(A[1, 0], A[0, 0])
    return math.atan2(A[0, 2], -A[1, 2]), theta, math.atan2(A[2, 0], A[2, 1])
