"""Linearised models against closed frequencies, transfer functions and differences of the motion itself."""

import numpy as np
import pytest
from scipy.linalg import eig, eigvals
from small_models import G, X, Y, Z, four_bar, particle, pendulum, spatial_loop

import index3 as ix


def masses_on_links(count, length=0.3):
    """Equal masses on massless links, hanging straight down."""
    model = ix.Model("masses")
    before, at = model.ground, (0.0, 0.0, 0.0)
    for k in range(count):
        point = (0.0, 0.0, -(k + 1) * length)
        bob = model.add(ix.PointMass(f"m{k}", 0.7, position=point))
        model.add(ix.Distance(f"l{k}", before, bob, points=(at, point)))
        before, at = bob, point
    return model


@pytest.mark.jit_off
@pytest.mark.parametrize("count", [1, 3, 8])
def test_masses_on_links_swing_with_the_zeros_of_laguerre(count):
    linear = ix.linearize(masses_on_links(count))
    zeros = np.polynomial.laguerre.lagroots([0.0] * count + [1.0])
    expected = np.repeat(np.sqrt(G / 0.3 * zeros), 2)  # in both planes
    assert linear.frequencies == pytest.approx(expected, rel=1e-6)  # asked for; 1e-12 seen
    assert linear.damping_ratios == pytest.approx(np.zeros(2 * count), abs=1e-9)
    assert linear.stable
    assert linear.notes == []


def mounted_body(damping):
    """A body on seven springs at their free lengths, and its mass, damping and stiffness in twists."""
    random = np.random.default_rng(3)
    model = ix.Model("mounted", gravity=(0, 0, 0))
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    inertia = np.diag((0.4, 0.7, 0.9))
    centre = np.array((0.3, -0.2, 0.5))
    block = model.add(ix.RigidBody("block", 2.5, inertia, position=centre, orientation=turn))
    K, D = np.zeros((6, 6)), np.zeros((6, 6))
    for k in range(7):
        arm, line = random.normal(size=3), random.normal(size=3)
        ends = (centre + arm + line, centre + arm)
        stiffness = 100.0 * (k + 1)
        model.add(
            ix.SpringDamper(f"s{k}", model.ground, block, points=ends, stiffness=stiffness, damping=damping * (8.0 - k))
        )
        u = line / np.linalg.norm(line)
        row = np.concatenate([u, np.cross(arm, u)])
        K += stiffness * np.outer(row, row)
        D += damping * (8.0 - k) * np.outer(row, row)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = 2.5 * np.eye(3), turn @ inertia @ turn.T
    return model, M, D, K


def test_a_body_on_springs_against_its_six_by_six_matrices():
    model, M, _, K = mounted_body(0.0)
    linear = ix.linearize(model)
    expected = np.sqrt(np.sort(eigvals(K, M).real))
    assert linear.frequencies == pytest.approx(expected, rel=1e-6)  # asked for; 1e-12 seen
    values, vectors = eig(K, M)
    softest = vectors[:, np.argmin(values.real)].real
    shape = linear.modes[0].bodies["block"]
    assert abs(np.vdot(shape, softest)) == pytest.approx(np.linalg.norm(shape) * np.linalg.norm(softest), rel=1e-9)


def test_damping_ratios_against_the_quadratic_eigenvalue_problem():
    model, M, D, K = mounted_body(1.0)
    linear = ix.linearize(model)
    A = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    values = values[values.imag >= 0.0]
    values = values[np.argsort(np.abs(values))]
    assert linear.eigenvalues == pytest.approx(values, rel=1e-8)
    assert linear.damping_ratios == pytest.approx(-values.real / np.abs(values), rel=1e-8)
    assert linear.damping_ratios.min() > 0.0


def test_physical_pendulum_inputs_and_outputs():
    model = pendulum()
    linear = ix.linearize(
        model,
        at=ix.static(model),
        inputs=["pin", "rod.force.x", "rod.torque.y"],
        outputs=["pin.angle", "pin.angle_rate", "rod.position.x", "pin.force", "rod.acceleration.x"],
    )
    w2, inertia = 1.5 * G, 1.0 / 3.0
    assert linear.frequencies == pytest.approx([np.sqrt(w2)], rel=1e-9)
    assert linear.outputs[3:6] == ["pin.force.x", "pin.force.y", "pin.force.z"]
    gain = -linear.C @ np.linalg.solve(linear.A, linear.B) + linear.D
    assert gain[0] == pytest.approx(np.array((1.0, -0.5, 1.0)) / (inertia * w2), rel=1e-8)  # angle under a still torque
    assert linear.C[0, 0] == pytest.approx(linear.C[1, 1], rel=1e-9)  # the rate is the rate of the angle
    # a jump of the torque: the rod's centre accelerates by -1/2 of the angle's, and the pin takes m a
    assert linear.D[-1] == pytest.approx(np.array((-0.5, 0.25, -0.5)) / inertia, rel=1e-8)
    assert linear.D[3] == pytest.approx(linear.D[-1] - (0.0, 1.0, 0.0), abs=1e-8)
    assert gain[3] == pytest.approx((0.0, -1.0, 0.0), abs=1e-8)


