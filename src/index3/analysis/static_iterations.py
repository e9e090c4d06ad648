"""Iterations towards an equilibrium: Newton's, and relaxation along the overdamped motion."""

from __future__ import annotations

import numpy as np

from index3.analysis.instants import movement
from index3.analysis.rest_state import FINEST, HELD, LARGEST, ROUNDED, ROUNDING, STILL, RestState

SMALL = (0.05, 0.1)
"""Largest movement of a step that need not reduce the unbalance: beams that roll up keep their way. First small steps,
then larger ones, which pass over places where small ones go astray."""


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

    The forecast of the unbalance after a step is sigma M dq. By how much it is off is measured by the energy of the
    correction that would take it out, as a part of that of the step: stiff directions, which a step along soft ones
    strains a little, have large forces but little energy. Where it is off by more than half, the step is repeated with
    four times sigma; where by less than a tenth, sigma falls by ten, where by less than a quarter, by 2.5.
    """
    stalled = 0
    for _ in range(most):
        if rest.residual <= tolerance:
            return True
        rest.update_stiffness()
        if sigma == 0.0:
            sigma = movement(rest.state, rest.a) / LARGEST
        u, size, before, held = rest.point, rest.size, rest.force, rest.held
        mass, residual = rest.mass, rest.residual
        while True:
            dq = rest.step(sigma)
            fine = dq is not None and dq @ before > 0.0 and rest.limited(dq) == 1.0 and rest.move(u + dq)
            if dq is not None and fine:
                off = rest.force - max(sigma, held) * rest.on_coordinates(mass, dq)
                forecast = np.sqrt(abs(off @ rest.correction(off)) / (dq @ before))
                if forecast <= 0.5 or rest.size < 0.5 * size:
                    break
                rest.return_to(u)
            sigma = max(4.0 * sigma, rest.held)
            if sigma > 1e12 * rest.held / (rest.finer * HELD):
                return False
        sigma /= 10.0 if forecast < 0.1 else 2.5 if forecast < 0.25 else 1.0
        stalled = stalled + 1 if rest.residual > 0.5 * residual else 0
        if stalled > 5 and rest.residual <= ROUNDING:
            return True
    return rest.residual <= tolerance
