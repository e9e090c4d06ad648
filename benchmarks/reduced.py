"""Accelerations through the reduced matrix of the thesis, beside the static LU of the simulations and general solvers.

    python benchmarks/reduced.py [--repeats 5] [--solves 200]

Microseconds of CPU time for one set of accelerations: matrix values given, factor and solve once, the matrix being that
at the end of a run by `linear="reduced"`. `good` and `bad` are the reduced matrix with its joints numbered well, and as
badly as in the thesis (along a chain 1, n, 2, n-1, ...). A second table has the ratios that Tables 2, 3 and 4 of the
thesis print for the seven-body mechanism and for a chain: general sparse LU, dense LU and the bad numbering over the
good one.
"""

import argparse

import numpy as np
from scipy.sparse.linalg import splu
from timing import best, print_json, print_table

import index3 as ix
from index3.compiled import slots as s
from index3.linear import solver as solving
from index3.linear.reduced import ReducedSolver
from index3.linear.reference import sparse_matrix
from index3.linear.registry import bordered, solver_of
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State


def planar_chain(links):
    """Pendulums hanging on each other."""
    model = ix.Model("planar chain", gravity=(0, -9.81, 0))
    previous = model.ground
    for k in range(links):
        link = model.add(ix.PlanarBody(f"link{k}", 1.0, 1 / 12, position=(k + 0.5, 0)))
        model.add(ix.Revolute(f"joint{k}", previous, link, at=(k, 0, 0), axis=(0, 0, 1)))
        previous = link
    return model


PRINTED = {  # general sparse LU, dense LU, bad numbering: times of the good one
    "andrews": (8.888 / 1.018, 0.79 / 0.23, 0.71 / 0.23),
    "planar chain 50": (1.2933 / 0.2313, 53.87 / 0.98, 54.47 / 0.98),
}
RUN = 0.01  # s


def equations(model):
    """System, values of the bordered mass matrix, right-hand side, at the end of a run."""
    end = ix.simulate(model, (0.0, RUN), "dopri5", linear="reduced", t_eval=[RUN], progress=False)
    assert end.success, end.message
    state = State(compile_model(model))
    state.move(RUN, end.q[-1], end.v[-1])
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    state[s.COEF][:] = 0.0
    state[s.COEF][s.C_M] = 1.0
    assert state.run(evaluate.matrix) == 0
    return state.system, state[s.MATRIX][:-1].copy(), np.concatenate([-state[s.G], state[s.GAMMA]])


def solvers(system, values, b):
    """Name -> function that finds the accelerations once."""
    joints, matrix = len(system.joint_bodies), sparse_matrix(system.sparsity, values)
    numbers = [k // 2 if k % 2 == 0 else joints - 1 - k // 2 for k in range(joints)]
    ways = {
        "static LU": solver_of(system), "good": ReducedSolver(bordered(system)),
        "bad": ReducedSolver(bordered(system), np.argsort(numbers).tolist()),
    }  # fmt: skip
    dense, found = matrix.toarray(), {}
    for name, solver in ways.items():
        assert solver.factor(values) == 0
        assert np.allclose(solver.solve(b), np.linalg.solve(dense, b), rtol=1e-6, atol=1e-9)
        found[name] = lambda table=solver.own: (solving.factor(table), solving.solve(table))
    found["sparse LU"] = lambda: splu(matrix).solve(b)
    found["dense LU"] = lambda: np.linalg.solve(dense, b)
    return found


def main():
    """Measure all models and solvers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--solves", type=int, default=200)
    arguments = parser.parse_args()
    models = {
        "andrews": ix.library.andrews(), "planar chain 50": planar_chain(50),
        "chain 10": ix.library.chain(10), "chain 50": ix.library.chain(50),
    }  # fmt: skip
    rows = []
    for name, model in models.items():
        system, values, b = equations(model)
        row = {"model": name, "unknowns": system.n + system.m}
        for solver, once in solvers(system, values, b).items():
            seconds, _ = best(lambda once=once: [once() for _ in range(arguments.solves)], arguments.repeats, 5.0)
            row[solver] = 1e6 * seconds / arguments.solves
        rows.append(row)
    print_table(rows, ["model", "unknowns", "static LU", "good", "bad", "sparse LU", "dense LU"])
    ratios = []
    for row in rows:
        found = {"model": row["model"]}
        for k, name in enumerate(("sparse LU", "dense LU", "bad")):
            found[f"{name} / good"] = row[name] / row["good"]
            if row["model"] in PRINTED:
                found[f"{name} printed"] = PRINTED[row["model"]][k]
        ratios.append(found)
    names = [f"{name} {what}" for name in ("sparse LU", "dense LU", "bad") for what in ("/ good", "printed")]
    print_table(ratios, ["model", *names])
    print_json("reduced", rows, ratios=ratios)


if __name__ == "__main__":
    main()
