"""Elements of planar beams in absolute nodal coordinates: mass, elastic forces, tangent (docs/theory/ancf.md).

A node has r, r_x and r_y, so the twelve coordinates of an element follow each other: six plane vectors c_i. Whatever an
element needs is made of pairs of plane vectors u = sum a_i c_i, w = sum b_i c_i:

    stretch point   e = ((u.u - 1)/2, (w.w - 1)/2, u.w)    energy (1/2) e.C e    (Green strain; u along, w across)
    bend point      k = (u x w)/(u.u), the rate at which u turns if w = u_x    energy (1/2) EI (k - k0)^2

With damping, stress follows from e + lag e'. Plane vectors are handled as complex numbers where they turn: the angle of
z is Im log z, so its derivatives are Im(dz/z), -Im(dz dz'/z^2), 2 Im(dz dz' dz''/z^3), and k = Im(w/u).
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import helper, slots, view

BEAM = np.dtype([("element", "i8"), ("element_count", "i8"), ("number", "i8")])
"""The elements of a beam, consecutive, and its number among the beams."""
ELEMENT = np.dtype(
    [
        ("first", "i8"),  # its first coordinate
        ("rule", "i8"),
        ("lag", "f8"),  # damping [s]: stress follows strain + lag times its rate
        ("drag", "f8"),  # damping [1/s]: force per mass and velocity
    ]
)
RULE = np.dtype(
    [
        ("stretch", "i8"),  # its points
        ("stretch_count", "i8"),
        ("bend", "i8"),
        ("bend_count", "i8"),
        ("mass", "f8", 36),  # between the six vectors of an element
        ("moment", "f8", 6),  # mass times r = moment . c
    ]
)
STRETCH = np.dtype([("a", "f8", 6), ("b", "f8", 6), ("along", "f8"), ("both", "f8"), ("across", "f8"), ("shear", "f8")])
BEND = np.dtype([("a", "f8", 6), ("b", "f8", 6), ("stiffness", "f8"), ("rest", "f8")])
MARK = np.dtype(
    [
        ("marker", "i8"),
        ("first", "i8"),  # its first coordinate
        ("count", "i8"),  # vectors it depends on: those of a node or of an element
        ("place", "i8"),  # first place in MAP of its coordinates
        ("tangent", "i8"),  # 1: the direction is its x axis, 0: its y axis
        ("point", "f8", 6),
        ("direction", "f8", 6),
        ("height", "f8"),  # z in ground
        ("beam", "i8"),  # number of its beam
    ]
)
BASE = slots(
    beams=(BEAM, 1), elements=(ELEMENT, 1), rules=(RULE, 1), stretches=(STRETCH, 1), bends=(BEND, 1), marks=(MARK, 1),
    map=("i8", 1),  # places in MATRIX of the (12, 12) pairs of every element
    room=("f8", 1),  # the matrix of one element, the (4, 4) of one point, and the elastic energies of all elements
)  # fmt: skip
BEAMS, ELEMENTS, RULES, STRETCHES, BENDS, MARKS, MAP, ROOM = BASE
MEMORY = (ROOM,)
WIDTH, INNER, ELASTIC = 12, 144, 160
"""Coordinates of an element; where the matrix of a point and the elastic energies begin in ROOM."""


@helper
def combine(c, x, first, count):
    """The plane vector sum c_i x_i."""
    u, w = 0.0, 0.0
    for i in range(count):
        u += c[i] * x[first + 2 * i]
        w += c[i] * x[first + 2 * i + 1]
    return (u, w)


@helper
def along(a, b):
    """a . b in the plane."""
    return a[0] * b[0] + a[1] * b[1]


@helper
def times(a, b):
    """a b as complex numbers."""
    return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


@helper
def inverse(a):
    """1 / a as complex numbers."""
    c = 1.0 / (a[0] * a[0] + a[1] * a[1])
    return (c * a[0], -c * a[1])


@helper
def beside(a, c, b):
    """a + c b in the plane."""
    return (a[0] + c * b[0], a[1] + c * b[1])


@helper
def strains(u, w):
    """Green strain at a stretch point."""
    return (0.5 * (along(u, u) - 1.0), 0.5 * (along(w, w) - 1.0), along(u, w))


@helper
def strain_rates(u, w, u_rate, w_rate):
    """Its rate."""
    return (along(u, u_rate), along(w, w_rate), along(u_rate, w) + along(u, w_rate))


@helper
def stresses(point, e):
    """C e of a stretch point."""
    return (point.along * e[0] + point.both * e[1], point.both * e[0] + point.across * e[1], point.shear * e[2])


@helper
def lagging(e, lag, rate):
    """e + lag e'."""
    return (e[0] + lag * rate[0], e[1] + lag * rate[1], e[2] + lag * rate[2])


@helper
def turning(u, w):
    """Im(w/u), the curvature of a bend point."""
    return times(w, inverse(u))[1]


@helper
def turning_slopes(u, w):
    """Derivatives of the curvature by u and w, as complex coefficients: -w/u^2 and 1/u."""
    inv = inverse(u)
    by_u = times(w, times(inv, inv))
    return (-by_u[0], -by_u[1]), inv


@helper
def turning_bends(u, w):
    """Second derivatives by (u, u) and by (u, w): 2 w/u^3 and -1/u^2."""
    inv = inverse(u)
    square = times(inv, inv)
    cube = times(w, times(square, inv))
    return (2.0 * cube[0], 2.0 * cube[1]), (-square[0], -square[1])


