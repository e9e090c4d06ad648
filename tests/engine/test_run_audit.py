"""The audit of runs: what it finds in runs gone wrong, what it leaves alone, and what it says."""

import math
import re
import warnings

import numpy as np
import pytest

import index3 as ix
from index3.engine import momentum
from index3.engine.balance import part_of_scale
from index3.methods import audit as watch
from index3.results.audit import Check, RunAudit


def orbit(speed=1.0):
    model = ix.Model("orbit", gravity=(0, 0, 0))
    moon = model.add(ix.PointMass("moon", 1.0, position=(1, 0, 0), velocity=(0, speed, 0)))
    model.add(ix.PointGravity("pull", moon, (0, 0, 0), mu=1.0))
    return model


def pair(velocity=(0.0, 0.3, 0.0)):
    """Two bodies on a spring, free in space."""
    model = ix.Model("pair", gravity=(0, 0, 0))
    a = model.add(ix.RigidBody("a", 1.0, (1, 2, 2.5), velocity=velocity, angular_velocity=(0.1, 1, 0.2)))
    b = model.add(ix.RigidBody("b", 2.0, (1, 1, 1), position=(2, 0, 0)))
    model.add(ix.SpringDamper("coil", a, b, points=((0, 0.1, 0), (2, 0, 0.1)), stiffness=5.0, damping=0.3))
    return model


def test_a_healthy_run_keeps_all_bounds():
    result = ix.simulate(ix.library.four_bar(), (0, 2), "hht-i3", t_eval=0.1)
    assert result.success
    assert result.audit.ok
    assert [x.name for x in result.audit.checks] == [
        "energy", "position rows", "velocity rows", "acceleration rows", "rejected steps",
    ]  # fmt: skip
    assert result.audit["energy"].margin > 10.0
    assert "energy [J]" in str(result.audit)
    assert result.audit.line() in repr(result)


def test_gain_and_scale_are_those_of_the_balance_at_every_step():
    result = ix.simulate(ix.library.pendulum(), (0, 3), "tlismni-adams3", rtol=1e-3, audit="warn")
    balance, kinetic, potential = result.energy.balance, result.energy.kinetic, result.energy.potential
    gain = np.max(balance - np.minimum.accumulate(balance))
    found = result.audit["energy"]
    # output is projected, the balance is of the steps themselves: a difference far below the gain
    assert found.value == pytest.approx(gain, rel=1e-2)
    # each is taken without the gain, which is at most a tenth of it here
    scale = max(np.max(kinetic), np.ptp(potential))
    assert found.bound == pytest.approx(part_of_scale(1e-3) * scale, rel=0.1)


def test_a_run_that_gains_more_than_it_has_is_ended_by_name():
    model = ix.library.mass_spring(1e12)  # explicit weights on a vibration that the tolerance does not resolve
    result = ix.simulate(model, (0, 6e-3), "tlismni-adams3", rtol=1e-1)
    assert not result.success
    assert "Energy came from nowhere" in result.message
    assert "tlismni-adams3" in result.message
    assert len(result) > 10
    assert not result.audit.ok
    assert result.audit["energy"].value > result.audit["energy"].bound


def test_warn_lets_the_run_go_on_and_off_says_nothing(recwarn):
    with pytest.warns(UserWarning, match="came from nowhere"):
        result = ix.simulate(ix.library.mass_spring(1e12), (0, 1e-3), "tlismni-adams3", rtol=1e-1, audit="warn")
    assert result.success
    assert "came from nowhere" in result.message
    recwarn.clear()
    quiet = ix.simulate(ix.library.mass_spring(1e12), (0, 1e-4), "tlismni-adams3", rtol=1e-2, audit="off")
    assert quiet.success
    assert quiet.audit is None
    assert not recwarn.list
    assert "nowhere" not in quiet.message


@pytest.mark.parametrize("audit", ["loud", None, True])
def test_other_values_are_refused(audit):
    with pytest.raises(ix.ModelError, match=r"audit = .*'fail', 'warn' or 'off'"):
        ix.simulate(ix.library.pendulum(), (0, 1), audit=audit)


