"""Questions about a model beside its run; only that they are answered, or refused by name, matters."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import index3 as ix


def short_run(model: ix.Model, span: Any) -> ix.Result:
    return ix.simulate(model, span, max_steps=200, progress=False, t_eval=np.linspace(*span, 5))


def through_file(model: ix.Model) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("model.json", "model.toml"):
            model.save(Path(folder, name))
            ix.Model.load(Path(folder, name)).check()


def result_file(model: ix.Model, span: Any) -> None:
    result = short_run(model, span)
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder, "run.nc"))
        result.to_csv(Path(folder, "run.csv"))
        again = ix.Result.load(Path(folder, "run.nc"))
        assert np.array_equal(again.q, result.q)


def page(model: ix.Model, span: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        short_run(model, span).to_html(Path(folder, "page.html"))


def shares(model: ix.Model, span: Any) -> None:
    result = short_run(model, span)
    split = result.energy.shares()
    str(split)
    total = sum(share.kinetic + share.potential for share in split.elements.values())
    size = np.abs(result.energy.kinetic) + np.abs(result.energy.potential)
    assert np.all(np.abs(total - result.energy.total) <= 1e-6 * (size + size.max(initial=0.0)))


QUESTIONS: dict[str, Any] = {
    "check": lambda model, span: str(model.check()),
    "assemble": lambda model, span: str(ix.assemble(model)),
    "static": lambda model, span: str(ix.static(model)),
    "linearize": lambda model, span: str(ix.linearize(model)),
    "kinematics": lambda model, span: ix.kinematics(model, span),
    "inverse dynamics": lambda model, span: ix.inverse_dynamics(model, short_run(model, span)),
    "topology": lambda model, span: str(ix.topology(model)),
    "first order": lambda model, span: ix.FirstOrder(model),
    "index": lambda model, span: str(ix.differentiation_index(model)),
    "summary": lambda model, span: str(short_run(model, span)),
    "shares": shares,
    "file": lambda model, span: through_file(model),
    "result file": result_file,
    "page": page,
}


def ask(question: str, model: ix.Model, span: Any) -> None:
    """Ask one of the questions and forget the answer."""
    QUESTIONS[question](model, span)
