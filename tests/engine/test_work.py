"""Work against fine quadrature of the power along the same dense output, its cost, and what is said of its error."""

import itertools

import numpy as np
import pytest
from first_segment import first_segment

import index3 as ix
from index3.analysis.simulate import SETTINGS
from index3.analysis.simulation import Simulation
from index3.compiled import slots as s
from index3.methods import projection_kernels, run, run_table
from index3.methods.explicit import runge_kutta
from index3.methods.work import GRANT
from index3.system import evaluate
from index3.system.compile import compile_model


def power_along(model, result, times):
    """Power of what is not conservative on the dense output, with the reactions that belong to each state."""
    simulation = Simulation(model, "hht-i3", SETTINGS, {})
    variant = first_segment(simulation, (result.sol.t_min, result.sol.t_max)).variant
    state, powers = variant.state, []
    for t in times:
        state.move(t, *result.sol(t))
        if variant.system.reactions_work:
            assert projection_kernels.assemble_accelerations(state.handle, variant.projection.handle) == 0
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


def run_of(model, method, span, rtol=1e-6):
    return ix.simulate(model, (0.0, span), method, rtol=rtol, progress=False, dense_output=True)


@pytest.mark.parametrize("method", ["bdf-i3", "radau5", "dopri5"])
def test_work_is_as_good_as_the_motion(method):
    """A motor: 10 rtol of the integral of |power|, with at most one evaluation of the forces for each step."""
    model = ix.library.andrews()
    result = run_of(model, method, 0.02)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= 10 * 1e-6 * size
    # the estimates of all steps added up: 10, 2 and 1 seen, where errors of steps cancel to 0.6 and less
    assert abs(result.energy.work[-1] - exact) <= result.energy.work_error <= 20 * 1e-6 * size
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT
    assert (result.stats["work_evaluations"] > 0) == (method != "dopri5")  # whose stages say enough


@pytest.mark.parametrize(("method", "unused"), [("dopri5", [1]), ("dop853", [1, 2, 3, 4])])
def test_stages_without_weight_are_not_asked_for_their_power(method, unused):
    """Neither the step nor its error has them."""
    segment = first_segment(Simulation(ix.library.andrews(), method, SETTINGS, {}), (0.0, 0.02))
    segment.run[run.CURSOR][:] = 0  # no lines of output
    segment.run.advance(segment.method.kernel, segment.table, 20)
    power = segment.table[runge_kutta.K_POWER]
    assert [k for k in range(len(power)) if power[k] == 0.0] == unused


@pytest.mark.parametrize("method", ["tlismni-bdf2", "tlismni-trapezoidal"])
def test_errors_of_low_order_are_seen(method):
    """Coordinates and rates with errors of their own: steps agree with each other, but not with the dense output."""
    model = ix.library.andrews()
    result = run_of(model, method, 0.01)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= min(result.energy.work_error, 10 * 1e-6 * size)


@pytest.mark.parametrize("method", ["hht-i3", "bdf-i3", "radau5", "tlismni-adams3", "descriptor-sdirk4"])
def test_work_costs_evaluations_of_forces_alone(method):
    """At most one for each step. No accelerations are solved for: all other counters are as without work."""
    simulation = ix.prepare(ix.library.iltis(), method, audit="off", progress=False)
    system, counted = simulation.compile(), []
    for conservative in (False, True):
        object.__setattr__(system, "conservative", conservative)  # nothing to add up
        counted.append(simulation.run((0.0, 0.05)).stats)
    spent = counted[0]["work_evaluations"]
    assert 0 < spent <= counted[0]["steps"] + GRANT
    assert counted[0]["evaluations"] == counted[1]["evaluations"] + spent
    for name in counted[0]:
        if not name.startswith("seconds") and name not in ("evaluations", "work_evaluations", "work_error"):
            assert counted[0][name] == counted[1][name], name


