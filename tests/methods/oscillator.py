"""Small models and runs, and steps of chosen sizes: what the tests of methods share."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.engine.assembly import assemble_state
from index3.methods import run
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.system.compile import compile_model
from index3.system.state import State


def oscillator(stiffness: float, *, damping: float = 0.0, x: float = 0.1, speed: float = 0.0) -> ix.Model:
    """A unit mass that slides along x on a linear spring: x'' = -stiffness x - damping x'."""
    model = ix.Model("oscillator", gravity=(0, 0, 0))
    block = model.add(ix.PlanarBody("block", 1.0, 1.0, position=(x, 0), velocity=(speed, 0)))
    rail = model.ground.marker((0, 0, 0), z=(1, 0, 0))
    model.add(ix.Prismatic("rail", rail, block.marker((0, 0, 0), z=(1, 0, 0))))
    far = model.ground.marker((-10, 0, 0))
    model.add(ix.SpringDamper("spring", far, block.marker(), stiffness=stiffness, damping=damping, length=10.0))
    return model


class Stepper:
    """A method driven step by step, with sizes that the test chooses."""

    def __init__(self, model: ix.Model, method, newton_tol: float = 1e-12) -> None:
        system = compile_model(model)
        self.state = State(system)
        projector = Projector(self.state)
        assemble_state(self.state, projector, 0.0)
        self.run = Run(
            self.state, projector.solver, (0.0, 1.0), rtol=1e-6, atol=np.full(system.n, 1e-8), newton_tol=newton_tol,
            t_eval=np.zeros(0), step=1.0, max_step=np.inf, max_steps=None,
        )  # fmt: skip
        self.method = method
        self.table = method.start(self.run, None)

    def step(self, h: float) -> None:
        """One step of size h, whatever the steps before."""
        clock = self.run[run.CLOCK]
        clock[run.STEP], clock[run.T_END] = h, clock[run.T_NEW] + h
        clock[run.T_START] = clock[run.T_END] - h * (self.run.counters()["steps"] + 1)
        assert self.run.advance(self.method.kernel, self.table, 10) == run.DONE

    @property
    def q(self) -> np.ndarray:
        return self.run[run.NEW_Q]

    @property
    def v(self) -> np.ndarray:
        return self.run[run.NEW_V]


def start_run(model: ix.Model, method, rtol: float = 1e-6, first_step: float | None = None, span: float = 1.0):
    """A run with error control that the test advances try by try: the run and the method's table."""
    system = compile_model(model)
    state = State(system)
    projector = Projector(state)
    assemble_state(state, projector, 0.0)
    progress = Run(
        state, projector.solver, (0.0, span), rtol=rtol, atol=np.full(system.n, rtol / 100), newton_tol=1e-11,
        t_eval=np.zeros(0), step=0.0, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    return progress, method.start(progress, first_step)


def skate_errors(key: str, counts: tuple[int, ...]) -> np.ndarray:
    """Errors after 1 s with so many steps of a knife edge on a slope, x = g sin / (2 w^2) sin^2(w t)."""
    slope, spin, errors = 2.0, 3.0, []
    model = ix.Model("skate", gravity=(slope, 0, 0))
    skate = model.add(ix.PlanarBody("skate", 1.0, 0.1, spin=spin))
    model.add(ix.KnifeEdge("edge", model.ground, skate, at=(0, 0, 0), axis=(0, 1, 0)))
    for count in counts:
        result = ix.simulate(model, (0, 1), key, step=1 / count, t_eval=[1.0])
        errors.append(abs(result["skate"].position[-1, 0] - slope / (2 * spin**2) * np.sin(spin) ** 2))
    return np.array(errors)


def rod_on_stop():
    """A rod that falls on a stop at -2 rad and bounces: the model, and the event of its impacts."""
    model = ix.Model("stop", gravity=(0, -9.81, 0))
    rod = model.add(ix.PlanarBody.rod("rod", (0, 0), (1, 0), mass=1.0))
    pin = model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("stop", pin, -2.0, 0.0, 0.0))

    def hit(t, state):
        return state["pin"].angle + 2.0

    hit.direction, hit.action = -1, ix.impact("stop", 0.8)
    return model, hit


def check_falling_rod(key: str) -> None:
    """Energy and length of a rigid rod that falls from the horizontal, for what it is worth in a few steps."""
    model = ix.Model("rod", gravity=(0, 0, -9.81))
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Spherical("hook", model.ground, rod, at=(0, 0, 0)))
    result = ix.simulate(model, (0, 0.1), key, step=0.02)
    assert result.success, result.message
    assert np.ptp(result.energy.total) < 1e-6  # formula of order 4 or 5 at h w = 0.03; the rod has fallen 0.04 m: 0.4 J
    assert result["rod"].position[-1, 2] == pytest.approx(-0.5 * 1.5 * 9.81 / 2 * 0.01, rel=1e-2)


def orders(errors: np.ndarray) -> np.ndarray:
    """Observed orders from errors at steps halved each time."""
    return np.log2(errors[:-1] / errors[1:])
