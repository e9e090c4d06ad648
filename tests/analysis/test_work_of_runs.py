"""What is done for a run besides its steps, counted: short runs of prepared models are made of little else."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.analysis import planning
from index3.bodies.marker import Marker
from index3.compiled.interface import Kernel, Room, Table
from index3.engine import assembly, equations
from index3.linear.static_solver import StaticLU
from index3.methods.direct.hht_method import HHT
from index3.methods.projection import Projector
from index3.system import compile as compiling
from index3.system.compile import compile_model


@pytest.fixture
def counts(monkeypatch):
    """How often things are made or asked, by name."""
    found = {}

    def count(owner, name, label):
        function = getattr(owner, name)

        def counted(*arguments, **more):
            found[label] = found.get(label, 0) + 1
            return function(*arguments, **more)

        monkeypatch.setattr(owner, name, counted)

    count(Table, "__init__", "tables")
    count(Room, "__init__", "rooms")
    count(Projector, "__init__", "projectors")
    count(StaticLU, "__init__", "analyses")
    count(StaticLU, "table", "factors")
    count(planning, "check_steps", "plans")
    count(Table, "sharing", "copies")
    count(HHT, "__post_init__", "methods")
    count(Marker, "pose", "poses")
    count(compiling.Compiler, "__init__", "compilers")
    return found


def run(simulation):
    return simulation.run((0.0, 1e-3), t_eval=[1e-3], progress=False)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau5"])
@pytest.mark.parametrize("springs", [False, True])
def test_a_prepared_run_takes_over_what_the_one_before_worked_with(counts, method, springs):
    """No table is made: not even the copies in which springs remember."""
    simulation = ix.prepare(ix.library.chain(2, springs=springs), method)
    run(simulation)
    counts.clear()
    run(simulation)
    assert counts == {}


def test_a_second_run_of_a_model_as_it_is_compiles_nothing(counts):
    model = ix.library.chain(2)
    for _ in range(2):
        counts.clear()
        ix.simulate(model, (0.0, 1e-3), "dopri5", t_eval=[1e-3], progress=False)
    assert counts == {"plans": 1}


@pytest.mark.parametrize("field", ["mass", "inertia"])
def test_other_masses_are_not_compiled(counts, field):
    simulation = ix.prepare(ix.library.chain(2), "dopri5")
    for factor in (1.0, 2.0, 3.0):
        changes = {f"link2.{field}": factor * getattr(simulation.model["link2"], field)}
        counts.clear()
        simulation.run((0.0, 1e-3), changes=changes, t_eval=[1e-3], progress=False)
    assert counts == {}  # from the second run on, not even a table of records


@pytest.mark.parametrize(
    ("settings", "assembled"), [({}, 0), ({"rtol": 1e-3}, 0), ({"initial": "(q, v)"}, 1), ({"changes": "mass"}, 1)]
)
def test_the_model_is_assembled_once(monkeypatch, settings, assembled):
    model = ix.library.chain(2)
    simulation, start = ix.prepare(model, "dopri5"), ix.assemble(model)
    meant = {"(q, v)": (start.q, start.v), "mass": {"link2.mass": 3.0}}
    run(simulation)
    calls = []
    plain = assembly.project_state
    monkeypatch.setattr(equations, "project_state", lambda *x, **more: calls.append(x) or plain(*x, **more))
    settings = {key: meant.get(value, value) if isinstance(value, str) else value for key, value in settings.items()}
    simulation.run((0.0, 1e-3), t_eval=[1e-3], progress=False, **settings)
    assert len(calls) == assembled


def test_a_start_without_redundant_rows_is_not_looked_at_twice(monkeypatch):
    looks = []
    plain = assembly.check_consistency
    monkeypatch.setattr(assembly, "check_consistency", lambda *x: looks.append(x) or plain(*x))
    ix.assemble(ix.library.chain(2))
    assert len(looks) == 0
    ix.assemble(ix.library.four_bar())
    assert len(looks) == 1  # rows that were skipped may contradict the others


def test_equal_settings_are_checked_once(counts):
    simulation = ix.prepare(ix.library.chain(2), "dopri5")
    for settings, plans in (
        ({}, 1), ({}, 0), ({"rtol": 1e-3}, 1), ({"rtol": 1e-3}, 0), ({"max_steps": 7}, 1), ({"t_eval": 1e-3}, 1),
        ({"t_eval": np.array([1e-3])}, 1), ({"t_eval": np.array([1e-3])}, 1),  # which somebody may change
    ):  # fmt: skip
        counts.clear()
        simulation.run((0.0, 1e-3), **{"t_eval": [1e-3], "progress": False} | settings)
        assert counts.get("plans", 0) == plans, settings


def test_a_prepared_model_is_asked_once_what_plans_take_from_it(monkeypatch):
    asked = []
    plain = planning.functions_of_time
    monkeypatch.setattr(planning, "functions_of_time", lambda model: asked.append(model) or plain(model))
    simulation = ix.prepare(ix.library.chain(2), "dopri5")
    run(simulation)
    run(simulation)
    assert len(asked) == 1
    simulation.run((0.0, 1e-3), changes={"link2.mass": 3.0}, t_eval=[1e-3], progress=False)
    assert len(asked) == 1  # masses alone alter nothing of it
    simulation.run((0.0, 1e-3), changes={"gravity": (0.0, 0.0, -1.6)}, t_eval=[1e-3], progress=False)
    assert len(asked) == 2  # a changed model may follow other functions


def test_what_follows_from_the_structure_is_found_once_for_all_masses():
    """Found on the prepared system before its copies with other masses, which then have it."""
    simulation = ix.prepare(ix.library.chain(2), "dopri5")
    found = []
    for mass in (2.0, 3.0):
        with simulation.changed({"link2.mass": mass}) as model:
            system = simulation.compile(model)
            names = "blank", "room", "branching", "is_self_contained", "held_rates", "failing", "silent_forces"
            found.append([vars(system)[name] for name in (*names, "first_state", "user_states")])
            assert system.kind_tables[0] == [table for _, _, table in system.stages]
            assert np.array_equal(system.lengths, type(system).lengths.func(system))
            _ = system.altered[0].kind_tables, system.altered[0].lengths  # which the next one must not take over
    assert all(one is other for one, other in zip(*found, strict=True))


def test_warnings_of_numpy_are_kept_quiet_only_where_users_are_asked(monkeypatch):
    """To enter NumPy's context takes longer than most kernels of a start."""
    quiet = []
    plain = Kernel.__call__
    monkeypatch.setattr(Kernel, "__call__", lambda self, T, E: quiet.append(self.name) or plain(self, T, E))
    model = ix.library.chain(2)
    for users in (False, True):
        if users:
            model.add(ix.UserForce("push", model["link1"].marker(), lambda t, r, A, v, w, p, out: None))
        simulation = ix.prepare(model, "dopri5")
        run(simulation)
        quiet.clear()
        run(simulation)
        assert bool(quiet) == users, quiet


def test_wrong_settings_are_refused_after_right_ones():
    simulation = ix.prepare(ix.library.chain(2), "dopri5")
    run(simulation)
    for wrong in ({"project": 1}, {"rtol": True}, {"callback": 3}, {"max_steps": 1.0}, {"t_eval": [True]}):
        with pytest.raises(ix.ModelError):
            simulation.run((0.0, 1e-3), **{"t_eval": [1e-3], "progress": False} | wrong)


@pytest.mark.parametrize("build", [ix.library.andrews, lambda: ix.library.chain(3)])
def test_each_marker_is_asked_once_where_it_is(counts, build):
    model = build()
    compile_model(model)
    counts.clear()
    system = compile_model(model)
    assert counts["poses"] == len({id(marker) for group in system.groups for marker in group.markers})
    assert "analyses" not in counts
