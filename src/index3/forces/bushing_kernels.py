"""The law of bushings and its derivatives.

In the relative coordinates y of `index3.forces.relative` with their deflections e = y - y0: f = preload - K e - C y',
curves in place of diagonal entries. f does work along y, so that without damping it has a potential, e^T K e / 2 -
preload . e: the force is A_i f_x and the torque A_i S(phi)^T f_phi.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from index3.algebra.rotation_vectors import log_apply, log_change, log_coefficients, log_matrix
from index3.algebra.vectors import apply, apply_transposed, load_at, multiply, put_at
from index3.compiled import slots as s
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.forces.bushing import DIRECTIONS, Bushing
from index3.forces.curve_kernels import (
    BAND,
    CURVE,
    CurveSet,
    CurveTable,
    acts,
    add_curve_energy,
    clearance,
    curve_slope,
    curve_value,
    fill_bands,
)
from index3.forces.force import Place, add_block, element_table, next_switches
from index3.forces.line import IDENTITY
from index3.forces.relative import (
    LIMIT,
    add_product,
    add_rows,
    add_turning,
    add_wrench,
    axes_of,
    clear_rows,
    fill_gradient,
    fill_rate_gradient,
    relative_point,
    relative_rotation,
    relative_spin,
    transposed,
)

BUSHING = np.dtype(
    [
        ("i", "i8"),
        ("j", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("count", "i8"),  # 3: along the axes alone; 6: about them too
        ("angular", "i8"),  # 1: something depends on phi; 0: phi counts as zero, so that S = I and phi' = w
        ("stiffness", "f8", (36,)),  # row by row
        ("damping", "f8", (36,)),
        ("preload", "f8", (6,)),
        ("free", "f8", (6,)),
        ("elastic", "i8", (6,)),  # curves on the diagonal, or NONE
        ("viscous", "i8", (6,)),
    ]
)
BUSHINGS, CURVES, PIECES, ASKED, MOTION, GRADIENT, RATE_GRADIENT, MATRIX, PRODUCT, BANDS = slots(
    bushings=(BUSHING, 1),
    curves=(CURVE, 1),
    pieces=("f8", 2),
    asked=("f8", 1),
    motion=("f8", 2),  # rows e, y' and f of the element at hand
    gradient=("f8", 2),  # Y
    rate_gradient=("f8", 2),  # W = dy'/dxi
    matrix=("f8", 2),  # K or C with the slopes of curves
    product=("f8", 2),  # K Y + C W
    bands=(BAND, 1),
)
MEMORY = (ASKED, MOTION, GRADIENT, RATE_GRADIENT, MATRIX, PRODUCT)
E_ROW, RATE_ROW, FORCE_ROW = 0, 1, 2
ZERO = (0.0,) * 9


def table(elements: Sequence[Bushing], places: Sequence[Place]) -> CurveTable:
    """The table of all bushings of a system."""
    result, curves = CurveTable(10), CurveSet()
    result[BUSHINGS] = bushings = element_table(BUSHINGS, elements, places)[BUSHINGS]
    for k, element in enumerate(elements):
        for field, what in (("elastic", "stiffness"), ("viscous", "damping")):
            for m, law in enumerate(getattr(element, what)[1]):
                if acts(law):
                    bushings[field][k, m] = curves.add(element, f"{what} along {DIRECTIONS[m]}", law)
    curves.fill(result, CURVES, PIECES, ASKED)
    fill_bands(result, BANDS, [(k, m, law) for k, x in enumerate(elements) for m, law in enumerate(x.stiffness[1])])
    result[MOTION], result[MATRIX] = np.zeros((3, 6)), np.zeros((6, 6))
    for slot in (GRADIENT, RATE_GRADIENT, PRODUCT):
        result[slot] = np.zeros((6, 12))
    return result


@helper
def fill_motion(T, E, bushing):
    """e, y' and f of a bushing into MOTION; returns whether it is within its range, and f finite."""
    return fill_deflection(T, E, bushing) and fill_force(E, bushing)


