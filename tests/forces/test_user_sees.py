"""Users' forces and equations that see accelerations, reactions and each other: S2-03 to S2-05."""

import math

import numpy as np
import pytest

import index3 as ix
from index3.errors import ModelError

G = 9.80665
TAKE = ("hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "adams", "dopri5", "dop853", "tlismni-hht")
REFUSE = ("al-index1", "multi-index", "statespace-trapezoidal", "rosenbrock4", "hem4")


def incline(law):
    """A block that slides down a guide of 30 degrees; `law` adds its friction."""
    model, along = ix.Model("incline"), np.array((math.sqrt(0.75), 0.0, -0.5))
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.1), mass=2.0, velocity=along))
    law(model, model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=along)))
    return model


def rub(t, r, A, v, w, p, out, F, T):
    """Friction by the load across the guide."""
    axis = A[0][:, 2]
    load = F - (axis @ F) * axis
    out[1, :3] = -p[0] * math.sqrt(load @ load) * axis
    out[0, :3] = -out[1, :3]


def rubbed(t, r, A, v, w, p, x, rate, z, out, res, F, T):
    """The same, with the load as a variable of an equation."""
    axis = A[0][:, 2]
    load = F - (axis @ F) * axis
    res[0] = z[0] - math.sqrt(load @ load)
    out[1, :3] = -p[0] * z[0] * axis
    out[0, :3] = -out[1, :3]


LAWS = {
    "force": lambda model, guide: model.add(ix.UserForce("rub", guide, rub, (0.3,), reactions=True)),
    "soft": lambda model, guide: model.add(ix.UserForce("rub", guide, rub, (0.3,), "none", reactions=True)),
    "equations": lambda model, guide: model.add(
        ix.UserEquations("rub", guide, rubbed, variables=(10.0,), parameters=(0.3,), reactions=True)
    ),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", TAKE)
def test_friction_by_the_reaction_equals_elimination_by_hand(method, law):
    """S2-05: a = g (sin 30 - 0.3 cos 30)."""
    result = ix.simulate(incline(LAWS[law]), (0.0, 0.5), method, rtol=1e-6)
    exact = 0.5 + 0.5 * G * (0.5 - 0.3 * math.sqrt(0.75)) * 0.25
    assert result["guide"].displacement[-1] == pytest.approx(exact, abs=1e-8)  # a constant acceleration: every method


@pytest.mark.parametrize("method", REFUSE)
def test_methods_without_reactions_refuse_by_name(method):
    with pytest.raises(ModelError, match=f"'{method}' cannot take UserForce 'rub', which depends on reactions"):
        ix.simulate(incline(LAWS["force"]), (0.0, 0.5), method)


def test_a_loop_by_the_reaction_of_a_pendulum():
    """A torque in the pin by the size of its reaction, as `JointFriction` has it; through Newton's matrix."""

    def turn(t, r, A, v, w, p, out, F, T):
        axis = A[0][:, 2]
        load = F - (axis @ F) * axis
        spin = axis @ (w[1] - w[0])
        out[1, 3:] = -p[0] * math.sqrt(load @ load) * math.tanh(5.0 * spin) * axis
        out[0, 3:] = -out[1, 3:]

    angles = []
    for method, rtol in (("hht-i3", 1e-6), ("dop853", 1e-9)):
        model = ix.library.pendulum()
        model.add(ix.UserForce("turn", model["pivot"], turn, (0.05,), reactions=True))
        result = ix.simulate(model, (0.0, 0.5), method, rtol=rtol)
        angles.append(result["pivot"].angle[-1])
    assert angles[0] == pytest.approx(angles[1], abs=3e-4)  # rtol^(2/3) of hht-i3: 1e-4


def test_equations_see_accelerations():
    """S2-03: a filter of the acceleration, and a variable that is an added mass: a ball falls with g m / (m + 0.5)."""

    def residual(t, r, A, v, w, p, x, rate, z, out, res, dv, dw):
        res[0] = 0.1 * rate[0] + x[0] - dv[0, 2]
        res[1] = z[0] - p[0] * dv[0, 2]
        out[0, 2] = -z[0]

    fall = -G * 2.0 / 2.5
    for method in ("hht-i3", "dopri5"):
        model = ix.Model("filter")
        ball = model.add(ix.PointMass("ball", 2.0))
        seen = model.add(ix.States("seen", (0.0,)))
        settings = {"states": seen, "variables": (0.0,), "parameters": (0.5,), "accelerations": True}
        model.add(ix.UserEquations("law", ball, residual, **settings))
        result = ix.simulate(model, (0.0, 0.4), method, rtol=1e-7)
        assert result["ball"].position[-1, 2] == pytest.approx(
            0.08 * fall, rel=1e-8
        )  # constant: exact but for rounding
        assert result.states["seen"][-1, 0] == pytest.approx(
            fall * (1.0 - math.exp(-4.0)), rel=1e-5
        )  # rtol^(2/3) of hht


def spring(t, r, A, v, w, p, out):
    out[0, 2] = -p[0] * r[0, 2]


def test_a_force_sees_another_force():
    """S2-05: half of a spring of 100 N/m is taken back by a force that sees it: sqrt(50) rad/s."""

    def half(t, r, A, v, w, p, out, seen):
        out[0] = -0.5 * seen[0].out[0]

    for method in ("hht-i3", "radau5", "dopri5", "al-index3", "rosenbrock4"):
        model = ix.Model("half", gravity=(0, 0, 0))
        ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, 0.1)))
        whole = model.add(ix.UserForce("spring", ball, spring, (100.0,)))
        model.add(ix.UserForce("half", ball, half, reads=whole))
        result = ix.simulate(model.copy(), (0.0, 1.0), method, rtol=1e-5)
        exact = 0.1 * math.cos(math.sqrt(50.0))
        assert result["ball"].position[-1, 2] == pytest.approx(exact, abs=5e-4), method  # rtol^(2/3) of hht-i3


