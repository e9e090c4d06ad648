"""Cost per step of a chain of spatial links: against Exudyn at equal step size, and how it grows with the length.

    python benchmarks/chain.py [--sizes 10,50,200] [--scaling 50,100,200,500,1000] [--repeats 3] [--no-peer]

Model: `index3.library.chain(n)`, 1 s at constant steps of 1 ms, default method; the peer is Exudyn's sparse redundant
generalized-alpha with modified Newton on the same model (Euler parameters, revolute joints of five rows), if it is
installed: `pip install exudyn`. Both are timed in the same process, CPU time, smallest of the repeats. The error is
that of the end of the last link at t = 1 s. Set-up is left out on both sides: for index3 the cost of a run of one
tenth of the time is subtracted, for Exudyn the model is assembled before the clock starts.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

STEPS = 1000
REFERENCE = json.loads((Path(__file__).parent / "chain_reference.json").read_text())["tips"]


def end_error(n, tip):
    """Distance of the end of the last link from the reference, m; None without one."""
    return float(np.linalg.norm(np.asarray(tip) - REFERENCE[str(n)])) if str(n) in REFERENCE else None


def run_index3(n, repeats):
    """One row of the table for index3."""
    model = ix.library.chain(n)
    tip = model[f"link{n}"].marker((0.5, 0.0, 0.0))

    def run(t_end):
        return ix.simulate(model, (0.0, t_end), "hht-i3", step=1.0 / STEPS, t_eval=[t_end], progress=False)

    run(0.002)  # loads the kernels
    short, _ = best(lambda: run(0.1), repeats)
    total, result = best(lambda: run(1.0), repeats)
    if not result.success:
        raise SystemExit(f"chain({n}): {result.message}")
    return {
        "code": "index3",
        "n": n,
        "us_per_step": (total - short) / (0.9 * STEPS) * 1e6,
        "total_s": total,
        "tip_error": end_error(n, result.marker(tip).position[-1]),
        "iterations_per_step": result.stats["newton"] / STEPS,
    }


def build_exudyn(n):
    """The same chain in Exudyn: the system, and the last body."""
    import exudyn
    import exudyn.itemInterface as items
    import exudyn.utilities as utilities

    gravity = list(ix.library.chain(1).gravity)
    inertia = utilities.RigidBodyInertia(mass=1.0, inertiaTensor=np.diag((0.02, 1.01, 1.01)) / 12)
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    previous = system.AddObject(items.ObjectGround())
    for k in range(n):
        body = system.CreateRigidBody(
            referencePosition=[k + 0.5, 0, 0],
            gravity=gravity,
            nodeType=exudyn.NodeType.RotationEulerParameters,
            inertia=inertia,
        )
        axis = [0, 1, 0] if k % 2 == 0 else [0, 0, 1]
        system.CreateRevoluteJoint(itemNumbers=[previous, body], position=[k, 0, 0], axis=axis, useGlobalFrame=True)
        previous = body
    system.Assemble()
    return container, system, previous


def run_exudyn(n, repeats):
    """One row of the table for Exudyn."""
    import exudyn

    exudyn.config.printToConsole = False
    container, system, last = build_exudyn(n)  # the container owns the system: keep it
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.endTime = 1.0
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse

    def run():
        system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
        return system.GetObjectOutputBody(
            last,
            exudyn.OutputVariableType.Position,
            localPosition=[0.5, 0, 0],
            configuration=exudyn.ConfigurationType.Current,
        )

    cpu, tip = best(run, repeats)
    del container
    return {"code": "exudyn", "n": n, "us_per_step": cpu / STEPS * 1e6, "total_s": cpu, "tip_error": end_error(n, tip)}


def compare(sizes, repeats, peer):
    """Rows of both codes, turn by turn, with the ratios."""
    rows = []
    for n in sizes:
        own = run_index3(n, repeats)
        rows.append(own)
        if peer:
            other = run_exudyn(n, repeats)
            own["times_faster"] = other["us_per_step"] / own["us_per_step"]
            own["error_ratio"] = own["tip_error"] / other["tip_error"]
            rows.append(other)
    return rows


def scaling(sizes, repeats):
    """Rows of index3 alone, and the exponent of the cost per step over all sizes."""
    rows = [run_index3(n, repeats) for n in sizes]
    exponent = np.polyfit(np.log([row["n"] for row in rows]), np.log([row["us_per_step"] for row in rows]), 1)[0]
    return rows, float(exponent)


def has_exudyn():
    """Whether Exudyn can be imported; says how to get it."""
    try:
        import exudyn  # noqa: F401
    except ImportError:
        print("Exudyn is not installed: no comparison. To have it: pip install exudyn\n")
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = lambda text: [int(x) for x in text.split(",")]  # noqa: E731
    parser.add_argument("--sizes", type=numbers, default=[10, 50, 200])
    parser.add_argument("--scaling", type=numbers, default=[50, 100, 200, 500, 1000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true", help="leave Exudyn out")
    options = parser.parse_args()
    rows = compare(options.sizes, options.repeats, not options.no_peer and has_exudyn())
    columns = ["code", "n", "us_per_step", "total_s", "tip_error", "iterations_per_step", "times_faster", "error_ratio"]
    print_table(rows, columns)
    more, exponent = scaling(options.scaling, options.repeats)
    print(f"\ncost per step ~ n^{exponent:.3f} over n = {options.scaling}")
    print_table(more, ["n", "us_per_step", "total_s", "tip_error", "iterations_per_step"])
    longest = ix.library.chain(max(options.scaling))
    check, _ = best(longest.check, options.repeats)
    print(f"\ncheck() of {max(options.scaling)} links: {check:.3f} s")
    print_json("chain", rows, scaling=more, exponent=exponent, check_s=check)


if __name__ == "__main__":
    main()
