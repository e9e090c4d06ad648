"""Springs between points: words, law, derivatives, energy."""

import numpy as np
import pytest

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.spring_damper import SpringDamper

GROUND = Ground()
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0, position=(0, 0, -2), orientation=(0.8, 0.6, 0, 0))


def spring(**settings):
    return SpringDamper("strut", GROUND, BOX, points=((0, 0, 0), (0, 0, -2)), **settings)


def test_short_form_places_markers_at_the_points():
    strut = SpringDamper("strut", GROUND, BOX, points=((1, 2, 3), (0.2, 0.1, -2)))
    assert [marker.body for marker in strut.markers] == [GROUND, BOX]
    points = [marker.pose()[0] for marker in strut.markers]
    assert np.allclose(points, [(1, 2, 3), (0.2, 0.1, -2)], atol=1e-15)  # rounding


def test_length_defaults_to_the_initial_distance():
    assert spring().length == pytest.approx(2.0, rel=1e-15)
    assert spring(length=0).length == 0.0
    markers = (GROUND.marker((0, 0, 1)), BOX.marker())
    assert SpringDamper("strut", *markers).length == pytest.approx(3.0, rel=1e-15)


def test_what_the_system_asks():
    assert spring().element == "force"
    assert spring().kind == "index3.forces.spring_damper"
    assert spring().conservative
    assert not spring().damped
    damped = spring(damping=-1.0)
    assert damped.damped
    assert not damped.conservative
    assert repr(damped) == "SpringDamper('strut', 'ground', 'box')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: spring(stiffness=float("nan")), "SpringDamper 'strut' has stiffness nan"),
        (lambda: spring(damping="much"), "SpringDamper 'strut' has damping 'much'"),
        (lambda: spring(force=float("inf")), "SpringDamper 'strut' has force inf"),
        (lambda: spring(length=-1.0), "SpringDamper 'strut' has length -1.0. Give a free length of at least 0"),
        (lambda: SpringDamper("", GROUND, BOX), "SpringDamper has the name ''"),
        (lambda: SpringDamper("strut", GROUND, BOX), "joins two bodies without points"),
        (lambda: SpringDamper("strut", GROUND, BOX, points=(1, 2, 3)), "Give two: points="),
        (lambda: SpringDamper("strut", GROUND, BOX, points=5), "Give two: points="),
        (lambda: SpringDamper("strut", GROUND, BOX.marker()), "mixes a body and a marker"),
        (lambda: SpringDamper("strut", BOX, BOX, points=((0, 0, 0), (1, 0, 0))), "joins body 'box' to itself"),
        (lambda: SpringDamper("strut", GROUND, "box", points=((0, 0, 0), (1, 0, 0))), "cannot join 'box'"),
        (lambda: SpringDamper("strut", GROUND.marker(), BOX.marker(), points=(0, 0)), "also points"),
        (
            lambda: SpringDamper("strut", GROUND, BOX, points=((1, 1, 1), (1, 1, 1))),
            "starts with both ends at one point, so its free length is not known. Give length=",
        ),
    ],
)
def test_errors_name_the_spring(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_law(bench):
    """One spring by hand: extended by 0.5 m, growing by 2 m/s."""
    b = bench([spring(stiffness=10.0, damping=3.0, length=1.5, force=0.25)])
    b[s.MARKER_R][:] = (0, 0, 0), (0, 0, -2)
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][1, 2], b[s.MARKER_V][1, 0] = -2.0, 7.0
    tension = 10.0 * 0.5 + 3.0 * 2.0 + 0.25
    assert b.forces().tolist() == [[0, 0, -tension, 0, 0, 0], [0, 0, tension, 0, 0, 0]]
    assert b.energies() == (10.0 * 0.5**2 / 2 + 0.25 * 0.5, -3.0 * 2.0**2)


@pytest.mark.jit_off
def test_derivatives_and_energy(bench):
    b = bench(
        [
            spring(stiffness=10.0, damping=3.0, length=1.5, force=0.25),
            spring(stiffness=2.0, length=3.0),
            spring(damping=1.0),
        ]
    )
    b.check_derivatives()
    b.check_energy()