def test_a_force_sees_the_variables_and_states_of_equations():
    """S2-04: a controller with a filter and a loop of variables; a motor apart from it does what the variables say."""

    def control(t, r, A, v, w, p, x, rate, z, out, res):
        res[0] = 0.2 * rate[0] + x[0] - r[0, 2]
        res[1] = z[0] + 0.5 * z[1] - 4.0 * x[0]
        res[2] = z[1] - 0.5 * z[0]

    def motor(t, r, A, v, w, p, out, x, rate, seen):
        out[0, 2] = -seen[0].z[0] - 2.0 * v[0, 2]

    model = ix.Model("controlled", gravity=(0, 0, 0))
    ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, 1.0)))
    seen = model.add(ix.States("seen", (0.0,)))
    law = model.add(ix.UserEquations("control", ball, control, states=seen, variables=(0.0, 0.0)))
    model.add(ix.UserForce("motor", ball, motor, reads=[law]))
    system = np.array([[0.0, 1.0, 0.0], [0.0, -2.0, -3.2], [5.0, 0.0, -5.0]])  # z0 = 3.2 x
    values, vectors = np.linalg.eig(system)
    exact = ((vectors * np.exp(values)) @ np.linalg.solve(vectors, [1.0, 0.0, 0.0])).real
    for method in ("dopri5", "hht-i3"):
        result = ix.simulate(model, (0.0, 1.0), method, rtol=1e-5)
        assert result["ball"].position[-1, 2] == pytest.approx(exact[0], abs=5e-4), method  # rtol^(2/3) of hht-i3


def ignored(*arguments):
    """A function that does nothing."""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m, b: ix.UserForce("u", b, ignored, reactions=True), "Give the joint"),
        (lambda m, b: ix.UserForce("u", b, ignored, reactions=1), "True or False"),
        (lambda m, b: ix.UserForce("u", b, ignored, reads=[b]), "Give a UserForce or UserEquations"),
        (
            lambda m, b: ix.UserForce("u", b, ignored, reads=ix.UserForce("a", b, ignored, accelerations=True)),
            "Give accelerations=True",
        ),
        (
            lambda m, b: ix.UserForce("u", b, ignored, reads=ix.UserForce("a", m["pivot"], ignored, reactions=True)),
            "depends on reactions. Put both laws into one",
        ),
        (
            lambda m, b: ix.UserForce(
                "u", b, ignored, states=ix.States("x", (0.0,)),
                reads=ix.UserForce("a", b, ignored, states=ix.States("y", (0.0,))),
            ),
            "one block",
        ),
        (
            lambda m, b: ix.UserForce("u", b, lambda t, r, A, v, w, p, out: None, reads=ix.UserForce("a", b, ignored)),
            "seen",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_by_name(make, words):
    model = ix.library.pendulum()
    with pytest.raises(ModelError, match=f"^UserForce 'u'.*{words}"):
        make(model, model["rod"])
