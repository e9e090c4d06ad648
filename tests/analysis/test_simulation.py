"""Prepared simulations: bit by bit what `simulate` returns, whatever ran before."""

import gc
import math
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import index3 as ix
from index3.analysis import planning
from index3.analysis import simulation as module
from index3.analysis.simulate import SETTINGS
from index3.compiled import workspace
from index3.errors import ModelError, SimulationFailed
from index3.linear import static_solver
from index3.system import maps, structure
from index3.system.state import State

SPANS = {
    "andrews": 0.002, "chain": 0.05, "hmmwv14": 0.02, "hmmwv50": 0.01, "iltis": 0.02, "pendulum": 0.3, "four_bar": 0.1,
    "belt_drive": 2e-6,
}  # fmt: skip
SMALL = {
    "chain": lambda: ix.library.chain(3, springs=True),
    "belt_drive": lambda: ix.library.belt_drive(40),
    "crawler_track": lambda: ix.library.crawler_track(short=True),
}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """No structure is known from another test."""
    monkeypatch.setattr(structure, "_kept", [])


def assert_identical(one, two):
    """Raise unless two results agree to the last bit, in what was computed and in the work that it took."""
    assert (one.message, one.status, one.method) == (two.message, two.status, two.method)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, two.arrays[name], err_msg=name)
    counts = [{key: x for key, x in run.stats.items() if not key.startswith("seconds")} for run in (one, two)]
    assert counts[0] == counts[1]
    assert one.layout == two.layout


def library(name):
    return SMALL.get(name, getattr(ix.library, name))()


def masses(model):
    """Changes that the class of every body takes: masses or densities, and the gravity of all."""
    bodies = [body for body in model.bodies.values() if type(body).__name__ not in ("NaturalLinkage", "ModalBody")]
    heavier = {body.name: "density" if hasattr(body, "density") else "mass" for body in bodies}
    changes = {f"{name}.{field}": 1.25 * getattr(model[name], field) for name, field in heavier.items()}
    return changes | {"gravity": 0.5 * np.array(model.gravity)}


def changed_by_hand(model, changes):
    """The same by plain Python."""
    copy = model.copy()
    for key, value in changes.items():
        name, _, field = key.partition(".")
        if field:
            setattr(copy[name], field, value)
        else:
            copy.gravity = np.array(value)
    return copy


@pytest.mark.parametrize("name", ix.library.names())
def test_library_models_run_as_with_simulate(name):
    """Unchanged, changed, and unchanged again: nothing sticks."""
    model, span = library(name), (0.0, SPANS.get(name, 0.02))
    prepared = ix.prepare(model, t_eval=span[1] / 4)
    plain = ix.simulate(model, span, t_eval=span[1] / 4)
    changes = masses(model)
    assert_identical(prepared.run(span), plain)
    changed = prepared.run(span, changes=changes)
    assert_identical(changed, ix.simulate(changed_by_hand(model, changes), span, t_eval=span[1] / 4))
    assert not np.array_equal(changed.lam, plain.lam) or not model.joints
    assert_identical(prepared.run(span), plain)


@pytest.mark.parametrize("method", list(ix.METHODS))
def test_methods_run_as_with_simulate(method):
    model = library("chain")
    prepared = ix.prepare(model, method)
    changes = {"link 1.mass": 2.0} if "link 1" in model else {f"{next(iter(model.bodies))}.mass": 2.0}
    for given in (changes, None):
        plain = ix.simulate(changed_by_hand(model, given or {}), (0.0, 0.05), method)
        assert_identical(prepared.run((0.0, 0.05), changes=given), plain)


def test_the_structure_is_found_once(monkeypatch):
    found = []
    pattern, order = maps.pattern, static_solver.elimination_order
    monkeypatch.setattr(maps, "pattern", lambda *x: found.append("pattern") or pattern(*x))
    monkeypatch.setattr(static_solver, "elimination_order", lambda *x: found.append("order") or order(*x))
    prepared = ix.prepare(ix.library.four_bar())
    assert found == ["pattern", "order"]
    for mass in (1.0, 2.0):
        prepared.run((0.0, 0.01), changes={"crank.mass": mass})
    assert found == ["pattern", "order"]


