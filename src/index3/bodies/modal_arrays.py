"""A reduced structure as plain arrays, for model files, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from index3.bodies.modal_data import InertiaData, ModalData
from index3.bodies.modal_stress import COMPONENTS, Recovery
from index3.errors import ModelError

KINDS = tuple(COMPONENTS)
STRESS = ("stress_kind", "stress_nodes", "stress_matrix", "stress_sections")


def shapes_of(N: int, n: int, lines: int, faces: int, names: int) -> dict[str, tuple[int, ...]]:
    """Every array of N nodes and n modes, with its shape."""
    return {
        "nodes": (N, 3), "shapes": (N, 6, n), "turning": (N,), "stiffness": (n,), "damping": (n,), "mass": (),
        "centre": (3,), "inertia": (3, 3), "moment": (n, 3), "turn": (n, 3), "change": (n, 3, 3),
        "pairs": (n, n, 3, 3), "turns": (n, n, 3), "lines": (lines, 2), "faces": (faces, 3), "radius": (),
        "names": (names,),
    }  # fmt: skip


def arrays_of(data: ModalData, damping: np.ndarray) -> dict[str, np.ndarray]:
    """All that makes the body again; names as the bytes of their text."""
    text = np.frombuffer(json.dumps(data.names).encode(), np.uint8)
    arrays = {key: getattr(data, key) for key in vars(data) if key not in ("inertia", "names", "stress", "kept")}
    arrays |= {**vars(data.inertia), "damping": damping, "names": text}
    if data.stress is not None:
        stress = (KINDS.index(data.stress.kind), data.stress.nodes, data.stress.matrix, data.stress.sections)
        arrays |= dict(zip(STRESS, stress, strict=True))
    return {key: np.asarray(value, float) for key, value in arrays.items()}


def data_from(arrays: Mapping[str, Any], owner: str) -> tuple[ModalData, np.ndarray]:
    """The structure and its damping from such arrays, checked as far as kernels rely on them."""
    try:
        given = {key: np.array(value, float) for key, value in arrays.items()}
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"{owner} has data that are not numbers. Give those that a ModalBody was written with."
        ) from None
    sizes = [
        given[key].shape[0] if key in given and given[key].ndim else 0
        for key in ("nodes", "stiffness", "lines", "faces", "names")
    ]
    wanted = shapes_of(*sizes)
    known = {*wanted, *STRESS}
    for key, shape in wanted.items():
        if key not in given or given[key].shape != shape or not np.all(np.isfinite(given[key])):
            seen = f"of the shape {list(given[key].shape)}" if key in given else "missing"
            raise ModelError(f"{owner} has data in which '{key}' is {seen}. Give finite numbers, {list(shape)}.")
    odd = sorted(set(given) - known)
    if odd:
        raise ModelError(f"{owner} has data with '{odd[0]}', which it does not know. Leave it out.")
    check_numbers(given, owner)
    N = len(given["nodes"])
    inertia = InertiaData(*(given[key] for key in ("inertia", "moment", "turn", "change", "pairs", "turns")))
    data = ModalData(
        given["nodes"], names_from(given["names"], N, owner), given["shapes"], given["turning"] != 0.0,
        given["stiffness"], float(given["mass"]), given["centre"], inertia, given["lines"].astype(int),
        given["faces"].astype(int), float(given["radius"]), stress_from(given, N, len(given["stiffness"]), owner),
    )  # fmt: skip
    return data, given["damping"]


def check_numbers(given: Mapping[str, np.ndarray], owner: str) -> None:
    """Raise unless masses and stiffnesses are positive, dampings not negative, and nodes exist."""
    for key in ("mass", "stiffness", "damping", "radius"):
        if np.any(given[key] < 0.0) or (key in ("mass", "stiffness") and not np.all(given[key])):
            raise ModelError(f"{owner} has data with a negative or vanishing '{key}'. Give positive numbers.")
    J = given["inertia"]
    if not np.array_equal(J, J.T) or np.linalg.eigvalsh(J)[0] < 0.0:
        raise ModelError(f"{owner} has data with an inertia that no body can have. Give a symmetric positive one.")
    for key in ("lines", "faces"):
        if np.any(given[key] < 0) or np.any(given[key] >= len(given["nodes"])):
            raise ModelError(f"{owner} has data in which '{key}' name nodes that do not exist.")


def names_from(codes: np.ndarray, count: int, owner: str) -> dict[str, int]:
    """Names of nodes, from the bytes of their text."""
    try:
        names = json.loads(bytes(codes.astype(int).tolist()).decode())
        if all(isinstance(name, str) and isinstance(node, int) and 0 <= node < count for name, node in names.items()):
            return names
    except (ValueError, AttributeError, RecursionError):
        pass
    raise ModelError(f"{owner} has data with names of nodes that cannot be read.")


def stress_from(given: Mapping[str, np.ndarray], count: int, modes: int, owner: str) -> Recovery | None:
    """How the body is stressed, if the data say so."""
    if not any(key in given for key in STRESS):
        return None
    kind, nodes, matrix, sections = (given.get(key, np.empty(0)) for key in STRESS)
    name = KINDS[int(kind)] if kind.shape == () and kind in range(len(KINDS)) else ""
    places = len(nodes) if nodes.ndim == 1 else -1
    columns = 3 if name == "tube" else 0
    right = name and matrix.shape == (COMPONENTS[name] * places, modes) and sections.shape == (places, columns)
    if not right or not np.all((nodes >= 0) & (nodes < count)) or not np.all(np.isfinite(matrix)):
        raise ModelError(f"{owner} has data with stresses that do not fit its nodes and modes.")
    return Recovery(name, nodes.astype(int), matrix, sections)
