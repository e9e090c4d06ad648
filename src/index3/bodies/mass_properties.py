"""Mass, centre and inertia of point masses, of a solid inside a triangle mesh, and of bodies held together."""

from __future__ import annotations

from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.errors import ModelError

Properties = tuple[float, np.ndarray, np.ndarray]
"""Mass, centre (3,) and inertia (3, 3) about it."""


def inertia_of(second: np.ndarray) -> np.ndarray:
    """The inertia of second moments of mass about the same point."""
    return np.trace(second) * np.eye(3) - second


def as_points(points: Any, masses: Any, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Places (k, 3) and positive masses (k,)."""
    places, weights = as_array(points, owner, "points"), as_array(masses, owner, "masses")
    if places.ndim != 2 or places.shape[1] != 3 or len(places) == 0:
        raise ModelError(f"{owner} has points {short(points)}. Give a list of (x, y, z).")
    if weights.shape != (len(places),):
        raise ModelError(f"{owner} has {len(places)} points and masses {short(masses)}. Give one mass for each point.")
    if not np.all(weights > 0.0):
        raise ModelError(f"{owner} has masses {weights.tolist()}. Give positive numbers.")
    return places, weights


def as_mesh(vertices: Any, faces: Any, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) and triangles (k, 3) of whole numbers in range."""
    corners, numbers = as_array(vertices, owner, "vertices"), as_array(faces, owner, "faces")
    if corners.ndim != 2 or corners.shape[1] != 3:
        raise ModelError(f"{owner} has vertices {short(vertices)}. Give a list of (x, y, z).")
    triangles = numbers.astype(np.int64)
    if numbers.ndim != 2 or numbers.shape[1] != 3 or np.any(triangles != numbers):
        raise ModelError(f"{owner} has faces {short(faces)}. Give a list of three vertex numbers each.")
    if triangles.min(initial=0) < 0 or triangles.max(initial=-1) >= len(corners):
        raise ModelError(
            f"{owner} has a face with a vertex that does not exist. Give numbers 0 ... {len(corners) - 1}."
        )
    return corners, triangles


def read_mesh(path: Any, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of a file, equal corners joined."""
    try:
        import trimesh  # here: an extra
    except ImportError:
        raise ModelError(f"{owner}: meshes are read by trimesh. Run: pip install 'index3[mesh]'") from None
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        mesh.merge_vertices(merge_tex=True, merge_norm=True)
        corners, triangles = np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # its readers raise whatever a damaged file makes them stumble over
        raise ModelError(f"{owner} has no mesh in {str(path)!r}: {error}. Give an STL or OBJ file.") from None
    if len(triangles) == 0:
        raise ModelError(f"{owner} finds no triangles in {str(path)!r}. Give an STL or OBJ file.")
    return corners, triangles


def as_array(value: Any, owner: str, what: str) -> np.ndarray:
    """An array of finite numbers."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{owner} has {what} {short(value)}. Give numbers.") from None
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{owner} has {what} that are not finite. Give finite numbers.")
    return array


def of_points(points: np.ndarray, masses: np.ndarray) -> Properties:
    """Of point masses."""
    mass = float(masses.sum())
    centre = masses @ points / mass
    arms = points - centre
    return mass, centre, inertia_of(np.einsum("k,ki,kj->ij", masses, arms, arms))


def of_mesh(vertices: np.ndarray, faces: np.ndarray, density: float, owner: str) -> Properties:
    """Of a solid inside a closed surface: the sum over the tetrahedra from its middle to every triangle.

    Of a tetrahedron with one corner at the origin, the others a, b, c and s = a + b + c: volume V = a . (b x c) / 6,
    first moment V s / 4, second moments V (a a^T + b b^T + c c^T + s s^T) / 20.
    """
    check_closed(faces, owner)
    middle = vertices.mean(axis=0)  # less rounding for a mesh far from its origin
    a, b, c = (vertices[faces[:, k]] - middle for k in range(3))
    volumes = np.einsum("ki,ki->k", a, np.cross(b, c)) / 6.0
    volume, extent = float(volumes.sum()), float(np.abs(volumes).sum())
    if not abs(volume) > 1e-12 * extent:
        raise ModelError(f"{owner} has a mesh that encloses no volume. Give the surface of a solid.")
    if volume < 0.0:
        raise ModelError(f"{owner} has a mesh that is inside out. Reverse the order of the vertices in every face.")
    s = a + b + c
    centre = volumes @ s / (4.0 * volume)
    second = sum(np.einsum("k,ki,kj->ij", volumes, x, x) for x in (a, b, c, s)) / 20.0
    second = second - volume * np.outer(centre, centre)
    return density * volume, middle + centre, density * inertia_of(second)


def check_closed(faces: np.ndarray, owner: str) -> None:
    """Raise unless every edge of every triangle is met by one other triangle, which runs along it the other way."""
    if len(faces) < 4:
        raise ModelError(f"{owner} has a mesh of {len(faces)} faces, which is open. Give a closed surface.")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).tolist()
    counts: dict[tuple[int, int], int] = {}
    for start, end in edges:
        counts[start, end] = counts.get((start, end), 0) + 1
    for (start, end), count in counts.items():
        if counts.get((end, start), 0) == 0 and count == 1:
            raise ModelError(
                f"{owner} has an open mesh: the edge between vertices {start} and {end} has one face only."
            )
        if count != counts.get((end, start), 0):
            raise ModelError(
                f"{owner} has a mesh whose faces at the edge between vertices {start} and {end} are not oriented "
                "consistently. Order the vertices of all faces counter-clockwise seen from outside."
            )


def joined(parts: Any, owner: str) -> Properties:
    """Of bodies held together as they stand, in ground axes."""
    bodies = list(parts) if hasattr(parts, "__iter__") else []
    if not bodies:
        raise ModelError(f"{owner} has parts {short(parts)}. Give a list of bodies.")
    for body in bodies:
        if not isinstance(body, Body) or np.shape(getattr(body, "inertia", np.zeros((3, 3)))) != (3, 3):
            raise ModelError(f"{owner} cannot be made of {short(body)}. Give rigid bodies and point masses.")
        if not hasattr(body, "mass"):
            raise ModelError(f"{owner} cannot be made of {body.label}, which has no mass. Give bodies with mass.")
        if body.model is not None:
            raise ModelError(f"{owner} is made of {body.label}, which is in a model already. Make new bodies for it.")
    places, masses = zip(*((body.pose()[0], body.mass) for body in bodies), strict=True)
    mass, centre, inertia = of_points(np.array(places), np.array(masses))
    for body in bodies:
        A = body.pose()[1]
        inertia = inertia + A @ getattr(body, "inertia", np.zeros((3, 3))) @ A.T
    return mass, centre, inertia
