"""The system of a model in which few numbers have changed since it was compiled: only their records are made anew."""

from __future__ import annotations

from typing import Any

from index3.system.kinds import BodyRecords
from index3.system.structure import body_part
from index3.system.system import System


def note_inertias(system: System) -> None:
    """Find out once whether a body of a system, whose numbers are those of the system at present, lacks inertia, and
    lengths; and for every body its number, the table that has its record, and its place there."""
    _ = system.lengths
    system.found["lacks inertia"] = any(body.lacks_inertia for body in system.bodies)
    own = {id(one): (table, k) for _, elements, table in reversed(system.stages) for k, one in enumerate(elements)}
    elements = [one for _, many, _ in system.stages for one in many]
    system.found["weighed"] = {id(one.weighs) for one in elements if hasattr(one, "weighs")}
    numbers = enumerate(system.bodies)
    system.found["places of bodies"] = {id(body): (k, *own.get(id(body), (None, 0))) for k, body in numbers}


def renumbered(system: System, bodies: list[Any], spare: System | None = None) -> System | None:
    """The system with the present masses and inertias of these bodies; None if more follows from them.

    All else is that of `system`, which stays as it is; `note_inertias` was asked before the bodies changed. `spare` is
    one that was made so before, for the same bodies, and that nobody asks any more: its records are written over.
    """
    if system.found["lacks inertia"] or any(body.lacks_inertia for body in bodies):
        return None  # the rows of their joints have weights, too
    if any(id(body) in system.found["weighed"] for body in bodies):
        return None  # forces that follow from their masses
    places, tables = system.found["places of bodies"], {} if spare is None else spare.own_tables
    weights: dict[int, float] = {}
    for body in bodies:
        number, old, place = places[id(body)]
        if spare is None and system.structure.parts[1 + number] != body_part(body, False):
            return None  # `compile_model` tells why
        if not isinstance(old, BodyRecords):
            return None
        if id(old) not in tables:
            tables[id(old)] = old.sharing([old.records])
        site = old.sites[place]
        tables[id(old)][old.records][place] = body.record(site)
        own = body.row_weights()
        if own:
            weights.update(enumerate(own, site.row))
    other = system.with_tables(tables) if spare is None else spare
    if spare is None:
        other.altered, other.lengths = (system, bodies), system.lengths.copy()
    if weights:
        other.augmentation = sorted((dict(system.augmentation) | weights).items())
    other.solvers, other.described = {}, None
    for body in bodies:
        system.put_length(other.lengths, places[id(body)][0], body)
    return other
