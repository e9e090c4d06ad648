"""Lines of output: closed if asked for, with residuals, reactions, energies and angles written down."""

from __future__ import annotations

from index3.compiled import columns
from index3.compiled import slots as s
from index3.compiled.interface import OK, call, helper, kernel, view
from index3.methods import line_kernels, projection_kernels
from index3.methods.projection_kernels import position_residual
from index3.methods.run import copy, core


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
    for e in range(phi_q.shape[0]):
        size[row[e]] += abs(phi_q[e] * v[column[e]])
    scaled[line, 1] = worst(rate, size, E)
    plain[line, 1] = 0.0
    for k in range(phi.shape[0]):
        plain[line, 1] = max(plain[line, 1], abs(rate[k]))
        size[k] = abs(gamma[k])
        gamma[k] = -gamma[k]
    for e in range(phi_q.shape[0]):
        x = phi_q[e] * a[column[e]]
        gamma[row[e]] += x
        size[row[e]] += abs(x)
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


@kernel
def close_lines(T, E):
    """Close lines of output where they stand, and write down what is derived; leaves ANGLE_REF at the last line."""
    lines, report, link = (
        view(E, projection_kernels.LINES),
        view(E, projection_kernels.REPORT),
        view(E, projection_kernels.LINK),
    )
    q, v, a, lam = view(T, s.Q), view(T, s.V), view(T, s.A), view(T, s.LAM)
    near, angles, energy = view(T, s.ANGLE_REF), view(T, s.ANGLES), view(T, s.ENERGY)
    C = lines[projection_kernels.LINES_OUTPUT]
    places = view(C, columns.PLACES)
    for line in range(lines[projection_kernels.FIRST_LINE], lines[projection_kernels.END_LINE]):
        out_q, out_v, out_a = view(C, columns.Q)[line], view(C, columns.V)[line], view(C, columns.A)[line]
        out_lam, out_angle = view(C, columns.LAM)[line], view(C, columns.ANGLE)[line]
        report[projection_kernels.FAILED_LINE] = line
        view(T, s.TIME)[0] = view(C, columns.T)[line]
        copy(q, out_q)
        copy(v, out_v)
        copy(near, out_angle)
        evaluated = False
        if lines[projection_kernels.PROJECTED] == 1:
            code = call(link[projection_kernels.LINK_LINE], T, E)
            evaluated = code == OK
            if code == line_kernels.OTHER_WAY:
                copy(q, out_q)
                copy(v, out_v)
                code = call(link[projection_kernels.LINK_POSITIONS], T, E)
                if code == OK:
                    code = call(link[projection_kernels.LINK_RATES], T, E)
            if code != OK:
                return code
            copy(out_q, q)
            copy(out_v, v)
            copy(out_a, a)
            for k in range(lam.shape[0]):
                out_lam[places[k]] = lam[k]
            view(C, columns.REDUNDANT)[line] = report[projection_kernels.N_REDUNDANT]
        else:
            copy(a, out_a)
            for k in range(lam.shape[0]):
                lam[k] = out_lam[places[k]]
        code = OK if evaluated else core(T, s.CORE_FORCES)
        if code == OK and not evaluated:
            code = core(T, s.CORE_JACOBIAN)
        if code == OK and not evaluated:
            code = core(T, s.CORE_LEVELS)
        if code == OK:
            code = core(T, s.CORE_ENERGY)
        if code != OK:
            return projection_kernels.EVALUATION
        write_levels(T, E, C, line)
        write_wrenches(T, E, C, line)
        view(C, columns.KINETIC)[line] = energy[s.KINETIC]
        view(C, columns.POTENTIAL)[line] = energy[s.POTENTIAL]
        if near.shape[0] > 0:
            core(T, s.CORE_ANGLES)
            copy(out_angle, angles)
    return OK
