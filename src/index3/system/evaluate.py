"""The evaluator: residual parts, Jacobians and the bordered matrix, for every method and every kind of element.

Kinds of elements are entries of STAGES and STAGE_TABLES: address of a kernel and handle of its table, sorted by stage.
The order of an evaluation: POSES (bodies put their markers), CONSTRAINTS (rows and their gradients), FORCES (applied
forces), GATHER (bodies turn marker wrenches into generalised forces). For derivatives: JACOBIANS (marker Jacobians),
OWN_ROWS (rows that are no marker's: normalisation, held coordinates), HESSIANS (second derivatives of rows),
FORCE_DERIVATIVES, BODY_MATRIX; BIAS and SECOND_DERIVATIVES for accelerations and their derivatives.
"""

from __future__ import annotations

import math

from index3.compiled import slots as s
from index3.compiled.interface import OK, call, call_time, helper, kernel, view
from index3.system.scatter import (
    add_group,
    add_reaction_derivatives,
    add_row_products,
    carry_row,
    fill_velocity_derivative,
)

BAD_FUNCTION = 901  # a user's function of time gave something that is not finite


@helper
def run_line(T, k):
    """Run one kernel of a kind; a positive status is written down with its place and returned."""
    code = call(view(T, s.STAGES)[k], T, view(T, s.STAGE_TABLES)[k])
    if code != OK:
        status = view(T, s.STATUS)
        status[0] = 1
        status[1] = k
        status[2] = code
    return code


@helper
def run_stage(T, stage):
    """Run every kernel of a stage, up to one that fails."""
    first, code = view(T, s.STAGE_FIRST), OK
    for k in range(first[stage], first[stage + 1]):
        code = run_line(T, k)
        if code != OK:
            break
    return code


@helper
def fill_functions(T):
    """Values and derivatives of the users' functions of time, and in the last line the time they belong to.

    While a method steps, functions are asked again only for another time. Those without an address are constant.
    """
    functions, values, t = view(T, s.FUNCTIONS), view(T, s.FUNCTION_VALUES), view(T, s.TIME)[0]
    last = functions.shape[0]
    if values[last, 0] == t and view(T, s.STATUS)[s.STEPPING] == 1:
        return OK
    values[last, 0] = math.nan
    for k in range(functions.shape[0]):
        for d in range(3):
            if functions[k, d] == 0:
                continue
            y = call_time(functions[k, d], t)
            values[k, d] = y
            if not abs(y) < 1e300:  # also catches NaN
                status = view(T, s.STATUS)
                status[0] = BAD_FUNCTION
                status[1] = k
                status[2] = d
                return BAD_FUNCTION
    values[last, 0] = t
    return OK


@helper
def add_reactions(T):
    """Put the constraint forces -g lam of every row on the markers of its group."""
    groups, members, row_g = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.ROW_G)
    lam, f = view(T, s.LAM), view(T, s.MARKER_F)
    for k in range(groups.shape[0]):
        width = 6 * groups[k].marker_count
        for r in range(groups[k].row_count):
            lam_r = lam[groups[k].row + r]
            if lam_r == 0.0:
                continue
            first = groups[k].gradient + r * width
            for o in range(groups[k].marker_count):
                marker = members[groups[k].markers + o]
                for c in range(6):
                    f[marker, c] -= lam_r * row_g[first + 6 * o + c]


@helper
def add_power_of_rows(T):
    """A moving constraint works at the rate -lam . Phi_q v = lam . Phi_t."""
    values, lam, phi_t = view(T, s.ENERGY), view(T, s.LAM), view(T, s.PHI_T)
    for k in range(lam.shape[0]):
        values[s.POWER] += lam[k] * phi_t[k]


