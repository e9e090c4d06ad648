"""What a body in natural coordinates consists of: affine forms of its coordinates, and rigid parts made of them.

A form is a dict: coordinate number -> coefficient, with the constant under -1. A product of two forms is a dict of
pairs (i, j), i <= j, in the same way. Forms describe points, axes, rows and energies; no numbers are hidden elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import hypot
from typing import Any

import numpy as np

from index3.bodies.marker import as_number, check_name
from index3.bodies.rigid_data import as_inertia
from index3.errors import ModelError

Form = dict[int, float]
Product = dict[tuple[int, int], float]
Vector = tuple[Form, Form, Form]

# Length of a part beyond which its squares are no numbers any more [m].
HUGE = 1e100
# Sine of the angle to the span of other edges below which an edge counts as lying in it.
FLAT = 1e-9
# What a plate may have of its mass outside its plane, relative to the largest second moment: data with nine digits.
THIN = 1e-9


def weighted(*pairs: tuple[float, Form]) -> Form:
    """The sum of forms times numbers."""
    total: Form = defaultdict(float)
    for factor, form in pairs:
        for i, x in form.items():
            total[i] += factor * x
    return {i: x for i, x in total.items() if x != 0.0}


def combine(*pairs: tuple[float, Vector]) -> Vector:
    """The sum of vectors of forms times numbers."""
    x, y, z = (weighted(*((factor, vector[k]) for factor, vector in pairs)) for k in range(3))
    return x, y, z


def dot(first: Vector, second: Vector) -> Product:
    """The dot product of two vectors of forms."""
    total: Product = defaultdict(float)
    for a, b in zip(first, second, strict=True):
        for i, x in a.items():
            for j, y in b.items():
                total[min(i, j), max(i, j)] += x * y
    return {pair: x for pair, x in total.items() if x != 0.0}


def linear(form: Form) -> Product:
    """A form as a product with the constant 1."""
    return {(-1, i): x for i, x in form.items()}


def constant(vector: Any) -> Vector:
    """A vector that does not depend on coordinates."""
    x, y, z = ({-1: float(c)} if c else {} for c in vector)
    return x, y, z


@dataclass(frozen=True, eq=False)
class Member:
    """A point, unit vector or number of a linkage; `form` is where it is, `value` where it starts.

    A fixed point has a constant form.
    """

    name: str
    type: str  # "point", "fixed", "vector" or "scalar"
    value: np.ndarray
    form: Vector


@dataclass
class Row:
    """An own row: its label and c + sum of coefficients times q_i q_j."""

    label: str
    terms: Product

    @property
    def columns(self) -> tuple[int, ...]:
        """The coordinates it depends on."""
        return tuple(sorted({i for pair in self.terms for i in pair if i >= 0}))

    def gradient(self, q: np.ndarray) -> np.ndarray:
        """Its derivatives by all coordinates."""
        x, g = np.append(q, 1.0), np.zeros(len(q) + 1)
        for (i, j), value in self.terms.items():
            g[i] += value * x[j]
            g[j] += value * x[i]
        return g[:-1]


@dataclass
class Frame:
    """A point and three axes as forms, and where they start; axes that never turn are not `oriented`."""

    point: Vector
    axes: tuple[Vector, Vector, Vector]
    r: np.ndarray
    A: np.ndarray
    oriented: bool

    def matrix(self, size: int) -> list[list[float]]:
        """Coefficients (12, size + 1) of the point and, row by row, of the axes; the constants are the last column."""
        lines = [*self.point, *(axis[c] for c in range(3) for axis in self.axes)]
        return [[form.get(k, 0.0) for k in (*range(size), -1)] for form in lines]


UNIT = (constant((1, 0, 0)), constant((0, 1, 0)), constant((0, 0, 1)))


@dataclass
class Edges:
    """The independent edges of a rigid part: forms, initial values as columns, names; from an origin."""

    origin: Member
    names: list[str]
    forms: list[Vector]
    values: np.ndarray

    def within(self, vector: np.ndarray) -> np.ndarray:
        """A vector of the part as a combination of its edges."""
        return np.linalg.lstsq(self.values, vector, rcond=None)[0]

    def form(self, vector: np.ndarray) -> Vector:
        """A vector that moves with the part."""
        return combine(*zip(self.within(vector).tolist(), self.forms, strict=True))

    def point(self, point: np.ndarray) -> Vector:
        """A point that moves with the part."""
        return combine((1.0, self.origin.form), (1.0, self.form(point - self.origin.value)))


@dataclass
class Structure:
    """Rows, mass and frames of a body in natural coordinates, and the names and initial values of the coordinates."""

    planar: bool = False
    names: list[str] = field(default_factory=list)
    q0: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    energy: Product = field(default_factory=dict)  # v^T M v
    moment: Vector = ({}, {}, {})  # first moment of mass
    frames: dict[str, Frame] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.q0)

    def add_member(self, name: str, type_: str, value: np.ndarray) -> Member:
        """Give a point, vector or number its coordinates; a unit vector its row."""
        if type_ == "fixed":
            return Member(name, type_, value, constant(value))
        count = 1 if type_ == "scalar" else 2 if self.planar else 3
        first = self.size
        suffixes = [""] if type_ == "scalar" else [f"_{axis}" for axis in "xyz"[:count]]
        self.names += [name + suffix for suffix in suffixes]
        self.q0 += value[:count].tolist()
        x, y, z = ({first + k: 1.0} if k < count else {} for k in range(3))
        member = Member(name, type_, value, (x, y, z))
        if type_ == "vector":
            self.add_row(f"{name}.{name}", halved(dot(member.form, member.form)))
        return member

    def add_row(self, label: str, terms: Product) -> None:
        """Add a row that holds at the start, unless it is there already or depends on no coordinate."""
        x = np.append(self.q0, 1.0)
        terms = {pair: value for pair, value in terms.items() if pair != (-1, -1)}
        terms[-1, -1] = -sum(value * x[i] * x[j] for (i, j), value in terms.items())
        row = Row(label, terms)
        if row.columns and label not in {other.label for other in self.rows}:
            self.rows.append(row)

    def mass_matrix(self) -> np.ndarray:
        """The mass matrix (size, size)."""
        M = np.zeros((self.size, self.size))
        for (i, j), value in self.energy.items():
            if i >= 0:
                M[i, j] += 0.5 * value
                M[j, i] += 0.5 * value
        return M

    def edges(self, members: list[Member], owner: str) -> Edges:
        """The largest set of independent edges between the members of a part, the best conditioned first."""
        points = [member for member in members if member.type in ("point", "fixed")]
        if not points:
            raise ModelError(f"{owner} has no point. Give at least one point among its members.")
        origin, candidates = points[0], []
        for member in members:
            if member.type == "vector":
                candidates.append((member.name, member.form, member.value))
            elif member is not origin:
                edge = combine((1.0, member.form), (-1.0, origin.form))
                candidates.append(("-".join(sorted((origin.name, member.name))), edge, member.value - origin.value))
        sizes = [hypot(*value) for _, _, value in candidates]
        if 0.0 in sizes:
            raise ModelError(f"{owner} has two members at one place. Give each point once.")
        if max(sizes, default=0.0) > HUGE:
            raise ModelError(f"{owner} is {max(sizes):.3g} m long. Check its points and their units.")
        if self.planar and candidates:  # an edge and the same turned by a right angle
            name, form, value = candidates[sizes.index(max(sizes))]
            across: Vector = (weighted((-1.0, form[1])), form[0], {})
            return Edges(origin, [name], [form, across], np.array([value, turned(value)]).T)
        kept: list[int] = []
        rest = np.array([value / size for (_, _, value), size in zip(candidates, sizes, strict=True)]).reshape(-1, 3)
        while len(kept) < min(3, len(candidates)):
            sines = np.linalg.norm(rest, axis=1)
            best = int(np.argmax(sines > (1.0 - 1e-9) * sines.max()))  # the first of the longest
            if sines[best] < FLAT:
                break
            kept.append(best)
            direction = rest[best] / sines[best]
            rest = rest - np.outer(rest @ direction, direction)
        chosen = [candidates[k] for k in sorted(kept)]
        values = np.array([value for _, _, value in chosen]).reshape(-1, 3).T
        return Edges(origin, [name for name, _, _ in chosen], [form for _, form, _ in chosen], values)

    def hold_together(self, edges: Edges, members: list[Member], part: str) -> None:
        """The rows of a rigid part: products of its edges, and all other members as combinations of them."""
        count = len(edges.names)
        for a in range(count):
            for b in range(a, count):
                product = dot(edges.forms[a], edges.forms[b])
                self.add_row(f"{edges.names[a]}.{edges.names[b]}", halved(product) if a == b else product)
        for member in members:
            if member is edges.origin or member.name in edges.names:
                continue
            if "-".join(sorted((edges.origin.name, member.name))) in edges.names:
                continue
            bound = edges.form(member.value) if member.type == "vector" else edges.point(member.value)
            rest = combine((1.0, member.form), (-1.0, bound))
            if member.type == "vector":  # of unit length by this
                self.rows = [row for row in self.rows if row.label != f"{member.name}.{member.name}"]
            for k in range(2 if self.planar else 3):
                self.add_row(f"{part}:{member.name}.{'xyz'[k]}", linear(rest[k]))

    def add_mass(self, edges: Edges, mass: float, inertia: np.ndarray, centre: np.ndarray, A: np.ndarray) -> None:
        """The mass of a part with a full set of edges: kinetic energy m c'.c' + sum of S_kl a_k'.a_l'."""
        point = edges.point(centre)
        self._add_energy(mass, dot(point, point))
        self.moment = combine((1.0, self.moment), (mass, point))
        second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        axes = [edges.form(A[:, k]) for k in range(3)]
        for k in range(3):
            for n in range(3):
                self._add_energy(second[k, n], dot(axes[k], axes[n]))

    def _add_energy(self, factor: float, product: Product) -> None:
        for pair, value in product.items():
            if min(pair) >= 0:
                self.energy[pair] = self.energy.get(pair, 0.0) + factor * value


def turned(vector: np.ndarray) -> np.ndarray:
    """A vector of the plane turned by a right angle."""
    return np.array((-vector[1], vector[0], 0.0))


def halved(product: Product) -> Product:
    """Half of a product, so that the gradient of a square is the vector itself."""
    return {pair: 0.5 * value for pair, value in product.items()}


def in_its_plane(edges: Edges, inertia: np.ndarray, owner: str) -> np.ndarray:
    """The inertia as second moments along the edges' span, as a (3, 3) inertia again, for bars and plates.

    What lies across the span is not seen by points within it. A plate that turns about two fixed points is the
    exception: the rotation of what lies across is that of the plate.
    """
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    span = np.linalg.svd(edges.values, full_matrices=True)[0]
    inside = span[:, : edges.values.shape[1]]
    across = span[:, edges.values.shape[1] :]
    outside = across.T @ second @ across
    moving = [k for k, form in enumerate(edges.forms) if any(i >= 0 for component in form for i in component)]
    if len(edges.forms) == 2 and len(moving) == 1:  # hinged
        hinge = edges.values[:, 1 - moving[0]]
        arm = inside @ (inside.T @ edges.values[:, moving[0]])
        arm -= hinge * (hinge @ arm) / (hinge @ hinge)
        arm /= np.linalg.norm(arm)
        return as_tensor(float(arm @ second @ arm + outside[0, 0]) * np.outer(arm, arm))
    if np.abs(across.T @ second).max() > THIN * np.abs(second).max():
        raise ModelError(
            f"{owner} has mass outside the span of its members, whose rotation they do not determine. Add a unit "
            "vector or a "
            "point across, or give the inertia of a thin bar or plate."
        )
    return as_tensor(inside @ inside.T @ second @ inside @ inside.T)


def as_tensor(second: np.ndarray) -> np.ndarray:
    """The inertia of second moments."""
    return np.trace(second) * np.eye(3) - second


def checked_mass(mass: Any, inertia: Any, owner: str, planar: bool) -> tuple[float, np.ndarray]:
    """A mass that is not negative, and an inertia (3, 3)."""
    number = as_number(mass, owner, "mass")
    if number < 0.0:
        raise ModelError(f"{owner} has mass {number}. Give a positive number, or 0 for a part without mass.")
    if planar:
        moment = as_number(inertia, owner, "inertia")
        if moment < 0.0:
            raise ModelError(f"{owner} has inertia {moment}. Give a positive number, or 0.")
        return number, np.diag((0.5 * moment, 0.5 * moment, moment))
    return number, as_inertia(inertia, owner)


def check_new(name: Any, taken: Any, word: str) -> str:
    """A name that is not taken."""
    check_name(name, word)
    if name in taken:
        raise ModelError(f"{word} has the name '{name}' twice. Give every point, vector, number and part its own name.")
    return str(name)
