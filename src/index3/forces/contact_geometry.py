"""Where two shapes touch: depth delta, normal n and contact point c, and their changes; helpers of kernels.

A point of the first shape (a ball or a disc's rim, `contact_table.POINT`) meets the surface of the second. n points
from the second shape to the first; c lies half-way between the two surfaces. In all cases the rate of the depth is
-n . u, u the relative velocity of the two bodies at c, so a law that depends on delta alone keeps energy.

Plane with normal n through r_j, ball with centre p: delta = R - n . (p - r_j). Disc with axis a: its support
R sin(angle between n and a), as R s, s^2 = (1 - (n.a)^2 + EDGE^2) / (1 + EDGE^2), which is smooth also where the disc
lies flat: the deepest point wanders through the disc while it tips over by EDGE.

Sphere or cylinder: e from the centre (or the axis) to p, delta = R + R_j - |e|; from inside a hollow one,
delta = R - R_j + |e|.

Strip: e from its nearest point to p, delta = R - |e|. Block: the same; where p is inside, n is that of the nearest
face and delta = R + its distance. Sprocket: flanks are planes with normals n at 45 degrees to the radius of the gap
next to p, which a seated ball (centre on the pitch circle R_j) touches:
delta = R_j / sqrt(2) - n . (p - r_j).
"""

from __future__ import annotations

from math import atan2, cos, floor, pi, sin, sqrt

from index3.algebra.vectors import add, cross, dot, norm, scale, sub
from index3.compiled.interface import helper
from index3.constraints.rows import axis
from index3.forces.force import turned

EDGE = 0.02
"""Angle [rad] over which the contact of a cylinder standing on a plane moves from its centre to its rim."""
SEAT = sqrt(0.5)
"""Distance of the flanks of a seated pin from the axis of a sprocket, in parts of its radius."""


@helper
def centre_of(r, A, pair, point):
    """Centre of a point of the first shape."""
    x = point.place
    i = pair.i
    return add((r[i, 0], r[i, 1], r[i, 2]), turned(A, i, (x[0], x[1], x[2])))


@helper
def disc(n, a):
    """s and the direction from a disc's centre to its deepest point."""
    q, c = dot(n, a), 1.0 + EDGE * EDGE
    s = sqrt((c - q * q) / c)
    return s, scale(-1.0 / (s * c), sub(n, scale(q, a)))


@helper
def disc_rate(n, a, dn, da):
    """Changes of both values of `disc`."""
    q, c = dot(n, a), 1.0 + EDGE * EDGE
    s, e = disc(n, a)
    dq = dot(dn, a) + dot(n, da)
    ds = -q * dq / (s * c)
    return ds, sub(scale(-1.0 / (s * c), sub(dn, add(scale(dq, a), scale(q, da)))), scale(ds / s, e))


@helper
def meet_plane(A, pair, point, p, rj):
    """(delta, n, c) of a point and a plane."""
    n, d = axis(A, pair.j, 2), sub(p, rj)
    s, x = 1.0, d
    if point.disc == 1:
        s, e = disc(n, axis(A, pair.i, 2))
        x = add(d, scale(point.radius, e))
    delta = point.radius * s - dot(n, d)
    return delta, n, add(rj, sub(x, scale(dot(n, x) + 0.5 * delta, n)))


@helper
def meet_plane_rate(A, pair, point, p, rj, dp, ti, drj, tj):
    """Changes of `meet_plane` while p moves by dp, the first marker turns by ti, the second moves by (drj, tj)."""
    n, d = axis(A, pair.j, 2), sub(p, rj)
    dn, dd = cross(tj, n), sub(dp, drj)
    s, ds, x, dx = 1.0, 0.0, d, dd
    if point.disc == 1:
        a = axis(A, pair.i, 2)
        s, e = disc(n, a)
        ds, de = disc_rate(n, a, dn, cross(ti, a))
        x, dx = add(d, scale(point.radius, e)), add(dd, scale(point.radius, de))
    delta = point.radius * s - dot(n, d)
    ddelta = point.radius * ds - dot(dn, d) - dot(n, dd)
    shift, dshift = dot(n, x) + 0.5 * delta, dot(dn, x) + dot(n, dx) + 0.5 * ddelta
    return ddelta, dn, add(drj, sub(dx, add(scale(shift, dn), scale(dshift, n))))


