"""Flexible beams: the pendulum of the paper, large deflections, locking, growth of the work.

    python benchmarks/beams.py [pendulum moduli spectrum elastica locking scaling]

pendulum: nine cases of the flexible pendulum against an independent solution. moduli: work of hht-i3 (1 s) and adams
(0.1 s) over the seven moduli of the paper. spectrum: what hht-i3 leaves of the high frequencies at 2e11. elastica:
errors and orders of all kinds of beams under large loads. locking: the continuum element at nu = 0 and 0.3. scaling:
time of a Newton iteration from 50 to 2000 elements.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from timing import best, print_json, print_table

import index3 as ix
from index3 import library

REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "ancf_beam"
MODULI = [2.0 * 10.0**k for k in range(5, 12)]
YOUNG, THICK = 2.07e11, 0.01
BENDING = YOUNG * THICK**4 / 12
THIN = {"height": THICK, "width": THICK, "young": YOUNG, "density": 7800.0}


def middle(result, length=0.4):
    """Tip, and signed distance of the middle from the chord between the ends."""
    ends = result["beam"].points([0.0, 0.5 * length, length])[:, :, :2]
    chord, half = ends[:, 2] - ends[:, 0], ends[:, 1] - ends[:, 0]
    return ends[:, 2], (chord[:, 0] * half[:, 1] - chord[:, 1] * half[:, 0]) / np.linalg.norm(chord, axis=1)


def pendulum():
    """Largest differences of tip and middle over 1 s, by dop853 at rtol 1e-11."""
    rows = []
    for case in json.loads((REFERENCE / "pendulum.json").read_text("utf-8"))["cases"]:
        lines = np.array(case["rows"])
        model = library.ancf_pendulum(case["young"], plane=case["plane"])
        run = ix.simulate(model, (0, lines[-1, 0]), "dop853", rtol=1e-11, atol=1e-13, t_eval=lines[:, 0])
        tip, deflection = middle(run)
        row = {"plane": case["plane"], "young": case["young"], "tip": float(np.abs(tip - lines[:, 1:3]).max())}
        row |= {"middle": float(np.abs(deflection - lines[:, 3]).max()), "steps": run.stats["steps"]}
        rows.append(row)
    print_table(rows, ["plane", "young", "tip", "middle", "steps"])
    return rows


def moduli():
    """Work over the seven moduli: hht-i3 (alpha -0.3, rtol 1e-5, atol 1e-8) over 1 s, adams over 0.1 s."""
    rows = []
    for young in MODULI:
        model, row = library.ancf_pendulum(young), {"young": young}
        tolerances = {"rtol": 1e-5, "atol": 1e-8}
        cpu, run = best(lambda m=model, t=tolerances: ix.simulate(m, (0, 1.0), ix.HHT(alpha=-0.3), **t), 2, 5.0)
        row |= {"steps": run.stats["steps"], "iterations": run.stats["newton"], "hht s": cpu}
        cpu, run = best(lambda m=model, t=tolerances: ix.simulate(m, (0, 0.1), "adams", **t), 2, 5.0)
        row |= {"evaluations": run.stats["evaluations"], "adams s": cpu}
        rows.append(row)
    counts, stiff = [row["iterations"] for row in rows], rows[3:]
    slope = np.polyfit(*(np.log([row[key] for row in stiff]) for key in ("young", "evaluations")), 1)[0]
    both = [best(lambda k=key: ix.simulate(library.ancf_pendulum(2e5), (0, 1.0), k, rtol=1e-5, atol=1e-8))[0]
            for key in (ix.HHT(alpha=-0.3), "adams")]  # fmt: skip
    print_table(rows, ["young", "steps", "iterations", "hht s", "evaluations", "adams s"])
    print(f"iterations differ by {max(counts) / min(counts):.2f}; evaluations grow as E^{slope:.2f} from 2e8;")
    print(f"at 2e5 over 1 s: hht-i3 {both[0]:.3f} s, adams {both[1]:.3f} s")
    return rows


def spectrum():
    """E = 2e11 over 0.1 s, a line every 1e-5 s: deformation above ten times the first bending frequency."""
    times, rows = np.arange(0.0, 0.1, 1e-5), []
    model = library.ancf_pendulum(2e11)
    runs = {
        "adams": ix.simulate(model, (0, times[-1]), "adams", rtol=1e-9, atol=1e-12, t_eval=times),
        "hht-i3": ix.simulate(model, (0, times[-1]), ix.HHT(alpha=-0.3), rtol=1e-5, atol=1e-8, t_eval=times),
    }
    tips = {name: middle(run) for name, run in runs.items()}
    first = 71.75 * 100.0 / (2 * np.pi)  # Hz: 71.75 rad/s at 2e7, in proportion to the root of the modulus
    frequency = np.fft.rfftfreq(len(times), 1e-5)
    for name, (tip, deflection) in tips.items():
        power = np.abs(np.fft.rfft((deflection - deflection.mean()) * np.hanning(len(times)))) ** 2
        row = {"method": name, "steps": runs[name].stats["steps"], "above": float(power[frequency > 10 * first].sum())}
        rows.append(row | {"tip": float(np.abs(tip - tips["adams"][0]).max() / 0.4)})
    print_table(rows, ["method", "steps", "above", "tip"])
    print(f"hht-i3 keeps {rows[1]['above'] / rows[0]['above']:.2e} of the energy above {10 * first:.0f} Hz")
    return rows


KINDS = {
    "continuum": lambda n: ix.AncfBeam("line", (0, 0), (1, 0), elements=n, poisson=0.0, **THIN),
    "elastic-line": lambda n: ix.AncfBeam("line", (0, 0), (1, 0), elements=n, poisson=0.0, law="elastic-line", **THIN),
    "cable": lambda n: ix.AncfCable("line", (0, 0, 0), (1, 0, 0), elements=n, **THIN),
    "space": lambda n: ix.AncfBeam3D("line", (0, 0, 0), (1, 0, 0), elements=n, poisson=0.0, **THIN),
}


def bent(kind, elements, force=0.0, moment=0.0, start=None):
    """Equilibrium of a cantilever under a force down and a moment at its end."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    line = model.add(KINDS[kind](elements))
    model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0), **({} if kind == "cable" else {"clamp": True})))
    if force:
        model.add(ix.Force("force", line.marker(s=1.0), (0, -force, 0)))
    if moment:
        end = line.marker(s=1.0) if kind == "cable" else line.marker(s=1.0, frame="tangent")
        model.add(ix.Torque("moment", end, (0, 0, moment)))
    if start is not None:
        line.q0[:] = start
    return ix.static(model, **({"method": "newton"} if start is not None else {}))


