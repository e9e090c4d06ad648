"""Markers on cables and spatial beams in absolute nodal coordinates.

A marker's point is r = sum point_i c_i over the vectors of its node or element; its axes turn with a = sum along_i c_i
and b = sum across_i c_i (`index3.algebra.frames`), or on a line with a alone.
"""

from __future__ import annotations

from index3.algebra.frames import (
    carried_axes,
    frame_axes,
    frame_torque,
    frame_turn,
    jets,
    line_torque,
    line_turn,
    part,
)
from index3.algebra.vectors import dot, load, load_at, put_at, scale
from index3.bodies.ancf_space_elements import LINE, MAP, MARKS, SECTION, add_spread, combine
from index3.bodies.marker_kernels import put_axes
from index3.compiled import slots as s
from index3.compiled.interface import helper, view

NONE = (0.0, 0.0, 0.0)


@helper
def directions(mark, x):
    """a and b of a marker in q, v or a."""
    return combine(mark.along, x, mark.first, mark.count), combine(mark.across, x, mark.first, mark.count)


@helper
def turn(mark, a, b, a_rate, b_rate):
    """The turn of a marker, of jets."""
    if mark.frame == LINE:
        return line_turn(a, a_rate)
    return frame_turn(a, b, a_rate, b_rate)


@helper
def torque_on(mark, a, b, torque):
    """What a torque on a marker is on a and on b."""
    if mark.frame == LINE:
        return line_torque(a, torque), (0.0, 0.0, 0.0)
    return frame_torque(a, b, torque)


@helper
def turn_of(mark, a, b, a_rate, b_rate):
    """The turn of a marker, in numbers."""
    x, y = jets(a, NONE, NONE, NONE), jets(b, NONE, NONE, NONE)
    return part(turn(mark, x, y, jets(a_rate, NONE, NONE, NONE), jets(b_rate, NONE, NONE, NONE)), 0)


@helper
def put_poses(T, E, q, v):
    """Pose and twist of every marker."""
    marks, marker_r, marker_v = view(E, MARKS), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for n in range(marks.shape[0]):
        mark = marks[n]
        m, (a, b), (a_rate, b_rate) = mark.marker, directions(mark, q), directions(mark, v)
        put_at(marker_r, m, 0, combine(mark.point, q, mark.first, mark.count))
        put_at(marker_v, m, 0, combine(mark.point, v, mark.first, mark.count))
        put_at(marker_v, m, 3, turn_of(mark, a, b, a_rate, b_rate))
        x, y, z = mark_axes(mark.frame, mark.rest, a, b)
        put_axes(T, m, 1.0, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))


@helper
def mark_axes(frame, rest, a, b):
    """The three axes that a marker turns with."""
    if frame == LINE:
        return carried_axes((rest[0], rest[1], rest[2]), (rest[3], rest[4], rest[5]), (rest[6], rest[7], rest[8]), a)
    first, second, third = frame_axes(a, b)
    if frame == SECTION:
        return third, first, second
    return first, second, third


@helper
def add_wrenches(T, E, q, g):
    """g -= J^T (wrenches on markers)."""
    marks, f = view(E, MARKS), view(T, s.MARKER_F)
    for n in range(marks.shape[0]):
        mark = marks[n]
        a, b = directions(mark, q)
        on_a, on_b = torque_on(mark, a, b, load_at(f, mark.marker, 3))
        add_spread(g, mark.first, mark.count, mark.point, scale(-1.0, load(f, mark.marker)))
        add_spread(g, mark.first, mark.count, mark.along, scale(-1.0, on_a))
        add_spread(g, mark.first, mark.count, mark.across, scale(-1.0, on_b))


@helper
def unit(k):
    """Unit vector k."""
    return (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))


@helper
def put_turn(ragged, start, mark, k, by_a, by_b):
    """How the turn of a marker changes with component k of every vector of its span: rows 3 to 5 of its matrix."""
    width = 3 * mark.count
    for i in range(mark.count):
        for r in range(3):
            ragged[start + (3 + r) * width + 3 * i + k] = mark.along[i] * by_a[r] + mark.across[i] * by_b[r]


