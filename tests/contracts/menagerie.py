"""Models in which every kind of force that remembers something acts at once."""

from __future__ import annotations

import math

import numpy as np

import index3 as ix

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
LAW = ix.Curve([-1.0, -0.1, 0.0, 0.2, 1.0], [-40.0, -3.0, 0.0, 5.0, 60.0])


def drag(t, r, A, v, w, p, out):
    """A force of the user on one marker."""
    out[0, :3] = -p[0] * v[0] + (0.0, 0.0, math.sin(20.0 * t))


def mount(t, x, v, p, out):
    """A force of the user in the axes of a marker."""
    out[:] = -p[0] * x - 0.1 * v


def on_sphere(t, r, A, v, w, p, out):
    """A constraint of the user: the point stays at its distance from the origin."""
    out[0] = r[0] @ r[0] - p[0] ** 2


def lagging(t, r, A, v, w, p, x, rate, z, out, res):
    """Equations of the user: a lag with a variable of its own."""
    res[0] = (0.1 + 0.01 * z[0] ** 2) * rate[0] + x[0] - v[0, 2]
    res[1] = z[0] + 0.1 * math.sin(z[0]) - x[0]
    out[0, 2] = -2.0 * z[0]


def servo(t, x, rate):
    """A drive that depends on the coordinate."""
    return 2.0 * math.cos(5.0 * t) - x - 0.1 * rate


def hardening(x):
    """A law of the user for a spring."""
    return 20.0 * x + 5.0 * x**3


def everything(drag=drag, shake=math.sin, hardening=hardening) -> ix.Model:
    """Bodies that touch, springs with curves, a support that moves, functions of the user, a tyre, stops."""
    model = ix.Model("everything")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 0.0999), velocity=(0.3, 0, -0.2)))
    law = {"stiffness": 1e5, "damping": 0.5, "friction": 0.3, "stick_velocity": 0.05}
    model.add(ix.Contact("floor", ball, model.ground, (ix.Sphere(0.1), ix.Plane()), **law))
    stretchy = ix.Curve.from_function(hardening, lambda x: 20.0 + 15.0 * x**2)
    high = (model.ground.marker((0, 0, 1)), ball.marker())
    model.add(ix.SpringDamper("cord", *high, stiffness=stretchy, damping=LAW, length=0.8))
    model.add(ix.UserForce("drag", ball, drag, (0.2,), "differences"))
    stiffness = (LAW, 20.0, 20.0, 0.5, 0.5, LAW)
    model.add(ix.Bushing("bush", model.ground, ball, at=(0, 0, 0.1), stiffness=stiffness))
    model.add(ix.VectorForce("mount", model.ground, ball, mount, (1.0,), at=(0, 0, 0.1)))

    support = model.ground.moving_marker(
        path=(lambda t: (2.0, 0.0, 0.05 * shake(8.0 * t)), lambda t: (0.0, 0.0, 0.4 * math.cos(8.0 * t)),
              lambda t: (0.0, 0.0, -3.2 * math.sin(8.0 * t))), z=Y, name="shaker",
    )  # fmt: skip
    rod = model.add(ix.RigidBody.rod("rod", (2, 0, 0), (3, 0, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", support, rod.marker((-0.5, 0, 0), z=(0, 1, 0), x=Z)))
    model.add(ix.RotationalSpringDamper("coil", pin, stiffness=LAW, damping=0.1))
    model.add(ix.Actuator("servo", pin, servo))
    model.add(ix.LineActuator("ram", model.ground.marker((2.5, 1, 0)), rod.marker(), servo))
    model.add(ix.JointLimit("stop", pin, lower=-1.0, upper=-0.01, stiffness=50.0, damping=0.5))

    bead = model.add(ix.PointMass("bead", 0.5, position=(0, 2, 0)))
    model.add(ix.UserConstraint("sphere", bead, on_sphere, rows=1, parameters=(2.0,), jacobian="differences"))
    lag = model.add(ix.States("lag", (0.0,)))
    model.add(ix.UserEquations("brake", bead, lagging, states=lag, variables=(0.1,)))

    wheel = model.add(
        ix.RigidBody.cylinder("wheel", 0.3, 0.2, mass=20.0, position=(0, 5, 0.299), orientation=(1, -1, 0, 0))
    )
    tyre = {"radius": 0.3, "stiffness": 1e5, "longitudinal_stiffness": 1e4, "cornering_stiffness": 1e4}
    model.add(ix.Tyre("tyre", wheel, model.ground, ix.Road.sine(2.0, 0.01), damping=100.0, relaxation=0.2, **tyre))
    return model


def rubbing() -> ix.Model:
    """Friction from reactions."""
    model = ix.Model("rubbing")
    block = model.add(ix.RigidBody.box("block", (0.1, 0.1, 0.1), mass=1.0, velocity=(1, 0, 0)))
    guide = model.add(ix.Prismatic("guide", model.ground, block, at=(0, 0, 0), axis=X))
    model.add(ix.JointFriction("rub", guide, 0.3, stick_velocity=0.01))
    return model


def swimming() -> ix.Model:
    """Mass that is added for accelerations alone."""
    model = ix.Model("swimming")
    fish = model.add(ix.RigidBody.box("fish", (0.1, 0.2, 0.3), mass=1.0, angular_velocity=(1, 2, 3)))
    model.add(ix.AddedMass("water", fish, (0.5, 0.2, 0.2)))
    return model


def heap() -> ix.Model:
    """Balls above each other that fall on a floor and on each other; no function of the user, so threads run freely."""
    model = ix.Model("heap")
    balls = []
    for k in range(4):
        place = (0.03 * k, 0.02 * (-1) ** k, 0.1 + 0.205 * k)
        balls.append(model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=place)))
    shapes = [(model.ground, ix.Plane()), *((ball, ix.Sphere(0.1)) for ball in balls)]
    model.add(ix.ContactSet("heap", shapes, stiffness=1e5, damping=0.5, friction=0.2, stick_velocity=0.05))
    model.add(ix.SpringDamper("cord", model.ground.marker((0, 0, 2)), balls[-1].marker(), stiffness=50.0, damping=1.0))
    return model


def other_starts(system, count: int) -> list[np.ndarray]:
    """Velocities to start from, all of them different."""
    random = np.random.default_rng(1)
    return [system.v0 + 0.1 * k * random.normal(size=system.n) for k in range(count)]