@pytest.mark.parametrize(
    ("method", "options"),
    [("hht-i3", {"step": 0.1}), ("hht-i3", {"norm": "paper"}), ("al-index3", {}), ("tlismni-hht", {"norm": "paper"})],
)
def test_runs_that_do_not_follow_the_error_are_reported_only(method, options, recwarn):
    result = ix.simulate(ix.library.pendulum(), (0, 1), method, rtol=1e-2, **options)
    assert result.success
    assert not [x for x in recwarn.list if "nowhere" in str(x.message)]
    assert result.audit["energy"].value >= 0.0
    assert result.stats["gained"] == 0


def test_a_step_that_gains_too_much_is_tried_again():
    model = ix.library.parallelogram(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # half of the energy is gained all the same: such steps are too long
        tried = ix.simulate(model, (0, 10), "generalized-alpha", rtol=1e-1, audit="warn", max_steps=5000)
    assert tried.stats["gained"] > 0
    assert tried.audit["energy"].value < 1e4  # 2.9e8 J without, on a motion of 1.2e3 J


def test_automatic_runs_do_not_leap_over_a_singularity():
    result = ix.simulate(orbit(0.01), (0, 5), rtol=1e-3, max_steps=20_000)  # falls almost straight into the centre
    change = np.ptp(result.energy.balance) / np.max(result.energy.kinetic)
    assert not result.success or "nergy" in result.message or change < 0.5


def test_a_steady_gain_is_met_by_smaller_tolerances(recwarn):
    """The top's errors add up over 8781 steps to 4 %, each being within the tolerance."""
    result = ix.simulate(ix.library.spinning_top(), (0, 10), "tlismni-adams3", t_eval=0.5)
    assert result.success
    assert not recwarn.list
    assert "tolerances divided by" in result.audit["energy"].note
    assert result.audit["energy"].margin > 1.3  # three quarters of the bound, and a few steps


@pytest.mark.jit_off
def test_tolerances_are_cut_by_the_share_of_the_span():
    A, too_fast = watched(), getattr(watch.gains_too_fast, "py_func", watch.gains_too_fast)
    A[watch.STRICT] = 1.0
    for gain, passed, work_error, expected in (
        (0.0049, 0.0, 0.0, False), (0.0051, 0.0, 0.0, True), (0.0052, 0.0, 0.0, False), (0.0054, 0.0, 0.0, True),
        (0.0062, 0.5, 0.0, False), (0.0063, 0.5, 0.001, False), (0.0063, 0.5, 0.0, True),
    ):  # fmt: skip
        A[watch.GAIN] = gain
        assert bool(too_fast(A, passed, work_error)) is expected, gain
    A[watch.GAIN], A[watch.STRICT] = 1.0, watch.MOST_STRICT
    assert not too_fast(A, 0.5, 0.0)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "adams", "rosenbrock4", "descriptor-sdirk4"])
def test_a_leap_into_a_singularity_is_tried_again(method):
    result = ix.simulate(orbit(0.01), (0, 2), method, rtol=1e-3, max_steps=2000)
    change = np.ptp(result.energy.balance) / np.max(result.energy.kinetic)
    assert not result.success or "nergy" in result.message or change < 0.5


def test_automatic_runs_end_at_a_singularity():
    """Steps become too small although nothing is stiff: hht-i3 would leap over it."""
    result = ix.simulate(orbit(0.0), (0, 5), rtol=1e-6, max_steps=20_000)
    assert not result.success
    assert "hht-i3" not in result.message


def flat_pair(spin=3.0):
    """Two planar bodies on a spring, free in their plane."""
    model = ix.Model("flat", gravity=(0, 0, -9.81))
    a = model.add(ix.PlanarBody("a", 1.0, 0.3, velocity=(0.1, 0.2), spin=spin))
    b = model.add(ix.PlanarBody("b", 2.0, 0.5, position=(2, 0), spin=-0.4 * spin))
    model.add(ix.SpringDamper("coil", a, b, points=((0, 0.1, 0), (2, 0, 0)), stiffness=5.0, damping=0.3))
    return model


