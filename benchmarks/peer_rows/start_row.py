"""From the start of the process to a finished pendulum of 1 s."""

from __future__ import annotations

import importlib.util

import start

from peer_rows.row import Row, Way

EXUDYN = """
import exudyn
import exudyn.utilities as utilities
exudyn.config.printToConsole = False
container = exudyn.SystemContainer()
system = container.AddSystem()
ground = system.CreateGround()
inertia = utilities.InertiaCuboid(density=1000.0, sideLengths=[1.0, 0.1, 0.1])
rod = system.CreateRigidBody(referencePosition=[0.5, 0, 0], gravity=[0, 0, -9.81], inertia=inertia)
system.CreateRevoluteJoint(itemNumbers=[ground, rod], position=[0, 0, 0], axis=[0, 1, 0], useGlobalFrame=True)
system.Assemble()
settings = exudyn.SimulationSettings()
settings.timeIntegration.endTime = 1.0
settings.timeIntegration.numberOfSteps = 100
settings.timeIntegration.verboseMode = 0
settings.solution.file.write = False
system.SolveDynamic(settings)
"""


def process(setting, source):
    """A new interpreter that runs the source."""
    return Way(setting, lambda: start.run(source), start.children_cpu)


def exudyn():
    """The same pendulum in Exudyn."""
    if importlib.util.find_spec("exudyn") is None:
        raise ImportError("No module named 'exudyn'")
    yield process("100 steps", EXUDYN)


CODES = {"index3": lambda: [process("auto", start.CASES["pendulum, 1 s"])], "Exudyn": exudyn}
ROWS = [Row("process start to a finished pendulum", None, CODES, {"index3": 0.19})]
