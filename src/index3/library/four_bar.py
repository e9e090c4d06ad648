"""A spatial four-bar linkage with four parallel revolute joints."""

import math
from collections.abc import Sequence

from index3.bodies.marker import as_number, as_numbers
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError, warn
from index3.joints.standard import Revolute
from index3.model.model import Model


def four_bar(lengths: Sequence[float] = (0.4, 1.0, 0.8, 1.0), speed: float = 3.0) -> Model:
    """Return a four-bar linkage of spatial rods, with three redundant constraint rows.

    Parameters
    ----------
    lengths : four floats
        Crank AB, coupler BC, rocker CD and ground AD, m. A is the origin, D lies on ground x, the crank starts
        upright along ground z, and C is the point on the upper side of the line BD.
    speed : float
        Angular velocity of the crank about ground y at the start, rad/s. The velocities of coupler and rocker follow
        from it.

    Raises
    ------
    ModelError
        If the lengths are not four positive numbers, if the linkage does not close with the crank upright, or if
        coupler and rocker are in line there, where the speed of the crank does not determine theirs.

    Warns
    -----
    UserWarning
        If the lengths do not satisfy Grashof's condition, so that the crank can only rock.

    Notes
    -----
    Bodies `crank`, `coupler`, `rocker` of 1 kg each, joints `A`, `B`, `C`, `D` about ground y, standard gravity along
    -z. Four parallel revolutes leave 1 degree of freedom and 3 redundant rows: 21 coordinates, 23 constraints. With
    the default lengths and speed the crank turns fully. Look at the energy balance, and at the reactions, which are
    not unique.

    >>> from index3 import library
    >>> list(library.four_bar().joints)
    ['A', 'B', 'C', 'D']
    """
    speed = as_number(speed, "four_bar", "speed")
    crank_length, coupler_length, rocker_length, ground_length = check_lengths(lengths)
    C, coupler_spin, rocker_spin = close(crank_length, coupler_length, rocker_length, ground_length, speed)
    warn_of_rocking(crank_length, coupler_length, rocker_length, ground_length)
    A, B, D = (0.0, 0.0, 0.0), (0.0, 0.0, crank_length), (ground_length, 0.0, 0.0)
    crank_speed, tip_speed = speed * crank_length / 2, speed * crank_length
    rocker_velocity = (rocker_spin * (C[2] - D[2]) / 2, 0.0, -rocker_spin * (C[0] - D[0]) / 2)
    coupler_velocity = (tip_speed / 2 + rocker_velocity[0], 0.0, rocker_velocity[2])

    model = Model("four-bar")
    crank = model.add(
        RigidBody.rod("crank", A, B, mass=1.0, velocity=(crank_speed, 0.0, 0.0), angular_velocity=(0.0, speed, 0.0))
    )
    coupler = model.add(
        RigidBody.rod("coupler", B, C, mass=1.0, velocity=coupler_velocity, angular_velocity=(0.0, coupler_spin, 0.0))
    )
    rocker = model.add(
        RigidBody.rod("rocker", C, D, mass=1.0, velocity=rocker_velocity, angular_velocity=(0.0, rocker_spin, 0.0))
    )
    y = (0.0, 1.0, 0.0)
    model.add(Revolute("A", model.ground, crank, at=A, axis=y))
    model.add(Revolute("B", crank, coupler, at=B, axis=y))
    model.add(Revolute("C", coupler, rocker, at=C, axis=y))
    model.add(Revolute("D", rocker, model.ground, at=D, axis=y))
    return model


def check_lengths(lengths: Sequence[float]) -> tuple[float, ...]:
    """Return the lengths as four positive floats."""
    values = tuple(as_numbers(lengths, "four_bar", "lengths").tolist())
    if len(values) != 4 or not all(v > 0.0 for v in values):
        raise ModelError(f"four_bar: lengths are {values}. Give four positive numbers: crank, coupler, rocker, ground.")
    return values


def warn_of_rocking(crank: float, coupler: float, rocker: float, ground: float) -> None:
    """Warn if the crank cannot turn fully.

    Grashof: it turns fully if the shortest and the longest link together are not longer than the other two, and the
    shortest link is the crank or the ground.
    """
    lengths = (crank, coupler, rocker, ground)
    if 2 * (min(lengths) + max(lengths)) > sum(lengths) or min(lengths) < min(crank, ground):
        warn(
            f"four_bar: with lengths {lengths} the crank cannot turn fully (Grashof's condition); it will rock.",
        )


def close(
    crank: float, coupler: float, rocker: float, ground: float, speed: float
) -> tuple[tuple[float, float, float], float, float]:
    """Return the point C and the angular velocities of coupler and rocker about y, with the crank upright."""
    base = math.hypot(ground, crank)  # from B = (0, 0, crank) to D = (ground, 0, 0)
    along = (base**2 + coupler**2 - rocker**2) / (2 * base)
    height_squared = coupler**2 - along**2
    if height_squared <= 1e-12 * base**2:
        raise ModelError(
            f"four_bar: coupler {coupler} m and rocker {rocker} m do not close over the distance BD = {base:.6g} m, "
            "or only in line. Change the lengths so that BCD is a triangle when the crank is upright."
        )
    height = math.sqrt(height_squared)
    x = (along * ground + height * crank) / base
    z = crank + (height * ground - along * crank) / base
    # A point at (dx, dz) from the centre of rotation about y moves with spin * (dz, -dx):
    # speed * (crank, 0) + coupler_spin * (z - crank, -x) = rocker_spin * (z, -(x - ground)), solved for the two spins.
    determinant = (z - crank) * (x - ground) - x * z
    coupler_spin = -speed * crank * (x - ground) / determinant
    rocker_spin = -speed * crank * x / determinant
    return (x, 0.0, z), coupler_spin, rocker_spin
