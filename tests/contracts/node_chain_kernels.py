"""Kernels of the chain of nodes, a body kind of the tests: see `node_chain`.

A marker at s on a node (r, angle, stretch, d) is at x = r + (1 + stretch) u + s_x d with u = Rz(angle) s, and turns
with the angle about z. With k = z cross and w the rate of the angle: du = k u dangle; so derivatives have few terms.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from index3.algebra.vectors import add, dot, load, put_at, scale
from index3.bodies.marker_kernels import put_axes, put_column
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, helper, kernel, slots, view

ANGLE, STRETCH, GRADIENT, COMPONENTS = 3, 4, 5, 8
ORDER = (3, 0, 6, 1, 4, 7, 2, 5)
"""The components of a node in the order of a marker's span."""
COLUMN = (1, 3, 6, 0, 4, 7, 2, 5)
"""Where each component stands among the last eight of a span; what comes before does not move the marker."""

CHAIN = np.dtype(
    [
        ("row", "i8"),  # |d| = 1 of the last node
        ("entry", "i8"),  # its first place in PHI_Q
        ("director", "i8", 3),  # coordinates of that d
        ("place", "i8", 3),  # their diagonal places in MATRIX
        ("term", "i8"),
        ("term_count", "i8"),
    ]
)
TERM = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("component", "i8"),  # of j
        ("place", "i8"),
        ("mass", "f8"),
        ("stiffness", "f8"),
        ("rest", "f8", 2),  # q_i and q_j without stress
    ]
)
MARK = np.dtype([("marker", "i8"), ("turn", "i8"), ("mixed", "i8", 2)])
"""A marker and the places in MATRIX of its node's pairs (angle, angle), (angle, stretch) and (stretch, angle)."""
BODIES, TERMS, MARKS = slots(bodies=(CHAIN, 1), terms=(TERM, 1), marks=(MARK, 1))


