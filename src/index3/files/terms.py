"""The kind of field that holds the terms of a coupler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field as Checked

from index3.files.kinds import LEFT_OUT, Float, Kind, Place, Strict


class TermEntry(Strict):
    """A coefficient times a coordinate of a joint."""

    coefficient: Float
    joint: str
    coordinate: str = LEFT_OUT


@dataclass(frozen=True)
class Terms(Kind):
    """The terms of a coupler."""

    type: Any = Annotated[list[TermEntry], Checked(min_length=2, max_length=3)]
    wanted: str = "two or three terms {coefficient, joint, coordinate}"

    def read(self, value: Any, place: Place) -> Any:
        """Coefficient, joint and coordinate of each; units of coefficients are those of no single quantity."""
        place.factor(None)
        return [(term["coefficient"], place.joint(term["joint"]), term.get("coordinate")) for term in value]

    def write(self, value: Any, place: Place) -> Any:
        """Their entries."""
        return [{"coefficient": a, "joint": joint.name, "coordinate": name} for a, joint, name in value]
