"""Closing the constraints at one instant: positions, velocities, then accelerations and multipliers.

Positions and velocities move as little as possible in the kinetic-energy norm (mass-orthogonal projection, in increment
form). Accelerations and multipliers solve the augmented system at the projected point. Where rows are redundant the
multipliers are the smallest ones with the same forces.
"""

from __future__ import annotations

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, slots, view
from index3.linear import contract
from index3.methods.run import copy, core, note_distance

(
    LINK, SETTINGS, HEAVY_Q, HEAVY_V, REPORT, LINES, WRENCHES,
) = SLOTS = slots(
    link=("i8", 1), settings=("f8", 1),
    heavy_q=("f8", 1), heavy_v=("f8", 1),  # mass added to coordinates that are to stay where they are
    report=("i8", 1),  # iterations, worst row, line that failed, counters
    lines=("i8", 1),  # which lines to close, see below
    wrenches=("i8", 2),  # of each joint: first row, number of rows, place of the second marker's gradient, stride
)  # fmt: skip

LINK_SOLVER, LINK_SMALLEST, LINK_POSITIONS, LINK_RATES, LINK_SHORTEN, LINK_LINE, LINK_ITERATE = range(7)
"""Places in LINK: tables of factors, the own ones and those of `shorten`; addresses of kernels that others call."""
TOLERANCE, ITERATIONS, SMALL = range(3)
"""Places in SETTINGS: scaled residual that counts as closed; most iterations; regularisation of the multipliers."""
(
    N_ITERATIONS, WORST_ROW, FAILED_LINE, N_REDUNDANT, KEPT, N_LINE_FACTOR, N_LINE_SOLVE, N_CONTRADICTIONS, UNBOUNDED,
    REPORT_SIZE,
) = range(10)  # fmt: skip
"""Places in REPORT: of the last closing; whether the own factors are those that lines of output are closed with, as
nobody else has factored since; matrices factored and solutions found for lines so far; lines of the last completion
with rates or accelerations that are further off than `output_kernels.CONTRADICTION`; whether what was last assembled
has numbers beyond BOUND, or none."""
LINES_OUTPUT, FIRST_LINE, END_LINE, PROJECTED, LINES_SIZE = range(5)
"""Places in LINES: the table of the output, its first line to close and the one behind the last; whether to project
(`project_lines`), or to find energies alone (`complete_lines`)."""
EVALUATION, SINGULAR, POSITIONS, CONTRADICTION, NOT_CONVERGED = range(1, 6)
"""Reasons to give up: an evaluation failed, a body's equations are singular, positions do not close, rows disagree,
accelerations or reactions and the forces that depend on them do not settle."""
MOST_ITERATIONS, CONVERGED, SLOW, AMPLIFIED = 40, 1e-11, 0.02, 1e8
"""Most corrections of accelerations and reactions that forces depend on; the last one, relative to the largest of them
(rounding of a solve with conditions of 1e4); part of a correction that the next one may be with the same factors: more
than four would still come where a fresh matrix takes two; how many times larger than without such derivatives
accelerations must not become: forces that take away all inertia but the rounding of their derivatives."""
BOUND = 1e150
"""The square of a larger number is none."""


@helper
def is_bounded(x):
    """Whether all numbers are numbers, and their squares too."""
    bounded = True
    for k in range(x.shape[0]):
        bounded = bounded and abs(x[k]) < BOUND  # false for NaN
    return bounded


@helper
def position_residual(T, E):
    """Worst scaled position row; velocity-level rows do not count."""
    return position_residual_by(T, E, view(T, s.PHI_SCALE))


@helper
def position_residual_by(T, E, size):
    """The same by sizes of rows at another point."""
    phi, level, most = view(T, s.PHI), view(T, s.LEVEL), 0.0
    for k in range(phi.shape[0]):
        if level[k] == 0:
            x = abs(phi[k]) / max(1.0, size[k])
            if not x <= most:
                most = x if x < 1e300 else 1e300
                view(E, REPORT)[WORST_ROW] = k
    return most


