"""Histories of a result as one table, and their spectra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from index3.errors import Index3Error, ModelError
from index3.results.export import JOINT_QUANTITIES, as_names, quantity

if TYPE_CHECKING:
    from index3.results.result import Result

EVEN = 1e-6
"""Times count as evenly spaced if no interval differs by more than this part from their mean."""


class Spectrum(NamedTuple):
    """Amplitudes (k, columns) of a history over frequencies (k,) [Hz]; `labels` and `unit` are those of the history."""

    frequency: np.ndarray
    amplitude: np.ndarray
    labels: tuple[str, ...]
    unit: str


def history_names(result: Result) -> Iterator[str]:
    """Names of the histories that a table has by default: motion of bodies, joints, forces, states, energies."""
    layout = result.layout
    for body in layout.bodies:
        planar = ("angle", "spin") if body["kind"] == "planar" else ()
        for key in ("position", "velocity", "orientation", "angular_velocity", *planar):
            yield f"{body['name']}.{key}"
    for joint in layout.joints:
        own = [key for name in joint["coordinates"] for key in (name, f"{name}_rate")]
        for key in (*own, "force", "torque"):
            if key in JOINT_QUANTITIES and (joint["second"] is not None or key in ("force", "torque")):
                yield f"{joint['name']}.{key}"
    for name in (*(force["name"] for force in layout.forces), *layout.controllers):
        yield from (f"{name}.{key}" for key in result[name].quantities)
    yield from (block["name"] for block in layout.states)
    yield "energy"


def to_pandas(result: Result, names: Sequence[str] | None = None) -> Any:
    """A `pandas.DataFrame` over time [s], a column for each number: "crank.position.x", "B.force.z", "energy.total".

    `names` are those of histories, by default all of `history_names`.

    Raises
    ------
    Index3Error : pandas is not installed.
    ModelError : an unknown name.
    """
    try:
        import pandas
    except ImportError as error:
        raise Index3Error("to_pandas needs pandas, which is not installed. Run: pip install pandas") from error
    columns: dict[str, np.ndarray] = {}
    for name in history_names(result) if names is None else as_names(names):
        found = quantity(result, name)
        for k, label in enumerate(found.labels):
            columns[f"{found.name}.{label}" if label else found.name] = found.values[:, k]
    return pandas.DataFrame(columns, index=pandas.Index(result.t, name="time"))


def spectrum(result: Result, name: str, *, window: str = "hann") -> Spectrum:
    """Amplitudes of a history over frequency, its mean left out: a sine of amplitude A shows as a peak of height A.

    `window` is one of `scipy.signal.get_window`, such as "hann" or "boxcar" (none).

    Raises
    ------
    ModelError : the times of the result are not evenly spaced, or fewer than 4.
    """
    from scipy.signal import get_window

    found, count = quantity(result, name), len(result)
    if count < 4:
        raise ModelError(f"spectrum of '{name}': the result has {count} times. Give at least 4.")
    step = np.diff(result.t)
    if np.ptp(step) > EVEN * step.mean():
        raise ModelError(
            f"spectrum of '{name}': the times of the result are not evenly spaced. Run with t_eval=dt, a number."
        )
    try:
        weights = get_window(window, count)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"spectrum of '{name}': window {window!r} is not known: {error}.") from None
    values = (found.values - found.values.mean(axis=0)) * weights[:, None]
    amplitude = np.abs(np.fft.rfft(values, axis=0)) * 2.0 / weights.sum()
    return Spectrum(np.fft.rfftfreq(count, step.mean()), amplitude, found.labels, found.unit)
