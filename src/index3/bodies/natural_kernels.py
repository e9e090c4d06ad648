"""Bodies in natural coordinates: points and unit vectors, constant mass matrix, quadratic rows of their own.

Everything is linear or quadratic in q, so one set of kernels serves planar and spatial bodies and linkages of several
rigid parts that share points. A row is c + sum of value q_i q_j (or value q_i). A marker's point and its axes a_k are
linear in q where the own rows hold, da_k = C_k dq, and its twist is

    dr = C_r dq,    dtheta = (1/2) sum over k of a_k x C_k dq;

second derivatives of the twist vanish or are constant. Where the own rows do not hold yet, the linear axes B are
stretched; A = B (3 - B^T B) / 2 takes the stretch out to first order, so dtheta is the rotation in every direction of
q, and Newton's corrections of the own rows disturb no other row.
"""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import add, cross, dot, load_at, multiply, pick, put_at, scale
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view

NATURAL = np.dtype([("mass", "i8"), ("mass_count", "i8"), ("moment", "i8"), ("moment_count", "i8")])
"""Which terms of mass and of its first moment are those of a body."""
ROW = np.dtype([("row", "i8"), ("term", "i8"), ("term_count", "i8"), ("constant", "f8")])
TERM = np.dtype(
    [
        ("i", "i8"),  # coordinates; j = -1: a linear term
        ("j", "i8"),
        ("entry_i", "i8"),  # their places in PHI_Q
        ("entry_j", "i8"),
        ("place_ij", "i8"),  # places of the pair in MATRIX
        ("place_ji", "i8"),
        ("value", "f8"),
    ]
)
MASS_TERM = np.dtype([("i", "i8"), ("j", "i8"), ("place", "i8"), ("value", "f8")])
MOMENT = np.dtype([("i", "i8"), ("value", "f8", 3)])
"""How the first moment of mass, in ground axes, depends on coordinate i (-1: the constant)."""
FRAME = np.dtype(
    [
        ("marker", "i8"),
        ("first", "i8"),  # first coordinate of its body
        ("term", "i8"),
        ("term_count", "i8"),
        ("map", "i8"),  # leads to the places of its body's couplings
        ("constant", "f8", 12),  # of its point and, row by row, of its axes
    ]
)
FRAME_TERM = np.dtype([("axis", "i8"), ("component", "i8"), ("i", "i8"), ("value", "f8")])
"""value q_i in a component of the point (axis = -1) or of an axis; i counts from the body's first coordinate, and so do
the columns of marker matrices: a marker spans all coordinates of its body."""

BODIES, ROWS, TERMS, MASSES, MOMENTS, FRAMES, FRAME_TERMS, MAP = slots(
    bodies=(NATURAL, 1), rows=(ROW, 1), terms=(TERM, 1), masses=(MASS_TERM, 1), moments=(MOMENT, 1),
    frames=(FRAME, 1), frame_terms=(FRAME_TERM, 1), map=("i8", 1),
)  # fmt: skip


@helper
def unit(c):
    """Unit vector c."""
    return (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2))


@helper
def half_turn(A, m, axis, component):
    """(1/2) a_k x e_c: how a marker turns when component c of its axis k changes."""
    a = (A[m, axis], A[m, 3 + axis], A[m, 6 + axis])
    return scale(0.5, cross(a, unit(component)))


@helper
def axis_rate(terms, first, count, x, offset, axis):
    """C_k x for axis k of a marker: its rate if x are the rates of q."""
    rate = (0.0, 0.0, 0.0)
    for p in range(first, first + count):
        if terms[p].axis == axis:
            rate = add(rate, scale(terms[p].value * x[offset + terms[p].i], unit(terms[p].component)))
    return rate


@helper
def axis_rates(terms, first, count, x, offset):
    """C_k x of the three axes."""
    return (
        axis_rate(terms, first, count, x, offset, 0),
        axis_rate(terms, first, count, x, offset, 1),
        axis_rate(terms, first, count, x, offset, 2),
    )


@helper
def straighten(A, m):
    """Take the stretch out of a marker's axes: B (3 - B^T B) / 2, the first step of a polar decomposition."""
    a, b, c = (A[m, 0], A[m, 3], A[m, 6]), (A[m, 1], A[m, 4], A[m, 7]), (A[m, 2], A[m, 5], A[m, 8])
    B = (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])
    ab, bc, ca = -0.5 * dot(a, b), -0.5 * dot(b, c), -0.5 * dot(c, a)
    rest = (1.5 - 0.5 * dot(a, a), ab, ca, ab, 1.5 - 0.5 * dot(b, b), bc, ca, bc, 1.5 - 0.5 * dot(c, c))
    turned = multiply(B, rest)
    for k in range(9):
        A[m, k] = turned[k]