def test_settings_that_are_the_very_same_are_compared_by_identity_alone(monkeypatch):
    """A plan is kept for them; a list that was changed in place, or an equal number of another type, is another one."""
    keys, plain_key = [], planning.plain_key
    monkeypatch.setattr(planning, "plain_key", lambda *x: keys.append(1) or plain_key(*x))
    prepared, times = ix.prepare(ix.library.pendulum(), "dopri5", progress=False), [0.1, 0.2]
    first = prepared.run((0.0, 0.2), t_eval=times)
    assert_identical(prepared.run((0.0, 0.2), t_eval=times), first)
    assert_identical(prepared.run((0.0, 0.2), t_eval=[*times], changes={"rod.mass": prepared.model["rod"].mass}), first)
    assert len(keys) == 1
    times[0] = 0.05
    assert prepared.run((0.0, 0.2), t_eval=times).t.tolist() == [0.05, 0.2]
    assert prepared.run((0.0, 0.2), t_eval=tuple(times)).t.tolist() == [0.05, 0.2]
    assert not np.array_equal(prepared.run((0.0, 0.2), t_eval=times, rtol=1e-3).q, first.q)
    assert len(keys) == 4


def test_variants_are_compiled_once_and_kept(monkeypatch):
    found = []
    pattern = maps.pattern
    monkeypatch.setattr(maps, "pattern", lambda *x: found.append("pattern") or pattern(*x))

    def released(t, state):
        return t - 0.1

    released.action = ix.open_joint("pivot")
    model = ix.library.pendulum()
    prepared = ix.prepare(model, "dopri5", events=released)
    runs = [prepared.run((0.0, 0.2), changes={"rod.mass": mass}) for mass in (1.0, 2.0)]
    assert len(found) == 2
    for run, mass in zip(runs, (1.0, 2.0), strict=True):
        plain = changed_by_hand(model, {"rod.mass": mass})
        assert_identical(run, ix.simulate(plain, (0.0, 0.2), "dopri5", events=released))


def test_a_second_model_of_the_same_structure():
    prepared = ix.prepare(ix.library.pendulum(), "hht-i3")
    longer = ix.library.pendulum(length=3.0)
    assert_identical(prepared.run((0.0, 0.5), changes=longer), ix.simulate(longer, (0.0, 0.5), "hht-i3"))


def test_markers_functions_and_dampers_of_a_second_model():
    """What is not a field of an element: where markers are, what functions do, a damper where there was none."""

    def made(arm, rate, damping):
        model = ix.library.pendulum()
        model.add(ix.SpringDamper(
            "coil", model.ground.marker((1, 0, arm)), model["rod"].marker((arm, 0, 0)), stiffness=5.0, damping=damping,
        ))  # fmt: skip
        model.add(ix.Force("push", model["rod"].marker(), lambda t: (0.0, 0.0, rate * t)))
        return model

    prepared = ix.prepare(made(0.1, 1.0, 0.0))
    for numbers in ((0.2, -3.0, 0.7), (0.1, 1.0, 0.0)):
        assert_identical(prepared.run((0.0, 0.5), changes=made(*numbers)), ix.simulate(made(*numbers), (0.0, 0.5)))


def test_settings_of_a_run_go_before_those_of_prepare():
    model = ix.library.pendulum()
    prepared = ix.prepare(model, "hht-i3", alpha=-0.1, rtol=1e-4, t_eval=0.1)
    run = prepared.run((0.0, 0.5), t_eval=0.25)
    assert_identical(run, ix.simulate(model, (0.0, 0.5), "hht-i3", alpha=-0.1, rtol=1e-4, t_eval=0.25))
    assert len(prepared.run((0.0, 0.5)).t) == 6
    start = (run.q[-1], run.v[-1])
    assert_identical(
        prepared.run((0.0, 0.5), initial=start),
        ix.simulate(model, (0.0, 0.5), "hht-i3", alpha=-0.1, rtol=1e-4, t_eval=0.1, initial=start),
    )


def test_what_is_done_to_the_model_later_does_not_reach_it():
    model = ix.library.pendulum()
    prepared = ix.prepare(model, "dopri5")
    before = prepared.run((0.0, 0.2))
    model["rod"].mass = 50.0
    assert_identical(prepared.run((0.0, 0.2)), before)


def test_it_pickles_as_model_and_settings():
    prepared = ix.prepare(ix.library.four_bar(), "bdf-i3", rtol=1e-4, t_eval=0.01)
    data = pickle.dumps(prepared)
    assert len(data) < 2 * len(pickle.dumps((prepared.model, prepared.settings)))
    again = pickle.loads(data)
    assert_identical(again.run((0.0, 0.05)), prepared.run((0.0, 0.05)))


