"""Forces that depend on accelerations: a body with added mass is a heavier body, in every method that takes it."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.methods.registry import METHODS

TAKEN = [key for key, method in METHODS.items() if method.takes_reactions]
REFUSED = [key for key, method in METHODS.items() if not method.takes_reactions]
OWN, EXTRA = 2.0, 1.5
"""Mass of a body and what is added to it [kg]; the inertia of both is a tenth of that [kg m^2]."""


def against(t, r, A, v, w, p, out, dv, dw):
    """Minus p0 times the acceleration and p1 times the angular acceleration."""
    out[0, :3], out[0, 3:] = -p[0] * dv[0], -p[1] * dw[0]


def against_slopes(t, r, A, v, w, p, K, D, M, dv, dw):
    """The derivatives of `against`."""
    M[:3, :3], M[3:, 3:] = -p[0] * np.eye(3), -p[1] * np.eye(3)


def swinging(mass):
    """A body on a spring that pulls beside its centre, without weight."""
    model = ix.Model("swinging", gravity=(0, 0, 0))
    body = ix.RigidBody("body", mass, [0.1 * mass] * 3, position=(1, 0, 0), velocity=(0, 1, 0.2))
    model.add(body)
    ends = model.ground.marker(), body.marker((0.1, 0.2, 0))
    model.add(ix.SpringDamper("spring", *ends, stiffness=10.0, damping=0.3, length=0.8))
    return model


def with_word():
    """The swinging body with added mass."""
    model = swinging(OWN)
    model.add(ix.AddedMass("water", model["body"], EXTRA, 0.1 * EXTRA))
    return model


def with_function(jacobian):
    """The same by a user's function."""
    model = swinging(OWN)
    numbers = (EXTRA, 0.1 * EXTRA)
    model.add(ix.UserForce("water", model["body"], against, numbers, jacobian, accelerations=True))
    return model


@pytest.mark.parametrize("key", TAKEN)
def test_a_body_with_added_mass_is_a_heavier_body(key):
    """Same positions, accelerations and, as kinetic energy of the added part counts as work, energy balance."""
    step = {"step": 0.005, "t_eval": 0.1}
    light, heavy = (ix.simulate(model, (0, 0.5), key, **step) for model in (with_word(), swinging(OWN + EXTRA)))
    assert light.success, light.message
    # methods whose states leave |p| = 1 weigh the components along p differently: far below their error of 1e-5
    assert np.abs(light.q - heavy.q).max() < 1e-6
    assert np.abs(light["body"].acceleration - heavy["body"].acceleration).max() < 1e-5
    # fourth-order quadrature of the power, on an energy of 1 J
    change = light.energy.kinetic * EXTRA / OWN
    assert np.abs((light.energy.work - light.energy.work[0]) + change - change[0] - heavy.energy.work).max() < 1e-4


@pytest.mark.parametrize("key", TAKEN)
def test_translation_alone_is_the_same_to_rounding(key):
    """A point mass on a spring: for every method, HHT with its accelerations of another instant included."""
    results = []
    for own, extra in ((OWN, EXTRA), (OWN + EXTRA, 0.0)):
        model = ix.Model("ball", gravity=(0, 0, 0))
        ball = model.add(ix.PointMass("ball", own, position=(1, 0, 0), velocity=(0, 1, 0)))
        model.add(ix.SpringDamper("spring", model.ground.marker(), ball.marker(), stiffness=9.0, damping=0.2))
        if extra:
            model.add(ix.AddedMass("water", ball, extra))
        results.append(ix.simulate(model, (0, 1), key, step=0.02))
    light, heavy = results
    # what Newton's iteration leaves in 50 steps, 1e-11 each
    assert np.abs(light.q - heavy.q).max() < 1e-9
    assert np.abs(light.v - heavy.v).max() < 1e-9
    assert np.abs(light.a - heavy.a).max() < 1e-8


@pytest.mark.parametrize("key", ["hht-i3", "dopri5"])
@pytest.mark.parametrize("jacobian", ["none", None, "differences", against_slopes], ids=str)
def test_user_force_of_accelerations_is_added_mass(key, jacobian):
    """S2-05: F = -c a by a function, with each source of derivatives."""
    results = [ix.simulate(model, (0, 0.3), key, step=0.01) for model in (with_word(), with_function(jacobian))]
    # differences of a linear function are exact to 1e-10; Newton's iteration leaves 1e-11 a step
    assert np.abs(results[0].q - results[1].q).max() < 1e-9
    assert np.abs(results[0].a - results[1].a).max() < 1e-7


def test_compiled_user_force():
    """The same function by Numba."""
    numba = pytest.importorskip("numba")
    model = swinging(OWN)
    compiled = numba.njit(against)
    model.add(ix.UserForce("water", model["body"], compiled, (EXTRA, 0.1 * EXTRA), accelerations=True))
    results = [ix.simulate(each, (0, 0.3), "dopri5", step=0.01) for each in (model, with_function(None))]
    assert np.abs(results[0].q - results[1].q).max() < 1e-13  # the same operations


