"""What `simulate` returns: output times, projection, Newton-Euler, reactions, callbacks, planar and mixed models."""

import numpy as np
import pytest
from small_models import G, X, Y, Z, four_bar, particle, pendulum, spatial_loop

import index3 as ix


def test_without_t_eval_every_accepted_step_is_there():
    result = ix.simulate(pendulum(), (0.5, 0.8))
    assert result.success
    assert len(result.t) == result.stats["steps"] + 1
    assert result.t[0] == 0.5
    assert result.t[-1] == 0.8
    assert np.all(np.diff(result.t) > 0)


@pytest.mark.jit_off
def test_interval_gives_multiples_and_the_end():
    result = ix.simulate(pendulum(), (0.0, 0.1), t_eval=0.03)
    assert result.t.tolist() == [0.0, 0.03, 0.06, 0.09, 0.1]
    assert ix.simulate(pendulum(), (0.0, 0.1), t_eval=0.05).t.tolist() == [0.0, 0.05, 0.1]
    assert ix.simulate(pendulum(), (0.0, 0.1), t_eval=1.0).t.tolist() == [0.0, 0.1]
    with pytest.warns(UserWarning, match=r"t_eval = 201 is an interval in seconds.*numpy.linspace\(0, 0.1, 201\)"):
        assert len(ix.simulate(pendulum(), (0.0, 0.1), t_eval=201).t) == 2


def test_interval_has_no_point_next_to_the_end():
    """0.3 / 0.1 is below 3 in floating point; t1 must come once."""
    assert len(ix.simulate(pendulum(), (0.0, 0.3), t_eval=0.1).t) == 4
    assert len(ix.simulate(pendulum(), (0.1, 0.7), t_eval=0.1).t) == 7


def test_array_gives_exactly_these_times():
    times = [0.01, 0.0123456789, 0.09]
    assert ix.simulate(pendulum(), (0.0, 0.1), t_eval=times).t.tolist() == times


def test_output_never_changes_the_steps():
    """S4-123."""
    plain = ix.simulate(pendulum(), (0.0, 0.5))
    dense = ix.simulate(pendulum(), (0.0, 0.5), t_eval=0.001)
    assert dense.stats["steps"] == plain.stats["steps"]
    assert np.array_equal(dense.q[-1], plain.q[-1])
    steps = ix.simulate(pendulum(), (0.0, 0.5), t_eval=plain.t)
    assert np.array_equal(steps.q, plain.q)  # a step's end is not interpolated
    assert np.array_equal(steps.lam, plain.lam)


def test_blocks_of_output_join_without_seams():
    model, _ = particle(gravity=(0, 0, -1.0), velocity=(1, 0, 0))
    result = ix.simulate(model, (0.0, 1.0), t_eval=1e-5)  # more lines than one block of output holds
    assert len(result.t) == 100001
    assert np.abs(result["bob"].position[:, 0] - result.t).max() < 1e-12  # linear motion is exact up to rounding


def test_projection_is_a_copy():
    own = ix.simulate(four_bar(), (0.0, 0.5), "hht-i3", project=False)
    closed = ix.simulate(four_bar(), (0.0, 0.5), "hht-i3")
    assert np.array_equal(own.t, closed.t)  # nothing is fed back
    assert own.stats["steps"] == closed.stats["steps"]
    assert closed.violation.scaled.velocity.max() < 1e-12  # rounding
    assert closed.violation.scaled.acceleration.max() < 1e-12
    assert own.violation.scaled.velocity.max() > 1e-9  # the index-3 method leaves velocities off the constraints
    assert np.abs(own.q - closed.q).max() < 1e-6  # rtol: they differ by no more than the error of a step


def test_constant_steps():
    result = ix.simulate(pendulum(), (0.0, 0.1), "hht-i3", step=0.03)
    assert result.t == pytest.approx([0.0, 0.03, 0.06, 0.09, 0.1], abs=1e-16)
    assert result.t[3] == 3 * 0.03  # by multiplication, not by adding up
    assert result.stats["steps"] == 4
    assert result.stats["rejected"] == 0