def test_settings_are_those_of_simulate():
    model = ix.library.pendulum()
    assert set(module.Simulation(model, "auto", SETTINGS, {}).settings) == set(SETTINGS)
    assert ix.prepare(model).settings == SETTINGS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "dopri5"}, "run: method belongs to prepare"),
        ({"linear": "scipy"}, "run: linear belongs to prepare"),
        ({"alpha": -0.1}, "run: alpha belongs to prepare"),
        ({"rtoll": 1e-3}, "run has no setting 'rtoll'. Did you mean 'rtol'"),
        ({"change": {}}, "run has no setting 'change'. Did you mean 'changes'"),
        ({"rtol": 2.0}, "rtol = 2.0"),
        ({"changes": 5}, "changes = 5"),
    ],
)
def test_wrong_settings_of_a_run(settings, message):
    prepared = ix.prepare(ix.library.pendulum(), "hht-i3")
    with pytest.raises(ModelError, match=message):
        prepared.run((0.0, 0.1), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": None}, "prepare: initial belongs to a run"),
        ({"t_span": (0, 1)}, "prepare: t_span belongs to a run"),
        ({"rtoll": 1e-3}, "prepare has no option 'rtoll'. Did you mean 'rtol'"),
        ({"method": "dopri"}, "no method 'dopri'"),
        ({"method": "hht-i3", "alfa": 0.1}, "no option 'alfa'. Did you mean 'alpha'"),
    ],
)
def test_wrong_settings_of_prepare(settings, message):
    with pytest.raises(ModelError, match=message):
        ix.prepare(ix.library.pendulum(), **settings)
    with pytest.raises(ModelError, match="prepare: the model is 3"):
        ix.prepare(3)


def more_joints(model):
    model.add(ix.Spherical("more", model.ground, model["rod"], at=(0, 0, 0)))


def other_joint(model):
    del model.joints["pivot"]
    model.add(ix.Spherical("pivot", model.ground, model["rod"], at=(0, 0, 0)))


def no_joint(model):
    del model.joints["pivot"]


def other_name(model):
    model.add(ix.PointMass("ball", 1.0))


def held(model):
    model.add(ix.CoordinateConstraint("hold", model["rod"], "y"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (more_joints, "Spherical 'more' is new"),
        (other_joint, "Spherical 'pivot' stands where Revolute 'pivot' stood"),
        (no_joint, "Revolute 'pivot' is missing"),
        (other_name, "PointMass 'ball' stands where Revolute 'pivot' stood"),
        (held, "CoordinateConstraint 'hold' is new"),
    ],
)
def test_another_structure_is_refused_by_name(change, message):
    prepared = ix.prepare(ix.library.pendulum())
    other = ix.library.pendulum()
    change(other)
    with pytest.raises(ModelError, match=message):
        prepared.run((0.0, 0.1), changes=other)
    prepared.run((0.0, 0.1))


def test_numbers_that_alter_the_structure_are_refused_by_name():
    prepared = ix.prepare(ix.library.double_pendulum())
    with pytest.raises(ModelError, match="PlanarBody 'rod1': the change alters its axes without inertia"):
        prepared.run((0.0, 0.1), changes={"rod1.inertia": 0.0})
    rod = ix.library.pendulum()
    with pytest.raises(ModelError, match="RigidBody 'rod': the change alters its axes without inertia"):
        ix.prepare(rod).run((0.0, 0.1), changes={"rod.inertia": (0.0, 0.1, 0.1)})


