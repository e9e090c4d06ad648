"""Error at a fixed time against the tolerance.

    python benchmarks/tolerance.py [--method hht-i3] [--repeats 1]

Three mechanisms of the library, one method, atol = rtol / 100. The error is the largest over the angles of the
bodies at the end; references: the free double pendulum and Andrews' mechanism from `tests/reference`, the four-bar by
integrating its one degree of freedom with SciPy. `error/rtol` should stay of one order; `slope` is the fitted
exponent of error against rtol (2/3 for a method of order two with an error estimate of order three), `spread` the
largest factor by which an error leaves the fitted line.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from timing import best, print_json, print_table

import index3 as ix

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
REFERENCE = Path(__file__).parents[1] / "tests" / "reference"


def andrews_error(result):
    """Error of the angle of K1 at 0.03 s, rad."""
    beta = json.loads((REFERENCE / "andrews" / "data.json").read_text())["at_0_03"]["angles"][0]
    return abs(result["K1"].angle[-1] - beta)


def pendulum_error(result):
    """Largest error of the two angles at 2 s, rad."""
    data = json.loads((REFERENCE / "free_double_pendulum" / "data.json").read_text())
    phi = data["phi1_phi2_w1_w2"][data["t"].index(2)]
    return max(abs(result[f"rod{i + 1}"].angle[-1] + math.pi / 2 - phi[i]) for i in (0, 1))


def four_bar_error(result):
    """Error of the crank angle at 2 s, rad."""
    return abs(result["A"].angle[-1] - four_bar_angle(2.0))


def four_bar_angle(t_end, lengths=(0.4, 1.0, 0.8, 1.0), speed=3.0, gravity=9.80665):
    """Crank angle of the four-bar from its one equation of motion, m s'' + m' s'^2 / 2 + V' = 0.

    A uniform rod of 1 kg whose ends move with u and v has the kinetic energy (u.u + u.v + v.v) / 6.
    """
    crank, coupler, rocker, ground = lengths

    def mass_and_potential(s):
        """m and V from the crank angle; complex s is allowed."""
        B, B_s = crank * np.array((np.sin(s), np.cos(s))), crank * np.array((np.cos(s), -np.sin(s)))
        BD = np.array((ground, 0.0)) - B
        base = np.sqrt(BD @ BD)
        along = (base**2 + coupler**2 - rocker**2) / (2 * base)
        height = np.sqrt(coupler**2 - along**2)
        BC = (along * BD + height * np.array((-BD[1], BD[0]))) / base
        DC = BC - BD
        C_s = np.linalg.solve(np.array((BC, DC)), np.array((BC @ B_s, 0.0 * s)))  # lengths BC and DC are constant
        mass = (2 * B_s @ B_s + B_s @ C_s + 2 * C_s @ C_s) / 3
        return mass, gravity * (B[1] + (B + BC)[1])

    def rhs(_, y):
        s, rate = y
        (mass_s, potential_s), mass = np.imag(mass_and_potential(s + 1e-30j)) / 1e-30, mass_and_potential(s)[0]
        return rate, -(mass_s * rate**2 / 2 + potential_s) / mass

    return solve_ivp(rhs, (0.0, t_end), (0.0, speed), method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


CASES = {
    "free_double_pendulum": (2.0, pendulum_error),
    "andrews": (0.03, andrews_error),
    "four_bar": (2.0, four_bar_error),
}


def measure(name, method, repeats):
    """Rows for one mechanism, with the slope and the spread of its errors."""
    t_end, error_of = CASES[name]
    model, rows = getattr(ix.library, name)(), []
    for rtol in TOLERANCES:
        settings = {"rtol": rtol, "atol": rtol / 100, "t_eval": [t_end], "progress": False}
        cpu, result = best(lambda settings=settings: ix.simulate(model, (0.0, t_end), method, **settings), repeats)
        if not result.success:
            raise SystemExit(f"{name} by {method} at rtol {rtol:g}: {result.message}")
        error = float(error_of(result))
        rows.append(
            {
                "model": name,
                "rtol": rtol,
                "error": error,
                "error/rtol": error / rtol,
                "steps": result.stats["steps"],
                "rejected": result.stats["rejected"],
                "cpu_ms": 1e3 * cpu,
            }
        )
    x, y = np.log([row["rtol"] for row in rows]), np.log([row["error"] for row in rows])
    slope, offset = np.polyfit(x, y, 1)
    return rows, {"model": name, "slope": float(slope), "spread": float(np.exp(np.max(np.abs(y - slope * x - offset))))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=["auto", *ix.METHODS], default="hht-i3")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    rows, fits = [], []
    for name in CASES:
        more, fit = measure(name, options.method, options.repeats)
        print_table(more, ["model", "rtol", "error", "error/rtol", "steps", "rejected", "cpu_ms"])
        print(f"slope {fit['slope']:.3f}, spread {fit['spread']:.2f}\n")
        rows += more
        fits.append(fit)
    print_json("tolerance", rows, method=options.method, fits=fits)


if __name__ == "__main__":
    main()
