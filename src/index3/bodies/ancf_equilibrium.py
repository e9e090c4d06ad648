"""Section forces of beams in absolute nodal coordinates from the equilibrium of their elements.

Strains of a cubic are good in a few places of an element and poor in others, and a clamp holds them at its node. Forces
are taken from what the equations of motion balance instead. With the mass m of an element, its elastic and damping
forces f and its weight w, R = m a + f - w (less what forces and joints between its nodes give) is what its two nodes
put on it: the force R_r and the moment sum of gradients x R_gradient at each end, on the face of the section there.
These are exact resultants of all that acts beyond, because translations and rotations of an element are among the
motions of its coordinates. From the ends, loads are summed up to the section along the element: docs/theory/ancf.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from index3.bodies.ancf_histories import place
from index3.bodies.ancf_shapes import gauss

Constants = Mapping[str, Any]
POINTS = 6
"""Gauss points along a piece of an element: products of two cubics, and of the stretch of a curved axis."""


class Load(NamedTuple):
    """What a force or joint puts on a marker of the beam: histories (n_t, 3) in ground axes."""

    position: Sequence[float]
    part: str | None
    force: np.ndarray
    torque: np.ndarray
    piece: Sequence[float] | None = None
    """Of a load that is spread: where its piece of the element begins and ends, which of its Gauss points this force
    stands for, and of how many."""


class MarkerCoefficients(NamedTuple):
    """A marker of an element: coefficients of its point and of the vectors that it turns with."""

    element: int
    point: np.ndarray
    along: np.ndarray
    across: np.ndarray | None


PlacedLoad = tuple[MarkerCoefficients, float, Load]
"""A load, its marker, and where that is along the element."""


@dataclass(frozen=True)
class Interior:
    """What the elements of a kind of beam are made of; vectors have three components."""

    rule: Callable[[Constants, int], Any]  # of an element: its mass, moment and points
    elastic: Callable[[Any, np.ndarray, np.ndarray, float], np.ndarray]  # (rule, vectors, rates, lag) -> forces
    material: Callable[[Constants, int, Any, np.ndarray], tuple[np.ndarray, np.ndarray]]
    """An element, its rule, places along it -> coefficients (n, points, vectors) of its material, mass per length."""
    axis: Callable[[float, float], np.ndarray]  # length of an element, place -> coefficients of the axis there
    marker: Callable[[Constants, Any, str | None], MarkerCoefficients]


class Histories(NamedTuple):
    """Vectors of one element with their rates and accelerations, (n_t, vectors, 3) each."""

    c: np.ndarray
    v: np.ndarray
    a: np.ndarray


def section_wrench(kind: Interior, constants: Constants, x: Histories, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the axis (n_t, n_s, 3), ground axes, on the sections at s, on the face towards the end.

    `x` are histories of all vectors of the beam. Where something acts at a node, s there is the section beyond it.
    """
    lengths = np.asarray(constants["lengths"], float)
    element, along = place(lengths, s)
    force, moment = np.zeros((2, len(x.c), len(s), 3))
    loads = loads_by_element(kind, constants)
    width = x.c.shape[1] // (len(lengths) + 1)
    for n in np.unique(element).tolist():
        own = Histories(*(y[:, width * n : width * (n + 2)] for y in x))
        here = np.flatnonzero(element == n)
        rule = kind.rule(constants, n)
        ends = end_wrenches(kind, constants, rule, own, loads.get(n, ()))
        for k in here.tolist():
            force[:, k], moment[:, k] = inside(kind, constants, (n, rule), own, ends, loads.get(n, ()), along[k])
    return force, moment


def loads_by_element(kind: Interior, constants: Constants) -> dict[int, list[PlacedLoad]]:
    """Loads on markers between nodes, each with its place along its element; those at nodes act on no element."""
    lengths = np.asarray(constants["lengths"], float)
    found: dict[int, list[PlacedLoad]] = {}
    known = constants.get("loads")
    for entry in known() if known else ():
        n, x = (value.item() for value in place(lengths, float(entry[0][0])))
        if 0.0 < x < lengths[n]:
            (force, torque), piece = entry[2](), entry[3]  # worked out only if it is needed
            if piece is not None:
                first = float(lengths[:n].sum())
                piece = (piece[0] - first, piece[1] - first, *piece[2:])
            load = Load(entry[0], entry[1], force, torque, piece)
            found.setdefault(n, []).append((kind.marker(constants, load.position, load.part), x, load))
    return found


def weight(constants: Constants) -> np.ndarray:
    """The acceleration of gravity."""
    return np.asarray(constants.get("gravity", (0.0, 0.0, 0.0)), float)