@helper
def put_twist(A, m, terms, first, count, x, offset, out):
    """J x of a marker."""
    line, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for p in range(first, first + count):
        value = terms[p].value * x[offset + terms[p].i]
        if terms[p].axis < 0:
            line = add(line, scale(value, unit(terms[p].component)))
        else:
            turn = add(turn, scale(value, half_turn(A, m, terms[p].axis, terms[p].component)))
    put_at(out, m, 0, line)
    put_at(out, m, 3, turn)


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    frames, terms, q, v = view(E, FRAMES), view(E, FRAME_TERMS), view(T, s.Q), view(T, s.V)
    marker_r, marker_a, marker_v = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V)
    for n in range(frames.shape[0]):
        m, first, count = frames[n].marker, frames[n].term, frames[n].term_count
        offset = frames[n].first
        for k in range(3):
            marker_r[m, k] = frames[n].constant[k]
        for k in range(9):
            marker_a[m, k] = frames[n].constant[3 + k]
        for p in range(first, first + count):
            value, c = terms[p].value * q[offset + terms[p].i], terms[p].component
            if terms[p].axis < 0:
                marker_r[m, c] += value
            else:
                marker_a[m, 3 * c + terms[p].axis] += value
        straighten(marker_a, m)
        put_twist(marker_a, m, terms, first, count, v, offset, marker_v)
    return OK


@helper
def gather_forces(T, E):
    """G -= J^T (wrenches) + gravity."""
    frames, terms = view(E, FRAMES), view(E, FRAME_TERMS)
    g, f, A = view(T, s.G), view(T, s.MARKER_F), view(T, s.MARKER_A)
    for n in range(frames.shape[0]):
        m = frames[n].marker
        torque, offset = load_at(f, m, 3), frames[n].first
        for p in range(frames[n].term, frames[n].term + frames[n].term_count):
            power = 0.0
            if terms[p].axis < 0:
                power = f[m, terms[p].component]
            else:
                power = dot(half_turn(A, m, terms[p].axis, terms[p].component), torque)
            g[offset + terms[p].i] -= terms[p].value * power
    moments, gravity = view(E, MOMENTS), view(T, s.GRAVITY)
    for n in range(moments.shape[0]):
        if moments[n].i >= 0:
            for k in range(3):
                g[moments[n].i] -= gravity[k] * moments[n].value[k]


@kernel
def gather(T, E):
    """G -= J^T (wrenches) + gravity; the own rows and their reactions."""
    q, lam, g = view(T, s.Q), view(T, s.LAM), view(T, s.G)
    if view(T, s.STATUS)[s.ROWS_ALONE] == 0:
        gather_forces(T, E)
    rows, products, phi, size = view(E, ROWS), view(E, TERMS), view(T, s.PHI), view(T, s.PHI_SCALE)
    for n in range(rows.shape[0]):
        row = rows[n].row
        phi[row] = rows[n].constant
        size[row] = abs(rows[n].constant)
        for p in range(rows[n].term, rows[n].term + rows[n].term_count):
            i, j, value = products[p].i, products[p].j, products[p].value
            other = 1.0
            if j >= 0:
                other = q[j]
                g[j] += lam[row] * value * q[i]
            g[i] += lam[row] * value * other
            phi[row] += value * q[i] * other
            size[row] += abs(value * q[i] * other)
    return OK


@kernel
def mass(T, E):
    """MA += M a."""
    masses, a, ma = view(E, MASSES), view(T, s.A), view(T, s.MA)
    for n in range(masses.shape[0]):
        ma[masses[n].i] += masses[n].value * a[masses[n].j]
    return OK


