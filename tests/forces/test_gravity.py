"""Attraction by a point: words, law, derivatives, orbits."""

import pickle

import numpy as np
import pytest

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.gravity import PointGravity, UniformGravity

GROUND = Ground()
MOON = PointMass("moon", 2.0, position=(3, 0, 0))
BOX = RigidBody.box("box", (1, 1, 1), mass=3.0)


def test_what_the_system_asks():
    pull = PointGravity("sun", MOON, GROUND.marker((0, 0, 1)), mu=5.0)
    assert pull.conservative
    assert not pull.damped
    assert [marker.body for marker in pull.markers] == [GROUND, MOON]
    assert repr(pull) == "PointGravity('sun', 'ground', 'moon')"


def test_points_and_several_bodies():
    model = ix.Model(gravity=(0, 0, 0))
    bodies = [model.add(PointMass(f"m{k}", 1.0 + k, position=(k, 1, 0))) for k in range(3)]
    pulls = [model.add(pull) for pull in PointGravity.field("sun", bodies, (0, 0, 5), mu=2.0)]
    assert [pull.name for pull in pulls] == ["sun m0", "sun m1", "sun m2"]
    assert [pull.mass for pull in pulls] == [1.0, 2.0, 3.0]
    assert all(pull.markers[0].position.tolist() == [0, 0, 5] for pull in pulls)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PointGravity("sun", MOON, GROUND, mu=0.0), "PointGravity 'sun' has mu 0.0"),
        (lambda: PointGravity("sun", MOON, GROUND, mu=np.nan), "mu nan"),
        (lambda: PointGravity("sun", GROUND, MOON, mu=1.0), "cannot attract Ground('ground')"),
        (lambda: PointGravity("sun", "moon", GROUND, mu=1.0), "cannot attract 'moon'"),
        (lambda: PointGravity("sun", MOON, MOON, mu=1.0), "to itself"),
        (lambda: PointGravity("sun", MOON, (0, 0), mu=1.0), "has centre (0, 0)"),
        (lambda: PointGravity("sun", MOON, (0, 0, 0), mu=1.0), "in no model yet"),
    ],
)
def test_errors_name_the_element(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_law(bench):
    b = bench([PointGravity("sun", MOON, BOX, mu=5.0)])
    b[s.MARKER_R][:] = (1, 0, 0), (1, 0, 4)
    force = 5.0 * 2.0 / 16.0
    assert b.forces().tolist() == [[0, 0, force, 0, 0, 0], [0, 0, -force, 0, 0, 0]]
    assert b.energies() == (-5.0 * 2.0 / 4.0, 0.0)


@pytest.mark.jit_off
def test_derivatives_and_energy(bench):
    b = bench([PointGravity("sun", MOON, GROUND, mu=5.0), PointGravity("earth", BOX, MOON, mu=2.0)])
    b.check_derivatives()
    b.check_energy()


@pytest.mark.jit_off
def test_a_body_at_the_centre_is_reported(bench):
    b = bench([PointGravity("sun", MOON, GROUND, mu=5.0)])
    b[s.MARKER_R][:] = 1.0
    assert (b.run("forces"), b.run("force_derivatives"), b.run("energies")) == (1, 1, 1)
    assert "body 'moon' is at the centre at t = 0.5" in b.explain(0, "forces", 0.5)


def wave(t):
    return 0.0, np.cos(t), -9.81


def test_uniform_gravity_that_changes():
    """y'' = cos t from rest: y = 1 - cos t, whatever the mass."""
    model = ix.Model("shaken", gravity=(0, 0, 0))
    bodies = [model.add(PointMass("ball", 0.7)), model.add(RigidBody.sphere("egg", 0.1, mass=3.0))]
    for weight in UniformGravity.field("shaker", bodies, wave):
        model.add(weight)
    assert pickle.loads(pickle.dumps(model))["shaker egg"].vector(0.0) == (0.0, 3.0, pytest.approx(-3.0 * 9.81))
    result = ix.simulate(model, (0.0, 2.0), method="dop853", rtol=1e-9, t_eval=0.5)
    for body in bodies:
        expected = np.stack([0 * result.t, 1 - np.cos(result.t), -0.5 * 9.81 * result.t**2], 1)
        assert np.allclose(result[body.name].position, expected, rtol=0, atol=1e-8)  # the method's tolerance
    assert np.ptp(result.energy.balance) <= 1e-6 * np.abs(result.energy.work).max()  # quadrature of the power


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UniformGravity("lift", GROUND, (0, 0, 1)), "UniformGravity 'lift' cannot attract Ground('ground')"),
        (lambda: UniformGravity("lift", MOON, (0, 0)), "UniformGravity 'lift' has acceleration (0, 0)"),
        (lambda: UniformGravity("", MOON, (0, 0, 1)), "UniformGravity has the name ''"),
        (lambda: UniformGravity("lift", MOON, lambda t: 3.0).vector(0.0), "'lift': its function of t returned 3.0"),
    ],
)
def test_errors_name_the_uniform_gravity(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def test_a_model_with_a_function_for_gravity_says_what_to_use():
    with pytest.raises(ModelError, match=r"Model 'm' has a function for gravity\. .*UniformGravity\.field"):
        ix.Model("m", gravity=wave)


def test_ellipse():
    """Kepler: perihelion 1, aphelion 3, period 2 pi sqrt(a^3 / mu); half of it leads from one to the other."""
    mu, a = 2.0, 2.0
    model = ix.Model("orbit", gravity=(0, 0, 0))
    speed = np.sqrt(mu * (2.0 / 1.0 - 1.0 / a))
    moon = model.add(PointMass("moon", 0.7, position=(1, 0, 0), velocity=(0, speed, 0)))
    model.add(PointGravity("sun", moon, (0, 0, 0), mu=mu))
    period = 2 * np.pi * np.sqrt(a**3 / mu)
    result = ix.simulate(model, (0.0, period), method="dop853", rtol=1e-11, atol=1e-12, t_eval=[0.5 * period, period])
    assert result.success
    # the method's tolerance, magnified along the orbit
    assert np.allclose(result["moon"].position, [(-3, 0, 0), (1, 0, 0)], rtol=0, atol=1e-8)
    assert np.ptp(result.energy.total) <= 1e-9


def test_two_bodies_circle_their_common_centre():
    """mu is that of the other body, so the heavier one moves as much less."""
    G, masses, distance = 1.0, (3.0, 1.0), 2.0
    rate = np.sqrt(G * sum(masses) / distance**3)
    model = ix.Model("pair", gravity=(0, 0, 0))
    radii = (-distance * masses[1] / sum(masses), distance * masses[0] / sum(masses))
    sun, moon = (
        model.add(PointMass(name, m, position=(r, 0, 0), velocity=(0, r * rate, 0)))
        for name, m, r in zip(("sun", "moon"), masses, radii, strict=True)
    )
    model.add(PointGravity("pull", moon, sun, mu=G * masses[0]))
    result = ix.simulate(model, (0.0, 2 * np.pi / rate), method="dop853", rtol=1e-10, atol=1e-11, t_eval=0.5)
    for name, radius in zip(("sun", "moon"), radii, strict=True):
        circle = radius * np.stack([np.cos(rate * result.t), np.sin(rate * result.t), 0 * result.t], 1)
        assert np.allclose(result[name].position, circle, rtol=0, atol=1e-7)  # the method's tolerance, magnified


@pytest.mark.parametrize("kind", ["AncfBeam", "AncfBeam3D", "AncfCable"])
def test_beams_feel_uniform_gravity_everywhere(kind):
    """It pulled at the section in the middle: a cable that falls freely bent, 58 mm of 0.65 m, without a word."""
    beam = {"elements": 4, "young": 1e7, "density": 1000.0}
    if kind == "AncfBeam":
        beam |= {"height": 0.02, "width": 0.02, "poisson": 0.3, "law": "elastic-line"}
    elif kind == "AncfBeam3D":
        beam |= {"radius": 0.01, "poisson": 0.3}
    else:
        beam |= {"radius": 0.01}

    def model(gravity, hinge):
        made = ix.Model("x", gravity=(0, -5.0, 0) if gravity == "of the model" else (0, 0, 0))
        body = made.add(getattr(ix, kind)("line", (0, 0), (1, 0), **beam))
        if gravity != "of the model":
            made.add(ix.UniformGravity("g", body, (0, -5.0, 0) if gravity == "constant" else lambda t: (0, -5.0, 0)))
        if hinge:
            joint = ix.Revolute if kind == "AncfBeam" else ix.Spherical
            made.add(joint("pin", made.ground, body, at=(0, 0, 0), **({"axis": (0, 0, 1)} if hinge == "z" else {})))
        return made

    falls = ix.simulate(model("constant", ""), (0, 0.5), "hht-i3", rtol=1e-5)
    assert falls["line"].points([0.0, 0.5, 1.0])[-1, :, 1] == pytest.approx(-0.625, rel=1e-6)  # uniformly accelerated
    assert falls["g"].force[-1] == pytest.approx((0, -5.0 * 1000.0 * area(kind), 0))
    hinge = "z" if kind == "AncfBeam" else "ball"
    runs = [ix.simulate(model(x, hinge), (0, 0.2), "hht-i3", rtol=1e-5) for x in ("of the model", "constant", "f")]
    for run in runs[1:]:  # the same forces on all nodes, so the same steps
        assert run.q[-1] == pytest.approx(runs[0].q[-1], abs=1e-9)
        assert run["line"].moment([0.0, 0.3, 0.8]) == pytest.approx(runs[0]["line"].moment([0.0, 0.3, 0.8]), abs=1e-6)


def area(kind):
    """Of the sections above."""
    return 0.02**2 if kind == "AncfBeam" else np.pi * 0.01**2


def test_a_point_does_not_attract_a_beam():
    model = ix.Model("x")
    rope = model.add(ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.01, elements=2, young=1e7, density=1e3))
    with pytest.raises(
        ix.ModelError, match=r"PointGravity 'sun' cannot attract AncfCable 'rope': it would pull at one"
    ):
        ix.PointGravity("sun", rope, (0, 0, 9.0), mu=1.0)


