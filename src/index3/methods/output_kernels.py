"""Lines of output: positions and velocities closed if asked for, then completed by all that follows from these.

What completes a line depends on t, q, v and angle of that line alone, so it may be found at once or when somebody asks
for it: the numbers are the same to the last bit. It costs one factorisation, at the closed point, in its own table.
"""

from __future__ import annotations

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.linear import contract
from index3.methods import line_kernels, projection_kernels
from index3.methods.projection_kernels import position_residual
from index3.methods.run import copy, core
from index3.system.scatter import add_row_products

CONTRADICTION = 1e-7
"""Scaled residual of velocities or accelerations beyond which skipped rows contradict the others (rounding: 1e-12)."""


@helper
def worst(values, size, E):
    """Largest |value| / max(1, size); notes the row. Not a number counts as infinite."""
    most = 0.0
    for k in range(values.shape[0]):
        x = abs(values[k]) / max(1.0, size[k])
        if not x <= most:
            most = x if x < 1e300 else 1e300
            view(E, projection_kernels.REPORT)[projection_kernels.WORST_ROW] = k
    return most


@helper
def add_row_sizes(values, row, column, x, out):
    """out += sums of the absolute terms of a product, as `add_row_products` sums the terms themselves."""
    e, count = 0, values.shape[0]
    while e < count:
        r = row[e]
        total = out[r]
        while e < count and row[e] == r:
            total += abs(values[e] * x[column[e]])
            e += 1
        out[r] = total


@helper
def write_levels(T, E, C, line):
    """Residuals at the three levels, unscaled and scaled by the absolute terms of each row."""
    phi, size, level = view(T, s.PHI), view(T, s.PHI_SCALE), view(T, s.LEVEL)
    rate, gamma = view(T, s.RATE), view(T, s.GAMMA)
    phi_q, row, column, phi_t = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), view(T, s.PHI_T)
    v, a, plain, scaled = view(T, s.V), view(T, s.A), view(C, columns.VIOLATION), view(C, columns.SCALED)
    position = position_residual(T, E)
    scaled[line, 0] = position
    plain[line, 0] = 0.0
    for k in range(phi.shape[0]):
        if level[k] == 0:
            plain[line, 0] = max(plain[line, 0], abs(phi[k]))
        size[k] = abs(phi_t[k])
    add_row_sizes(phi_q, row, column, v, size)
    scaled[line, 1] = worst(rate, size, E)
    plain[line, 1] = 0.0
    for k in range(phi.shape[0]):
        plain[line, 1] = max(plain[line, 1], abs(rate[k]))
        size[k] = abs(gamma[k])
        gamma[k] = -gamma[k]
    add_row_sizes(phi_q, row, column, a, size)
    add_row_products(phi_q, row, column, a, gamma)
    scaled[line, 2] = worst(gamma, size, E)
    plain[line, 2] = 0.0
    for k in range(phi.shape[0]):
        plain[line, 2] = max(plain[line, 2], abs(gamma[k]))


@helper
def write_wrenches(T, E, C, line):
    """Force and torque of every joint on its second marker: -sum of lam g."""
    joints, out, lam, g = (
        view(E, projection_kernels.WRENCHES),
        view(C, columns.WRENCH),
        view(T, s.LAM),
        view(T, s.ROW_G),
    )
    for j in range(joints.shape[0]):
        for c in range(6):
            out[line, j, c] = 0.0
        for r in range(joints[j, 1]):
            first = joints[j, 2] + r * joints[j, 3]
            for c in range(6):
                out[line, j, c] -= lam[joints[j, 0] + r] * g[first + c]


@helper
def project_one(T, E, out_q, out_v):
    """Close T's (t, q, v), which are those of the line: along the directions that are kept, then along its own, then by
    Newton's iteration with accelerations and multipliers. OK, OTHER_WAY if these were found too, or a reason.
    """
    report, link = view(E, projection_kernels.REPORT), view(E, projection_kernels.LINK)
    kept = report[projection_kernels.KEPT]
    code = call(link[projection_kernels.LINK_LINE], T, E)
    if code == line_kernels.OTHER_WAY and kept != 0:
        report[projection_kernels.KEPT] = 0
        copy(view(T, s.Q), out_q)
        copy(view(T, s.V), out_v)
        code = call(link[projection_kernels.LINK_LINE], T, E)
    if code != line_kernels.OTHER_WAY:
        return code
    report[projection_kernels.KEPT] = 0
    copy(view(T, s.Q), out_q)
    copy(view(T, s.V), out_v)
    code = call(link[projection_kernels.LINK_POSITIONS], T, E)
    if code == OK:
        code = call(link[projection_kernels.LINK_RATES], T, E)
    return line_kernels.OTHER_WAY if code == OK else code


@kernel
def project_lines(T, E):
    """Close positions and velocities of lines where they stand, if asked for; their STAGE tells how far they are."""
    lines, report = view(E, projection_kernels.LINES), view(E, projection_kernels.REPORT)
    q, v, a, lam = view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.LAM)
    near, angles = view(T, s.ANGLE_REF), view(T, s.ANGLES)
    C = lines[projection_kernels.LINES_OUTPUT]
    places, stage = view(C, columns.PLACES), view(C, columns.STAGE)
    for line in range(lines[projection_kernels.FIRST_LINE], lines[projection_kernels.END_LINE]):
        stage[line] = columns.SOLVED
        view(C, columns.REDUNDANT)[line] = 0
        out_q, out_v, out_angle = view(C, columns.Q)[line], view(C, columns.V)[line], view(C, columns.ANGLE)[line]
        out_lam = view(C, columns.LAM)[line]
        report[projection_kernels.FAILED_LINE] = line
        view(T, s.TIME)[0] = view(C, columns.T)[line]
        copy(q, out_q)
        copy(v, out_v)
        copy(near, out_angle)
        if lines[projection_kernels.PROJECTED] == 1:
            code = project_one(T, E, out_q, out_v)
            if code != OK and code != line_kernels.OTHER_WAY:
                return code
            copy(out_q, q)
            copy(out_v, v)
            if code == OK:
                stage[line] = columns.PLACED
            else:
                copy(view(C, columns.A)[line], a)
                for k in range(lam.shape[0]):
                    out_lam[places[k]] = lam[k]
                view(C, columns.REDUNDANT)[line] = report[projection_kernels.N_REDUNDANT]
        elif near.shape[0] > 0 and core(T, s.CORE_POSES) != OK:
            return projection_kernels.EVALUATION
        if near.shape[0] > 0:
            core(T, s.CORE_ANGLES)
            copy(out_angle, angles)
    return OK


