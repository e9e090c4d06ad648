"""Words of contact: shapes, laws, what is refused and by which name."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from index3.bodies.ground import Ground
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.contact import Contact
from index3.forces.contact_set import ContactSet
from index3.forces.contact_settings import hunt_crossley_damping
from index3.forces.shapes import Box, Cylinder, Plane, Sphere
from index3.model.model import Model

GROUND = Ground()
BALL = RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 1))
OTHER = RigidBody.sphere("other", 0.1, mass=1.0, position=(1, 0, 1))


def contact(*shapes, **law):
    return Contact("touch", BALL, GROUND, shapes or (Sphere(0.1), Plane()), **{"stiffness": 1e4, **law})


def whole(*shapes, **law):
    return ContactSet("heap", list(shapes), **{"stiffness": 1e4, **law})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contact(stiffness=-1.0), "Contact 'touch' has stiffness -1.0. Give a positive number"),
        (lambda: contact(stiffness="hard"), "Contact 'touch' has stiffness 'hard'"),
        (lambda: Contact("touch", BALL, GROUND, (Sphere(1), Plane())), "lacks stiffness"),
        (lambda: contact(exponent=0.5), "has exponent 0.5. Give at least 1"),
        (lambda: contact(damping=-1.0), "has damping -1.0. Give at least 0"),
        (lambda: contact(damping=1.0, restitution=0.5), "damping and restitution"),
        (lambda: contact(restitution=0.5), "Give the impact_velocity"),
        (lambda: contact(impact_velocity=1.0), "impact_velocity but no restitution"),
        (lambda: contact(restitution=1.5, impact_velocity=1.0), "has restitution 1.5. Give one above 0 and up to 1"),
        (lambda: contact(restitution=0.5, impact_velocity=1.0, onset=0.1), "leave onset out"),
        (lambda: contact(onset=0.0), "has onset 0.0. Give a positive number"),
        (lambda: contact(friction=float("nan")), "has friction nan"),
        (lambda: contact(friction=0.3, static_friction=0.2), "static_friction 0.2 below friction 0.3"),
        (lambda: contact(stick_velocity=0.0), "has stick_velocity 0.0"),
        (lambda: contact(friktion=0.3), "has no setting friktion"),
        (lambda: contact(Box((1, 1, 1)), Box((1, 1, 1))), "has no contact between Box(size=(1.0, 1.0, 1.0)) and Box"),
        (lambda: contact(Plane(), Plane()), "no contact between Plane() and Plane()"),
        (lambda: contact(Cylinder(1, 1, hollow=True), Plane()), "no contact between Cylinder"),
        (lambda: contact(Sphere(1), Cylinder(0.5, 1, hollow=True)), "as large as the ring around it"),
        (lambda: contact(Sphere(1)), "Give two, such as"),
        (lambda: contact("ball", "floor"), "Give two, such as"),
        (lambda: Contact("touch", BALL, BALL, (Sphere(1), Plane()), stiffness=1.0), "joins body 'ball' to itself"),
        (lambda: Sphere(-1.0), "Sphere has radius -1.0"),
        (lambda: Box((1, 2)), "Box has size (1, 2). Give 3 numbers"),
        (lambda: Box((1, 2, 0)), "Box has size 0.0. Give a positive number"),
        (lambda: Cylinder(1, float("inf")), "Cylinder has length inf"),
        (lambda: whole((BALL, Sphere(1))), "ContactSet 'heap' has no two shapes that can touch"),
        (lambda: whole((BALL, Sphere(1)), (OTHER, Sphere(1)), skip=[(BALL, OTHER)]), "no two shapes that can touch"),
        (lambda: whole(BALL), "has the entry"),
        (lambda: ContactSet("heap", 5, stiffness=1.0), "Give a list of (marker or body, shape)"),
        (lambda: whole((BALL, Sphere(1)), (OTHER, Sphere(1)), skip=[BALL]), "Give pairs of bodies"),
    ],
)
def test_errors_name_the_contact(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def test_shapes_may_come_in_either_order():
    given = Contact("touch", GROUND, BALL, (Plane(), Sphere(0.1)), stiffness=1.0)
    assert [marker.body.name for marker in given.markers] == ["ball", "ground"]
    assert given.shapes == (Sphere(0.1), Plane())


def test_words_travel():
    again = pickle.loads(pickle.dumps(contact(friction=0.3)))
    assert again.law == contact(friction=0.3).law
    model = Model("heap")
    balls = [model.add(RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=(k, 0, 1))) for k in range(2)]
    model.add(ContactSet("heap", [(balls[0], Sphere(0.1)), (balls[1], Sphere(0.1))], stiffness=1.0))
    assert model.copy()["heap"].pairs[0].markers[0].body is not balls[0]


def test_sets_leave_out_what_cannot_touch():
    shapes = [(GROUND, Plane()), (GROUND, Plane()), (BALL, Sphere(1)), (BALL, Box((1, 1, 1))), (OTHER, Box((1, 1, 1)))]
    with pytest.warns(UserWarning, match=r"ContactSet 'heap': bodies 'ball' and 'other' pass through"):
        pairs = whole(*shapes).pairs
    names = {(part.markers[0].body.name, type(part.shapes[0]).__name__) for part in pairs}
    assert names == {("ball", "Sphere"), ("ball", "Box"), ("other", "Box")}
    assert len(pairs) == 7  # three shapes on two planes, a sphere and a box; no two boxes


def test_pairs_that_are_skipped_need_no_warning():
    shapes = [(GROUND, Plane()), (BALL, Box((1, 1, 1))), (OTHER, Box((1, 1, 1)))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(whole(*shapes, skip=[(BALL, OTHER)]).pairs) == 2


@pytest.mark.parametrize("e", [0.95, 0.7, 0.3])
def test_damping_gives_the_restitution(e):
    """Against the equation of motion of the impact, integrated."""
    k, n, m, v = 1e5, 1.5, 2.0, 1.5
    b = hunt_crossley_damping(e, v)

    def leaving(t, y):
        return y[0]

    leaving.terminal, leaving.direction = True, -1
    solution = solve_ivp(
        lambda t, y: (y[1], -k / m * max(y[0], 0.0) ** n * (1.0 + b * y[1])),
        (0.0, 1.0), (1e-12, v), rtol=1e-10, atol=1e-13, events=leaving,
    )  # fmt: skip
    assert -solution.y[1, -1] / v == pytest.approx(e, rel=1e-6)  # a hundred times the tolerance of the integration


@pytest.mark.jit_off
def test_law(bench):
    """A ball in a plane by hand: 0.02 m deep, coming in at 0.5 m/s, sliding at 2 m/s along x."""
    given = {"stiffness": 1e4, "exponent": 1.5, "damping": 0.4, "friction": 0.3, "stick_velocity": 0.01}
    b = bench([contact(**given)])
    b[s.MARKER_R][:] = (0, 0, 0.08), (0, 0, 0)
    b[s.MARKER_A][:] = np.eye(3).ravel()
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][0, :3] = 2.0, 0.0, -0.5
    normal = 1e4 * 0.02**1.5 * (1.0 + 0.4 * 0.5)
    arm = -(0.1 - 0.01)  # to half-way between the surfaces
    expected = [-0.3 * normal, 0, normal, 0, arm * -0.3 * normal, 0]
    assert np.allclose(b.forces()[0], expected, rtol=1e-13, atol=1e-12)  # rounding
    opposite = [0.3 * normal, 0, -normal, 0, -0.01 * 0.3 * normal, 0]
    assert np.allclose(b.forces()[1], opposite, rtol=1e-12, atol=1e-12)
    b[s.MARKER_V][0, :3] = 0.0, 0.0, 3.0  # faster than the spring: no pull
    assert np.abs(b.forces()).max() == 0.0
    b[s.MARKER_R][0, 2] = 0.1001
    assert np.abs(b.forces()).max() == 0.0


@pytest.mark.jit_off
def test_derivatives_and_energy_near_the_bends(bench):
    """Just below the stick velocity and above it, in the bend of the normal force, inside the onset, a tipping disc."""
    laws = (
        {"friction": 0.3, "static_friction": 0.5, "stick_velocity": 2.5, "decay_velocity": 0.7},
        {"damping": 0.3},
        {"damping": 40.0, "onset": 2.0, "exponent": 1.0},
    )
    for law in laws:
        for shapes in ((Sphere(3.0), Plane()), (Cylinder(4.0, 0.5), Plane()), (Sphere(3.0), Sphere(1.0))):
            for seed in range(5):
                b = bench([contact(*shapes, **{"stiffness": 10.0, **law})], seed=seed)
                if np.abs(b.forces()).max() > 0.0:
                    b.check_derivatives()
                    b.check_energy()
    b = bench([contact(Cylinder(4.0, 0.5), Plane(), stiffness=10.0, friction=0.2)])
    b[s.MARKER_R][:] = (0, 0, 0.2), (0, 0, 0)
    tip = 0.01  # inside EDGE
    turn = np.array([[1, 0, 0], [0, np.cos(tip), -np.sin(tip)], [0, np.sin(tip), np.cos(tip)]])
    b[s.MARKER_A][:] = turn.ravel(), np.eye(3).ravel()
    b.check_derivatives()
    b.check_energy()


def test_apart_pairs_are_switched_off(bench):
    b = bench([contact(), contact()])
    b[s.MARKER_A][:] = np.eye(3).ravel()
    b[s.MARKER_R][:] = (0, 0, 0.05), (0, 0, 0), (0, 0, 0.2), (0, 0, 0)
    b.matrices()
    assert b[s.GROUP_APART].tolist() == [0, 1]


def test_centres_at_one_point_are_named(bench):
    b = bench([contact(Sphere(1.0), Sphere(1.0))])
    b[s.MARKER_R][:] = 0.0
    assert b.run("forces") == 1
    assert "Contact 'touch' has both centres at one point at t = 0.5" in contact().explain("forces", 0.5)
