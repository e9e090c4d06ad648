"""Where a run stops and goes on in another segment: at events, declared discontinuities and samples of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from index3.compiled import slots as s
from index3.engine.reasons import CLOSURE_FAILED, STOPPED, UNMET
from index3.engine.segments import END_STATE, NUDGE, begin, start_time
from index3.methods import run

if TYPE_CHECKING:
    from index3.engine.events import Hit
    from index3.engine.runner import Runner
    from index3.engine.switching import Switch

SMALL_JUMP = 1e-9
"""Part of the kinetic energy that a declared discontinuity may change by rounding."""


def handle_event(runner: Runner, hit: Hit) -> None:
    """End the run at a terminal event, or go on with what the action of another makes of it."""
    assert runner.events is not None
    state = runner.events.instant(hit.t)
    line = runner.events.line(hit.t)
    if runner.log is not None and hit.t > runner.log.t[-1]:  # the dense output ends inside the step, too
        closed = runner.projection.project_block(**line, project=True)
        runner.log.keep(hit.t, line["q"][0], line["v"][0], closed["a"][0])
    t = runner.segment.end if runner.segment.end - hit.t <= 2 * NUDGE * np.spacing(abs(hit.t)) else hit.t
    if not hit.actions or runner.plan.t_eval is None or t == runner.plan.span[1]:
        runner.collect(hit.t, line)
    if not hit.actions:
        runner.status, runner.message = STOPPED, f"Event {hit.name} ended the run at t = {hit.t:g}."
    gathering = [runner.zeno.gathers(k, hit.t) for k in hit.functions] if hit.actions else []
    infinite = [t for t in gathering if t is not None]
    if runner.status == 0 and infinite:
        runner.status = -run.STEP_TOO_SMALL
        runner.message = (
            f"Event {hit.name} occurs ever faster, infinitely often before t = {min(infinite):.9g}. Let its action "
            "change the motion permanently once it is slow: close a joint, or make the event terminal."
        )
    if runner.status == 0:
        from index3.engine.switching import Switch

        switch = Switch(runner.segment.variant, t, (line["q"][0], line["v"][0], line["angle"][0]), state)
        restart(runner, switch, line, hit)


def pass_stop(runner: Runner) -> None:
    """Restart at a declared discontinuity, or where controllers are asked; velocities jump if a motion's do."""
    progress = runner.run
    line = {name: progress[slot][None].copy() for name, slot in END_STATE.items()}
    line |= {"t": np.array([progress.t]), "angle": runner.state[s.ANGLE_REF][None].copy()}
    line["work"] = progress[run.WORK][run.WORK_NEW : run.WORK_NEW + 1].copy()
    place = (line["q"][0], line["v"][0], line["angle"][0])
    try:
        if runner.sampling is not None:
            runner.sampling.sample(runner.segment.variant, runner.segment.end, line)
    except UNMET as error:
        runner.status, runner.message, runner.cause = -CLOSURE_FAILED, str(error), error
        return
    from index3.engine.switching import Switch

    restart(runner, Switch(runner.segment.variant, runner.segment.end, place), line, None)


def restart(runner: Runner, switch: Switch, line: dict[str, np.ndarray], hit: Hit | None) -> None:
    """Go on at the time of a switch in another segment; its energy before and after enters the balance."""
    try:
        closed = runner.projection.project_block(**line, project=True)
        before = float(closed["kinetic"][0]), float(closed["potential"][0])
        if hit is not None:
            from index3.engine.switching import take

            take(hit.actions, switch)
        variant, gap, after = switch.finish(start_time(runner.plan, switch.t))
    except UNMET as error:
        runner.status, runner.message, runner.cause = -CLOSURE_FAILED, str(error), error
        return
    jump = switch.jump("" if hit is None else hit.name, gap, (before[0], after[0]))
    if hit is not None or abs(jump.kinetic_lost) > SMALL_JUMP * max(before[0], after[0]):
        runner.jumps.append(jump)
    if switch.t == runner.plan.span[1]:
        return
    work = float(line["work"][0]) + sum(after) - sum(before)
    runner.segment = begin(runner.plan, variant, switch.t, after=runner.segment, work=work)
    runner.collector.follow(runner.segment)
    if runner.log is not None:
        runner.log.begin(runner.run, switch.t)
    fired = () if hit is None else hit.functions
    if fired:  # a bounce must not be over within a step
        runner.run.shorten_next(min(runner.zeno.last_gap(k, runner.plan.span[0]) for k in fired))
    if runner.events is not None:
        runner.events.resume(runner.segment, () if hit is None else hit.standing)
