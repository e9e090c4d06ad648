"""What results of flexible bodies with modes have besides motion: modal coordinates, stresses, hot spots."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from index3.bodies.modal_matrices import node_number
from index3.bodies.modal_motion import FRAME, unpacked
from index3.bodies.modal_stress import Recovery
from index3.errors import ModelError


class HotSpot(NamedTuple):
    """A node, and the time and size of its largest stress [s, Pa]."""

    node: int
    time: float
    stress: float


def modal(constants: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Modal coordinates (n_t, modes), of unit modal mass [m kg^(1/2)]."""
    return q[:, FRAME:]


def recovery_of(constants: Mapping[str, Any]) -> Recovery:
    """How the body is stressed."""
    stored = constants.get("stress")
    if stored is None:
        raise ModelError(
            f"{constants['label']} has no stresses. Make it with stress=..., or by index3.flexible, which knows them."
        )
    arrays = (unpacked(stored[key]) for key in ("nodes", "matrix", "sections"))
    nodes, matrix, sections = arrays
    return Recovery(stored["kind"], nodes.astype(int), matrix, sections)


def stress(constants: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray, nodes: Any = None) -> np.ndarray:
    """Von Mises' stress (n_t, k) of nodes given by numbers or names, by default of all that have one [Pa]."""
    recovery = recovery_of(constants)
    known = np.unique(recovery.nodes)
    if nodes is None:
        return recovery.at_nodes(q[:, FRAME:], known)
    places, label = unpacked(constants["nodes"]), constants["label"]
    wanted = [nodes] if isinstance(nodes, str | int | np.integer) else nodes
    numbers = np.array([node_number(node, places, constants["names"], label) for node in wanted], int)
    without = sorted(set(numbers.tolist()) - set(known.tolist()))
    if without:
        raise ModelError(f"{label} has no stress at node {without[0]}. Ask for nodes of its elements.")
    return recovery.at_nodes(q[:, FRAME:], numbers)


def hot_spots(
    constants: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray, count: int = 10
) -> list[HotSpot]:
    """The nodes with the largest stresses in the run, highest first, each with the time of its largest."""
    recovery = recovery_of(constants)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ModelError(f"{constants['label']}: hot_spots of {count!r} nodes. Give a whole number, at least 1.")
    nodes = np.unique(recovery.nodes)
    stresses = recovery.at_nodes(q[:, FRAME:], nodes)
    rows = np.argmax(stresses, axis=0)
    largest = stresses[rows, np.arange(len(nodes))]
    order = np.argsort(-largest, kind="stable")[:count]
    return [HotSpot(int(nodes[k]), float(constants["t"][rows[k]]), float(largest[k])) for k in order]


QUANTITIES: Mapping[str, Any] = MappingProxyType({"modal": property(modal), "stress": stress, "hot_spots": hot_spots})  # type: ignore[arg-type]