@helper
def fill_twist_rates(T):
    """MARKER_W = J a + (J v)_q v of every marker; one without coordinates has its bias, which POSES put there."""
    markers, marker_j, marker_n = view(T, s.MARKERS), view(T, s.MARKER_J), view(T, s.MARKER_NV)
    a, past, share, now = view(T, s.A), view(T, s.A_PAST), view(T, s.SHARE)[0], view(T, s.A_NOW)
    v, bias, rate, spans = view(T, s.V), view(T, s.MARKER_B), view(T, s.MARKER_W), view(T, s.SPANS)
    for k in range(now.shape[0]):
        now[k] = a[k] + share * (past[k] - a[k])
    for m in range(rate.shape[0]):
        count, span, start = markers[m].count, markers[m].span, markers[m].jacobian
        for i in range(6):
            x = bias[m, i] if count == 0 else 0.0
            for j in range(count):
                k = spans[span + j]
                x += marker_j[start + i * count + j] * now[k] + marker_n[start + i * count + j] * v[k]
            rate[m, i] = x


@kernel
def forces(T, E):
    """At (t, q, v, lam): marker poses and wrenches, PHI, ROW_G, and G = Phi_q^T lam - Q.

    Where forces depend on accelerations, also at those of A (see `slots`), with the marker Jacobians on the way.
    """
    f, g = view(T, s.MARKER_F), view(T, s.G)
    for k in range(f.shape[0]):
        for c in range(6):
            f[k, c] = 0.0
    for k in range(g.shape[0]):
        g[k] = 0.0
    code = fill_functions(T)
    if code == OK:
        code = run_stage(T, s.POSES)
    if code == OK and view(T, s.A_NOW).shape[0] > 0:
        code = run_stage(T, s.JACOBIANS)
        fill_twist_rates(T)
    if code == OK:
        code = run_stage(T, s.CONSTRAINTS)
    if code == OK:
        add_reactions(T)
        code = run_stage(T, s.FORCES)
    if code == OK:
        code = run_stage(T, s.GATHER)
    return code


@kernel
def rows(T, E):
    """At (t, q, v): marker poses, PHI and ROW_G, which is all of `forces` that the closing of constraints needs.

    Bodies fill their own rows where they gather forces; these are old ones here, and G means nothing.
    """
    code = fill_functions(T)
    if code == OK:
        code = run_stage(T, s.POSES)
    if code == OK:
        code = run_stage(T, s.CONSTRAINTS)
    if code == OK:
        view(T, s.STATUS)[s.ROWS_ALONE] = 1
        code = run_stage(T, s.GATHER)
        view(T, s.STATUS)[s.ROWS_ALONE] = 0
    return code


@kernel
def mass(T, E):
    """MA = M(q_mass) a."""
    ma = view(T, s.MA)
    for k in range(ma.shape[0]):
        ma[k] = 0.0
    return run_stage(T, s.MASS)


@helper
def fill_jacobian(T):
    """Marker Jacobians and PHI_Q."""
    code = run_stage(T, s.JACOBIANS)
    if code != OK:
        return code
    groups, members, markers = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS)
    row_g, marker_j, phi_q, columns = view(T, s.ROW_G), view(T, s.MARKER_J), view(T, s.PHI_Q), view(T, s.GROUP_COLUMNS)
    for k in range(phi_q.shape[0]):
        phi_q[k] = 0.0
    for k in range(groups.shape[0]):
        for r in range(groups[k].row_count):
            first = groups[k].gradient + 6 * groups[k].marker_count * r
            block = groups[k].block + groups[k].count * r
            carry_row(groups, k, members, columns, markers, row_g, first, marker_j, phi_q, block, 1.0)
    return run_stage(T, s.OWN_ROWS)


@kernel
def jacobian(T, E):
    """After `forces` at the same point: marker Jacobians, what they change by along v, and PHI_Q."""
    return fill_jacobian(T)


@kernel
def gradients(T, E):
    """As `jacobian`, but MARKER_NV means nothing: for accelerations, whose matrix is made of masses and PHI_Q alone."""
    view(T, s.STATUS)[s.GRADIENTS_ALONE] = 1
    code = fill_jacobian(T)
    view(T, s.STATUS)[s.GRADIENTS_ALONE] = 0
    return code