def elastica():
    """Largest tip error over the length, all loads, by elements; observed orders; the roll-up to a full circle."""
    given, rows = json.loads((REFERENCE / "large_deflection.json").read_text("utf-8")), []
    for kind in KINDS:
        for load, _, x, y in given["elastica"]:
            row = {"kind": kind, "load": load}
            errors = []
            for n in (4, 8, 16, 32):
                tip = bent(kind, n, force=load * BENDING)["line"].points(1.0)[0, 0]
                errors.append(float(np.abs(tip - (x, -y, 0.0)).max()))
                row[str(n)] = errors[-1]
            row["order"] = float(np.log2(errors[0] / errors[1]))
            rows.append(row)
    for kind in [name for name in KINDS if name != "continuum"]:
        row = {"kind": kind, "load": "circle"}
        for n in (16, 32):
            q = None
            for part in (1.0,) if kind == "elastic-line" else np.linspace(0.1, 1.0, 10):
                found = bent(kind, n, moment=part * 2 * np.pi * BENDING, start=q)
                q = found.q
            row[str(n)] = float(np.abs(found["line"].points(1.0)[0, 0, :2]).max())
        rows.append(row | {"order": float(np.log2(row["16"] / row["32"]))})
    print_table(rows, ["kind", "load", "4", "8", "16", "32", "order"])
    return rows


def locking():
    """The continuum element: tip under a small load over that of a beam, by Poisson's ratio, thickness and plane."""
    rows = []
    for height in (0.1, 0.02):
        for plane, poisson in (("stress", 0.0), ("stress", 0.3), ("strain", 0.3)):
            row = {"height": height, "plane": plane, "poisson": poisson}
            for n in (8, 32, 128):
                model = ix.Model("cantilever", gravity=(0, 0, 0))
                settings = {"height": height, "width": 0.1, "young": 1e9, "density": 1000.0, "elements": n}
                line = model.add(ix.AncfBeam("line", (0, 0), (1, 0), poisson=poisson, plane=plane, **settings))
                model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0), clamp=True))
                second, shear = 0.1 * height**3 / 12, 0.5e9 / (1 + poisson) * 0.1 * height
                young = 1e9 / (1 - poisson**2) if plane == "strain" else 1e9
                load = 3e-3 * young * second
                model.add(ix.Force("force", line.marker(s=1.0), (0, -load, 0)))
                theory = load / (3 * young * second) + load / shear
                row[str(n)] = float(-ix.static(model)["line"].points(1.0)[0, 0, 1] / theory)
            rows.append(row)
    print_table(rows, ["height", "plane", "poisson", "8", "32", "128"])
    return rows


def scaling():
    """CPU time of a Newton iteration of hht-i3 at a fixed element length of 0.02 m, from 50 to 2000 elements."""
    rows = []
    for kind in ("elastic-line", "cable"):
        for n in (50, 200, 800, 2000):
            model = ix.Model("long", gravity=(0, -9.81, 0))
            settings = {"height": 0.01, "width": 0.01, "young": 1e8, "density": 1000.0, "elements": n}
            if kind == "elastic-line":
                line = ix.AncfBeam("line", (0, 0), (0.02 * n, 0), poisson=0.3, law=kind, **settings)
            else:
                line = ix.AncfCable("line", (0, 0), (0.02 * n, 0), **settings)
            model.add(line)
            model.add(ix.Spherical("pin", model.ground, line, at=(0, 0, 0)))
            simulation, steps = ix.prepare(model, "hht-i3"), 30
            run = None
            for _ in range(3):
                again = simulation.run((0, 1e-4 * steps), step=1e-4, t_eval=[0.0, 1e-4 * steps])
                if run is None or again.stats["seconds_steps"] < run.stats["seconds_steps"]:
                    run = again
            count = run.stats["newton"]
            rows.append(
                {"kind": kind, "elements": n, "iterations": count, "us": 1e6 * run.stats["seconds_steps"] / count}
            )
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        slope = np.polyfit(np.log([row["elements"] for row in own]), np.log([row["us"] for row in own]), 1)[0]
        print(f"{kind}: time of an iteration ~ elements^{slope:.3f}")
    print_table(rows, ["kind", "elements", "iterations", "us"])
    return rows


PARTS = {
    "pendulum": pendulum, "moduli": moduli, "spectrum": spectrum, "elastica": elastica, "locking": locking,
    "scaling": scaling,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=[*PARTS, []])
    for part in parser.parse_args().parts or list(PARTS):
        print(f"\n{part}: {PARTS[part].__doc__}")
        print_json(f"beams {part}", PARTS[part]())


if __name__ == "__main__":
    sys.exit(main())
