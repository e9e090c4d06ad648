"""1000 double pendulums of 2 s, each with another mass of the second link, the second angle to 1e-4 rad: cost of one.

Two links of 1 m (box of 1 x 0.1 x 0.1 m) on parallel hinges, started horizontal at rest; second mass 0.5 to 1.5 kg.
"""

from __future__ import annotations

import functools

import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

RUNS, END, G, ERROR = 1000, 2.0, 9.81, 1e-4
MASSES = np.linspace(0.5, 1.5, RUNS)
INERTIA = np.array([0.02, 1.01, 1.01]) / 12.0  # of 1 kg
LOOKED_AT = slice(None, None, 50)


def planar():
    """In the ground x-y plane."""
    model = ix.Model("double pendulum", gravity=(0.0, -G, 0.0))
    a = model.add(ix.PlanarBody("a", 1.0, INERTIA[1], position=(0.5, 0.0)))
    b = model.add(ix.PlanarBody("b", 1.0, INERTIA[1], position=(1.5, 0.0)))
    model.add(ix.Revolute("A", model.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Revolute("B", a, b, at=(1, 0, 0), axis=(0, 0, 1)))
    return model


def spatial():
    """The same with bodies that could move in space."""
    model = ix.Model("double pendulum", gravity=(0.0, 0.0, -G))
    a = model.add(ix.RigidBody.box("a", (1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0)))
    b = model.add(ix.RigidBody.box("b", (1.0, 0.1, 0.1), mass=1.0, position=(1.5, 0, 0)))
    model.add(ix.Revolute("A", model.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Revolute("B", a, b, at=(1, 0, 0), axis=(0, 1, 0)))
    return model


def changes(build, mass):
    """Another mass and inertia of the second link."""
    inertia = INERTIA[1] * mass if build is planar else INERTIA * mass
    return {"b.mass": float(mass), "b.inertia": inertia if build is spatial else float(inertia)}


@functools.cache
def exact(build):
    """Angles at the end of some cases, by dop853 at 1e-11."""
    simulation = ix.prepare(build(), "dop853", rtol=1e-11, progress=False)
    runs = [simulation.run((0.0, END), changes=changes(build, mass), t_eval=[END]) for mass in MASSES[LOOKED_AT]]
    return np.array([float(run["B"].angle[-1]) for run in runs])


def ways(build):
    """One prepared simulation with 1000 changes, one after the other."""
    rtols = {"dopri5": (1e-5, 8e-6, 5e-6, 2e-6, 1e-6), "dop853": (1e-5, 5e-6, 2e-6, 1e-6)}
    for method, rtol in ((method, rtol) for method, several in rtols.items() for rtol in several):
        simulation = ix.prepare(build(), method, rtol=rtol, progress=False)

        def run(simulation=simulation):
            found = []
            for mass in MASSES:
                one = simulation.run((0.0, END), changes=changes(build, mass), t_eval=[END])
                found.append(float(one["B"].angle[-1]))
            return float(np.abs(np.array(found)[LOOKED_AT] - exact(build)).max())

        yield Way(f"{method} {rtol:.0e}", run)


def mujoco():
    """MuJoCo, whose compiled model gets the masses."""
    import mujoco

    text = " ".join(map(str, INERTIA))
    link = f'<joint axis="0 1 0"/><inertial pos=".5 0 0" mass="1" diaginertia="{text}"/>'
    flags = '<flag contact="disable" constraint="disable"/>'
    bodies = f'<body>{link}<body name="b" pos="1 0 0">{link}</body></body>'
    option = f'<option gravity="0 0 {-G}" integrator="RK4">{flags}</option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{bodies}</worldbody></mujoco>")
    data, body = mujoco.MjData(model), model.body("b").id
    for h in (2e-2, END / 120, END / 140, 1.25e-2, 1e-2, 8e-3, 5e-3, 2e-3, 1e-3):

        def run(h=h):
            model.opt.timestep, found = h, []
            for mass in MASSES:
                model.body_mass[body], model.body_inertia[body] = mass, INERTIA * mass
                mujoco.mj_setConst(model, data)
                mujoco.mj_resetData(model, data)
                mujoco.mj_step(model, data, round(END / h))
                found.append(data.qpos[1])
            return float(np.abs(np.array(found)[LOOKED_AT] - exact(spatial)).max())

        yield Way(f"RK4 h {1e3 * h:.3g} ms", run)


def row(build, goal):
    """1000 runs of one of the models."""
    codes = {"index3 prepared": lambda: ways(build), "MuJoCo": mujoco}
    return Row(f"{RUNS} {build.__name__} double pendulums to {ERROR:g}", ERROR, codes, {"index3 prepared": RUNS * goal})


ROWS = [row(planar, 0.8e-3), row(spatial, 2e-3)]