def twists_at(model, q, v):
    """Rotations (bodies, 3, 3), positions, twists and their rates (bodies, 6) of the consistent state next to q, v."""
    run = ix.simulate(model, (0.0, 1e-6), initial=(q, v), t_eval=[0.0])
    views = [run[name] for name in model.bodies]
    return (
        np.array([x.rotation[0] for x in views]),
        np.array([x.position[0] for x in views]),
        np.array([np.hstack([x.velocity[0], x.angular_velocity[0]]) for x in views]),
        np.array([np.hstack([x.acceleration[0], x.angular_acceleration[0]]) for x in views]),
    )


@pytest.mark.parametrize("make", [spatial_loop, four_bar], ids=["spatial_loop", "four_bar"])
def test_A_is_the_derivative_of_the_motion(make):
    """Neighbouring states have the displacements and twists that A says, also in motion and with redundant rows."""
    model = make()
    linear = ix.linearize(model)
    assert any("not an equilibrium" in note for note in linear.notes)
    assert any("moves" in note for note in linear.notes)
    base = ix.assemble(model)
    dof = len(linear.A) // 2
    basis = linear.displacement[:, :dof]
    R, _, V, _ = twists_at(model, base.q, base.v)
    weights = [model.bodies[name] for name in model.bodies]
    z, z_rate, y, y_rate = ([] for _ in range(4))
    for column in range(2 * dof):
        ends = []
        for e in (-1e-5, 1e-5):
            v = base.v + (e * basis[:, column - dof] if column >= dof else 0.0)
            ends.append(twists_at(model, base.q + e * linear.displacement[:, column], v))
        turn, shift, dV, dV_rate = ((b - a) / 2e-5 for a, b in zip(*ends, strict=True))
        skew = turn @ np.swapaxes(R, 1, 2)
        theta = np.array([(x[2, 1], x[0, 2], x[1, 0]) for x in skew])
        z.append(np.hstack([shift, theta]))
        z_rate.append(dV + np.hstack([0.0 * shift, np.cross(V[:, 3:], theta)]))  # theta' = dw + w x theta
        y.append(dV)
        y_rate.append(dV_rate)

    def work(found):
        """What changes of twists do along the motions that are free, by the masses."""
        total = np.zeros((dof, len(found)))
        for body, A, along, x in zip(weights, R, np.moveaxis(y[dof:], 1, 0), np.moveaxis(found, 1, 0), strict=True):
            inertia = A @ body.inertia @ A.T
            total += body.mass * along[:, :3] @ x[:, :3].T + along[:, 3:] @ inertia @ x[:, 3:].T
        return total

    expected = np.vstack([work(np.array(z)) @ linear.A, work(np.array(y)) @ linear.A])
    # 1e-5: differences over 1e-5 of accelerations of size 100, in a mechanism of some centimetres
    scale = max(1.0, np.abs(linear.A).max())
    assert np.vstack([work(z_rate), work(y_rate)]) == pytest.approx(expected, abs=1e-5 * scale)


def test_sleigh_on_a_blade():
    """Chaplygin's sleigh, centre of mass ahead of the blade: its turning dies out at the rate m a u / (I + m a^2)."""
    m, inertia, a, u = 2.0, 0.3, 0.4, 1.5
    model = ix.Model("sleigh", gravity=(0, 0, 0))
    body = model.add(ix.PlanarBody("body", m, inertia, position=(a, 0), velocity=(u, 0), spin=0.0))
    model.add(ix.KnifeEdge("blade", model.ground, body, at=(0, 0, 0), axis=Y))
    linear = ix.linearize(model)
    assert len(linear.A) == 5  # three positions, two velocities
    assert any("velocity-level" in note for note in linear.notes)
    rates = np.linalg.eigvals(linear.A)
    assert rates.real.min() == pytest.approx(-m * a * u / (inertia + m * a * a), rel=1e-9)
    assert np.sort(np.abs(rates))[:4] == pytest.approx(np.zeros(4), abs=1e-3)  # a multiple eigenvalue at zero, rounded


