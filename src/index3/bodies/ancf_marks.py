"""Markers on planar beams in absolute nodal coordinates.

A marker's point is r = sum point_i c_i, and its axes turn with d = sum direction_i c_i, which is r_y or r_x; both sums
run over the plane vectors of a node or of an element. As a complex number z = d turns by Im(dz/z).
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.vectors import put_at
from index3.bodies.ancf_elements import MARKS, WIDTH, along, combine, inverse, times
from index3.bodies.marker_kernels import put_axes
from index3.compiled import slots as s
from index3.compiled.interface import helper, view


@helper
def add_wrenches(T, E, q, g):
    """g -= J^T (wrenches on markers)."""
    marks, f = view(E, MARKS), view(T, s.MARKER_F)
    for n in range(marks.shape[0]):
        m, first = marks[n].marker, marks[n].first
        turn = inverse(combine(marks[n].direction, q, first, marks[n].count))
        for i in range(marks[n].count):
            torque = f[m, 5] * marks[n].direction[i]
            g[first + 2 * i] -= marks[n].point[i] * f[m, 0] + torque * turn[1]
            g[first + 2 * i + 1] -= marks[n].point[i] * f[m, 1] + torque * turn[0]


@helper
def put_poses(T, E, q, v):
    """Pose and twist of every marker."""
    marks, marker_r, marker_v = view(E, MARKS), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for n in range(marks.shape[0]):
        m, first, count = marks[n].marker, marks[n].first, marks[n].count
        r, r_rate = combine(marks[n].point, q, first, count), combine(marks[n].point, v, first, count)
        d, d_rate = combine(marks[n].direction, q, first, count), combine(marks[n].direction, v, first, count)
        put_at(marker_r, m, 0, (r[0], r[1], marks[n].height))
        put_at(marker_v, m, 0, (r_rate[0], r_rate[1], 0.0))
        put_at(marker_v, m, 3, (0.0, 0.0, times(d_rate, inverse(d))[1]))
        size = 1.0 / sqrt(along(d, d))
        x, y = size * d[0], size * d[1]
        if marks[n].tangent == 0:  # the direction is y, a right angle ahead of x
            x, y = y, -x
        put_axes(T, m, 1.0, (x, -y, 0.0, y, x, 0.0, 0.0, 0.0, 1.0))


@helper
def put_turn(ragged, start, mark, w):
    """The last row of a marker's (6, 2 count) matrix: how the complex number w times its direction turns."""
    at = start + 10 * mark.count
    for i in range(mark.count):
        ragged[at + 2 * i] = mark.direction[i] * w[1]
        ragged[at + 2 * i + 1] = mark.direction[i] * w[0]


@helper
def put_jacobians(mark, start, q, v, jacobian, change):
    """J and (J v)_q of one marker."""
    width, first = 2 * mark.count, mark.first
    inv = inverse(combine(mark.direction, q, first, mark.count))
    for i in range(mark.count):
        jacobian[start + 2 * i] = mark.point[i]
        jacobian[start + width + 2 * i + 1] = mark.point[i]
    put_turn(jacobian, start, mark, inv)
    put_change(mark, start, q, v, change, -1.0)


@helper
def put_change(mark, start, q, x, out, c):
    """c times the turn of x d / z^2: with c = -1 this is (J x)_q."""
    inv = inverse(combine(mark.direction, q, mark.first, mark.count))
    w = times(combine(mark.direction, x, mark.first, mark.count), times(inv, inv))
    put_turn(out, start, mark, (c * w[0], c * w[1]))


@helper
def put_accelerations(mark, start, q, v, a, X, change, bias_q, bias_v):
    """X = J a, (J a)_q and the derivatives of the bias of one marker."""
    first, count = mark.first, mark.count
    r, turn = combine(mark.point, a, first, count), combine(mark.direction, a, first, count)
    inv, rate = inverse(combine(mark.direction, q, first, count)), combine(mark.direction, v, first, count)
    put_at(X, mark.marker, 0, (r[0], r[1], 0.0))
    put_at(X, mark.marker, 3, (0.0, 0.0, times(turn, inv)[1]))
    put_change(mark, start, q, a, change, -1.0)
    put_change(mark, start, q, v, bias_v, -2.0)
    w = times(times(rate, rate), times(inv, times(inv, inv)))
    put_turn(bias_q, start, mark, (2.0 * w[0], 2.0 * w[1]))


@helper
def bias_of(mark, q, v):
    """The angular bias acceleration of a marker: the turn of -(d'/z)^2."""
    inv = inverse(combine(mark.direction, q, mark.first, mark.count))
    rate = times(combine(mark.direction, v, mark.first, mark.count), inv)
    return -times(rate, rate)[1]


@helper
def add_turn_stiffness(mark, torque, q, c_K, values, places):
    """-(J^T F)_q of one marker: only a torque has it, by Im(dz dz'/z^2)."""
    inv = inverse(combine(mark.direction, q, mark.first, mark.count))
    w = times(inv, inv)
    for i in range(mark.count):
        for j in range(mark.count):
            c = c_K * torque * mark.direction[i] * mark.direction[j]
            at = mark.place + WIDTH * 2 * i + 2 * j
            values[places[at]] += c * w[1]
            values[places[at + 1]] += c * w[0]
            values[places[at + WIDTH]] += c * w[0]
            values[places[at + WIDTH + 1]] -= c * w[1]
