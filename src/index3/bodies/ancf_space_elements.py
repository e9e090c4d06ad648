"""What elements of cables and spatial beams in absolute nodal coordinates share: records, constant mass, weight.

An element has `vectors` vectors of three coordinates: position and gradients of its two nodes, one after the other.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import helper, slots, view

MOST = 8  # vectors of an element of any kind
INNER, SPARE = (3 * MOST) ** 2, 6 * MOST  # numbers of the largest matrix of an element, and of what a point needs
LINE, TANGENT, SECTION = 0, 1, 2
"""What a marker turns with: the tangent alone; the frame of r_x and r_y; that of r_y and r_z, whose third axis is x."""

BODY = np.dtype([("element", "i8"), ("element_count", "i8")])
ELEMENT = np.dtype([("first", "i8"), ("rule", "i8"), ("map", "i8"), ("lag", "f8"), ("drag", "f8")])
"""First coordinate, rule, first place in MAP; damping per stiffness and per mass."""
RULE = np.dtype(
    [
        ("vectors", "i8"),
        ("stretch", "i8"),
        ("stretch_count", "i8"),
        ("bend", "i8"),
        ("bend_count", "i8"),
        ("mass", "f8", MOST * MOST),
        ("moment", "f8", MOST),
    ]
)
"""What elements of one undeformed shape share: points, from `stretch` and `bend` on, mass and its first moment."""
MARK = np.dtype(
    [
        ("marker", "i8"),
        ("first", "i8"),  # first coordinate of its span
        ("count", "i8"),  # vectors of its span
        ("place", "i8"),  # in MAP, of its first coordinate by itself
        ("width", "i8"),  # coordinates of its element
        ("frame", "i8"),
        ("point", "f8", MOST),
        ("along", "f8", MOST),
        ("across", "f8", MOST),
        ("rest", "f8", 9),  # axes of a line's frame at the start, x, y, z
    ]
)
BASE = BODIES, ELEMENTS, RULES, MARKS, MAP, ROOM = slots(
    bodies=(BODY, 1), elements=(ELEMENT, 1), rules=(RULE, 1), marks=(MARK, 1), map=("i8", 1), room=("f8", 1)
)
"""ROOM: the matrix of an element, and behind it what belongs to a point."""
MEMORY = (ROOM,)


@helper
def combine(c, x, first, count):
    """sum c_i x_i of vectors of three; most points see few vectors of their element."""
    total = (0.0, 0.0, 0.0)
    for i in range(count):
        if c[i] == 0.0:
            continue
        at = first + 3 * i
        total = (total[0] + c[i] * x[at], total[1] + c[i] * x[at + 1], total[2] + c[i] * x[at + 2])
    return total


@helper
def add_spread(g, first, count, c, force):
    """g_i += c_i force."""
    for i in range(count):
        if c[i] == 0.0:
            continue
        for k in range(3):
            g[first + 3 * i + k] += c[i] * force[k]


@helper
def add_mass(E, x, out):
    """out += M x."""
    elements, rules = view(E, ELEMENTS), view(E, RULES)
    for n in range(elements.shape[0]):
        add_element_mass(rules[elements[n].rule], elements[n].first, 1.0, x, out)


@helper
def add_element_mass(rule, first, c, x, out):
    """out += c M x of one element."""
    for i in range(rule.vectors):
        total = (0.0, 0.0, 0.0)
        for j in range(rule.vectors):
            m, at = c * rule.mass[rule.vectors * i + j], first + 3 * j
            total = (total[0] + m * x[at], total[1] + m * x[at + 1], total[2] + m * x[at + 2])
        for k in range(3):
            out[first + 3 * i + k] += total[k]


@helper
def add_weight_and_drag(E, gravity, v, g):
    """g -= weight; g += drag M v."""
    elements, rules = view(E, ELEMENTS), view(E, RULES)
    for n in range(elements.shape[0]):
        first, rule = elements[n].first, elements[n].rule
        for i in range(rules[rule].vectors):
            for k in range(3):
                g[first + 3 * i + k] -= rules[rule].moment[i] * gravity[k]
        if elements[n].drag != 0.0:
            add_element_mass(rules[rule], first, elements[n].drag, v, g)


@helper
def put_mass(room, rule, c):
    """The matrix of an element: c M and nothing else."""
    width = 3 * rule.vectors
    for k in range(width * width):
        room[k] = 0.0
    for i in range(rule.vectors):
        for j in range(rule.vectors):
            for k in range(3):
                room[width * (3 * i + k) + 3 * j + k] = c * rule.mass[rule.vectors * i + j]


@helper
def add_to_matrix(values, places, first, room, count):
    """Put the matrix of an element into its places."""
    for k in range(count):
        values[places[first + k]] += room[k]


@helper
def inertia_energies(element, rule, q, v, gravity):
    """Kinetic energy of an element, its potential energy in the field of gravity, and the power of its drag."""
    first, double, weight = element.first, 0.0, 0.0
    for i in range(rule.vectors):
        at = first + 3 * i
        weight -= rule.moment[i] * (gravity[0] * q[at] + gravity[1] * q[at + 1] + gravity[2] * q[at + 2])
        for j in range(rule.vectors):
            by = first + 3 * j
            together = v[at] * v[by] + v[at + 1] * v[by + 1] + v[at + 2] * v[by + 2]
            double += rule.mass[rule.vectors * i + j] * together
    return 0.5 * double, weight, -element.drag * double


@helper
def add_energies(T, E, n, elastic, loss):
    """Add the energies of an element and its power; `elastic` energy and `loss` are those of its strains."""
    elements, energy, q, v = view(E, ELEMENTS), view(T, s.ENERGY), view(T, s.Q), view(T, s.V)
    rule = view(E, RULES)[elements[n].rule]
    kinetic, weight, drag = inertia_energies(elements[n], rule, q, v, view(T, s.GRAVITY))
    energy[s.KINETIC] += kinetic
    energy[s.POTENTIAL] += weight + elastic
    energy[s.POWER] += drag + loss
