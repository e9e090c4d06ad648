"""A point on a curve fixed to marker i: m(s) . (p - c(s)) = 0 at the curve parameter s of the nearest point.

p is the position of marker j in the frame of marker i, c(s) a cubic spline and m(s) a field of directions across it, a
spline too. s is eliminated: it solves c'(s) . (p - c(s)) = 0, so it costs no unknown, and ds/dp = c' / D with
D = c' . c' - c'' . (p - c). Two rows with different fields hold a point on a curve in space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.algebra.vectors import absolute, add, apply, cross, dot, load, load_at, multiply, outer, scale, skew, sub
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view
from index3.constraints.passing import HALF, MOST, SURELY, cubic_between, next_records
from index3.constraints.products import turning
from index3.constraints.rows import clear_hessian, put_block, put_gradient, row_dtype, use_hessian
from index3.constraints.turning_angle import combine

ON_CURVE = row_dtype(("first", "i8"), ("count", "i8"), ("closed", "i8"))  # its segments
START, LENGTH, CURVE, ACROSS = 0, 1, 2, 14
"""Columns of a segment: parameter where it begins, its length, 4 coefficients of c and of m (x, y, z each)."""
COLUMNS = 26
SAMPLES = 4  # per segment, where the search for the nearest point starts
MOST_ITERATIONS = 50
CONVERGED, SLACK = 1e-12, 1e-9  # change of s that ends the search, and how far a point may be beyond an end, by length
AXES = ("first",)  # whose axes its rows use
ROWS, SEGMENTS, BEGIN = slots(rows=(ON_CURVE, 1), segments=("f8", 2), begin=("f8", 2))
"""BEGIN: the curve parameter where the step begins, and its rate."""
MEMORY = (BEGIN,)
RESOLVED = 0.005
"""Part of its way along a curve by which that may leave the cubic through both ends of a step: a circle in 1.2 rad."""


def record(fields: dict[str, Any]) -> tuple[Any, ...]:
    """The own part of the record; where its segments begin is filled in later."""
    return (0, len(fields["segments"]), int(fields["closed"]))


def fill(table: Table, fields: list[dict[str, Any]]) -> None:
    """Put the segments of all rows one after the other, and say in the records where each row's begin."""
    counts = [len(f["segments"]) for f in fields]
    table[ROWS]["first"] = np.cumsum([0, *counts])[:-1]
    table[BEGIN] = np.zeros((len(fields), 2))
    table[SEGMENTS] = np.ascontiguousarray(np.concatenate([f["segments"] for f in fields]))


@helper
def cubic(segments, k, at, x):
    """Value and three derivatives at x of the cubic whose constant vector stands at column `at` of a segment."""
    a0, a1 = load_at(segments, k, at), load_at(segments, k, at + 3)
    a2, a3 = load_at(segments, k, at + 6), load_at(segments, k, at + 9)
    y0 = add(a0, scale(x, add(a1, scale(x, add(a2, scale(x, a3))))))
    y1 = add(a1, scale(x, add(scale(2.0, a2), scale(3.0 * x, a3))))
    return y0, y1, add(scale(2.0, a2), scale(6.0 * x, a3)), scale(6.0, a3)


