"""The system of a model in which few numbers have changed since it was compiled: only their records are made anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from index3.model.model import Model
from index3.system.kinds import BodyRecords
from index3.system.structure import body_part
from index3.system.system import System


def only_records(model: Model, changes: Mapping[str, Any]) -> list[Any] | None:
    """The bodies that changes such as {"rod.mass": 2.0} alter in nothing but their records; None if there is more."""
    found = {}
    for key in changes:
        name, _, field = key.partition(".") if isinstance(key, str) else ("", "", "")
        body = model.bodies.get(name)
        if body is None or field not in vars(type(body)).get("of_record", ()):
            return None
        found[name] = body
    return list(found.values())


def note_inertias(system: System) -> None:
    """Find out once whether a body of a system, whose numbers are those of the system at present, lacks inertia, and
    lengths; and for every body its number, the table that has its record, and its place there."""
    _ = system.lengths
    system.found["lacks inertia"] = any(body.lacks_inertia for body in system.bodies)
    own = {id(one): (table, k) for _, elements, table in reversed(system.stages) for k, one in enumerate(elements)}
    numbers = enumerate(system.bodies)
    system.found["places of bodies"] = {id(body): (k, *own.get(id(body), (None, 0))) for k, body in numbers}


def renumbered(system: System, bodies: list[Any]) -> System | None:
    """The system with the present masses and inertias of these bodies; None if more follows from them.

    All else is that of `system`, which stays as it is; `note_inertias` was asked before the bodies changed.
    """
    if system.found["lacks inertia"] or any(body.lacks_inertia for body in bodies):
        return None  # the rows of their joints have weights, too
    tables: dict[int, Any] = {}
    places = system.found["places of bodies"]
    weights = dict(system.augmentation)
    for body in bodies:
        number, old, place = places[id(body)]
        if system.structure.parts[1 + number] != body_part(body, False):
            return None  # `compile_model` tells why
        if not isinstance(old, BodyRecords):
            return None
        if id(old) not in tables:
            tables[id(old)] = old.sharing([old.records])
        site = old.sites[place]
        tables[id(old)][old.records][place] = body.record(site)
        weights.update(enumerate(body.row_weights(), site.row))
    other = system.with_tables(tables)
    other.augmentation, other.solvers, other.described = sorted(weights.items()), {}, None
    other.lengths = system.lengths.copy()
    for body in bodies:
        system.put_length(other.lengths, places[id(body)][0], body)
    other.altered = system, bodies
    return other
