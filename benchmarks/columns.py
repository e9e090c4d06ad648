"""The integration Jacobian column by column (thesis, appendix A), in one thread and in two, beside what methods do.

    python benchmarks/columns.py [--repeats 400]

Wall time in microseconds, the smallest of many turns, on the HMMWV models. `columns`: for each degree of freedom the
velocities that go with it and the derivatives of accelerations by position and velocity, three solutions against one
factorisation, right-hand sides given. `two threads`: the same, half of the columns each, own work arrays, shared
factors; kernels run without the GIL. `busier thread`: CPU time of the one of them that takes longer, which is what two
threads would take on two idle cores. `factorisation`: of the bordered matrix with the derivatives of the forces, which
the implicit methods solve with instead of forming columns. Needs Numba for the loop over columns.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from timing import print_json, print_table

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import C_KERNEL
from index3.linear import contract, static_lu, static_substitution
from index3.linear import solver as solving
from index3.linear.registry import solver_of
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

SOLVE = C_KERNEL(static_substitution.solve.address)
REFINED = C_KERNEL(static_substitution.solve_refined.address)
WORK = (contract.X, static_lu.RHS, static_lu.RESIDUAL, static_lu.WORK)


@numba.njit(nogil=True)
def solve_columns(handle, x, right, found):
    """Three solutions for each line of `right`, the last kept."""
    for j in range(right.shape[0]):
        x[:] = right[j]
        SOLVE(0, handle)
        x[:] = right[j]
        REFINED(0, handle)
        x[:] = right[j]
        REFINED(0, handle)
        found[j] = x


def solvers(model):
    """Degrees of freedom; two tables on the factors of M, the second with work arrays of its own; one for Newton."""
    state = State(compile_model(model))
    state[s.Q_MASS][:] = state[s.Q]
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    solver, tables = solver_of(state.system), []
    for c_k, c_d in ((0.0, 0.0), (1e-6, 1e-3)):
        state[s.COEF][:] = 1.0, c_k, c_k, c_d, 0.0, 0.0
        assert state.run(evaluate.matrix) == 0
        tables.append(solver.table(state[s.MATRIX].copy()))
        assert solving.factor(tables[-1]) == 0
    twin = solver.table(tables[0][contract.A])
    for slot in static_lu.SLOTS:
        if slot not in WORK:
            twin[slot] = tables[0][slot]
    return model.check().dof, tables[0], twin, tables[1]


def measure(model, repeats, pool):
    """Smallest wall times of the three ways, taken in turns [us]."""
    dof, first, second, newton = solvers(model)
    right = np.random.default_rng(0).normal(size=(dof, len(first[contract.X])))
    found, half = np.zeros_like(right), dof // 2

    def columns(table, lines):
        start = time.thread_time()
        solve_columns(table.handle, table[contract.X], right[lines], found[lines])
        return 1e6 * (time.thread_time() - start)

    def two_threads():
        other = pool.submit(columns, second, slice(half, dof))
        mine = columns(first, slice(0, half))
        least["busier thread"] = min(least["busier thread"], max(mine, other.result()))

    ways = {
        "columns": lambda: columns(first, slice(0, dof)),
        "two threads": two_threads,
        "factorisation": lambda: solving.factor(newton),
    }
    least = dict.fromkeys((*ways, "busier thread"), float("inf"))
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            least[name] = min(least[name], 1e6 * (time.perf_counter() - start))
    ways["columns"]()
    alone = found.copy()
    ways["two threads"]()
    assert np.array_equal(found, alone)
    return {"unknowns": len(first[contract.X]), "dof": dof, **least, "gain": least["columns"] / least["two threads"]}


def main():
    """Measure both vehicles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=400)
    arguments = parser.parse_args()
    rows = []
    with ThreadPoolExecutor(1) as pool:
        for name in ("hmmwv14", "hmmwv50"):
            rows.append({"model": name, **measure(getattr(ix.library, name)(), arguments.repeats, pool)})
    print_table(rows, list(rows[0]))
    print_json("columns", rows)


if __name__ == "__main__":
    main()
