"""The linear system of a large mechanism: its work, and that the analysis is made once."""

from __future__ import annotations

import numpy as np

import index3 as ix
from index3.compiled import slots as s
from index3.linear import contract
from index3.linear import solver as solving
from index3.methods.closing import Closer
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.system import State


def test_four_thousand_unknowns_are_little_work():
    """S2-36: factorise and solve with 4680 unknowns, again and again on one analysis: 1 million operations, not 7e10.

    That is milliseconds on any machine (0.7 measured); `benchmarks/chain.py` has the time.
    """
    state = State(compile_model(ix.library.chain(360)))
    system = state.system
    size = system.n + system.m
    assert size >= 4675
    state[s.COEF][:] = 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.matrix) == 0
    solver = Closer(state).solver
    factors = solver.table(state[s.MATRIX])
    right = np.sin(np.arange(size) + 1.0)
    for _ in range(5):
        factors[contract.X][:] = right
        assert solving.factor(factors) == 0
        solving.solve(factors)
    print("operations", solver.pattern.flops, "entries", len(solver.pattern.li))
    assert solver.pattern.flops < 250 * size  # 205: blocks of a link and a joint, whatever the length of the chain
    assert factors[contract.INFO][contract.N_FACTOR] == 5  # by one and the same analysis
    columns = np.repeat(np.arange(size), np.diff(system.sparsity.indptr))
    x, left = factors[contract.X], np.zeros(size)
    np.add.at(left, system.sparsity.indices, state[s.MATRIX][:-1] * x[columns])
    assert np.abs(left - right).max() < 1e-6 * np.abs(x).max()  # multipliers add up along 360 links
