"""Evaluation of one point of an explicit method: recovery on the manifold if asked for, then accelerations.

A kernel of its own, which the methods of this family call by address. With a partition points are recovered in the
frame of `state_space` instead, whose reference is the start of the step: independent coordinates follow the formula.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.methods import manifold, projection_kernels, run
from index3.methods.state_space import frame

RUN, JOB, TOLERANCE, TERMS, FRAME = SLOTS = slots(
    run=("i8", 1), job=("i8", 1), tolerance=("f8", 1),
    terms=("f8", 1),  # Baumgarte's factors of Phi' and Phi; empty: none
    frame=("i8", 1),  # table of the frame with the partition; empty for the tangent plane
)  # fmt: skip
DIRECTIONS, TARGET, RECOVER = range(3)
"""Places in JOB: projector along whose directions to recover, closer to factor in, how to recover."""
STAY, RECOVER_FULLY, MOVE_ONCE = 0, 1, 2
"""How: not at all, down to TOLERANCE, by one step for q and one for v."""
NOT_YET, LOOSE = 1, 1e-4
ROUNDING = 1e-13
"""Scaled position rows, and velocity rows relative to the largest rate, at accepted steps."""


@helper
def set_reference(T, P):
    """With a partition: make T's point, where forces and Jacobian stand evaluated, the start of a step."""
    return frame.take_reference(T, view(P, FRAME)[0]) if view(P, FRAME).shape[0] > 0 else OK


@helper
def recover_positions(T, C, tolerance):
    """q of T onto the manifold along the directions in C."""
    projection_kernels.forget_solution(T)
    code = manifold.recover_positions(T, C, tolerance)
    return manifold.recover_positions(T, C, tolerance) if code == NOT_YET else code  # a long step: slow convergence


@helper
def recover(T, P, C, tolerance):
    """q and v of T onto the manifold along the directions in C; forces (without reactions) and Jacobian follow."""
    if view(P, FRAME).shape[0] > 0:
        projection_kernels.forget_solution(T)
        frame.reset_normals(view(P, FRAME)[0])
        return frame.project_within(T, view(P, FRAME)[0], tolerance, 1e-14, False)
    largest = manifold.largest_rate(T)
    code = recover_positions(T, C, tolerance)
    return manifold.recover_velocities(T, C, tolerance * largest) if code == OK else code


@helper
def recover_and_accelerate(T, C, R, tolerance):
    """q along the directions in C, which then become those of this point; v along these; then a and lam.

    What the velocities need is factored for the accelerations anyway, and one solution takes them to the manifold.
    """
    largest = manifold.largest_rate(T)
    code = recover_positions(T, C, tolerance)
    if code == OK:
        code = run.EVALUATION_FAILED if run.core(T, s.CORE_GRADIENTS) != OK else OK
    if code == OK:
        code = manifold.factor_here(T, C, R)
    if code == OK:
        code = manifold.move_velocities(T, C, tolerance * largest, True)
    return manifold.solve_here(T, C) if code == OK else code


@helper
def move_once(T, C):
    """Post-stabilisation: one step of q to Phi = 0 and one of v to Phi' = 0, along the directions in C."""
    q, v, phi, lam, level = view(T, s.Q), view(T, s.V), view(T, s.PHI), view(T, s.LAM), view(T, s.LEVEL)
    for k in range(lam.shape[0]):
        lam[k] = 0.0
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        for k in range(phi.shape[0]):
            phi[k] = phi[k] if level[k] == 0 else 0.0
        x = manifold.solve_rows(T, C, phi)
        for k in range(q.shape[0]):
            q[k] += x[k]
        code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_JACOBIAN)
    if code != OK:
        return run.EVALUATION_FAILED
    run.core(T, s.CORE_RATES)
    x = manifold.solve_rows(T, C, view(T, s.RATE))
    for k in range(v.shape[0]):
        v[k] += x[k]
    return run.EVALUATION_FAILED if run.core(T, s.CORE_FORCES) != OK else OK


@helper
def add_terms(T, C, terms):
    """Baumgarte: Phi'' = -terms[0] Phi' - terms[1] Phi instead of 0, by the matrix just factored in C."""
    phi, rate, gap, level = view(T, s.PHI), view(T, s.RATE), view(T, s.GAMMA), view(T, s.LEVEL)
    a, lam, n = view(T, s.A), view(T, s.LAM), view(T, s.A).shape[0]
    run.core(T, s.CORE_RATES)
    for k in range(gap.shape[0]):
        gap[k] = terms[0] * rate[k] + (terms[1] * phi[k] if level[k] == 0 else 0.0)
    x = manifold.solve_rows(T, C, gap)
    for k in range(n):
        a[k] += x[k]
    for k in range(lam.shape[0]):
        lam[k] += x[n + k]


@helper
def loose(R):
    """The residual that points between accepted ones may keep: newton_tol, or with error control a part of rtol."""
    tolerance = view(R, run.TOLERANCE)
    if view(R, run.CLOCK)[run.STEP] > 0.0:
        return tolerance[run.NEWTON_TOL]
    return max(tolerance[run.NEWTON_TOL], LOOSE * tolerance[run.RTOL])


@kernel
def evaluate(T, P):
    """At T's (t, q, v): recover as JOB says, then a and lam."""
    job, R, terms, code = view(P, JOB), view(P, RUN)[0], view(P, TERMS), OK
    directions, target, tolerance = job[DIRECTIONS], job[TARGET], view(P, TOLERANCE)[0]
    at_once = job[RECOVER] == RECOVER_FULLY and directions == target and view(P, FRAME).shape[0] == 0
    if at_once:
        code = recover_and_accelerate(T, target, R, tolerance)
    elif job[RECOVER] == RECOVER_FULLY:
        code = recover(T, P, directions, tolerance)
    elif job[RECOVER] == MOVE_ONCE:
        code = move_once(T, directions)
    elif projection_kernels.evaluate_gradients(T) != OK:
        code = run.EVALUATION_FAILED
    if code == OK and not at_once:
        code = manifold.accelerate_here(T, target, R)
    if code == OK and terms.shape[0] > 0:
        add_terms(T, target, terms)
    return code


@helper
def run_job(T, P, address, directions, target, how, tolerance):
    """Run `evaluate` with a job: recover along `directions` in one of three ways, factor and solve in `target`."""
    job = view(P, JOB)
    job[DIRECTIONS], job[TARGET], job[RECOVER] = directions, target, how
    view(P, TOLERANCE)[0] = tolerance
    return call(address, T, P)
