"""Work against fine quadrature of the power along the same dense output, what it costs, and what is said of its error."""

import itertools

import numpy as np
import pytest

import index3 as ix
from index3.analysis.simulate import SETTINGS
from index3.analysis.simulation import Simulation
from index3.methods import closure
from index3.system import evaluate
from index3.compiled import slots as s


def power_along(model, result, times):
    """Power of what is not conservative on the dense output, with the reactions that belong to each state."""
    simulation = Simulation(model, "hht-i3", SETTINGS, {})
    span = (result.sol.t_min, result.sol.t_max)
    plan, _ = simulation._plan(simulation.model, span, simulation.settings)
    variant = simulation._begin(plan, simulation.model, None, simulation.settings, []).variant
    state, powers = variant.state, []
    for t in times:
        state.move(t, *result.sol(t))
        if variant.system.reactions_work:
            assert closure.assemble_accelerations(state.handle, variant.projection.handle) == 0
        assert state.run(evaluate.forces, evaluate.energy) == 0
        powers.append(state[s.ENERGY][s.POWER])
    return np.array(powers)


def fine_work(model, result, parts=4):
    """Integrals of the power and of its magnitude: Gauss's rule of five points in each part of each step."""
    x, w = np.polynomial.legendre.leggauss(5)
    edges = np.concatenate([np.linspace(a, b, parts + 1)[:-1] for a, b in itertools.pairwise(result.sol.t)])
    edges = np.append(edges, result.sol.t[-1])
    half = 0.5 * np.diff(edges)
    times = (edges[:-1] + half)[:, None] + half[:, None] * x
    power = power_along(model, result, times.ravel()).reshape(times.shape)
    return np.sum(half[:, None] * w * power), np.sum(half[:, None] * w * np.abs(power))