def end_wrenches(
    kind: Interior,
    constants: Constants,
    rule: Any,
    x: Histories,
    loads: Sequence[PlacedLoad],
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Force and moment on the sections at the start and at the end of an element."""
    lag, drag = constants["damping"]
    R = np.einsum("ij,tjk->tik", rule.mass, x.a + drag * x.v) + kind.elastic(rule, x.c, x.v, lag)
    R -= rule.moment[:, None] * weight(constants)
    for marker, _, load in loads:
        R -= element_forces(marker, x.c, load)
    half = R.shape[1] // 2
    turns = np.cross(x.c, R)
    return (-R[:, 0], -turns[:, 1:half].sum(1)), (R[:, half], turns[:, half + 1 :].sum(1))


def element_forces(marker: MarkerCoefficients, c: np.ndarray, load: Load) -> np.ndarray:
    """What a wrench on a marker is on the vectors of its element: torque . w, with w of docs/theory/ancf3d.md."""
    force = marker.point[:, None] * load.force[:, None]
    a = np.einsum("i,tik->tk", marker.along, c)
    size = (a * a).sum(-1, keepdims=True)
    by_a = np.cross(load.torque, a) / size
    if marker.across is not None:
        b = np.einsum("i,tik->tk", marker.across, c)
        n = np.cross(a, b)
        about = (load.torque * a).sum(-1, keepdims=True) / (n * n).sum(-1, keepdims=True) * n
        by_a = by_a - (a * b).sum(-1, keepdims=True) / size * about
        force = force + marker.across[:, None] * about[:, None]
    return force + marker.along[:, None] * by_a[:, None]


def inside(
    kind: Interior, constants: Constants, own: tuple[int, Any], x: Histories, ends: Any, loads: Any, at: float
) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment at one place of an element, summed from both of its ends.

    Both sums are equal where all that acts is known; otherwise the nearer end counts more.
    """
    length, half = float(constants["lengths"][own[0]]), x.c.shape[1] // 2
    r = np.einsum("i,tik->tk", kind.axis(length, at), x.c)
    share, sums = at / length, []
    for (force, moment), node, (low, high), sign in (
        (ends[0], 0, (0.0, at), -1.0),
        (ends[1], half, (at, length), 1.0),
    ):
        F, M = force.copy(), moment + np.cross(x.c[:, node] - r, force)
        if high > low:
            body_force, body_moment = body_loads(kind, constants, own, x, r, (low, high))
            F, M = F + sign * body_force, M + sign * body_moment
        for marker, where, load in loads:
            if load.piece is not None:
                spread_force, spread_moment = spread_load(kind, length, load, x, r, (low, high))
                F, M = F + sign * spread_force, M + sign * spread_moment
            elif (where <= at) == (sign < 0.0):
                arm = np.einsum("i,tik->tk", marker.point, x.c) - r
                F, M = F + sign * load.force, M + sign * (np.cross(arm, load.force) + load.torque)
        sums.append((F, M))
    (one, turn), (two, other) = sums
    return (1.0 - share) * one + share * two, (1.0 - share) * turn + share * other


def spread_load(
    kind: Interior, length: float, load: Load, x: Histories, r: np.ndarray, part: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """What a part of an element gets of a load that is spread: force, and moment about r.

    The load per length is the polynomial through those at the Gauss points of its piece; this is the share of one.
    """
    begin, end, k, count = load.piece  # type: ignore[misc]  # the caller has looked
    low, high = max(begin, part[0]), min(end, part[1])
    if high <= low:
        return np.zeros_like(load.force), np.zeros_like(load.force)
    nodes, weights = gauss(int(count), end - begin)
    places, w = gauss(POINTS, high - low)
    others = np.delete(nodes, int(k))
    share = np.prod((low + places - begin)[:, None] - others, axis=1) / np.prod(nodes[int(k)] - others)
    share = w * share / weights[int(k)]
    rows = np.stack([kind.axis(length, low + place) for place in places])
    arm = np.einsum("p,pi,tik->tk", share, rows, x.c) - share.sum() * r
    return share.sum() * load.force, np.cross(arm, load.force)


def body_loads(
    kind: Interior, constants: Constants, own: tuple[int, Any], x: Histories, r: np.ndarray, piece: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Weight less inertia, and drag, of a piece of an element: force, and moment about r."""
    places, w = gauss(POINTS, piece[1] - piece[0])
    rows, mass = kind.material(constants, *own, piece[0] + places)
    mass = w[:, None] * mass
    position, rate, acceleration = (np.einsum("pmi,tik->tpmk", rows, y) for y in x)
    p = mass[..., None] * (weight(constants) - acceleration - constants["damping"][1] * rate)
    moment = np.cross(position - r[:, None, None], p)
    return p.sum((1, 2)), moment.sum((1, 2))
