"""Runs of one prepared model, one after the other and at once: each is bit by bit what it is alone, by every method."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import index3 as ix
from index3.engine.layout import describe


def servo(t, angle, rate):
    return 0.5 * math.sin(30.0 * t) - 0.05 * rate


def push(t, r, A, v, w, p, out):
    out[0, 0] = math.sin(50.0 * t) - 0.1 * v[0, 0]


def crowd():
    """Elements that remember: contacts of a set and of a pair, functions of the user, springs, bushings."""
    model = ix.Model("crowd")
    balls = [model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=(0.19 * k, 0.0, 0.1))) for k in range(3)]
    law = {"stiffness": 1e4, "damping": 0.2, "friction": 0.3}
    model.add(ix.ContactSet("heap", [(ball, ix.Sphere(0.1)) for ball in balls], **law))
    model.add(ix.Contact("floor", balls[1], model.ground, shapes=(ix.Sphere(0.1), ix.Plane()), **law))
    rod = model.add(ix.RigidBody.rod("rod", (-0.5, 0, 0.1), (-0.1, 0, 0.1), mass=0.5))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(-0.5, 0, 0.1), axis=(0, 1, 0)))
    model.add(ix.Spherical("hold", rod, balls[0], at=(-0.1, 0, 0.1)))
    model.add(ix.Actuator("servo", pin, servo))
    model.add(ix.UserForce("push", [balls[2].marker()], push))
    model.add(ix.SpringDamper("coil", model.ground.marker((0, 0, 1)), balls[1].marker(), stiffness=20.0, damping=0.1))
    model.add(ix.Bushing("mount", model.ground, balls[2], at=(0.38, 0, 0.1), stiffness=(1e3,) * 3, damping=(1.0,) * 3))
    return model


def linkage():
    """No function of the user: kernels of several runs are at work at once."""
    model = ix.library.four_bar()
    cable = {"elements": 2, "height": 0.02, "width": 0.02, "young": 1e6, "density": 1000.0}
    rope = model.add(ix.AncfCable("rope", (0, 0, 0.5), (0.3, 0, 0.5), damping=1e-3, **cable))
    model.add(ix.Spherical("hook", model.ground, rope, at=(0, 0, 0.5)))
    return model


def later(t, state):
    return t - 0.004


def released(t, state):
    return t - 0.007


MODELS = {"crowd": (crowd, "ball1.mass", "hold"), "linkage": (linkage, "crank.mass", "hook")}
END = 0.012
SETTINGS = {"rtol": 1e-3, "progress": False, "audit": "off"}


def cases_of(name):
    """Settings of runs: as prepared, other tolerances, another start, events, changes; most share one system."""
    build, key, joint = MODELS[name]
    start = ix.assemble(build())
    released.action = ix.open_joint(joint)
    return [
        {},
        {"rtol": 1e-4, "t_eval": END / 7},
        {"initial": (start.q, 0.9 * start.v)},
        {"events": later},
        {"changes": {key: 1.7}},
        {"changes": {"gravity": (0.0, 1.0, -5.0)}},
        {"t_eval": [END], "max_steps": 5},
        {"events": [later, released]},
        {"initial": (start.q, 1.1 * start.v), "rtol": 1e-2},
    ]


def alone(name, method, case):
    """By `simulate` of a model that no other run knows."""
    build, key, _ = MODELS[name]
    model = build()
    changes = case.get("changes", {})
    if key in changes:
        model[key.partition(".")[0]].mass = changes[key]
    model.gravity = changes.get("gravity", model.gravity)
    settings = {key: value for key, value in case.items() if key != "changes"}
    return ix.simulate(model, (0.0, END), method, **SETTINGS | settings)


def bits(result):
    """All that was computed, and the work that it took."""
    counts = {key: x for key, x in result.stats.items() if not key.startswith("seconds")}
    events = [np.asarray(times).tobytes() for times in result.t_events or ()]
    return result.message, counts, events, {name: array.tobytes() for name, array in result.arrays.items()}


@pytest.mark.parametrize("method", ["auto", *ix.METHODS])
@pytest.mark.parametrize("name", MODELS)
def test_runs_of_a_prepared_model_are_what_they_are_alone(name, method):
    """One after the other, each three times with all the others between, and four at once on one system."""
    simulation, cases = ix.prepare(MODELS[name][0](), method, **SETTINGS), cases_of(name)
    wanted = [bits(alone(name, method, case)) for case in cases]
    assert len({x[3]["q"] for x in wanted}) >= 6  # all but the events that do nothing, and starts at rest
    for order in (range(9), range(8, -1, -1), (3, 0, 6, 1, 5, 4, 2, 8, 7)):
        for k in order:
            assert bits(simulation.run((0.0, END), **cases[k])) == wanted[k], cases[k]
    ready = threading.Barrier(4)

    def run(k):
        ready.wait()
        return [(m % 9, bits(simulation.run((0.0, END), **cases[m % 9]))) for m in range(2 * k, 2 * k + 9)]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(run, range(4)):
            for k, got in found:
                assert got == wanted[k], cases[k]


def test_results_share_what_their_columns_mean_unless_reactions_are_undetermined():
    """What a run finds of its reactions is in its own result alone."""
    pendulum = ix.prepare(ix.library.double_pendulum(), "dopri5", progress=False)
    one, two = (pendulum.run((0.0, 0.01)) for _ in range(2))
    assert one.layout is two.layout
    door = ix.Model("door on two hinges")
    leaf = door.add(ix.RigidBody.box("leaf", (1.0, 0.05, 2.0), mass=20.0, position=(0.5, 0, 0)))
    for name, z in (("lower", -0.8), ("upper", 0.8)):
        door.add(ix.Revolute(name, door.ground, leaf, at=(0, 0, z), axis=(0, 0, 1)))
    redundant = ix.prepare(door, "dopri5", progress=False)
    found = redundant.run((0.0, 0.01)).layout
    assert not all(joint["unique"] for joint in found.joints)
    assert all(joint["unique"] for joint in describe(redundant.model, redundant.compile()).joints)
