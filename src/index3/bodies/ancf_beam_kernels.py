"""Planar beams in absolute nodal coordinates: constant mass, no inertia forces of second order in the rates."""

from __future__ import annotations

from index3.bodies import ancf_elements as e
from index3.bodies import ancf_marks as on_marks
from index3.bodies.ancf_tangent import fill_element
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, view


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    on_marks.put_poses(T, E, view(T, s.Q), view(T, s.V))
    return OK


@kernel
def gather(T, E):
    """G: elastic and damping forces, gravity, wrenches."""
    if view(T, s.STATUS)[s.ROWS_ALONE] == 1:
        return OK
    q, v, g = view(T, s.Q), view(T, s.V), view(T, s.G)
    e.add_elastic(E, q, v, g)
    e.add_mass(E, v, 0.0, True, g)
    e.add_gravity(E, view(T, s.GRAVITY), g)
    on_marks.add_wrenches(T, E, q, g)
    return OK


@kernel
def mass(T, E):
    """MA += M a."""
    e.add_mass(E, view(T, s.A), 1.0, False, view(T, s.MA))
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker."""
    marks, markers, q, v = view(E, e.MARKS), view(T, s.MARKERS), view(T, s.Q), view(T, s.V)
    for n in range(marks.shape[0]):
        start = markers[marks[n].marker].jacobian
        on_marks.put_jacobians(marks[n], start, q, v, view(T, s.MARKER_J), view(T, s.MARKER_NV))
    return OK


@kernel
def body_matrix(T, E):
    """Mass, tangent of the elastic forces, and -(J^T F)_q."""
    elements, marks, places, room = view(E, e.ELEMENTS), view(E, e.MARKS), view(E, e.MAP), view(E, e.ROOM)
    values, c, q, v, f = view(T, s.MATRIX), view(T, s.COEF), view(T, s.Q), view(T, s.V), view(T, s.MARKER_F)
    for n in range(elements.shape[0]):
        fill_element(E, n, q, v, c)
        for k in range(e.INNER):
            values[places[e.INNER * n + k]] += room[k]
    for n in range(marks.shape[0]):
        torque = f[marks[n].marker, 5]
        if torque != 0.0 and c[s.C_K] != 0.0:
            on_marks.add_turn_stiffness(marks[n], torque, q, c[s.C_K], values, places)
    return OK


@kernel
def bias(T, E):
    """MARKER_B."""
    marks, q, v, marker_b = view(E, e.MARKS), view(T, s.Q), view(T, s.V), view(T, s.MARKER_B)
    for n in range(marks.shape[0]):
        marker_b[marks[n].marker, 5] = on_marks.bias_of(marks[n], q, v)
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias."""
    marks, markers, q, v, a = view(E, e.MARKS), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A)
    X, change, bias_q, bias_v = (
        view(T, s.MARKER_X), view(T, s.MARKER_NA), view(T, s.MARKER_BQ), view(T, s.MARKER_BV),
    )  # fmt: skip
    for n in range(marks.shape[0]):
        on_marks.put_accelerations(marks[n], markers[marks[n].marker].jacobian, q, v, a, X, change, bias_q, bias_v)
    return OK


@kernel
def energies(T, E):
    """Kinetic energy; potential energy of strain and gravity; power of damping."""
    beams, q, v = view(E, e.BEAMS), view(T, s.Q), view(T, s.V)
    for b in range(beams.shape[0]):
        e.add_energies(E, beams[b], q, v, view(T, s.GRAVITY), view(T, s.ENERGY))
    return OK


STAGES = {
    "poses": poses, "gather": gather, "mass": mass, "jacobians": jacobians,
    "body_matrix": body_matrix, "bias": bias, "second_derivatives": second_derivatives, "energies": energies,
}  # fmt: skip
