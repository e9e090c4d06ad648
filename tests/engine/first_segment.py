"""A run that has not stepped yet, as `Simulation.run` begins it."""

from functools import partial

from index3.engine import beginning
from index3.engine.variants import Variant


def first_segment(simulation, span):
    """The first segment of a run over a span, with tables of its own."""
    plan, _ = simulation._plans.plan(simulation.model, span, simulation.settings)
    variant = Variant(simulation.model, partial(simulation.compile, simulation.model), linear=simulation.linear)
    return beginning.first_segment(plan, variant, None, (), [], None)
