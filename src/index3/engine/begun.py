"""Segments as they stood before their first step, for runs that begin alike: numbers are put back, nothing is made.

From the second run on, of one system with one plan, what the method starts from is known. It is kept with the system,
together with the workspace that all of it belongs to, and one run at a time has it.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import numpy as np

from index3.compiled.workspace import LARGEST
from index3.engine.checkpoint import changing, of_segment, tables
from index3.engine.segments import Plan, Segment
from index3.system.system import System

Thing = TypeVar("Thing")


class Begun:
    """A segment that has not stepped yet, with the numbers of all its tables.

    Parameters
    ----------
    segment : begun from the model's own start, asking no function of a user
    plan : what it was begun for
    """

    def __init__(self, segment: Segment, plan: Plan) -> None:
        self.plan, self.linear, self.segment = plan, segment.variant.linear, apart(segment)
        self.lent = dict(segment.variant.state.workspace.lent)
        self.arrays = arrays_of(segment)
        self.images = [array.copy() for array in self.arrays]

    def suits(self, plan: Plan, linear: str) -> bool:
        """Whether a run with this plan would begin so."""
        return linear == self.linear and (plan is self.plan or is_same(plan, self.plan))

    def again(self) -> Segment:
        """The segment as it was, for one run; its variant gives this back in the end."""
        state = self.segment.variant.state
        state.system.take_failures()  # of an earlier run in this thread
        state.workspace.lent = dict(self.lent)
        for array, image in zip(self.arrays, self.images, strict=True):
            array[...] = image
        segment = apart(self.segment)
        segment.variant.begun = self
        return segment


def keep(segment: Segment, before: Plan, plan: Plan) -> Begun | None:
    """A segment before its first step, to be kept; None if the run before had another plan, or there is too much.

    Only where all that changes are arrays: not with solvers that have objects of their own.
    """
    if not (before is plan or is_same(before, plan)) or not segment.run.solver.arrays_alone:
        return None
    _ = segment.variant.projection.completion  # its tables belong to what is kept
    found = Begun(segment, plan)
    return found if sum(image.nbytes for image in found.images) <= LARGEST else None


def take(system: System, plan: Plan, linear: str) -> Begun | None:
    """What was kept for a run that begins alike, if anything was; what was kept for others is let go."""
    try:
        found: Begun = system.begun.pop()
    except IndexError:
        return None
    return found if found.suits(plan, linear) else None


def apart(segment: Segment) -> Segment:
    """The same segment, with attributes of its own wherever a run alters them."""
    own = alike(segment, variant=alike(segment.variant, _met={}))
    own.run = alike(segment.run, owned=list(segment.run.owned))
    if segment.choice is not None:
        own.choice = alike(segment.choice, choices=list(segment.choice.choices))
    return own


def alike(thing: Thing, **changes: Any) -> Thing:
    """A copy with the same attributes, but for some."""
    other = object.__new__(type(thing))
    other.__dict__.update(thing.__dict__, **changes)
    return other


def arrays_of(segment: Segment) -> list[np.ndarray]:
    """All memory that a run of the segment writes to, the lines of its output apart."""
    part, state = of_segment(segment), segment.variant.state
    rooms = [block for _, table, _ in tables(part) for _, block in table._rooms]
    blocks = {id(block): block for block in (*state.workspace.blocks(), *rooms)}
    others = [array for array in changing(part).values() if id(array.base) not in blocks]
    return [*blocks.values(), *others, *segment.variant.memory()]


@cache
def names() -> tuple[str, ...]:
    """What a plan consists of."""
    return tuple(field.name for field in fields(Plan))


def is_same(one: Plan, other: Plan) -> bool:
    """Whether two plans ask for the same."""
    return all(is_equal(getattr(one, name), getattr(other, name)) for name in names())


def is_equal(one: Any, other: Any) -> bool:
    """Whether two values are the same to the last bit, arrays and numbers."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, float | tuple):
        return type(one) is type(other) and repr(one) == repr(other)
    return bool(one == other)
