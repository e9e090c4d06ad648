"""Iterations towards an equilibrium: Newton's, and relaxation along the overdamped motion."""

from __future__ import annotations

import numpy as np

from index3.analysis.instants import movement
from index3.analysis.rest_state import FINEST, LARGEST, ROUNDED, ROUNDING, STILL, RestState

SMALL = (0.05, 0.1)
"""Largest movement of a step that need not reduce the unbalance: beams that roll up keep their way. First small steps,
then larger ones, which pass over places where small ones go astray."""
NEAR, MOST, FEW = 0.1, 6, 3
"""Relaxation of bodies that deform: what corrections may leave of the forecast, and how many are made, in steps that
are kept and in steps that may become longer."""


def newton(rest: RestState, tolerance: float, most: int = 30) -> bool:
    """Newton's iteration with halved steps while they do not reduce the unbalance; whether it converged."""
    for _ in range(most):
        if rest.residual <= tolerance:
            return True
        rest.update_stiffness()
        dq = rest.step(0.0)
        if dq is None:
            return False
        u, size, residual = rest.point, rest.size, rest.residual
        part = rest.limited(dq)
        while not (rest.move(u + part * dq) and rest.size <= (1.0 - 0.25 * part) * size):
            rest.return_to(u)
            part *= 0.5
            if part < 1e-2:
                return residual <= max(tolerance, rest.rounding())
    return rest.residual <= tolerance


def plain_newton(rest: RestState, tolerance: float, largest: float = SMALL[0], most: int = 400) -> bool:
    """Newton's iteration whether or not single steps come nearer; whether it converged.

    For bodies that deform: a step that bends a slender beam also stretches it, a little but stiffly, so that the
    unbalance grows before the next step takes that out; so steps are small, but need not reduce it.
    """
    best, stalled, step = np.inf, 0, np.inf
    for _ in range(most):
        stalled = stalled + 1 if rest.residual > 0.5 * best else 0
        best = min(best, rest.residual)
        if rest.residual <= tolerance:
            return True
        if stalled > 3 and rest.residual <= rest.rounding(FINEST if step <= STILL else ROUNDED):
            return True
        rest.update_stiffness()
        dq = rest.step(0.0)
        step = np.inf if dq is None else movement(rest.state, dq)
        if dq is None or not rest.move(rest.point + rest.limited(dq, largest) * dq):
            return False
    return False


def relax(rest: RestState, tolerance: float, most: int, sigma: float = 0.0) -> bool:
    """Implicit steps along the overdamped motion, longer as the linear forecast of the unbalance holds.

    Where a step cannot be taken, it is repeated with four times sigma; where the forecast was off by less than a tenth,
    sigma falls by ten, where by less than a quarter, or a few corrections sufficed, by 2.5.
    """
    stalled = 0
    for _ in range(most):
        if rest.residual <= tolerance:
            return True
        rest.update_stiffness()
        if sigma == 0.0:
            sigma = movement(rest.state, rest.a) / LARGEST
        residual, limit = rest.residual, 1e12 * rest.held / rest.weakest
        while True:
            off, corrections = implicit_step(rest, sigma)
            if corrections >= 0:
                break
            sigma = max(4.0 * sigma, rest.held)
            if sigma > limit:
                return False
        if corrections:
            sigma /= 2.5 if corrections <= FEW else 1.0
        else:
            sigma /= 10.0 if off < NEAR else 2.5 if off < 0.25 else 1.0
        stalled = stalled + 1 if rest.residual > 0.5 * residual else 0
        if stalled > 5 and rest.residual <= ROUNDING:
            return True
    return rest.residual <= tolerance


def inertia(rest: RestState, mass: np.ndarray, dq: np.ndarray) -> float:
    """dq M dq: how far a step moves, in the norm of the kinetic energy."""
    return float(dq @ rest.on_coordinates(mass, dq))


def implicit_step(rest: RestState, sigma: float) -> tuple[float, int]:
    """Try a step of size 1/sigma of the overdamped motion: by how much its forecast is off, number of corrections.

    The forecast of the unbalance after a step is sigma M dq. By how much it is off is measured by the energy of the
    correction that would take it out, as a part of that of the step: stiff directions, which a step along soft ones
    strains a little, have large forces but little energy. More than a half is too much, and the number is then -1.

    Sections of beams strain as they turn, by the square of the angle but very stiffly, so that steps of their forecast
    would be tiny. Bodies that deform therefore go on with Newton's corrections until the forecast holds.
    """
    u, size, before, weight = rest.point, rest.size, rest.force, max(sigma, rest.held)
    matrices = rest.stiffness, rest.mass, rest.held
    dq = rest.step(sigma)
    if dq is None or not dq @ before > 0.0 or rest.limited(dq) < 1.0 or not rest.move(u + dq):
        return np.inf, -1
    mass, energy, count, last = rest.mass, dq @ before, 0, np.inf
    while True:
        left = rest.force - weight * rest.on_coordinates(mass, dq)
        off = float(np.sqrt(abs(left @ rest.correction(left)) / energy))
        if not rest.deforms:
            good = off <= 0.5 or rest.size < 0.5 * size
            break
        good = off <= NEAR or (count == 0 and rest.size < 0.5 * size)
        if good or count == MOST or (count > 1 and not off < 0.5 * last):
            break
        rest.update_stiffness()
        rest.held, last, count = 0.0, off, count + 1
        change = rest.step(weight, force=left)
        if change is None or not inertia(rest, mass, change) < 0.25 * inertia(rest, mass, dq):  # another solution
            break
        if not rest.move(rest.point + change):
            break
        dq = rest.point - u
    rest.stiffness, rest.mass, rest.held = matrices
    if not good:
        rest.return_to(u)
        return off, -1
    return off, count
