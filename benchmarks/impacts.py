"""Are runs with stiff impacts right, or do they tell?

    python benchmarks/impacts.py [--methods dopri5,adams] [--models ball,limit] [--rtol 1e-2,1e-4] [--list] [--others]

Eight families of models with one to three impacts, each with several stiffnesses and speeds: a ball dropped on a plane,
the same with restitution, two balls that collide freely, a pendulum and a slider that meet a `JointLimit`, a box that
falls on its corners, a ball thrown on a rough plane, a link whose end hits the floor. The reference is `dop853` at rtol
1e-10; a model is left out (and named) if `radau5` at 1e-9 differs from it by more than 0.1 %.

The error is the largest difference of a coordinate at 60 times as a part of the largest excursion of all coordinates.
A run is `right` if it stays below 30, 10, 5, 1, 1 % at rtol 1e-2 to 1e-6; else it has `warned`, has `ended` by name, or
was silently `wrong`. `--list` names the last. `--others`: other stiffnesses, heights and speeds, which
were not looked at while rules of methods were chosen.
"""

import argparse
import math
import warnings

import numpy as np
from timing import print_json, print_table

import index3 as ix

ALLOWED = {1e-2: 0.3, 1e-3: 0.1, 1e-4: 0.05, 1e-5: 0.01, 1e-6: 0.01}
"""Error that a run may have at each rtol."""
MOST_STEPS = 200_000
"""Steps of a run; one that needs more has ended by name."""

SHORT = 1e-3
"""Part of the span that a step of a reference has at most, so that it does not pass an impact over."""


def world():
    """An empty model with gravity downwards."""
    return ix.Model(gravity=(0.0, 0.0, -9.81))


def dropped(stiffness, height, exponent, **law):
    """A ball that falls on a plane; the span holds two or three bounces at most."""
    model = world()
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0.0, 0.0, 0.1 + height)))
    law = {"damping": 0.0} | law
    shapes = (ix.Sphere(0.1), ix.Plane())
    model.add(ix.Contact("floor", ball, model.ground, shapes, stiffness=stiffness, exponent=exponent, **law))
    return model, 2.4 * math.sqrt(2.0 * height / 9.81)


def bouncing(stiffness, height, restitution):
    """A ball with restitution."""
    speed = math.sqrt(2.0 * 9.81 * height)
    return dropped(stiffness, height, 1.5, damping=None, restitution=restitution, impact_velocity=speed)


def colliding(stiffness, speed, ratio):
    """Two balls without gravity, one of which is at rest."""
    model = ix.Model(gravity=(0.0, 0.0, 0.0))
    first = model.add(ix.RigidBody.sphere("first", 0.1, mass=1.0, velocity=(speed, 0.0, 0.0)))
    second = model.add(ix.RigidBody.sphere("second", 0.1, mass=ratio, position=(0.5, 0.02, 0.0)))
    shapes = (ix.Sphere(0.1), ix.Sphere(0.1))
    model.add(ix.Contact("bang", first, second, shapes, stiffness=stiffness, damping=0.0))
    return model, 1.0 / speed