@helper
def factor_mass(T, E, heavy):
    """Factor [M + diag(heavy), Phi_q^T; Phi_q 0] at the point where forces and Jacobian were evaluated."""
    coef, link = view(T, s.COEF), view(E, LINK)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[s.C_M] = 1.0
    view(E, REPORT)[KEPT] = 0
    copy(view(T, s.Q_MASS), view(T, s.Q))
    code = core(T, s.CORE_MATRIX)
    if code != OK:
        return EVALUATION
    matrix, diagonal = view(T, s.MATRIX), view(link[LINK_SOLVER], contract.DIAGONAL)
    for k in range(heavy.shape[0]):
        matrix[diagonal[k]] += heavy[k]
    note_distance(T, link[LINK_SOLVER])
    view(link[LINK_SOLVER], contract.INFO)[contract.SYMMETRIC] = 1
    code = contract.factor(T, link[LINK_SOLVER])
    return SINGULAR if code != OK else OK


@helper
def forget_solution(T):
    """No reactions, and no accelerations where forces depend on them."""
    a, lam = view(T, s.A), view(T, s.LAM)
    for k in range(view(T, s.A_NOW).shape[0]):
        a[k] = 0.0
    for k in range(lam.shape[0]):
        lam[k] = 0.0


@helper
def evaluate(T):
    """Forces and Jacobian at the present point, without reactions."""
    forget_solution(T)
    code = core(T, s.CORE_FORCES)
    if code == OK:
        code = core(T, s.CORE_JACOBIAN)
    return EVALUATION if code != OK else OK


@helper
def evaluate_gradients(T):
    """As `evaluate`, for a matrix of masses alone."""
    forget_solution(T)
    code = core(T, s.CORE_FORCES)
    if code == OK:
        code = core(T, s.CORE_GRADIENTS)
    return EVALUATION if code != OK else OK


@helper
def try_step(T, E, n, part):
    """q += part * (what is in X); returns the worst residual there, or a negative code."""
    q, x = view(T, s.Q), view(view(E, LINK)[LINK_SOLVER], contract.X)
    for k in range(n):
        q[k] += part * x[k]
    code = core(T, s.CORE_FORCES)
    return position_residual(T, E) if code == OK else -1.0


@kernel
def assemble_positions(T, E):
    """Newton's iteration on Phi(q) = 0 with mass-orthogonal steps, halved while they do not help; OK or a reason."""
    code = close_positions(T, E)
    view(E, REPORT)[UNBOUNDED] = 0 if is_bounded(view(T, s.Q)) else 1
    return code


@helper
def close_positions(T, E):
    """As `assemble_positions`."""
    settings, report, link = view(E, SETTINGS), view(E, REPORT), view(E, LINK)
    phi, level = view(T, s.PHI), view(T, s.LEVEL)
    x, n = view(link[LINK_SOLVER], contract.X), view(T, s.Q).shape[0]
    code = evaluate(T)
    if code != OK:
        return code
    residual = position_residual(T, E)
    report[N_ITERATIONS] = 0
    while residual > settings[TOLERANCE]:
        if report[N_ITERATIONS] >= settings[ITERATIONS]:
            return POSITIONS
        report[N_ITERATIONS] += 1
        code = core(T, s.CORE_JACOBIAN)
        if code == OK:
            code = factor_mass(T, E, view(E, HEAVY_Q))
        if code != OK:
            return code
        for k in range(n):
            x[k] = 0.0
        for k in range(phi.shape[0]):
            x[n + k] = -phi[k] if level[k] == 0 else 0.0
        contract.solve(T, link[LINK_SOLVER])
        better = try_step(T, E, n, 1.0)
        part = 1.0
        while (better < 0.0 or better > residual) and part > 0.01 and residual > 1e-6:
            try_step(T, E, n, -part)
            part *= 0.5
            better = try_step(T, E, n, part)
        if better < 0.0:
            return EVALUATION
        if better > 0.5 * residual and residual < 10.0 * settings[TOLERANCE]:
            break  # rounding: as closed as these numbers allow
        residual = better
    return OK


@helper
def project_velocities(T, E):
    """With the Jacobian at q factored: v moves by the smallest step to Phi_q v + Phi_t = 0, twice for rounding."""
    link, v, rate = view(E, LINK), view(T, s.V), view(T, s.RATE)
    x, n = view(link[LINK_SOLVER], contract.X), view(T, s.V).shape[0]
    for _ in range(2):
        core(T, s.CORE_RATES)
        for k in range(n):
            x[k] = 0.0
        for k in range(rate.shape[0]):
            x[n + k] = -rate[k]
        contract.solve_refined(T, link[LINK_SOLVER])
        for k in range(n):
            v[k] += x[k]