@pytest.mark.parametrize("how", ["changes", "attributes"])
def test_weights_follow_changed_masses(how):
    """They were those of the masses when the gravity was made: bodies with twice the mass fell half as fast, unseen."""
    model = ix.Model("x", gravity=(0, 0, 0))
    point, box = model.add(PointMass("point", 1.0), PointMass("far", 1.0, position=(1, 0, 0)))
    rope = ix.AncfCable("rope", (0, 9, 0), (1, 9, 0), radius=0.01, elements=2, young=1e8, density=1e3)
    turning = model.add(RigidBody("turning", 1.0, (1, 1, 1), position=(3, 0, 0)), rope)[0]
    model.add(ix.UniformGravity("constant", point, (0, 0, -5.0)), ix.UniformGravity("along", rope, (0, 0, -5.0)))
    model.add(ix.UniformGravity("in time", turning, lambda t: (0, 0, -5.0)))
    model.add(PointGravity("towards", box, (1, 0, -1e6), mu=5e12))
    changes = {"point.mass": 2.0, "far.mass": 3.0, "turning.mass": 4.0, "rope.density": 2e3}
    if how == "changes":
        prepared = ix.prepare(model, "dop853", rtol=1e-6)
        runs = [prepared.run((0, 1), changes=changes), prepared.run((0, 1))]
    else:
        for name, value in changes.items():
            setattr(model[name.split(".")[0]], name.split(".")[1], value)
        runs = [ix.simulate(model, (0, 1), "dop853", rtol=1e-6)]
    for run in runs:
        for name in ("point", "far", "turning", "rope"):
            assert run[name].position[-1, 2] == pytest.approx(-2.5, rel=2e-6)  # the pull of the point grows by 2e-6
