"""Questions about a model beside its run; only that they are answered, or refused by name, matters."""

from __future__ import annotations

import contextlib
import gc
import itertools
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import index3 as ix
from index3.engine import collector, resuming


def short_run(model: ix.Model, case: Any, **settings: Any) -> ix.Result:
    return ix.simulate(model, case.span, max_steps=200, progress=False, t_eval=np.linspace(*case.span, 5), **settings)


def through_file(model: ix.Model, case: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("model.json", "model.toml"):
            model.save(Path(folder, name))
            ix.Model.load(Path(folder, name)).check()


def result_file(model: ix.Model, case: Any) -> None:
    result = short_run(model, case)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder, "run.nc"))
        result.to_csv(Path(folder, "run.csv"))
        again = ix.Result.load(Path(folder, "run.nc"))
        assert np.array_equal(again.q, result.q)


def page(model: ix.Model, case: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        short_run(model, case).to_html(Path(folder, "page.html"))


def shares(model: ix.Model, case: Any) -> None:
    result = short_run(model, case)
    split = result.energy.shares()
    str(split)
    total = sum(share.kinetic + share.potential for share in split.elements.values())
    size = np.abs(result.energy.kinetic) + np.abs(result.energy.potential)
    assert np.all(np.abs(total - result.energy.total) <= 1e-6 * (size + size.max(initial=0.0)))


def histories(model: ix.Model, case: Any) -> None:
    """All that a result tells by name is finite, but for the points of contacts that do not touch."""
    result = short_run(model, case)
    if len(result.t):
        table = result.to_pandas()
        wrong = [name for name in table if ".point" not in name and not np.isfinite(table[name]).all()]
        assert not wrong, wrong


class Killed(BaseException):
    """Ends a run where it stands."""


def stored(model: ix.Model, case: Any) -> None:
    """A stored run that is killed and goes on has the bits of a whole one."""
    settings = {"max_steps": 200, "progress": False, "method": case.method}
    whole = ix.simulate(model, case.span, **settings)
    looks, look = itertools.count(1), resuming.Keeper.keep_if_due

    def dying(keeper: Any, runner: Any) -> None:
        if next(looks) == 1 + case.seed % 4:
            keeper.due = 0.0
            look(keeper, runner)
            raise Killed

    with contextlib.ExitStack() as around:
        path = Path(around.enter_context(tempfile.TemporaryDirectory()), "run.nc")
        around.enter_context(mock.patch.object(collector, "BLOCK_LINES", 5))
        around.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)  # the journal of the killed run is open
        with mock.patch.object(resuming.Keeper, "keep_if_due", dying), contextlib.suppress(Killed):
            ix.simulate(model, case.span, store=path, **settings)
        gc.collect()  # lets go of the journal, as the end of a process does
        again = ix.resume(path, model, progress=False)
        for name, array in whole.arrays.items():
            assert again.arrays[name].tobytes() == array.tobytes(), name
        if again.message != whole.message:  # the audit sees steps behind a line that cannot be closed, in its block
            whole = ix.simulate(model, case.span, **settings)
        assert (again.status, again.message) == (whole.status, whole.message)


def some_change(model: ix.Model, by: float) -> dict[str, Any]:
    """A number of the model, changed a little."""
    for name, body in model.bodies.items():
        if type(body) in (ix.RigidBody, ix.PointMass, ix.PlanarBody):
            return {f"{name}.mass": body.mass * by}
    return {"gravity": (0.0, 0.0, -9.0 * by)}


def prepared(model: ix.Model, case: Any) -> None:
    """A prepared run twice, and one with a change between them."""
    settings = {"max_steps": 200, "progress": False, "t_eval": np.linspace(*case.span, 5)}
    simulation = ix.prepare(model, case.method, **settings)
    first = simulation.run(case.span)
    simulation.run(case.span, changes=some_change(model, 1.1))
    again = simulation.run(case.span)
    assert first.q.tobytes() == again.q.tobytes() == ix.simulate(model, case.span, case.method, **settings).q.tobytes()


def many(model: ix.Model, case: Any) -> None:
    """Three runs in two threads; each is the one that it is alone."""
    simulation = ix.prepare(model, case.method, max_steps=200)
    changes = [some_change(model, by) for by in (1.0, 1.2, 0.9)]
    found = ix.batch(simulation, changes, case.span, workers=2)
    if found.status.values[1] == "ok":
        alone = simulation.run(case.span, changes=changes[1], progress=False)
        assert np.array_equal(found.q.values[1], alone.q[-1])


def by_hand(model: ix.Model, case: Any) -> None:
    """A run in two parts, with names asked on the way."""
    stepper = ix.prepare(model, case.method, max_steps=200).stepper(case.span[0])
    for part in (0.3, 1.0):
        stepper.advance(case.span[0] + part * (case.span[1] - case.span[0]))
        for name in stepper.result.names[:20]:
            assert np.isfinite(stepper.get(name)).all(), name


QUESTIONS: dict[str, Any] = {
    "check": lambda model, case: str(model.check()),
    "assemble": lambda model, case: str(ix.assemble(model)),
    "static": lambda model, case: str(ix.static(model)),
    "linearize": lambda model, case: str(ix.linearize(model)),
    "kinematics": lambda model, case: ix.kinematics(model, case.span),
    "inverse dynamics": lambda model, case: ix.inverse_dynamics(model, short_run(model, case)),
    "topology": lambda model, case: str(ix.topology(model)),
    "first order": lambda model, case: ix.FirstOrder(model),
    "index": lambda model, case: str(ix.differentiation_index(model)),
    "summary": lambda model, case: str(short_run(model, case)),
    "shares": shares,
    "histories": histories,
    "file": through_file,
    "result file": result_file,
    "page": page,
    "stored": stored,
    "prepared": prepared,
    "batch": many,
    "stepper": by_hand,
}


def ask(question: str, model: ix.Model, case: Any) -> None:
    """Ask one of the questions and forget the answer."""
    QUESTIONS[question](model, case)
