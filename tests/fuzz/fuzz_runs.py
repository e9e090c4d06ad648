"""Cases: a model, the span and settings of its run, and a second method to compare with."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz_draw import JUNK, Bench, Draw, Planned
from fuzz_forces import add_forces
from fuzz_models import SHAPES, draw_shape

import index3 as ix

sys.path.append(str(Path(__file__).parent.parent / "files"))
from file_examples import EXAMPLES

LIBRARY = ("pendulum", "double_pendulum", "free_double_pendulum", "spinning_top", "four_bar", "parallelogram",
           "slider_crank", "andrews", "mass_spring", "chain", "iltis")  # fmt: skip
"""Mechanisms of at most 10 bodies."""
SECOND = ("dop853", "radau5", "dopri5", "hht-i3", "auto", "bdf-si2")
STIFF = ("hht-i3", "generalized-alpha", "bdf-i3", "bdf-si2", "radau5", "descriptor-sdirk4", "firstorder-sdirk4",
         "rosenbrock4", "statespace-trapezoidal", "descriptor-trapezoidal", "tlismni-hht", "tlismni-bdf2")  # fmt: skip
STEADY = ("al-index1", "al-index3", "multi-index")
"""Methods whose steps follow the energy: tolerances say nothing of their errors."""
OPTIONS: dict[str, tuple[Any, ...]] = {
    "alpha": (-0.3, -0.05, 0.0), "rho_inf": (0.0, 0.5, 0.9, 1.0), "index": (1, 2, 3), "order": ((1, 2), (1, 5), (2, 3)),
    "max_iterations": (3, 10, 20), "newton_tol": (1e-8, 1e-11), "kappa": (1e-5, 1e-2), "predictor_degree": (0, 2, 3),
    "mass": ("alpha", "end"), "shift": (True, False), "norm": ("contract", "paper"), "newmark": (None, (0.3025, 0.6)),
    "penalty": (1e4, 1e7, 1e12), "guard": (10.0, 100.0), "parametrization": ("tangent-plane", "partition"),
    "stages": ("auto", "closed", "free"), "stabilization": ("projection", "post", "baumgarte"),
    "baumgarte": ((1.0, 1.0), (10.0, 10.0)), "max_outer": (None, 1, 5), "corrections": (0, 1, 2),
    "controller": ("error", "paper"), "filtered": (True, False), "h_switch": (1e-6, 1e-2), "max_failures": (1, 4),
    "upper": (None, 1e-3), "lower": (None, 1e-6),
}  # fmt: skip
"""Values of options to draw, right and wrong ones; a method that does not know the value says so."""


@dataclass
class Case:
    """One thing to try; `model` raises what building it raises."""

    seed: int
    kind: str
    model: Callable[[], ix.Model]
    span: tuple[float, float]
    method: str
    others: tuple[str, ...]
    rtol: float
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    comparable: bool = True
    asks: tuple[str, ...] = ()
    broken: bool = False

    def __str__(self) -> str:
        more = {**self.settings, **self.options}
        shown = ", ".join(f"{name}={value!r:.60}" for name, value in more.items())
        return f"{self.kind}, {self.method}, rtol {self.rtol:.1e}, to {self.span[1]:.3g} s {shown}"


def draw_case(seed: int) -> Case:
    """The case of a seed."""
    draw = Draw(seed)
    where = draw.rng.random()
    if where < 0.06:
        name = draw.pick(LIBRARY)
        size = (draw.whole(1, 8),) if name in ("chain", "parallelogram") else ()
        case = plain_case(draw, seed, f"library {name}", functools.partial(getattr(ix.library, name), *size), 1.0)
    elif where < 0.14:
        name = draw.pick(sorted(EXAMPLES))
        case = plain_case(draw, seed, f"example {name}", EXAMPLES[name], 0.5)
    else:
        case = mechanism_case(draw, seed)
    draw_settings(draw, case)
    if where > 0.93:
        draw.spoil([], settings := {**case.settings, **case.options, "rtol": case.rtol, "atol": 1e-6})
        case.rtol = settings.pop("rtol")
        case.settings, case.options, case.broken = settings, {}, True
        if draw.chance(0.2):
            case.span, case.asks = draw.pick(JUNK), ()
    return case


def plain_case(draw: Draw, seed: int, kind: str, model: Callable[[], ix.Model], span: float) -> Case:
    methods = [*ix.METHODS, "auto", "auto"]
    method = draw.pick(methods)
    others = tuple(one for one in draw.rng.permutation(SECOND) if one != method)
    return Case(seed, kind, model, (0.0, span * draw.power(-0.7, 0.2)), method, others, draw.power(-6, -2.5))


def mechanism_case(draw: Draw, seed: int) -> Case:
    """A model of its own, ordinary, tiny or huge, soft or stiff, now and then with something wrong in it."""
    shape = draw_shape(draw)
    length, mass = draw.pick(((1.0, 1.0),) * 8 + ((1e-6, 1e-9), (1e-3, 1e-6), (1e3, 1e6), (1e6, 1e12), (1.0, 1e8)))
    stiff = draw.pick((1.0,) * 9 + (1e3, 1e3, 1e6, 1e9))
    broken = draw.chance(0.08)
    spoilt = draw.whole(1, 12) if broken else -1
    gravity = draw.pick(((0, 0, -9.81),) * 3 + ((0, 0, 0), (0, -9.81, 0)))
    forces, state = draw.pick((0, 1, 2, 3, 5)), draw.whole(0, 1 << 30)

    def model() -> ix.Model:
        bench = Bench(Draw(state), length, mass, spoilt, gravity=gravity)
        SHAPES[shape][1](bench)
        add_forces(bench, 0 if shape == "states" else forces, stiff)
        return bench.model

    size = "" if length == 1.0 else f" of {length:g} m"
    case = plain_case(draw, seed, f"{shape}{size}{f', stiff {stiff:g}' if stiff > 1 else ''}", model, math.sqrt(length))
    if stiff > 1.0 and case.method not in STIFF and draw.chance(0.7):  # others only take all steps that they may
        case.method = draw.pick([one for one in STIFF if one not in case.others])
    case.broken = broken
    return case


def draw_settings(draw: Draw, case: Case) -> None:
    """Settings of the run beside the method: mostly none."""
    if draw.chance(0.3) and case.method in ix.METHODS:
        from dataclasses import fields

        names = [one.name for one in fields(ix.METHODS[case.method]) if one.name in OPTIONS]
        for name in names:
            if draw.chance(0.3):
                case.options[name] = draw.pick(OPTIONS[name])
    span = case.span[1]
    settings = case.settings
    for chance, name, make in (
        (0.08, "step", lambda: span * draw.pick((0.02, 0.005, 0.5, 2.0))),
        (0.05, "first_step", lambda: span * draw.power(-6, 0)),
        (0.05, "max_step", lambda: span * draw.power(-2, 0)),
        (0.04, "atol", lambda: draw.power(-12, -3)),
        (0.06, "linear", lambda: draw.pick(("scipy", "reduced"))),
        (0.04, "project", lambda: False),
        (0.03, "dense_output", lambda: True),
        (0.04, "discontinuities", lambda: [span * draw.between(0, 1)]),
        (0.06, "events", lambda: draw_event(draw, span)),
        (0.03, "callback", lambda: draw_callback(draw, span)),
        (0.03, "audit", lambda: draw.pick(("off", "warn"))),
        (0.03, "on_failure", lambda: "raise"),
        (0.06, "initial", lambda: draw_start(draw)),
    ):
        if draw.chance(chance):
            settings[name] = make()
    loose = {"norm", "controller", "stabilization", "kappa", "newton_tol", "index", "stages", "penalty", "atol"}
    case.comparable = (
        not {"step", "callback"} & set(settings)  # a callback ends a run at one of its steps
        and not loose & {*case.options, *settings}
        and case.method not in STEADY
    )
    asks = ("check", "assemble", "static", "linearize", "kinematics", "topology", "file", "shares", "result file",
            "summary", "first order", "index", "inverse dynamics", "page", "histories", "stored", "prepared", "batch",
            "stepper")  # fmt: skip
    case.asks = tuple(one for one in asks if draw.chance(0.03))


def draw_start(draw: Draw) -> dict[str, float]:
    """A start by joint coordinates; elements are named e1, e2, ..., so that some of these joints are there."""
    names = draw.rng.permutation([f"e{k}.{name}" for k in (2, 3, 4) for name in ("angle", "displacement")])
    start = {str(name): draw.pick((draw.between(-1, 1), 1e-3, 7.0)) for name in names[: draw.pick((1, 1, 2))]}
    if draw.chance(0.5):
        start[f"{names[0]}_rate"] = draw.between(-5, 5)
    return start


def draw_event(draw: Draw, span: float) -> Callable[..., Any]:
    """An event by time or motion, with or without an action, or one that fails."""
    when = span * draw.between(0, 1)
    kind = draw.whole(0, 4)

    def event(t, state):
        if kind == 3 and t > when:
            raise Planned("an event that fails")
        return math.nan if kind == 4 else t - when

    def change(switch):
        switch.v[:] = 0.5 * switch.v

    event.terminal = draw.chance(0.3)  # type: ignore[attr-defined]
    if kind == 1:
        event.action = change  # type: ignore[attr-defined]
    elif kind == 2:
        event.action = draw.pick((ix.open_joint, ix.close_joint, ix.impact))("e2")  # type: ignore[attr-defined]
    return event


def draw_callback(draw: Draw, span: float) -> Callable[..., Any]:
    """A callback that watches, stops the run or fails."""
    when, kind = span * draw.between(0, 1), draw.whole(0, 2)

    def callback(t, q, v):
        if kind == 2 and t > when:
            raise Planned("a callback that fails")
        return kind == 1 and t > when

    return callback
