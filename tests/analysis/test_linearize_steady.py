"""Small motions beside steady motions: spinning and precessing bodies, in axes at rest and turning."""

import numpy as np
import pytest

import index3 as ix

G = 9.81


@pytest.mark.parametrize("kind", [ix.RigidBody, ix.EulerAngleBody, ix.NaturalBody])
@pytest.mark.parametrize("spin", [0, 1, 2])
def test_a_free_body_spins_steadily_about_its_smallest_and_largest_axis_only(kind, spin):
    inertia, w = np.array((1.0, 2.0, 2.5)), 4.0
    model = ix.Model("spinning", gravity=(0, 0, 0))
    model.add(kind("body", 1.0, inertia, angular_velocity=w * np.eye(3)[spin]))
    linear = ix.linearize(model, frame="body")
    a, b = (inertia[(spin + k) % 3] for k in (1, 2))
    rate = w * np.emath.sqrt((inertia[spin] - a) * (b - inertia[spin]) / (a * b))  # Euler's equations
    assert np.abs(linear.eigenvalues - rate).min() < 1e-9  # 4e-15 seen
    # the turn of the axes themselves is a triple eigenvalue at i w, which rounding spreads by 3e-8
    assert bool(linear.eigenvalues.real.max() > 1e-6) is (spin == 1)
    assert linear.notes == ["the mechanism moves at this point, steadily as these axes see it"]


@pytest.mark.parametrize("spin", [20.0, 120.0])
def test_a_sleeping_top_needs_spin(spin):
    across, along, mass, length = 0.1, 0.05, 1.0, 0.5
    model = ix.Model("top", gravity=(0, 0, -G))
    body = model.add(
        ix.RigidBody("top", mass, (across, across, along), position=(0, 0, length), angular_velocity=(0, 0, spin))
    )
    model.add(ix.Spherical("tip", model.ground, body, at=(0, 0, 0)))
    linear = ix.linearize(model)
    about_tip = across + mass * length**2
    expected = np.roots([about_tip, -1j * along * spin, -mass * G * length])
    for value in expected:  # one of each conjugate pair is listed
        assert np.abs(linear.eigenvalues - value).min() < 1e-9
    assert linear.stable is bool((along * spin) ** 2 > 4.0 * about_tip * mass * G * length)