@helper
def clear_groups(T):
    """GROUP_K = GROUP_D = 0."""
    groups, apart = view(T, s.GROUPS), view(T, s.GROUP_APART)
    group_k, group_d = view(T, s.GROUP_K), view(T, s.GROUP_D)
    for k in range(groups.shape[0]):
        if apart[k] == 0 and (groups[k].curved == 1 or groups[k].damped == 1):
            width = 6 * groups[k].marker_count
            first = groups[k].stiffness
            for i in range(first, first + width * width):
                group_k[i] = 0.0
                group_d[i] = 0.0


@helper
def fill_hessians(T):
    """Second derivatives of the rows: GROUP_K = sum of lam_r H_r, and the contractions ROW_VH ... ROW_H3."""
    if view(T, s.STATUS)[s.GAMMA_ALONE] == 0:  # else nobody asks for these
        clear_groups(T)
    return run_stage(T, s.HESSIANS)


@helper
def exchange(x, y):
    """Swap the contents of two vectors."""
    for k in range(y.shape[0]):
        z = x[k]
        x[k] = y[k]
        y[k] = z


@helper
def prepare_inertia(T, stiff):
    """Where forces depend on accelerations: GROUP_M = 0, and if stiff MARKER_NA, MARKER_BQ, MARKER_BV at A_NOW."""
    group_m, a, now = view(T, s.GROUP_M), view(T, s.A), view(T, s.A_NOW)
    if now.shape[0] == 0:
        return OK
    for k in range(group_m.shape[0]):
        group_m[k] = 0.0
    if not stiff:
        return OK
    exchange(a, now)
    code = run_stage(T, s.SECOND_DERIVATIVES)
    exchange(a, now)
    return code


@helper
def fill_groups(T, stiff):
    """Derivatives of rows (if stiff) and forces by pose and twist of the markers: GROUP_K, GROUP_D, GROUP_M, ROW_R."""
    row_r, code = view(T, s.ROW_R), OK
    for k in range(row_r.shape[0]):
        row_r[k] = 0.0
    if stiff:
        code = fill_hessians(T)
    else:
        clear_groups(T)  # forces add theirs all the same
    if code == OK:
        code = prepare_inertia(T, stiff)
    return run_stage(T, s.FORCE_DERIVATIVES) if code == OK else code


@helper
def velocity_rows(level):
    """How many rows are of velocity level."""
    count = 0
    for r in range(level.shape[0]):
        count += level[r] == 1
    return count


@kernel
def matrix(T, E):
    """After `forces` and `jacobian` at the same point: MATRIX for the coefficients in COEF."""
    values, c, code = view(T, s.MATRIX), view(T, s.COEF), OK
    phi_q, row, level, places = view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.LEVEL), view(T, s.BLOCK_MAP)
    for k in range(values.shape[0]):
        values[k] = 0.0
    for e in range(phi_q.shape[0]):  # each of a row's coordinates stands once in its group
        values[places[e, 0]] = phi_q[e]
        values[places[e, 1]] = phi_q[e]
    stiff = c[s.C_K] != 0.0 or c[s.C_D] != 0.0 or c[s.C_V] != 0.0  # else derivatives by q and v are not asked for
    if stiff or c[s.C_R] != 0.0:
        apart = view(T, s.GROUP_APART)
        if view(T, s.STATUS)[s.SAME_POINT] == 0:
            code = fill_groups(T, stiff)
        if code != OK:
            return code
        for k in range(apart.shape[0]):
            if apart[k] == 0:
                add_group(T, k)
    code = run_stage(T, s.BODY_MATRIX)
    if c[s.C_V] != 0.0 and velocity_rows(level) > 0:
        phiv_q = view(T, s.PHIV_Q)
        for e in range(phiv_q.shape[0]):
            phiv_q[e] = 0.0
        fill_velocity_derivative(T, view(T, s.ROW_VH), view(T, s.MARKER_NV), phiv_q)
        for e in range(phi_q.shape[0]):
            if level[row[e]] == 1:
                values[places[e, 0]] += c[s.C_V] * phiv_q[e]
    if c[s.C_R] != 0.0:
        add_reaction_derivatives(T)
    return code


