"""What acts inside beams and cables as Matplotlib plots along their axis."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import Index3Error, ModelError
from index3.results.along import UNITS, along
from index3.results.plot import COLOURS, MOST_LEGEND, STYLE

if TYPE_CHECKING:
    from index3.results.result import Result

PLACES = 201


def plot_along(result: Result, *names: str, t: Any = None, ax: Any = None) -> Any:
    """Plot quantities of beams and cables along their undeformed axis, at given times.

    Parameters
    ----------
    names : "beam.moment", "beam.axial_force", "rope.curvature", "boom.moment.z", "beam.points.y", ...: what the result
        of the body has as a function of s. Each has a panel of its own.
    t : a time or several [s], each taken at the nearest output; by default the last
    ax : Matplotlib axes to draw a single quantity into

    Returns
    -------
    The Matplotlib `Axes`, or an array of them if there is more than one panel.

    Raises
    ------
    ModelError : an unknown name, a body without an axis, a time outside the run.
    Index3Error : Matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot, rc_context
    except ImportError as error:
        raise Index3Error("Plots need Matplotlib, which is not installed. Run: pip install index3[plot]") from error
    if not names:
        raise ModelError("plot_along has no names. Give some, such as 'beam.moment'.")
    rows = _rows(result, t)
    found = [along(result, name, PLACES) for name in names]
    if ax is not None:
        if len(found) > 1:
            raise ModelError("Several quantities do not fit one axes. Plot them one by one, or leave ax out.")
        _draw(ax, names[0], found[0], result.t, rows)
        if ax.get_legend_handles_labels()[0]:
            ax.legend()
        return ax
    with rc_context(STYLE):
        height = 3.9 if len(found) == 1 else 2.6 * len(found)
        figure, axes = pyplot.subplots(len(found), 1, squeeze=False, figsize=(7.4, height), layout="constrained")
        for axis, name, lines in zip(axes[:, 0], names, found, strict=True):
            _draw(axis, name, lines, result.t, rows)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.4)
        axes[0, 0].set_title(result.layout.model)
        figure.align_ylabels()
    return axes[0, 0] if len(found) == 1 else axes[:, 0]


def _rows(result: Result, t: Any) -> list[int]:
    """The outputs nearest to the times asked for, each once."""
    if t is None:
        return [len(result.t) - 1]
    try:
        times = np.atleast_1d(np.asarray(t, float))
    except (TypeError, ValueError):
        times = np.array([np.nan])
    slack = 1e-9 * max(1.0, float(np.abs(result.t).max()))
    inside = (times >= result.t.min() - slack) & (times <= result.t.max() + slack)  # NaN is not
    if times.ndim > 1 or not times.size or not inside.all():
        raise ModelError(
            f"plot_along: t = {short(t)}. Give times of the run, from {result.t.min():.9g} to {result.t.max():.9g} s."
        )
    return list(dict.fromkeys(int(np.argmin(np.abs(result.t - time))) for time in times))


def _draw(ax: Any, name: str, found: tuple[np.ndarray, tuple[str, ...], np.ndarray], t: Any, rows: list[int]) -> None:
    s, columns, values = found
    lines = [(row, k) for row in rows for k in range(len(columns))]
    for number, (row, k) in enumerate(lines):
        words = (columns[k], f"t = {t[row]:.6g} s" if len(rows) > 1 else "")
        label = ", ".join(word for word in words if word)
        ax.plot(s, values[row, :, k], label=(label if len(lines) <= MOST_LEGEND else "") or None,
                color=COLOURS[number % len(COLOURS)])  # fmt: skip
    word = name.split(".")[1]
    ax.set_ylabel(f"{name.replace('.', ' ').replace('_', ' ')} [{UNITS[word]}]")
    ax.set_xlabel("s [m]")
    ax.set_xlim(s[0], s[-1])