@helper
def find(segments, first, count, closed, p):
    """The segment and the place in it of the point of the curve nearest to p; -1 if there is none inside the curve."""
    best, k, x = 1e300, first, 0.0
    for j in range(first, first + count):
        for i in range(SAMPLES + 1):
            trial = segments[j, LENGTH] * i / SAMPLES
            c = cubic(segments, j, CURVE, trial)
            e = sub(p, c[0])
            if dot(e, e) < best:
                best, k, x = dot(e, e), j, trial
    whole = segments[first + count - 1, START] + segments[first + count - 1, LENGTH]
    for _ in range(MOST_ITERATIONS):
        c = cubic(segments, k, CURVE, x)
        e = sub(p, c[0])
        slope = dot(c[1], c[1]) - dot(c[2], e)
        if slope < 0.1 * dot(c[1], c[1]):  # near the centre of curvature: go on as if the curve were straight
            slope = dot(c[1], c[1])
        change = dot(c[1], e) / slope
        x += change
        while x < 0.0 and (closed == 1 or k > first):
            k = k - 1 if k > first else first + count - 1
            x += segments[k, LENGTH]
        while x > segments[k, LENGTH] and (closed == 1 or k < first + count - 1):
            x -= segments[k, LENGTH]
            k = k + 1 if k < first + count - 1 else first
        beyond = max(-x, x - segments[k, LENGTH])  # of the end of an open curve
        if beyond > 0.5 * segments[k, LENGTH]:
            return -1, x
        if abs(change) <= CONVERGED * whole:  # the last change of a quadratic convergence: x is good to rounding
            return (k, x) if beyond <= SLACK * whole else (-1, x)
    return -1, x


@helper
def nearest(T, rows, e, segments):
    """d = r_j - r_i, then the segment (-1: none) and the place in it."""
    r, A = view(T, s.MARKER_R), view(T, s.MARKER_A)
    i, d = rows[e].i, sub(load(r, rows[e].j), load(r, rows[e].i))
    p = (
        A[i, 0] * d[0] + A[i, 3] * d[1] + A[i, 6] * d[2],
        A[i, 1] * d[0] + A[i, 4] * d[1] + A[i, 7] * d[2],
        A[i, 2] * d[0] + A[i, 5] * d[1] + A[i, 8] * d[2],
    )
    k, x = find(segments, rows[e].first, rows[e].count, rows[e].closed, p)
    return d, k, x


@helper
def in_ground(T, i, y):
    """Four vectors of marker i's frame in ground axes."""
    A = view(T, s.MARKER_A)
    R = (A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5], A[i, 6], A[i, 7], A[i, 8])
    return apply(R, y[0]), apply(R, y[1]), apply(R, y[2]), apply(R, y[3])


@kernel
def constraints(T, E):
    """PHI and ROW_G of every row; the number of a row whose point has left its curve."""
    rows, segments, zero = view(E, ROWS), view(E, SEGMENTS), (0.0, 0.0, 0.0)
    phi, size, g, r = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.ROW_G), view(T, s.MARKER_R)
    for row in range(rows.shape[0]):
        d, k, x = nearest(T, rows, row, segments)
        if k < 0:
            return row + 1
        c = in_ground(T, rows[row].i, cubic(segments, k, CURVE, x))
        m = in_ground(T, rows[row].i, cubic(segments, k, ACROSS, x))
        e = sub(d, c[0])
        kappa = (dot(m[1], e) - dot(m[0], c[1])) / (dot(c[1], c[1]) - dot(c[2], e))
        G = add(m[0], scale(kappa, c[1]))
        phi[rows[row].row] = dot(m[0], e)
        ends = absolute(m[0], load(r, rows[row].i)) + absolute(m[0], load(r, rows[row].j))
        size[rows[row].row] = ends + absolute(m[0], c[0])
        put_gradient(g, rows[row].gradient, scale(-1.0, G), cross(G, d), G, zero)
    return OK