def newton_euler(model, result):
    """Worst scaled residual of force and moment balance over all bodies and times, from results by name alone."""
    worst = 0.0
    for body in model.bodies.values():
        motion = result.kinematics(body.name)
        force = body.mass * np.tile(model.gravity, (len(result.t), 1))
        torque = np.zeros_like(force)
        sizes = [np.abs(force).max()]
        for name, joint in model.joints.items():
            wrench = result[name]
            for end, (f, m), marker in (
                (joint.first, wrench.on_first(), wrench.first),
                (joint.second, (wrench.force, wrench.torque), wrench.second),
            ):
                if end.body is body:
                    force = force + f
                    torque = torque + m + np.cross(marker.position - motion.position, f)
                    sizes.append(np.abs(f).max())
        for f, arm in applied(model, result, body):
            force = force + f
            torque = torque + np.cross(arm - motion.position, f)
        w = motion.angular_velocity
        J = motion.rotation @ body.inertia @ motion.rotation.transpose(0, 2, 1)
        momentum = np.einsum("tij,tj->ti", J, w)
        turning = np.einsum("tij,tj->ti", J, motion.angular_acceleration) + np.cross(w, momentum)
        scale = max(sizes)
        worst = max(worst, np.abs(body.mass * motion.acceleration - force).max() / scale)
        worst = max(worst, np.abs(turning - torque).max() / scale)
    return worst


def applied(model, result, body):
    """Forces on a body and their points, by the definitions of the force elements in the spatial loop."""
    for force in model.forces.values():
        ends = [result.marker(marker) for marker in force.markers]
        if isinstance(force, ix.SpringDamper):
            d, d_rate = ends[1].position - ends[0].position, ends[1].velocity - ends[0].velocity
            length = np.linalg.norm(d, axis=1)[:, None]
            rate = np.sum(d * d_rate, axis=1)[:, None] / length
            pull = (force.stiffness * (length - force.length) + force.damping * rate) * d / length
            for sign, end, marker in ((1, ends[0], force.markers[0]), (-1, ends[1], force.markers[1])):
                if marker.body is body:
                    yield sign * pull, end.position
        elif force.markers[0].body is body:
            yield ends[0].rotation @ force.vector, ends[0].position


def test_reactions_and_accelerations_satisfy_newton_euler():
    model = spatial_loop()
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.05)
    assert result.success, result.message
    assert model.check().dof == 1
    assert newton_euler(model, result) < 1e-11  # rounding: a dozen terms of the size of the largest
    assert all(result[name].unique for name in "ABCD")


def test_redundant_reactions_are_the_smallest_and_not_unique():
    model = four_bar()
    result = ix.simulate(model, (0.0, 1.0), t_eval=0.1)
    assert newton_euler(model, result) < 1e-11  # rounding, as above
    assert not any(result[name].unique for name in "ABCD")
    for name in "ABCD":
        # The mechanism moves in x-z under loads in x-z: the smallest reactions have nothing out of the plane.
        assert np.abs(result[name].force[:, 1]).max() < 1e-9 * np.abs(result[name].force).max()
        assert np.abs(result[name].torque[:, [0, 2]]).max() < 1e-9 * np.abs(result[name].force).max()


def test_chain_reactions_are_unique():
    model = pendulum()
    bob = model.add(ix.RigidBody.rod("bob", (1, 0, 0), (2, 0, 0), mass=1.0))
    model.add(ix.Revolute("knee", model["rod"], bob, at=(1, 0, 0), axis=Z))
    result = ix.simulate(model, (0.0, 0.2), t_eval=0.1)
    assert result["pin"].unique
    assert result["knee"].unique
    assert newton_euler(model, result) < 1e-11  # rounding, as above


def planar_double(kinds):
    """A double pendulum in x-y, each link planar or spatial."""
    model = ix.Model("double", gravity=(0, -G, 0))
    links = []
    for k, kind in enumerate(kinds):
        name, start, end = f"link{k}", (k, 0), (k + 1, 0)
        if kind == "planar":
            links.append(model.add(ix.PlanarBody.rod(name, start, end, mass=1.0)))
        else:
            links.append(model.add(ix.RigidBody.rod(name, (*start, 0), (*end, 0), mass=1.0)))
    model.add(ix.Revolute("pin0", model.ground, links[0], at=(0, 0, 0), axis=Z))
    model.add(ix.Revolute("pin1", links[0], links[1], at=(1, 0, 0), axis=Z))
    return model


def test_planar_spatial_and_mixed_models_move_alike():
    runs = {}
    for kinds in (("spatial", "spatial"), ("planar", "planar"), ("planar", "spatial"), ("spatial", "planar")):
        model = planar_double(kinds)
        counts = model.check()
        assert counts.dof == 2
        if kinds == ("planar", "planar"):
            assert (counts.coordinates, counts.constraints) == (6, 4)  # only in-plane rows
            assert counts.redundant == []
        runs[kinds] = ix.simulate(model, (0.0, 1.0), rtol=1e-8, t_eval=0.05)
        assert runs[kinds].success
    reference = runs["spatial", "spatial"]
    for result in runs.values():
        for name in ("link0", "link1"):
            # rtol 1e-8 over some hundred steps of a smooth motion
            assert np.abs(result[name].position - reference[name].position).max() < 1e-5
        assert np.abs(result["pin1"].angle - reference["pin1"].angle).max() < 1e-5
        assert np.abs(result["pin0"].force - reference["pin0"].force).max() < 1e-3
        assert result["link1"].position.shape == (21, 3)


