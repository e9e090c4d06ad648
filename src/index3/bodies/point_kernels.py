"""Point masses: q = (x, y, z); markers move with the point and never turn."""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view

POINT = np.dtype([("first", "i8"), ("markers", "i8"), ("marker_count", "i8"), ("mass", "f8")])
BODIES, MAP = slots(bodies=(POINT, 1), map=("i8", 2))
"""MAP: places in MATRIX of the three diagonal entries."""


@kernel
def poses(T, E):
    """Position and velocity of every marker; the axes stand as they were set."""
    bodies, q, v = view(E, BODIES), view(T, s.Q), view(T, s.V)
    local_r, marker_r, marker_v = view(T, s.LOCAL_R), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for b in range(bodies.shape[0]):
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            for k in range(3):
                marker_r[m, k] = q[bodies[b].first + k] + local_r[m, k]
                marker_v[m, k] = v[bodies[b].first + k]
    return OK


@kernel
def gather(T, E):
    """G -= forces + gravity."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    bodies, g, f, gravity = view(E, BODIES), view(T, s.G), view(T, s.MARKER_F), view(T, s.GRAVITY)
    for b in range(bodies.shape[0]):
        for k in range(3):
            g[bodies[b].first + k] -= bodies[b].mass * gravity[k]
            for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
                g[bodies[b].first + k] -= f[m, k]
    return OK


@kernel
def mass(T, E):
    """MA += m a."""
    bodies, a, ma = view(E, BODIES), view(T, s.A), view(T, s.MA)
    for b in range(bodies.shape[0]):
        for k in range(bodies[b].first, bodies[b].first + 3):
            ma[k] += bodies[b].mass * a[k]
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J = [I; 0]."""
    bodies, markers, jacobian = view(E, BODIES), view(T, s.MARKERS), view(T, s.MARKER_J)
    for b in range(bodies.shape[0]):
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            for k in range(3):
                jacobian[markers[m].jacobian + 4 * k] = 1.0
    return OK


@kernel
def body_matrix(T, E):
    """The mass on the diagonal."""
    bodies, places, values, c = view(E, BODIES), view(E, MAP), view(T, s.MATRIX), view(T, s.COEF)
    for b in range(bodies.shape[0]):
        for k in range(3):
            values[places[b, k]] += c[s.C_M] * bodies[b].mass
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a: the point's acceleration."""
    bodies, a, marker_x = view(E, BODIES), view(T, s.A), view(T, s.MARKER_X)
    for b in range(bodies.shape[0]):
        for m in range(bodies[b].markers, bodies[b].markers + bodies[b].marker_count):
            for k in range(3):
                marker_x[m, k] = a[bodies[b].first + k]
    return OK


@kernel
def energies(T, E):
    """Kinetic energy, and potential energy in the field of gravity."""
    bodies, q, v, gravity, energy = view(E, BODIES), view(T, s.Q), view(T, s.V), view(T, s.GRAVITY), view(T, s.ENERGY)
    for b in range(bodies.shape[0]):
        for k in range(3):
            u = v[bodies[b].first + k]
            energy[s.KINETIC] += 0.5 * bodies[b].mass * u * u
            energy[s.POTENTIAL] -= bodies[b].mass * gravity[k] * q[bodies[b].first + k]
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians,
    "body_matrix": body_matrix, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
