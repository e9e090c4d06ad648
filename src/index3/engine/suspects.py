"""Forces of the user whose derivatives mislead Newton's iteration: named where a run suffered."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.engine.segments import Segment
from index3.methods import run
from index3.system import evaluate, kinds
from index3.system.state import State

OFF = 0.1
"""Error of derivatives, as a part of the largest, from which the iteration may suffer: its rate is about that."""
NOISE = 1e-8
"""Differences are off by less than this part of the forces: rounding over a step of 1e-6, with a margin."""


def suspects(segment: Segment, failed: int) -> str:
    """Which forces have derivatives left out or wrong at the last accepted state, of a run with failed iterations."""
    state = segment.variant.state
    before = state.save()
    state.move(segment.run.t, segment.run[run.NEW_Q], segment.run[run.NEW_V])
    found = [] if state.run(evaluate.forces) else [*wrong_derivatives(state)]
    state.system.take_failures()
    state.restore(before)
    if not found:
        return ""
    return (
        f"Derivatives mislead Newton's iteration (failed iterations: {failed}): {'; '.join(found)}. Leave them to "
        "differences, the default, or give the right ones."
    )


def wrong_derivatives(state: State) -> list[str]:
    """What is wrong with the derivatives of each force of the user, by those that differences give."""
    places = {id(group.element): group for group in state.system.groups}
    noise, found = NOISE * float(np.max(np.abs(state[s.MARKER_F]), initial=0.0)), []
    for (stage, elements, _), table in zip(state.system.stages, state.tables, strict=True):
        if stage != "force_derivatives" or not hasattr(table, "by_differences"):
            continue
        given, right = derivatives(state, table), derivatives(state, table.by_differences())
        if given is None or right is None:
            continue
        for element in elements:
            group = places[id(element)]
            part = slice(group.stiffness, group.stiffness + (6 * len(group.markers)) ** 2)
            off = largest_error(given[:, part], right[:, part], noise)
            if off > OFF and not np.any(given[:, part]):
                found.append(f"{element.label} leaves its derivatives out")
            elif off > OFF:
                found.append(f"those of {element.label} are off by {100.0 * off:.3g} %")
    return found


def derivatives(state: State, table: Table) -> np.ndarray | None:
    """Minus the derivatives by pose and by velocity of all forces of a table; None if a function fails."""
    slots = (s.GROUP_K, s.GROUP_D)
    for slot in (*slots, s.GROUP_M):
        state[slot][:] = 0.0
    state[s.COEF][[s.C_K, s.C_D]] = 1.0  # both are asked for
    if kinds.module_of(table.kind).STAGES["force_derivatives"](state.handle, table.handle):
        return None
    return np.array([state[slot] for slot in slots])


def largest_error(given: np.ndarray, right: np.ndarray, noise: float) -> float:
    """Error of given derivatives by pose or by velocity, as a part of the largest; what is noise is none."""
    errors = np.max(np.abs(given - right), axis=1, initial=0.0)
    sizes = np.maximum(np.max(np.abs(right), axis=1, initial=0.0), noise)
    return float(np.max(np.where(errors > noise, errors / np.maximum(sizes, 1e-300), 0.0)))
