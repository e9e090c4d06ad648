"""Kernels of contact: forces at every point that touches, and their derivatives by pose and velocity of the markers.

Broad phase: a list of the pairs whose bounding spheres are closer than a margin, good until some marker has moved by
half of it. In the matrix pairs that are apart cost nothing: `force_derivatives` says of every group whether it is
(GROUP_APART).
"""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import add, add_at, cross, dot, load, load_at, put_at, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.constraints.rows import axis
from index3.forces.contact_geometry import (
    centre_of,
    meet_block,
    meet_block_rate,
    meet_flank,
    meet_flank_rate,
    meet_plane,
    meet_plane_rate,
    meet_round,
    meet_round_rate,
    meet_strip,
    meet_strip_rate,
)
from index3.forces.contact_law import normal_force, point_force, point_force_rate
from index3.forces.contact_pairs import table
from index3.forces.contact_sweep import passes
from index3.forces.contact_table import (
    BLOCK,
    BOUNDS,
    MARGIN,
    MARKS,
    MEMORY,
    NEAR,
    NEAR_COUNT,
    PAIRS,
    PLANE,
    POINTS,
    REPORT,
    REPORTED,
    SEEN,
    SPHERE,
    SPROCKET,
    STRIP,
    restored,
)
from index3.forces.force import next_switches

__all__ = ["MEMORY", "REPORT", "REPORTED", "STAGES", "report", "restored", "table"]
NOTHING = (0.0, 0.0, 0.0)


@helper
def near(r, A, bound, margin):
    """Whether the bounding spheres of a pair are closer than a margin; r and A are the poses of the markers."""
    d, reach = sub(load(r, bound.i), load(r, bound.j)), bound.reach + margin
    if bound.surface == PLANE:
        return dot(axis(A, bound.j, 2), d) < reach
    if bound.surface != SPHERE and bound.surface != BLOCK:
        endless = axis(A, bound.j, 1 if bound.surface == STRIP else 2)
        d = sub(d, scale(dot(endless, d), endless))
    return dot(d, d) < reach * reach


@helper
def list_near(T, E):
    """Make the list of near pairs, unless the one at hand still holds; returns their number.

    Surfaces without end reach as far as they please when their bodies turn: their pairs are always in it.
    """
    marks, seen, margin, r = view(E, MARKS), view(E, SEEN), view(E, MARGIN)[0], view(T, s.MARKER_R)
    holds = True
    for k in range(marks.shape[0]):
        d = sub(load(r, marks[k]), load(seen, k))
        holds = holds and dot(d, d) < 0.25 * margin * margin  # not where nothing was seen yet
    count = view(E, NEAR_COUNT)
    if not holds:
        bounds, chosen, A, markers = view(E, BOUNDS), view(E, NEAR), view(T, s.MARKER_A), view(T, s.MARKERS)
        for k in range(marks.shape[0]):
            put_at(seen, k, 0, load(r, marks[k]))
        count[0] = 0
        for e in range(bounds.shape[0]):
            ends = bounds[e].surface == SPHERE or bounds[e].surface == BLOCK
            if (not ends and markers[bounds[e].j].count > 0) or near(r, A, bounds[e], margin):
                chosen[count[0]] = e
                count[0] += 1
    return count[0]


@helper
def meet(T, pair, point, p):
    """(delta, n, c) of a point of the first shape, its centre at p, and the second shape."""
    A, rj = view(T, s.MARKER_A), load(view(T, s.MARKER_R), pair.j)
    if pair.surface == PLANE:
        return meet_plane(A, pair, point, p, rj)
    if pair.surface == STRIP:
        return meet_strip(A, pair, point, p, rj)
    if pair.surface == SPROCKET:
        return meet_flank(A, pair, point, p, rj)
    if pair.surface == BLOCK:
        return meet_block(A, pair, point, p, rj)
    return meet_round(A, pair, point, p, rj)


@helper
def relative_velocity(T, pair, c):
    """Velocity of the first body at c less that of the second."""
    r, V = view(T, s.MARKER_R), view(T, s.MARKER_V)
    i, j = pair.i, pair.j
    first = add(load_at(V, i, 0), cross(load_at(V, i, 3), sub(c, load(r, i))))
    return sub(first, add(load_at(V, j, 0), cross(load_at(V, j, 3), sub(c, load(r, j)))))