def test_negative_stiffness_is_refused_wherever_it_comes_from():
    """By the constructor, an attribute, changes of a model and of a prepared simulation."""
    words = r"SpringDamper 'strut' has stiffness -5.0. Give at least 0"
    with pytest.raises(ix.ModelError, match=words):
        spring(stiffness=-5.0)
    model = ix.Model("strut")
    bob = model.add(ix.PointMass("bob", 1.0, position=(0, 0, -1)))
    model.add(ix.SpringDamper("strut", model.ground, bob, points=((0, 0, 0), (0, 0, -1)), stiffness=100.0))
    with pytest.raises(ix.ModelError, match=words):
        model["strut"].stiffness = -5.0
    with pytest.raises(ix.ModelError, match=words):
        ix.prepare(model, "dopri5").run((0.0, 0.1), changes={"strut.stiffness": -5.0})
    assert model["strut"].stiffness == 100.0
    curve = ix.Curve([-1, 1], [5, -5])  # what the message proposes
    assert (curve(2.0), curve(-3.0)) == (-10.0, 15.0)


@pytest.mark.jit_off
def test_no_damper_no_damping_matrix(bench):
    _, D = bench([spring(stiffness=10.0)]).matrices()
    assert not D.any()


@pytest.mark.jit_off
def test_ends_at_one_point_are_reported(bench):
    b = bench([spring(stiffness=1.0), spring(stiffness=1.0)])
    b[s.MARKER_R][2:] = 0.5
    assert b.run("forces") == 2
    assert b.run("force_derivatives") == 2
    text = b.explain(1, "forces", 0.25)
    assert text.startswith("SpringDamper 'strut' has both ends at one point at t = 0.25")


@pytest.mark.jit_off
def test_ends_at_one_point_without_free_length(bench):
    """The force k d + c d' at d = 0: -c d' on the second end, and its derivatives."""
    b = bench([spring(stiffness=10.0, damping=3.0, length=0.0)])
    b[s.MARKER_R][:] = 0.5
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][1, :3] = 1.0, -2.0, 2.0
    assert b.forces()[1, :3] == pytest.approx([-3.0, 6.0, -6.0], rel=1e-15)  # rounding of a unit vector
    assert b.energies() == (0.0, pytest.approx(-27.0, rel=1e-15))
    K, D = b.matrices()
    assert K[6:9, 6:9].tolist() == (10.0 * np.eye(3)).tolist()
    assert D[6:9, :3].tolist() == (-3.0 * np.eye(3)).tolist()


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("method", ["auto", "radau5"])
def test_a_mass_dropped_from_the_point_of_its_spring(method, damping):
    """As in the tests of Project Chrono (utest_JOINT_tsda, case 1): z'' = -10 z - c z' - g from rest at zero."""
    model = ix.Model("drop", gravity=(0, 0, -9.8))
    body = model.add(ix.RigidBody("body", 1.0, (0.04, 0.1, 0.1)))
    ends = ((0, 0, 0), (0, 0, 0))
    model.add(ix.SpringDamper("strut", model.ground, body, points=ends, stiffness=10.0, damping=damping, length=0.0))
    result = ix.simulate(model, (0.0, 3.0), method, rtol=1e-8, t_eval=0.1)
    w, a = np.sqrt(10.0 - damping**2 / 4), damping / 2
    z = -0.98 * (1.0 - np.exp(-a * result.t) * (np.cos(w * result.t) + a / w * np.sin(w * result.t)))
    assert result["body"].position[:, 2] == pytest.approx(z, abs=1e-7)  # 2e-8 seen
    three = ix.linearize(model, initial=ix.static(model)).frequencies[-3:]
    assert three == pytest.approx(np.sqrt([10.0] * 3), rel=1e-9)  # of any direction; damped ones too


def test_point_masses_take_springs():
    ball = PointMass("ball", 1.0, position=(0, 0, -1))
    assert SpringDamper("strut", GROUND, ball, points=((0, 0, 0), (0, 0, -1)), stiffness=5.0).length == 1.0
