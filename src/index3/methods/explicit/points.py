"""Evaluation of one point of an explicit method: recovery on the manifold if asked for, then accelerations.

A kernel of its own, which the methods of this family call by address. With a partition points are recovered in the
frame of `state_space` instead, whose reference is the start of the step: independent coordinates follow the formula.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.methods import manifold, run
from index3.methods.state_space import frame

RUN, JOB, TOLERANCE, FRAME = SLOTS = slots(
    run=("i8", 1), job=("i8", 1), tolerance=("f8", 1),
    frame=("i8", 1),  # table of the frame with the partition; empty for the tangent plane
)  # fmt: skip
DIRECTIONS, TARGET, RECOVER = range(3)
"""Places in JOB: closer along whose directions to recover, closer to factor in, whether to recover."""
NOT_YET, LOOSE = 1, 1e-4
ROUNDING = 1e-13
"""Scaled position rows, and velocity rows relative to the largest rate, at accepted steps."""


@helper
def refer(T, P):
    """With a partition: make T's point, where forces and Jacobian stand evaluated, the start of a step."""
    return frame.take_reference(T, view(P, FRAME)[0]) if view(P, FRAME).shape[0] > 0 else OK


@helper
def recover(T, P, C, tolerance):
    """q and v of T onto the manifold along the directions in C; forces (without reactions) and Jacobian follow."""
    lam, v, largest = view(T, s.LAM), view(T, s.V), 1.0
    for k in range(lam.shape[0]):
        lam[k] = 0.0
    if view(P, FRAME).shape[0] > 0:
        frame.reset_normals(view(P, FRAME)[0])
        return frame.land(T, view(P, FRAME)[0], tolerance)
    for k in range(v.shape[0]):
        largest = max(largest, abs(v[k]))
    code = manifold.recover_positions(T, C, tolerance)
    if code == NOT_YET:  # a long step: the fixed directions converge slowly
        code = manifold.recover_positions(T, C, tolerance)
    if code == OK:
        code = manifold.recover_velocities(T, C, tolerance * largest)
    return code


@helper
def loose(R):
    """The residual that points between accepted ones may keep: newton_tol, or with error control a part of rtol."""
    tolerance = view(R, run.TOLERANCE)
    if view(R, run.CLOCK)[run.STEP] > 0.0:
        return tolerance[run.NEWTON_TOL]
    return max(tolerance[run.NEWTON_TOL], LOOSE * tolerance[run.RTOL])


@kernel
def evaluate(T, P):
    """At T's (t, q, v): recover if JOB says so, then a and lam."""
    job, R = view(P, JOB), view(P, RUN)[0]
    if job[RECOVER] == 1:
        code = recover(T, P, job[DIRECTIONS], view(P, TOLERANCE)[0])
        if code == OK:
            code = manifold.accelerate_here(T, job[TARGET], R)
        return code
    return manifold.accelerate(T, job[TARGET], R)


@helper
def ask(T, P, address, directions, target, recover_first, tolerance):
    """Run `evaluate` with a job: recover along `directions` if asked for, factor and solve in `target`."""
    job = view(P, JOB)
    job[DIRECTIONS], job[TARGET], job[RECOVER] = directions, target, recover_first
    view(P, TOLERANCE)[0] = tolerance
    return call(address, T, P)
