"""Elimination written out without loops for one mechanism, as the thesis suggests, beside the static LU that loops.

    python benchmarks/generated.py [--repeats 20] [--factors 2000]

`source` writes, from the pattern of the factors alone, a function with a line for every division and every product of
the factorisation of the bordered mass matrix, entries being local variables. Numba compiles it (seconds for hundreds of
lines); the static LU is the package's kernel, called by its address. Microseconds of CPU time of one factorisation,
smallest of the repeats. Both find the same factors; only the kernel looks for redundant rows on its way. For planar
bodies: blocks of Euler parameters would have to be made definite first.
"""

import argparse
import time

import numba
import numpy as np
from reduced import planar_chain
from timing import best, print_json, print_table

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import C_KERNEL
from index3.linear import static_lu
from index3.linear.registry import solver_of
from index3.linear.static_solver import StaticLU
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

FACTOR = C_KERNEL(StaticLU.kernels[0].address)


def source(pattern, indptr, indices):
    """A function of the matrix's values and of three arrays, for L and U by columns and the diagonal, as text."""
    size = len(pattern.perm)
    below = [pattern.li[pattern.lp[k] : pattern.lp[k + 1]].tolist() for k in range(size)]
    column = pattern.pinv[np.repeat(np.arange(size), np.diff(indptr))].tolist()
    place = {(i, j): k for k, (i, j) in enumerate(zip(pattern.pinv[indices].tolist(), column, strict=True))}
    lines = ["def factor(a, lx, ux, ud):"]
    for j in range(size):
        for i in [j, *below[j]]:
            pairs = {(i, j), (j, i)}
            lines += [f"    e{r}_{c} = {f'a[{place[r, c]}]' if (r, c) in place else '0.0'}" for r, c in sorted(pairs)]
    for k in range(size):
        lines.append(f"    d{k} = 1.0 / e{k}_{k}")
        lines += [f"    e{i}_{k} = e{i}_{k} * d{k}" for i in below[k]]
        lines += [f"    e{i}_{j} = e{i}_{j} - e{i}_{k} * e{k}_{j}" for j in below[k] for i in below[k]]
    for k in range(size):
        lines.append(f"    ud[{k}] = e{k}_{k}")
        lines += [f"    lx[{n}] = e{i}_{k}" for n, i in enumerate(below[k], pattern.lp[k])]
        rows = pattern.ui[pattern.up[k] : pattern.up[k + 1]].tolist()
        lines += [f"    ux[{n}] = e{i}_{k}" for n, i in enumerate(rows, pattern.up[k])]
    return "\n".join(lines) + "\n"


def problem(model):
    """Solver and values of the bordered mass matrix of a model at its start."""
    state = State(compile_model(model))
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    state[s.COEF][:] = 0.0
    state[s.COEF][s.C_M] = 1.0
    assert state.run(evaluate.matrix) == 0
    return solver_of(state.system), state.system, state[s.MATRIX][:-1].copy()


@numba.njit
def loop(handle, count):
    """The kernel, so many times."""
    for _ in range(count):
        FACTOR(0, handle)


def measure(name, model, repeats, count):
    """A line of the table."""
    solver, system, values = problem(model)
    assert solver.factor(values) == 0
    text, space = source(solver.pattern, system.sparsity.indptr, system.sparsity.indices), {}
    exec(text, space)
    start = time.process_time()
    factor = numba.njit(error_model="numpy")(space["factor"])
    arrays = [np.zeros_like(solver.own[slot]) for slot in (static_lu.LX, static_lu.UX, static_lu.UD)]
    factor(values, *arrays)
    built = time.process_time() - start
    for found, slot in zip(arrays, (static_lu.LX, static_lu.UX), strict=False):
        assert np.allclose(found, solver.own[slot], rtol=1e-8, atol=1e-10)

    @numba.njit
    def written_out(a, lx, ux, ud, count):
        for k in range(count):
            a[0] += 1e-300 * k  # lest the call be moved out of the loop
            factor(a, lx, ux, ud)

    written_out(values, *arrays, 1)
    loop(solver.own.handle, 1)
    row = {"model": name, "unknowns": len(arrays[2]), "lines": text.count("\n"), "compiled in s": built}
    for key, run in (
        ("loops", lambda: loop(solver.own.handle, count)),
        ("written out", lambda: written_out(values, *arrays, count)),
    ):
        row[f"{key} us"] = 1e6 * best(run, repeats, 10.0)[0] / count
    return row | {"gain": row["loops us"] / row["written out us"]}


def main():
    """Measure the seven-body mechanism and a short chain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--factors", type=int, default=2000)
    arguments = parser.parse_args()
    models = {"andrews": ix.library.andrews(), "planar chain 8": planar_chain(8)}
    rows = [measure(name, model, arguments.repeats, arguments.factors) for name, model in models.items()]
    print_table(rows, list(rows[0]))
    print_json("generated", rows)


if __name__ == "__main__":
    main()