@helper
def second_and_third(c, m, e, v):
    """In p: gradient G, second derivatives (9-tuple), and the gradient of v^T (second derivatives) v.

    G = m + kappa c', kappa = a/D, a = m' . e - m . c'; s follows p by c'/D. Subscripts: partial derivatives by s and p.
    """
    D = dot(c[1], c[1]) - dot(c[2], e)
    D_s = 3.0 * dot(c[1], c[2]) - dot(c[3], e)
    D_ss = 3.0 * dot(c[2], c[2]) + 4.0 * dot(c[1], c[3])
    kappa = (dot(m[1], e) - dot(m[0], c[1])) / D
    a_s = dot(m[2], e) - 2.0 * dot(m[1], c[1]) - dot(m[0], c[2])
    a_ss = dot(m[3], e) - 3.0 * dot(m[2], c[1]) - 3.0 * dot(m[1], c[2]) - dot(m[0], c[3])
    kappa_s = (a_s - kappa * D_s) / D
    kappa_ss = (a_ss - 2.0 * kappa_s * D_s - kappa * D_ss) / D
    b = add(m[1], scale(kappa, c[2]))
    kappa_p = scale(1.0 / D, b)
    kappa_sp = add(sub(m[2], scale(D_s, kappa_p)), add(scale(kappa, c[3]), scale(kappa_s, c[2])))
    kappa_sp = scale(1.0 / D, kappa_sp)
    bent = combine(1.0 / D, outer(b, c[1]), 1.0 / D, outer(c[1], b))
    bent = combine(1.0, bent, kappa_s / D, outer(c[1], c[1]))
    # v^T bent v = (2 alpha beta + kappa_s alpha^2) / D
    alpha, beta, alpha_s = dot(c[1], v), dot(b, v), dot(c[2], v)
    beta_s = dot(m[2], v) + kappa_s * alpha_s + kappa * dot(c[3], v)
    value = (2.0 * alpha * beta + kappa_s * alpha * alpha) / D
    by_s = 2.0 * (alpha_s * beta + alpha * beta_s + kappa_s * alpha * alpha_s) + kappa_ss * alpha * alpha
    by_s = (by_s - value * D_s) / D
    by_p = add(scale(2.0 * alpha * alpha_s, kappa_p), add(scale(alpha * alpha, kappa_sp), scale(value, c[2])))
    third = scale(1.0 / D, add(by_p, scale(by_s, c[1])))
    return add(m[0], scale(kappa, c[1])), bent, third


@kernel
def hessians(T, E):
    """Second and third derivatives of every row, from those in p: dp = dd + d x dtheta_i, seen from marker i."""
    rows, segments, V = view(E, ROWS), view(E, SEGMENTS), view(T, s.MARKER_V)
    hessian, h3 = clear_hessian(T), view(T, s.ROW_H3)
    for row in range(rows.shape[0]):
        i, j = rows[row].i, rows[row].j
        d, k, x = nearest(T, rows, row, segments)
        if k < 0:
            return row + 1
        c = in_ground(T, i, cubic(segments, k, CURVE, x))
        m = in_ground(T, i, cubic(segments, k, ACROSS, x))
        w, velocity = load_at(V, i, 3), sub(load(V, j), load(V, i))
        p1 = sub(velocity, cross(w, d))  # first and second rate of p at constant twists, ground axes
        p2 = sub(turning(w, d), scale(2.0, cross(w, velocity)))
        G, bent, third = second_and_third(c, m, sub(d, c[0]), p1)
        cross_d, cross_g = skew(d), skew(G)
        by_turn = combine(1.0, multiply(bent, cross_d), -1.0, cross_g)  # dG = bent dd + by_turn dtheta_i
        lever = combine(-1.0, multiply(cross_d, bent), 1.0, cross_g)
        put_block(hessian, 2, 2, bent, 1.0)
        put_block(hessian, 2, 0, bent, -1.0)
        put_block(hessian, 2, 1, by_turn, 1.0)
        put_block(hessian, 0, 2, bent, -1.0)
        put_block(hessian, 0, 0, bent, 1.0)
        put_block(hessian, 0, 1, by_turn, -1.0)
        put_block(hessian, 1, 2, lever, 1.0)
        put_block(hessian, 1, 0, lever, -1.0)
        put_block(hessian, 1, 1, multiply(cross_d, by_turn), -1.0)
        use_hessian(T, rows, row, hessian)
        along, twice = add(third, apply(bent, p2)), scale(2.0, apply(bent, p1))
        by_d = add(along, add(cross(w, twice), turning(w, G)))
        by_i = add(cross(along, d), add(cross(twice, p1), cross(G, p2)))
        put_gradient(h3, rows[row].gradient, scale(-1.0, by_d), by_i, by_d, (0.0, 0.0, 0.0))
    return OK


