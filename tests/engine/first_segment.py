"""The first segment of a run, before its first step."""

from functools import partial

from index3.engine.variants import Variant


def first_segment(simulation, span):
    """A segment that has not stepped yet, with tables of its own."""
    model = simulation.model
    plan, _ = simulation._plan(model, span, simulation.settings)
    variant = Variant(model, partial(simulation.compile, model), linear=simulation.linear)
    return simulation._begin(plan, variant, None, simulation.settings, [], None)