@helper
def fill_deflection(T, E, bushing):
    """e and y' of a bushing into MOTION; returns whether it is within its range."""
    motion = view(E, MOTION)
    A = axes_of(T, bushing.i)
    d, u = relative_point(T, bushing.i, bushing.j)
    put_at(motion, E_ROW, 0, apply_transposed(A, d))
    put_at(motion, RATE_ROW, 0, apply_transposed(A, u))
    if bushing.count == 6:
        phi, w = (0.0, 0.0, 0.0), apply_transposed(A, relative_spin(T, bushing.i, bushing.j))
        if bushing.angular == 1:
            phi, theta = relative_rotation(T, bushing.i, bushing.j)
            if not theta < LIMIT:
                return False
        put_at(motion, E_ROW, 3, phi)
        put_at(motion, RATE_ROW, 3, log_apply(phi, w, -0.5, log_coefficients(phi)[0]))
    for k in range(bushing.count):
        motion[E_ROW, k] -= bushing.free[k]
    return True


@helper
def fill_force(E, bushing):
    """f for e and y'; returns whether it is finite."""
    motion, curves, pieces, asked = view(E, MOTION), view(E, CURVES), view(E, PIECES), view(E, ASKED)
    finite = True
    for k in range(bushing.count):
        f = bushing.preload[k]
        for m in range(bushing.count):
            f -= bushing.stiffness[6 * k + m] * motion[E_ROW, m] + bushing.damping[6 * k + m] * motion[RATE_ROW, m]
        if bushing.elastic[k] >= 0:
            f -= curve_value(curves, pieces, asked, bushing.elastic[k], motion[E_ROW, k])
        if bushing.viscous[k] >= 0:
            f -= curve_value(curves, pieces, asked, bushing.viscous[k], motion[RATE_ROW, k])
        motion[FORCE_ROW, k] = f
        finite = finite and abs(f) < 1e300
    return finite


@helper
def rotation_of(E, bushing):
    """phi: the deflection without the free one."""
    phi = load_at(view(E, MOTION), E_ROW, 3)
    return (phi[0] + bushing.free[3], phi[1] + bushing.free[4], phi[2] + bushing.free[5])


@helper
def wrench(T, E, bushing):
    """Force and torque on the second body in ground axes."""
    A, motion, torque = axes_of(T, bushing.i), view(E, MOTION), (0.0, 0.0, 0.0)
    if bushing.count == 6:
        phi = rotation_of(E, bushing)
        torque = apply(A, log_apply(phi, load_at(motion, FORCE_ROW, 3), 0.5, log_coefficients(phi)[0]))
    return apply(A, load_at(motion, FORCE_ROW, 0)), torque


@kernel
def forces(T, E):
    """Put the force and torque of every bushing on its markers."""
    bushings = view(E, BUSHINGS)
    for e in range(bushings.shape[0]):
        if not fill_motion(T, E, bushings[e]):
            return e + 1
        F, torque = wrench(T, E, bushings[e])
        add_wrench(T, bushings[e].i, bushings[e].j, relative_point(T, bushings[e].i, bushings[e].j)[0], F, torque)
    return OK


@helper
def fill_matrix(E, size, slopes, indices, row):
    """K or C of a bushing, with the slopes of its curves, into MATRIX."""
    matrix, motion, curves, pieces = view(E, MATRIX), view(E, MOTION), view(E, CURVES), view(E, PIECES)
    for k in range(size):
        for m in range(size):
            matrix[k, m] = slopes[6 * k + m]
        if indices[k] >= 0:
            matrix[k, k] += curve_slope(curves, pieces, indices[k], motion[row, k])
    return matrix