@helper
def add_pair_forces(T, points, pair):
    """Add the forces of one pair; returns whether they are defined."""
    r, A, f = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_F)
    i, j = pair.i, pair.j
    for k in range(pair.first, pair.first + pair.count):
        delta, n, c = meet(T, pair, points[k], centre_of(r, A, pair, points[k]))
        if delta > 0.0:
            if dot(n, n) == 0.0:
                return False
            F = point_force(pair, n, delta, relative_velocity(T, pair, c))
            add_at(f, i, 0, F)
            add_at(f, i, 3, cross(sub(c, load(r, i)), F))
            add_at(f, j, 0, scale(-1.0, F))
            add_at(f, j, 3, scale(-1.0, cross(sub(c, load(r, j)), F)))
    return True


@kernel
def forces(T, E):
    """Put the forces of all contacts on their markers."""
    pairs, points, bounds = view(E, PAIRS), view(E, POINTS), view(E, BOUNDS)
    r, A = view(T, s.MARKER_R), view(T, s.MARKER_A)
    chosen = view(E, NEAR)
    for k in range(list_near(T, E)):
        e = chosen[k]
        if near(r, A, bounds[e], 0.0) and not add_pair_forces(T, points, pairs[e]):
            return e + 1
    return OK


@helper
def unit_part(column, first):
    """The vector of a unit twist that stands at components first, first + 1, first + 2."""
    return (
        1.0 if column == first else 0.0,
        1.0 if column == first + 1 else 0.0,
        1.0 if column == first + 2 else 0.0,
    )


@helper
def subtract_column(group, first, width, column, dF, ti, tj):
    """Subtract the changes (dF, ti, -dF, -tj) of two wrenches from a column of a group's matrix."""
    for k in range(3):
        at = first + width * k + column
        group[at] -= dF[k]
        group[at + 3 * width] -= ti[k]
        group[at + 6 * width] += dF[k]
        group[at + 9 * width] += tj[k]


@helper
def change_of_place(T, pair, point, p, dp, ti, drj, tj):
    """Changes of (delta, n, c) while p moves by dp, the first marker turns by ti, the second moves by (drj, tj)."""
    A, rj = view(T, s.MARKER_A), load(view(T, s.MARKER_R), pair.j)
    if pair.surface == PLANE:
        return meet_plane_rate(A, pair, point, p, rj, dp, ti, drj, tj)
    if pair.surface == STRIP:
        return meet_strip_rate(A, pair, point, p, rj, dp, drj, tj)
    if pair.surface == SPROCKET:
        return meet_flank_rate(A, pair, point, p, rj, dp, drj, tj)
    if pair.surface == BLOCK:
        return meet_block_rate(A, pair, point, p, rj, dp, drj, tj)
    return meet_round_rate(A, pair, point, p, rj, dp, drj, tj)


@helper
def add_point_derivatives(T, pair, point, p, delta, n, c):
    """Add the derivatives of one point that touches, column by column."""
    r, V, K, D = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.GROUP_K), view(T, s.GROUP_D)
    wi, wj = load_at(V, pair.i, 3), load_at(V, pair.j, 3)
    ri, ai, aj = load(r, pair.i), sub(c, load(r, pair.i)), sub(c, load(r, pair.j))
    u = relative_velocity(T, pair, c)
    F, curved = point_force(pair, n, delta, u), 1.0
    if pair.static > 0.0:
        view(T, s.STATUS)[s.SLIDES] = 1
        curved = 1.0 - view(T, s.STATUS)[s.SECANTS]
    for column in range(12):
        dri, ti, drj, tj = unit_part(column, 0), unit_part(column, 3), unit_part(column, 6), unit_part(column, 9)
        dp = add(dri, cross(ti, sub(p, ri)))
        ddelta, dn, dc = change_of_place(T, pair, point, p, dp, ti, drj, tj)
        dai, daj = sub(dc, dri), sub(dc, drj)
        dF = point_force_rate(pair, n, delta, u, dn, ddelta, sub(cross(wi, dai), cross(wj, daj)), curved)
        turn_i, turn_j = add(cross(ai, dF), cross(dai, F)), add(cross(aj, dF), cross(daj, F))
        subtract_column(K, pair.stiffness_at, 12, column, dF, turn_i, turn_j)
        du = sub(add(dri, cross(ti, ai)), add(drj, cross(tj, aj)))  # as velocities
        dF = point_force_rate(pair, n, delta, u, NOTHING, 0.0, du, curved)
        subtract_column(D, pair.stiffness_at, 12, column, dF, cross(ai, dF), cross(aj, dF))