def test_momentum_of_planar_bodies():
    result = ix.simulate(flat_pair(), (0, 5), "dop853", rtol=1e-8, t_eval=0.1)
    assert result.audit["momentum"].value < 1e-7
    assert result.audit["angular momentum"].value < 1e-6
    # 0.3 * 3 + 0.5 * 1.2 of the spins, and the orbits; a hundredth of it
    assert 0.015 < result.audit["angular momentum"].bound < 0.05
    model = flat_pair()
    model.gravity = (0, -9.81, 0)
    assert not [x for x in ix.simulate(model, (0, 1), t_eval=0.1).audit.checks if "momentum" in x.name]


@pytest.mark.parametrize("look", [20, 1000])
def test_a_run_that_loses_its_momentum_ends_by_name(monkeypatch, look):
    """Velocities are shown to the audit as if they had halved by half a second; without looks at the end of the run."""
    model = pair()
    monkeypatch.setattr(momentum, "FIRST", look)
    present = momentum.present

    def halved(segment):
        line = present(segment)
        return {**line, "v": line["v"] * (0.4 if segment.run.t > 0.5 else 1.0)}

    monkeypatch.setattr(momentum, "present", halved)
    result = ix.simulate(model, (0, 3), "dopri5", max_step=0.02)
    assert not result.success
    assert "momentum should be constant, since no external force acts" in result.message
    assert (0.5 < result.t[-1] < 1.5) if look == 20 else result.t[-1] == 3.0
    assert ix.simulate(model, (0, 3), "dopri5", max_step=0.02, audit="warn").success


def test_momentum_of_free_parts():
    result = ix.simulate(pair(), (0, 10), "dop853", rtol=1e-8, t_eval=0.1)
    names = [x.name for x in result.audit.checks]
    assert names[1:3] == ["momentum", "angular momentum"]
    assert result.audit["momentum"].value < 1e-7
    assert result.audit["angular momentum"].value < 1e-6
    # 0.3 m/s of 1 kg at the start; the sum of the bodies' momenta may be larger on the way
    assert 0.003 <= result.audit["momentum"].bound < 0.1


def test_users_rows_may_hold_bodies_to_ground():
    """A blade under one body, and a row that ties the places of two: both runs were ended for their momentum."""
    sleigh = ix.Model("sleigh", gravity=(0, 0, 0))
    body = sleigh.add(ix.PlanarBody("body", 1.0, 0.2, position=(0.4, 0), velocity=(1.0, 0.4), spin=1.0))

    def blade(t, r, A, v, w, p, out):
        out[0] = A[0, :, 1] @ v[0]

    heel = body.marker((-0.4, 0, 0))
    sleigh.add(ix.UserConstraint("blade", heel, blade, rows=1, level=1, jacobian="differences", time_step=None))
    balance = ix.Model("balance", gravity=(0, 0, 0))
    ends = [
        balance.add(ix.PointMass("light", 1.0, position=(-1, 0, 0))),
        balance.add(ix.PointMass("heavy", 3.0, position=(1, 0, 0))),
    ]

    def opposite(t, r, A, v, w, p, out):
        out[0] = r[0, 0] + r[1, 0]

    balance.add(ix.UserConstraint("pulley", ends, opposite, rows=1, jacobian="differences", time_step=None))
    balance.add(ix.SpringDamper("spring", *(end.marker() for end in ends), stiffness=1.0, length=1.0))
    for model in (sleigh, balance):
        result = ix.simulate(model, (0.0, 5.0), rtol=1e-8)
        assert result.success, result.message
        assert not [check.name for check in result.audit.checks if "momentum" in check.name]
    # Two masses at -x and x, a spring 2 x - 1 long: (1 + 3) x'' = -2 (2 x - 1).
    assert result["heavy"].position[-1, 0] == pytest.approx(0.5 + 0.5 * math.cos(5.0), abs=1e-6)

    def apart(t, r, A, v, w, p, out):
        out[0] = (r[1] - r[0]) @ (r[1] - r[0]) - 4.0

    free = ix.Model("free", gravity=(0, 0, 0))
    ends = [
        free.add(ix.PointMass("one", 1.0, position=(-1, 0, 0))),
        free.add(ix.PointMass("two", 1.0, position=(1, 0, 0), velocity=(0, 1, 0))),
    ]
    free.add(ix.UserConstraint("rod", ends, apart, rows=1, jacobian="differences", time_step=None))
    assert ix.simulate(free, (0.0, 1.0)).audit["angular momentum"].ok  # these are free


