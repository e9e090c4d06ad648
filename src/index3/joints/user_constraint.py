"""A constraint by a user's own function."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import Marker, as_numbers, as_positive
from index3.bodies.pairs import as_markers
from index3.compiled.callbacks import Form, UserFunctions
from index3.compiled.unread import looks_at
from index3.constraints.user_block import POSES, pose_shapes
from index3.constraints.user_differences import PARTS, SEEN
from index3.errors import ModelError, warn
from index3.fields import END, LENGTH, declare, numbers
from index3.joints.base import Joint, Primitive
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodiesOrMarkers, UserFunction

# Largest part of a row of velocities that may fail to be affine in them: some thousand roundings.
AFFINE = 1e-10


@register
class UserConstraint(Joint, UserFunctions):
    """Constraints given by your own function: out = 0.

    Parameters
    ----------
    name : str
    markers : a marker or body, or a sequence of k of them; a body stands for a marker at its origin with its axes
    f : function f(t, r, A, v, w, p, out) that fills `out` and returns None. t [s]; of each marker the point r (k, 3),
        axes A (k, 3, 3, columns x, y, z), velocity v (k, 3) and angular velocity w (k, 3), all in ground axes; p, the
        parameters; `out` (rows,), zero at entry. With level 0 it must not use v and w, with level 1 it must be affine
        in them (a + b . v + c . w with any a, b, c of t, r, A). It must be smooth, also 0.01 m (times `scale`) and
        0.01 rad around. Functions of Numba and C as for `UserForce`; the block of a C function is r, A, v, w, p, out,
        G.
    rows : number of rows
    level : 0 for rows that restrain positions, 1 for rows that restrain velocities
    parameters : numbers handed to f as `p`
    jacobian : "differences", or a function jacobian(t, r, A, v, w, p, G), of any kind that f may be, that fills, from
        zero, the (rows, 6k) derivatives of `out`: with level 0 by (dr, dtheta) of each marker in turn, where dtheta
        turns every axis u by dtheta x u; with level 1 by (v, w). By default differences, with a warning.
    scale : length over which f changes noticeably [m], 1 by default; steps of differences are small parts of it
    time_step : step of the differences by t [s], small against the fastest change with t itself; None if f does not use
        t, which saves calls

    The reaction on marker k is `result[name].on(k)`. How accurate the differences are and how many calls they cost
    stands in the manual ("A constraint of your own"). An exception in a Python function ends the run and is shown with
    its own traceback.

    Raises
    ------
    ModelError : names the constraint.

    >>> from index3.bodies.point_mass import PointMass
    >>> def on_sphere(t, r, A, v, w, p, out):
    ...     out[0] = r[0] @ r[0] - p[0] ** 2
    >>> bead = PointMass("bead", 1.0, position=(2, 0, 0))
    >>> UserConstraint("sphere", bead, on_sphere, rows=1, parameters=(2.0,), jacobian="differences")
    UserConstraint('sphere', 'bead')
    """

    kind = "index3.constraints.user_rows"
    page = "howto/user_constraint.md"
    no_file = "it holds Python functions"
    fields = declare(markers=END.found(lambda joint: joint.markers), parameters=numbers(), scale=LENGTH)
    arguments: Mapping[str, tuple[str, ...]] = {"f": (*POSES, "out"), "jacobian": (*POSES, "G")}

    def __init__(
        self,
        name: str,
        markers: BodiesOrMarkers,
        f: UserFunction,
        *,
        rows: int,
        level: int = 0,
        parameters: ArrayLike = (),
        jacobian: str | UserFunction | None = None,
        scale: float = 1.0,
        time_step: float | None = 1e-3,
    ) -> None:
        self._set_name(name)
        self._markers = as_markers(self.label, markers)
        self.first, self.second = self._markers[0], self._markers[-1]
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
            raise ModelError(f"{self.label} has rows {short(rows)}. Give the number of rows that f fills, at least 1.")
        if isinstance(level, bool) or not isinstance(level, int | np.integer) or level not in (0, 1):
            raise ModelError(f"{self.label} has level {short(level)}. Give 0 for positions, or 1 for velocities.")
        self.rows, self.level = int(rows), int(level)
        self.parameters = as_numbers(parameters, self.label, "parameters")
        self.scale = as_positive(scale, self.label, "scale")
        self.time_step = None if time_step is None else as_positive(time_step, self.label, "time_step")
        self.f = f
        self.jacobian = "differences" if jacobian is None else jacobian
        self.check_function("f", f)
        if jacobian is None:
            warn(
                f"{self.label} has no jacobian: taken by differences. Give the exact one for speed and full accuracy, "
                "or jacobian='differences' to accept them.",
            )
        elif not self.by_differences:
            self.check_function("jacobian", jacobian)
        self._check_velocities()
        labels = tuple(f"out[{k}]" for k in range(self.rows))
        self.recipe = (Primitive("user", labels, {"level": self.level}),)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers that f sees."""
        return self._markers

    @property
    def by_differences(self) -> bool:
        """Whether the derivatives are taken by differences."""
        return isinstance(self.jacobian, str) and self.jacobian == "differences"

    @property
    def conservative(self) -> bool:
        """Whether its reactions cannot do work: rows of positions that do not depend on time."""
        return self.level == 0 and self.time_step is None

    def _check_velocities(self) -> None:
        """Raise if rows of positions use velocities, or rows of velocities are not affine in them, at the start."""
        function = getattr(self.f, "py_func", self.f)
        if not callable(function):
            return
        poses = [marker.pose() for marker in self.markers]
        r, A = np.array([r for r, _ in poses]), np.array([A for _, A in poses])
        twists = np.random.default_rng(0).normal(size=(2, 2, *r.shape))
        values = np.zeros((4, self.rows))
        try:
            for out, (v, w) in zip(values, (twists[0], twists[1], twists[0] + twists[1], 0.0 * twists[0]), strict=True):
                function(0.0, r, A, v, w, self.parameters, out)
        except Exception:  # the run itself will say what is wrong with the function
            return
        if self.level == 0 and (used := (values != values[3]).any(axis=0) & np.isfinite(values).all(axis=0)).any():
            raise ModelError(
                f"{self.label}: its row {int(np.argmax(used))} changes with the velocities. Rows of level 0 restrain "
                "positions: leave v and w out, or give level=1 to restrain velocities."
            )
        bend = np.abs(values[0] + values[1] - values[2] - values[3])
        if self.level == 1 and (bend > AFFINE * np.maximum(1.0, np.abs(values).max(axis=0))).any():
            raise ModelError(
                f"{self.label}: its row {int(np.argmax(bend))} is not affine in the velocities. "
                "Rows of level 1 must be a + b . v + c . w, with a, b and c of t, r and A."
            )

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        return self.explain_function("f or jacobian" if not self.by_differences else "f", t)

    def record(self, place: Any) -> tuple[Any, ...]:
        """The part of its row in the table that does not depend on its functions; its line is filled in later."""
        timed, *seen = looks_at(self.f, self.arguments["f"], ("t", *SEEN))
        if not self.by_differences:
            timed, *seen = map(max, (timed, *seen), looks_at(self.jacobian, self.arguments["jacobian"], ("t", *SEEN)))
        step = self.time_step or 0.0 if timed else 0.0
        return (0, self.rows, self.level, int(not self.by_differences), self.scale, step, *seen)

    def form(self) -> Form:
        """The parts of its block."""
        width = 6 * len(self.markers)
        poses = pose_shapes(len(self.markers), len(self.parameters))
        kept = 2 + 2 * width + self.rows * (width + 2)  # time, whether H is kept, poses, gradient and values
        own = ((self.rows,), (self.rows,), (self.rows, width, width), (kept,))
        shapes = (*poses, (self.rows,), (self.rows, width), *own)
        return Form(PARTS, shapes, ("out", "G"))
