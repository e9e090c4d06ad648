"""Cables in absolute nodal coordinates: lines in space that stretch and bend but know no torsion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.bodies import ancf_cable_loads as loads
from index3.bodies import body_fields
from index3.bodies.ancf_curve import line_rows
from index3.bodies.ancf_space import Rule, SpaceLine
from index3.bodies.ancf_space_elements import LINE
from index3.bodies.ancf_space_histories import Constants
from index3.bodies.ancf_words import as_poisson, solid_section
from index3.bodies.marker import Marker, as_number, as_positive, as_vector, frame
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.user_types import ArrayLike


@register
class AncfCable(SpaceLine):
    """A rope, cable or wire in space: large bending, the same in all transverse directions, and stretching.

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
        {
            "points": loads.points,
            "axial_force": loads.axial_force,
            "shear_force": loads.shear_force,
            "curvature": loads.curvature,
            "moment": loads.moment,
            "stress": loads.stress,
            "von_mises": loads.von_mises,
        }
    )

    def __init__(
        self,
        name: str,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        *,
        points: ArrayLike | None = None,
        height: float | None = None,
        width: float | None = None,
        radius: float | None = None,
        elements: int,
        young: float,
        poisson: float = 0.0,
        density: float,
        bending_stiffness: float | None = None,
        damping: ArrayLike = 0.0,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        self.area, (self.second_moment, _), self.reach = solid_section(owner, height, width, radius)
        as_poisson(poisson, owner)
        modulus = as_positive(young, owner, "young")
        self.line_density = as_positive(density, owner, "density") * self.area
        self.axial_stiffness, self.bending_stiffness = modulus * self.area, modulus * self.second_moment
        if bending_stiffness is not None:
            self.bending_stiffness = as_number(bending_stiffness, owner, "bending_stiffness")
            if self.bending_stiffness < 0.0:
                raise ModelError(f"{owner} has bending_stiffness {bending_stiffness}. Give zero or a positive number.")
        self._lay(start, end, points, elements, damping)
        self._start(velocity, angular_velocity)

    def _gradients(self, places: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        return np.stack([places, tangents], axis=1)

    def _rule(self, vectors: np.ndarray, length: float) -> Rule:
        return loads.make_rule(self._law() | {"straight": self.straight}, vectors, length)

    def _law(self) -> dict[str, float]:
        """What the line is made of."""
        words = ("axial_stiffness", "bending_stiffness", "line_density", "area", "second_moment", "reach")
        return {word: getattr(self, word) for word in words}

    def constants(self) -> dict[str, Any]:
        """The undeformed line and what it is made of."""
        return super().constants() | self._law()

    @classmethod
    def marker_rows(
        cls, constants: Constants, position: Sequence[float] | np.ndarray, word: str | None
    ) -> tuple[int, int, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Element, code of the frame, coefficients of point and tangent, and axes at rest: z nearest to ground z."""
        lengths, nodes = np.asarray(constants["lengths"], float), np.asarray(constants["nodes"], float)
        element, point = line_rows(lengths, float(position[0]))
        _, along = line_rows(lengths, float(position[0]), 1)
        tangent = along @ nodes[element : element + 2].reshape(4, 3)
        if word is not None:  # "arm u": displaced by u r_x
            point = point + float(word.split()[1]) * along
        return int(element), LINE, (point, along, np.zeros(4)), frame(None, tangent, cls.__name__).T.ravel()

    def marker(
        self, s: float | ArrayLike | None = None, *, x: ArrayLike | None = None, z: ArrayLike | None = None,
        name: str | None = None,
    ) -> Marker:  # fmt: skip
        """A marker at s [m] along the undeformed line, by default in its middle; its x axis is along the tangent.

        Its y and z axes are carried along by the smallest turn of the tangent. They are for the eye: a joint that needs
        them is refused. With directions x, z the axes are others, given in that frame.
        """
        if s is not None and np.ndim(s) == 1:  # a position as model files have it
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

    def check_model(self, model: Model) -> None:
        """Raise if the cable starts with a slope that has no direction."""
        still = np.flatnonzero(np.linalg.norm(self.q0.reshape(-1, 2, 3)[:, 1], axis=1) == 0.0)
        if still.size:
            raise ModelError(f"{self.label} starts without a slope at node {still[0]}. Give q0 with r_x of length 1.")

    def drawing(self) -> dict[str, Any]:
        """Bars along the line, coloured by the stress at their surface."""
        places = np.linspace(0.0, self.length, 4 * len(self.lengths) + 1)
        constants, q = self.constants(), self.nodes.reshape(1, -1)
        frame = self.frame_motion(constants, None, q, 0.0 * q, 0.0 * q)
        rest = (loads.points(constants, q, q, q, places)[0] - frame.position[0]) @ frame.rotation[0]
        return {
            "type": "faces",
            "nodes": [{"position": [s, 0.0, 0.0], "axes": np.eye(3).tolist()} for s in places.tolist()],
            "members": [[k, k + 1] for k in range(len(places) - 1)],
            "faces": [],
            "radius": self.reach,
            "rest": rest.tolist(),
            "values": ["von_mises", [[s, self.reach] for s in places.tolist()]],
        }

    @classmethod
    def section_places(cls, constants: Constants, sections: Sequence[Mapping[str, Any]], q: np.ndarray) -> np.ndarray:
        """Points of the line, all at once."""
        return loads.points(constants, q, q, q, [section["position"][0] for section in sections])
