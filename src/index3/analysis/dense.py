"""The motion between output times: what `result.sol(t)` answers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from index3.errors import ModelError
from index3.methods import run
from index3.methods.runner import Run


class StepLog:
    """Every accepted step of a run; the run must return after each."""

    def __init__(self, progress: Run) -> None:
        self.progress = progress
        self.t: list[float] = []
        self.states: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.note()

    def note(self) -> None:
        """Keep the last accepted state, unless it is kept already."""
        progress = self.progress
        if self.t and progress.t <= self.t[-1]:
            return
        self.states.append((progress[run.NEW_Q].copy(), progress[run.NEW_V].copy(), progress[run.NEW_A].copy()))
        self.t.append(progress.t)

    def solution(self) -> DenseOutput:
        """The motion through all steps kept so far."""
        with_a = self.progress[run.LIMITS][run.QUINTIC] >= 1
        states = np.array(self.states)  # (steps, 3, n)
        return DenseOutput(np.array(self.t), states if with_a else states[:, :2])


class DenseOutput:
    """Coordinates and rates at any time of a run, from the method's own accepted steps.

    Between two steps q is the cubic through q and v at both ends (of degree 5 through q, v and a for methods of order
    four and more), v its derivative: continuous, and exact at the steps. Nothing is projected: between steps the
    constraints hold to the accuracy of the method. For states that satisfy them to rounding give `t_eval`.

    Attributes
    ----------
    t : times of the accepted steps
    t_min, t_max : the span it covers
    """

    def __init__(self, t: np.ndarray, states: np.ndarray) -> None:
        self.t, self._states = t, states
        self.t_min, self.t_max = float(t[0]), float(t[-1])

    @cached_property
    def _motion(self) -> tuple[Any, Any]:
        """Piecewise polynomials of q and v."""
        from scipy.interpolate import BPoly, CubicHermiteSpline  # slow to import: 0.2 s

        if self._states.shape[1] == 2:
            q: Any = CubicHermiteSpline(self.t, self._states[:, 0], self._states[:, 1])
        else:
            q = BPoly.from_derivatives(self.t, self._states)
        return q, q.derivative()

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """q and v at a time, (n,) each, or at an array of times, (n_t, n) each.

        Raises
        ------
        ModelError : a time outside the span of the run.
        """
        times = np.asarray(t, float)
        if times.ndim > 1:
            raise ModelError(f"sol: t has {times.ndim} dimensions. Give a time, or a one-dimensional array of times.")
        if not np.all((self.t_min <= times) & (times <= self.t_max)):  # also refuses NaN
            raise ModelError(f"sol: a time is outside the run, {self.t_min:g} to {self.t_max:g} s. Give times inside.")
        if len(self.t) == 1:  # a run that failed in its first step
            return tuple(np.broadcast_to(x, (*times.shape, len(x))).copy() for x in self._states[0, :2])  # type: ignore
        q, v = self._motion
        return q(times), v(times)

    def __repr__(self) -> str:
        return f"DenseOutput({len(self.t)} steps from {self.t_min:g} to {self.t_max:g} s)"
