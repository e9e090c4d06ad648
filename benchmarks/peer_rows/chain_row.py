"""Chains of spatial links, the end of the last one to 1e-5 m after 1 s: absolute coordinates against a tree's."""

from __future__ import annotations

import itertools

import chain
import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

GRAVITY = tuple(ix.library.chain(1).gravity)
INERTIA = (0.02 / 12.0, 1.01 / 12.0, 1.01 / 12.0)  # of a box of 1.0 x 0.1 x 0.1 m and 1 kg
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
"""Of every code with error control: as fine as costs at equal error can be told apart."""
GOALS = {10: 4.5e-3, 50: 17e-3, 200: 85e-3, 1000: 450e-3}


def ways(n):
    """index3, compiled anew in each run."""
    model = ix.library.chain(n)
    tip = model[f"link{n}"].marker((0.5, 0.0, 0.0))
    for method in ("dopri5", "dop853"):
        for rtol in TOLERANCES:
            yield way(n, model, tip, method, rtol)


def way(n, model, tip, method, rtol):
    """One tolerance."""
    last = {}

    def run():
        result = ix.simulate(model, (0.0, 1.0), method, rtol=rtol, t_eval=[1.0], progress=False)
        last["loop"] = result.stats["seconds_steps"]
        return chain.end_error(n, result.marker(tip).position[-1])

    return Way(f"{method} {rtol:.0e}", run, loop=lambda: last["loop"])


def drake(n):
    """Drake's tree with error-controlled Runge-Kutta; building the plant is left out."""
    from pydrake import all as drake

    plant = drake.MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    frame, offset = plant.world_frame(), 0.0
    inertia = drake.SpatialInertia.MakeFromCentralInertia(1.0, [0.5, 0, 0], drake.RotationalInertia(*INERTIA))
    for k in range(n):
        body = plant.AddRigidBody(f"link{k}", inertia)
        shifted = drake.FixedOffsetFrame(f"end{k}", frame, drake.RigidTransform([offset, 0, 0]))
        axis = [0, 1, 0] if k % 2 == 0 else [0, 0, 1]
        plant.AddJoint(drake.RevoluteJoint(f"joint{k}", plant.AddFrame(shifted), body.body_frame(), axis))
        frame, offset = body.body_frame(), 1.0
    plant.Finalize()
    for scheme, accuracy in itertools.product(("runge_kutta3", "runge_kutta5"), TOLERANCES):

        def run(scheme=scheme, accuracy=accuracy):
            simulator = drake.Simulator(plant)
            drake.ResetIntegratorFromFlags(simulator, scheme, 0.1)
            simulator.get_mutable_integrator().set_target_accuracy(accuracy)
            simulator.Initialize()
            simulator.AdvanceTo(1.0)
            context = plant.GetMyContextFromRoot(simulator.get_context())
            end = plant.CalcPointsPositions(context, frame, np.array([[1.0], [0.0], [0.0]]), plant.world_frame())
            return chain.end_error(n, end.ravel())

        yield Way(f"{scheme} {accuracy:.0e}", run)


def mujoco(n):
    """MuJoCo's tree with Runge-Kutta 4 and constant steps; compiling the model is left out."""
    import mujoco

    text = " ".join(map(str, INERTIA))
    links, closing = "", ""
    for k in range(n):
        axis = "0 1 0" if k % 2 == 0 else "0 0 1"
        links += f'<body pos="{1 if k else 0} 0 0"><joint axis="{axis}"/>'
        links += f'<inertial pos=".5 0 0" mass="1" diaginertia="{text}"/>'
        closing += "</body>"
    flags = '<flag contact="disable" constraint="disable"/>'
    gravity = " ".join(map(str, GRAVITY))
    tip = '<site name="tip" pos="1 0 0"/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{gravity}" integrator="RK4">{flags}</option><worldbody>{links}{tip}{closing}'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    for steps in (30, 55, 100, 170, 300):

        def run(steps=steps):
            model.opt.timestep = 1.0 / steps
            mujoco.mj_resetData(model, data)
            mujoco.mj_step(model, data, steps)
            mujoco.mj_forward(model, data)
            return chain.end_error(n, data.site("tip").xpos)

        yield Way(f"RK4 h {1e3 / steps:.3g} ms", run)


def row(n):
    """A chain of n links."""
    codes = {"index3": lambda: ways(n), "Drake (tree)": lambda: drake(n)}
    if n <= 200:
        codes["MuJoCo (tree)"] = lambda: mujoco(n)
    return Row(f"chain of {n} links to 1e-5 m", 1e-5, codes, {"index3": GOALS[n]})


ROWS = [row(n) for n in GOALS]
