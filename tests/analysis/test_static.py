"""Equilibria against closed equations; stability, free directions, what cannot come to rest."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import fsolve
from small_models import G, Y, Z, four_bar, particle, pendulum, spatial_loop

import index3 as ix

CORNER = Path(__file__).parents[2] / "examples/gallery/plot_quarter_car.py"
LINKS, LENGTH, SPAN, MASS = 12, 0.25, 2.0, 0.3


def corners():
    """A chain between (0, 0) and (SPAN, 0) as it is hung up: two straight halves."""
    half = LINKS // 2
    down = np.sqrt((half * LENGTH) ** 2 - (SPAN / 2) ** 2)
    left = np.linspace((0.0, 0.0), (SPAN / 2, -down), half + 1)
    return np.vstack([left, np.linspace((SPAN / 2, -down), (SPAN, 0.0), half + 1)[1:]])


def rods(kind):
    """The chain as planar rods, or as spatial ones with redundant rows."""
    planar = kind == "planar"
    model = ix.Model("catenary", gravity=(0, -G, 0) if planar else (0, 0, -G))
    points, before = corners(), model.ground
    lift = (lambda p: (p[0], p[1], 0.0)) if planar else (lambda p: (p[0], 0.0, p[1]))
    for k, (a, b) in enumerate(pairwise(points)):
        if planar:
            link = model.add(ix.PlanarBody.rod(f"link{k}", a, b, mass=MASS))
        else:
            link = model.add(ix.RigidBody.rod(f"link{k}", lift(a), lift(b), mass=MASS))
        model.add(ix.Revolute(f"pin{k}", before, link, at=lift(a), axis=Z if planar else Y))
        before = link
    model.add(ix.Revolute("end", before, model.ground, at=lift(points[-1]), axis=Z if planar else Y))
    return model


def catenary():
    """Angles of uniform rods: tan(angle) = (mean of the vertical forces at its ends) / (horizontal force)."""

    def angles(unknown):
        across, up = unknown
        ends = up + MASS * G * np.arange(LINKS + 1)
        return np.arctan((ends[:-1] + ends[1:]) / (2.0 * across))

    def gap(unknown):
        return LENGTH * np.cos(angles(unknown)).sum() - SPAN, LENGTH * np.sin(angles(unknown)).sum()

    weight = LINKS * MASS * G
    found = fsolve(gap, (0.5 * weight, -0.5 * weight), xtol=1e-13)
    steps = LENGTH * np.column_stack([np.cos(angles(found)), np.sin(angles(found))])
    return np.vstack([(0.0, 0.0), np.cumsum(steps, axis=0)]), found


@pytest.mark.parametrize("kind", ["planar", "spatial"])
def test_hanging_chain_against_the_discrete_catenary(kind):
    model = rods(kind)
    found = ix.static(model)
    points, (across, up) = catenary()
    middles = 0.5 * (points[:-1] + points[1:])
    columns = [0, 1] if kind == "planar" else [0, 2]
    seen = np.array([found[f"link{k}"].position[columns] for k in range(LINKS)])
    assert seen == pytest.approx(middles, abs=1e-8)  # asked for; fsolve's own error is about 1e-12
    assert found.stable
    assert found.free == []
    assert found.residual <= 1e-11
    assert found["pin0"].force[columns] == pytest.approx((-across, -up), rel=1e-8)
    assert found["pin0"].unique == (kind == "planar")


def test_masses_on_a_string():
    """Equal masses on massless links of a stretched shape: H tan(angle_k) falls by m g from link to link."""
    model = ix.Model("string")
    before, at = model.ground, np.zeros(3)
    for k in range(4):
        point = np.array((0.5 * (k + 1), 0.1, -0.3 * (k + 1) if k < 2 else -0.6 + 0.3 * (k - 1)))
        bob = model.add(ix.PointMass(f"bob{k}", 0.4, position=point))
        model.add(ix.Distance(f"link{k}", before, bob, points=(at, point)))
        before, at = bob, point
    model.add(ix.Distance("last", before, model.ground, points=(at, (2.5, 0, 0.1))))
    found = ix.static(model)
    points = np.array([(0, 0, 0), *(found[f"bob{k}"].position for k in range(4)), (2.5, 0, 0.1)])
    slopes = np.diff(points[:, 2]) / np.diff(points[:, 0])
    assert np.diff(slopes) == pytest.approx(np.full(4, np.diff(slopes)[0]), rel=1e-9)
    assert points[:, 1] == pytest.approx(np.zeros(6), abs=1e-9)  # it hangs in a plane
    assert found.stable


@pytest.mark.jit_off
def test_pendulum_hangs_from_any_start():
    for angle in (0.1, 1.5, 3.0, -2.0):
        model = ix.Model("pendulum")
        rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (np.sin(angle), 0, -np.cos(angle)), mass=2.0))
        model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=Y))
        found = ix.static(model)
        assert found["rod"].position == pytest.approx((0, 0, -0.5), abs=1e-9)
        assert found.stable
        assert found["pin"].force == pytest.approx((0, 0, 2.0 * G), abs=1e-9)


def upright():
    model = ix.Model("upright")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (0, 0, 1), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=Y))
    return model


@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-3])
def test_balls_on_each_other_are_balanced_whatever_finds_it(gap):
    """Unstable, and beside it they fall for ever; Newton's iteration finds it only where they touch already."""
    model = ix.Model("stack", gravity=(0, 0, -9.81))
    for k in range(3):
        model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, 1.0 + k, position=(0, 0, 0.1 + gap + (0.2 + gap) * k)))
    below = [model.ground, *model.bodies.values()]
    for k in range(3):
        shapes = (ix.shapes.Sphere(0.1), ix.shapes.Sphere(0.1) if k else ix.shapes.Plane())
        model.add(ix.Contact(f"touch{k}", model[f"ball{k}"], below[k], shapes, stiffness=1e7))
    rest = ix.static(model)
    assert rest.stable is False
    assert "unstable, and no stable equilibrium was found near" in str(rest)
    assert [rest[f"touch{k}"].normal for k in range(3)] == pytest.approx([6 * 9.81, 5 * 9.81, 3 * 9.81], rel=1e-8)