def rubbing(**settings):
    """A block of 2 kg on a level guide with friction."""
    model = ix.Model("rubbing")
    block = model.add(ix.RigidBody.box("block", (0.2, 0.2, 0.1), mass=2.0, **settings))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=X))
    model.add(ix.JointFriction("rub", guide, 0.3, stick_velocity=1e-2))
    return model


def test_friction_at_rest_is_a_damper():
    model = rubbing()
    linear = ix.linearize(model, at=ix.static(model))
    assert linear.eigenvalues.real.min() == pytest.approx(-1.5 * 0.3 * G / 1e-2, rel=1e-9)  # slope of the cubic at rest


def test_friction_in_motion_is_refused_by_name():
    with pytest.raises(ix.ModelError, match="JointFriction 'rub': a force that depends on reactions"):
        ix.linearize(rubbing(velocity=(1, 0, 0)))


def test_inputs_of_force_elements():
    model, bob = particle(position=(1, 0, 0))
    model.add(ix.SpringDamper("spring", model.ground.marker(), bob.marker(), stiffness=50.0, length=0.5))
    model.add(ix.Force("push", bob, (0, 3.0, 4.0)))
    model.add(ix.Force("wind", bob, lambda t: (2.0 * t, 0.0, 0.0)))
    linear = ix.linearize(model, inputs=["spring", "push", "push.z", "wind.y"], outputs=["bob.acceleration"])
    assert pytest.approx(np.array([(-1, 0, 0, 0), (0, 0.6, 0, 1), (0, 0.8, 1, 0)]), abs=1e-9) == linear.D
    with pytest.raises(ix.ModelError, match="Force 'wind' is zero"):
        ix.linearize(model, inputs=["wind"])
    assert ix.linearize(model, t=1.0, inputs="wind").inputs == ["wind"]


def test_outputs_of_force_elements():
    """They were refused with a word about a result that the user never saw."""
    model, bob = particle(position=(1, 0, 0))
    wall = model.ground.moving_marker(path=(lambda t: (0, 0, 0),) * 3, name="wall")
    model.add(ix.SpringDamper("spring", wall, bob.marker(), stiffness=50.0, damping=3.0, length=1.0))
    outputs = ["bob.position.x", "bob.velocity.x", "spring.tension", "spring.length"]
    linear = ix.linearize(model, inputs=["bob.force.x"], outputs=outputs)
    position, rate, tension, length = linear.C
    np.testing.assert_allclose(tension, 50.0 * position + 3.0 * rate, atol=1e-9)
    np.testing.assert_allclose(length, position, atol=1e-9)


def test_inputs_on_joints_and_reactions():
    model = ix.Model("pair", gravity=(0, 0, 0))
    one, two = (model.add(ix.PlanarBody(name, 1.0, inertia)) for name, inertia in (("one", 0.5), ("two", 0.25)))
    model.add(ix.Revolute("a", model.ground, one, at=(0, 0, 0), axis=Z))
    hinge = model.add(ix.Revolute("b", one, two, at=(0, 0, 0), axis=Z))
    model.add(ix.RotationalSpringDamper("coil", hinge, stiffness=3.0))
    model.add(ix.Torque("motor", two, (0, 0, 1.0), reaction=one))
    linear = ix.linearize(model, inputs=["b", "coil", "motor"], outputs=["one.angular_acceleration.z", "two.spin"])
    assert linear.D[0] == pytest.approx([-2.0, -2.0, -2.0], abs=1e-9)
    assert linear.frequencies == pytest.approx([0.0, np.sqrt(3.0 * (2.0 + 4.0))], abs=1e-9)


def test_inputs_of_actuators():
    """A thrust pushes the mass away; an actuator is named as `changes` names it, or alone."""
    model = ix.Model("cart", gravity=(0, 0, 0))
    cart = model.add(ix.RigidBody.box("cart", (1, 1, 1), mass=2.0, position=(3, 0, 0)))
    slide = model.add(ix.Prismatic("slide", model.ground, cart, at=(3, 0, 0), axis=(1, 0, 0)))
    model.add(ix.LineActuator("ram", model.ground.marker(), cart.marker(), 0.0), ix.Actuator("motor", slide, 0.0))
    linear = ix.linearize(model, inputs=["ram", "ram.f", "motor", "motor.f"], outputs=["cart.acceleration.x"])
    assert linear.D[0] == pytest.approx([0.5] * 4, abs=1e-12)


