"""Cost of many candidate pairs: 500 of which 20 touch against those 20 alone, and how it grows when all touch.

    python benchmarks/contact_pairs.py [--repeats 3] [--touching 20,100,500]

Three models, 1000 constant steps of 0.1 ms with HHT-I3; CPU time per step, smallest of the repeats, set-up subtracted:

- floor: 500 balls over a plane, 20 of them in contact with it;
- row: 32 balls, every one a candidate for every other (496 pairs), 20 pairs of neighbours in contact;
- all: balls on a plane, all in contact.
"""

import argparse
import math

import numpy as np
from timing import best, print_json, print_table

import index3 as ix

STEPS, STEP = 1000, 1e-4
LAW = {"stiffness": 1e5, "damping": 0.2, "friction": 0.3}
G = 9.80665
DEPTH = (G / LAW["stiffness"]) ** (1 / 1.5)


def add_ball(model, k, position):
    """A ball of 1 kg and 0.1 m, with a small velocity and spin, so that contacts vibrate and slide."""
    velocity, spin = np.random.default_rng(k).normal(scale=((0.02,) * 3, (0.2,) * 3))
    return model.add(
        ix.RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=position, velocity=velocity, angular_velocity=spin)
    )


def floor(count, touching, candidates):
    """Balls over a plane, the first of them at rest on it, the others far above; contacts for all or for those."""
    model = ix.Model("floor")
    for k in range(count):
        height = 0.1 - DEPTH if k < touching else 50.0
        ball = add_ball(model, k, (0.3 * (k % 25), 0.3 * (k // 25), height))
        if k < touching or candidates:
            model.add(ix.Contact(f"c{k}", ball, model.ground, (ix.Sphere(0.1), ix.Plane()), **LAW))
    return model


def row(count, touching, candidates):
    """Balls that touch their neighbours, wedged between walls of force; all pairs, or those that touch."""
    model = ix.Model("row", gravity=(0, 0, 0))
    balls = [add_ball(model, k, ((0.2 - DEPTH) * k if k <= touching else 5.0 + k, 0, 0)) for k in range(count)]
    for ball, push in ((balls[0], G), (balls[touching], -G)):  # keeps them together
        model.add(ix.Force(f"wall {ball.name}", ball, (push, 0, 0)))
    if candidates:
        model.add(ix.ContactSet("all", [(ball, ix.Sphere(0.1)) for ball in balls], **LAW))
    else:
        for k in range(touching):
            shapes = (ix.Sphere(0.1), ix.Sphere(0.1))
            model.add(ix.Contact(f"c{k}", balls[k], balls[k + 1], shapes, **LAW))
    return model


def measure(name, model, repeats):
    """One row of the table."""

    def run(steps):
        end = steps * STEP
        return ix.simulate(model, (0.0, end), "hht-i3", step=STEP, t_eval=[end], progress=False)

    run(2)  # loads the kernels
    short, _ = best(lambda: run(STEPS // 10), repeats)
    total, result = best(lambda: run(STEPS), repeats)
    if not result.success:
        raise SystemExit(f"{name}: {result.message}")
    pairs = sum(len(force.parts) for force in model.forces.values() if force.kind.endswith("contact_kernels"))
    return {
        "model": name,
        "bodies": len(model.bodies),
        "pairs": pairs,
        "us_per_step": (total - short) / (0.9 * STEPS) * 1e6,
        "iterations_per_step": result.stats["newton"] / STEPS,
        "factorisations": result.stats["factorisations"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--touching", type=lambda text: [int(x) for x in text.split(",")], default=[20, 100, 500])
    options = parser.parse_args()
    rows = []
    for make, count in ((floor, 500), (row, 32)):
        for candidates in (False, True):
            name = f"{make.__name__}, 20 touch{', all candidates' if candidates else ' alone'}"
            rows.append(measure(name, make(count, 20, candidates), options.repeats))
        rows[-1]["ratio"] = rows[-1]["us_per_step"] / rows[-2]["us_per_step"]
    for count in options.touching:
        rows.append(measure("all touch", floor(count, count, True), options.repeats))
    print_table(rows, ["model", "bodies", "pairs", "us_per_step", "iterations_per_step", "factorisations", "ratio"])
    costs = [row["us_per_step"] for row in rows[4:]]
    exponent = math.nan
    if len(costs) > 1:
        exponent = float(np.polyfit(np.log(options.touching), np.log(costs), 1)[0])
        print(f"\nall touching: cost per step ~ pairs^{exponent:.3f}")
    print_json("contact_pairs", rows, exponent=exponent)


if __name__ == "__main__":
    main()
