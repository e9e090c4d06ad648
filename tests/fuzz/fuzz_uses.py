"""What users do with a model beside running it once: the answers must be the same, to the last bit where nothing but
the way of asking differs.
"""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_draw import Draw
from fuzz_judge import Finding, Outcome, cause, guarded
from fuzz_questions import some_change
from fuzz_runs import LIBRARY, Case, draw_case

import index3 as ix
from index3.methods import run

MAX_STEPS = 2000
LONG = 20000
"""Steps of a run; of a long one by default settings."""
CLOSED = 1.0
"""Part of rtol by which a line may depend on other lines: it is put on the constraints along directions of one of
them."""
UNITS = (
    ({"length": "mm", "force": "mN"}, 1e-3, 1.0, 1e-3),
    ({"mass": "g", "force": "mN"}, 1.0, 1.0, 1e-3),
    ({"time": "ms", "force": "MN"}, 1.0, 1e-3, 1e6),
)
"""Systems of units in which mass times acceleration is force, so that equal numbers are equal motions; metres, seconds
and newtons in their units."""


def ways(draw: Draw, case: Case) -> dict[str, Any]:
    """Settings of a run: mostly the default ones."""
    method = "auto" if draw.chance(0.6) else case.method
    return {"method": method, "rtol": draw.pick((1e-6, 1e-6, 1e-4, 1e-3)), "max_steps": MAX_STEPS, "progress": False}


def same(first: ix.Result, second: ix.Result, names: tuple[str, ...] = ("t", "q", "v", "a")) -> None:
    """Raise unless two results are equal to the last bit, as far as both have lines."""
    assert (first.status, first.message) == (second.status, second.message), f"{first.message} / {second.message}"
    for name in names:
        assert first.arrays[name].tobytes() == second.arrays[name].tobytes(), name


def fine_grid(model: ix.Model, case: Case, draw: Draw) -> None:
    """Lines between steps change no step, and lines at one time are the same whatever others are asked for."""
    settings, few = ways(draw, case), np.linspace(*case.span, 6)
    between = case.span[0] + (case.span[1] - case.span[0]) * draw.rng.random(draw.pick((3, 300, 3000)))
    many = np.unique(np.concatenate([few, between]))
    first = ix.simulate(model, case.span, t_eval=few, **settings)
    second = ix.simulate(model, case.span, t_eval=many, **settings)
    assert first.status == second.status, f"{first.message} / {second.message}"
    if not first.success:
        return  # perhaps at a line that the other does not have
    assert first.stats["steps"] == second.stats["steps"], "steps"
    at = np.isin(second.t, first.t)
    assert np.array_equal(first.t, second.t[at]), "t"
    for name in ("q", "v"):
        x, y = first.arrays[name], second.arrays[name][at]
        far = np.abs(x - y) > CLOSED * settings["rtol"] * (1.0 + np.abs(x).max(initial=0.0))
        assert not far.any(), f"{name} at t = {first.t[far.any(axis=1)]}: {np.abs(x - y).max():.2e}"


def event_at_start(model: ix.Model, case: Case, draw: Draw) -> None:
    """Events that are zero at the start, at the end or always, and do nothing: the run does not change."""
    settings, (start, end) = ways(draw, case), case.span
    kinds = (
        lambda t, state: t - start,
        lambda t, state: 0.0,
        lambda t, state: float(state.q[0] - first_q),
        lambda t, state: t - end,
    )
    plain = ix.simulate(model, case.span, **settings)
    first_q = plain.q[0, 0] if plain.q.size else 0.0
    same(plain, ix.simulate(model, case.span, events=draw.pick(kinds), **settings))


def changed(model: ix.Model, case: Case, draw: Draw) -> None:
    """A prepared run with a change is that of a model which was built so."""
    settings, change = ways(draw, case), some_change(model, draw.pick((1.1, 0.5, 30.0)))
    prepared = ix.prepare(model, **settings)
    prepared.run(case.span)
    found = prepared.run(case.span, changes=change)
    other = case.model()
    for name, value in change.items():
        element, _, field = name.rpartition(".")
        setattr(other.bodies[element] if element else other, field, value)
    same(found, ix.simulate(other, case.span, **settings))


def copied(model: ix.Model, case: Case, draw: Draw) -> None:
    """A copy of a model runs as the model does, also after it has run."""
    settings, other = ways(draw, case), copy.deepcopy(model)
    first = ix.simulate(model, case.span, **settings)
    same(first, ix.simulate(other, case.span, **settings))
    same(first, ix.simulate(copy.deepcopy(model), case.span, **settings))