def test_an_unstable_start_is_left_unless_newton_is_asked_for():
    assert ix.static(upright())["rod"].position == pytest.approx((0, 0, -0.5), abs=1e-9)
    found = ix.static(upright(), method="newton")
    assert found["rod"].position == pytest.approx((0, 0, 0.5), abs=1e-9)
    assert found.stable is False
    assert "UNSTABLE" in str(found)
    assert "start was an unstable equilibrium" in str(ix.static(upright()))


def between_springs(length):
    """A mass between two springs, above and below it."""
    model, bob = particle(gravity=(0, 0, -G))
    for k, point in enumerate(((0, 0, 1), (0, 0, -1))):
        ends = (point, (0, 0, 0))
        model.add(ix.SpringDamper(f"s{k}", model.ground, bob, points=ends, stiffness=500.0, damping=4.0, length=length))
    return model


def test_a_spring_mounted_mass_sinks_by_m_g_over_k():
    found = ix.static(between_springs(length=0.8))  # the springs pull, so they hold it across too
    assert found["bob"].position == pytest.approx((0, 0, -G / 1000.0), abs=1e-11)
    assert found.stable


def test_a_mass_between_pressed_springs_moves_aside():
    """In the middle the lower spring presses more than the upper pulls: only a position beside the line is stable."""
    assert not ix.static(between_springs(length=1.0), method="newton").stable
    found = ix.static(between_springs(length=1.0))
    assert found.stable
    assert np.hypot(*found["bob"].position[:2]) > 0.01


