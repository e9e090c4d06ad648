"""Histories of a result as Matplotlib plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import Index3Error, ModelError
from index3.results.export import Quantity, as_names, quantity

if TYPE_CHECKING:
    from index3.results.result import Result

COLOURS = ("#2463a8", "#d1542c", "#3f9a5b", "#8457b3", "#c9961a", "#2a9d9d", "#b8447a", "#5d6673")
STYLE: Any = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a929c",
    "axes.labelcolor": "#2b3038",
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "xtick.color": "#5d6673",
    "ytick.color": "#5d6673",
    "figure.dpi": 110.0,
}
MOST_LEGEND = 24  # more lines than this cannot be told apart by colour anyway
FLOOR = 1e-18  # residuals that are exactly zero are drawn here, on a logarithmic axis


def plot(result: Result, *names: str, x: str | None = None, y: str | Sequence[str] = (), ax: Any = None) -> Any:
    """Plot histories by name, or an overview of energy and residuals if no name is given.

    With `x`, a history of one column, those of `y` are drawn against it: x="crank.position.x", y="crank.position.z".

    Names are those of `index3.results.export.quantity`: "crank.position", "B.force", "B.angle", "energy",
    "violation.scaled", "crank.position.z" ... Names with the same unit share a panel.

    Returns
    -------
    The Matplotlib `Axes`, or an array of them if there is more than one panel; `.figure` leads to the figure.

    Raises
    ------
    ModelError : an unknown name, or names of different units with `ax` given.
    Index3Error : Matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot, rc_context
    except ImportError as error:
        raise Index3Error("Plots need Matplotlib, which is not installed. Run: pip install index3[plot]") from error
    names = (*names, *as_names(y))
    if x is not None and not names:
        raise ModelError(f"plot: x = {x!r}, but nothing to draw against it. Give y as well.")
    across = None if x is None else quantity(result, x)
    if across is not None and across.values.shape[1] != 1:
        raise ModelError(f"plot: x = {x!r} has the columns {', '.join(across.labels)}. Name one of them.")
    panels = _panels([_without_idle_work(quantity(result, name)) for name in names or ("energy", "violation.scaled")])
    if ax is not None:
        if len(panels) > 1:
            raise ModelError("Names of different units do not fit one axes. Plot them one by one, or leave ax out.")
        _draw(ax, result, panels[0], across)
        if ax.get_legend_handles_labels()[0]:
            ax.legend()  # inside: what lies beside the user's axes is not ours
        return ax
    with rc_context(STYLE):
        height = 3.9 if len(panels) == 1 else 2.6 * len(panels)
        figure, axes = pyplot.subplots(
            len(panels), 1, sharex=True, squeeze=False, figsize=(7.4, height), layout="constrained"
        )
        for axis, panel in zip(axes[:, 0], panels, strict=True):
            _draw(axis, result, panel, across)
        for axis in axes[:-1, 0]:
            axis.set_xlabel("")
        axes[0, 0].set_title(result.layout.model)
        figure.align_ylabels()
    return axes[0, 0] if len(panels) == 1 else axes[:, 0]


def _without_idle_work(item: Quantity) -> Quantity:
    """Energies without `total` and `work` where no work is done: the balance is then the total."""
    if item.name != "energy" or item.values[:, item.labels.index("work")].any():
        return item
    kept = [k for k, label in enumerate(item.labels) if label not in ("total", "work")]
    return item._replace(labels=tuple(item.labels[k] for k in kept), values=item.values[:, kept])


def _panels(found: list[Quantity]) -> list[list[Quantity]]:
    """Histories grouped by unit, residuals apart from everything else because their axis is logarithmic."""
    groups: dict[tuple[str, bool], list[Quantity]] = {}
    for item in found:
        groups.setdefault((item.unit, _is_residual(item)), []).append(item)
    return list(groups.values())


def _is_residual(item: Quantity) -> bool:
    return item.name.partition(".")[0] == "violation"


def _draw(ax: Any, result: Result, panel: list[Quantity], across: Quantity | None = None) -> None:
    logarithmic = _is_residual(panel[0])
    lines = [(item, k) for item in panel for k in range(item.values.shape[1])]
    for number, (item, k) in enumerate(lines):
        values = np.maximum(item.values[:, k], FLOOR) if logarithmic else item.values[:, k]
        words = (_words(item.name) if len(panel) > 1 else "", item.labels[k].replace("_", " "))
        label = " ".join(word for word in words if word)
        ax.plot(
            result.t if across is None else across.values[:, 0],
            values,
            label=label or None,
            color=COLOURS[number % len(COLOURS)],
        )
    if logarithmic:
        ax.set_yscale("log")
    unit = panel[0].unit
    about = _words(panel[0].name) if len(panel) == 1 else _shared(panel)
    ax.set_ylabel(f"{about} [{unit}]" if unit else about)
    if across is not None:
        ax.set_xlabel(f"{_words(across.name)} [{across.unit}]" if across.unit else _words(across.name))
        if across.unit == unit == "m":
            ax.set_aspect("equal", adjustable="datalim")  # a path in space
    else:
        ax.set_xlabel("time [s]")
    if across is None and len(result) > 1:
        ax.set_xlim(result.t[0], result.t[-1])
    if 1 < len(lines) <= MOST_LEGEND:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.4)


def _words(name: str) -> str:
    """A name as it is read: "violation.scaled" is the scaled residual, "B.angle_rate" the B angle rate."""
    owner, _, rest = name.partition(".")
    if owner == "violation":
        scaled = rest.startswith("scaled")
        level = rest.removeprefix("scaled").strip(".")
        return " ".join(word for word in ("scaled" if scaled else "", level, "residual") if word)
    return f"{owner} {rest}".strip().replace("_", " ").replace(".", " ")


def _shared(panel: list[Quantity]) -> str:
    """What the histories of one panel have in common: "position", or "value"."""
    kinds = {item.name.partition(".")[2].partition(".")[0] for item in panel}
    return kinds.pop().replace("_", " ") if len(kinds) == 1 else "value"
