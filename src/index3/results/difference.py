"""How far a result is from a reference: largest error and its time, relative and average error.

[NegrutThesis] section 5.1, whose equations the bare numbers below are. The reference may have other times: its values
are interpolated by the cubic through its four nearest points.
"""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short
from typing import TYPE_CHECKING

import numpy as np

from index3.errors import ModelError
from index3.results.export import quantity

if TYPE_CHECKING:
    from index3.results.result import Result


@dataclass(frozen=True)
class Difference:
    """Error of one history against a reference.

    Attributes
    ----------
    name : of the history, such as "crank.position.x"
    largest : largest error at an output time (5.2)
    t : the time of the largest error [s]
    percent : largest error as a percentage of the reference there (5.4); NaN where that is zero
    average : square root of the sum of the squared errors, divided by their number (5.3)
    errors : (n_t,) errors at all output times (5.1)
    """

    name: str
    largest: float
    t: float
    percent: float
    average: float
    errors: np.ndarray

    def __str__(self) -> str:
        part = "" if np.isnan(self.percent) else f" ({self.percent:.3g} %)"
        return f"{self.name}: largest error {self.largest:.3g}{part} at t = {self.t:g}, average {self.average:.3g}"


def difference(result: Result, reference: Result, *names: str) -> list[Difference]:
    """Compare named histories of a result with those of a reference run.

    Parameters
    ----------
    result : at whose output times the errors are taken
    reference : a run of the same model over at least the same time, with at least four output times
    names : histories as `result.plot` knows them, such as "crank.position"; by default the positions of all bodies

    Raises
    ------
    ModelError : an unknown name, or a reference that is too short.

    >>> import index3 as ix
    >>> model = ix.library.pendulum()
    >>> fine, rough = (ix.simulate(model, (0.0, 1.0), rtol=rtol) for rtol in (1e-10, 1e-4))
    >>> [error.largest < 1e-2 for error in ix.difference(rough, fine, "pivot.angle")]
    [True]
    """
    for which, one in (("result", result), ("reference", reference)):
        if not hasattr(one, "layout"):
            raise ModelError(f"difference: the {which} is {short(one)}. Give what simulate returned.")
    if len(reference) < 4:
        raise ModelError(f"difference: the reference has {len(reference)} output times. Give at least 4.")
    span = reference.t[-1] - reference.t[0]
    if len(result) == 0 or result.t[0] < reference.t[0] - 1e-12 * span or result.t[-1] > reference.t[-1] + 1e-12 * span:
        raise ModelError(
            f"difference: the reference goes from {reference.t[0]:g} to {reference.t[-1]:g} s. Give one that covers "
            "all times of the result."
        )
    found = []
    for name in names or [f"{body['name']}.position" for body in result.layout.bodies]:
        mine, theirs = quantity(result, name), quantity(reference, name)
        if mine.labels != theirs.labels:
            raise ModelError(f"difference: '{name}' means {mine.labels} here, {theirs.labels} in the reference.")
        expected = cubic(reference.t, theirs.values, result.t)
        for column, label in enumerate(mine.labels):
            word = f"{mine.name}.{label}" if label else mine.name
            found.append(_compare(word, result.t, mine.values[:, column], expected[:, column]))
    return found


def _compare(name: str, t: np.ndarray, values: np.ndarray, expected: np.ndarray) -> Difference:
    errors = np.abs(expected - values)
    k = int(np.argmax(errors))
    percent = 100.0 * errors[k] / abs(expected[k]) if expected[k] != 0.0 else float("nan")
    average = float(np.sqrt(np.sum(errors**2))) / len(errors)
    return Difference(name, float(errors[k]), float(t[k]), float(percent), average, errors)


def cubic(times: np.ndarray, values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Values (len(t), k) of the cubics through the four points around each t; the outer four at the ends.

    >>> x = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
    >>> cubic(x, x[:, None] ** 3, np.array([3.0]))
    array([[27.]])
    """
    first = np.clip(np.searchsorted(times, t, "right") - 2, 0, len(times) - 4)
    nodes = times[first[:, None] + np.arange(4)]
    result = np.zeros((len(t), values.shape[1]))
    for i in range(4):
        weight = np.ones(len(t))
        for j in range(4):
            if j != i:
                weight *= (t - nodes[:, j]) / (nodes[:, i] - nodes[:, j])
        result += weight[:, None] * values[first + i]
    return result