def chain_link(method, step):
    """Positions and multipliers of a spatial two-link chain, the second link with unequal added mass."""
    model = ix.Model("chain")
    first = model.add(ix.RigidBody.rod("first", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.05))
    second = model.add(ix.RigidBody.rod("second", (1, 0, 0), (1, 1, 0), mass=1.0, radius=0.05))
    model.add(ix.Revolute("pin", model.ground, first, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Spherical("ball", first, second, at=(1, 0, 0)))
    matrix = np.diag([2.0, 1.0, 0.5, 0.1, 0.2, 0.05])
    matrix[0, 4] = matrix[4, 0] = 0.1
    model.add(ix.AddedMass.from_matrix("water", second.marker((0, 0.1, 0.2)), matrix))
    result = ix.simulate(model, (0, 0.5), method, step=step, t_eval=0.1)
    assert result.success, result.message
    return result


@pytest.mark.parametrize("key", ["hht-i3", "generalized-alpha"])
def test_order_two_is_kept(key):
    """Where the added mass depends on the pose: errors of q, lam and the energy balance fall by four with the step."""
    exact = chain_link("dop853", 0.0025)
    errors = []
    for step in (0.005, 0.0025):
        result = chain_link(key, step)
        parts = result.q - exact.q, result.lam - exact.lam, result.energy.balance - result.energy.balance[0]
        errors.append([np.linalg.norm(part) for part in parts])
    assert np.log2(np.divide(*errors)) == pytest.approx(2.0, abs=0.02)  # measured 1.995 ... 2.002


def test_variable_steps_agree():
    """By error control two methods of other families agree, and the energy balance closes."""
    model = with_word()
    results = [ix.simulate(model, (0, 1), key, rtol=1e-8, t_eval=0.25) for key in ("hht-i3", "dop853")]
    assert np.abs(results[0].q - results[1].q).max() < 1e-5  # HHT: a thousand steps of 1e-8 each
    assert np.ptp(results[1].energy.balance) < 1e-7


@pytest.mark.parametrize("key", REFUSED)
def test_methods_that_cannot_take_it_say_so(key):
    with pytest.raises(ix.ModelError, match=f"'{key}' cannot take AddedMass 'water', which depends on accelerations"):
        ix.simulate(with_word(), (0, 0.1), key)


def pulled(share):
    """A body with a force +share m a: its inertia is m (1 - share)."""
    model = ix.Model("pulled")
    body = model.add(ix.RigidBody("body", 0.3, (0.1, 0.1, 0.1)))
    model.add(ix.UserForce("pull", body, against, (-share * 0.3, 0.0), accelerations=True))
    return model


@pytest.mark.parametrize("share", [1.0, 1.0 + 2e-16])
@pytest.mark.parametrize("key", ["auto", "hht-i3", "dopri5"])
def test_no_inertia_left_is_a_named_error(key, share):
    with pytest.raises(ix.SingularError, match=r"RigidBody 'body' has no inertia left.*UserForce 'pull'"):
        ix.simulate(pulled(share), (0, 0.1), key)


def test_half_of_the_inertia_left():
    """Twice the acceleration of free fall."""
    result = ix.simulate(pulled(0.5), (0, 0.1))
    assert result["body"].acceleration[-1, 2] == pytest.approx(-2 * 9.80665, rel=1e-9)  # rounding of the solve


def test_bodies_without_inertia_together():
    """Two masses on a bar, one made negative: together they have none, which no pivot of a body shows."""
    model = ix.Model("bar")
    balls = [model.add(ix.PointMass(f"ball{k}", 1.0, position=(k, 0, 0))) for k in range(2)]
    model.add(ix.Distance("bar", *(ball.marker() for ball in balls)))
    model.add(ix.UserForce("pull", balls[0], against, (-2.0, 0.0), accelerations=True))
    model.add(ix.Force("push", balls[1], (1.0, 0, 0)))
    with pytest.raises((ix.SingularError, ix.SimulationFailed), match="UserForce 'pull'"):
        ix.simulate(model, (0, 0.1), "dopri5", on_failure="raise")


def test_moving_support_is_felt():
    """A law of the acceleration relative to a shaken base: x'' = -c (x'' - b''), so x'' = c b'' / (1 + c)."""

    def shaken(t, r, A, v, w, p, out, dv, dw):
        out[0, :3] = -p[0] * (dv[0] - dv[1])
        out[1, :3] = -out[0, :3]

    model = ix.Model("base", gravity=(0, 0, 0))
    ball = model.add(ix.PointMass("ball", 1.0))
    path = (
        lambda t: (np.sin(3 * t), 0.0, 0.0),
        lambda t: (3 * np.cos(3 * t), 0.0, 0.0),
        lambda t: (-9 * np.sin(3 * t), 0.0, 0.0),
    )
    base = model.ground.moving_marker(path=path)
    model.add(ix.UserForce("inerter", (ball.marker(), base), shaken, (0.5,), accelerations=True))
    result = ix.simulate(model, (0, 1), "dopri5", t_eval=0.1)
    expected = -9.0 * np.sin(3 * result.t) * 0.5 / 1.5
    assert np.abs(result["ball"].acceleration[:, 0] - expected).max() < 1e-9  # differences of a linear law, 1e-10


def test_frequency_by_linearize():
    """A mass on a spring with added mass: sqrt(k / (m + a)); at rest and as `static` finds it."""
    model = ix.Model("bob")
    body = model.add(ix.PointMass("bob", OWN, position=(0, 0, -1)))
    guide = model.ground.marker(), body.marker()
    model.add(ix.SpringDamper("spring", *guide, stiffness=100.0, length=1.0))
    model.add(ix.AddedMass("water", body, EXTRA))
    rest = ix.static(model)
    assert rest.result["bob"].position[-1, 2] == pytest.approx(
        -1.0 - OWN * 9.80665 / 100.0, abs=1e-9
    )  # no weight added
    linear = ix.linearize(model, at=rest)
    assert linear.frequencies.max() == pytest.approx(np.sqrt(100.0 / (OWN + EXTRA)), rel=1e-9)  # rounding


def test_first_order_form():
    """Rates and their Jacobian against differences, with added mass."""
    form = ix.FirstOrder(with_word())
    y = form.y0
    slopes = form.jacobian(0.0, y)
    for k in range(len(y)):
        e = 1e-6 * np.eye(len(y))[k]
        seen = (form(0.0, y + e) - form(0.0, y - e)) / 2e-6
        assert np.abs(slopes[:, k] - seen).max() < 1e-5  # rounding 1e-15 / 1e-6 of numbers up to 100


def test_drive_of_a_heavier_slider():
    """inverse_dynamics: the drive force is (m + a) x''."""
    model = ix.Model("slider", gravity=(0, 0, 0))
    block = model.add(ix.RigidBody.box("block", (0.1, 0.1, 0.1), mass=OWN))
    slide = model.add(ix.Prismatic("slide", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.AddedMass("water", block, EXTRA))
    model.add(ix.Motion("drive", slide, lambda t: t**3, lambda t: 3 * t**2, lambda t: 6 * t))
    result = ix.kinematics(model, (0.0, 1.0), t_eval=0.1)
    expected = (OWN + EXTRA) * 6.0 * result.t
    assert np.abs(result["drive"].force[:, 0] - expected).max() < 1e-9  # rounding of forces of 20 N


def test_impulses_are_refused():
    model = with_word()
    model.add(ix.Spherical("latch", model.ground, model["body"], at=(1, 0, 0)))

    def late(t, state):
        return t - 0.05

    late.action = ix.close_joint("latch", gap=10.0)
    with pytest.raises(ix.ModelError, match=r"close_joint.*AddedMass 'water'"):
        ix.simulate(model, (0, 0.1), events=late, open_joints=["latch"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"mass": -1.0}, "mass -1.0"),
        ({"mass": np.nan}, "not finite"),
        ({"mass": (1.0, 2.0)}, "a number or three numbers or a 3x3 matrix"),
        ({"mass": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
        ({"mass": 0.0}, "neither mass nor inertia"),
        ({"inertia": "much"}, "inertia 'much'"),
        ({"coupling": (1.0, 2.0, 3.0)}, "a 3x3 matrix"),
    ],
)
def test_bad_input(change, match):
    body = ix.RigidBody.sphere("ball", 0.1, mass=1.0)
    with pytest.raises(ix.ModelError, match=match):
        ix.AddedMass("water", body, **{"mass": 1.0, **change})


def test_ground_and_points_are_refused():
    model = ix.Model("empty")
    with pytest.raises(ix.ModelError, match="acts on ground"):
        ix.AddedMass("water", model.ground, 1.0)
    with pytest.raises(ix.ModelError, match="does not turn"):
        ix.AddedMass("water", ix.PointMass("ball", 1.0), 1.0, 1.0)
    with pytest.raises(ix.ModelError, match="symmetric 6x6"):
        ix.AddedMass.from_matrix("water", ix.RigidBody.sphere("ball", 0.1, mass=1.0), np.ones((3, 3)))
    with pytest.raises(ix.ModelError, match="accelerations 1"):
        ix.UserForce("pull", ix.PointMass("ball", 1.0), against, (1.0, 0.0), accelerations=1)
    with pytest.raises(ix.ModelError, match="dv, dw"):
        ix.UserForce("pull", ix.PointMass("ball", 1.0), lambda t, r, A, v, w, p, out: None, accelerations=True)
