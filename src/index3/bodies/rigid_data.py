"""Readers of what a user says of a rigid body: mass, inertia and orientation, checked to be physical."""

from __future__ import annotations

import math
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.marker import as_positive, is_rotation
from index3.errors import ModelError

# Relative slack of i1 + i2 >= i3 and of the symmetry of an inertia matrix: data printed with nine digits pass.
INERTIA_SLACK = 1e-9
# Rounding of computed principal values, relative to the largest.
ROUNDING = 1e-12
# Largest error of A^T A = 1 in an orientation matrix: data printed with six digits pass; the result is normalised.
ROTATION_SLACK = 1e-6


def is_singular(inertia: np.ndarray) -> bool:
    """Whether a principal value is zero, but for rounding."""
    values = inertia.ravel().tolist()
    apart = values[::4] if not any(values[1:4] + values[5:8]) else np.linalg.eigvalsh(inertia).tolist()
    return bool(min(apart) <= ROUNDING * max(*apart, 1e-300))


def gyration(inertia: np.ndarray, mass: float) -> float:
    """A radius of gyration that is at least that about any axis: no moment of inertia exceeds half of the trace.

    >>> gyration(np.diag([1.0, 2.0, 3.0]), 3.0)
    1.0
    """
    return math.sqrt(0.5 * float(inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / mass)


def mass_of(mass: float | None, density: float | None, volume: float, owner: str) -> float:
    """The mass of a solid, given directly or by its density."""
    if (mass is None) == (density is None):
        fault = "neither mass nor density" if mass is None else "both mass and density"
        raise ModelError(f"{owner} is given {fault}. Give exactly one of the two.")
    if density is None:
        return as_positive(mass, owner, "mass")
    return as_positive(density, owner, "density") * volume


def as_inertia(value: Any, owner: str) -> np.ndarray:
    """An inertia matrix (3, 3) from three principal values or a symmetric matrix, checked to be physical."""
    try:
        given = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.shape not in ((3,), (3, 3)):
        raise ModelError(f"{owner} has inertia {short(value)}. Give (Ixx, Iyy, Izz) or a 3x3 matrix.")
    if not all(map(math.isfinite, given.ravel().tolist())):
        raise ModelError(f"{owner} has inertia {given.tolist()}. Give finite numbers.")
    if given.shape == (3,):
        inertia, principal, rounding = np.zeros((3, 3)), sorted(given.tolist()), 0.0
        inertia.flat[::4] = given
    else:
        inertia, rounding = 0.5 * given + 0.5 * given.T, ROUNDING
        if np.abs(given - given.T).max() > INERTIA_SLACK * np.abs(given).max():
            raise ModelError(f"{owner} has an inertia matrix that is not symmetric. Give Ixy = Iyx, and so on.")
        principal = np.linalg.eigvalsh(inertia).tolist()
    low, middle, high = principal
    if low < -rounding * abs(high):
        raise ModelError(
            f"{owner} has principal inertias {low:.6g}, {middle:.6g}, {high:.6g}, one of them negative. "
            "Check the signs; products of inertia are -integral(x y dm)."
        )
    if low + middle < high * (1.0 - INERTIA_SLACK):
        raise ModelError(
            f"{owner} has principal inertias {low:.6g}, {middle:.6g}, {high:.6g}: no rigid body can have these, as "
            "the largest "
            "exceeds the sum of the other two. Check the values and that they are about the centre of mass."
        )
    return inertia


def as_quaternion(value: Any, owner: str) -> tuple[float, float, float, float]:
    """Unit Euler parameters (w, x, y, z) from a quaternion, a rotation matrix or a SciPy `Rotation`."""
    try:
        given = np.array(value.as_matrix() if hasattr(value, "as_matrix") else value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.shape not in ((4,), (3, 3)):
        raise ModelError(
            f"{owner} has orientation {short(value)}. Give a quaternion (w, x, y, z), a 3x3 matrix or one Rotation."
        )
    numbers = given.ravel().tolist()
    if not all(map(math.isfinite, numbers)):
        raise ModelError(f"{owner} has orientation {given.tolist()}. Give finite numbers.")
    if len(numbers) == 4:
        largest = max(map(abs, numbers))
        if largest == 0.0:
            raise ModelError(
                f"{owner} has orientation (0, 0, 0, 0), which is not a rotation. Give a quaternion like (1, 0, 0, 0)."
            )
        numbers = [e / largest for e in numbers]  # scaled first: squares neither overflow nor vanish
    else:
        if not is_rotation(given, ROTATION_SLACK):
            raise ModelError(
                f"{owner} has an orientation matrix that is not a rotation. "
                "Its columns must be the body's unit axes in ground, right-handed."
            )
        numbers = parameters_of(given)
    length = math.sqrt(sum(e * e for e in numbers))
    return tuple(e / length for e in numbers)  # type: ignore[return-value]


def parameters_of(A: np.ndarray) -> list[float]:
    """Euler parameters, up to a factor, of a rotation matrix; e0 is not negative.

    4 p p^T is linear in A; the column of the largest parameter, read off with it, loses no digits.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A.tolist()
    columns = (
        (1.0 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx),
        (xz - zx, xy + yx, 1.0 - xx + yy - zz, yz + zy),
        (yx - xy, xz + zx, yz + zy, 1.0 - xx - yy + zz),
    )
    k = max(range(4), key=lambda i: columns[i][i])
    sign = -1.0 if columns[k][0] < 0.0 else 1.0
    return [sign * e for e in columns[k]]