@pytest.mark.parametrize("joint", ["spherical", "distance"])
def test_point_mass_pendulum(joint):
    """A bob on a massless rod, held by a distance; or pinned at the end of a heavy rod."""
    if joint == "distance":
        model, bob = particle(gravity=(0, 0, -G), position=(1, 0, 0))
        model.add(ix.Distance("string", model.ground, bob, points=((0, 0, 0), (1, 0, 0))))
        assert model.check().dof == 2
        result = ix.simulate(model, (0.0, 1.0), rtol=1e-8, t_eval=0.1)
        assert np.abs(np.linalg.norm(result["bob"].position, axis=1) - 1.0).max() < 1e-12  # projected
        tension = np.linalg.norm(result["string"].force, axis=1)
        speed = np.linalg.norm(result["bob"].velocity, axis=1)
        # m v^2 / L = tension - m g cos; the height gives the cosine; holds to rounding of accelerations
        assert tension == pytest.approx(np.abs(speed**2 - G * result["bob"].position[:, 2]), abs=1e-9)
    else:
        model = pendulum()
        bob = model.add(ix.PointMass("bob", 1.0, position=(1, 0, 0)))
        model.add(ix.Spherical("tip", model["rod"], bob, at=(1, 0, 0)))
        result = ix.simulate(model, (0.0, 1.0), rtol=1e-8, t_eval=0.1)
        assert np.abs(result["bob"].position - 2.0 * result["rod"].position).max() < 1e-12  # projected
        # inertia about the pin 1/3 + 1, moment m g (1/2 + 1): energy at any angle, rtol 1e-8
        rate = np.sqrt(2 * 1.5 * G * np.sin(result["pin"].angle) / (4 / 3))
        assert np.abs(result["pin"].angle_rate[1:] - rate[1:]).max() < 1e-4
    assert result.success


def test_callback_stops():
    seen = []

    def callback(t, q, v):
        seen.append(t)
        return np.bool_(q[2] < -0.2)  # NumPy's True counts as True

    result = ix.simulate(pendulum(), (0.0, 5.0), t_eval=0.01, callback=callback)
    assert result.success
    assert result.status == 1
    assert "callback" in result.message
    assert result.t[-1] == seen[-1] < 5.0
    assert result["rod"].position[-1, 2] < -0.2 <= result["rod"].position[-2, 2]


def test_other_answers_of_a_callback_do_not_stop():
    result = ix.simulate(pendulum(), (0.0, 0.1), callback=lambda t, q, v: q)
    assert result.status == 0


def test_callback_cannot_spoil_the_result():
    def callback(t, q, v):
        q[:] = 7.0

    result = ix.simulate(pendulum(), (0.0, 0.1), callback=callback)
    assert result.violation.position.max() < 1e-10  # as without a callback


def test_progress_function_and_silence(capfd):
    seen = []
    ix.simulate(pendulum(), (0.0, 1.0), progress=lambda t, t1: seen.append((t, t1)))
    assert seen[-1] == (1.0, 1.0)
    ix.simulate(pendulum(), (0.0, 0.1), progress=False)
    ix.simulate(pendulum(), (0.0, 0.1))
    assert capfd.readouterr() == ("", "")  # not a terminal


def test_two_runs_are_the_same():
    """A run leaves nothing behind in the model."""
    model = spatial_loop()
    first, second = (ix.simulate(model, (0.0, 0.3), t_eval=0.1) for _ in range(2))
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first["A"].angle, second["A"].angle)


def test_axis_signs():
    """The joint angle is of the second body relative to the first, right-handed about z of the first marker."""
    result = ix.simulate(pendulum(), (0.0, 0.2), t_eval=0.1)
    assert result["pin"].angle[-1] > 0.0  # a rod along x falls towards -z: right-handed about y
    model = ix.Model("turned")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", rod, model.ground, at=(0, 0, 0), axis=Y))
    other = ix.simulate(model, (0.0, 0.2), t_eval=0.1)
    assert other["pin"].angle == pytest.approx(-result["pin"].angle, abs=1e-9)  # same motion seen from the rod
    assert other["pin"].force == pytest.approx(-result["pin"].force, abs=1e-6)


def test_zero_at_assembly_wherever_the_markers_point():
    model = ix.Model("offset")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground.marker(z=Y, x=X), rod.marker((-0.5, 0, 0), z=Y, x=Z)))
    result = ix.simulate(model, (0.0, 0.1), t_eval=0.1)
    assert result["pin"].angle[0] == pytest.approx(0.0, abs=1e-15)