@pytest.mark.parametrize("axes", ["vector", "body"])
def test_a_conical_pendulum_is_steady_in_axes_that_go_round_with_it(axes):
    """Small motions about the circle at the angle theta: Omega sqrt(1 + 3 cos^2 theta)."""
    theta, length = 0.5, 1.2
    rate = np.sqrt(G / (length * np.cos(theta)))
    at = length * np.array((np.sin(theta), 0, -np.cos(theta)))
    model = ix.Model("conical", gravity=(0, 0, -G))
    arm = model.add(ix.RigidBody("arm", 1e-9, (1e-9,) * 3, angular_velocity=(0, 0, rate)))
    model.add(ix.Revolute("shaft", model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    bob = model.add(ix.PointMass("bob", 1.0, position=at, velocity=(0, rate * at[0], 0)))
    model.add(ix.Distance("string", model.ground, bob, points=((0, 0, 0), at)))
    linear = ix.linearize(model, frame="arm" if axes == "body" else (0.0, 0.0, rate))
    assert linear.eigenvalues[-1] == pytest.approx(1j * rate * np.sqrt(1.0 + 3.0 * np.cos(theta) ** 2), rel=1e-9)
    assert "steadily" in linear.notes[0]
    assert "not an equilibrium" in ix.linearize(model).notes[0]  # ground does not see a steady motion


@pytest.mark.parametrize("speed", [0.8, 3.0])
def test_a_rolling_disc_stands_up_if_it_is_fast(speed):
    """Lean: (I1 + m R^2) x'' + (I3 (I3 + m R^2) W^2 / I1 - m g R) x = 0; all else is neutral, of multiplicity six."""
    mass, R = 1.0, 0.5
    across, along, rate = mass * R * R / 4, mass * R * R / 2, speed / R
    model = ix.Model("disc", gravity=(0, 0, -G))
    disc = model.add(
        ix.RigidBody(
            "disc",
            mass,
            (across, along, across),
            position=(0, 0, R),
            velocity=(speed, 0, 0),
            angular_velocity=(0, rate, 0),
        )
    )
    model.add(ix.RollingDisc("rim", model.ground, disc, radius=R, at=(0, 0, R), axis=(0, 1, 0), normal=(0, 0, 1)))
    linear = ix.linearize(model)
    square = (along * (along + mass * R * R) * rate**2 / across - mass * G * R) / (across + mass * R * R)
    values = [1j * np.sqrt(square)] if square > 0.0 else [-np.sqrt(-square), np.sqrt(-square)]
    assert linear.frequencies == pytest.approx([0.0] * 6 + [np.sqrt(abs(square))] * len(values), abs=1e-9)
    assert max(np.abs(linear.eigenvalues - value).min() for value in values) < 1e-9
    assert linear.stable is bool(square > 0.0)


def test_what_is_undamped_and_unstable_has_a_mode_that_grows_and_one_that_decays():
    model = ix.Model("upright", gravity=(0, -G, 0))
    rod = model.add(ix.PlanarBody.rod("rod", (0, 0), (0, 1), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    linear = ix.linearize(model)
    assert np.sort(linear.eigenvalues.real) == pytest.approx(np.sqrt(1.5 * G) * np.array((-1.0, 1.0)), rel=1e-9)
    assert sorted(linear.damping_ratios.tolist()) == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("bab", "Did you mean 'bob'"),
        ("string", "frame = 'string' is not a body"),
        ("brain", "frame = 'brain' is not a body"),
        ((1.0, 2.0), "three finite numbers"),
        ((1.0, 2.0, np.nan), "three finite numbers"),
        (object(), "three finite numbers"),
    ],
)
def test_bad_frames_are_errors(frame, words):
    model = ix.Model("bob")
    bob = model.add(ix.PointMass("bob", 1.0, position=(0, 0, -1)))
    model.add(ix.Distance("string", model.ground, bob, points=((0, 0, 0), (0, 0, -1))))
    model.add(ix.States("brain", [0.0]))
    with pytest.raises(ix.ModelError, match=words):
        ix.linearize(model, frame=frame)


@pytest.mark.parametrize("kind", [ix.RigidBody, ix.EulerAngleBody, ix.NaturalBody, ix.PlanarBody])
def test_two_links_that_go_round_sway_about_the_straight_line(kind):
    """h w^2 x + (M22 - M12^2 / M11) x'' = 0 for the angle x between links of 1 m, stretched by their turning."""
    w, mass, inertia = 3.0, 1.0, 0.25
    model = ix.Model("links", gravity=(0, 0, 0))
    links = []
    for k, x in enumerate((0.5, 1.5)):
        if kind is ix.PlanarBody:
            link = kind(f"link{k}", mass, inertia, position=(x, 0), velocity=(0, x * w), spin=w)
        else:
            moving = {"position": (x, 0, 0), "velocity": (0, x * w, 0), "angular_velocity": (0, 0, w)}
            link = kind(f"link{k}", mass, (0.1, 0.2, inertia), **moving)
        links.append(model.add(link))
    model.add(ix.Revolute("pin", model.ground, links[0], at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Revolute("joint", *links, at=(1, 0, 0), axis=(0, 0, 1)))
    linear = ix.linearize(model, frame="link0", outputs=["joint.angle"])
    outer, both = inertia + mass * 0.25, inertia + mass * 0.75
    whole = 2 * inertia + mass * (0.25 + 2.25)
    assert linear.frequencies == pytest.approx([0.0, w * np.sqrt(0.5 * mass / (outer - both**2 / whole))], abs=1e-8)
    assert "steadily" in linear.notes[0]


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_two_links_of_one_linkage_go_round(planar):
    """As above; the links are parts of one body that share a point, and in space the axis of the joint."""
    w, mass, inertia = 3.0, 1.0, 0.25
    model = ix.Model("links", gravity=(0, 0, 0))
    links = ix.NaturalLinkage("links", planar=planar)
    A = links.fixed("A", (0, 0) if planar else (0, 0, 0))
    B, C = (links.point(name, (x, 0, 0), velocity=(0, x * w, 0)) for name, x in (("B", 1), ("C", 2)))
    shared = [] if planar else [links.vector("z", (0, 0, 1))]
    for k, ends in enumerate(((A, B), (B, C))):
        across = [] if planar else [links.vector(f"y{k}", (0, 1, 0)), *shared]
        links.rigid(f"link{k}", [*ends, *across], mass=mass, inertia=inertia if planar else (0.1, 0.2, inertia))
    model.add(links)
    if not planar:
        model.add(ix.ParallelAxes("upright", model.ground.marker(), links["link0"].marker_at((0, 0, 0))))
    linear = ix.linearize(model, frame=links["link0"])
    outer, both = inertia + mass * 0.25, inertia + mass * 0.75
    whole = 2 * inertia + mass * (0.25 + 2.25)
    assert linear.frequencies == pytest.approx([0.0, w * np.sqrt(0.5 * mass / (outer - both**2 / whole))], abs=1e-8)
    assert "steadily" in linear.notes[0]
    assert ix.linearize(model, frame=(0, 0, w)).frequencies == pytest.approx(linear.frequencies, abs=1e-9)  # the same
    with pytest.raises(ix.ModelError, match="'links' is a linkage of several parts"):
        ix.linearize(model, frame="links")


def test_a_bar_of_a_linkage_has_no_axes_to_look_from():
    bars = ix.NaturalLinkage("bars")
    bars.rigid("bar", [bars.fixed("A", (0, 0, 0)), bars.point("B", (0, 0, -1))], mass=1.0)
    model = ix.Model("bars")
    model.add(bars)
    with pytest.raises(ix.ModelError, match="part 'bar' of NaturalLinkage 'bars' has no axes"):
        ix.linearize(model, frame=bars["bar"])


def test_modes_of_a_tube_that_spins_about_its_axis():
    """Axes that spin with it see every whirl, which goes round either way, by the rate of the spin slower or faster."""
    spin = 50.0
    steel = {"young": 2.1e11, "density": 7850.0}
    tube = ix.flexible.frame(
        {"A": (0, 0, 0), "B": (1, 0, 0)}, ["AB"], outer_diameter=0.03, wall=0.003, elements=4, **steel
    )
    model = ix.Model("tube", gravity=(0, 0, 0))
    body = model.add(tube.body("tube", interface=["A", "B"], modes=4, angular_velocity=(spin, 0, 0)))
    linear = ix.linearize(model, frame="tube")
    bending = 2 * np.pi * body.frequencies[:4]  # pairs, of 1111 and 3078 rad/s; gyroscopic couples of a tube: 1e-3
    for expected in (bending[0] - spin, bending[0] + spin, bending[2] - spin, bending[2] + spin):
        assert np.abs(linear.frequencies - expected).min() < 1e-6 * expected  # 1e-9 seen: shapes without rotation
    assert linear.notes == ["the mechanism moves at this point, steadily as these axes see it"]


@pytest.mark.parametrize("coordinates", ["nodal", "cholesky"])
def test_a_planar_beam_that_spins_unstretched_is_not_steady(coordinates):
    """Its points go round as a rigid body's do, but nothing pulls them inwards yet."""
    rubber = {"height": 0.02, "width": 0.02, "young": 2e7, "poisson": 0.3, "density": 7800.0, "law": "elastic-line"}
    settings = {"elements": 2, "coordinates": coordinates, **rubber}
    model, still = (ix.Model(name, gravity=(0, 0, 0)) for name in ("beam", "still"))
    model.add(ix.AncfBeam("beam", (-0.5, 0), (0.5, 0), spin=5.0, **settings))
    still.add(ix.AncfBeam("beam", (-0.5, 0), (0.5, 0), **settings))
    linear = ix.linearize(model, frame=(0, 0, 5.0))
    assert "not an equilibrium" in linear.notes[0]
    first = ix.linearize(still).frequencies[3]  # of bending, 6.55 rad/s, after the three of a rigid body
    # softened by the axes that turn; Coriolis forces couple it with stretching, of 1600 rad/s: 4e-4 seen
    assert linear.frequencies[0] == pytest.approx(np.sqrt(first**2 - 25.0), rel=1e-3)