def test_follower_inputs_turn_with_their_marker():
    model = ix.Model("jet", gravity=(0, 0, 0))
    body = model.add(ix.PlanarBody("body", 2.0, 1.0, angle=np.pi / 2))
    model.add(ix.Force("jet", body, (5.0, 0, 0), follower=True))
    linear = ix.linearize(model, inputs=["jet", "jet.x"], outputs=["body.acceleration"])
    assert linear.D[:, 0] == pytest.approx((0.0, 0.5, 0.0), abs=1e-9)
    assert linear.D[:, 1] == pytest.approx(linear.D[:, 0], abs=1e-12)


def test_mode_as_a_result(tmp_path):
    model, _, _, _ = mounted_body(0.5)
    linear = ix.linearize(model)
    shown = linear.mode(0, amplitude=0.05, periods=1, frames=40)
    assert len(shown) == 41
    assert shown.t[-1] == pytest.approx(2.0 * np.pi / linear.eigenvalues[0].imag, rel=1e-12)
    assert shown.q[0] == pytest.approx(shown.q[-1], abs=1e-9)
    assert np.abs(shown.q - linear.q).max() > 0.01
    assert shown.violation.position.max() < 1e-11
    shown.to_html(tmp_path / "mode.html")
    assert (tmp_path / "mode.html").stat().st_size > 1000


def test_modes_of_a_mechanism_keep_its_joints_closed():
    model = spatial_loop()
    shown = ix.linearize(model, at=ix.static(model)).mode(0)
    assert shown.violation.scaled.position.max() < 1e-11


def test_text_lists_modes():
    text = str(ix.linearize(masses_on_links(2)))
    assert "rad/s" in text
    assert "m1: shift along" in text


def test_nothing_to_move():
    model = pendulum()
    model.add(ix.Motion("drive", model["pin"], 0.0))
    linear = ix.linearize(model, outputs=["pin.angle"])
    assert linear.A.shape == (0, 0)
    assert linear.modes == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"inputs": ["rod.position"]}, "not an input. Use 'rod.force.x'"),
        ({"inputs": ["pin.displacement"]}, "Coordinates of Revolute 'pin': 'pin.angle'"),
        ({"inputs": ["pun"]}, "Did you mean 'pin'"),
        ({"inputs": [3]}, "inputs holds 3"),
        ({"inputs": ["own"]}, "cannot be the input 'own'. Use .* 'rod.force.x'"),
        ({"outputs": ["rod.colour"]}, "no history 'colour'"),
        ({"at": "there"}, "cannot start from"),
    ],
)
def test_bad_names_are_errors(settings, words):
    model = pendulum()
    model.add(ix.UserForce("own", model["rod"], lambda t, r, A, v, w, p, out: None))
    with pytest.raises(ix.ModelError, match=words):
        ix.linearize(model, **settings)


def test_motions_are_no_inputs():
    model = ix.library.double_pendulum()
    joint = next(iter(model.joints.values()))
    model.add(ix.Motion("drive", joint, 0.0))
    with pytest.raises(ix.ModelError, match=f"use the joint '{joint.name}'"):
        ix.linearize(model, inputs=["drive"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: x.mode(7), "no mode 7"),
        (lambda x: x.mode(0, amplitude=-1.0), "amplitude"),
        (lambda x: x.mode(0, frames=1), "frames"),
        (lambda x: x.mode(0, periods=0), "periods"),
    ],
)
def test_bad_settings_of_a_mode(call, words):
    linear = ix.linearize(pendulum())
    with pytest.raises(ix.ModelError, match=words):
        call(linear)


def test_axes_are_what_they_say():
    """A mass on three springs along ground axes: three frequencies, each along its axis."""
    model, bob = particle(position=(0, 0, 0))
    for k, axis in enumerate(np.array((X, Y, Z), float)):
        for side in (-1.0, 1.0):
            ends = (side * axis, (0, 0, 0))
            model.add(
                ix.SpringDamper(
                    f"s{k}{side:g}".replace(".", ""), model.ground, bob, points=ends, stiffness=10.0 ** (k + 1)
                )
            )
    linear = ix.linearize(model)
    assert linear.frequencies == pytest.approx(np.sqrt(2.0 * np.array((10.0, 100.0, 1000.0))), rel=1e-9)
    assert [mode.words[-1] for mode in linear.modes] == ["x", "y", "z"]
