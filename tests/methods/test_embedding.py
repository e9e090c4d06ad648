"""Two ways to the accelerations: the embedding technique with dense matrices, and the sparse augmented system."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.assembly import assemble_state
from index3.methods.projection import Projector
from index3.methods.state_space import partition
from index3.methods.state_space.jacobian import evaluate_parts
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

MODELS = {
    "four_bar": ix.library.four_bar,
    "slider_crank": ix.library.slider_crank,
    "andrews": ix.library.andrews,
    "chain": lambda: ix.library.chain(4, springs=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_embedded_equations_give_the_same_accelerations(name):
    """S3-10, S3-11: B = [I; -Cd^-1 Ci] with B^T Cq^T = 0; B^T M B q_i'' = B^T (Q - M c) with q'' = B q_i'' + c."""
    model = MODELS[name]()
    state = State(compile_model(model))
    assemble_state(state, Projector(state), 0.0)
    accelerations, lam = state[s.A].copy(), state[s.LAM].copy()  # by the sparse augmented system
    parts = evaluate_parts(state)
    rows, dependent, independent = parts.partition.rows, parts.partition.dependent, parts.partition.independent
    phi_q, every_row = parts.phi_q, partition.dense_rows(state)
    B, c = np.zeros((state.system.n, len(independent))), np.zeros(state.system.n)
    B[independent] = np.eye(len(independent))
    B[dependent] = -np.linalg.solve(phi_q[:, dependent], phi_q[:, independent])
    assert np.abs(every_row @ B).max() < 1e-12 * max(1.0, np.abs(B).max())  # all rows, redundant ones too
    state[s.LAM][:] = 0.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    c[dependent] = np.linalg.solve(phi_q[:, dependent], state[s.GAMMA][rows])
    load = -state[s.G] - parts.mass @ c
    embedded = B @ np.linalg.solve(B.T @ parts.mass @ B, B.T @ load) + c
    assert np.abs(embedded - accelerations).max() < 1e-9 * max(1.0, np.abs(accelerations).max())
    unbalance = parts.mass @ embedded + every_row.T @ lam + state[s.G]
    assert np.abs(unbalance).max() < 1e-8 * max(1.0, np.abs(load).max())  # the augmented system's multipliers fit


@pytest.mark.parametrize("method", ["adams", "dopri5"])
def test_two_thousand_coordinates_take_no_dense_matrix(method):
    """S3-11: a chain of 286 links by the sparse route: no array of n x n numbers (32 MB) at any time."""
    model = ix.library.chain(286)
    ix.simulate(ix.library.chain(2), (0, 1e-3), method)  # what is loaded once
    tracemalloc.start()
    try:
        result = ix.simulate(model, (0, 5e-3), method, step=1e-3, t_eval=[5e-3])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.success, result.message
    n = result.q.shape[1]
    print(method, n, peak / 2**20, "MB")
    assert n >= 2000
    assert peak < 8 * n * n  # measured 20 MB, most of it the model itself


def test_hht_needs_no_partition(monkeypatch):
    """S3-18: the implicit method runs where the search for independent coordinates is not to be had."""

    def refuse(*arguments):
        raise AssertionError("the partitioner was called")

    for name in ("choose_partition", "eliminate_dense", "eliminate_sparse"):
        monkeypatch.setattr(partition, name, refuse)
    assert ix.simulate(ix.library.slider_crank(), (0, 0.1), "hht-i3").success
