"""The motion between output times: what `result.sol(t)` answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.errors import ModelError
from index3.methods import probe, run
from index3.methods.hermite import state_between
from index3.methods.run_table import Run


class StepLog:
    """Every accepted step of a run; the run must return after each."""

    def __init__(self, progress: Run) -> None:
        self.t: list[float] = []
        self.states: list[np.ndarray] = []  # q, v, a and the errors allowed in q, (4, n) each
        self.middles: list[np.ndarray | None] = []  # q, v in the middle of the step before, if its method tells them
        self.rates: list[np.ndarray] = []  # of first-order states by their equations, the errors allowed in them, and
        # whether these follow from them in the step before
        self.starts: list[int] = []
        self.with_a = True
        self.table = Table(len(probe.SLOTS))
        self.table[probe.TIME] = np.zeros(1)
        self.table[probe.KEPT] = np.zeros(len(progress.state[s.ANGLE_REF]))
        self.begin(progress, progress.t)

    def begin(self, progress: Run, t: float) -> None:
        """Start another piece: the motion may jump here."""
        self.progress = progress
        self.starts.append(len(self.t))
        self.keep(t, *(progress[slot] for slot in (run.NEW_Q, run.NEW_V, run.NEW_A)))

    def keep(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, middle: np.ndarray | None = None) -> None:
        """Add a state, and what there is in the middle of the step to it."""
        progress = self.progress
        self.with_a &= bool(progress[run.LIMITS][run.QUINTIC] >= 1)
        self.t.append(t)
        allowed = progress[run.ATOL] + progress[run.TOLERANCE][run.RTOL] * progress[run.LARGEST]
        self.states.append(np.array((q, v, a, allowed)))
        self.middles.append(middle)
        first = progress.system.first_state
        own = progress[run.NEW_RATE] if progress.t == t else a[first:]
        told = np.full(own.shape, progress[run.LIMITS][run.BY_RATES])
        self.rates.append(np.array((own, progress.velocity_weights[first:], told)))

    def note(self) -> None:
        """Keep the last accepted state, unless it is kept already."""
        progress = self.progress
        if progress.t > self.t[-1]:
            middle = self.middle_of(progress) if progress[run.LIMITS][run.QUINTIC] == run.OWN else None
            self.keep(progress.t, progress[run.NEW_Q], progress[run.NEW_V], progress[run.NEW_A], middle)

    def middle_of(self, progress: Run) -> np.ndarray | None:
        """q and v in the middle of the last step by the method's own dense output."""
        if progress[run.CLOCK][run.T_OLD] != self.t[-1]:
            return None
        self.table[probe.RUN] = np.array([progress.table.handle], np.int64)
        self.table[probe.TIME][0] = 0.5 * (self.t[-1] + progress.t)
        state = progress.state
        return np.array((state[s.Q], state[s.V])) if probe.at_time(state.handle, self.table.handle) == 0 else None

    def solution(self) -> DenseOutput:
        """The motion through all steps kept so far."""
        states = self.states if self.with_a else [state[:2] for state in self.states]
        rates = self.rates if any(step[2].any() for step in self.rates) else None
        return DenseOutput(np.array(self.t), states, tuple(self.starts), self.middles if self.with_a else None, rates)


