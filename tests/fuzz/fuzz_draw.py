"""Draws of a fuzzer: numbers, vectors and the elements made of them, one of which may be spoilt on purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import index3 as ix

JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 0.0, float("nan"), float("inf"), -float("inf"), 1e308, -1e-300, 1e-320, 10**400, "", "x", (), [],
    [0], (0, 0, 0), (1, 2), [[1]], {}, {"a": 1}, np.zeros(3), np.full((3, 3), np.nan), np.array(["a"]), 1j, object(),
    object, lambda: None, len, b"x", (1e200, 0, 0), (float("nan"), 0, 1), range(3),
)  # fmt: skip
"""What somebody may pass by mistake."""


class Planned(Exception):
    """What functions of the user raise on purpose; it may come out as it is."""


class Draw:
    """Random choices of one case; everything follows from its seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, part: float) -> bool:
        return bool(self.rng.random() < part)

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def power(self, low: float, high: float) -> float:
        """A number whose exponent of ten lies between two."""
        return float(10.0 ** self.rng.uniform(low, high))

    def pick(self, things: Sequence[Any]) -> Any:
        return things[int(self.rng.integers(len(things)))]

    def vector(self, size: float = 1.0, n: int = 3) -> tuple[float, ...]:
        return tuple(float(x) for x in size * self.rng.uniform(-1.0, 1.0, n))

    def unit(self) -> np.ndarray:
        x = self.rng.normal(size=3)
        return x / np.linalg.norm(x)

    def two_axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Two directions at right angles."""
        first = self.unit()
        across = np.cross(first, self.unit())
        return first, across / np.linalg.norm(across)

    def spoil(self, arguments: list[Any], settings: dict[str, Any]) -> None:
        """Put junk in place of one of the things given, but no function in place of one: it may raise what it likes."""
        k = int(self.rng.integers(len(arguments) + len(settings)))
        if k < len(arguments):
            arguments[k] = self.pick(JUNK)
        else:
            name = sorted(settings)[k - len(arguments)]
            settings[name] = self.pick([one for one in JUNK if not (callable(settings[name]) and callable(one))])


class Bench:
    """A model on which elements are built, sizes and masses in its own units; `spoilt` counts down to a broken one."""

    def __init__(self, draw: Draw, length: float = 1.0, mass: float = 1.0, spoilt: int = -1, **model: Any) -> None:
        self.draw, self.length, self.mass, self.spoilt = draw, length, mass, spoilt
        self.model = ix.Model("fuzz", **model)
        self.bodies: list[Any] = []
        self.spots: dict[str, Any] = {}
        """Points that flexible bodies have: elsewhere they take nothing."""
        self.count = 0

    @property
    def ground(self) -> Any:
        return self.model.ground

    def add(self, make: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
        """An element under the next free name, the one that is due with something wrong in it."""
        self.count += 1
        given = [f"e{self.count}", *arguments]
        self.spoilt -= 1
        if self.spoilt == 0:
            self.draw.spoil(given, settings)
        return self.model.add(make(*given, **settings))

    def body(self, make: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
        self.bodies.append(self.add(make, *arguments, **settings))
        return self.bodies[-1]

    def point(self, size: float = 1.0) -> tuple[float, ...]:
        return self.draw.vector(size * self.length)

    def point_of(self, body: Any) -> Any:
        """Where a force may take hold of a body."""
        spot = self.spots.get(body.name)
        return self.point() if spot is None else spot

    def kilograms(self) -> float:
        return self.mass * self.draw.power(-1, 1)

    def any_body(self, other: Any = None) -> Any:
        """A body or ground, another than the one given."""
        return self.draw.pick([one for one in (self.ground, *self.bodies) if one is not other])

    def solid_body(self) -> Any:
        """A body with an extent, where there is one."""
        return self.draw.pick([one for one in self.bodies if type(one) is not ix.PointMass] or self.bodies)
