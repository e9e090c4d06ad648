"""Markers of ground that move as functions of time.

They have no coordinates: pose and twist come from FUNCTION_VALUES, and so does the acceleration, which is all bias;
gamma and the derivatives of the rows follow as for any marker. What a row's explicit derivative by time lacks is g . V
of such a marker; `constraints` adds it. It has to come after the `constraints` of every constraint, and `forces` after
that of every force: the table of this kind is the last one.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from index3.algebra.rotations import about
from index3.algebra.vectors import add, cross, dot, load, load_at, put_at, scale
from index3.bodies.marker_kernels import put_axes
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view

MOVING = np.dtype(
    [
        ("marker", "i8"),
        ("path", "i8", (3,)),  # rows in FUNCTION_VALUES of the point's components, -1 where it stays
        ("turn", "i8", (3,)),  # of the rotation vector; one alone is an angle about `axis`; -1 where there is none
        ("axis", "f8", (3,)),
        ("planar", "i8"),  # 1: it holds planar bodies, so it must stay in its plane
        ("height", "f8"),  # of that plane
    ]
)
TIE = np.dtype([("row", "i8"), ("gradient", "i8"), ("marker", "i8")])
MARKERS, TIES, NOTED = slots(markers=(MOVING, 1), ties=(TIE, 1), noted=("f8", 1))
"""TIES: every row of every moving marker, with the place in ROW_G of that marker's six numbers. NOTED: a power."""
MEMORY = (NOTED,)
SLACK = 1e-9  # how far a marker that holds planar bodies may leave its plane [m, rad/s]: rounding of users' functions


@helper
def components(values, functions, order):
    """Three functions of time, or their derivatives."""
    return (values[functions[0], order], values[functions[1], order], values[functions[2], order])


@helper
def turning(values, marker, order):
    """The rotation vector of a marker, or its derivatives."""
    if marker.turn[0] < 0:
        return (0.0, 0.0, 0.0)
    if marker.turn[1] < 0:
        return scale(values[marker.turn[0], order], (marker.axis[0], marker.axis[1], marker.axis[2]))
    return components(values, marker.turn, order)


@helper
def coefficients(x):
    """a = (1 - cos)/angle^2, b = (angle - sin)/angle^3, and their derivatives by angle over angle; x = angle^2."""
    if x < 0.02:  # the series leave out terms below 1e-13, the formulas below lose eps / x^2 = 5e-13
        a = 0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x / 40320.0))
        b = 1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5040.0 - x / 362880.0))
        c = -1.0 / 12.0 + x * (1.0 / 180.0 - x * (1.0 / 6720.0 - x / 453600.0))
        d = -1.0 / 60.0 + x * (1.0 / 1260.0 - x * (1.0 / 60480.0 - x / 4989600.0))
        return a, b, c, d
    angle = sqrt(x)
    a, b = (1.0 - cos(angle)) / x, (angle - sin(angle)) / (angle * x)
    return a, b, (sin(angle) / angle - 2.0 * a) / x, (a - 3.0 * b) / x


@helper
def spin(phi, rate):
    """Angular velocity of a rotation vector phi: phi' + a phi x phi' + b phi x (phi x phi')."""
    a, b, _, _ = coefficients(dot(phi, phi))
    across = cross(phi, rate)
    return add(rate, add(scale(a, across), scale(b, cross(phi, across))))


@helper
def spin_rate(phi, rate, second):
    """Angular acceleration of a rotation vector phi: the derivative of `spin`."""
    _, b, c, d = coefficients(dot(phi, phi))
    across, stretch = cross(phi, rate), dot(phi, rate)
    twice = add(scale(d * stretch, cross(phi, across)), scale(b, cross(rate, across)))
    return add(spin(phi, second), add(scale(c * stretch, across), twice))


@kernel
def poses(T, E):
    """Pose, twist and acceleration of every moving marker; explicit derivatives of its rows by time begin at zero."""
    moving, ties, values = view(E, MARKERS), view(E, TIES), view(T, s.FUNCTION_VALUES)
    marker_r, marker_v, marker_b = view(T, s.MARKER_R), view(T, s.MARKER_V), view(T, s.MARKER_B)
    phi_t = view(T, s.PHI_T)
    for k in range(ties.shape[0]):
        phi_t[ties[k].row] = 0.0
    for e in range(moving.shape[0]):
        m = moving[e].marker
        if moving[e].path[0] >= 0:
            put_at(marker_r, m, 0, components(values, moving[e].path, 0))
            put_at(marker_v, m, 0, components(values, moving[e].path, 1))
            put_at(marker_b, m, 0, components(values, moving[e].path, 2))
        phi, rate = turning(values, moving[e], 0), turning(values, moving[e], 1)
        put_at(marker_v, m, 3, spin(phi, rate))
        put_at(marker_b, m, 3, spin_rate(phi, rate, turning(values, moving[e], 2)))
        put_axes(T, m, 1.0, about(phi))
        if moving[e].planar == 1:
            off = max(abs(marker_v[m, 2]), abs(marker_v[m, 3]), abs(marker_v[m, 4]))
            if max(off, abs(marker_r[m, 2] - moving[e].height)) > SLACK:
                return e + 1
    return OK


@helper
def carried(T, tie):
    """g . V of a moving marker in one row."""
    g, V = view(T, s.ROW_G), view(T, s.MARKER_V)
    x = 0.0
    for c in range(6):
        x += g[tie.gradient + c] * V[tie.marker, c]
    return x


@kernel
def constraints(T, E):
    """Add g . V of the moving markers to the explicit derivatives of their rows by time."""
    ties, phi_t = view(E, TIES), view(T, s.PHI_T)
    for k in range(ties.shape[0]):
        phi_t[ties[k].row] += carried(T, ties[k])
    return OK


@kernel
def forces(T, E):
    """Note the power of what moves the markers against the forces applied to them.

    That against reactions, which are in MARKER_F already, is lam . PHI_T, and the evaluator's own.
    """
    moving, ties, lam = view(E, MARKERS), view(E, TIES), view(T, s.LAM)
    f, V, power = view(T, s.MARKER_F), view(T, s.MARKER_V), view(E, NOTED)
    power[0] = 0.0
    for e in range(moving.shape[0]):
        m = moving[e].marker
        power[0] -= dot(load(f, m), load(V, m)) + dot(load_at(f, m, 3), load_at(V, m, 3))
    for k in range(ties.shape[0]):
        power[0] -= lam[ties[k].row] * carried(T, ties[k])
    return OK


@kernel
def energies(T, E):
    """The power that `forces` noted: multipliers may have changed since."""
    view(T, s.ENERGY)[s.POWER] += view(E, NOTED)[0]
    return OK


STAGES = {"poses": poses, "constraints": constraints, "forces": forces, "energies": energies}
