"""Equations of the user that are not solved for their unknowns: implicit differential equations, algebraic variables.

At a given time, motion and states x, the unknowns u = (rates of the states, variables z) satisfy residual(u) = 0. They
are found by Newton's iteration inside the evaluation of the forces, so every method takes such equations. Equations
(8a), (8b) of [NegrutHHT], which solves them beside the motion.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import as_number
from index3.bodies.states import States
from index3.compiled.unread import unread
from index3.constraints.user_block import POSES
from index3.errors import ModelError, SimulationFailed
from index3.forces.user import UserForce
from index3.registry import register

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index3.forces.force import ForceElement
    from index3.user_types import ArrayLike, BodiesOrMarkers, UserFunction

ITERATIONS = 50
SOLVED = 1e-12
"""The last correction, relative to max(reach, |unknown|): some thousand roundings."""
ROUNDING = 1e-9
"""The same for an iteration that comes no nearer: differences of large numbers have such errors."""
STEP = 1e-7
"""Of the differences that give the iteration its matrix, relative to max(reach, |unknown|): it only sets its speed. The
reach of an unknown is 1, or less where the equations bend within that: it is found in the first solution of a run."""
BENT, SHORTER, SHORTEST = 0.02, 1e-2, 1e-20
"""How far a value half way may be off the line through those at both ends, in parts of their difference, for a reach to
be kept; the part of it that is tried next, and the least."""
SINGULAR = 1e-13
"""Smallest singular value of that matrix, as a part of the largest, below which the equations do not have one answer:
the differences are good to 1e-9."""
FAST = 0.1
"""Part of a correction that may be left after it for its inverse to serve the next one too: each costs one residual."""
PARTS = tuple(0.5**k for k in range(14))
"""Of a correction that are tried, one after the other: an exponential function overflows after a correction that is
right where it was made."""


class UserEquations(UserForce):
    """Your own equations beside the motion, and the forces that follow from their unknowns.

    Parameters
    ----------
    name : str
    markers : as for `UserForce`
    residual : function residual(t, r, A, v, w, p, x, rate, z, out, res) that fills `res` (n + m,), zero at the
        solution, and `out` (k, 6), the forces there. t, r, A, v, w, p and `out` are as for `UserForce`; x (n,) are the
        states, rate (n,) their unknown rates, z (m,) the unknown variables.
    states : a block of n states (`States`), or None
    variables : starting values of the m variables z
    parameters : numbers handed to the function as `p`
    accelerations, reactions, reads : as for `UserForce`; residual then has the arguments dv, dw, F, T and `seen`, those
        that are asked for, after all others

    The equations are solved at every evaluation, from the last solution of the run, to the rounding of their numbers.
    `variables` may depend on each other in a loop. A plain Python function; derivatives are taken by differences.

    Raises
    ------
    ModelError : names the element.
    SimulationFailed : in a run, if the equations cannot be solved, or leave an unknown open.

    >>> from index3.bodies.point_mass import PointMass
    >>> def filtered(t, r, A, v, w, p, x, rate, z, out, res):
    ...     res[0] = p[0] * rate[0] + x[0] - v[0, 2]  # a filter of the vertical speed
    ...     out[0, 2] = -10.0 * x[0]
    >>> block = States("filter", (0.0,))
    >>> UserEquations("damper", PointMass("ball", 1.0), filtered, states=block, parameters=(0.1,))
    UserEquations('damper', 'ball', 'filter')
    """

    page = "howto/states.md"

    def __init__(
        self,
        name: str,
        markers: BodiesOrMarkers,
        residual: UserFunction,
        *,
        states: States | None = None,
        variables: Iterable[float] = (),
        parameters: ArrayLike = (),
        accelerations: bool = False,
        reactions: bool = False,
        reads: Sequence[ForceElement] = (),
    ) -> None:
        self.name = name  # for messages before the base class takes over
        self.residual = residual
        try:
            start = [as_number(z, self.label, "variable") for z in variables]
        except TypeError:
            raise ModelError(f"{self.label} has variables {variables!r}. Give a list of starting values.") from None
        count = 0 if states is None else getattr(states, "size", 0)
        if count + len(start) == 0:
            raise ModelError(f"{self.label} has neither states nor variables. Use a UserForce.")
        size = count + len(start)
        self.variables_from, self.variables_to = count, size
        # rates and variables as they were last solved for, their reaches, the inverse with which, and the time of that
        self.memory = np.concatenate([np.zeros(count), start, np.zeros(size + size**2), [math.nan]])
        sees: dict[str, Any] = {"accelerations": accelerations, "reactions": reactions, "reads": reads}
        super().__init__(name, markers, self.solve, parameters, "differences", states=states, **sees)
        more: list[str] = [key for key in ("dv", "dw", "F", "T") if key in self.arguments["f"]]
        more += ["seen"] if self.reading.others else []
        self.arguments = {**self.arguments, "residual": (*POSES, "x", "rate", "z", "out", "res", *more)}
        self.check_function("residual", residual)
        if not callable(residual) or hasattr(residual, "py_func"):
            raise ModelError(f"{self.label} has residual {residual!r}. Give a plain Python function.")

    @property
    def uses_time(self) -> bool:
        """Whether its equations may follow the time."""
        return "t" not in unread(self.residual, self.arguments["residual"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares the function of the user, but calls it itself."""
        other = super().__deepcopy__(memo)
        vars(other).update(f=getattr(other, self.f.__name__), function=other.solve)
        return other

    def solve(self, t: float, *parts: Any) -> None:
        """Find the unknowns, and with them forces and rates."""
        named = dict(zip(self.arguments["function" if self.reading.others else "f"], parts, strict=True))
        own = self.variables_from
        x = named["x"] if own else np.zeros(0)
        known = (t, *(named[key] for key in POSES), x)
        more = tuple(named[key] for key in self.arguments["residual"][len(POSES) + 5 :])
        self._solve(known, named["out"], named["memory"], more)
        if own:
            named["rate"][:] = named["memory"][:own]

    def _value(self, known: tuple[Any, ...], u: np.ndarray, out: np.ndarray, more: tuple[Any, ...]) -> np.ndarray:
        """The residual at u; `out` is filled as well."""
        n, res = len(known[-1]), np.zeros(len(u))
        out.fill(0.0)
        answer = self.residual(*known, u[:n], u[n:], out, res, *more)
        if answer is not None:
            raise ModelError(f"{self.label}: its function residual returns {answer!r}. It must fill res and out.")
        if not all(map(math.isfinite, res.tolist())):  # a fifth of what NumPy takes for a few numbers
            raise NotFinite(f"{self.label}: its residual is not finite at t = {known[0]:.6g}.")
        return res

    def _inverse(
        self, known: tuple[Any, ...], u: np.ndarray, value: np.ndarray, reach: np.ndarray, out: np.ndarray,
        more: tuple[Any, ...],
    ) -> np.ndarray | None:  # fmt: skip
        """The inverse of the derivative of the residual at u, where it has this value; None if that is singular."""
        matrix = np.empty((len(u), len(u)))
        for k, x in enumerate(u.tolist()):
            h = STEP * max(reach[k], abs(x))
            other = u.copy()
            other[k] += h
            matrix[:, k] = (self._value(known, other, out, more) - value) / h
        return inverse_of(matrix)

    def _reaches(
        self, known: tuple[Any, ...], u: np.ndarray, value: np.ndarray, out: np.ndarray, more: tuple[Any, ...]
    ) -> np.ndarray:
        """For each unknown how far the equations are straight around u, at most 1, in units of 1 / STEP."""
        reaches = np.ones(len(u))
        for k, x in enumerate(u.tolist()):
            reach, told = 1.0, 0
            while reach > SHORTEST:
                bent, rows = self._bend(known, u, k, STEP * max(reach, abs(x)), value, out, more)
                if bent <= BENT and rows >= told:
                    reaches[k] = reach
                if bent <= BENT or rows < told or reach <= abs(x):  # fewer rows tell: what is left is rounding
                    break
                reach, told = SHORTER * reach, rows
        return reaches

    def _bend(
        self, known: tuple[Any, ...], u: np.ndarray, k: int, h: float, value: np.ndarray, out: np.ndarray,
        more: tuple[Any, ...],
    ) -> tuple[float, int]:  # fmt: skip
        """How far the residual half way to u + h, in unknown k, is off a line; in how many rows it changes."""
        values = []
        for part in (0.5, 1.0):
            other = u.copy()
            other[k] += part * h
            try:
                values.append(self._value(known, other, out, more))
            except (NotFinite, ArithmeticError, ValueError) as error:
                if isinstance(error, ModelError):
                    raise
                return math.inf, 0
        moved = values[1] - value
        rows = np.flatnonzero(moved)
        off = np.abs(value + values[1] - 2.0 * values[0])[rows] / np.abs(moved[rows])
        return float(off.max(initial=0.0)), len(rows)

    def _try(
        self, known: tuple[Any, ...], u: np.ndarray, change: np.ndarray, part: float, inverse: np.ndarray,
        reach: np.ndarray, out: np.ndarray, more: tuple[Any, ...],
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:  # fmt: skip
        """The point after part of a correction, its residual, what that asks for by the same inverse, and one there.

        None if that is hardly less than the correction (the natural monotonicity test of Deuflhard, Newton Methods for
        Nonlinear Problems, 3.3), or if the residual has no value or no inverse there.
        """
        end = u - part * change
        try:
            value = self._value(known, end, out, more)
            rest = inverse @ value
            left, size = correction_size(rest, u, reach), correction_size(change, u, reach)
            if left <= FAST * size or correction_size(rest, end, reach) <= SOLVED:
                return end, value, rest, inverse
            new = self._inverse(known, end, value, reach, out, more) if left < (1.0 - part / 4.0) * size else None
        except (NotFinite, ArithmeticError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            return None
        return None if new is None else (end, value, rest, new)

    def _solve(self, known: tuple[Any, ...], out: np.ndarray, memory: np.ndarray, more: tuple[Any, ...]) -> None:
        """Find the unknowns from where they were last; `out` ends as the forces at the solution.

        An inverse serves all evaluations of one time while it is good enough. At another time there is a new one, which
        would be singular if the equations left an unknown open.
        """
        n, t = self.variables_to, known[0]
        unknowns, reach, kept = memory[:n], memory[n : 2 * n], memory[2 * n : -1].reshape(n, n)
        u = unknowns.copy()
        value = self._value(known, u, out, more)
        if reach[0] == 0.0:
            reach[:] = self._reaches(known, u, value, out, more)
        fresh = bool(memory[-1] != t)  # whether the inverse is that at u
        inverse = self._inverse(known, u, value, reach, out, more) if fresh else kept.copy()
        if inverse is None:
            raise SimulationFailed(
                f"{self.label}: its equations do not determine an unknown at t = {t:.6g}: the derivative of "
                "res with respect to the rates and variables is singular. Each state needs an equation with "
                "its rate."
            )
        for _ in range(ITERATIONS):
            change, found, allowed = inverse @ value, None, ROUNDING
            for part in PARTS if fresh else PARTS[:1]:
                found = self._try(known, u, change, part, inverse, reach, out, more)
                if found is not None:
                    break
            if found is None and not fresh:
                inverse, fresh = self._inverse(known, u, value, reach, out, more), True
                if inverse is None:
                    break
                continue
            if found is not None:
                u, value, change, new = found
                inverse, fresh, allowed = new, new is not inverse, SOLVED
            if correction_size(change, u, reach) <= allowed:
                unknowns[:], kept[:], memory[-1] = u - change, inverse, t
                self._value(known, unknowns, out, more)
                return
            if found is None:
                break
        raise SimulationFailed(
            f"{self.label}: its equations were not solved at t = {t:.6g}. Give better starting values, or equations "
            "that have a solution there."
        )


class NotFinite(SimulationFailed):
    """A residual that is no number."""


def correction_size(change: np.ndarray, u: np.ndarray, reach: np.ndarray) -> float:
    """The largest correction, relative to max(reach, |unknown|); infinite if one is no number."""
    largest = 0.0
    for c, x, far in zip(change.tolist(), u.tolist(), reach.tolist(), strict=True):
        part = abs(c) / max(far, abs(x))
        if not part < math.inf:
            return math.inf
        largest = max(largest, part)
    return largest


def inverse_of(matrix: np.ndarray) -> np.ndarray | None:
    """The inverse, or None if the matrix is singular whatever the units of equations and unknowns are.

    That is, if after rows and columns are divided by their largest entries singular values differ by more than
    1 / SINGULAR; these are asked for in doubt only.
    """
    if (inverse := inverted(matrix)) is not None and ratio_bound(matrix, inverse) < 1.0 / SINGULAR:
        return inverse  # whatever the units
    sizes = np.abs(matrix)
    rows = sizes.max(axis=1, initial=0.0)
    if not 0.0 < rows.min(initial=1.0) <= rows.max(initial=1.0) < math.inf:
        return None
    columns = (sizes / rows[:, None]).max(axis=0, initial=0.0)
    if not columns.min(initial=1.0) > 0.0:
        return None
    balanced = matrix / rows[:, None] / columns
    inverse = inverted(balanced)
    if inverse is None:
        return None
    if not ratio_bound(balanced, inverse) < 1.0 / SINGULAR:  # not finite counts as too large
        values = np.linalg.svd(balanced, compute_uv=False)
        if not values[-1] > SINGULAR * values[0]:
            return None
    return inverse / columns[:, None] / rows


def inverted(matrix: np.ndarray) -> np.ndarray | None:
    """The inverse; None if elimination meets a zero."""
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None


def ratio_bound(matrix: np.ndarray, inverse: np.ndarray) -> float:
    """A bound of the ratio of singular values, by Frobenius norms."""
    return len(matrix) ** 2 * float(np.abs(matrix).max(initial=0.0)) * float(np.abs(inverse).max(initial=0.0))


register(UserEquations)
