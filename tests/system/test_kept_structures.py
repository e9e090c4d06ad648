"""Structures are found once for models that are built alike, and what a run makes is made once."""

import numpy as np
import pytest

import index3 as ix
from index3.engine.equations import Equations
from index3.linear import static_solver
from index3.linear.registry import solver_of
from index3.methods import projection
from index3.methods.projection import Projector, kernels_for
from index3.system import structure
from index3.system.compile import compile_model


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(structure, "_kept", [])


def compiled(model):
    return compile_model(model, kernels_for(model))


def test_models_built_alike_share_their_structure():
    one, other = compiled(ix.library.chain(3)), compiled(ix.library.chain(3))
    assert one.structure is other.structure
    assert one.failures is not other.failures  # functions of time belong to a model
    assert compiled(ix.library.chain(4)).structure is not one.structure
    assert compiled(ix.library.chain(3, springs=True)).structure is not one.structure


def test_the_pattern_is_analysed_once(monkeypatch):
    calls = []

    def counted(*args):
        calls.append(args)
        return plain(*args)

    plain = static_solver.elimination_order
    monkeypatch.setattr(static_solver, "elimination_order", counted)
    for mass in (1.0, 2.0, 3.0):
        model = ix.library.chain(3)
        next(iter(model.bodies.values())).mass = mass
        ix.simulate(model, (0.0, 0.01), "dopri5", t_eval=[0.01], progress=False)
    assert len(calls) == 1


@pytest.mark.parametrize("method", ["dopri5", "hht-i3"])
def test_results_are_the_same_to_the_last_bit(method, monkeypatch):
    def run():
        model = ix.library.chain(3, springs=True)
        return ix.simulate(model, (0.0, 0.05), method, t_eval=0.01, progress=False)

    first, again = run(), run()
    monkeypatch.setattr(structure, "_kept", [])
    for name, column in run().arrays.items():
        assert np.array_equal(column, first.arrays[name]), name
        assert np.array_equal(column, again.arrays[name]), name


def test_few_structures_are_kept(monkeypatch):
    monkeypatch.setattr(structure, "KEPT", 2)
    systems = [compiled(ix.library.chain(count)) for count in (1, 2, 3)]
    assert structure._kept == [system.structure for system in systems[1:]]
    assert compiled(ix.library.chain(2)).structure is systems[1].structure
    compiled(ix.library.chain(1))
    assert systems[1].structure in structure._kept  # the other one was not asked for longer
    assert systems[2].structure not in structure._kept


def test_large_structures_are_not_kept(monkeypatch):
    monkeypatch.setattr(structure, "MOST_SCALARS", 20)
    compiled(ix.library.chain(3))
    assert structure._kept == []


def test_a_structure_whose_kernels_were_refused_is_not_used_again():
    one = compiled(ix.library.chain(2))
    one.addresses.refused = True
    assert compiled(ix.library.chain(2)).structure is not one.structure


def test_projectors_share_what_they_use_for_the_length_of_a_call():
    equations = Equations(ix.library.chain(2), "simulate")
    projectors = [Projector(equations.state, solver_of(equations.system)) for _ in range(2)]
    assert projectors[0].smallest is projectors[1].smallest
    assert projectors[0].factors is not projectors[1].factors
    places = [projector.table[projection.projection_kernels.WRENCHES] for projector in projectors]
    assert places[0] is places[1]
    assert solver_of(equations.system) is projectors[0].solver
