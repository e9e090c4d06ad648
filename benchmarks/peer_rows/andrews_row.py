"""Andrews' mechanism to 1e-4 and 1e-6 in beta(0.03): index3 in words, CasADi's IDAS on equations made by hand."""

from __future__ import annotations

import andrews
import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

METHODS = ("dopri5", "dop853")


def ways(prepared):
    """index3, compiled anew in each run or once before."""
    model = andrews.data.andrews()
    for method in METHODS:
        simulation = ix.prepare(model, method, progress=False)
        for rtol in andrews.TOLERANCES[::2]:
            yield way(model, simulation if prepared else None, method, rtol)


def way(model, simulation, method, rtol):
    """One tolerance."""
    last = {}

    def run():
        settings = {"rtol": rtol, "t_eval": [andrews.T_END]}
        if simulation is not None:
            result = simulation.run((0.0, andrews.T_END), **settings)
        else:
            result = ix.simulate(model, (0.0, andrews.T_END), method, progress=False, **settings)
        last["loop"] = result.stats["seconds_steps"]
        return abs(float(result["K1"].angle[-1]) - andrews.BETA) if result.success else np.inf

    return Way(f"{method} {rtol:.0e}", run, loop=lambda: last["loop"])


def casadi():
    """IDAS on the index-1 form; its set-up, which compiles symbols, is left out."""
    import casadi as ca

    problem, x0, z0 = andrews.index1_problem(ca)
    for tol in andrews.TOLERANCES[::2]:
        options = {"reltol": tol, "abstol": tol, "max_num_steps": 1_000_000, "suppress_algebraic": True}
        integrator = ca.integrator("run", "idas", problem, 0.0, andrews.T_END, options)

        def run(go=integrator):
            try:
                end = go(x0=x0, z0=z0)
            except RuntimeError:
                return np.inf
            return abs(float(np.array(end["xf"]).ravel()[0]) - andrews.BETA)

        yield Way(f"idas {tol:.0e}", run)


def row(error, total, prepared):
    """Andrews' mechanism to an error."""
    codes = {"index3": lambda: ways(False), "index3 prepared": lambda: ways(True), "CasADi IDAS": casadi}
    return Row(f"Andrews to {error:g}", error, codes, {"index3": total, "index3 prepared": prepared})


ROWS = [row(1e-4, 4e-3, 2e-3), row(1e-6, 5.5e-3, 3.5e-3)]