@pytest.mark.parametrize(("name", "span", "forces"), [("andrews", 0.03, 0), ("hmmwv14", 0.56, 0), ("iltis", 0.3, 1)])
def test_nodes_need_no_rows_where_no_reaction_works(name, span, forces, monkeypatch):
    """A node costs the poses of markers, forces of users that work, and the power; the same to the last bit."""
    assert len(ix.prepare(getattr(ix.library, name)(), "hht-i3").compile().fixed[s.WORKING_FORCES]) == forces
    runs = []
    for shorter in (True, False):
        if not shorter:
            monkeypatch.setattr(run_table.work, "add_work_alone", run_table.work.add_work)
        runs.append(ix.simulate(getattr(ix.library, name)(), (0.0, span), "hht-i3", progress=False))
    assert runs[0].stats["work_evaluations"] > 0
    assert runs[0].energy.work.tobytes() == runs[1].energy.work.tobytes()
    assert runs[0].q.tobytes() == runs[1].q.tobytes()


@pytest.mark.parametrize("method", ["radau5", "dopri5"])
def test_suspension(method):
    """Dampers and a tyre, as above; two methods of higher order, whose dense output is smooth enough to tell."""
    model = ix.library.iltis()
    result = run_of(model, method, 0.05)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= 10 * 1e-6 * size


@pytest.mark.parametrize("method", ["radau5", "bdf-si2"])
def test_vehicle(method):
    """Stiff bushings, dampers and tyres on a flat road, before the bump."""
    model = ix.library.hmmwv14(settled=False, bump=0.0)
    result = run_of(model, method, 0.1)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= 10 * 1e-6 * size
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


@pytest.mark.parametrize("f", [0.0, 0.1])
def test_coordinates_that_are_held_do_no_work(f):
    model = ix.library.pendulum()
    joint = next(iter(model.joints.values()))
    model.add(ix.Motion("hold", joint, f))
    assert compile_model(model).conservative
    model.add(ix.RelativeAngularVelocity("turn", model.ground, next(iter(model.bodies.values())), f, axis=(0, 1, 0)))
    assert compile_model(model).conservative == (f == 0.0)
    assert compile_model(model).reactions_work == (f != 0.0)


@pytest.mark.parametrize("method", ["bdf-i3", "hht-i3"])
def test_error_is_stated_where_it_is_larger(method):
    """The suspension's first oscillation in a few steps of low order: more than 10 rtol, and no more than is said."""
    model = ix.library.iltis()
    result = run_of(model, method, 0.05)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= result.energy.work_error <= 0.02 * size


def out_of_the_floor():
    """A ball inside the floor that leaves so fast that damping takes all of the contact's energy, and then flies."""
    model = ix.Model("out of the floor")
    ball = model.add(ix.RigidBody.sphere("ball", 0.026, 1.0, velocity=(0.0, 0.0, 1.5)))
    law = {"stiffness": 7.4e7, "exponent": 2.0, "damping": 10.0}
    model.add(ix.Contact("floor", ball, model.ground, (ix.Sphere(0.026), ix.Plane()), **law))
    return model


@pytest.mark.parametrize(("method", "rtol"), [("dopri5", 2e-6), ("radau5", 1e-9), ("descriptor-sdirk4", 1e-7)])
def test_contact_that_ends_inside_a_step(method, rtol):
    """The motion needs few steps, one of them over the end of the contact: 1 % of the work, and the error said."""
    result = ix.simulate(out_of_the_floor(), (0.0, 0.1), method, rtol=rtol, progress=False)
    exact = -7.4e7 * 0.026**3 / 3.0  # all that the contact held
    error = abs(result.energy.work[-1] - exact)
    assert result.stats["steps"] < 10
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT
    assert np.ptp(result.energy.balance) <= 0.01 * abs(exact)  # also at the outputs inside that step
    assert (
        error <= 2.0 * result.energy.work_error
    )  # an estimate, no bound: the end of the contact is somewhere in a piece