@helper
def put_change(mark, start, q, x, out):
    """(J x)_q of a marker: only its turn depends on q."""
    (a, b), (a_rate, b_rate) = directions(mark, q), directions(mark, x)
    rate, other = jets(a_rate, NONE, NONE, NONE), jets(b_rate, NONE, NONE, NONE)
    for k in range(3):
        changed = turn(mark, jets(a, unit(k), NONE, NONE), jets(b, NONE, unit(k), NONE), rate, other)
        put_turn(out, start, mark, k, part(changed, 1), part(changed, 2))


@helper
def put_jacobian(mark, start, q, v, jacobian, change):
    """J and (J v)_q of a marker."""
    width = 3 * mark.count
    a, b = directions(mark, q)
    for r in range(3):
        on_a, on_b = torque_on(mark, a, b, unit(r))
        for i in range(mark.count):
            jacobian[start + width * r + 3 * i + r] = mark.point[i]
            for k in range(3):
                at = start + width * (3 + r) + 3 * i + k
                jacobian[at] = mark.along[i] * on_a[k] + mark.across[i] * on_b[k]
    put_change(mark, start, q, v, change)


@helper
def bias_of(mark, q, v):
    """The angular acceleration of a marker without that of its coordinates: (J v)_q v."""
    (a, b), (a_rate, b_rate) = directions(mark, q), directions(mark, v)
    rate, other = jets(a_rate, NONE, NONE, NONE), jets(b_rate, NONE, NONE, NONE)
    return part(turn(mark, jets(a, a_rate, NONE, NONE), jets(b, b_rate, NONE, NONE), rate, other), 1)


@helper
def put_second(T, mark, start, q, v, acceleration):
    """X = J a, (J a)_q and the derivatives of the bias of a marker."""
    X, change = view(T, s.MARKER_X), view(T, s.MARKER_NA)
    bias_q, bias_v = view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    (a, b), (a_v, b_v), (a_a, b_a) = directions(mark, q), directions(mark, v), directions(mark, acceleration)
    put_at(X, mark.marker, 0, combine(mark.point, acceleration, mark.first, mark.count))
    put_at(X, mark.marker, 3, turn_of(mark, a, b, a_a, b_a))
    put_change(mark, start, q, acceleration, change)
    rate, other = jets(a_v, NONE, NONE, NONE), jets(b_v, NONE, NONE, NONE)
    plain_a, plain_b = jets(a, a_v, NONE, NONE), jets(b, b_v, NONE, NONE)
    for k in range(3):
        e = unit(k)
        by_a = turn(mark, jets(a, a_v, e, NONE), plain_b, rate, other)
        by_b = turn(mark, plain_a, jets(b, b_v, e, NONE), rate, other)
        put_turn(bias_q, start, mark, k, part(by_a, 3), part(by_b, 3))
        # by a rate: it is both what turns the marker and the direction along which the bias changes
        by_a = turn(mark, jets(a, a_v, NONE, e), plain_b, jets(a_v, NONE, e, NONE), other)
        by_b = turn(mark, plain_a, jets(b, b_v, NONE, e), rate, jets(b_v, NONE, e, NONE))
        put_turn(bias_v, start, mark, k, part(by_a, 3), part(by_b, 3))


@helper
def add_torque_stiffness(T, E, q, c_K):
    """c_K times -(J^T F)_q at constant wrenches: only torques have it."""
    marks, f, values, places = view(E, MARKS), view(T, s.MARKER_F), view(T, s.MATRIX), view(E, MAP)
    for n in range(marks.shape[0]):
        mark, torque = marks[n], load_at(f, marks[n].marker, 3)
        if dot(torque, torque) == 0.0:
            continue
        a, b = directions(mark, q)
        none = jets(NONE, NONE, NONE, NONE)
        for k in range(3):
            moved_a, moved_b = jets(a, unit(k), NONE, NONE), jets(b, NONE, unit(k), NONE)
            for r in range(3):
                e = jets(unit(r), NONE, NONE, NONE)
                by_a, by_b = turn(mark, moved_a, moved_b, e, none), turn(mark, moved_a, moved_b, none, e)
                aa, ab = dot(part(by_a, 1), torque), dot(part(by_a, 2), torque)
                ba, bb = dot(part(by_b, 1), torque), dot(part(by_b, 2), torque)
                for i in range(mark.count):
                    x, y = mark.along[i] * aa + mark.across[i] * ba, mark.along[i] * ab + mark.across[i] * bb
                    at = mark.place + mark.width * (3 * i + r) + k
                    for j in range(mark.count):
                        values[places[at + 3 * j]] -= c_K * (x * mark.along[j] + y * mark.across[j])