@helper
def evaluate_levels(T):
    """All that residuals are made of, where `forces` stand evaluated."""
    code = core(T, s.CORE_JACOBIAN)
    return core(T, s.CORE_LEVELS) if code == OK else code


@helper
def solve_line(T, E):
    """a and lam at T's (t, q, v) by a factorisation there; leaves forces, Jacobian, rates and gamma evaluated."""
    S, a, lam, g, gamma = (
        view(E, projection_kernels.LINK)[projection_kernels.LINK_SOLVER],
        view(T, s.A),
        view(T, s.LAM),
        view(T, s.G),
        view(T, s.GAMMA),
    )
    x, n = view(S, contract.X), view(T, s.A).shape[0]
    projection_kernels.forget_solution(T)
    if core(T, s.CORE_FORCES) != OK or evaluate_levels(T) != OK:
        return projection_kernels.EVALUATION
    code = projection_kernels.factor_mass(T, E, a[:0])
    if code != OK:
        return code
    for k in range(n):
        x[k] = -g[k]
    for k in range(gamma.shape[0]):
        x[n + k] = gamma[k]
    contract.solve_refined(T, S)
    copy(a, x[:n])
    copy(lam, x[n:])
    view(E, projection_kernels.REPORT)[projection_kernels.N_LINE_FACTOR] += 1
    if view(S, contract.INFO)[contract.N_ZERO] == 0:
        return OK
    code = call(view(E, projection_kernels.LINK)[projection_kernels.LINK_SHORTEN], T, E)
    if code == OK and core(T, s.CORE_LEVELS) != OK:  # `shorten` has used gamma
        code = projection_kernels.EVALUATION
    return code


@helper
def complete_one(T, E, C, line):
    """All columns of a line that follow from t, q, v and angle; from a and lam as well if these are final."""
    a, lam, energy, places = view(T, s.A), view(T, s.LAM), view(T, s.ENERGY), view(C, columns.PLACES)
    out_a, out_lam = view(C, columns.A)[line], view(C, columns.LAM)[line]
    alone = view(E, projection_kernels.LINES)[projection_kernels.PROJECTED] == 1  # energies alone
    if view(C, columns.STAGE)[line] == columns.SOLVED:
        copy(a, out_a)
        for k in range(lam.shape[0]):
            lam[k] = out_lam[places[k]]
        code = core(T, s.CORE_FORCES)
        if code == OK and not alone:
            code = evaluate_levels(T)
        if code != OK:
            return projection_kernels.EVALUATION
    elif alone:
        projection_kernels.forget_solution(T)
        if core(T, s.CORE_FORCES) != OK:
            return projection_kernels.EVALUATION
    else:
        code = solve_line(T, E)
        if code != OK:
            return code
        copy(out_a, a)
        for k in range(out_lam.shape[0]):
            out_lam[k] = 0.0  # rows of joints that are open
        for k in range(lam.shape[0]):
            out_lam[places[k]] = lam[k]
        zeros = view(view(E, projection_kernels.LINK)[projection_kernels.LINK_SOLVER], contract.INFO)[contract.N_ZERO]
        view(C, columns.REDUNDANT)[line] = zeros
    if core(T, s.CORE_ENERGY) != OK:
        return projection_kernels.EVALUATION
    view(C, columns.KINETIC)[line] = energy[s.KINETIC]
    view(C, columns.POTENTIAL)[line] = energy[s.POTENTIAL]
    if not alone:
        write_levels(T, E, C, line)
        write_wrenches(T, E, C, line)
    return OK


@kernel
def complete_lines(T, E):
    """Fill all columns of lines that are not complete, or their energies alone; leaves ANGLE_REF at the last one."""
    lines, report = view(E, projection_kernels.LINES), view(E, projection_kernels.REPORT)
    C = lines[projection_kernels.LINES_OUTPUT]
    stage, scaled = view(C, columns.STAGE), view(C, columns.SCALED)
    report[projection_kernels.N_CONTRADICTIONS] = 0
    for line in range(lines[projection_kernels.FIRST_LINE], lines[projection_kernels.END_LINE]):
        if stage[line] == columns.COMPLETE:
            continue
        report[projection_kernels.FAILED_LINE] = line
        view(T, s.TIME)[0] = view(C, columns.T)[line]
        copy(view(T, s.Q), view(C, columns.Q)[line])
        copy(view(T, s.V), view(C, columns.V)[line])
        copy(view(T, s.ANGLE_REF), view(C, columns.ANGLE)[line])
        code = complete_one(T, E, C, line)
        if code != OK:
            return code
        if lines[projection_kernels.PROJECTED] == 0:
            stage[line] = columns.COMPLETE
            if not max(scaled[line, 1], scaled[line, 2]) <= CONTRADICTION:
                report[projection_kernels.N_CONTRADICTIONS] += 1
    return OK
