"""What a system owns, byte by byte, and runs on a system that is there already."""

from __future__ import annotations

from typing import Any

import numpy as np

from index3.bodies.time_functions import Sampler
from index3.compiled.failures import Failures
from index3.compiled.interface import Kernel, Slot, Table
from index3.engine.assembly import assemble_state
from index3.engine.start import Start
from index3.linear.registry import solver_of
from index3.methods import run
from index3.methods.output import Output
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.system.addresses import Addresses
from index3.system.state import State
from index3.system.system import System

PLAIN = (int, float, complex, str, bytes, bool, type(None), np.generic, Slot)
LIVING = (Addresses, Failures, Kernel, Sampler, State)
"""Change by their nature (a sampler keeps the last value of a function of time, with its time), or are no system's."""


def belongings(system: System) -> dict[str, Any]:
    """The bytes of every array and the value of every number that can be reached from a system, by the way to it.

    Elements, bodies and markers of the model are among it. The addresses of kernels are not: they change when one is
    built. The solver of the pattern is made first, if nobody has asked for it yet, and what tables of states and
    projectors share: it is kept from then on.
    """
    solver_of(system)
    Projector(State(system))
    found: dict[str, Any] = {}
    met = {id(system.addresses.core), id(system.addresses.stages)}
    open_ = [("system", system)]
    while open_:
        way, thing = open_.pop()
        if isinstance(thing, PLAIN):
            found[way] = repr(thing)
            continue
        if id(thing) in met or isinstance(thing, LIVING):
            continue
        met.add(id(thing))
        if isinstance(thing, np.ndarray):
            found[way] = (thing.dtype.str, thing.shape, thing.tobytes())
        elif isinstance(thing, dict):
            open_ += [(f"{way}[{key!r}]", value) for key, value in thing.items()]
        elif isinstance(thing, list | tuple):
            open_ += [(f"{way}[{k}]", value) for k, value in enumerate(thing)]
        elif isinstance(thing, Table) or type(thing).__module__.startswith("index3"):
            open_ += [(f"{way}.{key}", value) for key, value in vars(thing).items() if key != "_failures"]
    return found


def changed(before: dict[str, Any], system: System) -> list[str]:
    """Ways to what is not as it was."""
    now = belongings(system)
    return [way for way in sorted(before.keys() | now.keys()) if before.get(way) != now.get(way)]


def content(state: State) -> list[bytes]:
    """All that a state is, bit by bit; read from its tables, not by its own `save`."""
    tables = [(state.table, tuple(state.system.work)), *((table, table.memory) for table in state.memory)]
    return [table[slot].tobytes() for table, slots in tables for slot in slots]


def run_on(system: System, method: Any, end: float, v: np.ndarray | None = None, steps: int = 1000) -> dict[str, Any]:
    """Output of a run on a state of its own, from the system's start or from other velocities; `message` if it fails.

    The last key is the content of the state at the end.
    """
    state = State(system)
    projector = Projector(state)
    start = None if v is None else Start(system.q0, v)
    assemble_state(state, projector, 0.0, start=start)
    progress = Run(
        state, projector.solver, (0.0, end), rtol=1e-5, atol=np.full(system.n, 1e-7), newton_tol=method.newton_tol,
        t_eval=None, step=0.0, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    output = Output(projector.sizes, 4096)
    progress.write_to(output)
    table = method.start(progress, None)
    code = progress.advance(method.kernel, table, steps)
    lines = {name: array[: output.count] for name, array in output.arrays.items()}
    message = "" if code in (run.DONE, run.BUDGET) else system.explain(state)
    return {**lines, "message": message, "failures": system.take_failures(), "state": content(state)}
