"""Planar bodies: q = (x, y, angle) in ground x-y; the mass matrix is constant and diagonal.

A marker at d = Rz(angle) s from the centre moves by dr + dangle z x d.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from index3.algebra.vectors import apply, load, put_at
from index3.bodies.marker_kernels import put_axes
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view

PLANAR = np.dtype(
    [
        ("first", "i8"),  # first coordinate
        ("markers", "i8"),  # its markers, consecutive
        ("marker_count", "i8"),
        ("mass", "f8"),
        ("inertia", "f8"),
    ]
)
BODIES, MAP = slots(bodies=(PLANAR, 1), map=("i8", 2))
"""MAP: places in MATRIX of the three diagonal entries."""


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    local_r, marker_r, marker_v = view(T, s.LOCAL_R), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        c, n, w = cos(q[first + 2]), sin(q[first + 2]), v[first + 2]
        A = (c, -n, 0.0, n, c, 0.0, 0.0, 0.0, 1.0)
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            d = apply(A, load(local_r, m))
            put_at(marker_r, m, 0, (q[first] + d[0], q[first + 1] + d[1], d[2]))
            put_at(marker_v, m, 0, (v[first] - w * d[1], v[first + 1] + w * d[0], 0.0))
            put_at(marker_v, m, 3, (0.0, 0.0, w))
            put_axes(T, m, 1.0, A)
    return OK


@kernel
def gather(T, E):
    """G -= J^T (wrenches) + gravity."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    bodies, q, g = view(E, BODIES), view(T, s.Q), view(T, s.G)
    r, f, gravity = view(T, s.MARKER_R), view(T, s.MARKER_F), view(T, s.GRAVITY)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        g[first] -= bodies[b].mass * gravity[0]
        g[first + 1] -= bodies[b].mass * gravity[1]
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            g[first] -= f[m, 0]
            g[first + 1] -= f[m, 1]
            g[first + 2] -= f[m, 5] + (r[m, 0] - q[first]) * f[m, 1] - (r[m, 1] - q[first + 1]) * f[m, 0]
    return OK


@kernel
def mass(T, E):
    """MA += M a."""
    bodies, a, ma = view(E, BODIES), view(T, s.A), view(T, s.MA)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        ma[first] += bodies[b].mass * a[first]
        ma[first + 1] += bodies[b].mass * a[first + 1]
        ma[first + 2] += bodies[b].inertia * a[first + 2]
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker: six rows of three columns."""
    bodies, markers, q, v = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V)
    r, jacobian, change = view(T, s.MARKER_R), view(T, s.MARKER_J), view(T, s.MARKER_NV)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            dx, dy, w, start = r[m, 0] - q[first], r[m, 1] - q[first + 1], v[first + 2], markers[m].jacobian
            jacobian[start] = 1.0
            jacobian[start + 4] = 1.0
            jacobian[start + 2] = -dy
            jacobian[start + 5] = dx
            jacobian[start + 17] = 1.0
            change[start + 2] = -w * dx
            change[start + 5] = -w * dy
    return OK


@kernel
def body_matrix(T, E):
    """The bodies' own part of MATRIX, with -(J^T F)_q at constant marker wrenches F."""
    bodies, places, values, c = view(E, BODIES), view(E, MAP), view(T, s.MATRIX), view(T, s.COEF)
    q, r, f = view(T, s.Q), view(T, s.MARKER_R), view(T, s.MARKER_F)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        values[places[b, 0]] += c[s.C_M] * bodies[b].mass
        values[places[b, 1]] += c[s.C_M] * bodies[b].mass
        values[places[b, 2]] += c[s.C_M] * bodies[b].inertia
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            arm = (r[m, 0] - q[first]) * f[m, 0] + (r[m, 1] - q[first + 1]) * f[m, 1]
            values[places[b, 2]] += c[s.C_K] * arm
    return OK


@kernel
def bias(T, E):
    """MARKER_B = -w^2 d."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    r, marker_b = view(T, s.MARKER_R), view(T, s.MARKER_B)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        w2 = v[first + 2] * v[first + 2]
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            marker_b[m, 0] = -w2 * (r[m, 0] - q[first])
            marker_b[m, 1] = -w2 * (r[m, 1] - q[first + 1])
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias."""
    bodies, markers, q, v, a = view(E, BODIES), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A)
    r, marker_x = view(T, s.MARKER_R), view(T, s.MARKER_X)
    marker_na, marker_bq, marker_bv = view(T, s.MARKER_NA), view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    for b in range(bodies.shape[0]):
        first = bodies[b].first
        w, alpha = v[first + 2], a[first + 2]
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            dx, dy, start = r[m, 0] - q[first], r[m, 1] - q[first + 1], markers[m].jacobian
            put_at(marker_x, m, 0, (a[first] - alpha * dy, a[first + 1] + alpha * dx, 0.0))
            put_at(marker_x, m, 3, (0.0, 0.0, alpha))
            marker_na[start + 2] = -alpha * dx
            marker_na[start + 5] = -alpha * dy
            marker_bq[start + 2] = w * w * dy
            marker_bq[start + 5] = -w * w * dx
            marker_bv[start + 2] = -2.0 * w * dx
            marker_bv[start + 5] = -2.0 * w * dy
    return OK


@kernel
def energies(T, E):
    """Kinetic energy, and potential energy in the field of gravity."""
    bodies, q, v, gravity, energy = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.GRAVITY), view(T, s.ENERGY)
    for b in range(bodies.shape[0]):
        first, m = bodies[b].first, bodies[b].mass
        square = v[first] * v[first] + v[first + 1] * v[first + 1]
        energy[s.KINETIC] += 0.5 * (m * square + bodies[b].inertia * v[first + 2] * v[first + 2])
        energy[s.POTENTIAL] -= m * (gravity[0] * q[first] + gravity[1] * q[first + 1])
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
