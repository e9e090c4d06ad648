"""How often functions of the user are called: in Python, they are what a run spends its time on."""

import math
from itertools import pairwise

import numpy as np
import pytest

import index3 as ix


def shaken(drive):
    """A pendulum whose pin is turned by a function of time."""
    model = ix.Model("shaken")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Motion("drive", pin, drive, lambda t: 0.3 * math.cos(t), lambda t: -0.3 * math.sin(t)))
    return model


@pytest.mark.parametrize("method", ["hht-i3", "dopri5", "radau5"])
def test_a_function_of_time_is_asked_once_for_a_time(method):
    """Iterations and stages at one time share its value; output and energies, between steps, ask again."""
    times = []

    def drive(t):
        times.append(t)
        return 0.3 * math.sin(t)

    result = ix.simulate(shaken(drive), (0.0, 2.0), method, rtol=1e-4, t_eval=[0.0, 2.0], audit="off")
    assert result["rod"].position[-1, 0] == pytest.approx(0.5 * math.cos(0.3 * math.sin(2.0)), rel=1e-6)
    repeated = sum(a == b for a, b in pairwise(times))
    assert repeated < 40  # start and end of the run; each of some hundred steps repeated it before


def test_a_function_of_time_that_changes_between_calls_is_asked_again():
    """What a stepper's user changes counts from the next step on."""
    load = [0.0]
    model = ix.Model("pushed", gravity=(0, 0, 0))
    bob = model.add(ix.PointMass("bob", mass=1.0))
    model.add(ix.Force("push", bob, lambda t: (load[0], 0.0, 0.0)))
    run = ix.prepare(model, "dopri5").stepper(t0=0.0)
    run.advance(0.5)
    load[0] = 2.0
    run.advance(1.0)
    assert run.get("bob.velocity")[0] == pytest.approx(1.0, rel=1e-4)  # the first stage is the end of the step before


@pytest.mark.parametrize("rubs", [False, True])
def test_derivatives_by_differences_are_taken_only_where_a_matrix_wants_them(rubs):
    """Friction needs the derivative of forces by reactions, not second derivatives of other rows."""
    calls = []

    def straight(t, r, A, v, w, p, out):
        calls.append(t)
        out[0] = v[0, 0] - v[0, 1]

    model = ix.Model("rubbing")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    if rubs:
        model.add(ix.JointFriction("rub", pin, 0.2, radius=0.05))
    sledge = model.add(ix.RigidBody("sledge", mass=1.0, inertia=(1, 1, 1), velocity=(1, 1, 0)))
    model.add(ix.UserConstraint("skate", sledge.marker(), straight, rows=1, level=1, jacobian="differences"))
    result = ix.simulate(model, (0.0, 0.5), "dopri5", rtol=1e-5, t_eval=[0.0, 0.5], audit="off")
    assert result.success
    assert np.ptp(result["sledge"].velocity @ [1, -1, 0]) < 1e-9
    assert len(calls) < (90 if rubs else 60) * result.stats["evaluations"]  # with second derivatives: above 400


def on_a_sphere(f):
    """A body whose centre stays on a sphere, by a function of the user."""
    model = ix.Model("sphere")
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.3), position=(1, 0, 0), angular_velocity=(1, 2, 3)))
    model.add(ix.UserConstraint("sphere", body.marker(), f, rows=1, jacobian="differences"))
    return model


@pytest.mark.parametrize(
    ("method", "most"),
    [("rosenbrock4", 250), ("descriptor-sdirk4", 650), ("dopri5", 170), ("tlismni-adams4", 100), ("adams", 50)],
)
def test_calls_of_a_constraint_in_a_step(method, most):
    """Nothing is asked for axes and time, which the function never mentions, nor twice for the same poses.

    Calls per step: 196, 355, 107, 71 and 39; where all arguments count, and all is asked again, 1174, 3070 and 265 by
    the first three; where gradients are asked for while positions are closed, 171 and 63 by the last two.
    """
    calls = []

    def sphere(t, r, A, v, w, p, out):
        calls.append(1)
        out[0] = r[0] @ r[0] - 1.0

    result = ix.simulate(on_a_sphere(sphere), (0.0, 1.0), method, rtol=1e-6, t_eval=[0.0, 1.0], audit="off")
    assert result["body"].position[-1] @ result["body"].position[-1] == pytest.approx(1.0, abs=1e-11)
    assert len(calls) < most * result.stats["steps"]


@pytest.mark.parametrize(("method", "most"), [("hht-i3", 10), ("descriptor-sdirk4", 130)])
def test_calls_of_a_row_of_velocities_in_a_step(method, most):
    """Its gradient is that of the instant, wherever the body is: 7 and 99 calls; 16 and 235 where poses count."""
    calls = []

    def rolls(t, r, A, v, w, p, out):
        calls.append(1)
        out[0] = v[0, 0] - 0.5 * v[0, 1] + 0.1

    model = ix.Model("rolls")
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.3), velocity=(0.5, 1.2, 1.0), angular_velocity=(1, 2, 3)))
    model.add(ix.UserConstraint("rolls", body.marker(), rolls, rows=1, level=1, jacobian="differences"))
    result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-6, t_eval=[0.0, 1.0], audit="off")
    assert result["body"].velocity[-1] @ [1.0, -0.5, 0.0] == pytest.approx(-0.1, abs=1e-11)
    assert len(calls) < most * result.stats["steps"]


