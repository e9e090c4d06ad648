"""First steps of methods that let go of velocities in long steps: shortened within a transient of the start."""

from __future__ import annotations

from math import sqrt

from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, view
from index3.methods import run

CHANGE = 0.1
"""Part of the forces that may change in a first step which begins with a large acceleration."""


@helper
def sizes(R):
    """Root mean squares of the velocities and the accelerations at the start over the weights of velocities, and of the
    accelerations over those of coordinates."""
    v, a, n = view(R, run.NEW_V), view(R, run.NEW_A), view(R, run.NEW_V).shape[0]
    speed, size, way = 0.0, 0.0, 0.0
    for k in range(n):
        w, w_v = run.weight(R, k), run.weight_v(R, k)
        speed += (v[k] / w_v) ** 2
        size += (a[k] / w_v) ** 2
        way += (a[k] / w) ** 2
    return sqrt(speed / n), sqrt(size / n), sqrt(way / n)


@helper
def place(T, R, x):
    """T where the velocities and accelerations of the start lead in a time x."""
    q, v, a = view(R, run.NEW_Q), view(R, run.NEW_V), view(R, run.NEW_A)
    now, rate = view(T, s.Q), view(T, s.V)
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW] + x
    for k in range(q.shape[0]):
        now[k] = q[k] + x * v[k]
        rate[k] = v[k] + x * a[k]
    run.copy(view(T, s.Q_MASS), now)


@helper
def keeps_forces(T, R, force):
    """Whether forces at T are those of the start but for a part of CHANGE, summed by the weights of coordinates."""
    g, changed, whole = view(T, s.G), 0.0, 0.0
    for k in range(min(g.shape[0], view(R, run.LIMITS)[run.FIRST_STATE])):
        changed += abs(g[k] - force[k]) * run.weight(R, k)
        whole += abs(force[k]) * run.weight(R, k)
    return changed <= CHANGE * whole


@kernel
def shorten(T, R):
    """H_NEXT, shortened where the velocities that the acceleration makes in it would change the forces as a whole; 1 if
    forces were asked for elsewhere.

    A ball let go inside a strongly damped floor is at its final speed after ns. These methods control positions alone:
    a longer first step is allowed any velocity, and the vibration of what was not resolved throws the ball out.
    """
    clock, force = view(R, run.CLOCK), view(R, run.OLD_A)  # whose content is that of NEW_A at the start
    (speed, size, way), moved, h = sizes(R), 0, clock[run.H_NEXT]
    way *= clock[run.T_END] - clock[run.T_NEW]
    least = 1e-12 * clock[run.MAX_STEP]
    run.copy(force, view(T, s.G))
    while h > least and h * size > max(1.0, speed) and h * way > 1.0:  # else such velocities do not count
        moved = 1
        place(T, R, h)
        if run.core(T, s.CORE_FORCES) == OK and keeps_forces(T, R, force):
            break
        h *= 0.1
    if moved == 1:
        place(T, R, 0.0)
        run.core(T, s.CORE_FORCES)
    run.copy(force, view(R, run.NEW_A))
    clock[run.H_NEXT] = max(h, least)
    return moved