@pytest.mark.parametrize("kind", ["spring", "cable"])
def test_what_carries_nothing_rests_where_it_starts(kind):
    """All its forces are rounding, 6e-14 N of the spring and 1e-26 of the cable, and no iteration takes them out."""
    model = ix.Model("idle", gravity=(0, 0, 0))
    if kind == "spring":  # 0.4 - 0.1 is not 0.3 in binary
        body = model.add(ix.RigidBody("block", 1.0, (0.1, 0.1, 0.1), position=(0.1, 0, 0)))
        model.add(
            ix.SpringDamper("coil", model.ground, body, points=((0.4, 0, 0), (0.1, 0, 0)), stiffness=1e3, length=0.3)
        )
        model.add(ix.Bushing("mount", model.ground, body, at=(0.1, 0, 0), stiffness=(1e3,) * 3 + (10.0,) * 3))
    else:
        rope = ix.AncfCable("rope", (0, 0, 0), (1, 0, 0), radius=0.005, elements=8, young=2e11, density=7800.0)
        body = model.add(rope)
        model.add(ix.Fixed("wall", model.ground, body, at=(0, 0, 0)))
    rest = ix.static(model)
    assert rest.stable
    assert "nothing is loaded" in str(rest)
    assert rest.residual == 0.0
    assert rest.q == pytest.approx(ix.assemble(model).q, abs=1e-15)


@pytest.mark.parametrize("stiffness", [1e9, 1e10])
def test_what_stands_upright_falls_beside_a_very_stiff_spring(stiffness):
    """Its stiffness, -15 1/s^2, was none beside some 1e11 1/s^2: the upright pendulum was "stable" and free to turn."""
    model = ix.Model("upright")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (0, 0, 1), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    mass = model.add(ix.PointMass("mass", 0.1, position=(2, 0, 0)))
    model.add(ix.Bushing("mount", model.ground, mass, at=(2, 0, 0), stiffness=(stiffness,) * 3))
    upright = ix.static(model, method="newton")
    assert not upright.stable
    assert upright.free == []
    rest = ix.static(model)
    assert rest.stable
    assert rest["rod"].position[2] == pytest.approx(-0.5, abs=1e-6)


def test_relaxation_finds_the_same_as_newton():
    model = spatial_loop()
    one, two = (ix.static(model, method=method) for method in ("newton", "relaxation"))
    assert (one.method, two.method) == ("newton", "relaxation")
    if one.stable:
        assert two.q == pytest.approx(one.q, abs=1e-8)
    assert two.stable


def test_a_spring_that_snaps_through_is_found_by_relaxation():
    """Two stiff springs in a shallow roof under a load beyond the limit point: the equilibrium is far below."""
    model = ix.Model("roof", gravity=(0, 0, 0))
    top = model.add(ix.PointMass("top", 1.0, position=(0, 0, 0.2)))
    for k, side in enumerate((-1.0, 1.0)):
        model.add(ix.SpringDamper(f"s{k}", model.ground, top, points=((side, 0, 0), (0, 0, 0.2)), stiffness=1e4))
    model.add(ix.CoordinateConstraint("x", top, "x"))
    model.add(ix.CoordinateConstraint("y", top, "y"))
    model.add(ix.Force("load", top, (0, 0, -120.0)))
    found = ix.static(model)
    z = found["top"].position[2]
    free = np.hypot(1.0, 0.2)
    assert z < -0.2
    assert 2e4 * (1.0 - free / np.hypot(1.0, z)) * z == pytest.approx(-120.0, rel=1e-9)
    assert found.stable


def test_free_directions_are_held_and_named():
    model = pendulum()
    wheel = model.add(ix.RigidBody("wheel", 0.5, (1e-3, 2e-3, 1e-3), position=(1, 0, 0)))
    model.add(ix.Revolute("axle", model["rod"], wheel, at=(1, 0, 0), axis=Y))
    found = ix.static(model)
    assert found.stable
    assert found.free == ["the angle of Revolute 'axle'"]
    assert "held where it was: the angle of Revolute 'axle'" in str(found)
    assert found["wheel"].position == pytest.approx((0, 0, -1), abs=1e-9)


def test_what_falls_is_named():
    model, _ = particle(gravity=(0, 0, -G))
    with pytest.raises(ix.AssemblyError, match=r"no equilibrium .* PointMass 'bob' \(-9.81 along z\)"):
        ix.static(model)


