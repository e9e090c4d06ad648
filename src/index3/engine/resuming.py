"""A run as arrays and words, and back: its segment, the variants it has met, and what its runner knows."""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from index3.compiled import slots as s
from index3.engine import checkpoint
from index3.engine.automatic import Choice
from index3.engine.segments import Plan, Segment, begin
from index3.engine.stalling import SHRINKING
from index3.engine.variants import Variant
from index3.errors import Index3Error, ModelError
from index3.methods import run
from index3.results.arrays import plain
from index3.results.jump import Jump
from index3.results.store import StoreSink

if TYPE_CHECKING:
    from index3.engine.runner import Runner

WAIT, SHARE = 1.0, 0.03
"""Seconds between two checkpoints, at least, and the part of a run's time that they may take."""
Saved = Mapping[str, np.ndarray]


class Keeper:
    """Keeps checkpoints of a run in its store.

    Parameters
    ----------
    sink : where the output goes
    asked : what was asked of the run, in plain data
    saved : the checkpoint from which a run goes on, if it does; then `end` is the place of it in the journal
    """

    def __init__(self, sink: StoreSink, asked: Mapping[str, Any], saved: Saved | None = None, end: int = 0) -> None:
        self.sink, self.asked, self.saved, self.end = sink, asked, saved, end
        self.due = monotonic() + WAIT

    def begin(self, runner: Runner) -> None:
        """Open the store of a run that has not stepped yet, or let the run become what was saved."""
        if self.saved is None:
            try:
                start = pack(self.snapshot(runner))
            except Index3Error as error:
                linear = self.asked["linear"]
                raise ModelError(f"simulate: a run with linear = '{linear}' cannot be stored: {error}") from None
            self.sink.open(self.asked, start)
        else:
            self.sink.reopen(self.end)
            restore_run(runner, self.saved)
        runner.keeper = self

    def keep_if_due(self, runner: Runner) -> None:
        """Keep a checkpoint if the last one was long ago. All lines of output are closed."""
        start = monotonic()
        if start < self.due:
            return
        runner.collector.give()
        self.sink.keep(pack(self.snapshot(runner)))
        end = monotonic()
        self.due = end + max(WAIT, (end - start) / SHARE)

    def snapshot(self, runner: Runner) -> dict[str, np.ndarray]:
        """What there is to be kept of a run, and where its journal ends."""
        place = {"run": self.asked["id"], "journal": self.sink.end}
        return save_run(runner) | {"place": as_text(place)}


def save_run(runner: Runner) -> dict[str, np.ndarray]:
    """Copies of all that changes in a run, by name; its output must have been taken."""
    segment = runner.segment
    saved = {f"segment:{name}": array for name, array in checkpoint.save(segment).items()}
    saved |= {f"origin:{name}": array for name, array in segment.origin.items()}
    saved |= {f"lines:{name}": array for name, array in runner.collector.memory.items()}
    saved["t_eval"] = segment.run[run.T_EVAL].copy()
    saved |= {f"momenta:{name}": array for name, array in runner.momenta.start.items()}
    saved["largest momenta"], saved["drifts"] = runner.momenta.largest.copy(), runner.momenta.drifts.copy()
    others = [other for other in segment.variant.met if other is not segment.variant]
    for k, other in enumerate(others):
        part = checkpoint.save_part(checkpoint.of_variant(other))
        saved |= {f"variant {k}:{name}": array for name, array in part.items()}
    words = words_of(runner) | {"variants": [sorted(other.open) for other in others]}
    if runner.events is not None:
        events = runner.events
        words["events"] = {"fired": sorted(events.fired)}
        words["events"] |= {name: getattr(events, name) for name in ("time", "values", "largest", "earlier")}
        for k, (t, y) in enumerate(zip(events.times(), events.states(), strict=True)):
            saved |= {f"event {k}:t": t, f"event {k}:y": y}
    return saved | {"words": as_text(words)}


def words_of(runner: Runner) -> dict[str, Any]:
    """What a runner knows beside its tables, in plain data."""
    segment, stalling, allowance = runner.segment, runner.stalling, runner.allowance
    choice = segment.choice
    return {
        "open": sorted(segment.variant.open), "t": segment.start,
        "chosen": None if choice is None else choice.choices[0][1]._asdict(),
        "story": "" if choice is None else choice.story,
        "changes": segment.earlier_changes, "asked": runner.asked, "near_branch": runner.near_branch,
        "passed": runner.passed,
        "jumps": [asdict(jump) for jump in runner.jumps], "lines": runner.collector.given,
        "seconds": runner.seconds, "cpu": dict(runner.cpu.spent),
        "next_look": runner.momenta.next_look, "looked": runner.momenta.looked,
        "stalling": {"t": stalling.t, "tried": stalling.tried, "warned": stalling.warned},
        "allowance": {"t": allowance.t, "tried": allowance.tried, "slow": allowance.slow},
        "growth": {name: getattr(runner.growth, name) for name in ("next_look", "warned", "marks")},
        "controllers": [] if runner.sampling is None else runner.sampling.to_list(),
        "zeno": [[function, list(times)] for function, times in runner.zeno.times.items()],
    }  # fmt: skip


