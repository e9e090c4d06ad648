"""Arrays of a result by name, and values as files and layouts hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.compiled import columns
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.results.layout import Layout


def shapes(n_t: int, n: int, m: int, n_joints: int, n_angles: int) -> dict[str, tuple[int, ...]]:
    """Shape of every array of a result, by name."""
    return columns.shapes(n_t, {"coordinate": n, "row": m, "joint": n_joints, "measured_angle": n_angles})


def empty_arrays(n_t: int, n: int, m: int, n_joints: int, n_angles: int) -> dict[str, np.ndarray]:
    """Zeros of the right shapes, for the arrays of a `Result`.

    >>> empty_arrays(3, 7, 5, 1, 1)["wrench"].shape
    (3, 1, 6)
    """
    return {name: np.zeros(shape) for name, shape in shapes(n_t, n, m, n_joints, n_angles).items()}


def wrench_names(layout: Layout) -> list[str]:
    """One name per wrench: joints, and behind them such as "gear.3" for the other markers of joints with several."""
    names = [joint["name"] for joint in layout.joints]
    return names + [f"{joint['name']}.{k}" for joint in layout.joints for k in joint.get("further", ())]


def check_shapes(layout: Layout, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise unless the arrays of a result have the shapes that its layout says."""
    n = sum(owner["size"] for owner in (*layout.bodies, *layout.states))
    n_angles = 1 + max((joint["angle"] for joint in layout.joints), default=-1)
    n_t = len(arrays["t"]) if "t" in arrays else 0
    n_wrenches = len(wrench_names(layout))
    for name, wanted in shapes(n_t, n, len(layout.row_names), n_wrenches, n_angles).items():
        if name not in arrays:
            raise ModelError(f"Result of model '{layout.model}' lacks the array '{name}'. Give it shape {wanted}.")
        shape = arrays[name].shape
        if name == "angle" and shape[:1] == wanted[:1] and len(shape) == 2 and shape[1] >= wanted[1]:
            continue  # angles may be measured for motions and forces too
        if shape != wanted:
            raise ModelError(f"Array '{name}' of model '{layout.model}' has shape {shape}. It must be {wanted}.")


def plain(value: Any) -> Any:
    """The same in lists, dicts, strings and numbers; anything else becomes its `repr`."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return repr(value)
