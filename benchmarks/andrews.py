"""Andrews' squeezing mechanism to 1e-4 and 1e-6 in beta(0.03): the cheapest of our methods against CasADi's IDAS.

    python benchmarks/andrews.py [--methods dopri5,dop853,adams,hht-i3] [--repeats 20] [--no-peer]

index3 gets the model in words (seven planar bodies, ten revolutes), the peer equations made by hand for this mechanism:
seven angles, six loop equations, the index-1 form with accelerations and multipliers as algebraic variables, compiled
from symbols by CasADi if that is installed (`pip install casadi`). CPU time of the run, smallest of the repeats; set-up
is left out on both sides: for index3 it is what a run of one step costs. The last lines give, for either accuracy, the
cheapest run of each that reaches it.
"""

import argparse
from importlib import import_module

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

data = import_module("index3.library.andrews")  # the function of this name hides its module
BETA, T_END = 15.81077119629904, 0.03  # the value of the "Test Set for IVP Solvers"
TOLERANCES = [10.0 ** (-k / 2) for k in range(6, 21)]


def run_index3(method, repeats):
    """One line per tolerance."""
    model = data.andrews()

    def run(t_end, rtol):
        return ix.simulate(model, (0.0, t_end), method, rtol=rtol, t_eval=[t_end], progress=False)

    setup, _ = best(lambda: run(1e-9, 1e-3), repeats)
    rows = []
    for rtol in TOLERANCES:
        total, result = best(lambda rtol=rtol: run(T_END, rtol), repeats, budget=5.0)
        if result.success:
            error = abs(float(result["K1"].angle[-1]) - BETA)
            row = {"code": f"index3 {method}", "tol": rtol, "ms": 1e3 * (total - setup), "error": error}
            rows.append(row | {"evaluations": result.stats["evaluations"]})
    return rows


def equations(ca):
    """Mass matrix, right side, loops, their Jacobian and its rate, for angles q and rates v."""
    q, v = ca.SX.sym("q", 7), ca.SX.sym("v", 7)
    beta, theta, gamma, phi, delta, omega, epsilon = ca.vertsplit(q)
    A, B, C = (np.array(point) for point in (data.POINT_A, data.POINT_B, data.POINT_C))
    along = lambda x: ca.vertcat(ca.cos(x), ca.sin(x))  # noqa: E731
    across = lambda x: ca.vertcat(ca.sin(x), -ca.cos(x))  # noqa: E731
    F = data.RR * along(beta)
    E = F - data.D * along(beta + theta)
    G, H = A + data.ZT * along(delta), A + data.U * across(epsilon)
    centres = [
        data.RA * along(beta),
        F - data.DA * along(beta + theta),
        B + data.SA * across(gamma) + data.SB * along(gamma),
        G + (data.E - data.EA) * across(phi + delta),
        A + data.TA * along(delta) - data.TB * across(delta),
        H + (data.ZF - data.FA) * along(omega + epsilon),
        A + data.UA * across(epsilon) - data.UB * along(epsilon),
    ]
    angles = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    kinetic = 0
    for centre, angle, mass, inertia in zip(centres, angles, data.MASSES, data.INERTIAS, strict=True):
        u, w = ca.jacobian(centre, q) @ v, ca.jacobian(angle, q) @ v
        kinetic += 0.5 * mass * ca.dot(u, u) + 0.5 * inertia * w * w
    D = B + data.SC * across(gamma) + data.SD * along(gamma)
    stretch = ca.norm_2(D - C) - data.FREE_LENGTH
    potential = 0.5 * data.STIFFNESS * stretch**2 - data.TORQUE * beta
    momentum = ca.gradient(kinetic, v)
    M = ca.simplify(ca.jacobian(momentum, v))
    f = ca.gradient(kinetic - potential, q) - ca.jacobian(momentum, q) @ v
    loops = ca.vertcat(  # 0.035 m: the arm B-E of K3, `ss` of the test set
        E - B - 0.035 * across(gamma), E - G - data.E * across(phi + delta), E - H - data.ZF * along(omega + epsilon)
    )
    J = ca.jacobian(loops, q)
    return q, v, M, f, loops, J, ca.jacobian(J @ v, q) @ v


def index1_problem(ca):
    """The index-1 form for CasADi, with its start: angles and rates, accelerations and multipliers."""
    q, v, M, f, loops, J, rate = equations(ca)
    a, lam = ca.SX.sym("a", 7), ca.SX.sym("lam", 6)
    start = np.array(data.START)
    matrix = ca.blockcat([[M, J.T], [J, ca.SX(6, 6)]])
    initial = ca.Function("initial", [q, v], [ca.solve(matrix, ca.vertcat(f, -rate)), loops])
    first, gap = (np.array(x).ravel() for x in initial(start, np.zeros(7)))
    assert np.abs(gap).max() < 1e-12, "the loops do not close: the equations are wrong"
    balance = ca.vertcat(M @ a + J.T @ lam - f, J @ a + rate)
    problem = {"x": ca.vertcat(q, v), "z": ca.vertcat(a, lam), "ode": ca.vertcat(v, a), "alg": balance}
    return problem, np.r_[start, np.zeros(7)], first


def run_casadi(repeats):
    """One line per tolerance of IDAS on the index-1 form."""
    import casadi as ca

    problem, x0, z0 = index1_problem(ca)
    rows = []
    for tol in TOLERANCES:
        options = {"reltol": tol, "abstol": tol, "max_num_steps": 1_000_000, "suppress_algebraic": True}
        integrator = ca.integrator("run", "idas", problem, 0.0, T_END, options)
        try:
            total, end = best(lambda go=integrator: go(x0=x0, z0=z0), repeats, budget=5.0)
        except RuntimeError:
            continue
        error = abs(float(np.array(end["xf"]).ravel()[0]) - BETA)
        rows.append({"code": "casadi idas", "tol": tol, "ms": 1e3 * total, "error": error})
    return rows


def cheapest(rows, error):
    """The cheapest run that is at least this accurate, or None."""
    good = [row for row in rows if row["error"] <= error]
    return min(good, key=lambda row: row["ms"], default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="dopri5,dop853,adams,hht-i3")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    ours = [row for method in options.methods.split(",") for row in run_index3(method, options.repeats)]
    theirs = [] if options.no_peer else run_casadi(options.repeats)
    print_table([*ours, *theirs], ("code", "tol", "ms", "error", "evaluations"))
    for error in (1e-4, 1e-6):
        mine, peer = cheapest(ours, error), cheapest(theirs, error)
        if mine and peer:
            ratio = peer["ms"] / mine["ms"]
            times = f"{mine['code']} {mine['ms']:.2f} ms, {peer['code']} {peer['ms']:.2f} ms"
            print(f"to {error:g}: {times}: {ratio:.2f} times faster")
    print_json("andrews", [*ours, *theirs])


if __name__ == "__main__":
    main()
