"""A planar slider-crank whose connecting rod bends."""

from __future__ import annotations

import math
from typing import Any

from index3.bodies.ancf_beam import AncfBeam
from index3.bodies.body import Body
from index3.bodies.marker import as_number
from index3.bodies.modal_body import ModalBody
from index3.bodies.planar_body import PlanarBody
from index3.errors import ModelError
from index3.files.expressions import Expression
from index3.flexible.frames import frame
from index3.joints.drives import Motion
from index3.joints.standard import Prismatic, Revolute, Spherical, Universal
from index3.model.model import Model

CRANK, ROD = 0.15, 0.3  # lengths [m]
CRANK_MASS, CRANK_INERTIA, SLIDER_MASS = 0.36, 0.002727, 0.075552  # inertia about the bearing [kg m^2]
SIDE = 0.008  # of the rod's square section [m]
STEEL: dict[str, Any] = {"young": 2e11, "poisson": 0.3, "density": 7870.0}
KINDS = ("modal", "ancf", "rigid")


def flexible_slider_crank(
    rod: str = "modal", *, speed: float = 150.0, elements: int = 8, modes: int = 4, damping: float = 0.0
) -> Model:
    """Return a planar slider-crank with a connecting rod that bends, its crank driven at constant speed.

    Parameters
    ----------
    rod : str
        "modal": a floating frame with modes; "ancf": a beam in absolute nodal coordinates; "rigid".
    speed : float
        Of the crank, rad/s.
    elements : int
        Along the rod.
    modes : int
        Those with both ends held that a modal rod keeps, beside six of static shapes. A short variant for tests has
        elements=2, modes=0.
    damping : float
        Ratio to critical damping of all modes of a modal rod.

    Raises
    ------
    ModelError
        If there is no such kind of rod, or a number is not finite or out of range.

    Notes
    -----
    Lengths, masses, section and speed are those of the slider-crank of B. Simeon, Modelling a flexible slider crank
    mechanism by a mixed system of DAEs and PDEs, Mathematical Modelling of Systems 2, 1996, which is a problem of the
    test set for IVP solvers: crank 0.15 m, rod 0.3 m of 8 mm x 8 mm steel (2e11 N/m^2, 7870 kg/m^3), no gravity, 150
    rad/s. The modal rod is a round tube with the area and the second moment of the square.

    `crank` turns about `A` at the origin, driven by the motion `drive`; `B` joins it to `rod`, `C` the rod to `slider`,
    which slides along x on `guide`. It starts stretched along x, the rod straight, with consistent velocities. Counts
    with the default modal rod: 23 coordinates, 13 constraints, 10 degrees of freedom, all of them elastic.

    Pinned at both ends the rod's first bending frequency is 203 Hz; its middle swings by 2 mm. A modal rod leaves out
    how the force along the rod, up to a seventh of Euler's load at the default speed, changes its bending stiffness; a
    beam in absolute nodal coordinates has it. Look at the middle of the rod, seen from the line between its ends, at
    the slider's position, and at `result["rod"].stress()` of a modal rod.

    >>> from index3 import library
    >>> library.flexible_slider_crank("ancf", elements=4).check().dof
    27
    """
    speed = as_number(speed, "flexible_slider_crank", "speed")
    damping = as_number(damping, "flexible_slider_crank", "damping")
    if rod not in KINDS:
        raise ModelError(f"flexible_slider_crank: rod is {rod!r}. Choose from {', '.join(KINDS)}.")
    speed = as_number(speed, "flexible_slider_crank", "speed")
    model = Model("flexible slider-crank", gravity=(0.0, 0.0, 0.0))
    about_centre = CRANK_INERTIA - CRANK_MASS * (0.5 * CRANK) ** 2
    state: dict[str, Any] = {"position": (0.5 * CRANK, 0.0), "velocity": (0.0, 0.5 * CRANK * speed), "spin": speed}
    crank = model.add(PlanarBody("crank", CRANK_MASS, about_centre, **state))
    link = model.add(make_rod(rod, speed, elements, modes, damping))
    slider = model.add(PlanarBody("slider", SLIDER_MASS, 0.0, position=(CRANK + ROD, 0.0)))
    A, B, C = (0.0, 0.0, 0.0), (CRANK, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0)
    bearing = model.add(Revolute("A", model.ground, crank, at=A, axis=(0.0, 0.0, 1.0)))
    if rod == "modal":  # free to turn in the plane and to tilt out of it, but not to spin
        model.add(Universal("B", crank, link, at=B, axes=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))))
    else:
        model.add(Spherical("B", crank, link, at=B))
    model.add(Spherical("C", link, slider, at=C))
    model.add(Prismatic("guide", model.ground, slider, at=C, axis=(1.0, 0.0, 0.0)))
    model.add(Motion("drive", bearing, Expression(f"{speed!r}*t")))
    return model


def make_rod(kind: str, speed: float, elements: int, modes: int, damping: float) -> Body:
    """The connecting rod along x, from the crank to the slider."""
    spin = -speed * CRANK / ROD
    rate = 0.5 * CRANK * speed  # of its middle: the slider is at rest
    if kind == "rigid":
        mass = STEEL["density"] * SIDE**2 * ROD
        pose: dict[str, Any] = {"position": (CRANK + 0.5 * ROD, 0.0), "velocity": (0.0, rate), "spin": spin}
        return PlanarBody("rod", mass, mass * ROD**2 / 12.0, **pose)
    if kind == "ancf":
        section: dict[str, Any] = {"height": SIDE, "width": SIDE, "elements": elements, "law": "elastic-line"}
        start, end = (CRANK, 0.0), (CRANK + ROD, 0.0)
        return AncfBeam("rod", start, end, **section, **STEEL, velocity=(0.0, rate), spin=spin)
    return modal_rod(elements, modes, damping, (0.0, rate, 0.0), (0.0, 0.0, spin))


def modal_rod(elements: int, modes: int, damping: float, velocity: Any, angular_velocity: Any) -> ModalBody:
    """A round tube with the area and the second moment of the square section, reduced to modes."""
    total = 16.0 * SIDE**2 / 12.0  # D^2 + d^2 = 16 I / A
    difference = 4.0 * SIDE**2 / math.pi  # D^2 - d^2
    outer, inner = math.sqrt(0.5 * (total + difference)), math.sqrt(0.5 * (total - difference))
    ends = {"B": (CRANK, 0.0, 0.0), "C": (CRANK + ROD, 0.0, 0.0)}
    tube: dict[str, Any] = {"outer_diameter": outer, "wall": 0.5 * (outer - inner), "elements": elements}
    structure = frame(ends, [("B", "C")], **tube, **STEEL)
    return structure.body(
        "rod", interface=["B", "C"], modes=modes, damping=damping, velocity=velocity, angular_velocity=angular_velocity
    )