@helper
def add_vectors(g, first, a, b, by_u, by_w):
    """g_i += a_i by_u + b_i by_w, plane vectors."""
    for i in range(6):
        for k in range(2):
            g[first + 2 * i + k] += a[i] * by_u[k] + b[i] * by_w[k]


@helper
def dot(e, t):
    """e . t of a strain and a stress."""
    return e[0] * t[0] + e[1] * t[1] + e[2] * t[2]


@helper
def add_elastic(E, q, v, g):
    """g += elastic and damping forces of every element (on the left side); their elastic energies into ROOM."""
    elements, rules, stretches, bends = view(E, ELEMENTS), view(E, RULES), view(E, STRETCHES), view(E, BENDS)
    for n in range(elements.shape[0]):
        first, rule, lag, double = elements[n].first, elements[n].rule, elements[n].lag, 0.0
        for p in range(rules[rule].stretch, rules[rule].stretch + rules[rule].stretch_count):
            a, b = stretches[p].a, stretches[p].b
            u, w = combine(a, q, first, 6), combine(b, q, first, 6)
            e = strains(u, w)
            t = stresses(stretches[p], e)
            double += dot(e, t)
            if lag != 0.0:
                rate = strain_rates(u, w, combine(a, v, first, 6), combine(b, v, first, 6))
                t = stresses(stretches[p], lagging(e, lag, rate))
            by_u = (t[0] * u[0] + t[2] * w[0], t[0] * u[1] + t[2] * w[1])
            by_w = (t[2] * u[0] + t[1] * w[0], t[2] * u[1] + t[1] * w[1])
            add_vectors(g, first, a, b, by_u, by_w)
        for p in range(rules[rule].bend, rules[rule].bend + rules[rule].bend_count):
            a, b = bends[p].a, bends[p].b
            u, w = combine(a, q, first, 6), combine(b, q, first, 6)
            by_u, by_w = turning_slopes(u, w)
            bend = turning(u, w) - bends[p].rest
            double += bends[p].stiffness * bend * bend
            if lag != 0.0:
                rate = times(by_u, combine(a, v, first, 6))[1] + times(by_w, combine(b, v, first, 6))[1]
                bend += lag * rate
            m = bends[p].stiffness * bend
            add_vectors(g, first, a, b, (m * by_u[1], m * by_u[0]), (m * by_w[1], m * by_w[0]))
        view(E, ROOM)[ELASTIC + n] = 0.5 * double


@helper
def add_mass(E, x, factor, dragged, out):
    """out += factor M x; with `dragged`, the factor of each beam's own drag besides."""
    elements, rules = view(E, ELEMENTS), view(E, RULES)
    for n in range(elements.shape[0]):
        first, rule = elements[n].first, elements[n].rule
        c = elements[n].drag if dragged else factor
        if c == 0.0:
            continue
        for i in range(6):
            for j in range(6):
                m = c * rules[rule].mass[6 * i + j]
                out[first + 2 * i] += m * x[first + 2 * j]
                out[first + 2 * i + 1] += m * x[first + 2 * j + 1]


@helper
def add_gravity(E, gravity, g):
    """g -= weight."""
    elements, rules = view(E, ELEMENTS), view(E, RULES)
    for n in range(elements.shape[0]):
        first, rule = elements[n].first, elements[n].rule
        for i in range(6):
            for k in range(2):
                g[first + 2 * i + k] -= rules[rule].moment[i] * gravity[k]


@helper
def element_loss(E, n, q, v):
    """The power that the damping of an element takes out."""
    element, rules, stretches, bends = view(E, ELEMENTS)[n], view(E, RULES), view(E, STRETCHES), view(E, BENDS)
    first, rule, loss = element.first, element.rule, 0.0
    if element.lag == 0.0:
        return 0.0
    for p in range(rules[rule].stretch, rules[rule].stretch + rules[rule].stretch_count):
        a, b = stretches[p].a, stretches[p].b
        u, w = combine(a, q, first, 6), combine(b, q, first, 6)
        e = strain_rates(u, w, combine(a, v, first, 6), combine(b, v, first, 6))
        loss += dot(e, stresses(stretches[p], e))
    for p in range(rules[rule].bend, rules[rule].bend + rules[rule].bend_count):
        a, b = bends[p].a, bends[p].b
        by_u, by_w = turning_slopes(combine(a, q, first, 6), combine(b, q, first, 6))
        rate = times(by_u, combine(a, v, first, 6))[1] + times(by_w, combine(b, v, first, 6))[1]
        loss += bends[p].stiffness * rate * rate
    return element.lag * loss


@helper
def add_energies(E, beam, q, v, gravity, energy):
    """Kinetic and potential energy of a beam, and the power of its damping; after `add_elastic` at the same q."""
    elements, rules, elastic = view(E, ELEMENTS), view(E, RULES), view(E, ROOM)
    for n in range(beam.element, beam.element + beam.element_count):
        first, rule = elements[n].first, elements[n].rule
        double = 0.0
        for i in range(6):
            for k in range(2):
                energy[s.POTENTIAL] -= rules[rule].moment[i] * gravity[k] * q[first + 2 * i + k]
                for j in range(6):
                    double += rules[rule].mass[6 * i + j] * v[first + 2 * i + k] * v[first + 2 * j + k]
        energy[s.KINETIC] += 0.5 * double
        energy[s.POTENTIAL] += elastic[ELASTIC + n]
        energy[s.POWER] -= element_loss(E, n, q, v) + elements[n].drag * double