class DenseOutput:
    """Coordinates and rates at any time of a run, from the method's own accepted steps.

    Between two steps q is the cubic through q and v at both ends (of degree 5 through q, v and a for most methods, as
    far as a step resolves the accelerations: `hermite.bends`; of degree 7 through q and v in the middle as well for
    those with a dense output of their own), v its derivative: continuous, and exact at the steps. First-order states
    of methods that do not control their integrals follow from their own rates (`hermite.state_between`).
    Where an event or a discontinuity made the motion jump, two steps have the same time, and the later one counts
    there. Nothing is projected: between steps the constraints hold to the accuracy of the method. For states that
    satisfy them to rounding give `t_eval`.

    Attributes
    ----------
    t : times of the accepted steps
    t_min, t_max : the span it covers
    """

    def __init__(
        self,
        t: np.ndarray,
        states: Sequence[np.ndarray],
        starts: tuple[int, ...] = (0,),
        middles: Sequence[np.ndarray | None] | None = None,
        rates: Sequence[np.ndarray] | None = None,
    ) -> None:
        self.t, self._states = t, states  # of each step q, v; or q, v, a, and the errors allowed in q
        self.t_min, self.t_max = float(t[0]), float(t[-1])
        self._starts = starts  # the first step of each smooth piece
        self._middles = middles  # for each step q, v in the middle of the one that ends there, or None
        self._rates = rates  # of first-order states, allowed errors, and whether they tell what is in the step before

    @cached_property
    def _motions(self) -> list[tuple[Any, Any]]:
        """Piecewise polynomials of q and v, for each piece."""
        from scipy.interpolate import CubicHermiteSpline  # slow to import: 0.2 s

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
                else quintic(t, *states.swapaxes(0, 1))
            )
            middles = (self._middles or [])[first + 1 : end]
            if any(middle is not None for middle in middles):
                q = through_middles(q, middles)
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
        if self._rates is not None:
            self._fill_states(flat, v)
        return q.reshape(*times.shape, -1), v.reshape(*times.shape, -1)

    def _fill_states(self, t: np.ndarray, v: np.ndarray) -> None:
        """First-order states by their rates, as far as these tell them (`hermite.state_between`)."""
        assert self._rates is not None
        for time, line in zip(t, v, strict=True):
            k = min(int(np.searchsorted(self.t, time, "right")), len(self.t) - 1)
            if k in self._starts or not self._rates[k][2].any():
                continue  # exact: the last line, or a state before a jump
            h, old, new, (f0, _, _), (f1, allowed, _) = (
                self.t[k] - self.t[k - 1], *self._states[k - 1 : k + 1], *self._rates[k - 1 : k + 1]
            )  # fmt: skip
            x, first, past = (time - self.t[k - 1]) / h, len(line) - len(f0), 0 if k - 1 in self._starts else 1
            earlier, before = self.t[k - 1] - self.t[k - 1 - past], self._states[k - 1 - past]
            for i, j in enumerate(range(first, len(line))):
                line[j] = state_between(
                    x, h, old[1][j], f0[i], new[1][j], f1[i], earlier, before[1][j], allowed[i], line[j]
                )

    def __repr__(self) -> str:
        return f"DenseOutput({len(self.t)} steps from {self.t_min:g} to {self.t_max:g} s)"


def quintic(t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, allowed: Any = np.inf) -> Any:
    """The polynomials of degree 5 through q, v and a at all times, by their Bernstein coefficients."""
    from scipy.interpolate import BPoly

    h = np.diff(t)[:, None]
    a0, a1 = bends(h, q[:-1], v[:-1], a[:-1], q[1:], v[1:], a[1:], np.broadcast_to(allowed, q.shape)[1:])
    way0, way1, bend0, bend1 = h / 5.0 * v[:-1], h / 5.0 * v[1:], h * h / 20.0 * a0, h * h / 20.0 * a1
    old = q[:-1], q[:-1] + way0, q[:-1] + 2.0 * way0 + bend0
    return BPoly(np.array((*old, q[1:] - 2.0 * way1 + bend1, q[1:] - way1, q[1:])), t)


def through_middles(q: Any, middles: Sequence[np.ndarray | None]) -> Any:
    """Polynomials of degree 7: those of degree 5 with q and v that are known in the middle of some steps.

    What is added is x^3 (1 - x)^3 times a line, so that all at the ends of a step stays.
    """
    from scipy.interpolate import BPoly

    t, h = q.x, np.diff(q.x)[:, None]
    c = raised(raised(q.c))
    at = 0.5 * (t[:-1] + t[1:])
    found = np.array([np.full((2, q.c.shape[2]), np.nan) if middle is None else middle for middle in middles])
    off, slope = found[:, 0] - q(at), h * (found[:, 1] - q.derivative()(at))
    known = np.isfinite(off)
    off, slope = np.where(known, off, 0.0), np.where(known, slope, 0.0)
    c[3] += 64.0 / 35.0 * (off - 0.5 * slope)
    c[4] += 64.0 / 35.0 * (off + 0.5 * slope)
    return BPoly(c, t)


def raised(c: np.ndarray) -> np.ndarray:
    """Bernstein coefficients of the same polynomials as of one degree more."""
    part = (np.arange(len(c) + 1) / len(c))[:, None, None]
    end = np.zeros((1, *c.shape[1:]))
    return part * np.concatenate([end, c]) + (1.0 - part) * np.concatenate([c, end])


def bends(
    h: np.ndarray, q0: np.ndarray, v0: np.ndarray, a0: np.ndarray, q1: np.ndarray, v1: np.ndarray, a1: np.ndarray,
    allowed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """`hermite.bends` for all steps and coordinates."""
    mean = (q1 - q0) / h
    c0, c1 = (6.0 * mean - 4.0 * v0 - 2.0 * v1) / h, (4.0 * v1 + 2.0 * v0 - 6.0 * mean) / h
    apart = abs(a0 - c0) + abs(a1 - c1)
    unresolved = (apart > abs(c0) + abs(c1)) & (h * h / 64.0 * apart > allowed)
    return np.where(unresolved, c0, a0), np.where(unresolved, c1, a1)
