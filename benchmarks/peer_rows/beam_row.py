"""A stiff flexible pendulum of 32 elements to 1e-4 m at its tip: cables and beams of index3, and cables of Exudyn.

A steel beam of 0.4 m with a section of 40 x 40 mm falls from the horizontal on a hinge for 1 s. Elements differ in
their theory, so the error of each is measured against its own solution with short steps.
"""

from __future__ import annotations

import functools

import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

LENGTH, SIDE, YOUNG, DENSITY, G, END, ELEMENTS = 0.4, 0.04, 2e11, 7800.0, 9.81, 1.0, 32
ALLOWED = 1e-4


def build(kind):
    """The pendulum as a cable or as a beam by its elastic line."""
    model = ix.Model("flexible pendulum", gravity=(0, -G, 0))
    settings = {"height": SIDE, "width": SIDE, "young": YOUNG, "density": DENSITY, "elements": ELEMENTS}
    if kind == "cable":
        line = ix.AncfCable("line", (0, 0, 0), (LENGTH, 0, 0), **settings)
    else:
        line = ix.AncfBeam("line", (0, 0), (LENGTH, 0), poisson=0.3, law="elastic-line", **settings)
    model.add(line)
    model.add(ix.Spherical("pin", model.ground, line, at=(0, 0, 0)))
    return model


@functools.cache
def simulation(kind, method):
    """Compiled once for all runs."""
    return ix.prepare(build(kind), method, progress=False)


def tip(result):
    """Where the free end is at last."""
    return result["line"].points(LENGTH)[-1, 0]


@functools.cache
def converged(kind):
    """By hht-i3 in 14000 equal steps; half as many differ by less than 1e-6 m."""
    return tip(simulation(kind, "hht-i3").run((0.0, END), step=END / 14000, t_eval=[0.0, END]))


def ways(kind):
    """Adaptive BDF, and HHT in equal steps as Exudyn's."""
    for rtol in (1e-5, 3e-6):
        yield way(kind, "bdf-i3", f"bdf-i3 {rtol:.0e}", {"rtol": rtol, "atol": 0.1 * rtol})
    for steps in (700, 800):
        method = ix.HHT(alpha=-0.1, newton_tol=1e-7)
        yield way(kind, method, f"hht-i3, {steps} steps", {"step": END / steps})


def way(kind, method, setting, settings):
    """One setting."""
    last = {}

    def run():
        result = simulation(kind, method).run((0.0, END), t_eval=[0.0, END], **settings)
        last["loop"] = result.stats["seconds_steps"]
        return float(np.linalg.norm(tip(result) - converged(kind))) if result.success else np.inf

    return Way(setting, run, loop=lambda: last["loop"])


def exudyn_cable(steps, tolerance):
    """A run of Exudyn's planar cable by generalized-alpha; where its end is, and the CPU seconds of its solver."""
    import time

    import exudyn as exu
    import exudyn.itemInterface as ii

    exu.SetWriteToConsole(False)
    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddMarker(ii.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(ii.NodePointGround()), coordinate=0))
    piece, area = LENGTH / ELEMENTS, SIDE**2
    nodes = [mbs.AddNode(ii.NodePoint2DSlope1(referenceCoordinates=[k * piece, 0, 1, 0])) for k in range(ELEMENTS + 1)]
    stiffness = {"physicsBendingStiffness": YOUNG * SIDE**4 / 12, "physicsAxialStiffness": YOUNG * area}
    for k in range(ELEMENTS):
        pair = {"nodeNumbers": nodes[k : k + 2], "physicsLength": piece, "physicsMassPerLength": DENSITY * area}
        body = mbs.AddMarker(ii.MarkerBodyMass(bodyNumber=mbs.AddObject(ii.ObjectANCFCable2D(**pair, **stiffness))))
        mbs.AddLoad(ii.LoadMassProportional(markerNumber=body, loadVector=[0, -G, 0]))
    for k in (0, 1):
        held = mbs.AddMarker(ii.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        mbs.AddObject(ii.ObjectConnectorCoordinate(markerNumbers=[ground, held]))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    stepping = settings.timeIntegration
    stepping.endTime, stepping.numberOfSteps, stepping.verboseMode = END, steps, 0
    stepping.newton.useModifiedNewton, stepping.newton.relativeTolerance = True, tolerance
    stepping.generalizedAlpha.spectralRadius = 0.8
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    before = time.process_time()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    cost = time.process_time() - before
    place = mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position, exu.ConfigurationType.Current)
    return np.array(place)[:2], cost


@functools.cache
def exudyn_converged():
    """Its own solution with short steps, 2e-6 m from that of the cable of index3."""
    return exudyn_cable(4000, 1e-5)[0]


def exudyn():
    """With its default tolerance Newton's iteration does not end; 1e-5 is what a user tries then."""
    for steps in (700, 800, 1000):
        yield exudyn_way(steps)


def exudyn_way(steps):
    """One number of steps."""
    last = {}

    def run():
        place, last["loop"] = exudyn_cable(steps, 1e-5)
        return float(np.linalg.norm(place - exudyn_converged()))

    return Way(f"generalized-alpha, {steps} steps", run, loop=lambda: last["loop"])


CODES = {
    "index3 cable, prepared": lambda: ways("cable"),
    "index3 beam, prepared": lambda: ways("beam"),
    "Exudyn ANCFCable2D": exudyn,
}
ROWS = [Row("flexible pendulum, 32 elements, 2e11, to 1e-4 m", ALLOWED, CODES)]