def table(bodies: list[Any], sites: list[Any], places: np.ndarray) -> Table:
    """Masses and springs of all chains, and where their markers stand."""
    chains, terms, marks, begin = [], [], [], 0
    for body, site in zip(bodies, sites, strict=True):
        rows, columns = body.couplings
        at = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), places[begin:].tolist(), strict=False))
        begin += len(rows)
        first, M, K = len(terms), body.mass_matrix, body.stiffness_matrix
        for i, j in at:
            if M[i, j] != 0.0 or K[i, j] != 0.0:
                numbers = (M[i, j], K[i, j], (body.rest[i], body.rest[j]))
                terms.append((site.first + i, site.first + j, j // body.nodes, at[i, j], *numbers))
        director = [body.number(body.nodes - 1, GRADIENT + k) for k in range(3)]
        coordinates = tuple(site.first + k for k in director)
        diagonal = tuple(at[k, k] for k in director)
        chains.append((site.row, site.entry, coordinates, diagonal, first, len(terms) - first))
        for number, marker in enumerate(site.markers, site.marker):
            angle, stretch = (body.number(body.node_of(marker), c) for c in (ANGLE, STRETCH))
            marks.append((number, at[angle, angle], (at[angle, stretch], at[stretch, angle])))
    made = Table(3)
    made[BODIES], made[TERMS], made[MARKS] = np.array(chains, CHAIN), np.array(terms, TERM), np.array(marks, MARK)
    return made


@helper
def column(marker, c):
    """Where a component stands in the span of a marker."""
    return marker.count - COMPONENTS + COLUMN[c]


@helper
def component(T, m, x, c):
    """One component of a marker's node in q, v or a."""
    marker = view(T, s.MARKERS)[m]
    return x[view(T, s.SPANS)[marker.span + column(marker, c)]]


@helper
def vector(T, m, x, c):
    """Three components from c on."""
    return (component(T, m, x, c), component(T, m, x, c + 1), component(T, m, x, c + 2))


@helper
def arm(T, m):
    """u, k u and k k u of a marker, and 1 + stretch."""
    q, x = view(T, s.Q), load(view(T, s.LOCAL_R), m)
    angle = component(T, m, q, ANGLE)
    c, n = cos(angle), sin(angle)
    u = (c * x[0] - n * x[1], n * x[0] + c * x[1], x[2])
    return u, (-u[1], u[0], 0.0), (-u[0], -u[1], 0.0), 1.0 + component(T, m, q, STRETCH)


@helper
def carry(T, m, x):
    """J x of a marker: the rate of its point, and of its angle."""
    u, ku, _, long = arm(T, m)
    along = scale(view(T, s.LOCAL_R)[m, 0], vector(T, m, x, GRADIENT))
    turn = component(T, m, x, ANGLE)
    moved = add(scale(component(T, m, x, STRETCH), u), scale(long * turn, ku))
    return add(add(vector(T, m, x, 0), along), moved), turn


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    marks, q, v = view(E, MARKS), view(T, s.Q), view(T, s.V)
    local, marker_r, marker_v = view(T, s.LOCAL_R), view(T, s.MARKER_R), view(T, s.MARKER_V)
    for n in range(marks.shape[0]):
        m = marks[n].marker
        u, _, _, long = arm(T, m)
        point = add(vector(T, m, q, 0), scale(long, u))
        put_at(marker_r, m, 0, add(point, scale(local[m, 0], vector(T, m, q, GRADIENT))))
        speed, turn = carry(T, m, v)
        put_at(marker_v, m, 0, speed)
        put_at(marker_v, m, 3, (0.0, 0.0, turn))
        angle = component(T, m, q, ANGLE)
        put_axes(T, m, 1.0, (cos(angle), -sin(angle), 0.0, sin(angle), cos(angle), 0.0, 0.0, 0.0, 1.0))
    return OK


@kernel
def gather(T, E):
    """G: elastic forces, gravity, wrenches by J^T, the row and its reaction."""
    chains, terms, marks, gravity = view(E, BODIES), view(E, TERMS), view(E, MARKS), view(T, s.GRAVITY)
    q, g, f, lam, phi, size = (
        view(T, s.Q), view(T, s.G), view(T, s.MARKER_F), view(T, s.LAM), view(T, s.PHI), view(T, s.PHI_SCALE),
    )  # fmt: skip
    for n in range(terms.shape[0]):
        g[terms[n].i] += terms[n].stiffness * (q[terms[n].j] - terms[n].rest[1])
        if terms[n].component < 3:
            g[terms[n].i] -= terms[n].mass * gravity[terms[n].component]
    spans, markers, local = view(T, s.SPANS), view(T, s.MARKERS), view(T, s.LOCAL_R)
    for n in range(marks.shape[0]):
        m = marks[n].marker
        span, F = markers[m].span, load(f, m)
        u, ku, _, long = arm(T, m)
        for c in range(3):
            g[spans[span + column(markers[m], c)]] -= F[c]
            g[spans[span + column(markers[m], GRADIENT + c)]] -= local[m, 0] * F[c]
        g[spans[span + column(markers[m], ANGLE)]] -= long * dot(ku, F) + f[m, 5]
        g[spans[span + column(markers[m], STRETCH)]] -= dot(u, F)
    for n in range(chains.shape[0]):
        row = chains[n].row
        phi[row] = -0.5
        size[row] = 0.5
        for c in range(3):
            d = q[chains[n].director[c]]
            phi[row] += 0.5 * d * d
            size[row] += 0.5 * d * d
            g[chains[n].director[c]] += lam[row] * d
    return OK


@kernel
def mass(T, E):
    """MA += M a."""
    terms, a, ma = view(E, TERMS), view(T, s.A), view(T, s.MA)
    for n in range(terms.shape[0]):
        ma[terms[n].i] += terms[n].mass * a[terms[n].j]
    return OK


@helper
def put_component(ragged, marker, c, top, bottom):
    """Write the column of a component into a marker's matrix."""
    put_column(ragged, marker.jacobian, marker.count, column(marker, c), top, bottom)


@helper
def put_change(T, E, x, out):
    """(J x)_q of every marker: by the angle x_e k u + (1 + e) x_angle k k u, by the stretch x_angle k u."""
    marks, markers, none = view(E, MARKS), view(T, s.MARKERS), (0.0, 0.0, 0.0)
    for n in range(marks.shape[0]):
        m = marks[n].marker
        _, ku, kku, long = arm(T, m)
        turn = component(T, m, x, ANGLE)
        by_angle = add(scale(component(T, m, x, STRETCH), ku), scale(long * turn, kku))
        put_component(out, markers[m], ANGLE, by_angle, none)
        put_component(out, markers[m], STRETCH, scale(turn, ku), none)


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV."""
    marks, markers, jacobian, local = view(E, MARKS), view(T, s.MARKERS), view(T, s.MARKER_J), view(T, s.LOCAL_R)
    none = (0.0, 0.0, 0.0)
    for n in range(marks.shape[0]):
        m = marks[n].marker
        u, ku, _, long = arm(T, m)
        start = markers[m].jacobian
        for c in range(3):
            jacobian[start + markers[m].count * c + column(markers[m], c)] = 1.0
            jacobian[start + markers[m].count * c + column(markers[m], GRADIENT + c)] = local[m, 0]
        put_component(jacobian, markers[m], ANGLE, scale(long, ku), (0.0, 0.0, 1.0))
        put_component(jacobian, markers[m], STRETCH, u, none)
    put_change(T, E, view(T, s.V), view(T, s.MARKER_NV))
    return OK


@helper
def put_director(T, E, x, c, out):
    """c times the d of the rows in q, v or a, among entries like those of PHI_Q."""
    chains = view(E, BODIES)
    for n in range(chains.shape[0]):
        for k in range(3):
            out[chains[n].entry + k] = c * x[chains[n].director[k]]


@kernel
def own_rows(T, E):
    """PHI_Q of the rows: d."""
    put_director(T, E, view(T, s.Q), 1.0, view(T, s.PHI_Q))
    return OK


@kernel
def body_matrix(T, E):
    """M, K, the curvature of the rows, and -(J^T F)_q at constant marker wrenches F."""
    chains, terms, marks, values = view(E, BODIES), view(E, TERMS), view(E, MARKS), view(T, s.MATRIX)
    c, f, lam = view(T, s.COEF), view(T, s.MARKER_F), view(T, s.LAM)
    for n in range(terms.shape[0]):
        values[terms[n].place] += c[s.C_M] * terms[n].mass + c[s.C_K] * terms[n].stiffness
    for n in range(chains.shape[0]):
        for k in range(3):
            values[chains[n].place[k]] += c[s.C_K] * lam[chains[n].row]
    for n in range(marks.shape[0]):
        m = marks[n].marker
        _, ku, kku, long = arm(T, m)
        F = load(f, m)
        values[marks[n].turn] -= c[s.C_K] * long * dot(kku, F)
        for k in range(2):
            values[marks[n].mixed[k]] -= c[s.C_K] * dot(ku, F)
    return OK


@kernel
def bias(T, E):
    """MARKER_B = 2 e' w k u + (1 + e) w^2 k k u; GAMMA of the rows."""
    chains, marks, v, gamma, marker_b = (
        view(E, BODIES),
        view(E, MARKS),
        view(T, s.V),
        view(T, s.GAMMA),
        view(T, s.MARKER_B),
    )
    for n in range(marks.shape[0]):
        m = marks[n].marker
        _, ku, kku, long = arm(T, m)
        w, rate = component(T, m, v, ANGLE), component(T, m, v, STRETCH)
        put_at(marker_b, m, 0, add(scale(2.0 * rate * w, ku), scale(long * w * w, kku)))
    for n in range(chains.shape[0]):
        for k in range(3):
            gamma[chains[n].row] -= v[chains[n].director[k]] * v[chains[n].director[k]]
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias; those of the rows."""
    marks, markers, v, a = view(E, MARKS), view(T, s.MARKERS), view(T, s.V), view(T, s.A)
    marker_x, marker_bq, marker_bv = view(T, s.MARKER_X), view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    none = (0.0, 0.0, 0.0)
    for n in range(marks.shape[0]):
        m = marks[n].marker
        _, ku, kku, long = arm(T, m)
        w, rate = component(T, m, v, ANGLE), component(T, m, v, STRETCH)
        X, turn = carry(T, m, a)
        put_at(marker_x, m, 0, X)
        put_at(marker_x, m, 3, (0.0, 0.0, turn))
        by_angle = add(scale(2.0 * rate * w, kku), scale(-long * w * w, ku))
        put_component(marker_bq, markers[m], ANGLE, by_angle, none)
        put_component(marker_bq, markers[m], STRETCH, scale(w * w, kku), none)
        by_rate = add(scale(2.0 * rate, ku), scale(2.0 * long * w, kku))
        put_component(marker_bv, markers[m], ANGLE, by_rate, none)
        put_component(marker_bv, markers[m], STRETCH, scale(2.0 * w, ku), none)
    put_change(T, E, a, view(T, s.MARKER_NA))
    put_director(T, E, v, 1.0, view(T, s.PHIV_Q))
    put_director(T, E, a, 1.0, view(T, s.PHIA_Q))
    put_director(T, E, v, -2.0, view(T, s.GAMMA_V))
    return OK


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of springs and gravity."""
    chains, terms, q, v = view(E, BODIES), view(E, TERMS), view(T, s.Q), view(T, s.V)
    gravity, energy = view(T, s.GRAVITY), view(T, s.ENERGY)
    for b in range(chains.shape[0]):
        for n in range(chains[b].term, chains[b].term + chains[b].term_count):
            i, j = terms[n].i, terms[n].j
            energy[s.KINETIC] += 0.5 * terms[n].mass * v[i] * v[j]
            strained = (q[i] - terms[n].rest[0]) * (q[j] - terms[n].rest[1])
            energy[s.POTENTIAL] += 0.5 * terms[n].stiffness * strained
            if terms[n].component < 3:
                energy[s.POTENTIAL] -= terms[n].mass * gravity[terms[n].component] * q[i]
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians, "own_rows": own_rows,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
