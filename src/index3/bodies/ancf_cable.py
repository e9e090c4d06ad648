"""Cables in absolute nodal coordinates: lines in space that stretch and bend but know no torsion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from index3.bodies import body_fields
from index3.bodies.ancf_curve import line_rows
from index3.bodies.ancf_shapes import cubic, gauss
from index3.bodies.ancf_space import Rule, SpaceLine
from index3.bodies.ancf_space_elements import LINE
from index3.bodies.ancf_space_histories import (
    Constants,
    along_line,
    curvature_of,
    gauss_history,
    rest_of,
    simpson_history,
)
from index3.bodies.ancf_words import as_poisson, solid_section
from index3.bodies.marker import Marker, as_number, as_positive, as_vector, frame
from index3.errors import ModelError
from index3.registry import register

STRETCH_POINTS = np.array((0.0, 0.5, 1.0)), np.array((1.0, 4.0, 1.0)) / 6.0
"""Where an element measures its stretch, and weights: a node has one unknown for each of these, so nothing locks."""
BEND_POINTS = 3


def points(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Material points of the line in ground (n_t, n_s, 3) [m]."""
    return along_line(constants, q, s)


def axial_force(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Tension (n_t, n_s) [N], interpolated between the ends and the middle of each element, where it is measured."""
    return float(constants["axial_stiffness"]) * simpson_history(constants, q, s, stretch)


def stretch(constants: Constants, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """|r_x| / |r_x| at rest - 1."""
    size, rest = (np.linalg.norm(along_line(constants, x, s, 1), axis=-1) for x in (q, rest_of(constants)))
    return size / rest - 1.0


def curvature(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """How fast the tangent turns along the undeformed line (n_t, n_s) [1/m], never negative."""
    return gauss_history(constants, q, s, curvature_of)


def moment(constants: Constants, q: np.ndarray, v: np.ndarray, a: np.ndarray, s: Any) -> np.ndarray:
    """Bending moment (n_t, n_s) [N m]: bending stiffness times the change of the curvature."""
    now, rest = (gauss_history(constants, x, s, curvature_of) for x in (q, rest_of(constants)))
    return float(constants["bending_stiffness"]) * (now - rest)


@register
class AncfCable(SpaceLine):
    """A rope, cable or wire in space: it stretches and bends as far as it likes, alike in all directions across.

    It is a line: it has a tangent but no axes across it, so it does not resist torsion, and a torque about the tangent
    does nothing.

    Parameters
    ----------
    name : str
    start, end : ends of the undeformed line in ground [m]: three numbers, or two with z = 0
    points : in place of start and end: points on the undeformed line, which is a smooth curve through them
    height, width : of a rectangular section [m]; it bends as width height^3 / 12 says, in all directions
    radius : of a round section [m], in place of height and width
    elements : int, along the line; a node has six coordinates: r and r_x
    young, density : Young's modulus [N/m^2], density [kg/m^3]
    poisson : Poisson's ratio, as of other beams; a line has no use for it
    bending_stiffness : [N m^2], in place of that of a solid section; 0 for a chain
    damping : Kelvin and Voigt's time constant [s], or Rayleigh's (per mass [1/s], per stiffness [s])
    velocity, angular_velocity : of the whole cable at the start [m/s, rad/s], about its centre of mass

    Attributes `mass`, `length` [m], `lengths` of the elements, and those of `Body`.

    Raises
    ------
    ModelError : names the cable; for numbers that no cable has.

    >>> rope = AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.01, elements=4, young=1e9, density=1000)
    >>> rope.size, round(rope.mass, 6)
    (30, 0.314159)
    """

    kernels = "index3.bodies.ancf_cable_kernels"
    kind_name = "ancf cable"
    fields = body_fields.ANCF_CABLE
    line = True
    node_vectors = 2
    node_words = ("x", "y", "z", "rx_x", "rx_y", "rx_z")
    quantities: ClassVar[Mapping[str, Callable[..., Any]]] = MappingProxyType(
        {"points": points, "axial_force": axial_force, "curvature": curvature, "moment": moment}
    )

    def __init__(
        self,
        name: str,
        start: Any = None,
        end: Any = None,
        *,
        points: Any = None,
        height: float | None = None,
        width: float | None = None,
        radius: float | None = None,
        elements: int,
        young: float,
        poisson: float = 0.0,
        density: float,
        bending_stiffness: float | None = None,
        damping: Any = 0.0,
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        area, (second, _), self.reach = solid_section(owner, height, width, radius)
        as_poisson(poisson, owner)
        modulus = as_positive(young, owner, "young")
        self.line_density = as_positive(density, owner, "density") * area
        self.axial_stiffness, self.bending_stiffness = modulus * area, modulus * second
        if bending_stiffness is not None:
            self.bending_stiffness = as_number(bending_stiffness, owner, "bending_stiffness")
            if self.bending_stiffness < 0.0:
                raise ModelError(f"{owner} has bending_stiffness {bending_stiffness}. Give zero or a positive number.")
        self._lay(start, end, points, elements, damping)
        self._start(velocity, angular_velocity)

    def _gradients(self, places: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        return np.stack([places, tangents], axis=1)

    def _rule(self, vectors: np.ndarray, length: float) -> Rule:
        x, weight = gauss(6, length)
        shapes = cubic(x, length)
        weight = self.line_density * weight * np.linalg.norm(cubic(x, length, 1) @ vectors, axis=1)
        mass, moment = np.einsum("p,pi,pj->ij", weight, shapes, shapes), weight @ shapes
        at, share = STRETCH_POINTS
        a = cubic(at * length, length, 1)
        rest = np.ones(len(at)) if self.straight else np.linalg.norm(a @ vectors, axis=1)
        stretches = [(tuple(a[k]), self.axial_stiffness * length * share[k] / rest[k], rest[k]) for k in range(len(at))]
        x, weight = gauss(BEND_POINTS, length)
        a, b = cubic(x, length, 1), cubic(x, length, 2)
        u, w = a @ vectors, b @ vectors
        kappa = np.linalg.norm(np.cross(u, w), axis=1) / (u * u).sum(1) * (0.0 if self.straight else 1.0)
        weight = self.bending_stiffness * weight / np.linalg.norm(u, axis=1)  # per length of the undeformed line
        bends = [(tuple(a[k]), tuple(b[k]), weight[k], kappa[k]) for k in range(BEND_POINTS)]
        return Rule(mass, moment, (stretches, bends))

    def constants(self) -> dict[str, Any]:
        """The undeformed line and its stiffness."""
        stiffness = {"axial_stiffness": self.axial_stiffness, "bending_stiffness": self.bending_stiffness}
        return super().constants() | stiffness

    @classmethod
    def marker_rows(
        cls, constants: Constants, position: Any, word: str | None
    ) -> tuple[int, int, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Element, code of the frame, coefficients of point and tangent, and axes at rest: z nearest to ground z."""
        lengths, nodes = np.asarray(constants["lengths"], float), np.asarray(constants["nodes"], float)
        element, point = line_rows(lengths, float(position[0]))
        _, along = line_rows(lengths, float(position[0]), 1)
        tangent = along @ nodes[element : element + 2].reshape(4, 3)
        if word is not None:  # "arm u": displaced by u r_x
            point = point + float(word.split()[1]) * along
        return int(element), LINE, (point, along, np.zeros(4)), frame(None, tangent, cls.__name__).T.ravel()

    def marker(self, s: Any = None, *, x: Any = None, z: Any = None, name: Any = None) -> Marker:
        """A marker at s [m] along the undeformed line, by default in its middle; its x axis is along the tangent.

        Its y and z axes are carried along by the smallest turn of the tangent. They are for the eye: a joint that needs
        them is refused. With directions x, z the axes are others, given in that frame.
        """
        if np.ndim(s) == 1:  # a position as model files have it
            s = as_vector(s, f"Marker of {self.label}", "position")[0]
        return self._placed((self.place_of(s), 0.0, 0.0), z, x, name, None)

    def is_oriented(self, part: str | None) -> bool:
        """Never: it has a tangent, but no axes across it."""
        return False

    def has_part(self, part: str | None) -> bool:
        """Whether a marker may sit on it: none, or an arm along the slope."""
        words = (part or "").split()
        return not words or (len(words) == 2 and words[0] == "arm")

    def clamp_arms(self, marker: Marker) -> list[np.ndarray]:
        """r_x at a marker."""
        element, _, (_, along, _), _ = self.marker_rows(
            {"lengths": self.lengths, "nodes": self.nodes}, marker.position, None
        )
        return [along @ self.q0.reshape(-1, 3)[2 * element : 2 * element + 4]]

    def marker_beside(self, marker: Marker, arm: np.ndarray) -> Marker:
        """A marker displaced by the part of an `arm` (in ground, at the start) along the slope."""
        (along,) = self.clamp_arms(marker)
        return Marker.placed(self, marker.position, marker.axes, None, f"arm {float(arm @ along / (along @ along))!r}")

    def check_model(self, model: Any) -> None:
        """Raise if the cable starts with a slope that has no direction."""
        still = np.flatnonzero(np.linalg.norm(self.q0.reshape(-1, 2, 3)[:, 1], axis=1) == 0.0)
        if still.size:
            raise ModelError(f"{self.label} starts without a slope at node {still[0]}. Give q0 with r_x of length 1.")
