"""The linear system of a large mechanism: its work, and that the analysis is made once."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import splu

import index3 as ix
from index3.compiled import slots as s
from index3.linear import contract, static_solver
from index3.linear import solver as solving
from index3.linear.reference import sparse_matrix
from index3.linear.registry import solver_of
from index3.system import evaluate, structure
from index3.system.compile import compile_model
from index3.system.state import State


def test_four_thousand_unknowns_are_little_work(monkeypatch):
    """S2-36: HHT's matrix, not symmetric, with 4680 unknowns: factorise and solve for one step size after the other.

    One analysis for all, 1 million operations each, not 7e10: milliseconds on any machine (0.7 measured);
    `benchmarks/chain.py` has the time.
    """
    made, analyse = [], static_solver.elimination_order
    monkeypatch.setattr(static_solver, "elimination_order", lambda *given: made.append(given) or analyse(*given))
    monkeypatch.setattr(structure, "_kept", [])
    state = State(compile_model(ix.library.chain(360, springs=True)))
    system, solver, rng = state.system, solver_of(state.system), np.random.default_rng(1)
    size = system.n + system.m
    assert size >= 4675
    factors, right = solver.table(state[s.MATRIX]), np.sin(np.arange(size) + 1.0)
    for slot in (s.V, s.A, s.LAM):
        state[slot][:] = rng.normal(size=len(state[slot]))
    state[s.Q_MASS][:] = state[s.Q]
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    sizes = []
    for h in (1e-2, 1e-3, 1e-4):
        state[s.COEF][:] = 0.0  # alpha = -0.3: beta = 0.4225, gamma = 0.8
        state[s.COEF][[s.C_M, s.C_MA, s.C_K, s.C_D]] = 1 / 0.7, 0.4225 * h * h, 0.4225 * h * h, 0.8 * h
        assert state.run(evaluate.matrix) == 0
        matrix = sparse_matrix(system.sparsity, state[s.MATRIX].copy())
        sizes.append(np.abs(matrix - matrix.T).max())
        factors[contract.X][:] = right
        assert solving.factor(factors) == 0
        solving.solve(factors)
        x, expected = factors[contract.X], splu(matrix.tocsc()).solve(right)
        assert np.abs(x - expected).max() < 1e-8 * np.abs(expected).max()  # multipliers add up along 360 links
    print("operations", solver.pattern.flops, "entries", len(solver.pattern.li), "asymmetry", sizes)
    assert min(sizes) > 1e-9
    assert solver.pattern.flops < 250 * size  # 205: blocks of a link and a joint, whatever the length of the chain
    assert len(made) == 1
    made.clear()
    result = ix.simulate(ix.library.chain(360, springs=True), (0, 0.01), "hht-i3", rtol=1e-4)
    assert result.success, result.message
    assert result.stats["factorisations"] > 3
    assert len(made) == 0  # a model built alike: the structure is known
