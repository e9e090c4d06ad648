"""Work on models of the library: as good as the motion, or its error is stated."""

import itertools

import numpy as np
import pytest
from first_segment import first_segment

import index3 as ix
from index3.analysis.simulate import SETTINGS
from index3.analysis.simulation import Simulation
from index3.compiled import slots as s
from index3.methods import projection_kernels
from index3.methods.work import GRANT
from index3.system import evaluate

RTOL = 1e-6
METHODS = (
    "hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "dopri5", "dop853", "tlismni-bdf2",
    "tlismni-trapezoidal", "descriptor-sdirk4", "rosenbrock4", "al-index3",
)  # fmt: skip
PLACES, WEIGHTS = np.polynomial.legendre.leggauss(5)


def measured(model, method, steps, parts=4, **settings):
    """(result, error of its work, integral of |power|): Gauss's rule in parts of each step of the run's own output.

    Lines of output, not projected, are what the method itself makes of the motion between its steps; reactions are
    those that belong to each state.
    """
    settings = {"rtol": RTOL, "max_steps": steps, "audit": "off", "progress": False} | settings
    result = ix.simulate(model, (0.0, 10.0), method, **settings)
    edges = np.concatenate([np.linspace(a, b, parts + 1)[:-1] for a, b in itertools.pairwise(result.t)])
    half = 0.5 * np.diff(np.append(edges, result.t[-1]))
    times = ((edges + half)[:, None] + half[:, None] * PLACES).ravel()
    lines = ix.simulate(model, (0.0, 10.0), method, t_eval=np.append(times, 10.0), project=False, **settings)
    variant = first_segment(Simulation(model, "hht-i3", SETTINGS, {}), (0.0, 10.0)).variant
    state, powers = variant.state, np.empty(len(times))
    for k in range(len(times)):
        state.move(lines.t[k], lines.q[k], lines.v[k])
        if variant.system.reactions_work:
            assert projection_kernels.assemble_accelerations(state.handle, variant.projection.handle) == 0
        assert state.run(evaluate.forces, evaluate.energy) == 0
        powers[k] = state[s.ENERGY][s.POWER]
    powers = half[:, None] * WEIGHTS * powers.reshape(-1, len(PLACES))
    return result, abs(result.energy.work[-1] - powers.sum()), np.abs(powers).sum()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["double_pendulum", "andrews", "iltis"])
def test_work_is_as_good_as_the_motion(name, method):
    """10 rtol of the integral of |power| where forces are smooth, with at most one evaluation for each step."""
    if (name, method) == ("iltis", "rosenbrock4"):
        pytest.skip("of first order with natural coordinates, and refused")
    result, error, size = measured(getattr(ix.library, name)(), method, 200)
    assert error <= 10 * RTOL * size
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "steps"), [("hmmwv14", 400), ("flexible_slider_crank", 100)])
def test_errors_are_stated(name, steps, method):
    """Wheels that come down over an edge; a reaction that works, with vibrations: twice the error stated at most."""
    if (name, method) in {("hmmwv14", m) for m in ("dopri5", "dop853", "tlismni-bdf2", "tlismni-trapezoidal")}:
        pytest.skip("its steps are too short to reach the bump")
    result, error, size = measured(getattr(ix.library, name)(), method, steps)
    assert error <= max(2.0 * result.energy.work_error, 10 * RTOL * size)


@pytest.mark.parametrize(
    ("method", "steps", "factors"),
    [
        ("hht-i3", 420, (1.0,)), ("generalized-alpha", 380, (1.0,)), ("bdf-i3", 280, (1.0,)),
        ("al-index3", 800, (0.9, 1.0, 1.1)),
    ],
)  # fmt: skip
def test_switching_forces_get_nodes(method, steps, factors):
    """Two wheels after each other come down over the edge of a bump: both steps in which they do are resolved.

    Found: at most 6; 37, 31 and 63 (all but bdf-i3) where a middle that is near the line between both ends of the step
    by chance was believed, 190 to 470 with one node in each of these steps. By al-index3 it depends on where the edge
    lies in a step (0.5 to 20 for rtol within 20 %), so that a median counts; what is stated covers each.
    """
    errors = []
    for factor in factors:
        result, error, size = measured(ix.library.hmmwv14(), method, steps, parts=16, rtol=factor * RTOL)
        assert result.t[-1] > 1.28  # beyond the second edge
        assert error <= result.energy.work_error
        errors.append(error / (factor * RTOL * size))
    assert np.median(errors) <= 10
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


def test_steps_in_which_little_is_done_are_left_alone():
    """A car that rolls towards its bump: tyres do less than a millionth of what is to come. 44 nodes if each step has
    to be as good as its own power, and then too few are left for the bump."""
    result = ix.simulate(ix.library.hmmwv14(), (0.0, 10.0), "generalized-alpha", max_steps=55, progress=False)
    assert 0.4 < result.t[-1] < 0.5  # before the bump
    assert result.stats["work_evaluations"] <= GRANT


@pytest.mark.parametrize("method", ["generalized-alpha", "tlismni-bdf2", "tlismni-trapezoidal", "bdf-i3"])
def test_errors_of_coordinates_alone_do_not_add_up(method):
    """q and v of low order have errors of their own; Simpson's rule gives the way that dense output makes.

    Found: at most 0.3, of which 0.2 is one step in which a middle was foreseen where the steps of tlismni-bdf2 change
    abruptly (0.04 with a node in each step); 4.5, 4.1 with rates of dense output of degree 5 in the middle of a step.
    """
    _, error, size = measured(ix.library.andrews(), method, 400)
    assert error <= 0.5 * RTOL * size


@pytest.mark.parametrize(("name", "method"), [("double_pendulum", "hht-i3"), ("andrews", "generalized-alpha")])
def test_middles_are_foreseen(name, method):
    """Steps of low order err alike one after the other: 0.41 and 0.33 nodes a step are as good as one in each."""
    result, error, size = measured(getattr(ix.library, name)(), method, 400)
    assert result.stats["work_evaluations"] <= 0.5 * result.stats["steps"]
    assert error <= min(0.2 * RTOL * size, result.energy.work_error)


def test_long_steps_state_what_their_formulas_do():
    """Polynomials through the ends of long steps know little of the power; the stages do: 5.8, not 2200."""
    result, error, size = measured(ix.library.iltis(), "dop853", 400)
    assert error <= result.energy.work_error <= 20 * RTOL * size


@pytest.mark.parametrize("method", ["al-index1", "al-index3"])
def test_methods_with_an_account_of_their_own_state_its_error(method):
    result, error, _ = measured(ix.library.hmmwv14(), method, 350)
    assert 0.0 < error <= 2.0 * result.energy.work_error
