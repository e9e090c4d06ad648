"""Planar beams in Cholesky coordinates: nodal coordinates are worked out, used, and results carried back.

e = C p with C = L^-T, the same for x and y of all plane vectors. The nodal coordinates, their rates, accelerations and
forces of all these beams stand in the four rows of OWN, where elements and markers find them as if they were the
system's; forces go back by C^T, matrices by C^T K C, the mass matrix is the identity.
"""

from __future__ import annotations

import numpy as np

from index3.bodies import ancf_elements as e
from index3.bodies import ancf_marks as on_marks
from index3.bodies.ancf_tangent import fill_element
from index3.compiled import slots as s
from index3.compiled.interface import OK, extended, helper, kernel, view

RECORD = np.dtype(
    [
        ("first", "i8"),  # its first coordinate in the system
        ("own", "i8"),  # and in OWN
        ("count", "i8"),  # plane vectors
        ("transform", "i8"),  # first place of C in TRANSFORM
        ("matrix", "i8"),  # and of its matrices in DENSE, PRODUCT and PLACES
        ("markers", "i8"),
    ]
)
CHOLESKY, TRANSFORM, PLACES, OWN, DENSE, PRODUCT, TURNED = extended(
    e.BASE,
    cholesky=(RECORD, 1),
    transform=("f8", 1),
    places=("i8", 1),  # in MATRIX, of the full matrix of every beam
    own=("f8", 2),  # nodal coordinates, rates, accelerations, forces
    dense=("f8", 1),  # matrices by nodal coordinates
    product=("f8", 1),  # these times C
    turned=("f8", 1),  # four (6, 12) matrices of a marker, by the nodal coordinates of its element
)
MEMORY = (e.ROOM, OWN, DENSE, PRODUCT, TURNED)
POSITION, RATE, ACCELERATION, FORCE = 0, 1, 2, 3
SIZE = 72


@helper
def put_nodal(E, x, row):
    """Nodal coordinates, or rates or accelerations, of all beams in a row of OWN."""
    beams, C, own = view(E, CHOLESKY), view(E, TRANSFORM), view(E, OWN)
    for b in range(beams.shape[0]):
        n = beams[b].count
        for i in range(n):
            u, w = 0.0, 0.0
            at = beams[b].transform + n * i
            for j in range(i, n):
                u += C[at + j] * x[beams[b].first + 2 * j]
                w += C[at + j] * x[beams[b].first + 2 * j + 1]
            own[row, beams[b].own + 2 * i] = u
            own[row, beams[b].own + 2 * i + 1] = w


@helper
def put_motion(T, E):
    """Nodal coordinates and rates."""
    put_nodal(E, view(T, s.Q), POSITION)
    put_nodal(E, view(T, s.V), RATE)


@helper
def carry_back(E, g):
    """g += C^T times the nodal forces."""
    beams, C, own = view(E, CHOLESKY), view(E, TRANSFORM), view(E, OWN)
    for b in range(beams.shape[0]):
        n = beams[b].count
        for i in range(n):
            at = beams[b].transform + n * i
            for j in range(i, n):
                for k in range(2):
                    g[beams[b].first + 2 * j + k] += C[at + j] * own[FORCE, beams[b].own + 2 * i + k]


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    put_motion(T, E)
    own = view(E, OWN)
    on_marks.put_poses(T, E, own[POSITION], own[RATE])
    return OK


@kernel
def gather(T, E):
    """G: elastic and damping forces, gravity, wrenches."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    put_motion(T, E)
    own = view(E, OWN)
    q, v, g = own[POSITION], own[RATE], own[FORCE]
    for k in range(own.shape[1]):
        g[k] = 0.0
    e.add_elastic(E, q, v, g)
    e.add_mass(E, v, 0.0, True, g)
    e.add_gravity(E, view(T, s.GRAVITY), g)
    on_marks.add_wrenches(T, E, q, g)
    carry_back(E, view(T, s.G))
    return OK


@kernel
def mass(T, E):
    """MA += a."""
    beams, a, ma = view(E, CHOLESKY), view(T, s.A), view(T, s.MA)
    for b in range(beams.shape[0]):
        for k in range(beams[b].first, beams[b].first + 2 * beams[b].count):
            ma[k] += a[k]
    return OK


@helper
def carry_rows(E, mark, start, at, out):
    """The (6, 2 count) matrix of a marker at `at` in TURNED, by all coordinates of its beam, into a ragged array."""
    beam, C, turned = view(E, CHOLESKY)[mark.beam], view(E, TRANSFORM), view(E, TURNED)
    width, n, low = 2 * mark.count, beam.count, (mark.first - beam.own) // 2
    for r in range(6):
        for j in range(n):
            for k in range(2):
                x = 0.0
                for i in range(mark.count):
                    x += turned[at + width * r + 2 * i + k] * C[beam.transform + n * (low + i) + j]
                out[start + 2 * n * r + 2 * j + k] = x


@helper
def clear(E):
    """Zero TURNED: kernels of markers write only what is not zero."""
    turned = view(E, TURNED)
    for k in range(turned.shape[0]):
        turned[k] = 0.0


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker."""
    put_motion(T, E)
    marks, markers, own, turned = view(E, e.MARKS), view(T, s.MARKERS), view(E, OWN), view(E, TURNED)
    for n in range(marks.shape[0]):
        clear(E)
        start = markers[marks[n].marker].jacobian
        on_marks.put_jacobians(marks[n], 0, own[POSITION], own[RATE], turned[:SIZE], turned[SIZE : 2 * SIZE])
        carry_rows(E, marks[n], start, 0, view(T, s.MARKER_J))
        carry_rows(E, marks[n], start, SIZE, view(T, s.MARKER_NV))
    return OK