def pendulum(stiffness, limit, damping):
    """A pendulum that is let go from the horizontal and meets a stop."""
    model = world()
    rod = model.add(ix.RigidBody("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), position=(0.5, 0.0, 0.0)))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    model.add(ix.JointLimit("stop", pin, lower=-9.0, upper=limit, stiffness=stiffness, damping=damping))
    return model, 1.3


def slider(stiffness, speed, damping):
    """A block between two stops, without gravity along its way."""
    model = world()
    block = model.add(ix.RigidBody("block", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(speed, 0.0, 0.0)))
    rail = model.add(ix.Prismatic("rail", model.ground, block, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    model.add(ix.JointLimit("stops", rail, lower=-0.3, upper=0.3, stiffness=stiffness, damping=damping))
    return model, 1.2 / speed


def box(stiffness, angle):
    """A box that falls on an edge or a corner, and flies off turning."""
    model = world()
    orientation = quaternion((0.3, 1.0, 0.0), angle)
    body = model.add(ix.RigidBody("box", 1.0, (0.01, 0.012, 0.014), position=(0, 0, 0.5), orientation=orientation))
    shapes = (ix.Box((0.1, 0.1, 0.05)), ix.Plane())
    model.add(ix.Contact("floor", body, model.ground, shapes, stiffness=stiffness, damping=0.0))
    return model, 0.45


def quaternion(axis, angle):
    """The unit quaternion of a turn."""
    axis = np.array(axis) / np.linalg.norm(axis)
    return (math.cos(angle / 2.0), *(math.sin(angle / 2.0) * axis))


def thrown(stiffness, speed, restitution):
    """A ball thrown on a rough plane."""
    model = world()
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0.0, 0.0, 0.4), velocity=(speed, 0.0, -1.0)))
    law = {"restitution": restitution, "impact_velocity": 2.6, "friction": 0.3, "stick_velocity": 0.05}
    model.add(ix.Contact("floor", ball, model.ground, (ix.Sphere(0.1), ix.Plane()), stiffness=stiffness, **law))
    return model, 0.6


def link(stiffness, height):
    """Two links of a chain; the ball at the end of the second hits the floor."""
    model, at, before = world(), 0.0, None
    for k in range(2):
        body = model.add(ix.RigidBody(f"link{k}", 1.0, (0.003, 0.03, 0.03), position=(at + 0.3, 0.0, 0.0)))
        model.add(ix.Revolute(f"pin{k}", before or model.ground, body, at=(at, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        at, before = at + 0.6, body
    floor = model.ground.marker((0.0, 0.0, -height))
    tip = before.marker((0.3, 0.0, 0.0))
    model.add(ix.Contact("floor", tip, floor, (ix.Sphere(0.05), ix.Plane()), stiffness=stiffness, damping=0.0))
    return model, 0.6


def settings_of(others):
    """Of each family the function that makes a model, and its settings."""
    if others:
        return {
            "ball": (dropped, [(k, h, e) for k in (3e5, 2e7, 6e8) for h in (0.3, 2.5) for e in (1.0, 1.5)]),
            "restitution": (bouncing, [(k, h, r) for k in (6e5, 4e8) for h in (0.5, 1.3) for r in (0.3, 0.7)]),
            "pendulum": (pendulum, [(k, x, c) for k in (5e4, 2e7) for x in (0.5, 1.2) for c in (0.0, 10.0, 60.0)]),
            "slider": (slider, [(k, v, c) for k in (3e4, 2e7) for v in (1.3, 3.0) for c in (0.0, 50.0, 200.0)]),
            "thrown": (thrown, [(4e6, v, r) for v in (1.0, 2.0) for r in (0.4, 0.8)]),
            "link": (link, [(k, h) for k in (2e5, 3e7) for h in (0.4, 0.7)]),
        }
    return {
        "ball": (dropped, [(k, h, e) for k in (1e4, 1e6, 1e8, 1e10) for h in (0.05, 1.0, 5.0) for e in (1.0, 1.5)]),
        "restitution": (bouncing, [(k, h, r) for k in (1e5, 1e7, 1e9) for h in (0.2, 2.0) for r in (0.5, 0.9)]),
        "balls": (colliding, [(k, v, m) for k in (1e5, 1e7, 1e9) for v in (0.3, 10.0) for m in (1.0, 5.0)]),
        "pendulum": (pendulum, [(k, x, c) for k in (1e4, 1e6, 1e8) for x in (0.8, 1.5) for c in (0.0, 30.0)]),
        "slider": (slider, [(k, v, c) for k in (1e4, 1e6, 5e8) for v in (0.5, 5.0) for c in (0.0, 100.0)]),
        "box": (box, [(k, x) for k in (1e5, 1e6, 1e8) for x in (0.2, 0.7, 1.2)]),
        "thrown": (thrown, [(k, v, r) for k in (1e5, 1e7, 1e9) for v in (0.5, 3.0) for r in (0.5, 0.9)]),
        "link": (link, [(k, h) for k in (1e4, 1e6, 1e8) for h in (0.3, 0.6, 0.9)]),
    }


def cases(others=False):
    """The name of a case, the function that makes its model and span, and its settings."""
    for family, (make, settings) in settings_of(others).items():
        for values in settings:
            yield f"{family}({', '.join(f'{x:g}' for x in values)})", make, values


def run(make, values, method, rtol, part=math.inf):
    """The result of a run, with steps of at most this part of the span, and whether something was said of it."""
    model, span = make(*values)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        times = np.linspace(0.0, span, 61)
        try:
            result = ix.simulate(
                model, (0.0, span), method, rtol=rtol, t_eval=times, max_step=part * span, max_steps=MOST_STEPS
            )
        except ix.SimulationFailed as failure:
            result = failure.result
    return result, any(issubclass(w.category, UserWarning) for w in caught)


def difference(q, reference):
    """The largest difference as a part of the largest excursion."""
    return float(np.abs(q - reference).max() / np.ptp(reference, axis=0).max())


def references(wanted, others=False):
    """Cases with the coordinates of their references."""
    found = []
    for name, make, values in cases(others):
        if wanted and name.split("(")[0] not in wanted:
            continue
        first, _ = run(make, values, "dop853", 1e-10, SHORT)
        second, _ = run(make, values, "radau5", 1e-9, SHORT)
        if not (first.success and second.success and difference(second.q, first.q) < 1e-3):
            print(f"left out: {name}: its references differ")
            continue
        found.append((name, make, values, first.q))
    return found


def judge(make, values, reference, method, rtol):
    """A word for a run, and its error."""
    result, told = run(make, values, method, rtol)
    if not result.success:
        return "ended", math.inf
    error = difference(result.q, reference)
    return "right" if error <= ALLOWED[rtol] else "warned" if told else "wrong", error


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(ix.METHODS))
    parser.add_argument("--models", default="", help="families; all by default")
    parser.add_argument("--rtol", default=",".join(f"{x:g}" for x in ALLOWED))
    parser.add_argument("--list", action="store_true", help="name the runs that are silently wrong")
    parser.add_argument("--others", action="store_true", help="other settings of the families")
    options = parser.parse_args()
    models, rows = references(options.models.split(",") if options.models else [], options.others), []
    print(f"{len(models)} models; right / warned / ended / silently wrong at each rtol")
    for method in options.methods.split(","):
        row, all_wrong = {"method": method}, 0
        for rtol in map(float, options.rtol.split(",")):
            counts = dict.fromkeys(("right", "warned", "ended", "wrong"), 0)
            for name, make, values, reference in models:
                word, error = judge(make, values, reference, method, rtol)
                counts[word] += 1
                if options.list and word == "wrong":
                    print(f"{method} {rtol:g} {name}: off by {100 * error:.3g} %", flush=True)
            row[f"{rtol:g}"] = " / ".join(map(str, counts.values()))
            all_wrong += counts["wrong"]
        rows.append(row | {"silently wrong": all_wrong})
        print(rows[-1], flush=True)
    print_table(rows, list(rows[0]))
    print_json("impacts", rows)


if __name__ == "__main__":
    main()