def begin_again(plan: Plan, variant: Variant, saved: Saved) -> Segment:
    """The segment of a saved run as it was begun, from a variant with nothing open; `restore_run` lets it go on."""
    words = text_in(saved, "words")
    for k, names in enumerate(words["variants"]):
        other = variant.at(frozenset(names))
        checkpoint.restore_part(checkpoint.of_variant(other), part_of(saved, f"variant {k}"))
    variant = variant.at(frozenset(words["open"]))
    variant.state.restore(checkpoint.state_in(part_of(saved, "segment")))  # the memory of elements, above all
    origin = part_of(saved, "origin")
    variant.move(words["t"], origin["q"], origin["v"], origin["angle"])
    variant.state[s.A][:], variant.state[s.LAM][:] = origin["a"], origin["lam"]
    chosen = None if words["chosen"] is None else Choice(**words["chosen"])
    segment = begin(plan, variant, words["t"], chosen=chosen)
    segment.origin = origin
    segment.run.table[run.T_EVAL] = np.array(saved["t_eval"])  # without the times before a restart
    return segment


def restore_run(runner: Runner, saved: Saved) -> None:
    """Let a run whose segment was begun again go on where it was saved.

    Raises
    ------
    ModelError : it was begun with other event functions, or is another run altogether.
    """
    words, segment = text_in(saved, "words"), runner.segment
    checkpoint.restore(segment, part_of(saved, "segment"))
    segment.earlier_changes = words["changes"]
    if runner.plan.max_steps is not None:
        segment.run[run.LIMITS][run.MAX_STEPS] = runner.plan.max_steps - segment.earlier.get("steps", 0)
    if segment.choice is not None:
        segment.choice.story = words["story"]
    runner.asked, runner.near_branch, runner.seconds = words["asked"], words["near_branch"], words["seconds"]
    runner.passed = words["passed"]
    runner.jumps = [Jump.from_dict(jump) for jump in words["jumps"]]
    runner.collector.given, runner.collector.memory = words["lines"], part_of(saved, "lines")
    for part, seconds in words["cpu"].items():
        runner.cpu.spent[part] += seconds
    vars(runner.stalling).update(words["stalling"])
    vars(runner.allowance).update(words["allowance"])
    vars(runner.growth).update(words["growth"])
    momenta = runner.momenta
    momenta.start, momenta.next_look = part_of(saved, "momenta"), words["next_look"]
    momenta.looked, momenta.drifts[:], momenta.largest[:] = words["looked"], saved["drifts"], saved["largest momenta"]
    runner.zeno.times = {function: deque(times, maxlen=SHRINKING) for function, times in words["zeno"]}
    restore_events(runner, saved, words.get("events"))


def restore_events(runner: Runner, saved: Saved, words: Mapping[str, Any] | None) -> None:
    """Give event functions back what they found, and where they stood."""
    events = runner.events
    wanted = 0 if words is None else len(words["values"])
    given = 0 if events is None else len(events.functions)
    if wanted != given:
        raise ModelError(f"resume: the run had {wanted} event functions, and {given} were given. Give the same again.")
    if events is None or words is None:
        return
    events.fired, events.time, events.values = set(words["fired"]), words["time"], words["values"]
    events.largest = words["largest"]
    events.earlier = [None if point is None else tuple(point) for point in words["earlier"]]
    for k, found in enumerate(events.found):
        part = part_of(saved, f"event {k}")
        found[:] = [(float(t), y[0], y[1]) for t, y in zip(part["t"], part["y"], strict=True)]


def part_of(saved: Saved, part: str) -> dict[str, np.ndarray]:
    """The arrays of one part."""
    return {name.partition(":")[2]: array for name, array in saved.items() if name.startswith(f"{part}:")}


def as_text(words: Mapping[str, Any]) -> np.ndarray:
    """Plain data as an array of characters; numbers come back to the last bit."""
    return np.frombuffer(json.dumps(plain(words)).encode(), np.uint8)


def text_in(saved: Saved, name: str) -> dict[str, Any]:
    """The plain data in an array."""
    return json.loads(saved[name].tobytes())


def pack(saved: Saved) -> bytes:
    """Arrays as the bytes of a file."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name.replace("/", "|"): array for name, array in saved.items()}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, np.ndarray] | None:
    """The arrays that were packed; None if the bytes are not whole."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name.replace("|", "/"): file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile, KeyError):
        return None