@helper
def put_change(E, T, x, out):
    """(J x)_q of every marker: only the turn depends on q, by (1/2) e_c x C_k x."""
    frames, terms, markers = view(E, FRAMES), view(E, FRAME_TERMS), view(T, s.MARKERS)
    for n in range(frames.shape[0]):
        m, first, count = frames[n].marker, frames[n].term, frames[n].term_count
        width, start = markers[m].count, markers[m].jacobian
        rates = axis_rates(terms, first, count, x, frames[n].first)
        for p in range(6 * width):
            out[start + p] = 0.0
        for p in range(first, first + count):
            if terms[p].axis >= 0:
                turn = scale(0.5 * terms[p].value, cross(unit(terms[p].component), pick(rates, terms[p].axis)))
                for k in range(3):
                    out[start + (3 + k) * width + terms[p].i] += turn[k]


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker."""
    frames, terms, markers = view(E, FRAMES), view(E, FRAME_TERMS), view(T, s.MARKERS)
    A, jacobian = view(T, s.MARKER_A), view(T, s.MARKER_J)
    for n in range(frames.shape[0]):
        m = frames[n].marker
        width, start = markers[m].count, markers[m].jacobian
        for p in range(6 * width):
            jacobian[start + p] = 0.0
        for p in range(frames[n].term, frames[n].term + frames[n].term_count):
            i, c, value = terms[p].i, terms[p].component, terms[p].value
            if terms[p].axis < 0:
                jacobian[start + c * width + i] += value
            else:
                turn = half_turn(A, m, terms[p].axis, c)
                for k in range(3):
                    jacobian[start + (3 + k) * width + i] += value * turn[k]
    put_change(E, T, view(T, s.V), view(T, s.MARKER_NV))
    return OK


@helper
def add_products(E, x, factor, out):
    """Add `factor` times the derivative of every quadratic term, contracted with x, to entries like those of PHI_Q."""
    terms = view(E, TERMS)
    for p in range(terms.shape[0]):
        i, j, value = terms[p].i, terms[p].j, factor * terms[p].value
        if j >= 0:
            out[terms[p].entry_i] += value * x[j]
            out[terms[p].entry_j] += value * x[i]


@kernel
def own_rows(T, E):
    """PHI_Q of the own rows."""
    terms, phi_q = view(E, TERMS), view(T, s.PHI_Q)
    add_products(E, view(T, s.Q), 1.0, phi_q)
    for p in range(terms.shape[0]):
        if terms[p].j < 0:
            phi_q[terms[p].entry_i] += terms[p].value
    return OK


@helper
def add_torque_stiffness(T, E, values, c_K):
    """-(J^T F)_q: only torques have it, by the change of the axes they act through."""
    frames, terms, markers = view(E, FRAMES), view(E, FRAME_TERMS), view(T, s.MARKERS)
    places, f = view(E, MAP), view(T, s.MARKER_F)
    for n in range(frames.shape[0]):
        m, first = frames[n].marker, frames[n].term
        torque, width, end = load_at(f, m, 3), markers[m].count, first + frames[n].term_count
        if torque[0] == 0.0 and torque[1] == 0.0 and torque[2] == 0.0:
            continue
        for p in range(first, end):
            for o in range(first, end):
                if terms[p].axis >= 0 and terms[p].axis == terms[o].axis and terms[p].component != terms[o].component:
                    turn = dot(cross(unit(terms[o].component), unit(terms[p].component)), torque)
                    at = frames[n].map + terms[p].i * width + terms[o].i
                    values[places[at]] -= 0.5 * c_K * terms[p].value * terms[o].value * turn


@kernel
def body_matrix(T, E):
    """The bodies' own part of MATRIX: M, the curvature of the own rows, and -(J^T F)_q."""
    masses, values, c, lam = view(E, MASSES), view(T, s.MATRIX), view(T, s.COEF), view(T, s.LAM)
    c_M, c_K = c[s.C_M], c[s.C_K]
    for n in range(masses.shape[0]):
        values[masses[n].place] += c_M * masses[n].value
    if c_K != 0.0:
        rows, terms = view(E, ROWS), view(E, TERMS)
        for n in range(rows.shape[0]):
            for p in range(rows[n].term, rows[n].term + rows[n].term_count):
                if terms[p].j >= 0:
                    value = c_K * lam[rows[n].row] * terms[p].value
                    values[terms[p].place_ij] += value
                    values[terms[p].place_ji] += value
        add_torque_stiffness(T, E, values, c_K)
    return OK


@kernel
def bias(T, E):
    """GAMMA of the own rows; markers have no bias acceleration."""
    rows, terms, v, gamma = view(E, ROWS), view(E, TERMS), view(T, s.V), view(T, s.GAMMA)
    for n in range(rows.shape[0]):
        for p in range(rows[n].term, rows[n].term + rows[n].term_count):
            if terms[p].j >= 0:
                gamma[rows[n].row] -= 2.0 * terms[p].value * v[terms[p].i] * v[terms[p].j]
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q; derivatives of the own rows' rates and gamma."""
    frames, terms, a = view(E, FRAMES), view(E, FRAME_TERMS), view(T, s.A)
    A, marker_x = view(T, s.MARKER_A), view(T, s.MARKER_X)
    for n in range(frames.shape[0]):
        m = frames[n].marker
        put_twist(A, m, terms, frames[n].term, frames[n].term_count, a, frames[n].first, marker_x)
    put_change(E, T, a, view(T, s.MARKER_NA))
    add_products(E, view(T, s.V), 1.0, view(T, s.PHIV_Q))
    add_products(E, a, 1.0, view(T, s.PHIA_Q))
    add_products(E, view(T, s.V), -2.0, view(T, s.GAMMA_V))
    return OK


@kernel
def energies(T, E):
    """Kinetic energy, and potential energy in the field of gravity."""
    bodies, masses, moments, q, v = view(E, BODIES), view(E, MASSES), view(E, MOMENTS), view(T, s.Q), view(T, s.V)
    gravity, energy = view(T, s.GRAVITY), view(T, s.ENERGY)
    for b in range(bodies.shape[0]):
        for n in range(bodies[b].mass, bodies[b].mass + bodies[b].mass_count):
            energy[s.KINETIC] += 0.5 * masses[n].value * v[masses[n].i] * v[masses[n].j]
        for n in range(bodies[b].moment, bodies[b].moment + bodies[b].moment_count):
            x = 1.0
            if moments[n].i >= 0:
                x = q[moments[n].i]
            for k in range(3):
                energy[s.POTENTIAL] -= gravity[k] * moments[n].value[k] * x
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians, "own_rows": own_rows,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