@helper
def fill_gradients(T, E, bushing):
    """Y and W of a bushing, and the part of its stiffness that comes from S(phi) alone."""
    A, motion, V = axes_of(T, bushing.i), view(E, MOTION), view(T, s.MARKER_V)
    d, u = relative_point(T, bushing.i, bushing.j)
    S, N = IDENTITY, ZERO
    if bushing.angular == 1:
        phi, w = rotation_of(E, bushing), relative_spin(T, bushing.i, bushing.j)
        c, slope = log_coefficients(phi)
        S = log_matrix(phi, c)
        N = multiply(log_change(phi, apply_transposed(A, w), -0.5, c, slope), S)
        change = log_change(phi, load_at(motion, FORCE_ROW, 3), 0.5, c, slope)
        B, K = multiply(multiply(A, multiply(change, S)), transposed(A)), view(T, s.GROUP_K)
        for a in range(2):
            for b in range(2):
                add_block(K, bushing.group, 12, 1 + 2 * a, 1 + 2 * b, B, -1.0 if a == b else 1.0)
    fill_gradient(view(E, GRADIENT), A, d, S)
    w = relative_spin(T, bushing.i, bushing.j)
    fill_rate_gradient(view(E, RATE_GRADIENT), A, u, load_at(V, bushing.i, 3), w, S, N)


@kernel
def force_derivatives(T, E):
    """K = Y^T (K Y + C W) - (dY^T/dxi) f, D = Y^T C Y."""
    bushings, K, D = view(E, BUSHINGS), view(T, s.GROUP_K), view(T, s.GROUP_D)
    Y, W, product = view(E, GRADIENT), view(E, RATE_GRADIENT), view(E, PRODUCT)
    for e in range(bushings.shape[0]):
        bushing = bushings[e]
        size = bushing.count
        if not fill_motion(T, E, bushing):
            return e + 1
        F, torque = wrench(T, E, bushing)
        add_turning(K, bushing.group, relative_point(T, bushing.i, bushing.j)[0], F, torque)
        fill_gradients(T, E, bushing)
        damping = fill_matrix(E, size, bushing.damping, bushing.viscous, RATE_ROW)
        clear_rows(product, size)
        add_rows(product, size, damping, Y)
        add_product(D, bushing.group, size, Y, product)
        clear_rows(product, size)
        add_rows(product, size, damping, W)
        add_rows(product, size, fill_matrix(E, size, bushing.stiffness, bushing.elastic, E_ROW), Y)
        add_product(K, bushing.group, size, Y, product)
    return OK


@kernel
def energy(T, E):
    """Energy of springs and preloads, zero at the free pose; power of dampers."""
    bushings, values, motion = view(E, BUSHINGS), view(T, s.ENERGY), view(E, MOTION)
    curves, pieces, asked = view(E, CURVES), view(E, PIECES), view(E, ASKED)
    for e in range(bushings.shape[0]):
        bushing = bushings[e]
        if not fill_deflection(T, E, bushing):
            return e + 1
        for k in range(bushing.count):
            x, rate = motion[E_ROW, k], motion[RATE_ROW, k]
            values[s.POTENTIAL] -= bushing.preload[k] * x
            for m in range(bushing.count):
                values[s.POTENTIAL] += 0.5 * x * bushing.stiffness[6 * k + m] * motion[E_ROW, m]
                values[s.POWER] -= rate * bushing.damping[6 * k + m] * motion[RATE_ROW, m]
            if bushing.elastic[k] >= 0:
                add_curve_energy(values, curves, pieces, asked, bushing.elastic[k], x, rate)
            if bushing.viscous[k] >= 0:
                values[s.POWER] -= rate * curve_value(curves, pieces, asked, bushing.viscous[k], rate)
    return OK


@kernel
def switches(T, E):
    """How far deflections with a dead band are from its nearer end, negative where the bushing acts along them."""
    bushings, bands, values = view(E, BUSHINGS), view(E, BANDS), view(T, s.SWITCH)
    at = next_switches(T, bands.shape[0])
    for e in range(bands.shape[0]):
        if not fill_deflection(T, E, bushings[bands[e].record]):
            return bands[e].record + 1
        values[at + e] = clearance(bands[e], view(E, MOTION)[E_ROW, bands[e].axis])
    return OK


POWER_FROM_POSES = True  # the kernel of energies reads nothing that the one of forces wrote
STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy, "switches": switches}
