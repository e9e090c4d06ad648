"""Stages of the evaluation that cables and spatial beams in absolute nodal coordinates share."""

from __future__ import annotations

from index3.algebra.vectors import put_at
from index3.bodies.ancf_space_elements import MARKS, add_mass
from index3.bodies.ancf_space_marks import bias_of, put_jacobian, put_poses, put_second
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, view


@kernel
def poses(T, E):
    """Pose and twist of every marker."""
    put_poses(T, E, view(T, s.Q), view(T, s.V))
    return OK


@kernel
def mass(T, E):
    """MA += M a."""
    add_mass(E, view(T, s.A), view(T, s.MA))
    return OK


@kernel
def jacobians(T, E):
    """MARKER_J and MARKER_NV = (J v)_q of every marker."""
    marks, markers, q, v = view(E, MARKS), view(T, s.MARKERS), view(T, s.Q), view(T, s.V)
    for n in range(marks.shape[0]):
        start = markers[marks[n].marker].jacobian
        put_jacobian(marks[n], start, q, v, view(T, s.MARKER_J), view(T, s.MARKER_NV))
    return OK


@kernel
def bias(T, E):
    """MARKER_B: points have none."""
    marks, q, v, marker_b = view(E, MARKS), view(T, s.Q), view(T, s.V), view(T, s.MARKER_B)
    for n in range(marks.shape[0]):
        put_at(marker_b, marks[n].marker, 3, bias_of(marks[n], q, v))
    return OK


@kernel
def second_derivatives(T, E):
    """X = J a, (J a)_q and the derivatives of the bias."""
    marks, markers, q, v, a = view(E, MARKS), view(T, s.MARKERS), view(T, s.Q), view(T, s.V), view(T, s.A)
    for n in range(marks.shape[0]):
        put_second(T, marks[n], markers[marks[n].marker].jacobian, q, v, a)
    return OK


STAGES = {
    "poses": poses, "mass": mass, "jacobians": jacobians, "bias": bias, "second_derivatives": second_derivatives,
}  # fmt: skip
"""A kind adds its own: "gather", "body_matrix" and "energies"."""
