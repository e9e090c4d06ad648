"""Regularised dry friction, shared by contacts and joints.

The coefficient against the sliding speed w: mu_s s(w / v) with the cubic s(x) = (3 x - x^3) / 2 up to the stick
velocity v, where it reaches the static coefficient with zero slope; beyond that it decays to the dynamic one,
mu_d + (mu_s - mu_d) exp(-((w - v) / v_s)^2).
"""

from __future__ import annotations

from math import exp
from typing import Any

from index3.bodies.marker import as_number, as_positive
from index3.compiled.interface import helper
from index3.errors import ModelError

FRICTION_FIELDS = [("static", "f8"), ("dynamic", "f8"), ("stick_velocity", "f8"), ("decay_velocity", "f8")]
"""Of a record that `friction_ratio` takes."""


def friction_numbers(
    owner: str, friction: Any, static_friction: Any, stick_velocity: Any, decay_velocity: Any
) -> tuple[float, float, float, float]:
    """The settings of a friction law, checked, in the order of FRICTION_FIELDS; `owner` begins messages."""
    dynamic = not_negative(owner, "friction", friction)
    static = dynamic if static_friction is None else not_negative(owner, "static_friction", static_friction)
    if static < dynamic:
        raise ModelError(f"{owner} has static_friction {static} below friction {dynamic}. Raise it.")
    stick = as_positive(stick_velocity, owner, "stick_velocity")
    decay = 10.0 * stick if decay_velocity is None else decay_velocity
    return static, dynamic, stick, as_positive(decay, owner, "decay_velocity")


def not_negative(owner: str, what: str, value: Any) -> float:
    """A number of at least 0."""
    number = as_number(value, owner, what)
    if number < 0.0:
        raise ModelError(f"{owner} has {what} {number}. Give at least 0.")
    return number


@helper
def friction_ratio(law, w):
    """(g, g' / w) at a sliding speed w: the coefficient divided by w."""
    v = law.stick_velocity
    if w < v:
        x = w / v
        return law.static * 0.5 * (3.0 - x * x) / v, -law.static / (v * v * v)
    x = (w - v) / law.decay_velocity
    bump = (law.static - law.dynamic) * exp(-x * x)
    mu, slope = law.dynamic + bump, -2.0 * x * bump / law.decay_velocity
    return mu / w, (slope - mu / w) / (w * w)
