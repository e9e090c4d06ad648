"""What a choice of independent coordinates and a set of accelerations cost on chains, and how that grows.

    python benchmarks/partition.py [--links 50 200 1000] [--repeats 7]

Microseconds of CPU time on a chain that has swung for 0.2 s. `fresh`: the sparse elimination without memory of earlier
pivots; `kept`: with their memory, as in every step of a run with parametrization="partition"; `accelerations`: forces,
Jacobian, gamma, matrix, factorisation, solution. `ratio` is against the first chain, `both` for a kept partition and a
set of accelerations together: 20 times the links may cost 25 times as much.
"""

import argparse

import numpy as np
from timing import best, print_json, print_table

import index3 as ix
from index3.compiled import slots as s
from index3.linear import contract
from index3.linear import solver as solving
from index3.linear.registry import solver_of
from index3.methods.state_space import elimination
from index3.methods.state_space.partition import elimination_table
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State


def jobs(links):
    """What is measured on a chain: name -> function, and the number of entries of the reduced rows."""
    model = ix.library.chain(links)
    run = ix.simulate(model, (0.0, 0.2), "hht-i3", step=0.002, t_eval=[0.2])
    state = State(compile_model(model))
    state.move(0.2, run.q[-1], run.v[-1])
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    table, solver = elimination_table(state), solver_of(state.system)
    factors = solver.table(state[s.MATRIX])
    state[s.COEF][:] = 0.0
    state[s.COEF][s.C_M] = 1.0
    pivot = table[elimination.PIVOT]

    def eliminate():
        assert elimination.eliminate(state.handle, table.handle) == 0

    def eliminate_afresh():
        pivot[:] = -1
        eliminate()

    def accelerate():
        state.run(evaluate.forces, evaluate.jacobian, evaluate.levels, evaluate.matrix)
        solving.factor(factors)
        factors[contract.X][:] = np.concatenate([-state[s.G], state[s.GAMMA]])
        solving.solve(factors)

    tasks = {"fresh": eliminate_afresh, "kept": eliminate, "accelerations": accelerate}
    return tasks, int(table[elimination.INFO][elimination.ENTRIES])


def main():
    """Measure all chains, in turns: the smallest time of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    chains = {links: jobs(links) for links in arguments.links}
    least = {(links, name): float("inf") for links, (tasks, _) in chains.items() for name in tasks}
    for _ in range(arguments.repeats):
        for links, (tasks, _) in chains.items():
            times = max(1, 4000 // links)
            for name, task in tasks.items():
                seconds, _ = best(lambda task=task, times=times: [task() for _ in range(times)], 1)
                least[links, name] = min(least[links, name], 1e6 * seconds / times)
    rows, first = [], arguments.links[0]
    for links, (tasks, entries) in chains.items():
        row = {"links": links, "entries": entries}
        for name in tasks:
            row[name] = least[links, name]
            row[f"ratio {name}"] = least[links, name] / least[first, name]
        both = [sum(least[count, name] for name in ("kept", "accelerations")) for count in (links, first)]
        row["ratio both"] = both[0] / both[1]
        rows.append(row)
    print_table(rows, list(rows[0]))
    print_json("partition", rows)


if __name__ == "__main__":
    main()
