"""The audit of a run: the bounds, and what is said and done about them.

The energy balance is watched by `methods.audit` in every accepted step, everything else at the lines of output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from index3.engine.momentum import Momenta, balanced, momentum_checks
from index3.engine.segments import Segment
from index3.methods import audit, run
from index3.methods.method import METHODS
from index3.results.audit import ADVICE, Check, RunAudit

MENTIONED, GRAVE = 0.05, 0.5
"""Parts of the scale of which a loss is mentioned in the message, and comes with advice."""
IMPACTS = 0.1
"""Part of the scale, but never less than a run may gain up to `audit.IMPACT_MOST`, that the method may take away in
steps of contact, and at all where there were impacts: what is left of an impact is the motion behind it."""
UNSURE = 0.5
"""Part of the scale that the estimated error of the work may excuse: a force that acts inside long steps may be
estimated to do any work, and would excuse every gain."""
RESIDUAL = 1e-8
"""Scaled residual that output on the constraints stays below; rounding near singular positions is amplified to 1e-9."""


class Examined:
    """What a run is found to be, from its energy balance and its lines of output; called, it is the `RunAudit`.

    The numbers are taken when the run has ended; what is said of them, and the rows, when somebody asks.
    """

    def __init__(
        self, segment: Segment, arrays: Mapping[str, np.ndarray], momenta: Momenta, counters: Mapping[str, Any],
        *, project: bool, jumped: bool,
    ) -> None:  # fmt: skip
        self.watched, self.counters = segment.run[run.AUDIT].tolist(), counters
        self.work_error = float(segment.run[run.WORK][run.WORK_ERROR])
        self.arrays, self.bound, self.momenta = arrays, bound_of_rows(segment, project), list[Check]()
        if momenta.parts and not jumped and len(arrays["t"]) > 1:
            parts = [part for part in momenta.parts if balanced(segment, part, arrays)]
            self.momenta = momentum_checks(segment, parts, arrays, self.watched[audit.PART])

    @property
    def exceeded(self) -> list[Check]:
        """Energy and momenta that are beyond their bounds."""
        gain, bound = gain_and_bound(self.watched, self.work_error)
        energy = [] if gain <= bound else [energy_check(self.watched, self.work_error)]
        return [*energy, *(check for check in self.momenta if not check.ok)]

    def __call__(self) -> RunAudit:
        """All checks of the run."""
        counters = self.counters
        note = f"{counters['steps']} accepted" + (f", {counters['gained']} for energy" if counters["gained"] else "")
        steps = Check("rejected steps", float(counters["rejected"]), note=note)
        energy, rows = energy_check(self.watched, self.work_error), row_checks(self.arrays, self.bound)
        return RunAudit((energy, *self.momenta, *rows, steps))


def examine(
    segment: Segment, arrays: Mapping[str, np.ndarray], momenta: Momenta, counters: Mapping[str, Any],
    *, project: bool, jumped: bool,
) -> Examined | None:  # fmt: skip
    """What a run is found to be; None if it is not audited."""
    if segment.run[run.AUDIT][audit.MODE] == audit.OFF:
        return None
    return Examined(segment, arrays, momenta, counters, project=project, jumped=jumped)


def bound_of_rows(segment: Segment, project: bool) -> float:
    """What residuals of output should stay below."""
    rtol = float(segment.run[run.TOLERANCE][run.RTOL] * segment.run[run.AUDIT][audit.STRICT])
    return max(RESIDUAL, rtol) if project else np.inf


def row_checks(arrays: Mapping[str, np.ndarray], bound: float) -> list[Check]:
    """The largest residual of rows at each level, if there are rows and lines."""
    if not (arrays["lam"].shape[1] and len(arrays["t"])):
        return []
    note, levels = "" if np.isfinite(bound) else "not projected", ("position", "velocity", "acceleration")
    worst = arrays["violation_scaled"].max(axis=0)
    return [Check(f"{level} rows", float(x), bound, note=note) for level, x in zip(levels, worst, strict=True)]


def energy_check(watched: list[float], work_error: float) -> Check:
    """The largest gain against its bound."""
    gain, bound = gain_and_bound(watched, work_error)
    note = f"gain until t = {watched[audit.WHEN]:.6g}; scale {watched[audit.SCALE]:.3g} J, "
    note += f"loss {watched[audit.LOSS]:.3g} J"
    if watched[audit.VAGUE] > watched[audit.PART] * watched[audit.SCALE]:
        note += f"; {watched[audit.VAGUE]:.3g} J of work left out, which errors allowed in the motion may have done"
    if watched[audit.STRICT] > 1.0:
        note += f"; tolerances divided by {watched[audit.STRICT]:g} on the way"
    return Check("energy", gain, bound, "J", note)


def gain_and_bound(watched: list[float], work_error: float) -> tuple[float, float]:
    """The largest gain of energy, which is no number if energies were not, and what is allowed."""
    gain = watched[audit.GAIN] if math.isfinite(watched[audit.BALANCE]) else math.nan
    scale = watched[audit.SCALE]
    return gain, watched[audit.PART] * scale + min(work_error, UNSURE * scale)


def complaint(exceeded: Sequence[Check], segment: Segment) -> str:
    """What to tell of energy and momentum beyond their bounds; empty if there is nothing."""
    said = []
    for check in exceeded:
        if check.name == "energy":
            watched = segment.run[run.AUDIT]
            if not math.isfinite(check.value):
                return "Energy: its numbers are too large to be added. Choose other units, or check positions."
            share = check.value / watched[audit.SCALE]
            said.append(
                f"Energy: {check.value:.3g} J came from nowhere until t = {watched[audit.WHEN]:.6g}, "
                f"{100 * share:.3g} % of the largest energy of the motion."
            )
        else:
            said.append(f"The {check.name} should be constant, but drifts by {check.value:.3g} {check.unit}.")
    return f"{' '.join(said)} Do not trust the run: {ADVICE}" if said else ""


def impact_losses(examined: Examined) -> str:
    """What to say of energy that the method took away in impacts, or between them; empty if it is little."""
    watched = examined.watched
    taken, scale = watched[audit.TAKEN], watched[audit.SCALE]
    bound = allowed_loss(watched)
    if not (watched[audit.MODE] >= audit.WARN and bound > 0.0):
        return ""
    where, what = "in steps that begin or end in contact", "Rebounds are too low"
    if taken <= bound and watched[audit.HITS] > 0.0:
        where, what = "in impacts and between them", "The motion behind them is wrong"
        taken = watched[audit.LOSS] - examined.work_error
    if not taken > bound:
        return ""
    return (
        f"Impacts: {where} the method took {taken:.3g} J away, "
        f"{100 * taken / scale:.3g} % of the largest energy of the motion. {what}: {ADVICE}"
    )


def allowed_loss(watched: Sequence[float]) -> float:
    """Energy that a method may take away without a warning where nothing is to be damped."""
    return max(IMPACTS, min(watched[audit.PART], audit.IMPACT_MOST)) * watched[audit.SCALE]


def wrong_losses(segment: Segment, examined: Examined) -> str:
    """What to say of energy that was lost by methods that do not damp on purpose; empty if it is little.

    Nothing that they lose was a vibration that nobody wants to see: a wheel that turns freely may be left with a fifth
    of its energy.
    """
    watched = examined.watched
    keys = {segment.method.key} if segment.choice is None else {choice.key for _, choice in segment.choice.choices}
    loss, bound = watched[audit.LOSS] - examined.work_error, allowed_loss(watched)
    if not watched[audit.MODE] >= audit.WARN or not loss > bound > 0.0 or any(METHODS[key].damps for key in keys):
        return ""
    return (
        f"Energy: {loss:.3g} J were lost, {100 * loss / watched[audit.SCALE]:.3g} % of the largest energy of the "
        f"motion, by {' and '.join(sorted(keys))}, which damps nothing on purpose. Do not trust the run: {ADVICE}"
    )


def losses(examined: Examined) -> str:
    """What to say of energy that the method itself took away; empty if it is little.

    No warning: damping of vibrations far faster than the steps is what some methods are chosen for. But a motion that
    lost most of its energy is another motion: a bounce that took no time at all, rounds that a wheel did not make.
    """
    watched = examined.watched
    loss = watched[audit.LOSS] - examined.work_error
    if not (watched[audit.MODE] != audit.OFF and loss > MENTIONED * watched[audit.SCALE] > 0.0):
        return ""
    share = 100.0 * loss / watched[audit.SCALE]
    said = f"The method took {loss:.3g} J away, {share:.3g} % of the largest energy of the motion (numerical damping)."
    grave = share > 100.0 * GRAVE and watched[audit.MODE] != audit.REPORT
    return f"{said} If that is more than vibrations you do not need: {ADVICE}" if grave else said


def gained(segment: Segment) -> str:
    """Why a run was ended by its energy balance."""
    watched = segment.run[run.AUDIT]
    return (
        f"Energy came from nowhere: by t = {segment.run.t:.6g} the run by {segment.method.key} gained "
        f"{watched[audit.GAIN]:.3g} J, more than all energy of the motion before ({watched[audit.SCALE]:.3g} J). "
        f"The motion there is wrong: {ADVICE}"
    )
