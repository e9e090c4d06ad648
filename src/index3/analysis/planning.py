"""What a user asks of a run, checked: once for equal settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import is_
from typing import Any

import numpy as np

from index3.engine.breaks import apart, find_breaks, functions_of_time
from index3.engine.segments import Plan
from index3.engine.settings import (
    absolute_tolerance,
    check_choices,
    check_span,
    check_steps,
    longest_step,
    output_times,
    stop_times,
)
from index3.engine.start_warnings import check_motions, driven_functions
from index3.errors import ModelError
from index3.methods.method import Method
from index3.model.model import Model

OTHERWISE = ("events", "progress", "store")
"""Settings of a run that its plan says nothing of; what they are is looked at in every run."""
PLAIN, NUMBERS = frozenset([float, int, str, bool, type(None)]), frozenset([float, int])
LISTS = frozenset([tuple, list])
"""Types of settings that nobody can change, of numbers in a list of some, and of such lists."""
MOST_COMPARED = 100
"""Numbers in a list beyond which it is checked more quickly than compared."""


class Plans:
    """Makes the plans of the runs of a simulation.

    Parameters
    ----------
    method : as the user named it
    chosen : the same as an instance; None for an automatic choice
    options : of the method
    prepared : the model that was prepared, if one was: it is asked once
    """

    def __init__(
        self, method: Any, chosen: Method | None, options: dict[str, Any], prepared: Model | None = None
    ) -> None:
        self.method, self.chosen, self.options, self.prepared = method, chosen, options, prepared
        self._asked: tuple[list[tuple[str, Any]], bool, tuple[float, str], int] | None = None
        # what was asked last, by name and as a key, and its plan: one tuple, since runs go on in several threads
        self._last: tuple[dict[str, Any], tuple[Any, ...], tuple[Plan, str]] | None = None

    def plan(self, model: Model, t_span: Any, asked: Mapping[str, Any], first: float | None = None) -> tuple[Plan, str]:
        """What the user asked of a run, checked, and a remark on it; nothing is compiled for it.

        `first` is when controllers were first asked, if not at the start. A plan is made once for settings that are
        plain numbers and words, unless the model itself has to be asked.
        """
        driven, own, longest, n = self._of_model(model)
        given = {"t_span": t_span, **asked, "longest": longest, "n": n}
        last = None if own else self._last
        if last is not None and is_same(last[0], given):
            return last[2]
        key = None if own else plain_key(t_span, asked, longest, n)
        if last is not None and key == last[1]:
            return last[2]
        plan, note = self._checked(model, t_span, asked, first, longest, n)
        check_motions(driven, plan.span)
        if key is not None:
            seen = {name: list(x) if type(x) is list else x for name, x in given.items()}
            self._last = seen, key, (plan, note)
        return plan, note

    def _of_model(self, model: Model) -> tuple[list[tuple[str, Any]], bool, tuple[float, str], int]:
        """What is driven; whether the plan asks the model itself; the longest step of forces; coordinates."""
        if model is self.prepared and self._asked is not None:
            return self._asked
        driven, n = driven_functions(model), sum(body.size for body in (*model.bodies.values(), *model.blocks))
        own = bool(driven or model.controllers or functions_of_time(model))
        found = driven, own, longest_step(model), n
        if model is self.prepared:
            self._asked = found
        return found

    def _checked(
        self, model: Model, t_span: Any, asked: Mapping[str, Any], first: float | None, longest: tuple[float, str],
        n: int,
    ) -> tuple[Plan, str]:  # fmt: skip
        """The plan of a run, and a remark on it.

        `longest` is the longest step that forces allow, and whose it is; n the number of coordinates.
        """
        span, step, max_step, note = check_span(t_span), asked["step"], asked["max_step"], ""
        constant_step = check_steps(
            self.method, asked["rtol"], step, asked["first_step"], max_step, asked["max_steps"]
        )  # fmt: skip
        if step is None and max_step == math.inf and longest[0] < span[1] - span[0]:
            max_step, note = longest[0], f" Steps of at most {longest[0]:.3g} s, for {longest[1]} to be seen."
        check_choices(asked["project"], asked["callback"], asked["on_failure"], audit=asked["audit"])
        if not isinstance(asked["dense_output"], bool):
            raise ModelError(f"simulate: dense_output = {asked['dense_output']!r}. Choose True or False.")
        found, early = (np.zeros(0), math.inf) if constant_step else find_breaks(model, span)
        declared = stop_times(asked["discontinuities"], span)
        stops = np.array(sorted({*declared.tolist(), *apart(found, declared).tolist()}))  # np.unique imports numpy.ma
        if model.controllers:
            from index3.engine.sampling import with_instants

            stops = with_instants(stops, model, span, first)
        plan = Plan(
            span=span, method=self.chosen, options=self.options, rtol=asked["rtol"],
            atol=absolute_tolerance(asked["atol"], asked["rtol"], n), t_eval=output_times(asked["t_eval"], span),
            step=constant_step, max_step=max_step, max_steps=asked["max_steps"], first_step=asked["first_step"],
            stops=stops, early=early, project=bool(asked["project"]), audit=asked["audit"],
        )  # fmt: skip
        return plan, note


def is_same(seen: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether all settings are the very objects seen before, lists and tuples of the very numbers; lists seen are
    copies, and all else that was seen cannot change.

    >>> is_same({"rtol": 1e-6, "t_eval": [1, 2]}, {"rtol": 1e-5, "t_eval": [1, 2]})
    False
    """
    if seen.keys() != given.keys():
        return False
    for name in [name for name, value in given.items() if seen[name] is not value]:
        if name in OTHERWISE:
            continue
        known, value = seen[name], given[name]
        kind = type(value)
        if kind not in LISTS or type(known) is not kind or len(known) != len(value) or not all(map(is_, known, value)):
            return False
    return True


def plain_key(t_span: Any, asked: Mapping[str, Any], *of_model: Any) -> tuple[Any, ...] | None:
    """What tells equal settings, if all are plain numbers and words that nobody can change; else None.

    `of_model` is what a plan takes from the model.
    """
    if type(asked["t_eval"]) is int:  # which may be worth a warning
        return None
    key: list[Any] = []
    for name, value in (("t_span", t_span), *asked.items()):
        kind = type(value)
        if name in OTHERWISE:
            continue
        if kind in LISTS and len(value) < MOST_COMPARED and all(type(x) in NUMBERS for x in value):
            key += kind, len(value), *value, *map(type, value)
            key += [str(x) for x in value if x == 0.0]  # -0.0 is not 0.0
        elif kind in PLAIN and name != "t_span":
            key += kind, value  # True is not 1
            if value == 0.0:
                key.append(str(value))
        else:
            return None
    return (*key, *of_model)
