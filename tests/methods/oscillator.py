"""A linear oscillator, and steps of chosen sizes: what the tests of methods share."""

from __future__ import annotations

import numpy as np

import index3 as ix
from index3.analysis.assemble import assemble_state
from index3.methods import run
from index3.methods.closing import Closer
from index3.methods.runner import Run
from index3.system.compile import compile_model
from index3.system.system import State


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
        closer = Closer(self.state)
        assemble_state(self.state, closer, 0.0)
        self.run = Run(
            self.state, closer.solver, (0.0, 1.0), rtol=1e-6, atol=np.full(system.n, 1e-8), newton_tol=newton_tol,
            t_eval=np.array([-1.0]), step=1.0, max_step=np.inf, max_steps=None,
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


def orders(errors: np.ndarray) -> np.ndarray:
    """Observed orders from errors at steps halved each time."""
    return np.log2(errors[:-1] / errors[1:])
