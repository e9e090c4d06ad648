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
    ("method", "steps"), [("hht-i3", 480), ("generalized-alpha", 400), ("bdf-i3", 300), ("al-index3", 800)]
)
def test_switching_forces_get_nodes(method, steps):
    """Two wheels after each other come down over the edge of a bump: both steps in which they do are resolved.

    Found: at most 7; 37, 31 and 63 (all but bdf-i3) where a middle that is near the line between both ends of the step
    by chance was believed, 190 to 470 with one node in each of these steps. It depends on where the edge lies in a
    step: of nine rtol within 20 % one to three by each method are at 14 to 74, the others at 0.1 to 10, and which
    ones depends on the last bits. So a median of five counts; what is stated covers each.
    """
    errors = []
    for factor in (0.9, 0.95, 1.0, 1.05, 1.1):
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


@pytest.mark.parametrize(
    ("method", "part"), [("hht-i3", 0.9), ("generalized-alpha", 0.99), ("bdf-i3", 0.84), ("tlismni-bdf2", 0.85)]
)
def test_functions_of_users_are_called_less(method, part):
    """Nodes call them, which is most of the cost of a run: 0.87, 0.98, 0.78 and 0.83 of the steps have one.

    0.94, 1.01, 0.87 and 0.88 where a middle had to be foreseen to 1 rtol instead of 2, for three steps instead of four,
    and where a power that is largest within a step got a second node.
    """
    result, error, size = measured(ix.library.iltis(), method, 400)
    assert result.stats["work_evaluations"] <= part * result.stats["steps"]
    assert error <= min(10 * RTOL * size, result.energy.work_error)


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


@pytest.mark.parametrize(
    ("method", "bound"),
    [
        ("hht-i3", 30), ("generalized-alpha", 10), ("bdf-i3", 10), ("bdf-si2", 1), ("radau5", 1),
        ("descriptor-sdirk4", 1),
    ],
)  # fmt: skip
def test_work_of_a_drive_while_a_rod_vibrates(method, bound):
    """Reactions of index 3 alternate around those of the motion: 17, 2.5 and 2.6 by nodes on both sides of a step, in
    rtol times the integral of |power|; 360, 560 and 62 by those before it. Others: at most 0.06."""
    result, error, size = measured(ix.library.flexible_slider_crank(), method, 400)
    assert error <= min(bound * RTOL * size, result.energy.work_error)


def driven_arm(motion, free=True):
    """An arm that is driven, with a free one at its end."""
    model = ix.Model("arm")
    arm = model.add(ix.RigidBody.rod("arm", (0, 0, 0), (1, 0, 0), mass=2.0))
    pin = model.add(ix.Revolute("pin", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    if free:
        second = model.add(ix.RigidBody.rod("second", (1, 0, 0), (1, 0, -0.7), mass=1.0))
        model.add(ix.Revolute("elbow", arm, second, at=(1, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Motion("drive", pin, ix.Expression(motion)))
    return model


def driven_slider_crank():
    """The library's, its crank turned at 20 rad/s."""
    model = ix.library.slider_crank()
    model.add(ix.Motion("drive", model["A"], ix.Expression("20.0*t")))
    return model


@pytest.mark.parametrize("motion", ["3.0*t", "2.0*t + 0.5*sin(3.0*t)"])
@pytest.mark.parametrize(
    ("method", "bound"),
    [
        ("hht-i3", 60), ("generalized-alpha", 60), ("bdf-i3", 12), ("radau5", 1), ("tlismni-adams3", 6), ("adams", 2),
        ("rosenbrock4", 1), ("descriptor-sdirk4", 1),
    ],
)  # fmt: skip
def test_work_of_a_drive(method, bound, motion):
    """In rtol times the integral of |power|. Without the nodes behind each step generalized-alpha is 170 and 180 off,
    radau5 2.8 and 1.1, adams 15, descriptor-sdirk4 5.3; hht-i3 (15, 52) and bdf-i3 (10) have errors of the reactions
    themselves."""
    result, error, size = measured(driven_arm(motion), method, 300)
    assert error <= bound * RTOL * size
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


@pytest.mark.parametrize(
    "method",
    [
        "hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "adams", "tlismni-adams3", "tlismni-bdf2",
        "descriptor-sdirk4", "al-index3",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["constant", "varying", "slider-crank"])
@pytest.mark.filterwarnings("ignore:simulate. joints do not allow the velocities")
def test_work_of_drives_that_leave_no_freedom(name, method):
    """10 rtol of the integral of |power|, by at most one solution for reactions in a step.

    Found: at most 2, and 8.4 by bdf-si2, whose iteration leaves that of the reactions. Without solutions for reactions
    hht-i3 was 66, generalized-alpha 524, bdf-i3 142, al-index3 21 off, and without a limit of the steps radau5 82,
    tlismni-bdf2 11, descriptor-sdirk4 6400.
    """
    motion = {"constant": "3.0*t", "varying": "2.0*t + 0.5*sin(3.0*t)"}
    model = driven_slider_crank() if name == "slider-crank" else driven_arm(motion[name], free=False)
    result, error, size = measured(model, method, 300)
    assert error <= min(10 * RTOL * size, result.energy.work_error)
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


@pytest.mark.parametrize(
    ("method", "steps"), [("hht-i3", 6000), ("generalized-alpha", 4500), ("bdf-i3", 900), ("radau5", 500)]
)
def test_a_balanced_wheel_needs_no_work(method, steps):
    """At an even speed its drive does nothing, and its steps are as many as they were (5198, 3900, 790 and 459 tried).

    Reactions of index 3 off by roundings of positions over h^2 were 0.02, 0.13 and 1.3 J, beside 200 J of kinetic
    energy; 4e-6 by radau5, whose reactions count.
    """
    model = ix.Model("wheel")
    wheel = model.add(ix.RigidBody("wheel", 1.0, (1.0, 1.0, 1.0)))
    axle = model.add(ix.Revolute("axle", model.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Motion("drive", axle, ix.Expression("20.0*t")))
    result = ix.simulate(model, (0.0, 10.0), method, t_eval=[10.0], progress=False)
    assert result.success
    assert result.stats["steps"] <= steps
    assert abs(result.energy.work[-1]) <= (1e-4 if method == "radau5" else 1e-10)  # rounding: 2e-13 found


def test_steps_are_not_limited_by_a_rough_torque():
    """A torque that oscillates far faster than the steps: no polynomial tells its work, and the run goes on."""
    model = driven_arm("2.0*t", free=False)
    model.add(ix.UserForce("rough", model["arm"], rough_force))
    result = ix.simulate(model, (0.0, 10.0), "radau5", t_eval=[10.0], progress=False)
    assert result.success
    assert result.stats["steps"] <= 500  # 116 found


def rough_force(t, r, A, v, w, p, out):
    """A force in z of 5 N."""
    out[0, 2] = 5.0 * np.sin(1e4 * t * t)


def test_errors_of_coordinates_are_stated_where_a_reaction_works():
    """tlismni-bdf2: q and v of order 2 differ by 27 rtol of the work, and 0.03 was stated."""
    result, error, _ = measured(driven_arm("3.0*t"), "tlismni-bdf2", 300)
    assert error <= result.energy.work_error
