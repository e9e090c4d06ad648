"""One self-contained page that plays a run: own WebGL2 drawing, no requests, opens by double click.

Python decides what to draw (parts of each body in its own frame, symbols of joints, sizes, the first view); the parts
`page*.js` and `page.css` beside this file only draw it.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import ModelError
from index3.results.arrays import plain
from index3.results.page_curves import curves
from index3.results.page_motion import PageMotion
from index3.results.page_parts import encode
from index3.results.page_scene import scene, up
from index3.results.writing import replaced

if TYPE_CHECKING:
    from index3.results.result import Result

MOST_FRAMES = 600  # unless bodies turn so fast that these would show them wrongly
MOST_TURN = 0.25  # rad between frames: interpolated bars then stay together at their joints to 1e-4 of their length
MOST_NUMBERS = 2_000_000  # of all poses together; about 11 MB of text, which browsers still load at once
SCRIPTS = (
    "page_motion.js", "page_scene.js", "page_shapes.js", "page_shaders.js", "page_gl.js", "page_stores.js",
    "page_draw.js", "page_parts.js", "page_charts.js", "page.js",
)  # fmt: skip
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def write_html(result: Result, path: str | PathLike[str], title: str | None = None, fps: float = 60.0) -> None:
    """Write a page that shows the motion, the energies, the constraint residuals and the run's statistics.

    At most 600 of the result's own times are kept (more only where a body turns fast), fewer if `fps` frames per
    second of playing time need fewer; the page interpolates between them. z is up, or the axis that gravity points
    against; in a model of planar bodies, y. A file already there is replaced.

    Raises
    ------
    ModelError : the result has no times, or `fps` is not positive.
    FileError : the page cannot be written.
    """
    page = page_text(result, title, fps)
    with replaced(path) as unfinished:
        unfinished.write_text(page, "utf-8")


def page_text(result: Result, title: str | None = None, fps: float = 60.0) -> str:
    """The text of the page that `write_html` writes."""
    if not np.isfinite(result.q).all(axis=1).any():
        raise ModelError(f"Result of model '{result.layout.model}' has no times to show. {result.message}".rstrip())
    if not fps > 0:
        raise ModelError(f"fps is {fps}. Give a positive number of frames per second.")
    room = files("index3.results")
    title = title or result.layout.model
    data = json.dumps(payload(result, title, fps), allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(title),
        "STYLE": room.joinpath("page.css").read_text("utf-8"),
        "DATA": data.replace("<", "\\u003c"),  # no name can close the script element
        "SCRIPT": "\n".join(room.joinpath(name).read_text("utf-8") for name in SCRIPTS),
    }
    template = room.joinpath("page.html").read_text("utf-8")
    pieces = template.split("@@")  # text, key, text, key, ..., text: inserted text is never searched again
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def notebook_text(result: Result) -> str:
    """The page in a frame, as notebooks show it."""
    page = html.escape(page_text(result), quote=True)
    style = "width: 100%; height: 620px; border: 0"
    return f'<iframe srcdoc="{page}" style="{style}" sandbox="allow-scripts" title="Motion"></iframe>'


def payload(result: Result, title: str, fps: float = 60.0) -> dict[str, Any]:
    """Everything the page knows, ready for JSON; arrays are base64 of little-endian float32, time first."""
    rows = np.flatnonzero(np.isfinite(result.q).all(axis=1))  # a run may end in numbers that cannot be drawn
    duration = float(result.t[rows[-1]] - result.t[rows[0]])
    speed = playing_speed(duration)
    moving = PageMotion(result)
    turned = max((_turned(result.t[rows], motion.angular_velocity[rows]) for motion in moving.motions), default=0.0)
    wanted = max(min(MOST_FRAMES, fps * duration / speed + 1), turned / MOST_TURN + 1)
    frames = rows[frame_numbers(result.t[rows], min(wanted, MOST_NUMBERS / max(moving.width, 7)))]
    energy = result.energy
    return {
        "title": title,
        "success": result.success,
        "message": result.message,
        "method": result.method or "unknown method",
        "run": _run_table(result),
        "times": encode(result.t[frames]),
        "poses": encode(moving.poses(frames)),
        "points": encode(moving.points(frames)),
        **_colours(moving, frames),
        "energy": encode(np.column_stack([energy.kinetic, energy.potential, energy.balance])[frames]),
        "residuals": encode(_peaks(result.arrays["violation_scaled"], frames)) if result.lam.shape[1] else "",
        "up": up(result),
        "speed": speed,
        "speeds": SPEEDS,
        **scene(result, moving, frames),
        **curves(result, moving, frames),
    }


def _colours(moving: PageMotion, frames: np.ndarray) -> dict[str, Any]:
    """What colours the points of bodies that deform, and the end of the scale."""
    if not moving.values:
        return {}
    values = np.nan_to_num(np.hstack(list(moving.values.values()))[frames])
    return {"values": encode(values), "stress": float(values.max(initial=0.0))}


def frame_numbers(t: np.ndarray, most: float) -> np.ndarray:
    """Which rows to show: evenly spread in time, first and last included, about `most` of them but at least 2.

    >>> frame_numbers(np.array([0.0, 0.1, 0.2, 0.9, 1.0]), 3).tolist()
    [0, 2, 4]
    """
    if len(t) <= most:
        return np.arange(len(t))
    wanted = np.linspace(t[0], t[-1], max(int(most), 2))
    middles = 0.5 * (t[1:] + t[:-1])
    return np.unique(np.searchsorted(middles, wanted))  # the nearest row to each wanted time


def playing_speed(duration: float) -> float:
    """Real time where that plays in 2 to 30 s; otherwise the speed that comes closest to 8 s.

    >>> playing_speed(5.0), playing_speed(0.03)
    (1.0, 0.005)
    """
    if duration <= 0 or 2.0 <= duration <= 30.0:
        return 1.0
    return min(SPEEDS, key=lambda speed: abs(np.log(duration / speed / 8.0)))


def _turned(t: np.ndarray, angular_velocity: np.ndarray) -> float:
    """All turning of a body put together, rad, by the largest of its rates at both ends of each interval."""
    rate = np.linalg.norm(np.nan_to_num(angular_velocity), axis=1)
    return float(np.sum(np.diff(t) * np.maximum(rate[1:], rate[:-1])))


def _peaks(values: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Largest value of each interval between shown frames, so that leaving frames out hides no peak."""
    starts = np.concatenate([[0], frames[:-1] + 1])
    return np.fmax.reduceat(values, starts, axis=0)


def _run_table(result: Result) -> list[list[str]]:
    """Rows of the statistics card: label and text."""
    names = {"rejected": "rejected steps", "newton": "Newton iterations", "newton_failed": "failed Newton solves"}
    names |= {"rtol": "relative tolerance", "atol": "absolute tolerance", "seconds": "stepping time [s]"}
    names |= {f"seconds_{part}": f"CPU time, {part} [s]" for part in ("setup", "steps", "output")}
    names |= {"work_error": "error of the work [J]", "kinetic_lost": "energy lost in jumps [J]"}
    settings = [(key, result.options.get(key)) for key in ("rtol", "atol", "step")]
    numbers = {key: value for key, value in result.stats.items() if not isinstance(value, list)}
    counts = [(key, value) for key, value in numbers.items() if value or key == "rejected"]
    rows = [(key, value) for key, value in (*settings, *counts) if value is not None]
    rows += [("output times", len(result)), ("coordinates", result.q.shape[1])]
    rows += [("constraint rows", result.lam.shape[1])]
    if result.audit is not None:
        rows.append(("audit", result.audit.line().removeprefix("audit: ")))
    table = []
    for key, value in rows:
        value = plain(value)
        text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
        table.append([names.get(key, key.replace("_", " ")), text])
    return table
