"""The undeformed planar beam: its nodes, and of every element the mass and the points of the elastic law.

Equations: docs/theory/ancf.md. Strains are relative to the undeformed beam, which may be curved: with T the gradient of
the undeformed position in the axes of its section, the deformation gradient is (r_x, r_y) T^-1, so the coefficients of
its columns are those of r_x and r_y times T^-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from index3.bodies.ancf_shapes import gauss, planar

SHEAR_FACTOR = 5.0 / 6.0
"""Of a rectangular section, for the law "elastic-line"."""
ALONG, ACROSS = 5, 3
"""Gauss points of the continuum law along and across an element: its energy has the degrees 8 and 4."""
BEND_POINTS = 3
"""Gauss points of the curvature along an element of the law "elastic-line"."""


@dataclass(frozen=True)
class Section:
    """Section and material: Lame's moduli `both` and `shear` of the plane, `beam` that of the elastic line."""

    height: float
    width: float
    density: float
    law: str
    both: float
    shear: float
    beam: float

    @classmethod
    def of(
        cls, height: float, width: float, density: float, young: float, poisson: float, law: str, plane: str
    ) -> Section:
        """From Young's modulus and Poisson's ratio."""
        shear = 0.5 * young / (1.0 + poisson)
        squared = 1.0 - poisson**2
        both = young * poisson / squared
        if plane == "strain":
            both = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
        return cls(height, width, density, law, both, shear, young / squared if plane == "strain" else young)

    @property
    def area(self) -> float:
        """Of the section [m^2]."""
        return self.height * self.width

    @property
    def second_moment(self) -> float:
        """Of the section about z [m^4]."""
        return self.width * self.height**3 / 12.0


@dataclass
class Rule:
    """Mass and points of an element, as `index3.bodies.ancf_elements` has them."""

    mass: np.ndarray  # (6, 6)
    moment: np.ndarray  # (6,)
    density: float  # per volume between the nodes as they are interpolated
    stretches: list[tuple] = field(default_factory=list)
    bends: list[tuple] = field(default_factory=list)


def in_section_axes(r_x: np.ndarray, r_y: np.ndarray) -> np.ndarray:
    """T (..., 2, 2): columns r_x and r_y along the normal of the section and along r_y."""
    across = r_y / np.hypot(r_y[..., 0], r_y[..., 1])[..., None]
    axes = np.stack([np.stack([across[..., 1], -across[..., 0]], -1), across], -2)
    return axes @ np.stack([r_x, r_y], -1)


def gradients(vectors: np.ndarray, length: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """T at points of an element with the undeformed `vectors` (6, 2)."""
    return in_section_axes(planar(x, y, length, 1, 0) @ vectors, planar(x, y, length, 0, 1) @ vectors)


def stretch_rows(
    vectors: np.ndarray, length: float, x: np.ndarray, y: np.ndarray, straight: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients a, b (..., 6) of the columns of the deformation gradient, and the volume factor."""
    rows = np.stack([planar(x, y, length, 1, 0), planar(x, y, length, 0, 1)], -1)
    if straight:
        return rows[..., 0], rows[..., 1], np.ones(rows.shape[:-2])
    T = gradients(vectors, length, x, y)
    rows = rows @ np.linalg.inv(T)
    return rows[..., 0], rows[..., 1], np.linalg.det(T)


def make_rule(section: Section, vectors: np.ndarray, length: float, straight: bool) -> Rule:
    """Mass and points of one element."""
    x, w_x = gauss(ALONG, length)
    y, w_y = gauss(ACROSS, section.height)
    x, y = np.meshgrid(x, y - 0.5 * section.height, indexing="ij")
    a, b, volume = stretch_rows(vectors, length, x, y, straight)
    weight = section.width * np.outer(w_x, w_y) * volume
    shapes = planar(x, y, length)
    line = section.density * section.area * length / weight.sum()  # between nodes a curved one is thinner by chords
    rule = Rule(
        line * np.einsum("pq,pqi,pqj->ij", weight, shapes, shapes), line * np.einsum("pq,pqi->i", weight, shapes), line
    )
    if section.law == "continuum":
        both, shear = section.both, section.shear
        moduli = np.array((both + 2 * shear, both, both + 2 * shear, shear))
        for place in np.ndindex(weight.shape):
            rule.stretches.append((tuple(a[place]), tuple(b[place]), *(weight[place] * moduli)))
    else:
        line_points(rule, section, vectors, length, straight)
    return rule


def line_points(rule: Rule, section: Section, vectors: np.ndarray, length: float, straight: bool) -> None:
    """The points of the law "elastic-line", on the axis.

    Stretch along: ends and middle, by Simpson's weights, as many conditions as a long beam has unknowns to meet them,
    so that it does not lock. Stretch across and shear: the nodes, where r_y has unit length also while it turns;
    between them it is shorter by the chord. Curvature: Gauss points.
    """
    stiffness, shear = section.beam * section.area, SHEAR_FACTOR * section.shear * section.area
    middle, nodes = (
        (np.array((0.5 * length,)), np.array((length,))),
        (np.array((0.0, length)), np.full(2, 0.5 * length)),
    )
    for (x, weight), moduli in (
        (middle, (2.0 / 3.0 * stiffness, 0.0, 0.0, 0.0)),
        (nodes, (stiffness / 3.0, 0.0, stiffness, shear)),
    ):
        a, b, _ = stretch_rows(vectors, length, x, np.zeros(len(x)), straight)
        w = weight * axis_stretch(vectors, length, x)
        rule.stretches += [(tuple(a[k]), tuple(b[k]), *(w[k] * np.array(moduli))) for k in range(len(x))]
    x, weight = gauss(BEND_POINTS, length)
    a, b = planar(x, 0.0, length, 1), planar(x, 0.0, length, 2)
    rest = curvature(a @ vectors, b @ vectors) * (0.0 if straight else 1.0)
    w = section.beam * section.second_moment * weight / axis_stretch(vectors, length, x)  # per length of the axis
    rule.bends += [(tuple(a[k]), tuple(b[k]), w[k], rest[k]) for k in range(len(x))]


def axis_stretch(vectors: np.ndarray, length: float, x: np.ndarray) -> np.ndarray:
    """|r_x| of the undeformed axis: 1 but for the error of the cubic of a curved one."""
    r_x = planar(x, 0.0, length, 1) @ vectors
    return np.hypot(r_x[..., 0], r_x[..., 1])


def curvature(r_x: np.ndarray, r_xx: np.ndarray) -> np.ndarray:
    """The rate at which the direction of r_x turns."""
    return (r_x[..., 0] * r_xx[..., 1] - r_x[..., 1] * r_xx[..., 0]) / (r_x**2).sum(axis=-1)
