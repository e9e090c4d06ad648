"""The slots of the system's table, in the order of the data flow.

n coordinates, m constraint rows. A *marker* is a point and three axes on a body; its twist is (dr, dtheta) or
(velocity, angular velocity), ground axes. A *group* is a set of markers tied by one joint or force: constraint rows and
force laws are written in the group's twists (6 numbers per marker), and the evaluator carries them over to coordinates.
A marker's *span* is the list of the coordinates that move it, in an order that its body's kernels know; the coordinates
of a group are those of its markers, each once.
"Ragged" arrays hold one piece per marker, group or row; the tables say where each piece begins.
"""

from __future__ import annotations

import numpy as np

from index3.compiled.interface import slots

MARKER = np.dtype([("body", "i8"), ("span", "i8"), ("count", "i8"), ("jacobian", "i8")])
"""A marker's body (-1: ground), first place in SPANS, number of coordinates, first place in ragged arrays."""

GROUP = np.dtype(
    [
        ("markers", "i8"),  # first place in GROUP_MARKERS
        ("marker_count", "i8"),
        ("row", "i8"),  # first constraint row
        ("row_count", "i8"),
        ("count", "i8"),  # its coordinates
        ("columns", "i8"),  # first place in GROUP_COLUMNS
        ("gradient", "i8"),  # first place in ROW_G of its first row (6 numbers per marker and row)
        ("block", "i8"),  # first place of its rows' entries in PHI_Q (row by row, `count` each)
        ("stiffness", "i8"),  # first place in GROUP_K and GROUP_D (square of 6 per marker)
        ("map", "i8"),  # first place in GROUP_MAP (square of `count`)
        ("curved", "i8"),  # 1 if GROUP_K is ever filled
        ("damped", "i8"),  # 1 if GROUP_D is ever filled
        ("inertial", "i8"),  # 1 if GROUP_M is ever filled
    ]
)

C_M, C_MA, C_K, C_D, C_V, C_R = range(6)
"""Places in COEF. The matrix is c_M M + c_Ma (M a)_q + c_K ((Phi_q^T lam)_q - Q_q) - c_D Q_v, bordered by Phi_q;
velocity-level rows add c_V times their derivative by q. c_R is for forces that depend on what is solved for: Phi_q^T
gets -c_R Q_lam where they depend on reactions, M gets -c_R Q_a where on accelerations."""

KINETIC, POTENTIAL, POWER = 0, 1, 2
"""Places in ENERGY."""
SWEEP_H, SWEEP_ROOM, SWEEP_PART, SWEEP_RECORD, SWEEP_SURE, SWEEP_SIZE = range(6)
"""Places in SWEEP: the size of the step that ends at T's state, or 0 to let that state be the start of the next; the
depth that is no more than an allowed error; the part of the step to try instead because something was passed through
inside it, 1 if nothing was; the number of its record, counted as in SWITCH; 1 if only what is sure counts."""
(
    STEPPING, GAMMA_ALONE, GRADIENTS_ALONE, SWITCH_AT, ASIDE, SECANTS, SLIDES, VALUES_ALONE, INCOMPLETE, SAME_POINT,
    ROWS_ALONE, STATUS_SIZE,
) = range(3, 15)  # fmt: skip
"""Places in STATUS: 1 while a method steps along one motion, so that an element may compare with its last evaluation; 1
while HESSIANS is run for GAMMA alone, so that a row may leave out all but the sum V^T H V + PHI_TT; 1 while JACOBIANS
is run for PHI_Q alone, so that a body may leave out MARKER_NV; the place in SWITCH of the next record, while SWITCHES
or PASSES is run; 1 while evaluations are beside the steps (for lines of output inside one), so that an element whose
next evaluation starts from what the last one found leaves that as it was; 1 while the matrix is to have secants of
friction through rest instead of its derivatives by the sliding velocity; set to 1 by whoever has friction in the
matrix; 1 while CONSTRAINTS is run for PHI alone, so that a row whose gradient is expensive may leave that and
PHI_SCALE as they were; 1 if one did; 1 while the next MATRIX is of the same point as the last, so that derivatives by
pose and twist stand; 1 while GATHER is run for the bodies' own rows alone, so that a kind without rows may leave it
out."""

