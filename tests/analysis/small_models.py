"""Small mechanisms that several tests of the analyses share."""

import numpy as np

import index3 as ix

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
G = 9.80665


def pendulum(**settings):
    """A rod of 1 m and 1 kg on a pin at the origin, lying along x."""
    model = ix.Model("pendulum")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, **settings))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=Y))
    return model


def particle(gravity=(0, 0, 0), **settings):
    """One point mass of 1 kg, free; and its model."""
    model = ix.Model("particle", gravity=gravity)
    return model, model.add(ix.PointMass("bob", 1.0, **settings))


def four_bar(angular_velocity=(0, 3, 0)):
    """The README's four-bar: spatial rods, four parallel revolutes, only the crank's angular velocity given."""
    model = ix.Model("four-bar")
    A, B, C, D = (0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)
    crank = model.add(ix.RigidBody.rod("crank", A, B, mass=1.0, angular_velocity=angular_velocity))
    coupler = model.add(ix.RigidBody.rod("coupler", B, C, mass=1.0))
    rocker = model.add(ix.RigidBody.rod("rocker", C, D, mass=1.0))
    model.add(ix.Revolute("A", model.ground, crank, at=A, axis=Y))
    model.add(ix.Revolute("B", crank, coupler, at=B, axis=Y))
    model.add(ix.Revolute("C", coupler, rocker, at=C, axis=Y))
    model.add(ix.Revolute("D", rocker, model.ground, at=D, axis=Y))
    return model


def displaced_four_bar():
    """The four-bar with its coupler and rocker out of place by some centimetres and degrees."""
    model = four_bar()
    model["coupler"].q0[:3] += (0.05, 0.02, -0.03)
    model["rocker"].q0[3:] += (0.05, -0.02, 0.03, 0.01)
    return model


def locked(f, df, ddf):
    """A welded rod with a pin beside the weld, and a motion of the pin that the weld does not allow."""
    model = pendulum()
    model.add(ix.Fixed("weld", model.ground, model["rod"], at=(1, 0, 0)))
    model.add(ix.Motion("drive", model["pin"], f, df, ddf))
    return model


def impossible():
    """A rod of 1 m between two points 3 m apart."""
    model = ix.Model("impossible")
    rod = model.add(ix.RigidBody.rod("bar", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Spherical("left", model.ground.marker((0, 0, 0)), rod.marker((-0.5, 0, 0))))
    model.add(ix.Spherical("right", model.ground.marker((3, 0, 0)), rod.marker((0.5, 0, 0))))
    return model


def spatial_loop():
    """A closed spatial mechanism without redundant rows, with a spring-damper, a load and a drive.

    A crank about x, a connecting rod on a spherical and a universal joint, a slider along x: one degree of freedom.
    """
    model = ix.Model("spatial-loop")
    A, B, C = np.array((0, 0.1, 0.12)), np.array((0, 0.1, 0.2)), np.array((0.2, 0.0, 0.0))
    crank = model.add(ix.RigidBody("crank", 0.12, (1e-4, 2e-5, 1.1e-4), position=A, angular_velocity=(6.0, 0, 0)))
    rod = model.add(ix.RigidBody.rod("rod", B, C, mass=0.5, radius=0.02))
    slider = model.add(ix.RigidBody.box("slider", (0.05, 0.04, 0.03), mass=2.0, position=C))
    across = np.cross(C - B, Z)
    model.add(ix.Revolute("A", model.ground, crank, at=A, axis=X))
    model.add(ix.Spherical("B", crank, rod, at=B))
    model.add(ix.Universal("C", rod, slider, at=C, axes=(across, np.cross(across, X))))
    model.add(ix.Prismatic("D", model.ground, slider, at=C, axis=X))
    model.add(
        ix.SpringDamper(
            "strut", model.ground, slider, points=((0.5, 0, 0.1), C), stiffness=30.0, damping=2.0, length=0.3
        )
    )
    model.add(ix.Force("push", rod, (0.3, -0.2, 0.5), at=0.3 * B + 0.7 * C, follower=True))
    return model


def skew(w):
    """Cross products with w, one vector per row, as matrices."""
    zero = np.zeros(len(w))
    return np.stack([zero, -w[:, 2], w[:, 1], w[:, 2], zero, -w[:, 0], -w[:, 1], w[:, 0], zero], 1).reshape(-1, 3, 3)