@helper
def carry_matrices(T, E, c):
    """MATRIX += C^T K C of every beam; where nothing but mass is asked for, c_M on the diagonal."""
    beams, C, K, KC = view(E, CHOLESKY), view(E, TRANSFORM), view(E, DENSE), view(E, PRODUCT)
    values, places = view(T, s.MATRIX), view(E, PLACES)
    for b in range(beams.shape[0]):
        n, first, at = beams[b].count, beams[b].matrix, beams[b].transform
        size = 2 * n
        for row in range(size):
            low, high = max(0, 3 * (row // 6) - 3), min(n, 3 * (row // 6) + 6)  # vectors of the nodes beside it
            for j in range(n):
                x, y = 0.0, 0.0
                for i in range(low, min(high, j + 1)):
                    x += K[first + size * row + 2 * i] * C[at + n * i + j]
                    y += K[first + size * row + 2 * i + 1] * C[at + n * i + j]
                KC[first + size * row + 2 * j] = x
                KC[first + size * row + 2 * j + 1] = y
        for i in range(n):
            for k in range(2):
                for column in range(size):
                    x = 0.0
                    for m in range(i + 1):
                        x += C[at + n * m + i] * KC[first + size * (2 * m + k) + column]
                    values[places[first + size * (2 * i + k) + column]] += x


@kernel
def body_matrix(T, E):
    """Identity, tangent of the elastic forces, and -(J^T F)_q."""
    elements, marks, places, room = view(E, e.ELEMENTS), view(E, e.MARKS), view(E, e.MAP), view(E, e.ROOM)
    values, c, own, f = view(E, DENSE), view(T, s.COEF), view(E, OWN), view(T, s.MARKER_F)
    if c[s.C_K] == 0.0 and c[s.C_D] == 0.0:
        put_identity(T, E, c[s.C_M])
        return OK
    put_motion(T, E)
    for k in range(values.shape[0]):
        values[k] = 0.0
    for n in range(elements.shape[0]):
        fill_element(E, n, own[POSITION], own[RATE], c)
        for k in range(e.INNER):
            values[places[e.INNER * n + k]] += room[k]
    for n in range(marks.shape[0]):
        torque = f[marks[n].marker, 5]
        if torque != 0.0 and c[s.C_K] != 0.0:
            on_marks.add_turn_stiffness(marks[n], torque, own[POSITION], c[s.C_K], values, places)
    carry_matrices(T, E, c)
    return OK


@helper
def put_identity(T, E, factor):
    """MATRIX += factor times the identity."""
    beams, values, places = view(E, CHOLESKY), view(T, s.MATRIX), view(E, PLACES)
    for b in range(beams.shape[0]):
        size = 2 * beams[b].count
        for k in range(size):
            values[places[beams[b].matrix + (size + 1) * k]] += factor


@kernel
def bias(T, E):
    """MARKER_B."""
    put_motion(T, E)
    marks, own, marker_b = view(E, e.MARKS), view(E, OWN), view(T, s.MARKER_B)
    for n in range(marks.shape[0]):
        marker_b[marks[n].marker, 5] = on_marks.bias_of(marks[n], own[POSITION], own[RATE])
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias."""
    put_motion(T, E)
    put_nodal(E, view(T, s.A), ACCELERATION)
    marks, markers, own, turned = view(E, e.MARKS), view(T, s.MARKERS), view(E, OWN), view(E, TURNED)
    for n in range(marks.shape[0]):
        clear(E)
        start = markers[marks[n].marker].jacobian
        on_marks.put_accelerations(
            marks[n], 0, own[POSITION], own[RATE], own[ACCELERATION], view(T, s.MARKER_X), turned[:SIZE],
            turned[SIZE : 2 * SIZE], turned[2 * SIZE : 3 * SIZE],
        )  # fmt: skip
        carry_rows(E, marks[n], start, 0, view(T, s.MARKER_NA))
        carry_rows(E, marks[n], start, SIZE, view(T, s.MARKER_BQ))
        carry_rows(E, marks[n], start, 2 * SIZE, view(T, s.MARKER_BV))
    return OK


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of strain and gravity; power of damping."""
    put_motion(T, E)
    beams, own = view(E, e.BEAMS), view(E, OWN)
    for b in range(beams.shape[0]):
        e.add_energies(E, beams[b], own[POSITION], own[RATE], view(T, s.GRAVITY), view(T, s.ENERGY))
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