@helper
def factor_reactive(T, E):
    """Factor [M - Q_a, Phi_q^T - Q_lam; Phi_q, 0] where the Jacobian stands evaluated, forces at the present a, lam.

    Rows that only these derivatives make redundant are as bad as a body without inertia.
    """
    coef, link = view(T, s.COEF), view(E, LINK)
    for k in range(coef.shape[0]):
        coef[k] = 0.0
    coef[s.C_M] = 1.0
    coef[s.C_R] = 1.0
    info = view(link[LINK_SOLVER], contract.INFO)
    redundant = info[contract.N_ZERO]
    if core(T, s.CORE_MATRIX) != OK:
        return EVALUATION
    if contract.factor(T, link[LINK_SOLVER]) != OK:
        return SINGULAR
    return NOT_CONVERGED if info[contract.N_ZERO] > redundant else OK


@helper
def largest_of(x):
    """Largest |component|, and its number."""
    most, place = 0.0, 0
    for k in range(x.shape[0]):
        if not abs(x[k]) <= most:
            most, place = abs(x[k]), k
    return most, place


@kernel
def iterate_solution(T, E):
    """Newton's iteration on M a + Phi_q^T lam = Q(a, lam), Phi_q a = gamma, factored anew only where it is slow.

    Starts at T's a, lam (those of forces at zero ones), with gamma and the Jacobian evaluated; the solver is left with
    the matrix of `factor_mass`.
    """
    link, a, lam, g, ma = view(E, LINK), view(T, s.A), view(T, s.LAM), view(T, s.G), view(T, s.MA)
    x, n, gamma = view(link[LINK_SOLVER], contract.X), view(T, s.A).shape[0], view(T, s.GAMMA)
    phi_q, row, column = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL)
    copy(view(T, s.Q_MASS), view(T, s.Q))
    start, before, slow = largest_of(a)[0], 1e300, True
    for _ in range(MOST_ITERATIONS):
        code = core(T, s.CORE_FORCES)
        if code == OK:
            code = core(T, s.CORE_MASS)
        if code != OK:
            return EVALUATION
        if slow:
            code = factor_reactive(T, E)
        if code != OK:
            return code
        for k in range(n):
            x[k] = -(ma[k] + g[k])
        for k in range(gamma.shape[0]):
            x[n + k] = gamma[k]
        for e in range(phi_q.shape[0]):
            x[n + row[e]] -= phi_q[e] * a[column[e]]
        contract.solve_refined(T, link[LINK_SOLVER])
        change, largest = 0.0, 1.0
        for k in range(n):
            a[k] += x[k]
            change, largest = max(change, abs(x[k])), max(largest, abs(a[k]))
        for k in range(lam.shape[0]):
            lam[k] += x[n + k]
            change, largest = max(change, abs(x[n + k])), max(largest, abs(lam[k]))
        if not change < 1e200:
            return NOT_CONVERGED
        most, place = largest_of(a)
        if most > AMPLIFIED * start and view(T, s.A_NOW).shape[0] > 0:
            view(link[LINK_SOLVER], contract.INFO)[contract.BAD_SCALAR] = place
            return SINGULAR
        slow = change > SLOW * before
        before = change
        if change <= CONVERGED * largest:
            return EVALUATION if core(T, s.CORE_FORCES) != OK else factor_mass(T, E, view(T, s.Q)[:0])
    return NOT_CONVERGED


@helper
def iterate_if_needed(T, E):
    """Where forces depend on a or lam: `iterate_solution`. Does nothing in other models."""
    if view(T, s.ROW_R).shape[0] == 0 and view(T, s.A_NOW).shape[0] == 0:
        return OK
    return call(view(E, LINK)[LINK_ITERATE], T, E)