@helper
def across(A, pair, d):
    """d without its part along the axis of a second cylinder, and that part; all of d for a sphere."""
    if pair.surface != 2:
        return d, 0.0
    a = axis(A, pair.j, 2)
    z = dot(a, d)
    return sub(d, scale(z, a)), z


@helper
def meet_round(A, pair, point, p, rj):
    """(delta, n, c) of a point and a sphere or cylinder; no depth where there is no normal."""
    e, _ = across(A, pair, sub(p, rj))
    distance = norm(e)
    n = scale(pair.side / distance, e) if distance > 0.0 else (0.0, 0.0, 0.0)
    delta = point.radius + pair.side * (pair.radius - distance)
    return delta, n, sub(p, scale(point.radius - 0.5 * delta, n))


@helper
def meet_round_rate(A, pair, point, p, rj, dp, drj, tj):
    """Changes of `meet_round` while p moves by dp and the second marker by (drj, tj)."""
    d, dd = sub(p, rj), sub(dp, drj)
    e, z = across(A, pair, d)
    de = dd
    if pair.surface == 2:
        a = axis(A, pair.j, 2)
        da = cross(tj, a)
        de = sub(dd, add(scale(dot(da, d) + dot(a, dd), a), scale(z, da)))
    distance = norm(e)
    n, growth = scale(pair.side / distance, e), dot(e, de) / distance
    dn = scale(1.0 / distance, sub(scale(pair.side, de), scale(growth, n)))
    delta, ddelta = point.radius + pair.side * (pair.radius - distance), -pair.side * growth
    return ddelta, dn, add(sub(dp, scale(point.radius - 0.5 * delta, dn)), scale(0.5 * ddelta, n))


@helper
def beside_strip(A, pair, d):
    """e to the point d from the marker; where its nearest point of the strip is along x, and 1 unless at an end."""
    x, y = dot(axis(A, pair.j, 0), d), dot(axis(A, pair.j, 1), d)
    at, free = x, 1.0
    if abs(x) > pair.radius:
        at, free = pair.radius if x > 0.0 else -pair.radius, 0.0
    return sub(d, add(scale(at, axis(A, pair.j, 0)), scale(y, axis(A, pair.j, 1)))), at, free


@helper
def meet_strip(A, pair, point, p, rj):
    """(delta, n, c) of a ball and a strip; no depth where there is no normal."""
    e, _, _ = beside_strip(A, pair, sub(p, rj))
    distance = norm(e)
    n = scale(1.0 / distance, e) if distance > 0.0 else (0.0, 0.0, 0.0)
    delta = point.radius - distance
    return delta, n, sub(p, scale(point.radius - 0.5 * delta, n))


@helper
def meet_strip_rate(A, pair, point, p, rj, dp, drj, tj):
    """Changes of `meet_strip` while p moves by dp and the second marker by (drj, tj)."""
    d, dd = sub(p, rj), sub(dp, drj)
    e, at, free = beside_strip(A, pair, d)
    x, y = axis(A, pair.j, 0), axis(A, pair.j, 1)
    dx, dy = cross(tj, x), cross(tj, y)
    along = free * (dot(dx, d) + dot(x, dd))
    side = dot(dy, d) + dot(y, dd)
    de = sub(dd, add(add(scale(along, x), scale(at, dx)), add(scale(side, y), scale(dot(y, d), dy))))
    distance = norm(e)
    n, growth = scale(1.0 / distance, e), dot(e, de) / distance
    dn = scale(1.0 / distance, sub(de, scale(growth, n)))
    delta = point.radius - distance
    return -growth, dn, sub(sub(dp, scale(point.radius - 0.5 * delta, dn)), scale(0.5 * growth, n))


@helper
def block_sides(pair):
    """Half the edges of a block."""
    return (pair.radius, pair.half_y, pair.half_z)