def test_drifting_momentum_is_told(monkeypatch):
    """First the audit warns, then it ends the run, where smaller tolerances are of no use."""
    monkeypatch.setattr(watch, "MOST_STRICT", 1.0)
    model = ix.Model("wheel", gravity=(0, 0, 0))
    model.add(ix.RigidBody("wheel", 3.0, (0.02, 0.02, 0.03), angular_velocity=(30, 1, 100)))
    with pytest.warns(UserWarning, match="angular momentum should be constant"):
        result = ix.simulate(model, (0, 5), "bdf-i3", rtol=1e-3, t_eval=0.5, max_steps=100_000)
    assert result.success
    assert not result.audit["angular momentum"].ok
    result = ix.simulate(model, (0, 20), "bdf-i3", rtol=1e-3, t_eval=0.5, max_steps=100_000)
    assert not result.success
    assert "The angular momentum should be constant" in result.message


@pytest.mark.parametrize(("method", "rtol", "cuts"), [("bdf-i3", 1e-4, 256), ("hht-i3", 1e-4, 4), ("radau5", 1e-4, 1)])
def test_steady_drift_of_momentum_is_met_by_smaller_tolerances(method, rtol, cuts):
    """Errors of thousands of turns add up: with constant tolerances 25 times the bound, which ends the first run."""
    model = ix.Model("wheel", gravity=(0, 0, 0))
    model.add(ix.RigidBody("wheel", 3.0, (0.02, 0.02, 0.03), angular_velocity=(30, 1, 100)))
    result = ix.simulate(model, (0, 60), method, rtol=rtol, t_eval=1.0)
    assert result.success
    assert result.audit.ok
    assert (f"tolerances divided by {cuts} " in result.audit["energy"].note) == (cuts > 1)


@pytest.mark.parametrize("outside", ["ground", "load", "gravity"])
def test_no_momentum_where_something_acts_from_outside(outside):
    model = pair()
    if outside == "ground":
        ends = ((0, 0, 1), (0, 0, 0))
        model.add(ix.SpringDamper("tie", model.ground, model["a"], points=ends, stiffness=1.0))
    elif outside == "load":
        model.add(ix.Force("push", model["a"], (0.1, 0, 0)))
    else:
        model.gravity = (0, 0, -9.8)
    result = ix.simulate(model, (0, 1), "dopri5", t_eval=0.1)
    assert not [x for x in result.audit.checks if "momentum" in x.name]