(
    TIME, Q, V, A, LAM, Q_MASS, COEF, A_NOW, A_PAST, SHARE,
    PHI, PHI_T, PHI_TT, PHI_SCALE, LEVEL, G, MA, RATE, GAMMA, ENERGY,
    GRAVITY, FUNCTIONS, FUNCTION_VALUES, ANGLES, ANGLE_REF, ANGLE_SPEED, BRANCH,
    MARKERS, SPANS, LOCAL_R, LOCAL_A,
    MARKER_R, MARKER_A, MARKER_V, MARKER_W, MARKER_F,
    MARKER_J, MARKER_NV, MARKER_NA, MARKER_B, MARKER_X, MARKER_BQ, MARKER_BV,
    GROUPS, GROUP_MARKERS, GROUP_COLUMNS, GROUP_APART, GROUP_K, GROUP_D, GROUP_M, GROUP_MAP,
    ROW_G, ROW_VH, ROW_HV, ROW_XH, ROW_BH, ROW_H3, ROW_R, HESSIAN,
    BLOCK_ROW, BLOCK_COL, BLOCK_MAP, ROW_COLUMNS, PHI_Q, Q_LAM, PHIV_Q, PHIA_Q, GAMMA_Q, GAMMA_V,
    MATRIX, CORE, STAGES, STAGE_TABLES, STAGE_FIRST, WORKING, WORKING_FORCES, SWITCH, SWEEP, STATUS,
) = slots(
    time=("f8", 1),  # the instant of the evaluation
    q=("f8", 1), v=("f8", 1), a=("f8", 1), lam=("f8", 1),  # the point of the evaluation
    q_mass=("f8", 1),  # the configuration of the mass term
    coef=("f8", 1),
    a_now=("f8", 1),  # accelerations at TIME, for forces that depend on them; empty if none does
    a_past=("f8", 1), share=("f8", 1),  # A_NOW = A + SHARE (A_PAST - A): for A that belongs to another instant
    phi=("f8", 1), phi_t=("f8", 1), phi_tt=("f8", 1),  # rows and their explicit derivatives by time
    phi_scale=("f8", 1),  # sum of the absolute terms of each row
    level=("i8", 1),  # 0: position row, 1: velocity-level row
    g=("f8", 1),  # Phi_q^T lam - Q
    ma=("f8", 1),  # M(q_mass) a
    rate=("f8", 1),  # Phi_q v + Phi_t
    gamma=("f8", 1),  # right side of Phi_q a = gamma
    energy=("f8", 1),  # kinetic, potential, power of non-conservative forces and motions
    gravity=("f8", 1),
    functions=("i8", 2), function_values=("f8", 2),  # users' functions of time: addresses and values of f, f', f''
    angles=("f8", 1), angle_ref=("f8", 1),  # unwrapped joint angles: at the evaluation, at the last accepted step
    angle_speed=("f8", 1),  # how fast the two sides of the joint turn against each other
    branch=("f8", 2),  # per row, 1 or: what changes its sign where solutions of the row meet others; and its rate
    markers=(MARKER, 1), spans=("i8", 1),  # ragged: the coordinates that move each marker
    local_r=("f8", 2), local_a=("f8", 2),  # poses in the body frame
    marker_r=("f8", 2), marker_a=("f8", 2), marker_v=("f8", 2),  # pose and twist
    marker_w=("f8", 2),  # rate of the twist: acceleration, angular acceleration; empty if no force reads it
    marker_f=("f8", 2),  # applied force and torque, reactions included
    marker_j=("f8", 1),  # ragged (6, count): twist by coordinate rates
    marker_nv=("f8", 1), marker_na=("f8", 1),  # ragged (6, count): (J v)_q and (J a)_q
    marker_b=("f8", 2),  # bias acceleration (J v)_q v
    marker_x=("f8", 2),  # J a
    marker_bq=("f8", 1), marker_bv=("f8", 1),  # ragged (6, count): derivatives of the bias by q and v
    groups=(GROUP, 1), group_markers=("i8", 1),
    group_columns=("i8", 1),  # ragged, marker by marker: the place of each coordinate of its span among the group's
    group_apart=("i8", 1),  # 1 while nothing touches and all derivatives of the group are zero: it is passed over
    group_k=("f8", 1), group_d=("f8", 1),  # ragged: minus the derivative of the group's wrench by pose and by twist
    group_m=("f8", 1),  # the same by the rate of the twist; empty if no force reads it
    group_map=("i4", 1),  # ragged: where the group's coordinate pairs stand in MATRIX
    row_g=("f8", 1),  # ragged: gradient of each row in twists
    row_vh=("f8", 1), row_hv=("f8", 1), row_xh=("f8", 1), row_bh=("f8", 1),  # V^T H, H V, X^T H, B^T H with H = g_xi
    row_h3=("f8", 1),  # (V^T H V)_xi
    row_r=("f8", 1),  # minus the derivative of applied wrenches by each multiplier; empty if no force reads reactions
    hessian=("f8", 2),  # room for one H
    block_row=("i4", 1), block_col=("i4", 1), block_map=("i4", 2),  # row, column, places in MATRIX of each PHI_Q entry
    row_columns=("i4", 1),  # the coordinates that occur in rows
    phi_q=("f8", 1), q_lam=("f8", 1), phiv_q=("f8", 1), phia_q=("f8", 1), gamma_q=("f8", 1), gamma_v=("f8", 1),
    matrix=("f8", 1),  # values of the bordered matrix; the last place takes what belongs to ground
    core=("i8", 1),  # addresses of the evaluator's kernels
    stages=("i8", 1), stage_tables=("i8", 1),  # addresses of every kind's kernels, stage by stage, and their tables
    stage_first=("i8", 1),
    working=("i8", 1),  # lines of STAGES of the kinds that do work: all that ENERGY[POWER] consists of, but reactions
    working_forces=("i8", 1),  # lines of the stage of forces without which the power of these is not known
    switch=("f8", 1),  # per record of kinds with the stage SWITCHES: what changes its sign where a force is not smooth
    sweep=("f8", 1),  # what PASSES is asked and answers (see below); empty if no kind has that stage
    status=("i8", 1),  # code, kernel's place in STAGES, element: what went wrong; and flags
)  # fmt: skip
SIZE = STATUS.index + 1

(
    POSES, CONSTRAINTS, FORCES, GATHER, MASS, JACOBIANS, OWN_ROWS, BODY_MATRIX, HESSIANS, FORCE_DERIVATIVES, BIAS,
    SECOND_DERIVATIVES, ENERGIES, MEASURE, SWITCHES, PASSES,
) = range(16)  # fmt: skip
"""Stages of the evaluation; a kind's kernel belongs to one of them (see `evaluate`)."""

(
    CORE_FORCES, CORE_MASS, CORE_JACOBIAN, CORE_MATRIX, CORE_LEVELS, CORE_DERIVATIVES, CORE_ENERGY, CORE_POSES,
    CORE_ANGLES, CORE_RATES, CORE_ROWS, CORE_GAMMA, CORE_GRADIENTS, CORE_SWITCHES, CORE_POWER, CORE_PASSES,
    CORE_WORKING,
) = range(17)  # fmt: skip
"""Places in CORE."""
