"""What an event may do to a run: open and close joints, strike, change velocities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from index3.engine.instant import Instant
from index3.engine.settings import is_number
from index3.engine.variants import Variant
from index3.errors import AssemblyError, ModelError
from index3.results.jump import Jump

GAP = 1e-4
"""Misfit up to which a closing joint is pulled together [m, or cosine]: an event is located far better than that."""


class Switch:
    """What an action gets: the instant of its event, and what it may change there.

    Attributes
    ----------
    t : time of the event [s]
    state : the instant, `state["ball"].position` and the like
    opened : names of the joints and motions that are open
    v : rates of all coordinates, which the action may change; what joints forbid of them is then taken away by an
        impulse of the joints
    """

    def __init__(
        self, variant: Variant, t: float, place: tuple[np.ndarray, np.ndarray, np.ndarray],
        state: Instant | None = None,
    ) -> None:  # fmt: skip
        self._before = variant
        self._q, self.v, self._angles = place[0], place[1].copy(), place[2]
        self._struck: list[str] = []
        self._gap = GAP
        self.t, self.state, self.opened = t, state, variant.open

    def open(self, *names: str) -> None:
        """Open joints or motions: their rows and reactions go, velocities stay.

        Raises
        ------
        ModelError : an unknown name.
        """
        self.opened |= self._before.check_names(names, "open_joint")

    def close(self, *names: str, gap: float = GAP) -> None:
        """Close joints or motions: an impulse of theirs takes away the velocities that they forbid.

        Raises
        ------
        ModelError : an unknown name, or forces that depend on accelerations.
        """
        self._before.check_impulses("close_joint")
        self._gap = max(self._gap, gap)
        self.opened -= self._before.check_names(names, "close_joint")

    def impact(self, name: str, restitution: float = 0.0) -> None:
        """Let an open joint act for an instant: the velocities that it forbids come back, reversed, as this part.

        Raises
        ------
        ModelError : an unknown name, a joint that is closed, or forces that depend on accelerations.
        """
        self._before.check_names((name,), "impact")
        self._before.check_impulses("impact")
        if name not in self.opened:
            raise ModelError(f"impact: '{name}' is closed at t = {self.t:.6g}. Only an open joint can be struck.")
        variant = self._before.at(self.opened - {name})
        variant.move(self.t, self._q, self.v, self._angles)
        self.v += (1.0 + restitution) * (variant.held_velocities() - self.v)
        self._struck.append(name)

    def finish(self, t: float) -> tuple[Variant, float, tuple[float, float]]:
        """The variant that goes on at t with a consistent state; the gap that was closed; kinetic and potential energy.

        Raises
        ------
        AssemblyError : a joint that closes does not fit.
        """
        variant = self._before.at(self.opened)
        variant.move(t, self._q, self.v, self._angles)
        residuals = variant.gap_residuals(self._before.open - self.opened)
        gap = float(np.abs(residuals).max(initial=0.0))
        if gap > self._gap:
            rows = variant.system.worst_rows(residuals)
            raise AssemblyError(
                f"Joints cannot close at t = {self.t:.6g}: their rows are off by {rows}, and "
                f"{self._gap:g} is allowed. Let the event happen where they fit, or allow a larger gap."
            )
        return variant, gap, variant.make_consistent()

    def jump(self, event: str, gap: float, kinetic: tuple[float, float]) -> Jump:
        """What happened, for the result."""
        opened, closed = self.opened - self._before.open, self._before.open - self.opened
        names = (tuple(sorted(opened)), tuple(sorted(closed)), tuple(self._struck))
        return Jump(self.t, event, *names, gap, *kinetic)


@dataclass(frozen=True)
class Action:
    """What an event is to do, ready-made: one verb of `Switch` with its arguments."""

    verb: str
    names: tuple[str, ...]
    settings: tuple[tuple[str, float], ...] = ()

    def idle(self, opened: frozenset[str], struck: Sequence[str] = ()) -> bool:
        """Whether there is nothing to do: to open what is open, close what is closed, strike it, or strike it twice."""
        if self.verb == "open":
            return opened.issuperset(self.names)
        return opened.isdisjoint(self.names) or (self.verb == "impact" and not set(self.names).isdisjoint(struck))

    def __call__(self, switch: Switch) -> None:
        """Do it."""
        getattr(switch, self.verb)(*self.names, **dict(self.settings))


def take(actions: Sequence[Callable[[Switch], Any]], switch: Switch) -> None:
    """Take the actions of one instant in their order; ready-made ones only if there is still something to do."""
    for action in actions:
        if not (isinstance(action, Action) and action.idle(switch.opened, switch._struck)):
            action(switch)


def open_joint(*names: str) -> Action:
    """An action for an event: joints or motions lose their rows, and the run goes on without them.

    >>> def released(t, state):
    ...     return t - 0.5
    >>> released.action = open_joint("latch")
    """
    return Action("open", given_names(names, "open_joint"))


def close_joint(*names: str, gap: float = GAP) -> Action:
    """An action for an event: joints or motions that were open act again.

    The velocities that they forbid are lost, by the smallest change in the metric of the mass matrix, as an impulse of
    the joints does it; `result.jumps` tells the kinetic energy lost.

    Parameters
    ----------
    names : joints or motions
    gap : residual of the rows up to which bodies are moved to fit [m, or cosine]; more ends the run as a failure
    """
    if not (is_number(gap) and 0.0 < gap < math.inf):
        raise ModelError(f"close_joint: gap = {gap!r}. Give a positive number.")
    return Action("close", given_names(names, "close_joint"), (("gap", float(gap)),))


def impact(name: str, restitution: float = 0.0) -> Action:
    """An action for an event: bodies strike each other along the rows of an open joint, which stays open.

    Parameters
    ----------
    name : an open joint: PointInPlane for a ball on a floor, Distance for a string
    restitution : 0 takes the velocities along its rows away, 1 reverses them without loss
    """
    if not (is_number(restitution) and 0.0 <= restitution <= 1.0):
        raise ModelError(f"impact: restitution = {restitution!r}. Give a number from 0 to 1.")
    return Action("impact", given_names((name,), "impact"), (("restitution", float(restitution)),))


def given_names(names: tuple[Any, ...], who: str) -> tuple[str, ...]:
    """At least one name, all of them strings."""
    if not names or not all(isinstance(name, str) for name in names):
        raise ModelError(f"{who}: the names are {names!r}. Name at least one joint or motion.")
    return names