@helper
def solve_accelerations(T, E):
    """a and lam of M a + Phi_q^T lam = Q, Phi_q a = gamma at (t, q, v), the matrix being factored."""
    link, a, lam, g, gamma = view(E, LINK), view(T, s.A), view(T, s.LAM), view(T, s.G), view(T, s.GAMMA)
    x, n = view(link[LINK_SOLVER], contract.X), view(T, s.A).shape[0]
    forget_solution(T)
    code = core(T, s.CORE_FORCES)
    if code == OK:
        code = core(T, s.CORE_GAMMA)
    if code != OK:
        return EVALUATION
    for k in range(n):
        x[k] = -g[k]
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
    contract.solve_refined(T, link[LINK_SOLVER])
    for k in range(n):
        a[k] = x[k]
    for k in range(lam.shape[0]):
        lam[k] = x[n + k]
    return iterate_if_needed(T, E)


@kernel
def shorten(T, E):
    """Replace lam by the shortest one with the same Phi_q^T lam: lam = Phi_q y with Phi_q^T Phi_q y = Phi_q^T lam.

    Solved as [eps D, Phi_q^T; Phi_q, -I] [y; z] = [Phi_q^T lam; 0], quasi-definite in any order; two corrections
    remove the effect of eps. D holds the squares of the columns of Phi_q, so that eps is small in a mechanism of any
    size.
    """
    link, lam, matrix = view(E, LINK), view(T, s.LAM), view(T, s.MATRIX)
    S = link[LINK_SMALLEST]
    x, diagonal, n = view(S, contract.X), view(S, contract.DIAGONAL), view(T, s.Q).shape[0]
    phi_q, row, column, places = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), view(T, s.BLOCK_MAP)
    for k in range(matrix.shape[0]):
        matrix[k] = 0.0
    for k in range(n):
        x[k] = 0.0
    for e in range(phi_q.shape[0]):
        x[column[e]] += phi_q[e] * phi_q[e]
    for k in range(n):
        matrix[diagonal[k]] = view(E, SETTINGS)[SMALL] * (x[k] if x[k] > 0.0 else 1.0)
    for k in range(n, x.shape[0]):
        matrix[diagonal[k]] = -1.0
    for e in range(phi_q.shape[0]):
        matrix[places[e, 0]] += phi_q[e]
        matrix[places[e, 1]] += phi_q[e]
    if contract.factor(T, S) != OK:
        return SINGULAR
    shortest = view(T, s.GAMMA)  # gamma has done its duty here: the vector is free
    for k in range(lam.shape[0]):
        shortest[k] = 0.0
    for _ in range(3):
        for k in range(x.shape[0]):
            x[k] = 0.0
        for e in range(phi_q.shape[0]):
            x[column[e]] += phi_q[e] * (lam[row[e]] - shortest[row[e]])
        contract.solve(T, S)
        for e in range(phi_q.shape[0]):  # Phi_q y, not the solver's z: nothing of the null space of Phi_q^T gets in
            shortest[row[e]] += phi_q[e] * x[column[e]]
    copy(lam, shortest)
    return OK


@kernel
def project_rates(T, E):
    """At closed positions: accelerations and multipliers for the present velocities, after closing these too."""
    code = core(T, s.CORE_JACOBIAN)
    if code == OK:
        code = factor_mass(T, E, view(T, s.Q)[:0])
    if code == OK:
        project_velocities(T, E)
        code = solve_accelerations(T, E)
    if code == OK:
        zeros = view(view(E, LINK)[LINK_SOLVER], contract.INFO)[contract.N_ZERO]
        view(E, REPORT)[N_REDUNDANT] = zeros
        if zeros > 0 and view(T, s.ROW_R).shape[0] == 0:  # else the forces belong to the multipliers as they are
            code = call(view(E, LINK)[LINK_SHORTEN], T, E)
    return code


@kernel
def assemble_velocities(T, E):
    """Close the velocities at closed positions, with the masses added by HEAVY_V."""
    code = evaluate(T)
    if code == OK:
        code = factor_mass(T, E, view(E, HEAVY_V))
    if code == OK:
        project_velocities(T, E)
    return code


@kernel
def assemble_accelerations(T, E):
    """Accelerations and multipliers at closed positions; the velocities are closed as well."""
    forget_solution(T)
    code = call(view(E, LINK)[LINK_RATES], T, E) if core(T, s.CORE_FORCES) == OK else EVALUATION
    view(E, REPORT)[UNBOUNDED] = 0 if is_bounded(view(T, s.A)) and is_bounded(view(T, s.LAM)) else 1
    return code
