"""Motion of the nodes of a flexible body with modes from whole histories, and what results keep of the body for it."""

from __future__ import annotations

import base64
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from index3.algebra.rotations import rotation, spin
from index3.algebra.small_rotations import small_rotation, small_spin, small_spin_change
from index3.bodies.kinematics import Kinematics, as_matrices, carried
from index3.bodies.modal_data import ModalData

FRAME = 7


def node_of(part: str) -> int:
    """The number of the node that a part is: "node17"."""
    return int(part.removeprefix("node"))


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as text, which keeps every bit and is short."""
    return {"shape": list(array.shape), "bytes": base64.b64encode(np.asarray(array, "<f8").tobytes()).decode("ascii")}


def unpacked(entry: Mapping[str, Any]) -> np.ndarray:
    """The array again."""
    return decoded(entry["bytes"]).reshape(entry["shape"])


@functools.lru_cache(maxsize=16)
def decoded(text: str) -> np.ndarray:
    """Numbers from text; kept, because every marker of a body asks for them."""
    return np.frombuffer(base64.b64decode(text), "<f8")


def constants_of(data: ModalData, names: Sequence[str], label: str) -> dict[str, Any]:
    """Names of the coordinates, nodes and shapes, and how the body is stressed."""
    kept = data.__dict__.get("kept")  # encoding a large structure takes longer than asking for it
    if kept is None:
        kept = {
            "label": label,
            "coordinates": list(names),
            "names": data.names,
            "nodes": packed(data.nodes - data.centre),
            "shapes": packed(data.shapes),
        }
        if data.stress is not None:
            arrays = {key: packed(getattr(data.stress, key)) for key in ("nodes", "matrix", "sections")}
            kept["stress"] = {"kind": data.stress.kind, **arrays}
        data.__dict__["kept"] = kept
    return kept


def frame_of(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Kinematics:
    """Motion of the body frame."""
    p = tuple(q[:, 3:FRAME].T)
    w = np.column_stack(spin(p, tuple(v[:, 3:FRAME].T)))
    w_dot = np.column_stack(spin(p, tuple(a[:, 3:FRAME].T)))  # E(p') p' = 0, so the p'' term is all there is
    A = as_matrices(rotation(p))
    return Kinematics(q[:, :3], v[:, :3], a[:, :3], A, w, w_dot, q[:, 3:FRAME])


def motion_of(
    constants: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> Kinematics:
    """Motion of a marker on a node, or of the body frame: the formulas of `modal_markers`."""
    frame = frame_of(q, v, a)
    if marker.get("part") is None:
        return carried(frame, marker["position"], marker["axes"])
    node = node_of(marker["part"])
    shapes, rest = unpacked(constants["shapes"])[node], unpacked(constants["nodes"])[node]
    bent, bent_rate, bent_second = (x[:, FRAME:] @ shapes.T for x in (q, v, a))
    theta, theta_rate, theta_second = (tuple(x[:, 3:].T) for x in (bent, bent_rate, bent_second))
    C, turning = as_matrices(small_rotation(theta)), small_spin(theta, theta_rate)
    second = np.column_stack(small_spin(theta, theta_second))
    second = second + np.column_stack(small_spin_change(theta, theta_rate, turning, theta_rate))
    own = np.column_stack(turning)
    arm, A, w, w_dot = C @ np.asarray(marker["position"], float), frame.rotation, *frame[4:6]
    swung = np.cross(own, arm)
    d, U = turned(A, rest + bent[:, :3] + arm), turned(A, bent_rate[:, :3] + swung)
    inside = turned(A, bent_second[:, :3] + np.cross(second, arm) + np.cross(own, swung))
    spin_own = turned(A, own)
    return Kinematics(
        frame.position + d,
        frame.velocity + np.cross(w, d) + U,
        frame.acceleration + np.cross(w_dot, d) + np.cross(w, np.cross(w, d) + 2.0 * U) + inside,
        A @ C @ np.asarray(marker["axes"], float),
        w + spin_own,
        w_dot + np.cross(w, spin_own) + turned(A, second),
    )


def node_places(constants: Mapping[str, Any], nodes: Sequence[int], q: np.ndarray) -> np.ndarray:
    """Places of nodes (n_t, k, 3) from histories of the coordinates."""
    shapes, rest = unpacked(constants["shapes"])[nodes, :3], unpacked(constants["nodes"])[nodes]
    bent = rest + np.einsum("kin,tn->tki", shapes, q[:, FRAME:])
    A = as_matrices(rotation(tuple(q[:, 3:FRAME].T)))
    return q[:, None, :3] + np.einsum("tij,tkj->tki", A, bent)


def turned(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x, time by time."""
    return np.einsum("tij,tj->ti", A, x)
