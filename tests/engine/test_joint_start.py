"""Starts by joint coordinates: what is given is met, the rest stays close to the model's own start."""

import math

import numpy as np
import pytest

import index3 as ix
from index3.errors import AssemblyError, ModelError


def arm(spin=0.0):
    m = ix.Model("arm")
    rod = m.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, angular_velocity=(0, spin, 0)))
    tip = m.add(ix.RigidBody.rod("tip", (1, 0, 0), (2, 0, 0), mass=1.0))
    m.add(ix.Revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(ix.Revolute("elbow", rod, tip, at=(1, 0, 0), axis=(0, 1, 0)))
    return m


def start_of(model, initial, **settings):
    result = ix.simulate(model, (0.0, 1e-3), t_eval=[0.0], initial=initial, progress=False, **settings)
    return result


def test_angles_and_rates_are_met():
    result = start_of(arm(), {"pin.angle": 0.3, "pin.angle_rate": 2.0, "elbow.angle": -0.5})
    assert result["pin"].angle[0] == pytest.approx(0.3, abs=1e-12)
    assert result["pin"].angle_rate[0] == pytest.approx(2.0, abs=1e-12)
    assert result["elbow"].angle[0] == pytest.approx(-0.5, abs=1e-12)
    assert result["rod"].position[0] == pytest.approx([0.5 * math.cos(0.3), 0, -0.5 * math.sin(0.3)], abs=1e-12)
    assert result["rod"].velocity[0] == pytest.approx([-math.sin(0.3), 0, -math.cos(0.3)], abs=1e-12)


def test_full_turns_count():
    result = start_of(arm(), {"pin.angle": 7.0, "elbow.angle": -4.0 * math.pi})
    assert result["pin"].angle[0] == pytest.approx(7.0, abs=1e-11)
    assert result["elbow"].angle[0] == pytest.approx(-4.0 * math.pi, abs=1e-11)


def test_own_velocities_stay_where_nothing_else_is_given():
    result = start_of(arm(spin=3.0), {"pin.angle": 0.8})
    assert result["pin"].angle_rate[0] == pytest.approx(3.0, abs=1e-12)
    result = start_of(arm(spin=3.0), {"pin.angle_rate": -1.0})
    assert result["pin"].angle_rate[0] == pytest.approx(-1.0, abs=1e-12)
    assert result["pin"].angle[0] == pytest.approx(0.0, abs=1e-12)


def test_what_a_joint_carries_moves_along():
    """Other joint coordinates and rates stay as they are, on a base that turns as well; sides may be exchanged."""
    model = ix.Model("robot")
    base = model.add(ix.RigidBody.box("base", (1, 1, 1), mass=5.0, angular_velocity=(0, 0, 2)))
    kinds = [ix.RigidBody, ix.NaturalBody, ix.RigidBody, ix.RigidBody]
    bodies = [base]
    for k, kind in enumerate(kinds):
        body = model.add(kind.rod(f"arm{k}", (k + 1, 0, 0), (k + 2, 0, 0), mass=1.0))
        pair = (body, bodies[-1]) if k == 1 else (bodies[-1], body)
        model.add(ix.Revolute(f"pin{k}", *pair, at=(k + 1, 0, 0), axis=(0, 1, 0.2 * k)))
        bodies.append(body)
    ball = model.add(ix.PointMass("ball", 1.0, position=(6, 0, 0)))
    model.add(ix.Spherical("hook", bodies[-1], ball, at=(6, 0, 0)))
    model.add(ix.Revolute("turret", model.ground, base, at=(0, 0, 0), axis=(0, 0, 1)))
    own = ix.assemble(model)
    before = start_of(model, own)
    asked = {"pin1.angle": 0.9, "pin2.angle": -0.4, "pin1.angle_rate": -1.5}
    result = start_of(model, asked)
    for name in ("pin0", "pin1", "pin2", "pin3", "turret"):
        wanted = asked.get(f"{name}.angle", before[name].angle[0])
        assert result[name].angle[0] == pytest.approx(wanted, abs=1e-10)
        rate = asked.get(f"{name}.angle_rate", before[name].angle_rate[0])
        assert result[name].angle_rate[0] == pytest.approx(rate, abs=1e-9)


SECTION = {"height": 0.02, "width": 0.02, "elements": 3, "young": 2e9, "poisson": 0.3, "density": 1e3}
FLEXIBLE = {
    "beam": lambda: ix.AncfBeam("body", (0, 0), (1, 0), **SECTION),
    "cholesky": lambda: ix.AncfBeam("body", (0, 0), (1, 0), **SECTION, coordinates="cholesky"),
    "beam3d": lambda: ix.AncfBeam3D("body", (0, 0, 0), (1, 0, 0), **SECTION),
}


@pytest.mark.parametrize("kind", FLEXIBLE)
def test_flexible_bodies_turn_without_bending(kind):
    model = ix.Model("pendulum", gravity=(0, 0, 0))
    body = model.add(FLEXIBLE[kind]())
    model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    result = start_of(model, {"pin.angle": 2.5, "pin.angle_rate": 3.0})
    tip = np.array([math.cos(2.5), math.sin(2.5), 0])
    assert result["body"].points([1.0])[0, 0] == pytest.approx(tip, abs=1e-9)
    assert result["body"].velocity[0] == pytest.approx(1.5 * np.array([-tip[1], tip[0], 0]), abs=1e-9)
    assert abs(result.energy.potential[0]) < 1e-9  # strain energy of a rounding; bending it there would take kJ


def test_loops_stay_on_their_branch():
    model = ix.library.four_bar()
    whole = ix.simulate(model, (0.0, 3.0), t_eval=0.05, progress=False)
    joint = next(joint for joint in model.joints.values() if joint.coordinates == ("angle",))
    turned = np.flatnonzero(np.abs(whole[joint.name].angle) > 0.6)[0]
    wanted = {f"{joint.name}.angle": whole[joint.name].angle[turned]}
    wanted[f"{joint.name}.angle_rate"] = whole[joint.name].angle_rate[turned]
    assembly = ix.assemble(model, initial=wanted)
    # one degree of freedom: the run's own state is the only one on this branch; the run is exact to its tolerance
    assert assembly.q == pytest.approx(whole.q[turned], abs=1e-7)
    assert assembly.v == pytest.approx(whole.v[turned], abs=1e-6)


def test_displacements_static_and_prepared_runs():
    m = ix.Model("slider")
    block = m.add(ix.PointMass("block", 1.0))
    m.add(ix.SpringDamper("coil", m.ground, block, points=((0, 0, 1), (0, 0, 0)), stiffness=100.0))
    rod = m.add(ix.RigidBody.box("rod", (1, 1, 1), mass=1.0, position=(0, 3, 0)))
    m.add(ix.Cylindrical("guide", m.ground, rod, at=(0, 3, 0), axis=(0, 0, 1)))
    asked = {"guide.displacement": -0.4, "guide.angle": 1.5, "guide.displacement_rate": 0.2}
    run = ix.prepare(m, t_eval=0.5, progress=False).run((2.0, 2.5), initial=asked)
    assert run["guide"].displacement[0] == pytest.approx(-0.4, abs=1e-12)
    assert run["guide"].displacement_rate[0] == pytest.approx(0.2, abs=1e-12)
    assert run["guide"].angle[0] == pytest.approx(1.5, abs=1e-12)
    pendulum = ix.library.pendulum()
    name = next(iter(pendulum.joints))
    up = ix.static(pendulum, initial={f"{name}.angle": -1.4}, method="newton")
    assert not up.stable  # close to upright: Newton finds that equilibrium
    assert ix.static(pendulum, method="auto").stable


@pytest.mark.parametrize(
    ("initial", "said"),
    [
        ({"pin.angel": 0.3}, r"simulate: initial names 'pin.angel', no joint coordinate\. Did you mean 'pin.angle'"),
        ({"pn.angle": 0.3}, r"initial names 'pn.angle'.*Did you mean 'pin.angle'"),
        ({"rod.position": 0.3}, r"initial names 'rod.position', no joint coordinate"),
        ({"pin.angle": "far"}, r"initial has pin.angle = 'far'\. Give a finite number"),
        ({"pin.angle": math.nan}, r"initial has pin.angle = nan"),
        ({3: 0.3}, r"initial names 3, no joint coordinate"),
    ],
)
def test_nonsense_is_refused(initial, said):
    with pytest.raises(ModelError, match=said):
        start_of(arm(), initial)


def test_what_a_joint_keeps_constant_cannot_be_given():
    m = arm()
    m.add(ix.Distance("string", m.ground, m["rod"], points=((5, 0, 0), (0, 0, 0))))
    for key in ("string.length", "string.length_rate"):
        with pytest.raises(ModelError, match=rf"initial gives {key}, which Distance 'string' keeps constant\."):
            start_of(m, {key: 0.3})


def test_contradictions_name_the_joint():
    m = arm()
    m.add(ix.Motion("drive", m["pin"], lambda t: t, lambda t: 1.0, lambda t: 0.0))
    with pytest.raises(ModelError, match=r"gives pin.angle of Revolute 'pin', which Motion 'drive' drives"):
        start_of(m, {"pin.angle": 0.3})
    model = ix.library.four_bar()
    names = [joint.name for joint in model.joints.values() if "angle" in joint.coordinates]
    asked = {f"{names[0]}.angle": 0.5, f"{names[1]}.angle": 3.0}
    with pytest.raises(
        AssemblyError, match=rf"no start with {names[0]}\.angle = 0\.5, {names[1]}\.angle = 3 was found"
    ) as error:
        start_of(model, asked)
    assert f"{names[1]}.angle as given" in str(error.value)
    assert "Motion" not in str(error.value)  # none of the model
    spherical = ix.Model("ball")
    ball = spherical.add(ix.RigidBody.box("box", (1, 1, 1), mass=1.0))
    spherical.add(ix.Spherical("socket", spherical.ground, ball, at=(0, 0, 0)))
    with pytest.raises(ModelError, match="Spherical 'socket' has no joint coordinates"):
        start_of(spherical, {"socket.angle": 0.3})
