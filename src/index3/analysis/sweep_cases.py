"""The cases of a sweep: from grids, lists and samples of parameters to one dict of values per case."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from index3.engine.settings import is_number
from index3.errors import ModelError

SAMPLERS = {"latin": "LatinHypercube", "sobol": "Sobol"}
"""Ways to draw samples, and what `scipy.stats.qmc` calls them."""
RANGE = "Give (low, high), or (low, high, 'log')."


@dataclass(frozen=True)
class Cases:
    """The values of every case; `grid` has those of each parameter if all combinations are meant, else it is None."""

    values: list[dict[str, Any]]
    grid: dict[str, list[Any]] | None

    @property
    def names(self) -> list[str]:
        """The parameters."""
        return list(self.values[0])

    @property
    def dimensions(self) -> dict[str, int]:
        """Dimensions of the result and their lengths."""
        if self.grid is None:
            return {"case": len(self.values)}
        return {name: len(values) for name, values in self.grid.items()}


def cases_of(parameters: Any, samples: Any, seed: Any) -> Cases:
    """What the parameters of a sweep mean.

    Raises
    ------
    ModelError : they mean nothing.
    """
    if isinstance(parameters, Mapping):
        names = {name: name for name in parameters}
        for name in names:
            if not isinstance(name, str) or not name:
                raise ModelError(f"sweep: {name!r} is not the name of a parameter. Give names in a dict of values.")
        if not parameters:
            raise ModelError("sweep: there are no parameters. Give a dict such as {'mass': [1.0, 2.0]}.")
        return grid(parameters) if samples is None else sampled(parameters, samples, seed)
    if samples is not None:
        raise ModelError("sweep: samples are drawn from ranges. Give parameters as a dict of (low, high).")
    single = isinstance(parameters, str) or (isinstance(parameters, np.ndarray) and parameters.ndim == 0)
    several = isinstance(parameters, Iterable) and not single
    listed = list(parameters) if several else []
    if not listed or not all(isinstance(case, Mapping) and case for case in listed):
        raise ModelError("sweep: parameters are a dict of values for all combinations, or a list with a dict per case.")
    for k, case in enumerate(listed):
        if set(case) != set(listed[0]):
            raise ModelError(f"sweep: case {k} has the parameters {sorted(case)}, case 0 has {sorted(listed[0])}.")
    return Cases([dict(case) for case in listed], None)


def grid(parameters: Mapping[str, Any]) -> Cases:
    """All combinations of values."""
    values = {}
    for name, given in parameters.items():
        if isinstance(given, str) or not isinstance(given, Iterable) or not (listed := plain_list(given)):
            raise ModelError(f"sweep: parameter '{name}' is {given!r}. Give the values it is to have, in a list.")
        values[name] = listed
    products = itertools.product(*values.values())
    return Cases([dict(zip(values, case, strict=True)) for case in products], values)


def plain_list(values: Iterable[Any]) -> list[Any]:
    """Values in a list, numbers of NumPy as those of Python."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def sampled(parameters: Mapping[str, Any], samples: Any, seed: Any) -> Cases:
    """Samples inside of ranges."""
    unit = unit_samples(samples, len(parameters), seed)
    columns = {name: scaled(name, given, unit[:, k]) for k, (name, given) in enumerate(parameters.items())}
    return Cases([dict(zip(columns, case, strict=True)) for case in zip(*columns.values(), strict=True)], None)


def unit_samples(samples: Any, count: int, seed: Any) -> np.ndarray:
    """Points in the unit cube: a number of a Latin hypercube, ("sobol", number), or the points themselves."""
    if isinstance(samples, np.ndarray):
        if samples.ndim != 2 or samples.shape[1] != count or not np.all((samples >= 0.0) & (samples <= 1.0)):
            raise ModelError(f"sweep: samples have shape {samples.shape}. Give (n, {count}) numbers from 0 to 1.")
        return samples
    kind, number = ("latin", samples) if is_number(samples) else samples if is_pair(samples) else (None, None)
    if kind not in SAMPLERS or not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
        raise ModelError(
            f"sweep: samples = {samples!r}. Give a number for a Latin hypercube, or ('latin', n) or ('sobol', n)."
        )
    from scipy.stats import qmc  # slow to import

    return getattr(qmc, SAMPLERS[kind])(d=count, rng=np.random.default_rng(seed)).random(int(number))


def is_pair(value: Any) -> bool:
    """Whether this is a tuple or list of two."""
    return isinstance(value, tuple | list) and len(value) == 2


def scaled(name: str, given: Any, unit: np.ndarray) -> list[float]:
    """Samples from 0 to 1 as values in a range."""
    words = list(given) if isinstance(given, tuple | list | np.ndarray) else []
    logarithmic = len(words) == 3 and words[2] == "log"
    if len(words) != 2 + logarithmic or not all(is_number(x) and np.isfinite(x) for x in words[:2]):
        raise ModelError(f"sweep: parameter '{name}' is {given!r}. {RANGE}")
    low, high = float(words[0]), float(words[1])
    if not low < high or (logarithmic and low <= 0.0):
        raise ModelError(
            f"sweep: parameter '{name}' has the range {given!r}. Give low < high, both positive with 'log'."
        )
    if logarithmic:
        return np.exp(np.log(low) + unit * (np.log(high) - np.log(low))).tolist()
    return (low + unit * (high - low)).tolist()