def test_rest_and_tiny_energies_do_not_cry_wolf(recwarn):
    model = ix.Model("hanging")
    bob = model.add(ix.RigidBody.sphere("bob", 0.1, 1.0, position=(0, 0, -1)))
    model.add(ix.Revolute("hinge", model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    for method in ("hht-i3", "bdf-i3", "radau5", "dopri5", "tlismni-adams3"):
        result = ix.simulate(model, (0, 5), method)
        assert (result.audit.ok, recwarn.list) == (True, []), method


def test_reactions_inside_a_long_first_step_are_not_believed(recwarn):
    """A stiff beam is driven from rest, and `adams` begins with a step 1000 times longer than its vibrations allow.

    Reactions of the states inside did -2.3e-11 J in it, the motion has 5e-15 J: the run was ended for its gain. Where
    dense output leaves out accelerations that the step does not resolve, such states are closer to the motion.
    """
    model = ix.Model("spin-up", gravity=(0, 0, 0))
    hub = model.add(ix.RigidBody("hub", 1.0, (1, 1, 1)))
    joint = model.add(ix.Revolute("joint", model.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    c = 2 * math.pi / 15.0
    laws = (
        lambda t: 0.4 * (0.5 * t * t + (math.cos(c * t) - 1) / c**2),
        lambda t: 0.4 * (t - math.sin(c * t) / c),
        lambda t: 0.4 * (1 - math.cos(c * t)),
    )
    model.add(ix.Motion("drive", joint, *laws))
    steel = {"young": 3.6e9, "poisson": 0.4, "density": 155.0, "height": 0.0775, "width": 0.1}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (10.0, 0), elements=4, law="elastic-line", **steel))
    model.add(ix.Fixed("root", hub, beam, at=(0, 0, 0)))
    result = ix.simulate(model, (0.0, 20.0), "adams", max_steps=50, progress=False)
    assert result.stats["steps"] == 50, result.message
    assert abs(result.energy.work[-1]) < result.energy.work_error < 1e-12  # 3.5e-13 is stated
    assert not [x for x in recwarn if "Energy" in str(x.message)]


def test_jumps_count_as_work(recwarn):
    model = ix.Model("ball")
    ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, 1)))
    model.add(ix.PointInPlane("floor", model.ground.marker((0, 0, 0), z=(0, 0, 1)), ball.marker((0, 0, 0))))

    def hits(t, state):
        return state["ball"].position[2]

    hits.direction, hits.action = -1, ix.impact("floor", restitution=0.5)
    result = ix.simulate(model, (0, 0.8), "dopri5", events=hits, open_joints=["floor"])
    assert len(result.jumps) == 1
    assert result.audit.ok
    assert result.audit["energy"].value < 1e-5  # J, of 10; 7 were lost at once


def test_files_keep_the_audit(tmp_path):
    result = ix.simulate(ix.library.pendulum(), (0, 0.5), t_eval=0.1)
    result.save(tmp_path / "run.nc")
    assert ix.Result.load(tmp_path / "run.nc").audit == result.audit
    result.to_html(tmp_path / "run.html")
    assert "bounds kept" in (tmp_path / "run.html").read_text()


