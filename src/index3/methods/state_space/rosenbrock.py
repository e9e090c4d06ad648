"""Rosenbrock-Nystrom method of order 4(3) in the state space: its coordinates and exact derivatives.

[NegrutThesis] section 4.4; bare numbers are its equations, corrections in docs/theory/state_space.md (3.4 there).
Independent coordinates are w = V^T M q with V^T M V = I, V spanning the null space of Phi_q at the start of the step:
the tangent plane of appendix B in the metric of the kinetic energy. V is carried from step to step by projection, so it
turns as little as possible. Or they are those of a partition, as in the thesis: then V = [1; H]. J1 = dw''/dw and
J2 = dw''/dw' are exact, column by column with the augmented matrix (appendix A). Dense output is Hermite's cubic:
stiffness amplifies errors of true accelerations, so these are no help.
Ours differs:
- the table is recomputed with a root e of full precision (R(inf) = 0), the recursion has its h factors corrected;
- the error estimate passes through the filter that section 5.1 recommends and the author did not build;
- df/dt by differences of second order over 2e-3 h at fixed (w, w'), the dependent coordinates recovered at each time;
  forward ones, so that a step that begins at a discontinuity does not see what was before.
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.dense import decompose
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, slots, view
from index3.linear import contract
from index3.methods import manifold, projection_kernels, run
from index3.methods.state_space import frame

(
    RUN, FRAME, STAGE, SETTINGS, FLAGS, TABLE_W, TABLE_C, TABLE_D, TABLE_T, VECTORS, BASIS, DUAL, J1, J2, LU, PIVOT,
    U, F, F_T, Y, RIGHT, SHIFT, ERR_Y, ERR_V, OUT_Q, OUT_V, ROOM,
) = SLOTS = slots(
    run=("i8", 1), frame=("i8", 1), stage=("i8", 1),  # handles: run, frame, projector for accelerations at stages
    settings=("f8", 1), flags=("i8", 1),
    table_w=("f8", 2), table_c=("f8", 2), table_d=("f8", 2), table_t=("f8", 2),  # strictly lower triangles (4.54)
    vectors=("f8", 2),  # rows S_W, P_W, EV_W, EP_W, E_W, A_W
    basis=("f8", 2), dual=("f8", 2),  # rows: columns of V = dq/dw, and rows of dw/dq (M V, or a selection)
    j1=("f8", 2), j2=("f8", 2), lu=("f8", 2), pivot=("i8", 1),
    u=("f8", 2),  # stages
    f=("f8", 1), f_t=("f8", 1), y=("f8", 1), right=("f8", 1), shift=("f8", 1), err_y=("f8", 1), err_v=("f8", 1),
    out_q=("f8", 1), out_v=("f8", 1), room=("f8", 1),  # length n
)  # fmt: skip

FILTERED, E_ROOT, H_TIMED = range(3)
"""Places in SETTINGS. H_TIMED: step of the try that F_T was found for, 0 where it is not of this start."""
STALE, AFTER_REJECTION, FAILED_IN_ROW, TIMED = range(4)
"""Places in FLAGS: basis and derivatives do not belong to the start of the step; whether anything depends on time."""
S_W, P_W, EV_W, EP_W, E_W, A_W = range(6)
STUCK = 1


@helper
def add_basis(E, x, c, y):
    """y += c V x."""
    basis = view(E, BASIS)
    for j in range(x.shape[0]):
        u = c * x[j]
        for k in range(y.shape[0]):
            y[k] += u * basis[j, k]


@helper
def take_independent(E, x, y):
    """y = dw/dq x: the independent part of x."""
    dual = view(E, DUAL)
    for j in range(y.shape[0]):
        z = 0.0
        for k in range(dual.shape[1]):
            z += dual[j, k] * x[k]
        y[j] = z


@helper
def fill_basis(T, E, F_, S):
    """Carry V over: project its columns onto the null space of Phi_q at the reference, orthonormal in the metric M."""
    basis, dual, mass, n = view(E, BASIS), view(E, DUAL), view(F_, frame.MASS), view(T, s.Q).shape[0]
    link = view(view(F_, frame.HANDLES)[frame.PROJECTOR], projection_kernels.LINK)
    x = view(link[projection_kernels.LINK_SOLVER], contract.X)
    for j in range(basis.shape[0]):
        for k in range(x.shape[0]):
            x[k] = 0.0
        frame.add_product(S, mass, basis[j], 1.0, x)
        contract.solve_refined(T, link[projection_kernels.LINK_SOLVER])
        for k in range(n):
            basis[j, k] = x[k]
        for i in range(j):
            z = 0.0
            for k in range(n):
                z += dual[i, k] * basis[j, k]
            for k in range(n):
                basis[j, k] -= z * basis[i, k]
        for k in range(n):
            dual[j, k] = 0.0
        frame.add_product(S, mass, basis[j], 1.0, dual[j])
        z = 0.0
        for k in range(n):
            z += dual[j, k] * basis[j, k]
        z = 1.0 / sqrt(z) if z > 0.0 else 0.0
        for k in range(n):
            basis[j, k] *= z
            dual[j, k] *= z


@helper
def fill_selection(T, E, F_):
    """V = [1; H] of the partition; STUCK where there are more or fewer degrees of freedom than at the start."""
    basis, dual, fixed, heavy = view(E, BASIS), view(E, DUAL), view(F_, frame.FIXED), view(F_, frame.HEAVY)
    link = view(view(F_, frame.HANDLES)[frame.PROJECTOR], projection_kernels.LINK)
    x, n, j = view(link[projection_kernels.LINK_SOLVER], contract.X), heavy.shape[0], 0
    for c in range(n):
        if fixed[c] == 1:
            if j == basis.shape[0]:
                return STUCK
            for k in range(n):
                basis[j, k] = 0.0
                dual[j, k] = 1.0 if k == c else 0.0
            for _ in range(20):  # independent coordinates are heavy, not immovable: off by some 1e-4, 1e-8, ...
                for k in range(x.shape[0]):
                    x[k] = heavy[k] * (dual[j, k] - basis[j, k]) if k < n else 0.0
                contract.solve_refined(T, link[projection_kernels.LINK_SOLVER])
                most = 0.0
                for k in range(n):
                    basis[j, k] += x[k]
                    most = max(most, fixed[k] * abs(x[k]))
                if most < 1e-15:
                    break
            j += 1
    return OK if j == basis.shape[0] else STUCK


@helper
def fill_column(T, E, F_, A, target, j):
    """Column j of J1 or J2 from the right-hand side in the X of A's solver.

    In the tangent plane w'' = V^T M a, and V^T is what multiplies the forces: the solution of the augmented matrix for
    M V is V itself, without reactions. A selection takes its components of the accelerations.
    """
    S, basis, dual = view(A, projection_kernels.LINK)[projection_kernels.LINK_SOLVER], view(E, BASIS), view(E, DUAL)
    x, n, tangent = view(S, contract.X), basis.shape[1], view(F_, frame.HEAVY).shape[0] == 0
    if not tangent:
        contract.solve_refined(T, S)
    for i in range(target.shape[0]):
        y, z = 0.0, 0.0  # two sums: neither waits for the other
        row = basis[i] if tangent else dual[i]
        for k in range(n // 2):
            y += row[2 * k] * x[2 * k]
            z += row[2 * k + 1] * x[2 * k + 1]
        if n % 2 == 1:
            y += row[n - 1] * x[n - 1]
        target[i, j] = y + z


@helper
def fill_derivatives(T, E, F_, S):
    """J1 and J2, column-wise (A.5)-(A.9), at the reference point where `derivatives` was run."""
    basis, room, rate, n = view(E, BASIS), view(E, ROOM), view(T, s.RATE), view(T, s.Q).shape[0]
    C, fixed = view(F_, frame.HANDLES)[frame.PROJECTOR], view(F_, frame.FIXED)
    A = C if view(F_, frame.HEAVY).shape[0] == 0 else view(E, STAGE)[0]  # where M stands factored without more mass
    x = view(view(A, projection_kernels.LINK)[projection_kernels.LINK_SOLVER], contract.X)
    stiff, damp = view(F_, frame.STIFF), view(F_, frame.DAMP)
    phia_q, gamma_q, gamma_v = view(T, s.PHIA_Q), view(T, s.GAMMA_Q), view(T, s.GAMMA_V)
    for j in range(basis.shape[0]):
        for k in range(rate.shape[0]):
            rate[k] = 0.0
        frame.add_rows(T, view(T, s.PHIV_Q), basis[j], 1.0, rate, 0)
        step = manifold.solve_rows(T, C, rate)  # v_k: the dependent velocities that go with q_k
        for k in range(n):
            room[k] = step[k] if fixed[k] == 0 else 0.0
        for k in range(x.shape[0]):
            x[k] = 0.0
        frame.add_product(S, damp, room, -1.0, x)
        frame.add_product(S, stiff, basis[j], -1.0, x)
        if A != C:
            frame.add_rows(T, gamma_v, room, 1.0, x, n)
            frame.add_rows(T, phia_q, basis[j], -1.0, x, n)
            frame.add_rows(T, gamma_q, basis[j], 1.0, x, n)
        fill_column(T, E, F_, A, view(E, J1), j)
        for k in range(x.shape[0]):
            x[k] = 0.0
        frame.add_product(S, damp, basis[j], -1.0, x)
        if A != C:
            frame.add_rows(T, gamma_v, basis[j], 1.0, x, n)
        fill_column(T, E, F_, A, view(E, J2), j)


@helper
def prepare_partition(T, E, R, F_):
    """V of the partition; M factored as it is, for accelerations: the frame's has heavy coordinates."""
    view(R, run.COUNTS)[run.N_FACTOR] += 1
    if projection_kernels.factor_mass(T, view(E, STAGE)[0], view(T, s.Q)[:0]) != OK:
        return run.BODY_SINGULAR
    return fill_selection(T, E, F_)