def test_hold_keeps_bodies_coordinates_and_joints():
    model = ix.library.double_pendulum()
    joint = next(iter(model.joints))
    held = ix.static(model, hold=f"{joint}.angle")
    assert held[joint].angle == pytest.approx(0.0, abs=1e-12)
    assert abs(held[f"hold {joint} angle"].torque).max() > 0.0
    body = next(iter(model.bodies))
    still = ix.static(model, hold=[body])
    assert still.q[:3] == pytest.approx(model[body].q0, abs=1e-12)  # a planar body
    with pytest.raises(ix.ModelError, match="no body or joint 'nothing'"):
        ix.static(model, hold="nothing.x")


def test_motions_hold_at_their_time():
    model = ix.library.double_pendulum()
    joint = next(iter(model.joints.values()))
    model.add(ix.Motion("drive", joint, lambda t: 0.3 * t, 0.3, 0.0))
    found = ix.static(model, t=2.0)
    assert found[joint.name].angle == pytest.approx(0.6, abs=1e-9)
    assert np.abs(found.v).max() == 0.0


def test_a_run_from_the_equilibrium_stays_there():
    model = rods("planar")
    found = ix.static(model)
    result = ix.simulate(model, (0.0, 0.5), initial=found)
    assert np.abs(result.q - found.q).max() < 1e-8  # balanced to 1e-11
    assert result["pin0"].angle[0] == pytest.approx(found["pin0"].angle, abs=1e-12)


def test_start_of_another_static_and_of_a_result():
    model = four_bar(angular_velocity=None)
    found = ix.static(model)
    again = ix.static(model, initial=found)
    assert again.iterations == 0
    run = ix.simulate(model, (0.0, 0.3), t_eval=0.1)
    on = ix.simulate(model, (0.3, 0.6), t_eval=0.1, initial=run, rtol=1e-9)
    whole = ix.simulate(model, (0.0, 0.6), t_eval=0.1, rtol=1e-9)
    assert on.q[0] == pytest.approx(run.q[-1], abs=1e-12)
    assert on.q[-1] == pytest.approx(whole.q[-1], abs=1e-4)  # the first half ran at rtol 1e-6
    with pytest.raises(ix.ModelError, match="has others"):
        ix.static(pendulum(), initial=run)
    with pytest.raises(ix.ModelError, match="needs 7 finite numbers"):
        ix.simulate(pendulum(), (0.0, 1.0), initial=(np.zeros(3), np.zeros(3)))


def test_velocity_rows_take_part():
    """A blade on a plane, pulled sideways by a spring and along by another: it turns and slides until both balance."""
    model = ix.Model("blade", gravity=(0, 0, 0))
    sleigh = model.add(ix.PlanarBody("sleigh", 1.0, 0.1))
    model.add(ix.KnifeEdge("blade", model.ground, sleigh, at=(0, 0, 0), axis=Y))
    model.add(
        ix.SpringDamper("ahead", model.ground, sleigh, points=((2, 0, 0), (0.5, 0, 0)), stiffness=30.0, length=1.0)
    )
    model.add(ix.Force("side", sleigh, (0, 3.0, 0)))
    found = ix.static(model)
    assert found["sleigh"].position[0] == pytest.approx(0.5, abs=0.3)
    assert np.abs(found.result.violation.velocity).max() == 0.0
    assert np.abs(found.lam).max() > 0.1  # the blade carries the side force


def lagging():
    """A mass on a spring, pushed by an actuator that follows its command, which knows the position, with a lag."""
    model = ix.Model("lag", gravity=(0, 0, -10.0))
    bob = model.add(ix.PointMass("bob", 2.0))
    for axis in "xy":
        model.add(ix.CoordinateConstraint(axis, bob, axis))
    ends = ((0, 0, 1), (0, 0, 0))
    model.add(ix.SpringDamper("spring", model.ground, bob, points=ends, stiffness=100.0, damping=4.0))
    actuator = model.add(ix.States("actuator", (0.0,)))

    def push(t, r, A, v, w, p, out, x, rate):
        out[0, 2] = 5.0 * x[0]
        rate[0] = (3.0 - 2.0 * r[0, 2] - x[0]) / 0.1

    model.add(ix.UserForce("push", bob, push, states=actuator, jacobian="differences"))
    return model


