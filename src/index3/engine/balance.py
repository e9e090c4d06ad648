"""The start of the energy balance of a run: its first value, and the scale that the error weights allow.

`methods.audit` goes on with it in every accepted step.
"""

from __future__ import annotations

import numpy as np

from index3.compiled import slots as s
from index3.methods import audit, run
from index3.methods.run_table import Run
from index3.system import evaluate
from index3.system.state import State

MODES = {"off": audit.OFF, "warn": audit.WARN, "fail": audit.FAIL}


def watch(progress: Run, mode: str, judged: bool, before: Run | None) -> None:
    """Begin the energy balance of a run at its state, or take it over from the run before a restart.

    Runs that are not to be `judged` (constant steps, steps that do not follow the error) are watched only, and those
    with forces that say nothing of energy not at all.
    """
    watched = progress[run.AUDIT]
    if mode == "off" or progress.system.silent_forces:
        return
    kinetic, potential, allowed = start_energies(progress, progress.state)
    balance = kinetic + potential - progress[run.WORK][run.WORK_NEW]
    if before is None:
        watched[audit.LEAST] = watched[audit.MOST] = balance
        watched[audit.LOWEST] = watched[audit.HIGHEST] = potential
        watched[audit.WHEN], watched[audit.STRICT] = progress.t, 1.0
    else:
        watched[:] = before[run.AUDIT]
    watched[audit.FRESH] = watched[audit.TRIES] = 0.0
    watched[audit.BALANCE] = balance
    watched[audit.MODE] = MODES[mode] if judged and progress[run.CLOCK][run.STEP] == 0.0 else audit.REPORT
    watched[audit.PART] = part_of_scale(progress[run.TOLERANCE][run.RTOL])
    watched[audit.SCALE] = max(watched[audit.SCALE], kinetic, allowed / watched[audit.PART])
    if watched[audit.STRICT] != 1.0:
        progress[run.TOLERANCE][run.RTOL] /= watched[audit.STRICT]
        progress[run.ATOL][:] /= watched[audit.STRICT]


def part_of_scale(rtol: float) -> float:
    """Part of the scale that a run of this tolerance may gain."""
    return float(min(0.5, max(0.01, 10.0 * rtol ** (2.0 / 3.0))))


def start_energies(progress: Run, state: State) -> tuple[float, float, float]:
    """(kinetic, potential) at the start, and the energy of errors as large as the weights allow.

    These are a velocity of the size of its weights, and the work of the applied forces along the weights of q. Stiff
    springs that gave way by these would hold far more than a motion has: no run may gain that.
    """
    lam, a = state[s.LAM].copy(), state[s.A].copy()
    w, w_v = progress.weights, progress.velocity_weights
    w[w >= 1e200] = 0.0
    state[s.LAM][:] = 0.0
    kinetic, potential, allowed = 0.0, 0.0, 0.0
    if state.run(evaluate.forces, evaluate.energy) == 0:
        kinetic, potential = float(state[s.ENERGY][s.KINETIC]), float(state[s.ENERGY][s.POTENTIAL])
        allowed += float(np.abs(state[s.G]) @ w)
    state[s.A][:] = w_v
    if state.run(evaluate.mass) == 0:
        allowed += 0.5 * abs(float(state[s.MA] @ w_v))
    state[s.A][:], state[s.LAM][:] = a, lam
    state.run(evaluate.forces)
    state.system.take_failures()
    return kinetic, potential, allowed
