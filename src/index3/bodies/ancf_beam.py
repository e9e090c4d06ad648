"""Planar, shear-deformable beams in absolute nodal coordinates: large rotations and deformations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.bodies import ancf_cholesky, ancf_histories, ancf_loads, body_fields
from index3.bodies.ancf_planar import PlanarLine
from index3.bodies.ancf_reference import make_rule
from index3.bodies.ancf_words import (
    as_count,
    as_damping,
    as_section,
    check_gradients,
    given_points,
    undeformed,
    warn_of_locking,
)
from index3.bodies.body import KINDS
from index3.bodies.marker import as_choice, as_number, as_vector
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.user_types import ArrayLike

LAWS, PLANES, COORDINATES = ("continuum", "elastic-line"), ("strain", "stress"), ("nodal", "cholesky")
NODE_NAMES = ("x", "y", "rx_x", "rx_y", "ry_x", "ry_y")


@register
class AncfBeam(PlanarLine):
    """A planar beam of rectangular section: large bending, stretching and shear.

    Parameters
    ----------
    name : str
    start, end : ends of the undeformed axis in ground [m]: two numbers, or three with equal z
    points : in place of start and end: points on the undeformed axis, which is a smooth curve through them
    height, width : of the section in the plane and across it [m]
    elements : int, along the axis; a node has six coordinates: r, r_x and r_y
    young, poisson, density : Young's modulus [N/m^2], Poisson's ratio, density [kg/m^3]
    law : "continuum", by the stress in every point, which locks where Poisson's ratio is not zero and where a thin beam
        is curved (a warning tells); or "elastic-line", by stretch, shear and curvature of the axis
    plane : "strain" or "stress"; by default "strain" for "continuum", "stress" for "elastic-line"
    damping : Kelvin and Voigt's time constant [s], or Rayleigh's (per mass [1/s], per stiffness [s])
    coordinates : "nodal", r, r_x and r_y of the nodes; or "cholesky", combinations of them by which the mass matrix is
        the identity: the same motion, with full matrices, for at most 50 elements
    gravity_across : "ignore" to leave out the part of the model's gravity across the plane, which is refused otherwise
    velocity, spin : of the beam at the start [m/s], about its centre of mass [rad/s]; zero if left out

    Attributes `mass`, `length` [m], `lengths` of the elements, and those of `Body`.

    Raises
    ------
    ModelError : names the beam; for numbers that no beam has.

    >>> beam = AncfBeam("beam", (0, 0), (0.4, 0), height=0.04, width=0.04, elements=2, young=2e7, poisson=0.3,
    ...                 density=7800)
    >>> beam.size, round(beam.mass, 9)
    (18, 4.992)
    """

    kernels = "index3.bodies.ancf_tables"
    kind_name = "ancf beam"
    fields = body_fields.ANCF_BEAM
    quantities: ClassVar[Mapping[str, Callable[..., np.ndarray]]] = MappingProxyType(
        {
            "points": ancf_histories.points,
            "axial_force": ancf_loads.axial_force,
            "shear_force": ancf_loads.shear_force,
            "moment": ancf_loads.moment,
            "curvature": ancf_loads.axis_curvature,
            "stress": ancf_loads.stress,
            "von_mises": ancf_loads.von_mises,
        }
    )

    def __init__(
        self,
        name: str,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        *,
        points: ArrayLike | None = None,
        height: float,
        width: float,
        elements: int,
        young: float,
        poisson: float,
        density: float,
        law: str = "continuum",
        plane: str | None = None,
        damping: ArrayLike = 0.0,
        coordinates: str = "nodal",
        gravity_across: str | None = None,
        velocity: ArrayLike | None = None,
        spin: float | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        self.law = as_choice(law, owner, "law", LAWS)
        usual = "strain" if law == "continuum" else "stress"
        self.plane = usual if plane is None else as_choice(plane, owner, "plane", PLANES)
        if gravity_across is not None and not (isinstance(gravity_across, str) and gravity_across == "ignore"):
            raise ModelError(f"{owner} has gravity_across {short(gravity_across)}. Give 'ignore', or leave it out.")
        self.gravity_across = gravity_across
        self.lag, self.drag = as_damping(damping, owner)
        self.conservative = self.lag == self.drag == 0.0
        self.section = as_section(owner, height, width, density, young, poisson, self.law, self.plane)
        ends = given_points(owner, start, end, points)
        self.height_in_ground = float(ends[0, 2])
        self.nodes, self.lengths, self.straight = undeformed(ends[:, :2], as_count(elements, owner, "elements"))
        if not self.straight:
            check_gradients(owner, self.nodes, self.lengths, self.section.height)
            if self.law == "continuum":
                warn_of_locking(owner, self.nodes, self.lengths, self.section.height)
        self.rules, self.rule_of = [], []
        for n, length in enumerate(self.lengths.tolist()):
            if n == 0 or not self.straight:
                vectors = self.nodes[n : n + 2].reshape(6, 2)
                self.rules.append(make_rule(self.section, vectors, length, self.straight))
            self.rule_of.append(len(self.rules) - 1)
        self.coordinates = as_choice(coordinates, owner, "coordinates", COORDINATES)
        self.factor: np.ndarray | None = None  # L of Cholesky coordinates
        self._number()
        moment = np.zeros(self.size // 2)
        for n, number in enumerate(self.rule_of):
            moment[3 * n : 3 * n + 6] += self.rules[number].moment
        self.mass = float(moment[::3].sum())
        self.centre = moment / self.mass
        self._start(velocity, spin)

    def _number(self) -> None:
        """Names, blocks and couplings of the coordinates, node by node."""
        count = len(self.lengths)
        if self.coordinates == "cholesky":
            ancf_cholesky.check_elements(self.label, count)
            self.kind, self.kernels = ancf_cholesky.KIND, ancf_cholesky.__name__  # type: ignore[misc]  # of the class
            self.factor = ancf_cholesky.factor([self.rules[number].mass for number in self.rule_of])
            self.size = self.translations = 6 * (count + 1)
            self.coordinate_names = tuple(f"p{n}" for n in range(self.size))
            self.turning, self.couplings = tuple(range(self.size)), full(self.size)
            return
        self.coordinate_names = tuple(f"{word}{n}" for n in range(count + 1) for word in NODE_NAMES)
        self.size = self.translations = 6 * (count + 1)
        self.turning = tuple(range(self.size))
        pairs = np.arange(12)
        first = 6 * np.arange(count)[:, None]
        self.couplings = (first + np.repeat(pairs, 12)).ravel(), (first + np.tile(pairs, 12)).ravel()

    def _start(self, velocity: Any, spin: float | None) -> None:
        """Coordinates and rates of the undeformed beam in rigid motion."""
        self.q0, self.v0 = self.nodes.ravel().copy(), np.zeros(self.size)
        self.velocity_given, self.angular_velocity_given = velocity is not None, spin is not None
        vectors, rates = self.q0.reshape(-1, 2), self.v0.reshape(-1, 2)
        if spin is not None:
            w = as_number(spin, self.label, "spin")
            arms = vectors - np.where(np.arange(len(vectors))[:, None] % 3 == 0, self.centre @ vectors, 0.0)
            rates[:] = w * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
        if velocity is not None:
            rates[::3] += as_vector(velocity, self.label, "velocity", 2)
        if self.factor is not None:
            self.q0, self.v0 = (ancf_cholesky.from_nodal(self.factor, x.reshape(-1, 2)) for x in (self.q0, self.v0))

    @property
    def blocks(self) -> list[range]:
        """One for each node; a single one of Cholesky coordinates."""
        return [range(k, k + 6) for k in range(0, self.size, 6)] if self.factor is None else [range(self.size)]

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        weights = np.tile([1.0, 0.0, 0.0], self.size // 6)  # of each node its point and two gradients
        if self.factor is not None:
            weights = self.factor.T @ weights
        return Places(np.arange(self.size).reshape(-1, 2), weights)

    def given_rates(self) -> np.ndarray:
        """All, if any were given."""
        return np.full(self.size, self.velocity_given or self.angular_velocity_given)

    def check_model(self, model: Model) -> None:
        """Raise if gravity acts across the plane, or if the beam starts inside out."""
        if model.gravity[2] != 0.0 and self.gravity_across is None:
            raise ModelError(
                f"{self.label} lies in ground x-y, and the gravity {model.gravity.tolist()} of model '{model.name}' "
                "acts across it. Give Model(gravity=...) in the plane, or the beam gravity_across='ignore'."
            )
        r_x, r_y = self.nodal[1::3], self.nodal[2::3]
        turned = np.flatnonzero(r_x[:, 0] * r_y[:, 1] <= r_x[:, 1] * r_y[:, 0])
        if turned.size:
            raise ModelError(
                f"{self.label} starts with inverted gradients at node {turned[0]}. Give q0 with r_y ahead of r_x."
            )

    def constants(self) -> dict[str, Any]:
        """The undeformed beam."""
        return {
            "coordinates": list(self.coordinate_names),
            "lengths": self.lengths.tolist(),
            "nodes": self.nodes.tolist(),
            "height": self.height_in_ground,
            "centre": self.centre.tolist(),
            "section": asdict(self.section),
            "straight": self.straight,
            "damping": [self.lag, self.drag],
        } | ({} if self.factor is None else {"cholesky": ancf_cholesky.bands(self.factor)})


def full(size: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of coordinates."""
    return np.repeat(np.arange(size), size), np.tile(np.arange(size), size)


KINDS[ancf_cholesky.KIND] = AncfBeam