@helper
def prepare(T, E, R, F_, S):
    """At the start of a step after an accepted one: reference, basis, J1, J2."""
    view(T, s.TIME)[0] = view(R, run.CLOCK)[run.T_NEW]
    run.copy(view(T, s.Q), view(R, run.NEW_Q))
    run.copy(view(T, s.V), view(R, run.NEW_V))
    run.copy(view(T, s.A), view(R, run.NEW_A))
    run.copy(view(T, s.LAM), view(R, run.NEW_LAM))
    code = run.core(T, s.CORE_FORCES)
    if code == OK:
        code = run.core(T, s.CORE_JACOBIAN)
    if code == OK:
        code = run.core(T, s.CORE_LEVELS)
    if code == OK:
        code = run.core(T, s.CORE_DERIVATIVES)
    if code != OK:
        return run.EVALUATION_FAILED
    code = frame.linearise(T, F_)
    if code == OK:
        code = frame.take_reference(T, F_)
    if code == OK and view(F_, frame.HEAVY).shape[0] > 0:
        code = prepare_partition(T, E, R, F_)
    elif code == OK:
        fill_basis(T, E, F_, S)
    if code != OK:
        return code
    fill_derivatives(T, E, F_, S)
    view(E, SETTINGS)[H_TIMED] = 0.0
    view(E, FLAGS)[STALE] = 0
    return OK


@helper
def decompose_step(E, h):
    """S = I - h e J2 - (h e)^2 J1 and its factors."""
    a, j1, j2, g = view(E, LU), view(E, J1), view(E, J2), h * view(E, SETTINGS)[E_ROOT]
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            a[i, j] = -g * (j2[i, j] + g * j1[i, j])
        a[i, i] += 1.0
    return decompose(a, view(E, PIVOT))
