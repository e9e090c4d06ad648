"""The start of the energy balance of a run: its first value, and the scale that the error weights allow.

`methods.audit` goes on with it in every accepted step.
"""

from __future__ import annotations

from index3.methods import audit, run
from index3.methods.run_table import Run

MODES = {"off": audit.OFF, "warn": audit.WARN, "fail": audit.FAIL}


def watch(progress: Run, mode: str, judged: bool, before: Run | None) -> None:
    """Begin the energy balance of a run at its state, or take it over from the run before a restart.

    Runs that are not to be `judged` (constant steps, steps that do not follow the error) are watched only, and those
    with forces that say nothing of energy not at all.
    """
    watched = progress[run.AUDIT]
    if mode == "off" or progress.system.silent_forces:
        return
    if before is not None:
        watched[:] = before[run.AUDIT]
    watched[audit.MODE] = MODES[mode] if judged and progress[run.CLOCK][run.STEP] == 0.0 else audit.REPORT
    watched[audit.PART] = part_of_scale(float(progress[run.TOLERANCE][run.RTOL]))
    progress.measure_start()
    strict = float(watched[audit.STRICT])
    if strict != 1.0:
        progress[run.TOLERANCE][run.RTOL] /= strict
        progress[run.ATOL][:] /= strict


def part_of_scale(rtol: float) -> float:
    """Part of the scale that a run of this tolerance may gain."""
    return min(0.5, max(0.01, 10.0 * rtol ** (2.0 / 3.0)))