def test_what_a_function_never_mentions_changes_nothing():
    """The same rows and forces by functions of anything, whose code says nothing: all arguments count."""

    def row(t, r, A, v, w, p, out):
        out[0] = r[0] @ r[0] - 1.0

    def rolls(t, r, A, v, w, p, out):
        out[0] = v[0, 0] - 0.5 * v[0, 1]

    def push(t, r, A, v, w, p, out):
        out[0, :3] = -30.0 * r[0] - 0.3 * v[0]

    def model(change):
        made = on_a_sphere(change(row))
        body = made.bodies["body"]
        made.add(ix.UserConstraint("rolls", body.marker(), change(rolls), rows=1, level=1, jacobian="differences"))
        made.add(ix.UserForce("push", body.marker(), change(push)))
        return made

    for method in ("radau5", "firstorder-sdirk4"):
        ends = [
            ix.simulate(model(change), (0.0, 0.5), method, rtol=1e-8).q[-1]
            for change in (lambda f: f, lambda f: lambda t, *parts: f(t, *parts))
        ]
        assert np.abs(ends[0] - ends[1]).max() < 1e-7  # ten times rtol: derivatives differ by rounding


def test_calls_of_a_force_for_a_matrix():
    """By r and v alone, of one marker of two: 12 calls, where all arguments of both markers take 48."""
    calls = []

    def strut(t, r, A, v, w, p, out):
        calls.append(1)
        out[1, :3] = -1e4 * (r[1] - r[0]) - 3.0 * v[1]
        out[0, :3] = -out[1, :3]

    model = ix.Model("strut")
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.3), position=(1, 0, 0)))
    model.add(ix.UserForce("strut", [model.ground.marker(), body.marker()], strut))
    result = ix.simulate(model, (0.0, 0.3), "hht-i3", rtol=1e-6, t_eval=[0.0, 0.3], audit="off")
    stats = result.stats
    assert stats["jacobians"] > 50
    assert len(calls) < stats["evaluations"] + 13 * stats["jacobians"] + 300  # start, lines, and work


def test_calls_of_a_force_for_the_matrices_of_radau5():
    """Derivatives are found once for all of mass, stiffness and damping: 12 calls, where twice took 24."""
    calls = []

    def strut(t, r, A, v, w, p, out):
        calls.append(1)
        d = r[1] - r[0]
        out[1, :3] = -(d @ d) * (1e4 * d + 300.0 * v[1])
        out[0, :3] = -out[1, :3]

    model = ix.Model("strut")
    body = model.add(ix.RigidBody("body", 1.0, (0.1, 0.2, 0.3), position=(1, 0, 0)))
    model.add(ix.UserForce("strut", [model.ground.marker(), body.marker()], strut))
    stats = ix.simulate(model, (0.0, 3.0), "radau5", rtol=1e-3, t_eval=[0.0, 3.0], audit="off").stats
    assert stats["jacobians"] > 20
    assert len(calls) < stats["evaluations"] + 13 * stats["jacobians"] + 40  # start, lines, and work


@pytest.mark.parametrize(("method", "most"), [("hht-i3", 5.2), ("generalized-alpha", 5.4)])
def test_calls_of_equations_for_one_solution(method, most):
    """The inverse of one time serves all evaluations there: 4.7 and 5.0 calls a solution instead of 5.8 and 5.9."""
    calls, solved = [], []

    class Counted(ix.UserEquations):
        def _solve(self, *parts):
            solved.append(1)
            super()._solve(*parts)

    def lag(t, r, A, v, w, p, x, rate, z, out, res):
        calls.append(1)
        res[0] = rate[0] + 50.0 * (x[0] - v[0, 2])
        res[1] = z[0] + 0.1 * z[0] ** 3 - x[0]
        out[0, 2] = -3.0 * z[0]

    model = ix.Model("lag")
    ball = model.add(ix.PointMass("ball", 1.0))
    states = model.add(ix.States("filter", (0.0,)))
    model.add(Counted("lag", ball, lag, states=states, variables=(0.0,)))
    result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-5, t_eval=[0.0, 1.0], audit="off")
    assert result.success
    assert len(calls) < most * len(solved)


def test_equations_that_leave_an_unknown_open_later_are_told():
    """What is kept of a time is not believed at another: from t = 0.5 on nothing says what z is."""

    def switched(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = z[0] - v[0, 2] if t < 0.5 else 0.0
        out[0, 2] = -z[0]

    model = ix.Model("open")
    model.add(ix.UserEquations("e", model.add(ix.PointMass("ball", 1.0)), switched, variables=(0.0,)))
    result = ix.simulate(model, (0.0, 1.0), "hht-i3", rtol=1e-4)
    assert not result.success
    assert "do not determine an unknown" in result.message