@helper
def fill_rates(T):
    """RATE = Phi_q v + Phi_t; this is what velocity-level rows say, which are affine in v, at any v."""
    rate, phi_t, v = view(T, s.RATE), view(T, s.PHI_T), view(T, s.V)
    for k in range(rate.shape[0]):
        rate[k] = phi_t[k]
    add_row_products(view(T, s.PHI_Q), view(T, s.BLOCK_ROW), view(T, s.BLOCK_COL), v, rate)


@kernel
def rates(T, E):
    """After `forces` and `jacobian` at the same t and q: RATE alone, at any v."""
    fill_rates(T)
    return OK


@helper
def along(gradient, first, twists, m):
    """The part of a row's gradient that belongs to a marker, from a place on, times a twist of it."""
    force = gradient[first] * twists[m, 0] + gradient[first + 1] * twists[m, 1] + gradient[first + 2] * twists[m, 2]
    torque = gradient[first + 3] * twists[m, 3] + gradient[first + 4] * twists[m, 4]
    return force + (torque + gradient[first + 5] * twists[m, 5])


@helper
def fill_gamma(T):
    """GAMMA = -(V^T H V + g . b) - Phi_tt."""
    view(T, s.STATUS)[s.GAMMA_ALONE] = 1
    code = fill_hessians(T)
    view(T, s.STATUS)[s.GAMMA_ALONE] = 0
    if code != OK:
        return code
    gamma, phi_tt, row_g, row_vh = view(T, s.GAMMA), view(T, s.PHI_TT), view(T, s.ROW_G), view(T, s.ROW_VH)
    groups, members, bias = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKER_B)
    for k in range(gamma.shape[0]):
        gamma[k] = -phi_tt[k]
    code = run_stage(T, s.BIAS)
    twist = view(T, s.MARKER_V)
    for k in range(groups.shape[0]):
        count, member, curved = groups[k].marker_count, groups[k].markers, groups[k].curved
        for r in range(groups[k].row_count):
            first = groups[k].gradient + 6 * count * r
            x = 0.0
            for o in range(count):
                m = members[member + o]
                x += along(row_g, first + 6 * o, bias, m)
                if curved == 1:  # else V^T H is zero
                    x += along(row_vh, first + 6 * o, twist, m)
            gamma[groups[k].row + r] -= x
    return code


@kernel
def gamma(T, E):
    """After `forces` and `jacobian` at the same point: GAMMA alone."""
    return fill_gamma(T)


@kernel
def levels(T, E):
    """After `forces` and `jacobian` at the same point: RATE and GAMMA."""
    fill_rates(T)
    return fill_gamma(T)