def test_energies_beyond_all_numbers_are_told_as_such():
    """Not as nan J from nowhere, nor by a warning of NumPy in the summary."""
    model = ix.Model("far")
    model.add(ix.RigidBody("body", 100.0, (1, 1, 1), position=(0, 0, 1e308)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(UserWarning, match=r"Energy: its numbers are too large .* Choose other units"):
            result = ix.simulate(model, (0.0, 1.0), progress=False)
        assert "audit: out of bounds: energy" in str(result)
    assert not result.success


def test_table_and_margins():
    found = RunAudit((Check("energy", 3.0, 1.0, "J"), Check("steps", 7.0), Check("rows", math.nan, 1.0)))
    assert not found.ok
    assert found["energy"].margin == pytest.approx(1 / 3)
    assert not found["rows"].ok
    assert found.line() == "audit: out of bounds: energy, rows"
    assert str(found).count("OUT OF BOUNDS") == 2
    assert RunAudit.from_list(found.to_list()).line() == found.line()
    with pytest.raises(ix.ModelError, match="'power' was not checked"):
        found["power"]


def watched(scale=1.0):
    A = np.zeros(watch.SIZE)
    A[watch.MODE], A[watch.PART], A[watch.SCALE] = watch.FAIL, 0.01, scale
    return A


@pytest.mark.jit_off
def test_scale_leaves_the_gain_out_and_ends_above_all_energy():
    A, judge = watched(), getattr(watch.judge, "py_func", watch.judge)
    for kinetic, ends in ((0.5, False), (0.9, False), (1.1, True), (math.nan, True)):
        A[watch.KINETIC] = kinetic
        assert bool(judge(A, 0.0, 0.0, 0.0, 0.0, 0.0)) is ends
    assert A[watch.GAIN] == 1.1
    assert A[watch.SCALE] == 1.0


@pytest.mark.jit_off
def test_a_leap_into_a_singular_potential_is_no_scale():
    A, judge = watched(), getattr(watch.judge, "py_func", watch.judge)
    A[watch.POTENTIAL] = -1e6
    assert not judge(A, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert A[watch.SCALE] == 1.0
    A[watch.POTENTIAL] = 0.0
    assert judge(A, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_parts_of_the_scale():
    assert part_of_scale(1e-6) == 0.01
    assert part_of_scale(0.1) == 0.5
    assert part_of_scale(1e-4) == pytest.approx(10.0 * 1e-4 ** (2 / 3))


def test_a_flat_natural_body_is_refused_by_rosenbrock4_on_the_tangent_plane():
    model = ix.Model("lamina", gravity=(0, 0, 0))
    model.add(ix.NaturalBody("b", 1.0, (1.0, 2.0, 3.0), angular_velocity=(0.6, 0.9, 1.1)))
    with pytest.raises(ix.ModelError, match=r"NaturalBody 'b'.*parametrization='partition'"):
        ix.simulate(model, (0, 1), "rosenbrock4")
    exact = ix.simulate(model, (0, 2), "dop853", rtol=1e-11)["b"].rotation[-1]
    found = ix.simulate(model, (0, 2), "rosenbrock4", step=0.005, parametrization="partition")["b"].rotation[-1]
    assert np.max(np.abs(found - exact)) < 1e-6  # fourth order: 2e-7


def test_a_motion_that_lost_most_of_its_energy_is_told():
    """A vibration of 100 rad/s at a tolerance at which hht-i3 takes 85 % of its energy away."""
    model = ix.Model("vibration", gravity=(0, 0, 0))
    point = model.add(ix.PointMass("point", 1.0, position=(1.5, 0, 0)))
    ends = ((0, 0, 0), (1.5, 0, 0))
    model.add(ix.SpringDamper("spring", model.ground, point, points=ends, stiffness=1e4, length=1.0))
    result = ix.simulate(model, (0.0, 2.0), "hht-i3", rtol=1e-2, progress=False)
    assert re.search(r"The method took .* J away, .* % of the largest energy.*If that", result.message)


@pytest.mark.parametrize("method", ["hem4", "dop853", "adams"])
def test_a_method_that_damps_nothing_warns_of_a_loss(method):
    """Two masses on springs for 5 s at rtol 1e-3: 60 to 95 % of the energy are gone."""
    with pytest.warns(UserWarning, match=f"J were lost.* by {method}, which damps nothing on purpose"):
        result = ix.simulate(ix.library.mass_spring(), (0.0, 5.0), method, rtol=1e-3, progress=False)
    assert "which damps nothing on purpose" in result.message
    assert "numerical damping" not in result.message


def flywheel():
    model = ix.Model("wheel", gravity=(0, 0, 0))
    wheel = model.add(ix.RigidBody("wheel", 1.0, (0.1,) * 3, angular_velocity=(0, 0, 300.0)))
    model.add(ix.Revolute("axle", model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    return model


@pytest.mark.parametrize("settings", [{"method": "hht-i3", "rtol": 1e-2}, {"method": "hem4", "step": 5e-3}])
def test_losses_of_others_are_no_warning(settings, recwarn):
    """Those of a method that damps, and of a constant step, which is as accurate as the user made it."""
    result = ix.simulate(flywheel(), (0.0, 1.0), progress=False, **settings)
    assert result.success
    assert "numerical damping" in result.message
    assert not recwarn.list


def test_smaller_losses_are_mentioned_without_advice(recwarn):
    model = flywheel()
    result = ix.simulate(model, (0.0, 10.0), "bdf-i3", t_eval=1.0, progress=False)
    assert "numerical damping" in result.message
    assert "If that is more" not in result.message
    assert not recwarn.list
    assert "numerical damping" not in ix.simulate(model, (0.0, 10.0), "radau5", t_eval=1.0, progress=False).message