@helper
def nearest_face(x, half):
    """The axis whose face is nearest to a point inside, at x in the block's axes."""
    k = 0
    if half[1] - abs(x[1]) < half[0] - abs(x[0]):
        k = 1
    if half[2] - abs(x[2]) < half[k] - abs(x[k]):
        k = 2
    return k


@helper
def beside_block(x, half):
    """By how much a point at x in the block's axes is beyond its sides, along each axis, and how far away it is."""
    y = (
        x[0] - min(max(x[0], -half[0]), half[0]),
        x[1] - min(max(x[1], -half[1]), half[1]),
        x[2] - min(max(x[2], -half[2]), half[2]),
    )
    return y, norm(y)


@helper
def in_axes(A, j, d):
    """Components of d along the axes of a marker."""
    return (dot(axis(A, j, 0), d), dot(axis(A, j, 1), d), dot(axis(A, j, 2), d))


@helper
def meet_block(A, pair, point, p, rj):
    """(delta, n, c) of a ball and a block."""
    x, half = in_axes(A, pair.j, sub(p, rj)), block_sides(pair)
    y, distance = beside_block(x, half)
    n = turned(A, pair.j, scale(1.0 / distance, y)) if distance > 0.0 else (0.0, 0.0, 0.0)
    if distance == 0.0:
        k = nearest_face(x, half)
        distance, n = abs(x[k]) - half[k], scale(1.0 if x[k] >= 0.0 else -1.0, axis(A, pair.j, k))
    delta = point.radius - distance
    return delta, n, sub(p, scale(point.radius - 0.5 * delta, n))


@helper
def meet_block_rate(A, pair, point, p, rj, dp, drj, tj):
    """Changes of `meet_block` while p moves by dp and the second marker by (drj, tj); face, edge or corner stay."""
    d, half = sub(p, rj), block_sides(pair)
    x, dx = in_axes(A, pair.j, d), in_axes(A, pair.j, sub(sub(dp, drj), cross(tj, d)))  # as seen from the block
    y, distance = beside_block(x, half)
    if distance > 0.0:
        m = scale(1.0 / distance, y)
        dy = (dx[0] if y[0] != 0.0 else 0.0, dx[1] if y[1] != 0.0 else 0.0, dx[2] if y[2] != 0.0 else 0.0)
        growth = dot(m, dy)
        n = turned(A, pair.j, m)
        dn = add(turned(A, pair.j, scale(1.0 / distance, sub(dy, scale(growth, m)))), cross(tj, n))
    else:
        k = nearest_face(x, half)
        sign = 1.0 if x[k] >= 0.0 else -1.0
        distance, growth, n = abs(x[k]) - half[k], sign * dx[k], scale(sign, axis(A, pair.j, k))
        dn = cross(tj, n)
    delta = point.radius - distance
    return -growth, dn, sub(sub(dp, scale(point.radius - 0.5 * delta, dn)), scale(0.5 * growth, n))


@helper
def flank(A, pair, point, d):
    """The normal of a flank, on the side that the point says, of the gap next to the marker's point + d."""
    x, y, step = axis(A, pair.j, 0), axis(A, pair.j, 1), 2.0 * pi / pair.side
    angle = step * floor(atan2(dot(y, d), dot(x, d)) / step + 0.5) - 0.25 * pi * point.disc
    return add(scale(cos(angle), x), scale(sin(angle), y))


@helper
def meet_flank(A, pair, point, p, rj):
    """(delta, n, c) of a ball and a flank of a sprocket."""
    d = sub(p, rj)
    n = flank(A, pair, point, d)
    delta = SEAT * pair.radius - dot(n, d)
    return delta, n, sub(p, scale(point.radius - 0.5 * delta, n))


@helper
def meet_flank_rate(A, pair, point, p, rj, dp, drj, tj):
    """Changes of `meet_flank` while p moves by dp and the second marker by (drj, tj); the gap stays."""
    d = sub(p, rj)
    n = flank(A, pair, point, d)
    dn = cross(tj, n)
    delta, ddelta = SEAT * pair.radius - dot(n, d), -dot(dn, d) - dot(n, sub(dp, drj))
    return ddelta, dn, add(sub(dp, scale(point.radius - 0.5 * delta, dn)), scale(0.5 * ddelta, n))