@helper
def place_of(segments, row, at):
    """The segment of a curve parameter, which goes round on a closed curve, and the place in it."""
    first, last = row.first, row.first + row.count - 1
    if row.closed == 1:
        whole = segments[last, START] + segments[last, LENGTH]
        at -= whole * np.floor(at / whole)
    low, high = first, last + 1
    while high - low > 1:
        middle = (low + high) // 2
        if at < segments[middle, START]:
            high = middle
        else:
            low = middle
    return low, at - segments[low, START]


@helper
def is_resolved(segments, row, s0, way, room, part_off):
    """Whether the cubic through both ends of a way along the curve, with their tangents, tells what is between them."""
    last = row.first + row.count - 1
    passed = abs(way) * row.count / (segments[last, START] + segments[last, LENGTH])
    if passed <= 1.0:
        return True
    if passed > MOST:
        return False
    k, x = place_of(segments, row, s0)
    start = cubic(segments, k, CURVE, x)
    k, x = place_of(segments, row, s0 + way)
    end = cubic(segments, k, CURVE, x)
    off, size, count = 0.0, 0.0, 2 * int(passed) + 2
    for j in range(1, count):
        part = j / count
        k, x = place_of(segments, row, s0 + part * way)
        c, square, far = cubic(segments, k, CURVE, x), 0.0, 0.0
        for a in range(3):
            guess = cubic_between(start[0][a], start[1][a] * way, end[0][a], end[1][a] * way, part)
            square += (c[0][a] - guess) ** 2
            far += (c[0][a] - start[0][a]) ** 2
        off, size = max(off, square), max(size, far)
    return off <= max(room, part_off * np.sqrt(size)) ** 2


@kernel
def passes(T, E):
    """Whether the step that ends at T's state passed over what it cannot know of a curve, or keep its start: SWEEP."""
    rows, segments, begin = view(E, ROWS), view(E, SEGMENTS), view(E, BEGIN)
    sweep, V = view(T, s.SWEEP), view(T, s.MARKER_V)
    at, h = next_records(T, rows.shape[0]), sweep[s.SWEEP_H]
    for row in range(rows.shape[0]):
        d, k, x = nearest(T, rows, row, segments)
        if k < 0:
            continue
        i, j, place = rows[row].i, rows[row].j, segments[k, START] + x
        c = in_ground(T, i, cubic(segments, k, CURVE, x))
        v = sub(sub(load(V, j), load(V, i)), cross(load_at(V, i, 3), d))
        rate = dot(c[1], v) / (dot(c[1], c[1]) - dot(c[2], sub(d, c[0])))
        if h == 0.0:
            begin[row, 0], begin[row, 1] = place, rate
            continue
        way = place - begin[row, 0]
        if rows[row].closed == 1:
            last = rows[row].first + rows[row].count - 1
            whole = segments[last, START] + segments[last, LENGTH]
            way += whole * np.floor((0.5 * h * (begin[row, 1] + rate) - way) / whole + 0.5)
        if sweep[s.SWEEP_PART] <= HALF:
            continue
        # a circle leaves its cubic by a tenth of its way in half a turn
        limit = RESOLVED * (4.0 * SURELY if sweep[s.SWEEP_SURE] == 1.0 else 1.0)
        if not is_resolved(segments, rows[row], begin[row, 0], way, sweep[s.SWEEP_ROOM], limit):
            sweep[s.SWEEP_PART], sweep[s.SWEEP_RECORD] = HALF, at + row
    return OK


STAGES = {"constraints": constraints, "hessians": hessians, "passes": passes}
