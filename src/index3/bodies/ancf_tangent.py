"""The tangent of an element of a planar beam: derivatives of its forces by q and v, point by point.

The force of a point depends on its two plane vectors u = sum a_i c_i and w = sum b_i c_i alone, so its derivative is a
(4, 4) matrix by (u, w), spread over the element by a_i and b_i.
"""

from __future__ import annotations

from index3.bodies.ancf_elements import (
    BENDS,
    ELEMENTS,
    INNER,
    ROOM,
    RULES,
    STRETCHES,
    WIDTH,
    beside,
    combine,
    lagging,
    strain_rates,
    strains,
    stresses,
    times,
    turning,
    turning_bends,
    turning_slopes,
)
from index3.compiled import slots as s
from index3.compiled.interface import helper, view


@helper
def put_stretch(room, point, first, lag, q, v, c_K, c_D):
    """The (4, 4) matrix of a stretch point by (u, w): c_K times the derivative of its force by q, c_D times by v."""
    u, w = combine(point.a, q, first, 6), combine(point.b, q, first, 6)
    e, x, y = strains(u, w), (c_K * u[0], c_K * u[1]), (c_K * w[0], c_K * w[1])
    if lag != 0.0:
        u_rate, w_rate = combine(point.a, v, first, 6), combine(point.b, v, first, 6)
        e = lagging(e, lag, strain_rates(u, w, u_rate, w_rate))
        x = beside(beside(x, c_K * lag, u_rate), c_D * lag, u)
        y = beside(beside(y, c_K * lag, w_rate), c_D * lag, w)
    t = stresses(point, e)
    for i in range(2):
        for j in range(2):
            same = c_K if i == j else 0.0
            at = INNER + 4 * i + j
            room[at] = point.along * u[i] * x[j] + point.shear * w[i] * y[j] + same * t[0]
            room[at + 2] = point.both * u[i] * y[j] + point.shear * w[i] * x[j] + same * t[2]
            room[at + 8] = point.both * w[i] * x[j] + point.shear * u[i] * y[j] + same * t[2]
            room[at + 10] = point.across * w[i] * y[j] + point.shear * u[i] * x[j] + same * t[1]


@helper
def flat(by_u, by_w):
    """The gradient (4) by (u, w) of a number whose derivatives are these complex coefficients."""
    return (by_u[1], by_u[0], by_w[1], by_w[0])


@helper
def put_bend(room, point, first, lag, q, v, c_K, c_D):
    """The same of a bend point."""
    u, w = combine(point.a, q, first, 6), combine(point.b, q, first, 6)
    by_u, by_w = turning_slopes(u, w)
    uu, uw = turning_bends(u, w)
    slope, change, bend = flat(by_u, by_w), (0.0, 0.0, 0.0, 0.0), turning(u, w) - point.rest
    if lag != 0.0:
        u_rate, w_rate = combine(point.a, v, first, 6), combine(point.b, v, first, 6)
        bend += lag * (times(by_u, u_rate)[1] + times(by_w, w_rate)[1])
        change = flat(beside(times(uu, u_rate), 1.0, times(uw, w_rate)), times(uw, u_rate))
    m = point.stiffness * bend
    for i in range(4):
        for j in range(4):
            by_j = c_K * (slope[j] + lag * change[j]) + c_D * lag * slope[j]
            room[INNER + 4 * i + j] = point.stiffness * slope[i] * by_j
    for i in range(2):
        for j in range(2):  # Im(c z z') of the plane vectors z, z' is (c_y, c_x; c_x, -c_y)
            sign = -1.0 if i + j == 2 else 1.0
            k = 1 if i == j else 0
            room[INNER + 4 * i + j] += c_K * m * sign * uu[k]
            room[INNER + 4 * i + j + 2] += c_K * m * sign * uw[k]
            room[INNER + 4 * i + j + 8] += c_K * m * sign * uw[k]


@helper
def add_point(room, a, b):
    """Add the (4, 4) matrix of a point to that of its element."""
    for i in range(6):
        for k in range(2):
            one, two = INNER + 4 * k, INNER + 8 + 4 * k
            ux, uy = a[i] * room[one] + b[i] * room[two], a[i] * room[one + 1] + b[i] * room[two + 1]
            wx, wy = a[i] * room[one + 2] + b[i] * room[two + 2], a[i] * room[one + 3] + b[i] * room[two + 3]
            row = WIDTH * (2 * i + k)
            for j in range(6):
                room[row + 2 * j] += ux * a[j] + wx * b[j]
                room[row + 2 * j + 1] += uy * a[j] + wy * b[j]


@helper
def fill_element(E, n, q, v, c):
    """The matrix of an element in ROOM: c_M M, and c_K, c_D times the derivatives of its forces by q and v."""
    element, rules, stretches, bends = view(E, ELEMENTS)[n], view(E, RULES), view(E, STRETCHES), view(E, BENDS)
    room, first, rule, lag = view(E, ROOM), element.first, element.rule, element.lag
    c_K, c_D, c_M = c[s.C_K], c[s.C_D], c[s.C_M] + c[s.C_D] * element.drag
    for k in range(INNER):
        room[k] = 0.0
    for i in range(6):
        for j in range(6):
            for k in range(2):
                room[WIDTH * (2 * i + k) + 2 * j + k] = c_M * rules[rule].mass[6 * i + j]
    if c_K == 0.0 and c_D * lag == 0.0:
        return
    for p in range(rules[rule].stretch, rules[rule].stretch + rules[rule].stretch_count):
        put_stretch(room, stretches[p], first, lag, q, v, c_K, c_D)
        add_point(room, stretches[p].a, stretches[p].b)
    for p in range(rules[rule].bend, rules[rule].bend + rules[rule].bend_count):
        put_bend(room, bends[p], first, lag, q, v, c_K, c_D)
        add_point(room, bends[p].a, bends[p].b)