def from_file(model: ix.Model, case: Case, draw: Draw) -> None:
    """A model that was saved and loaded runs as it did before."""
    settings = ways(draw, case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, draw.pick(("model.json", "model.toml")))
        model.save(path)
        other = ix.Model.load(path)
    same(ix.simulate(model, case.span, **settings), ix.simulate(other, case.span, **settings))


def in_units(model: ix.Model, case: Case, draw: Draw) -> None:
    """The numbers of a file in other units: accelerations at the start are the same numbers in those."""
    units, metre, second, newton = draw.pick(UNITS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, "units": units}), encoding="utf-8")
        other = ix.Model.load(path)
    short = 1e-9 * case.span[1]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        first, again = (
            ix.simulate(one, (0.0, t), max_steps=3, audit="off", progress=False)
            for one, t in ((model, short), (other, second * short))
        )
    if any("do not allow the velocities" in str(one.message) for one in heard):
        return  # which velocities are the nearest that they allow depends on how coordinates weigh
    if not (len(first.t) and len(again.t)):
        assert len(first.t) == len(again.t), f"{first.message} / {again.message}"
        return
    for name in model.bodies:
        if not np.allclose(first[name].position[0] * metre, again[name].position[0], rtol=1e-9, atol=1e-9 * metre):
            return  # nor are the nearest positions
    near(first.energy.kinetic[0] * newton * metre, again.energy.kinetic[0], 1e-20, "kinetic energy")
    size = max(abs(first.a[0]).max(initial=0.0), 1e-3) * metre / second**2
    for name, body in model.bodies.items():
        if type(body) in (ix.RigidBody, ix.PointMass, ix.PlanarBody, ix.NaturalBody, ix.EulerAngleBody):
            near(first[name].acceleration[0] * metre / second**2, again[name].acceleration[0], size, name)


def near(first: Any, second: Any, size: float, name: str) -> None:
    """Raise unless numbers agree but for the roundings of a system of equations."""
    size = max(size, np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0))
    apart = np.abs(np.subtract(first, second)).max(initial=0.0)
    assert apart <= 1e-5 * size, f"{name}: {first} and {second}"


def long_run(model: ix.Model, case: Case, draw: Draw) -> None:
    """A mechanism of the library for many of its swings, as a first user would run it."""
    name = draw.pick(LIBRARY)
    model = getattr(ix.library, name)(*((4,) if name == "chain" else ()))
    span = draw.pick((5.0, 10.0, 20.0)) * (0.02 if name == "andrews" else 1.0)
    settings: dict[str, Any] = draw.pick(({}, {"t_eval": 0.01 * span}, {"rtol": 1e-4}, {"dense_output": True}))
    result = ix.simulate(model, (0.0, span), max_steps=LONG, progress=False, **settings)
    assert result.success or result.status == -run.TOO_MANY_STEPS, result.message
    assert result.audit is None or result.audit.ok, result.message


def in_parts(model: ix.Model, case: Case, draw: Draw) -> None:
    """A run that goes on from where another ended: its start is that end."""
    settings, middle = ways(draw, case), case.span[0] + 0.5 * (case.span[1] - case.span[0])
    first = ix.simulate(model, (case.span[0], middle), **settings)
    if first.success:
        second = ix.simulate(model, (middle, case.span[1]), initial=(first.q[-1], first.v[-1]), **settings)
        near(first.q[-1], second.q[0], 1.0, "q at the start of the second part")


USES: dict[str, Callable[[ix.Model, Case, Draw], None]] = {
    "fine grid": fine_grid, "event at start": event_at_start, "changed": changed, "copied": copied,
    "from file": from_file, "in units": in_units, "long run": long_run, "in parts": in_parts,
}  # fmt: skip


def take_use(seed: int) -> Outcome:
    """One use of the model of a seed."""
    case, draw = draw_case(seed), Draw(seed + 10**9)
    use = draw.pick(sorted(USES))
    if case.broken:
        return Outcome("refused", "broken on purpose")
    try:
        built = guarded(case.model)
        if built.result is None:
            return Outcome("refused", cause(built.text))
        ran = guarded(lambda: USES[use](built.result, case, draw))
    except Finding as finding:
        finding.outcome.cause = f"{use}: {finding.outcome.cause}"
        return finding.outcome
    return Outcome(ran.word, f"{use}: {cause(ran.text)}".rstrip(": "), seconds=ran.seconds)
