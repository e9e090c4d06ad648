"""Where the elements of a kind stand in the system: what the kind's `table` function needs to fill its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from index3.system.functions import Functions
from index3.system.numbering import Numbering
from index3.system.parts import Group, measured


class Places:
    """The places of one force or user's constraint."""

    def __init__(self, numbers: Numbering, functions: Functions, group: Group) -> None:
        self.markers = group.marker_numbers
        self.stiffness = group.stiffness
        self.group = numbers.group_numbers[id(group)]
        self.member, self.row, self.gradient = group.member, group.row, group.gradient
        self._numbers, self._functions, self._group = numbers, functions, group

    def function(self, f: Callable, df: Callable, ddf: Callable) -> int:
        """Register a user's function of time; its number in FUNCTION_VALUES."""
        return self._functions.add(self._group.element.label, (f, df, ddf))

    def angle(self, joint: Any) -> int:
        """The number of a joint's unwrapped angle in ANGLES."""
        return self._numbers.angle_joints.index(joint)

    def rows(self, joint: Any) -> tuple[int, int, int, int]:
        """Where the rows, gradients and stiffness of a joint stand."""
        group = next(group for group in self._numbers.groups if group.element is joint)
        return group.row, group.rows, group.gradient, group.stiffness

    def coordinate_zero(self, joint: Any, coordinate: str) -> float:
        """A coordinate of a joint at the initial configuration, which counts as zero."""
        return measured(joint, coordinate)
