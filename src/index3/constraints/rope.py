"""A taut rope over points: |r_1 - r_0| + |r_2 - r_1| + ... = L, one row for any number of markers."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.vectors import absolute, add, dot, load, norm, outer, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.arms import arm
from index3.constraints.meeting import ends_met
from index3.constraints.rows import add_block, add_vector, clear_hessian, row_dtype, use_hessian
from index3.constraints.turning_angle import combine

ROPE = row_dtype(("length", "f8"), ("function", "i8"), ("first", "i8"))  # the first of its parts in SEEN
ROWS, SEEN = slots(rows=(ROPE, 1), seen=("f8", 2))  # of each part what `ends_met` remembers
MEMORY = (SEEN,)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record; where its parts begin is filled in later."""
    return (fields["length"], fields.get("function", -1), 0)


def fill(table: Table, fields: list[dict[str, Any]]) -> None:
    """Make room for what is remembered of the parts of all ropes, and say in the records where each rope's begin."""
    counts = [f["parts"] for f in fields]
    table[ROWS]["first"] = np.cumsum([0, *counts])[:-1]
    table[SEEN] = np.full((sum(counts), 8), np.nan)


@helper
def stretch_of_rope(T, row, k):
    """Length, direction (zero where there is none) and relative velocity of the part from marker k to the next."""
    members, r, V = view(T, s.GROUP_MARKERS), view(T, s.MARKER_R), view(T, s.MARKER_V)
    i, j = members[row.markers + k], members[row.markers + k + 1]
    d = sub(load(r, j), load(r, i))
    length = norm(d)
    u = scale(1.0 / length, d) if length > 0.0 else (0.0, 0.0, 0.0)
    return length, u, sub(load(V, j), load(V, i))


@kernel
def constraints(T, E):
    """PHI, its explicit derivatives by time, and ROW_G of every row; or the number of one whose points meet."""
    rows, members, r = view(E, ROWS), view(T, s.GROUP_MARKERS), view(T, s.MARKER_R)
    phi, phi_t, phi_tt, size = view(T, s.PHI), view(T, s.PHI_T), view(T, s.PHI_TT), view(T, s.PHI_SCALE)
    g, values, seen, t = view(T, s.ROW_G), view(T, s.FUNCTION_VALUES), view(E, SEEN), view(T, s.TIME)[0]
    stepping = view(T, s.STATUS)[s.STEPPING] == 1
    for e in range(rows.shape[0]):
        row, f, first, count = rows[e].row, rows[e].function, rows[e].gradient, rows[e].marker_count
        for k in range(6 * count):
            g[first + k] = 0.0
        total, terms = -rows[e].length, rows[e].length
        for k in range(count - 1):
            length, u, _ = stretch_of_rope(T, rows[e], k)
            if length == 0.0 or (stepping and ends_met(seen[rows[e].first + k], t, length, u)):
                return e + 1
            add_vector(g, first + 6 * k, u, -1.0)
            add_vector(g, first + 6 * k + 6, u, 1.0)
            total += length
            for end in range(2):
                at = members[rows[e].markers + k + end]
                terms += absolute(u, load(r, at)) + arm(T, at)
        if f >= 0:
            total -= values[f, 0]
            terms += abs(values[f, 0])
            phi_t[row] = -values[f, 1]
            phi_tt[row] = -values[f, 2]
        phi[row] = total
        size[row] = terms
    return OK


@kernel
def hessians(T, E):
    """Second and third derivatives of every row."""
    rows, h3 = view(E, ROWS), view(T, s.ROW_H3)
    for e in range(rows.shape[0]):
        first, count, hessian = rows[e].gradient, rows[e].marker_count, clear_hessian(T, rows[e].marker_count)
        for k in range(6 * count):
            h3[first + k] = 0.0
        for k in range(count - 1):
            length, u, v = stretch_of_rope(T, rows[e], k)
            if length == 0.0:
                return e + 1
            across = combine(1.0 / length, IDENTITY, -1.0 / length, outer(u, u))
            i, j = 2 * k, 2 * k + 2
            add_block(hessian, i, i, across, 1.0)
            add_block(hessian, j, j, across, 1.0)
            add_block(hessian, i, j, across, -1.0)
            add_block(hessian, j, i, across, -1.0)
            along = dot(u, v)  # the row's second rate is (v . v - (u . v)^2) / length
            slope = add(scale(3.0 * along * along - dot(v, v), u), scale(-2.0 * along, v))
            add_vector(h3, first + 6 * k, slope, -1.0 / (length * length))
            add_vector(h3, first + 6 * k + 6, slope, 1.0 / (length * length))
        use_hessian(T, rows, e, hessian)
    return OK


STAGES = {"constraints": constraints, "hessians": hessians}
