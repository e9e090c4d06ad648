"""What the columns of a result mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from index3.errors import Index3Error
from index3.record import Record, fresh
from index3.results.arrays import plain

REQUIRED = {
    "bodies": ("name", "kind", "start", "size"),
    "joints": (
        "name", "type", "first", "second", "rows", "row_labels", "coordinates", "angle", "angle_zero", "zeros",
        "unique",
    ),
    "forces": ("name", "type"),
    "states": ("name", "start", "size", "names"),
}  # fmt: skip
"""What the entries of a layout must hold."""
LATER = ("states", "controllers")
"""Parts that older files do not have."""


class Layout(Record, eq=True):
    """What the columns of a result mean: plain lists, dicts, strings and numbers only, so it pickles and is JSON.

    A marker is `{body, position (3), axes (3x3, columns x, y, z in the body's frame), part}`, body "ground" included;
    `part` names a rigid part of a body that has several, else it is None or missing.

    Attributes
    ----------
    model : name of the model.
    bodies : `{name, kind ("rigid", "planar", "point", ...), start, size, shape, color, mass, constants}`; columns
        start ... start + size of q. `constants` is what the kind needs besides q. `shape` is what to draw, as
        `Body.drawing` says. Both and `color` may be missing.
    joints : `{name, type, first, second, rows, row_labels, coordinates, angle, angle_zero, zeros, unique}`; `first`
        and `second` are markers (None where a constraint has none), `rows` index lam, `angle` is a column of the
        measured angles or -1, `angle_zero` and `zeros` are the raw coordinates at assembly. Optional: `markers`, all of
        them, `cross`, raw angles of a universal joint at assembly, `further`, columns of the wrenches on markers beyond
        the second, by number, `symbol` and `solids`, what to draw (`index3.registry.Element`).
    forces : `{name, type, markers, law, on, along, set}`; `law` is None, or the numbers from which `result[name]` works
        out what a contact or tyre reports. Optional: `on`, the marker that `force` belongs to, `along`, "line" and
        [joint, coordinate] for what it is measured along, `set`, whether it stands for many pairs, `symbol`, `solids`,
        `spread`, pieces of a load along a beam (`index3.forces.force.ForceElement.spread`): `force` is then their sum.
    row_names : one name per row of lam.
    gravity : ground axes, m/s^2.
    controllers : their names; what they saw and said stands in the information on the run.
    states : `{name, start, size, names}`; their values are the columns start ... start + size of v, behind the bodies'.
    """

    model: str
    bodies: list[dict[str, Any]]
    joints: list[dict[str, Any]] = fresh(default_factory=list)
    forces: list[dict[str, Any]] = fresh(default_factory=list)
    row_names: list[str] = fresh(default_factory=list)
    gravity: Sequence[float] = (0.0, 0.0, -9.80665)
    states: list[dict[str, Any]] = fresh(default_factory=list)
    controllers: list[str] = fresh(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """A plain dict, ready for JSON: arrays become lists."""
        return plain({name: getattr(self, name) for name in self.field_names})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Layout:
        """The layout that `to_dict` described; `Index3Error` if something is missing in it."""
        for part, wanted in REQUIRED.items():
            for k, entry in enumerate(data.get(part, ())):
                missing = [key for key in wanted if key not in entry]
                if missing:
                    raise Index3Error(f"entry {k} of the {part} lacks {', '.join(missing)}")
        return cls(**{name: data[name] for name in cls.field_names if name in data or name not in LATER})