def test_first_order_states_settle_too():
    """100 z = 5 x - 20 and x = 3 - 2 z."""
    model = lagging()
    found = ix.static(model)
    assert found["bob"].position[2] == pytest.approx(-5.0 / 110.0, abs=1e-10)
    assert found.result.states["actuator"][0] == pytest.approx([3.0 + 10.0 / 110.0], abs=1e-10)
    assert found.stable is None
    assert "linearize" in found.notes[0]
    linear = ix.linearize(model, at=found, outputs=["actuator"])
    exact = np.linalg.eigvals([[0, 1, 0], [-50, -2, 2.5], [-20, 0, -10]])
    exact = exact[exact.imag >= 0.0]
    assert linear.eigenvalues == pytest.approx(exact[np.argsort(np.abs(exact))], rel=1e-6)  # a user's differences
    assert linear.stable
    assert linear.notes == []
    run = ix.simulate(model, (0.0, 0.5), initial=found)
    assert np.ptp(run.states["actuator"]) < 1e-8
    with pytest.raises(ix.ModelError, match="States 'actuator': states have to be integrated"):
        ix.kinematics(model, (0.0, 1.0))


def test_flutter_of_a_follower_is_no_stability():
    """A load that turns with the end of a column: no divergence, but a pair of modes without real stiffness."""
    model = ix.Model("column", gravity=(0, 0, 0))
    before = model.ground
    for k in range(2):
        link = model.add(ix.PlanarBody.rod(f"l{k}", (k, 0), (k + 1, 0), mass=1.0))
        pin = model.add(ix.Revolute(f"p{k}", before, link, at=(k, 0, 0), axis=Z))
        model.add(ix.RotationalSpringDamper(f"s{k}", pin, stiffness=1.0))
        before = link
    push = model.add(ix.Force("push", before, (-0.5, 0, 0), at=(2, 0, 0), follower=True))
    assert ix.static(model).stable
    push.vector = np.array((-4.0, 0, 0))
    assert ix.static(model, method="newton").stable is False


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "magic"}, "static: method"),
        ({"tolerance": 0.0}, "static: tolerance"),
        ({"max_iterations": 2.5}, "static: max_iterations"),
        ({"t": np.nan}, "static: t"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises(ix.ModelError, match=words):
        ix.static(pendulum(), **settings)


def test_text_gives_reactions():
    text = str(ix.static(pendulum()))
    assert "Revolute pin: force" in text
    assert "rod moved by" in text


def quarter_car():
    """The double wishbone corner of the gallery, its tyre above the road."""
    names = {}
    exec(CORNER.read_text("utf-8").partition("rest = ")[0], names)
    return names["model"]


def test_a_corner_of_a_car_comes_down_in_few_steps():
    """Work: thin arms have next to no inertia along one Euler parameter, which must not hold back the others."""
    rest = ix.static(quarter_car())
    assert rest.stable
    assert rest.iterations <= 25  # 21; 46 while a single parameter set the smallest sigma
    assert rest["tyre"].vertical == pytest.approx(443.0 * G, rel=1e-9)  # all bodies: 400 + 15 + 20 + 2 * 4 kg


def test_a_report_of_many_bodies_is_short():
    model = ix.Model("rope")
    links = [model.add(ix.PointMass(f"p{k}", 0.1, position=(0.1 * k, 0, 0))) for k in range(1, 61)]
    for k, (a, b) in enumerate(pairwise([model.ground, *links])):
        points = ((0.1 * k, 0, 0), (0.1 * k + 0.1, 0, 0))
        model.add(ix.SpringDamper(f"s{k}", a, b, points=points, stiffness=1e4))
    found = ix.static(model)
    assert len(found.moved) == 60
    assert len(str(found).splitlines()) < 30
    assert "and 40 more: see .moved" in str(found)
