"""Models for `kills.py`: each holds something that a checkpoint has to bring back, and the settings of its run."""

from __future__ import annotations

import math
from typing import Any

import index3 as ix
from index3.shapes import Plane, Sphere


def four_bar() -> tuple[ix.Model, dict[str, Any]]:
    """A closed loop with redundant rows."""
    return ix.library.four_bar(), {}


def heap() -> tuple[ix.Model, dict[str, Any]]:
    """Contacts, with their lists of near pairs: balls that a wind keeps blowing about in a corner."""
    model = ix.Model("heap", gravity=(-3.0, -2.0, -9.81))
    places = [(0.15, 0.2, 0.15), (0.4, 0.18, 0.3), (0.22, 0.45, 0.5)]
    balls = [model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, 1.0, position=r)) for k, r in enumerate(places)]
    walls = [model.ground.marker((0, 0, 0), z=z) for z in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    shapes = [(wall, Plane()) for wall in walls] + [(ball, Sphere(0.1)) for ball in balls]
    law = {"stiffness": 2e4, "restitution": 0.9, "impact_velocity": 1.0, "friction": 0.2}
    model.add(ix.ContactSet("contacts", shapes, **law))
    for k, ball in enumerate(balls):
        model.add(ix.Force(f"wind{k}", ball, (lambda t, k=k: 9.0 * math.sin((2 + k) * t), 0.0, 4.0)))
    return model, {"rtol": 1e-4}


def steer(t: float, u: Any, memory: Any) -> float:
    """A controller with an integral part."""
    memory[0] += 0.01 * (math.sin(t) - u[0])
    return 40.0 * (math.sin(t) - u[0]) - 6.0 * u[1] + 20.0 * memory[0]


def robot() -> tuple[ix.Model, dict[str, Any]]:
    """A sampled controller with a memory."""
    model = ix.library.pendulum()
    motor = model.add(ix.Actuator("motor", model["pivot"], 0.0))
    model.add(ix.Controller("steer", 0.01, steer, ["pivot.angle", "pivot.angle_rate"], [motor], memory=1))
    return model, {}


def relax(t: float, r: Any, A: Any, v: Any, w: Any, p: Any, out: Any, x: Any, rate: Any) -> None:
    """A force that follows a state with a delay."""
    rate[0] = (math.sin(3.0 * t) - r[0, 2] - x[0]) / p[0]
    out[0, 2] = 30.0 * x[0] - 0.5 * v[0, 2]


def filtered() -> tuple[ix.Model, dict[str, Any]]:
    """First-order states, and a force by a Python function."""
    model = ix.library.double_pendulum()
    state = model.add(ix.States("lag", (0.1,)))
    model.add(ix.UserForce("follow", model["rod2"], relax, (0.05,), states=state))
    return model, {}


def rope() -> tuple[ix.Model, dict[str, Any]]:
    """A cable in absolute nodal coordinates with a load."""
    model = ix.Model("rope")
    steel = {"young": 1e7, "density": 1000.0, "damping": 1e-3}
    cable = model.add(ix.AncfCable("cable", (0, 0, 0), (1, 0, 0), radius=0.01, elements=4, **steel))
    load = model.add(ix.RigidBody.sphere("load", 0.05, 0.5, position=(1.05, 0, 0)))
    model.add(ix.Spherical("hook", model.ground, cable, at=(0, 0, 0)))
    model.add(ix.Spherical("eye", cable, load, at=(1, 0, 0)))
    return model, {"rtol": 1e-4}


def beam() -> tuple[ix.Model, dict[str, Any]]:
    """A beam in absolute nodal coordinates in a plane, driven at one end."""
    model = ix.Model("beam", gravity=(0.0, -9.81, 0.0))
    rubber = {"height": 0.02, "width": 0.02, "young": 2e7, "poisson": 0.3, "density": 2000.0, "damping": 1e-3}
    crank = model.add(ix.PlanarBody("crank", 0.5, 0.01, position=(0.0, 0.0)))
    blade = model.add(ix.AncfBeam("blade", (0, 0), (0.6, 0), elements=4, **rubber))
    pin = model.add(ix.Revolute("pin", model.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Fixed("root", crank, blade, at=(0, 0, 0)))
    model.add(ix.Motion("swing", pin, ix.Expression("0.5 * sin(3 * t)")))
    return model, {"rtol": 1e-4}


def modal() -> tuple[ix.Model, dict[str, Any]]:
    """A flexible body with modes in a closed loop."""
    return ix.library.flexible_slider_crank("modal", speed=15.0, damping=0.02), {"rtol": 1e-4}


def hmmwv14() -> tuple[ix.Model, dict[str, Any]]:
    """A car with tyres on a road with a bump."""
    return ix.library.hmmwv14(), {"rtol": 1e-4}


def floor(t: float, state: Any) -> float:
    """Zero where the ball is on the floor."""
    return state["ball"].position[2]


def throw(switch: ix.Switch) -> None:
    """The floor throws the ball back, so that it never comes to rest."""
    switch.v[2] = 3.0 + 0.2 * math.sin(switch.t)


floor.direction, floor.action = -1, throw


def juggler() -> tuple[ix.Model, dict[str, Any]]:
    """Events whose actions change velocities."""
    model = ix.Model("juggler")
    model.add(ix.PointMass("ball", 1.0, position=(0, 0, 1.0)))
    bar = model.add(ix.RigidBody.rod("bar", (2, 0, 0), (3, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, bar, at=(2, 0, 0), axis=(0, 1, 0)))
    return model, {"events": [floor]}


MODELS = {build.__name__: build for build in (four_bar, heap, robot, filtered, rope, beam, modal, hmmwv14, juggler)}
