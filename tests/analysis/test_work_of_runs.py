"""What is done for a run besides its steps, counted: short runs of prepared models are made of little else."""

from __future__ import annotations

import pytest

import index3 as ix
from index3.bodies.marker import Marker
from index3.compiled.interface import Room, Table
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
    count(HHT, "__post_init__", "methods")
    count(Marker, "pose", "poses")
    count(compiling.Compiler, "__init__", "compilers")
    return found


def run(simulation):
    return simulation.run((0.0, 1e-3), t_eval=[1e-3], progress=False)


def test_a_prepared_run_makes_a_state_a_projector_and_tables(counts):
    simulation = ix.prepare(ix.library.chain(2), "hht-i3")
    run(simulation)
    counts.clear()
    run(simulation)
    # tables: of the run, of its method, of a line that checks the start, of lines as written and as closed
    assert counts == {"tables": 5, "projectors": 1}


def test_a_second_run_of_a_model_as_it_is_compiles_nothing(counts):
    model = ix.library.chain(2)
    for _ in range(2):
        counts.clear()
        ix.simulate(model, (0.0, 1e-3), "hht-i3", t_eval=[1e-3], progress=False)
    assert counts == {"tables": 5, "projectors": 1, "methods": 1}


@pytest.mark.parametrize("build", [ix.library.andrews, lambda: ix.library.chain(3)])
def test_each_marker_is_asked_once_where_it_is(counts, build):
    model = build()
    compile_model(model)
    counts.clear()
    system = compile_model(model)
    assert counts["poses"] == len({id(marker) for group in system.groups for marker in group.markers})
    assert "analyses" not in counts