def driven():
    """A crank turned ever faster: all work is done by a reaction."""
    model = ix.library.four_bar()
    joint = next(iter(model.joints))
    model.add(ix.Motion("drive", model[joint], lambda t: 3.0 * t + 2.0 * t**2, lambda t: 3.0 + 4.0 * t, 4.0))
    return model


def test_reactions_that_work():
    """Nothing is free to move, so steps are long and the power oscillates between them: the error is said."""
    model = driven()
    result = run_of(model, "radau5", 1.0)
    exact, size = fine_work(model, result)
    assert abs(result.energy.work[-1] - exact) <= min(result.energy.work_error, 1e-3 * size)
    assert result.stats["work_evaluations"] <= result.stats["steps"] + GRANT


def test_nothing_is_spent_where_nothing_works():
    result = run_of(ix.library.pendulum(), "hht-i3", 0.5)
    assert result.stats["work_evaluations"] == 0
    assert result.energy.work_error == 0.0


def test_error_goes_on_over_restarts():
    """Sums of a run go on where an event starts the method anew."""

    def low(t, state):
        return state.q[2] - 0.02

    low.action = lambda switch: None
    whole = ix.simulate(out_of_the_floor(), (0.0, 0.1), "radau5", rtol=1e-4, progress=False)
    parts = ix.simulate(out_of_the_floor(), (0.0, 0.1), "radau5", rtol=1e-4, progress=False, events=[low])
    assert len(parts.t_events[0]) == 1
    assert parts.energy.work_error > 0.0
    assert parts.energy.work[-1] == pytest.approx(whole.energy.work[-1], rel=0.05)  # a few steps each


def test_a_force_without_a_value_inside_a_step():
    """It has values where steps end, and the run ended in the middle of the first one, which its work asked for."""
    model = ix.Model("sampled", gravity=(0, 0, 0))
    mass = model.add(ix.PointMass("mass", 1.0, position=(1, 0, 0)))

    def spring(t, r, A, v, w, p, out):
        if abs(10 * t - round(10 * t)) > 1e-6:
            raise ValueError("nothing is known between tenths of a second")
        out[0, 0] = -r[0, 0]

    model.add(ix.UserForce("spring", mass, spring))
    result = ix.simulate(model, (0.0, 5.0), "hht-i3", step=0.1)
    assert result.success, result.message
    assert result["mass"].position[-1, 0] == pytest.approx(np.cos(5.0), abs=2e-2)  # damped; the period 0.2 % too long
    assert result.stats["work_error"] > 1.0  # of 3 J there and back: the work inside steps is not known


def ball_on_belt():
    """A ball of 1 kg at rest on a belt at 2 m/s, which slides until it rolls at 2/7 of that."""
    model, sink = ix.Model("belt", gravity=(0, 0, -9.81)), (9.81 / 1e7) ** (2.0 / 3.0)
    path = (lambda t: (2.0 * t, 0, 0), lambda t: (2.0, 0, 0), lambda t: (0, 0, 0))
    belt = model.ground.moving_marker(path=path, z=(0, 0, 1), x=(1, 0, 0), name="belt")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 0.1 - sink)))
    shapes = (ix.shapes.Sphere(0.1), ix.shapes.Plane())
    model.add(ix.Contact("c", ball, belt, shapes, stiffness=1e7, damping=0.5, friction=0.2, stick_velocity=1e-3))
    return model


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["hht-i3", "radau5"])
def test_a_slip_that_ends_changes_nothing_in_the_work_of_steps_before(method):
    """All energy comes from the belt. Counted again by a polynomial through the short steps in which the slip ends, the
    long step before them took 30 % (`hht-i3`) and 3.4 % too much; `hht-i3` warned of an impact."""
    result = ix.simulate(ball_on_belt(), (0.0, 1.0), method, rtol=1e-4, progress=False)
    # the speed is right within 0.4 % at this tolerance, the energy that the belt must have given within twice that
    assert result.energy.work[-1] == pytest.approx(result.energy.kinetic[-1], rel=8e-3)
