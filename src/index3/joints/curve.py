"""A point that follows a curve given by points."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_flag, as_vector
from index3.constraints.on_curve import ACROSS, COLUMNS, CURVE, LENGTH, START
from index3.errors import ModelError
from index3.fields import FLAG, PAIR, POINT, declare, field, short_form
from index3.joints.base import Joint, Primitive, Z, in_plane
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker

# Smallest volume of (directions across, unit tangent) along a curve: 1 for an ideal frame, 0 where rows would vanish.
TRANSVERSAL = 0.3


@register
class PointOnCurve(Joint):
    """The second point stays on a curve fixed to the first body: 2 rows in space, 1 between planar bodies.

    The curve is a cubic spline through `points`, parametrised by the lengths of their chords, so its curvature is
    continuous. The nearest point of the curve to the second point is found in every evaluation; a curve that crosses
    itself is refused, since there two points would be nearest.

    Parameters
    ----------
    name, first, second : as in every joint; `first` carries the curve
    points : (n, 3) in space, or (n, 2) in the x-y plane of the first marker, n >= 4, in order [m]. Short form: in
        ground at the initial configuration
    closed : whether the curve goes on from the last point to the first, which is not repeated. A point that runs off an
        end of an open curve ends the run.
    at : short form: the second point, in ground

    Raises
    ------
    ModelError : names the joint; too few points, points that coincide, a curve that turns too sharply between them.
    """

    required = ("at",)
    fields = declare(PAIR, points=field("path"), closed=FLAG, at=short_form(POINT))

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        points: ArrayLike,
        *,
        closed: bool = False,
        at: ArrayLike | None = None,
    ) -> None:
        self._set_name(name)
        self.points, self.closed = self._read(points), as_flag(closed, self.label, "closed")
        flat = self.points.shape[1] == 2
        segments = self._segments(np.column_stack([self.points, np.zeros(len(self.points))]) if flat else self.points)
        rows = [
            Primitive("on_curve", (label,), {"segments": part, "closed": self.closed})
            for label, part in zip(("across",) if flat else ("across", "sideways"), segments, strict=False)
        ]
        self.recipe = (*rows, in_plane(Z)) if flat else tuple(rows)
        bodies = self._short_form(first, second, at=at)
        if bodies is not None:
            if bodies[0].deforms:
                raise ModelError(
                    f"{self.label} takes its curve from {bodies[0].label}, which deforms: the curve would not. "
                    "For a curve fixed to one of its markers, give two markers."
                )
            first = bodies[0].marker_at_pose(np.zeros(3), np.eye(3))
            second = bodies[1].marker_at_pose(as_vector(at, self.label, "at"), np.eye(3))
        self._join(first, second)

    def solids(self) -> list[dict[str, Any]]:
        """The curve."""
        points = (
            np.column_stack([self.points, np.zeros(len(self.points))]) if self.points.shape[1] == 2 else self.points
        )
        return [{"marker": 0, "type": "path", "points": points.tolist(), "closed": self.closed}]

    @property
    def obstacle(self) -> str:
        """What a step may pass over."""
        return f"A part of the curve of {self.label}"

    def explain(self, stage: str, t: float) -> str:
        """What the kernels found wrong."""
        ends = "" if self.closed else " It may have run off an end: make the curve longer."
        return f"{self.label} finds no nearest point of its curve at t = {t:.6g}.{ends}"

    def _read(self, points: Any) -> np.ndarray:
        """The points as an array."""
        try:
            array = np.array(points, dtype=float)
        except (TypeError, ValueError, OverflowError):
            array = np.empty(0)
        if array.ndim != 2 or array.shape[1] not in (2, 3) or len(array) < 4:
            raise ModelError(f"{self.label} has points {short(points)}. Give at least 4 rows of 2 or 3 numbers.")
        if not np.isfinite(array).all():
            raise ModelError(f"{self.label} has points that are not finite. Give finite numbers.")
        return array

    def _segments(self, points: np.ndarray) -> list[np.ndarray]:
        """The cubic pieces of the curve, once with each of two fields of directions across it."""
        from scipy.interpolate import CubicSpline  # here: 0.1 s that models without curves need not pay

        knots = np.vstack([points, points[:1]]) if self.closed else points
        chords = np.linalg.norm(np.diff(knots, axis=0), axis=1)
        if chords.min() <= 1e-9 * chords.max():
            raise ModelError(f"{self.label} has neighbouring points that coincide. Give each point once, in order.")
        parameter = np.concatenate([[0.0], np.cumsum(chords)])
        ends = "periodic" if self.closed else "not-a-knot"
        curve = CubicSpline(parameter, knots, bc_type=ends)
        fields = [CubicSpline(parameter, field, bc_type=ends) for field in self._across(curve(parameter, 1))]
        self._check_frame(curve, fields)
        self._check_apart(curve)
        return [pieces(parameter, curve.c, field.c) for field in fields]

    def _across(self, tangents: np.ndarray) -> list[np.ndarray]:
        """Two directions across the curve at every knot: a frame that turns as little as it can, and closes."""
        t = tangents / np.linalg.norm(tangents, axis=1)[:, None]
        flat = bool(np.all(np.abs(t[:, 2]) < 1e-12))
        start = np.array([-t[0, 1], t[0, 0], 0.0]) if flat else np.cross(t[0], np.eye(3)[np.argmin(np.abs(t[0]))])
        first = [start / np.linalg.norm(start)]
        for tangent in t[1:]:
            u = first[-1] - (first[-1] @ tangent) * tangent
            first.append(u / np.linalg.norm(u))
        u = np.array(first)
        v = np.cross(t, u)
        if self.closed:  # what is left of a turn after one round is taken back evenly
            twist = np.arctan2(u[-1] @ v[0], u[-1] @ u[0])
            angle = -twist * np.arange(len(t)) / (len(t) - 1)
            u, v = (np.cos(angle) * u.T + np.sin(angle) * v.T).T, (np.cos(angle) * v.T - np.sin(angle) * u.T).T
            u[-1], v[-1] = u[0], v[0]
        return [u, v]

    def _check_frame(self, curve: Any, fields: list[Any]) -> None:
        """Raise unless the directions are across the curve everywhere, also between the points."""
        s = np.linspace(curve.x[0], curve.x[-1], 20 * len(curve.x))
        tangent = curve(s, 1)
        speed = np.linalg.norm(tangent, axis=1)
        volume = np.einsum("ti,ti->t", np.cross(fields[0](s), fields[1](s)), tangent) / np.maximum(speed, 1e-300)
        if speed.min() < 0.1 or np.abs(volume).min() < TRANSVERSAL:
            k = int(np.argmin(np.minimum(speed, np.abs(volume))))
            place = int(np.searchsorted(curve.x, s[k], "right")) - 1
            raise ModelError(f"{self.label} turns too sharply after point {place}. Give more points there.")

    def _check_apart(self, curve: Any) -> None:
        """Raise if two parts of the curve come nearer to each other than some twentieth of a segment."""
        from scipy.spatial import cKDTree

        s = np.linspace(curve.x[0], curve.x[-1], 20 * len(curve.x), endpoint=not self.closed)
        r, whole = curve(s), curve.x[-1] - curve.x[0]
        near = np.linalg.norm(np.diff(r, axis=0), axis=1).max()
        pairs = cKDTree(r).query_pairs(near, output_type="ndarray")
        along = np.abs(s[pairs[:, 0]] - s[pairs[:, 1]])
        along = np.minimum(along, whole - along) if self.closed else along
        crossing = np.flatnonzero(along > 4.0 * near)
        if len(crossing):
            point = np.round(r[pairs[crossing[0], 0]], 6).tolist()
            raise ModelError(f"{self.label} has a curve that crosses or touches itself near {point}. Split it there.")


def pieces(parameter: np.ndarray, curve: np.ndarray, across: np.ndarray) -> np.ndarray:
    """One row per segment, from the coefficients (4, segments, 3), highest power first, of a curve and a field."""
    rows = np.zeros((len(parameter) - 1, COLUMNS))
    rows[:, START], rows[:, LENGTH] = parameter[:-1], np.diff(parameter)
    for first, coefficients in ((CURVE, curve), (ACROSS, across)):
        for power in range(4):
            rows[:, first + 3 * power : first + 3 * power + 3] = coefficients[3 - power]
    return rows
