"""Notices a run that does not get on: its steps are above the rounding of time, but its end is out of reach."""

from __future__ import annotations

import warnings

WINDOW = 1_000_000
"""Tried steps over which the pace is taken: far more than a contact or an event takes, at most some minutes."""
MANY = 1e9
"""Steps to the end, at the pace of the last window, of which a warning tells: hours for a small model."""
HOPELESS = 1e14
"""Steps to the end that no run makes, years for the smallest model: the steps count as too small. A window then came on
by 1e-8 of what is left, 0.1 ms in a run of 1e4 s, so that nothing short-lived in a long run is taken for it."""


class Pace:
    """How fast a run gets on towards its end.

    Attributes
    ----------
    note : what to say of a run that is hopeless
    """

    def __init__(self, span: tuple[float, float]) -> None:
        self.t, self.end = span
        self.tried, self.warned, self.note = 0, False, ""

    def hopeless(self, tried: int, t: float) -> bool:
        """Whether the last steps got nowhere; `tried` is the number of steps tried until time t. Warns once if slow."""
        if tried - self.tried < WINDOW:
            return False
        count, came = tried - self.tried, t - self.t
        self.tried, self.t = tried, t
        left = (self.end - t) / came * count if came > 0.0 else float("inf")
        if left <= MANY:
            return False
        story = f"the last {count} steps came on by {came:.3g} s; at this pace the rest takes {left:.2g} steps"
        if left > HOPELESS:
            self.note = f" In all, {story}."
            return True
        if not self.warned:
            self.warned = True
            warnings.warn(
                f"simulate at t = {t:g}: {story}. Something is far stiffer or less smooth than the rest: a stiff "
                "method, a larger tolerance or a softer element may help. max_steps limits a run; Ctrl-C returns the "
                "result so far.",
                stacklevel=4,
            )
        return False