def test_a_motion_of_another_coordinate_is_another_structure():
    def made(coordinate):
        model = ix.Model("slide")
        body = model.add(ix.RigidBody("body", 1.0, (1, 1, 1)))
        joint = model.add(ix.Cylindrical("joint", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
        model.add(ix.Motion("drive", joint, 0.0, 0.0, 0.0, coordinate=coordinate))
        return model

    with pytest.raises(ModelError, match="Motion 'drive': the change alters its constraint rows"):
        ix.prepare(made("angle")).run((0.0, 0.1), changes={"drive.coordinate": "displacement"})
    with pytest.raises(ModelError, match="Motion 'drive': the change alters its constraint rows"):
        ix.prepare(made("angle")).run((0.0, 0.1), changes=made("displacement"))


def test_a_failed_run_leaves_no_trace():
    prepared = ix.prepare(ix.library.four_bar(), "hht-i3", on_failure="raise")
    plain = prepared.run((0.0, 0.05))
    with pytest.raises(SimulationFailed):
        prepared.run((0.0, 0.05), max_steps=2)
    assert_identical(prepared.run((0.0, 0.05)), plain)


def bouncing():
    """A ball that meets the floor and a spring, pushed by a function of the user that may raise."""
    model = ix.Model("bouncing")
    ball = model.add(ix.RigidBody.sphere("ball", mass=1.0, radius=0.1, position=(0, 0, 0.3)))
    model.add(ix.Contact("floor", ball, model.ground, shapes=(ix.Sphere(0.1), ix.Plane()), stiffness=1e5, friction=0.3))
    model.add(ix.SpringDamper("coil", model.ground.marker((0, 0, 2)), ball.marker(), stiffness=20.0, damping=0.1))

    def push(t, r, A, v, w, p, out):
        if v[0, 0] > 5.0:
            raise ValueError("too fast")
        out[0, 0] = math.sin(9.0 * t)

    model.add(ix.UserForce("push", [ball.marker()], push))
    return model


THREADED = {
    "bouncing": (bouncing, ("hht-i3", "dopri5"), "ball.mass", 0.3),
    "four_bar": (ix.library.four_bar, ("auto", "radau5", "bdf-i3"), "crank.mass", 0.2),
    "chain": (lambda: ix.library.chain(4, springs=True), ("multi-index", "adams"), "gravity", 0.1),
}


@pytest.mark.parametrize(("name", "method"), [(name, method) for name, x in THREADED.items() for method in x[1]])
def test_one_simulation_in_four_threads(name, method):
    """Other starts on one system, other numbers on others: each run is what it is alone."""
    build, _, key, end = THREADED[name]
    model = build()
    prepared = ix.prepare(model, method, progress=False, t_eval=end / 20)
    value = model.gravity if key == "gravity" else model[key.partition(".")[0]].mass
    start = ix.assemble(model)
    push = 0.1 * ix.assemble(model, initial=(start.q, np.cos(np.arange(len(start.v))))).v
    cases = [{"initial": (start.q, start.v + k * push)} for k in range(4)]
    cases += [{"changes": {key: (1.2 + 0.2 * k) * value}} for k in range(2)]
    alone = [ix.prepare(model, method, progress=False, t_eval=end / 20).run((0.0, end), **case) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        together = [pool.submit(prepared.run, (0.0, end), **cases[k % 6]) for k in range(24)]
    for k, run in enumerate(together):
        assert_identical(run.result(), alone[k % 6])
    assert len({run.q.tobytes() for run in alone}) == 6


def test_what_a_function_raises_fails_its_own_run_alone():
    prepared = ix.prepare(bouncing(), "dopri5", progress=False)
    fast = np.zeros(7)
    fast[0] = 6.0
    q = prepared.model["ball"].q0
    plain = prepared.run((0.0, 0.2))
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(prepared.run, (0.0, 0.2), initial=(q, fast) if k % 2 else None) for k in range(8)]
    for k, run in enumerate(runs):
        if k % 2:
            with pytest.raises(ModelError, match="too fast"):
                run.result()
        else:
            assert_identical(run.result(), plain)


def test_variants_met_by_threads_at_once_are_compiled_once(monkeypatch):
    found = []
    pattern = maps.pattern
    monkeypatch.setattr(maps, "pattern", lambda *x: found.append("pattern") or pattern(*x))

    def released(t, state):
        return t - 0.05

    released.action = ix.open_joint("pivot")
    prepared = ix.prepare(ix.library.pendulum(), "dopri5", events=released, progress=False)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(prepared.run, (0.0, 0.1), changes={"rod.mass": 1.0 + k % 2}) for k in range(8)]
    assert len(found) == 2
    for k, run in enumerate(runs):
        assert_identical(run.result(), runs[k % 2].result())


def test_a_restored_simulation_begins_with_changes():
    """The first run compiles; what it changed must not stay."""
    model = ix.library.pendulum()
    restored = pickle.loads(pickle.dumps(ix.prepare(model, "dopri5")))
    for mass in (3.0, 5.0, None, 3.0):
        changes = None if mass is None else {"rod.mass": mass}
        plain = ix.simulate(changed_by_hand(model, changes or {}), (0.0, 0.1), "dopri5")
        assert_identical(restored.run((0.0, 0.1), changes=changes), plain)


def test_wrong_changes_leave_the_next_run_alone():
    prepared = ix.prepare(ix.library.pendulum(), "dopri5")
    wanted = prepared.run((0.0, 0.1), changes={"rod.mass": 2.0})
    with pytest.raises(ModelError):
        prepared.run((0.0, 0.1), changes={"gravity": (0, 0, 0), "rod.mass": 7.0, "rod.inertia": "heavy"})
    with pytest.raises(ModelError):
        prepared.run((0.0, 0.1), changes={"rod.mass": 7.0}, initial=3)
    assert_identical(prepared.run((0.0, 0.1), changes={"rod.mass": 2.0}), wanted)


def test_the_audit_is_of_the_changed_model():
    prepared = ix.prepare(ix.library.pendulum(), "dopri5", t_eval=0.01)
    runs = [prepared.run((0.0, 0.5), changes={"rod.mass": mass}) for mass in (2.0, 4.0)]
    for run in runs:
        share = run.energy.audit()["rod"]
        np.testing.assert_allclose(share.kinetic, run.energy.kinetic, rtol=1e-12, atol=1e-15)  # the same sums


def test_the_tables_of_a_run_go_with_it():
    """Without waiting for Python's collection of cycles: tables of large models are large, and not handed on."""
    alive = weakref.WeakSet()
    plain = State.__init__

    def noted(self, *arguments):
        plain(self, *arguments)
        alive.add(self)

    def released(t, state):
        return t - 0.05

    released.action = ix.open_joint("pivot")
    prepared = ix.prepare(ix.library.pendulum(), "hht-i3")
    gc.collect()
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(State, "__init__", noted)
            patch.setattr(workspace, "LARGEST", 0)
            for settings in ({}, {"changes": {"rod.mass": 2.0}}, {"events": released}):
                prepared.run((0.0, 0.1), **settings)
                assert not alive, settings
    finally:
        gc.enable()


@pytest.mark.parametrize("method", sorted(ix.METHODS))
def test_nothing_of_a_run_is_left_to_the_next_by_whatever_method(method):
    """Runs of one structure hand on their tables: what stands there must not matter."""
    model = ix.library.chain(3, springs=True)
    prepared = ix.prepare(model, method, progress=False, rtol=1e-4)
    free = next(iter(prepared._structures.values())).free
    first = prepared.run((0.0, 0.02), t_eval=[0.02])
    ix.simulate(model, (0.0, 0.1), "radau5", rtol=1e-3, progress=False, t_eval=[0.1])
    prepared.run((0.0, 0.03), changes={"link2.mass": 7.0}, max_steps=3)
    ix.simulate(model, (0.0, 0.1), "dopri5", rtol=1e-3, progress=False, t_eval=[0.1])
    assert_identical(prepared.run((0.0, 0.02), t_eval=[0.02]), first)
    free.clear()
    assert_identical(prepared.run((0.0, 0.02), t_eval=[0.02]), first)


@pytest.mark.parametrize("method", ["dopri5", "hht-i3"])
def test_a_result_stays_what_it_is_when_others_follow(method):
    """Its late columns are asked for when its run's tables serve another one."""
    prepared = ix.prepare(ix.library.chain(3, springs=True), method, progress=False, t_eval=1e-3)
    changes = {"link1.mass": 3.0}
    wanted = prepared.run((0.0, 0.05), changes=changes)
    names = list(wanted.arrays)
    arrays = {name: wanted.arrays[name].copy() for name in names}
    result = prepared.run((0.0, 0.05), changes=changes)
    assert prepared.run((0.0, 0.05), changes={"link1.mass": 9.0}).energy.total.any()
    prepared.run((0.0, 0.05), t_eval=[0.05])
    for name in names:
        np.testing.assert_array_equal(result.arrays[name], arrays[name], err_msg=name)
    assert result.audit == wanted.audit


def test_runs_of_changed_masses_know_their_model():
    prepared = ix.prepare(ix.library.chain(2, springs=True), "dopri5", progress=False, t_eval=0.01)
    mass, values = np.array([4.0]), {}
    values["link2.mass"] = float(mass[0])
    run = prepared.run((0.0, 0.05), changes=values)
    values["link2.mass"] = 1.0
    assert run.source.model()["link2"].mass == 4.0
    assert prepared.run((0.0, 0.05)).source.model()["link2"].mass == prepared.model["link2"].mass
    assert next(body["mass"] for body in run.layout.bodies if body["name"] == "link2") == 4.0


def test_a_doubtful_start_is_told_of_in_every_run():
    model = ix.library.pendulum()
    rod = model["rod"]
    rod.velocity_given, rod.v0[:3] = True, (0.0, 3.0, 0.0)  # along the axis of its pivot
    prepared = ix.prepare(model, "dopri5", progress=False, t_eval=[0.01])
    for _ in range(2):
        with pytest.warns(UserWarning, match="joints do not allow the velocities given"):
            prepared.run((0.0, 0.01))
