"""Spatial beams in absolute nodal coordinates: position and three gradients at every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.algebra.frames import carried_axes
from index3.bodies import ancf_beam3d_loads as loads
from index3.bodies import body_fields
from index3.bodies.ancf_beam3d_rules import make_rule
from index3.bodies.ancf_beam3d_shapes import check_gradients, marker_rows
from index3.bodies.ancf_drawing import circle, rectangle, surface
from index3.bodies.ancf_histories import FRAMES
from index3.bodies.ancf_space import Rule, SpaceLine
from index3.bodies.ancf_space_histories import Constants
from index3.bodies.ancf_words import as_poisson, solid_section
from index3.bodies.marker import Marker, as_choice, as_direction, as_number, as_positive, as_vector, frame
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.user_types import ArrayLike

HELD = 2.0
"""The factor of shear that holds the section across the axis where none is given: it leaves half of the shear of a
section without warping. More leaves less, but makes high frequencies higher and equilibria harder to find."""


@register
class AncfBeam3D(SpaceLine):
    """A beam in space: large bending in two directions, torsion and stretching.

    Parameters
    ----------
    name : str
    start, end : ends of the undeformed axis in ground [m]: three numbers, or two with z = 0
    points : in place of start and end: points on the undeformed axis, which is a smooth curve through them
    height, width : of a rectangular section [m], along its y and z axes
    radius : of a round section [m], in place of height and width
    y : direction in ground of the section's y axis at the start of the beam; by default across ground z
    elements : int, along the axis; a node has twelve coordinates: r, r_x, r_y and r_z
    young, poisson, density : Young's modulus [N/m^2], Poisson's ratio, density [kg/m^3]
    torsion_constant : [m^4], by default the polar moment of the section, which does not warp
    shear_factor : of a thick beam, 5/6 of a rectangle; by default the section stays across the axis, as in a thin one
    damping : Kelvin and Voigt's time constant [s], or Rayleigh's (per mass [1/s], per stiffness [s])
    velocity, angular_velocity : of the whole beam at the start [m/s, rad/s], about its centre of mass

    Attributes `mass`, `length` [m], `lengths` of the elements, and those of `Body`.

    Raises
    ------
    ModelError : names the beam; for numbers that no beam has.

    >>> beam = AncfBeam3D("beam", (0, 0, 0), (1, 0, 0), height=0.02, width=0.01, elements=4, young=7e10, poisson=0.3,
    ...                   density=2700)
    >>> beam.size, round(beam.mass, 6)
    (60, 0.54)
    """

    kernels = "index3.bodies.ancf_beam3d_kernels"
    kind_name = "ancf beam 3d"
    fields = body_fields.ANCF_BEAM3D
    node_vectors = 4
    node_words = tuple(f"{vector}{c}" for vector in ("", "rx_", "ry_", "rz_") for c in "xyz")
    _word = "section"
    quantities: ClassVar[Mapping[str, Callable[..., Any]]] = MappingProxyType(
        {
            "points": loads.points,
            "axial_force": loads.axial_force,
            "shear_force": loads.shear_force,
            "moment": loads.moment,
            "curvature": loads.curvature,
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
        y: ArrayLike | None = None,
        elements: int,
        young: float,
        poisson: float = 0.0,
        density: float,
        torsion_constant: float | None = None,
        shear_factor: float | None = None,
        damping: ArrayLike = 0.0,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        self.area, (about_z, about_y), self.reach = solid_section(owner, height, width, radius)
        self.outline = circle(self.reach) if width is None else rectangle(float(height or 0.0), float(width))
        self.half = (self.reach, self.reach if width is None else 0.5 * float(width))
        modulus, factor = as_positive(young, owner, "young"), HELD
        shear = 0.5 * modulus / (1.0 + as_poisson(poisson, owner))
        if shear_factor is not None:
            factor = as_positive(shear_factor, owner, "shear_factor")
        polar = about_y + about_z
        if torsion_constant is not None:
            polar = as_positive(torsion_constant, owner, "torsion_constant")
        self.density = as_positive(density, owner, "density")
        self.second_moments = (about_z, about_y)  # of the height and of the width
        self.stiffness: dict[str, Any] = {
            "axial": modulus * self.area,
            "distortion": shear * self.area,
            "shear": factor * shear * self.area,
            "bending": (modulus * about_z, modulus * about_y),
            "torsion": shear * polar,
        }
        self._y = None if y is None else as_direction(y, owner, "y")
        self._lay(start, end, points, elements, damping)
        if not self.straight:
            check_gradients(owner, self.nodes, self.lengths, self.outline)
        self._start(velocity, angular_velocity)

    def _gradients(self, places: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """r, r_x and the section's axes, carried from node to node by the smallest turn of the tangent."""
        if self._y is None:
            axes = frame(None, tangents[0], self.label).T
        else:
            across = np.cross(tangents[0], self._y)
            if np.linalg.norm(across) < 1e-9:
                raise ModelError(f"{self.label} has y along its axis. Give a direction across it.")
            axes = frame(across, tangents[0], self.label).T
        nodes = []
        for r, tangent in zip(places, tangents, strict=True):
            axes = np.array(carried_axes(*map(tuple, axes), tuple(tangent)))
            nodes.append([r, *axes])
        return np.array(nodes)

    def _rule(self, vectors: np.ndarray, length: float) -> Rule:
        return make_rule(self.solid, vectors, length)

    @property
    def solid(self) -> dict[str, Any]:
        """Section and material in plain numbers."""
        inertia = {"density": self.density, "area": self.area, "second_moments": self.second_moments, "half": self.half}
        return {"stiffness": self.stiffness, "straight": self.straight} | inertia

    def constants(self) -> dict[str, Any]:
        """The undeformed beam and its stiffness."""
        return super().constants() | self.solid

    @classmethod
    def marker_rows(
        cls, constants: Constants, position: Sequence[float] | np.ndarray, word: str | None
    ) -> tuple[int, int, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
        """Element, code of the frame, and coefficients of point and gradients; a part "arm u v w" displaces the point
        by u r_x + v r_y + w r_z."""
        return marker_rows(constants, position, word)

    def marker(
        self,
        s: float | ArrayLike | None = None,
        y: float = 0.0,
        z: float | ArrayLike | None = None,
        *,
        frame: str = "section",
        x: ArrayLike | None = None,
        name: str | None = None,
    ) -> Marker:
        """A marker at s [m] along the undeformed axis, by default in its middle, and y, z [m] along r_y, r_z from it.

        Its y axis is along r_y and its x axis across r_y and r_z; with `frame="tangent"` its x axis is along r_x and z
        across r_x and r_y. With directions x, z (three numbers each) its axes are others, given in that frame.
        """
        owner = f"Marker of {self.label}"
        word = as_choice(frame, owner, "frame", FRAMES)
        depth, z = (0.0 if z is None else z, None) if z is None or np.ndim(z) == 0 else (0.0, z)
        if s is not None and np.ndim(s) == 1:  # a position as model files have it
            s, y, depth = as_vector(s, owner, "position")
        across = as_number(y, owner, "y"), as_number(depth, owner, "z")
        for what, value, half in zip("yz", across, self.half, strict=True):
            if abs(value) > half * (1.0 + 1e-9):
                raise ModelError(
                    f"{owner} has {what} = {value:.12g}. Give {what} within the section, up to {half:.12g}."
                )
        return self._placed((self.place_of(s), *across), z, x, name, word)

    def has_part(self, part: str | None) -> bool:
        """Whether markers can turn with it: "section", "tangent", or on an arm of the section."""
        words = (part or "section").split()
        return (len(words) == 1 and words[0] in FRAMES) or (len(words) == 4 and words[0] == "arm")

    def clamp_arms(self, marker: Marker) -> list[np.ndarray]:
        """r_x, r_y and r_z at a marker."""
        element, _, (_, a, b), _ = self.marker_rows({"lengths": self.lengths}, marker.position, "tangent")
        third = self.marker_rows({"lengths": self.lengths}, marker.position, "section")[2][2]
        vectors = self.q0.reshape(-1, 3)[self.node_vectors * element :][: 2 * self.node_vectors]
        return [row @ vectors for row in (a, b, third)]

    def marker_beside(self, marker: Marker, arm: np.ndarray) -> Marker:
        """A marker displaced by the combination of the gradients that is `arm` (in ground, at the start)."""
        u, v, w = np.linalg.solve(np.stack(self.clamp_arms(marker), axis=1), arm).tolist()
        return Marker.placed(self, marker.position, marker.axes, None, f"arm {u!r} {v!r} {w!r}")

    def check_model(self, model: Model) -> None:
        """Raise if the beam starts inside out."""
        nodes = self.q0.reshape(-1, 4, 3)
        turned = np.flatnonzero(np.linalg.det(nodes[:, 1:]) <= 0.0)
        if turned.size:
            raise ModelError(
                f"{self.label} starts with inverted gradients at node {turned[0]}. "
                "Give q0 with r_x, r_y, r_z right-handed."
            )

    def drawing(self) -> dict[str, Any]:
        """Its surface, coloured by stress."""
        return surface(self.lengths, self.outline, self._at_rest)

    def _at_rest(self, nodes: np.ndarray) -> np.ndarray:
        """Material points of the undeformed beam in its frame."""
        constants, q = self.constants(), self.nodes.reshape(1, -1)
        frame = self.frame_motion(constants, None, q, 0.0 * q, 0.0 * q)
        return (loads.points(constants, q, q, q, *nodes.T)[0] - frame.position[0]) @ frame.rotation[0]

    @classmethod
    def section_places(cls, constants: Constants, sections: Sequence[Mapping[str, Any]], q: np.ndarray) -> np.ndarray:
        """Material points, all at once."""
        return loads.points(constants, q, q, q, *np.array([section["position"] for section in sections]).T)