@helper
def begin_derivatives(T, pair):
    """Let the evaluator scatter the derivatives of a pair, from zero."""
    K, D = view(T, s.GROUP_K), view(T, s.GROUP_D)
    view(T, s.GROUP_APART)[pair.group] = 0
    for k in range(pair.stiffness_at, pair.stiffness_at + 144):
        K[k] = 0.0
        D[k] = 0.0


@kernel
def force_derivatives(T, E):
    """Derivatives of all contacts that touch."""
    pairs, points, bounds = view(E, PAIRS), view(E, POINTS), view(E, BOUNDS)
    r, A = view(T, s.MARKER_R), view(T, s.MARKER_A)
    for e in range(pairs.shape[0]):
        pair, touches = pairs[e], 0
        if near(r, A, bounds[e], 0.0):
            for k in range(pair.first, pair.first + pair.count):
                p = centre_of(r, A, pair, points[k])
                delta, n, c = meet(T, pair, points[k], p)
                if delta > 0.0:
                    if dot(n, n) == 0.0:
                        return e + 1
                    if touches == 0:
                        begin_derivatives(T, pair)
                        touches = 1
                    add_point_derivatives(T, pair, points[k], p, delta, n, c)
        if touches == 0:
            view(T, s.GROUP_APART)[pair.group] = 1
    return OK


@kernel
def energy(T, E):
    """Elastic energy of the depth; power of damping and friction."""
    pairs, points, chosen = view(E, PAIRS), view(E, POINTS), view(E, NEAR)
    r, A, values = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.ENERGY)
    some = pairs.shape[0] < view(E, BOUNDS).shape[0]  # the records of some pairs alone: the list numbers all of them
    for m in range(pairs.shape[0] if some else list_near(T, E)):
        pair = pairs[m if some else chosen[m]]
        if near(r, A, pair, 0.0):
            for k in range(pair.first, pair.first + pair.count):
                delta, n, c = meet(T, pair, points[k], centre_of(r, A, pair, points[k]))
                if delta > 0.0:
                    u = relative_velocity(T, pair, c)
                    F, _, _, elastic = normal_force(pair, delta, -dot(n, u))
                    sliding = add(point_force(pair, n, delta, u), scale(-F, n))
                    values[s.POTENTIAL] += elastic * delta / (pair.exponent + 1.0)
                    values[s.POWER] += (F - elastic) * dot(n, u) + dot(sliding, u)
    return OK


@kernel
def report(T, E):
    """Per pair: depth, normal force, friction and force on the first body, centre of the normal forces."""
    pairs, points, r, A = view(E, PAIRS), view(E, POINTS), view(T, s.MARKER_R), view(T, s.MARKER_A)
    out = view(E, REPORT)
    for e in range(pairs.shape[0]):
        pair = pairs[e]
        for column in range(out.shape[1]):
            out[e, column] = 0.0
        for k in range(pair.first, pair.first + pair.count):
            delta, n, c = meet(T, pair, points[k], centre_of(r, A, pair, points[k]))
            if delta > 0.0:
                force = point_force(pair, n, delta, relative_velocity(T, pair, c))
                normal = dot(n, force)
                out[e, 0] = max(out[e, 0], delta)
                out[e, 1] += normal
                add_at(out, e, 2, sub(force, scale(normal, n)))
                add_at(out, e, 5, force)
                add_at(out, e, 8, scale(normal, c))
        total = out[e, 1]
        for column in range(8, 11):
            out[e, column] = out[e, column] / total if total > 0.0 else np.nan
    return OK


@kernel
def switches(T, E):
    """Per pair how far its points are from the other shape, negative where one touches; of far pairs the margin."""
    pairs, points, chosen = view(E, PAIRS), view(E, POINTS), view(E, NEAR)
    r, A, values, at = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.SWITCH), next_switches(T, pairs.shape[0])
    for e in range(pairs.shape[0]):
        values[at + e] = view(E, MARGIN)[0]
    for m in range(list_near(T, E)):
        pair, deepest = pairs[chosen[m]], -1e300
        for k in range(pair.first, pair.first + pair.count):
            delta, _, _ = meet(T, pair, points[k], centre_of(r, A, pair, points[k]))
            deepest = max(deepest, delta)
        values[at + chosen[m]] = -deepest
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches} | {
    "passes": passes
}
