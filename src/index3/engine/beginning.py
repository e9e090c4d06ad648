"""The first segment of a run, from an assembled state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from index3.engine.layout import moving_markers
from index3.engine.segments import Plan, Segment, begin
from index3.engine.start_warnings import check_motions, locked, refused_velocities, unrepeatable_forces
from index3.engine.variants import Variant
from index3.errors import warn

if TYPE_CHECKING:
    from index3.engine.sampling import Sampling


def first_segment(
    plan: Plan, variant: Variant, initial: Any, opened: Any, functions: Iterable[Any], sampling: Sampling | None
) -> Segment:
    """The first segment, where controllers are asked for the first time; some joints may be open."""
    if type(opened) is not tuple or opened or variant.open:
        variant = variant.at(variant.check_names(opened, "open_joints"))
    for function in functions:
        from index3.engine.events import name_of

        variant.check_names(getattr(getattr(function, "action", None), "names", ()), f"event {name_of(function)}")
    moving = moving_markers(variant.whole)
    check_motions([(marker.label, three) for marker in moving for three in marker.functions], plan.span)
    t0 = plan.span[0]
    alone = initial is None and sampling is None and variant.system.is_self_contained
    if alone and variant.find_start(t0):
        return begin(plan, variant, t0)
    start = variant.start(initial, t0)
    if sampling is not None:
        sampling.activate()
    variant.close(t0, start)
    if sampling is not None and sampling.first(variant, t0):
        variant.close(t0, start)  # accelerations with what the controllers hold
    refused = refused_velocities(variant.state) if start is None else ""
    warnings = list(filter(None, (locked(variant), refused, unrepeatable_forces(variant.state))))
    for said in warnings:
        warn(said)
    if alone and not warnings and variant.system.altered is None:
        variant.keep_start(t0)
    return begin(plan, variant, t0)
