"""What `result[name]` returns: a body, joint, motion, force or controller by name, or one of their histories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from index3.errors import ModelError
from index3.results.layout import Layout

if TYPE_CHECKING:
    from index3.results.result import Result


class Index:
    """Bodies, joints (with motions) and forces of a layout by name; joints by their number."""

    def __init__(self, layout: Layout) -> None:
        self.bodies = {body["name"]: body for body in layout.bodies}
        self.joints = {joint["name"]: k for k, joint in enumerate(layout.joints)}
        self.forces = {force["name"]: force for force in layout.forces}


class UnknownName(ModelError, KeyError):
    """A name that is not in the result; both a `ModelError` and a `KeyError`."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0])


def find(result: Result, index: Index, name: str) -> Any:
    """The part of a result that has this name; for "B.angle" the history, an array.

    Raises
    ------
    UnknownName : with the nearest names.
    """
    if name in index.bodies:
        from index3.results.bodies import BodyResult

        return BodyResult(result, index.bodies[name])
    if name in index.joints:
        from index3.results.joints import JointResult

        return JointResult(result, index.joints[name])
    if name in index.forces:
        from index3.results.forces import ForceResult  # here: it needs kernels

        return ForceResult(result, index.forces[name])
    for samples in result.controllers:
        if samples["name"] == name:
            from index3.results.controllers import ControllerResult

            return ControllerResult(result.t, samples)
    if name in result.states:
        raise UnknownName(f"'{name}' is a block of states. Ask for .states['{name}'].")
    if "." in name:
        return history(result, name)
    raise unknown(result, name, result.names)


def history(result: Result, name: str) -> np.ndarray:
    """A history by its name, (n_t,) or (n_t, number of columns)."""
    from index3.results import export

    try:
        values = export.quantity(result, name).values
    except UnknownName:
        raise
    except ModelError as error:
        raise UnknownName(str(error)) from error
    return values[:, 0] if values.shape[1] == 1 else values


def unknown(result: Result, name: object, known: tuple[str, ...]) -> UnknownName:
    """The error of a name that is none of those known, with the nearest ones."""
    import difflib

    near = difflib.get_close_matches(str(name), known, n=4, cutoff=0.5)
    some = ", ".join(f"'{k}'" for k in near or known[:8]) or "none"
    hint = f"Did you mean {some}?" if near else f"Names there: {some}."
    return UnknownName(f"Result of model '{result.layout.model}' has no '{name}'. {hint}")
