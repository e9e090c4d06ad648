"""Frames of straight round tubes, as structures of beams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.marker import as_number, as_positive
from index3.bodies.modal_matrices import as_nodes, node_number
from index3.bodies.pairs import distance
from index3.errors import ModelError
from index3.flexible.beams import Material, Section, assembled
from index3.flexible.finite_elements import FiniteElements

OWNER = "The frame"


class Frame(FiniteElements):
    """A frame of tubes; `along(first, second)` are the nodes of a member, from one end to the other."""

    chains: dict[tuple[int, int], list[int]]

    def along(self, first: Any, second: Any) -> list[int]:
        """Numbers of the nodes of a member, its ends included, from `first` to `second`."""
        ends = self.node(first), self.node(second)
        if ends in self.chains:
            return self.chains[ends]
        if ends[::-1] in self.chains:
            return self.chains[ends[::-1]][::-1]
        raise ModelError(f"{OWNER} has no member between {first!r} and {second!r}. Give the ends of one.")


def frame(
    nodes: Any,
    members: Any,
    *,
    outer_diameter: Any,
    wall: Any = None,
    young: float,
    poisson: float = 0.3,
    density: float,
    elements: int = 5,
) -> Frame:
    """A frame of straight round tubes, rigidly joined at nodes; `.body(name, interface=...)` makes it a body.

    Parameters
    ----------
    nodes : places of the junctions [m], or names and their places
    members : the two junctions of every tube, by number or name
    outer_diameter, wall : of all tubes, or one for each member [m]; without a wall they are solid
    young, poisson, density : of the material [Pa, 1, kg/m^3]
    elements : number of elements along each member

    The junctions are the first nodes of the structure; those between them follow, member by member.

    >>> square = frame({"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 1, 0), "D": (0, 1, 0)},
    ...                ["AB", "BC", "CD", "DA"], outer_diameter=0.02, wall=0.002, young=2.1e11, density=7850.0)
    >>> len(square.nodes), square.along("A", "B")
    (20, [0, 4, 5, 6, 7, 1])
    """
    places, names = as_nodes(nodes, OWNER)
    pairs = as_members(members, places, names)
    count = as_elements(elements)
    E, rho, nu = as_positive(young, OWNER, "young"), as_positive(density, OWNER, "density"), as_ratio(poisson)
    both = sizes(outer_diameter, len(pairs), "outer diameter"), sizes(wall, len(pairs), "wall")
    sections = [tube(*size) for size in zip(*both, strict=True)]
    chains: dict[tuple[int, int], list[int]] = {}
    inner = [places]
    number = len(places)
    for first, second in pairs:
        middle = list(range(number, number + count - 1))
        chains[first, second] = [first, *middle, second]
        share = np.arange(1, count)[:, None] / count
        inner.append((1.0 - share) * places[first] + share * places[second])
        number += count - 1
    whole = np.concatenate(inner)
    lines = np.array([ends for chain in chains.values() for ends in pairwise(chain)])
    along = [section for section in sections for _ in range(count)]
    M, K, stress = assembled(whole, lines, along, Material(E, E / (2.0 * (1.0 + nu)), rho))
    structure = Frame(M, K, whole, names, lines, stress=stress, radius=max(section.radius for section in sections))
    structure.chains = chains
    return structure


def as_members(members: Any, places: np.ndarray, names: Mapping[str, int]) -> list[tuple[int, int]]:
    """The ends of every member, none of them of no length or given twice."""
    pairs: list[tuple[int, int]] = []
    if not isinstance(members, Iterable):
        raise ModelError(f"{OWNER} has members {short(members)}. Give the two nodes that each joins.")
    for member in members:
        try:
            first, second = (node_number(end, places, names, OWNER) for end in member)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{OWNER} has the member {short(member)}. Give the two nodes that it joins.") from None
        if distance(places[first], places[second]) == 0.0:
            raise ModelError(f"{OWNER} has the member {short(member)} of no length. Give two different places.")
        if (first, second) in pairs or (second, first) in pairs:
            raise ModelError(f"{OWNER} has the member {short(member)} twice. Give it once.")
        pairs.append((first, second))
    if not pairs:
        raise ModelError(f"{OWNER} has no members. Give the two nodes that each joins.")
    loose = sorted(set(range(len(places))) - {end for pair in pairs for end in pair})
    if loose:
        raise ModelError(f"{OWNER} has nodes at no member: {short(loose)}. Leave them out.")
    return pairs


def as_elements(elements: Any) -> int:
    """A number of elements."""
    if isinstance(elements, bool) or not isinstance(elements, int | np.integer) or elements < 1:
        raise ModelError(f"{OWNER} has {short(elements)} elements along each member. Give a whole number, at least 1.")
    return int(elements)


def as_ratio(poisson: Any) -> float:
    """Poisson's ratio."""
    nu = as_number(poisson, OWNER, "poisson")
    if not -1.0 < nu <= 0.5:
        raise ModelError(f"{OWNER} has poisson {nu}. Give a ratio above -1 and at most 0.5.")
    return nu


def sizes(value: Any, count: int, what: str) -> list[float | None]:
    """One number for each member."""
    several = list(value) if isinstance(value, Sequence | np.ndarray) else [value] * count
    if len(several) != count:
        raise ModelError(
            f"{OWNER} has {len(several)} numbers of {what} for {count} members. Give one, or one for each."
        )
    return [None if x is None else as_positive(x, OWNER, what) for x in several]


def tube(diameter: float | None, wall: float | None) -> Section:
    """The section of a tube."""
    if diameter is None:
        raise ModelError(f"{OWNER} has no outer diameter. Give it.")
    if wall is not None and 2.0 * wall > diameter:
        raise ModelError(f"{OWNER} has tubes of {diameter} m with walls of {wall} m. Give a wall up to the radius.")
    r = 0.5 * diameter
    hole = 0.0 if wall is None else r - wall
    return Section(np.pi * (r**2 - hole**2), 0.25 * np.pi * (r**4 - hole**4), r)
