"""The result of a run that has ended: what was collected, counted and audited, and remarks about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.engine.audit import UNSURE, Examined, complaint, examine, impact_losses, losses, wrong_losses
from index3.engine.layout import moving_markers, with_unique
from index3.engine.reasons import STOPPED
from index3.engine.small_motion import may_be_small, small_motion
from index3.errors import warn
from index3.linear import contract
from index3.methods import audit, run
from index3.results.lazy import LateArrays
from index3.results.result import Result
from index3.results.sinks import MemorySink, StoreFailed

if TYPE_CHECKING:
    from index3.engine.runner import Runner

FAILURES, SHARE = 10, 0.05
"""Iterations that failed, in all and per step, from which a run counts as one that suffered."""
SUFFERED = (-run.NEWTON_FAILED, -run.STEP_TOO_SMALL, -run.TOO_MANY_STEPS)
"""Ends for which one that failed is enough."""


def result_of(runner: Runner, options: Mapping[str, Any], note: str = "") -> Result:
    """Everything that a run collected; `options` are those that the user gave, `note` is added to the message."""
    segment, sink = runner.segment, runner.collector.sink
    try:
        runner.collector.give(more=False)
    except StoreFailed as error:
        runner.end_for_store(error)
    stats = stats_of(runner)
    arrays = runner.collector.arrays()
    add_remarks(runner, stats, arrays)
    unique = unique_rows(runner)  # before the audit, which moves the state
    audited, in_memory = audit_of(runner, arrays, stats), isinstance(sink, MemorySink)
    info = {
        "status": runner.status, "message": runner.message + note, "success": runner.status in (0, STOPPED),
        "stats": stats, "method": segment.method.key,
        "options": {key: value for key, value in options.items() if value is not None},
        "audit": audited if audited is None or in_memory else audited().to_list(),
        "jumps": [asdict(jump) for jump in runner.jumps] if runner.jumps else [],
        "controllers": [] if runner.sampling is None else runner.sampling.to_list(),
    }  # fmt: skip
    if runner.events is not None:
        found = {"t_events": runner.events.times(), "y_events": runner.events.states()}
        info |= {key: [values.tolist() for values in lists] for key, lists in found.items()}
    if unique is not None:
        runner.layout = with_unique(runner.layout, unique)
    try:
        sink.finish(runner.layout, info)
    except StoreFailed as error:
        runner.end_for_store(error)
        info |= {"status": runner.status, "message": runner.message + note, "success": False}
    late = type(arrays) is LateArrays
    result = Result(runner.layout, arrays if late or in_memory else sink.arrays, info)
    result.moving = moving_markers(segment.variant.whole)
    result.sol = None if runner.log is None else runner.log.solution()
    return result


def stats_of(runner: Runner) -> dict[str, Any]:
    """The counters of a run, its seconds, and what its jumps cost."""
    stats: dict[str, Any] = {**runner.segment.counters(), "seconds": runner.seconds}
    stats["work_error"] = float(runner.run[run.WORK][run.WORK_ERROR])
    changes = runner.segment.index_changes()
    if changes:
        stats["index_changes"] = changes
    if runner.jumps:
        stats |= {"jumps": len(runner.jumps), "kinetic_lost": sum(jump.kinetic_lost for jump in runner.jumps)}
    return stats | runner.cpu.stats()


def mislead(runner: Runner, stats: Mapping[str, Any]) -> str:
    """Which forces of the user mislead Newton's iteration, if it suffered; or empty."""
    enough = 1 if runner.status in SUFFERED else max(FAILURES, SHARE * stats["steps"])
    if stats["newton_failed"] < enough:
        return ""
    from index3.engine.suspects import suspects

    return suspects(runner.segment, stats["newton_failed"])


def add_remarks(runner: Runner, stats: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Add to the message of a run what its counters and its output tell about the choice of the method."""
    if stats["stiff"]:
        runner.message += f" {stats['stiff']} steps looked stiff: a method for stiff systems may need far fewer."
    misled = mislead(runner, stats)
    if misled:
        runner.message += f" {misled}"
        if runner.status >= 0:
            warn(misled)
    watched = runner.run[run.AUDIT]
    scale = float(watched[audit.SCALE])
    unsure = float(watched[audit.DOUBTED]) + min(float(runner.run[run.WORK][run.WORK_ERROR]), UNSURE * scale)
    gain = np.inf if watched[audit.MODE] == audit.OFF else float(watched[audit.GAIN]) - unsure
    remark = runner.segment.method.remark(arrays, scale, gain) if len(arrays["t"]) else ""
    if remark:
        runner.message += f" {remark}"
        warn(remark)
    controlled, count = runner.segment.method.controls_velocities, runner.segment.variant.whole.first_state
    small = ""
    if not runner.status and may_be_small(runner.plan, arrays["q"], count):
        small = small_motion(runner.plan, arrays, count, runner.largest_rate, controlled)
    if small:
        runner.message += f" {small}"
        warn(small)


def audit_of(runner: Runner, arrays: Mapping[str, np.ndarray], stats: Mapping[str, Any]) -> Examined | None:
    """The audit of the run; what is out of bounds is told."""
    segment = runner.segment
    found = examine(segment, arrays, runner.momenta, stats, project=runner.plan.project, jumped=bool(runner.jumps))
    if found is None:
        return None
    said = "" if runner.status == -run.GAINED else complaint(found.exceeded, segment)
    if said:
        runner.message += f" {said}"
        if runner.run[run.AUDIT][audit.MODE] != audit.REPORT:
            warn(said)
    wrong = impact_losses(found) or wrong_losses(segment, found)
    if wrong:
        warn(wrong)
    lost = wrong or losses(found)
    runner.message += f" {lost}" if lost else ""
    return found


def unique_rows(runner: Runner) -> np.ndarray | None:
    """Whether each row's multiplier is determined: rows outside the null space of Phi_q^T at the last output.

    None if all are.
    """
    variant = runner.segment.variant
    if runner.projection.factors[contract.INFO][contract.N_ZERO] == 0:
        return None
    unique = np.ones(variant.whole.m, bool)
    unique[variant.columns] = ~runner.projection.null_rows()
    return unique
