"""The motion between output times: what `result.sol(t)` answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from index3.errors import ModelError
from index3.methods import run
from index3.methods.run_table import Run


class StepLog:
    """Every accepted step of a run; the run must return after each."""

    def __init__(self, progress: Run) -> None:
        self.t: list[float] = []
        self.states: list[np.ndarray] = []  # q, v and a, (3, n) each
        self.starts: list[int] = []
        self.with_a = True
        self.begin(progress, progress.t)

    def begin(self, progress: Run, t: float) -> None:
        """Start another piece: the motion may jump here."""
        self.progress = progress
        self.starts.append(len(self.t))
        self.keep(t, *(progress[slot] for slot in (run.NEW_Q, run.NEW_V, run.NEW_A)))

    def keep(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        """Add a state."""
        self.with_a &= bool(self.progress[run.LIMITS][run.QUINTIC] >= 1)
        self.t.append(t)
        self.states.append(np.array((q, v, a)))

    def note(self) -> None:
        """Keep the last accepted state, unless it is kept already."""
        progress = self.progress
        if progress.t > self.t[-1]:
            self.keep(progress.t, *(progress[slot] for slot in (run.NEW_Q, run.NEW_V, run.NEW_A)))

    def solution(self) -> DenseOutput:
        """The motion through all steps kept so far."""
        states = self.states if self.with_a else [state[:2] for state in self.states]
        return DenseOutput(np.array(self.t), states, tuple(self.starts))


class DenseOutput:
    """Coordinates and rates at any time of a run, from the method's own accepted steps.

    Between two steps q is the cubic through q and v at both ends (of degree 5 through q, v and a for methods of order
    four and more), v its derivative: continuous, and exact at the steps. Where an event or a discontinuity made the
    motion jump, two steps have the same time, and the later one counts there. Nothing is projected: between steps the
    constraints hold to the accuracy of the method. For states that satisfy them to rounding give `t_eval`.

    Attributes
    ----------
    t : times of the accepted steps
    t_min, t_max : the span it covers
    """

    def __init__(self, t: np.ndarray, states: Sequence[np.ndarray], starts: tuple[int, ...] = (0,)) -> None:
        self.t, self._states = t, states  # of each step q and v, or q, v and a
        self.t_min, self.t_max = float(t[0]), float(t[-1])
        self._starts = starts  # the first step of each smooth piece

    @cached_property
    def _motions(self) -> list[tuple[Any, Any]]:
        """Piecewise polynomials of q and v, for each piece."""
        from scipy.interpolate import BPoly, CubicHermiteSpline  # slow to import: 0.2 s

        motions = []
        for first, end in itertools.pairwise((*self._starts, len(self.t))):
            t, states = self.t[first:end], np.array(self._states[first:end])
            if len(t) == 1:  # a run that failed in its first step: it stands
                t, states = np.array([t[0], t[0] + 1.0]), np.stack([states[0], states[0]])
                q: Any = CubicHermiteSpline(t, states[:, 0], 0.0 * states[:, 1])
                motions.append((q, CubicHermiteSpline(t, states[:, 1], 0.0 * states[:, 1])))
                continue
            q = (
                CubicHermiteSpline(t, *states.swapaxes(0, 1))
                if states.shape[1] == 2
                else BPoly.from_derivatives(t, states)
            )
            motions.append((q, q.derivative()))
        return motions

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
        flat = np.atleast_1d(times)
        n = self._states[0].shape[1]
        q, v = np.empty((len(flat), n)), np.empty((len(flat), n))
        pieces = np.searchsorted(self.t[list(self._starts)], flat, "right") - 1
        for k in np.unique(pieces):
            inside = pieces == k
            q[inside], v[inside] = (motion(flat[inside]) for motion in self._motions[k])
        return q.reshape(*times.shape, -1), v.reshape(*times.shape, -1)

    def __repr__(self) -> str:
        return f"DenseOutput({len(self.t)} steps from {self.t_min:g} to {self.t_max:g} s)"
