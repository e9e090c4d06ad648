"""What the kernels of bodies share about their markers: axes, wrenches, columns of their matrices.

A body's record has `markers`, the first of its markers, which are consecutive, and `marker_count`.
"""

from __future__ import annotations

from index3.algebra.vectors import add, apply, cross, load, load_at, sub
from index3.compiled import slots as s
from index3.compiled.interface import helper, view


@helper
def put_axes(T, m, c, A):
    """MARKER_A of a marker on a body turned by c A."""
    local_a, marker_a = view(T, s.LOCAL_A), view(T, s.MARKER_A)
    for k in range(3):
        x = apply(A, (local_a[m, k], local_a[m, 3 + k], local_a[m, 6 + k]))
        for i in range(3):
            marker_a[m, 3 * i + k] = c * x[i]


@helper
def put_column(ragged, start, width, column, top, bottom):
    """Write one column of a marker's (6, width) matrix."""
    for k in range(3):
        ragged[start + width * k + column] = top[k]
        ragged[start + width * (3 + k) + column] = bottom[k]


@helper
def wrench_about(T, body, r):
    """Force, weight included, and torque about r of all that acts on the markers of a body with centre of mass r."""
    marker_r, f, g = view(T, s.MARKER_R), view(T, s.MARKER_F), view(T, s.GRAVITY)
    force, torque = (body.mass * g[0], body.mass * g[1], body.mass * g[2]), (0.0, 0.0, 0.0)
    for m in range(body.markers, body.markers + body.marker_count):
        F = load(f, m)
        force = add(force, F)
        torque = add(torque, add(load_at(f, m, 3), cross(sub(load(marker_r, m), r), F)))
    return force, torque


@helper
def torque_change(T, body, r, turn):
    """Change of that torque as the arms from r turn, the wrenches staying as they are."""
    marker_r, f = view(T, s.MARKER_R), view(T, s.MARKER_F)
    lever = (0.0, 0.0, 0.0)
    for m in range(body.markers, body.markers + body.marker_count):
        lever = add(lever, cross(cross(turn, sub(load(marker_r, m), r)), load(f, m)))
    return lever