@kernel
def derivatives(T, E):
    """After `levels` at the same point, with `a` set: PHIV_Q, PHIA_Q, GAMMA_Q, GAMMA_V."""
    phiv_q, phia_q = view(T, s.PHIV_Q), view(T, s.PHIA_Q)
    gamma_q, gamma_v = view(T, s.GAMMA_Q), view(T, s.GAMMA_V)
    for e in range(phiv_q.shape[0]):
        phiv_q[e] = 0.0
        phia_q[e] = 0.0
        gamma_q[e] = 0.0
        gamma_v[e] = 0.0
    code = run_stage(T, s.SECOND_DERIVATIVES)
    if code == OK:
        code = fill_hessians(T)  # again: X = J a is known now
    if code != OK:
        return code
    fill_velocity_derivative(T, view(T, s.ROW_VH), view(T, s.MARKER_NV), phiv_q)
    fill_velocity_derivative(T, view(T, s.ROW_XH), view(T, s.MARKER_NA), phia_q)
    groups, members, markers, row_g = view(T, s.GROUPS), view(T, s.GROUP_MARKERS), view(T, s.MARKERS), view(T, s.ROW_G)
    vh, hv, bh, h3 = view(T, s.ROW_VH), view(T, s.ROW_HV), view(T, s.ROW_BH), view(T, s.ROW_H3)
    marker_j, nv, bq, bv = view(T, s.MARKER_J), view(T, s.MARKER_NV), view(T, s.MARKER_BQ), view(T, s.MARKER_BV)
    columns = view(T, s.GROUP_COLUMNS)
    # gamma_q = -((V^T H V)_xi J + V^T (H + H^T) N(v) + b^T H J + g . b_q);  gamma_v = -(V^T (H + H^T) J + g . b_v)
    for k in range(groups.shape[0]):
        for r in range(groups[k].row_count):
            first = groups[k].gradient + 6 * groups[k].marker_count * r
            block = groups[k].block + groups[k].count * r
            carry_row(groups, k, members, columns, markers, h3, first, marker_j, gamma_q, block, -1.0)
            carry_row(groups, k, members, columns, markers, vh, first, nv, gamma_q, block, -1.0)
            carry_row(groups, k, members, columns, markers, hv, first, nv, gamma_q, block, -1.0)
            carry_row(groups, k, members, columns, markers, bh, first, marker_j, gamma_q, block, -1.0)
            carry_row(groups, k, members, columns, markers, row_g, first, bq, gamma_q, block, -1.0)
            carry_row(groups, k, members, columns, markers, vh, first, marker_j, gamma_v, block, -1.0)
            carry_row(groups, k, members, columns, markers, hv, first, marker_j, gamma_v, block, -1.0)
            carry_row(groups, k, members, columns, markers, row_g, first, bv, gamma_v, block, -1.0)
    return code


@kernel
def energy(T, E):
    """After `forces` at the same point: kinetic and potential energy, power of what is not conservative."""
    values = view(T, s.ENERGY)
    for k in range(values.shape[0]):
        values[k] = 0.0
    code = run_stage(T, s.ENERGIES)
    add_power_of_rows(T)
    return code


@kernel
def power(T, E):
    """After `forces` at the same point: the power alone, as `energy` finds it; both energies stay as they were."""
    values, working, code = view(T, s.ENERGY), view(T, s.WORKING), OK
    kinetic, potential = values[s.KINETIC], values[s.POTENTIAL]
    values[s.POWER] = 0.0
    for k in range(working.shape[0]):
        code = max(code, run_line(T, working[k]))
    values[s.KINETIC], values[s.POTENTIAL] = kinetic, potential
    add_power_of_rows(T)
    return code


@kernel
def working(T, E):
    """At (t, q, v), where no reaction works: all that `power` needs, without rows and the other forces."""
    lines, code = view(T, s.WORKING_FORCES), fill_functions(T)
    if code == OK:
        code = run_stage(T, s.POSES)
    for k in range(lines.shape[0]):
        if code == OK:
            code = run_line(T, lines[k])
    return code


@kernel
def poses(T, E):
    """At (t, q, v): pose and twist of every marker."""
    code = fill_functions(T)
    return run_stage(T, s.POSES) if code == OK else code


@kernel
def angles(T, E):
    """With the markers placed: unwrapped joint angles, each the turn nearest to its value at the last accepted step."""
    return run_stage(T, s.MEASURE)


@kernel
def switches(T, E):
    """With the markers placed: SWITCH, what changes its sign where a force is not smooth, such as a gap."""
    view(T, s.STATUS)[s.SWITCH_AT] = 0
    return run_stage(T, s.SWITCHES)


@kernel
def passes(T, E):
    """With the markers placed: whether something was passed through within the step that ends here (see SWEEP)."""
    sweep = view(T, s.SWEEP)
    if sweep.shape[0] == 0:  # no kind has the stage
        return OK
    view(T, s.STATUS)[s.SWITCH_AT] = 0
    sweep[s.SWEEP_PART] = 1.0
    return run_stage(T, s.PASSES)
