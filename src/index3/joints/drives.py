"""Motions: joint coordinates that follow functions of time."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING

from index3.bodies.marker import check_name
from index3.bodies.time_functions import complete
from index3.errors import ModelError
from index3.fields import JOINT, TEXT, coordinate_dimension, declare
from index3.joints.base import Joint, functions
from index3.registry import Element, register

if TYPE_CHECKING:
    from index3.user_types import TimeFunction


@register
class Motion(Element):
    """A coordinate of a joint follows a function of time.

    Parameters
    ----------
    name : str
    joint : Joint with a coordinate
    f, df, ddf : functions of t [s], or numbers for constants: value, rate and second derivative. Missing derivatives
        are taken by differences with a step of 0.001 s, so f must be smooth and defined 0.002 s beyond the run; this
        warns, except for constants. An `Expression` or `TimeTable` as f brings its own derivatives.
    coordinate : name of the joint's coordinate; needed only if the joint has several

    Attributes `name`, `joint`, `coordinate` and `functions` = (f, df, ddf).

    Raises
    ------
    ModelError : names the motion; no coordinate, or which one is not clear, or not a function.
    """

    element = "motion"
    fields = declare(functions(coordinate_dimension), joint=JOINT, coordinate=TEXT)
    page = "elements/joints.md"
    row_rate = 1  # which of `functions` is the rate of its row

    def __init__(
        self,
        name: str,
        joint: Joint,
        f: TimeFunction,
        df: TimeFunction | None = None,
        ddf: TimeFunction | None = None,
        *,
        coordinate: str | None = None,
    ) -> None:
        check_name(name, "Motion")
        self.name = name
        if not isinstance(joint, Joint):
            raise ModelError(f"{self.label} cannot drive {short(joint)}. Give a joint.")
        if not joint.coordinates:
            raise ModelError(f"{self.label}: {joint.label} has no coordinate to drive. Use a joint that has one.")
        if coordinate is None and len(joint.coordinates) > 1:
            choice = " or ".join(f"coordinate='{key}'" for key in joint.coordinates)
            raise ModelError(f"{self.label}: {joint.label} has several coordinates. Give {choice}.")
        self.joint = joint
        self.coordinate = joint.coordinates[0] if coordinate is None else coordinate
        joint.coordinate_primitive(self.coordinate)  # raises if there is no such coordinate
        self.functions = complete(self.label, ("f", "df", "ddf"), (f, df, ddf))

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.joint.name!r}, coordinate={self.coordinate!r})"

    @property
    def label(self) -> str:
        """How messages call this motion."""
        return f"Motion '{self.name}'"
