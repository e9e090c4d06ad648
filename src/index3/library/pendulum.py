"""A rod that swings on a revolute joint."""

from index3.bodies.marker import as_number
from index3.bodies.rigid_body import RigidBody
from index3.joints.standard import Revolute
from index3.model.model import Model


def pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """Return a uniform spatial rod on a revolute joint, horizontal and at rest at the start.

    Parameters
    ----------
    length : float
        Length of the rod, m.
    mass : float
        Mass of the rod, kg.

    Notes
    -----
    The joint `pivot` is at the origin, its axis is ground y; the body `rod` starts along ground x. Gravity is (0, 0,
    -9.80665) m/s^2, so the joint angle grows from zero and swings between 0 and pi with `angle'' = 3 g / (2 length)
    cos(angle)`. Counts: 7 coordinates, 6 constraints, 1 degree of freedom.

    >>> from index3 import library
    >>> list(library.pendulum().bodies)
    ['rod']
    """
    length = as_number(length, "pendulum", "length")
    mass = as_number(mass, "pendulum", "mass")
    model = Model("pendulum")
    rod = model.add(RigidBody.rod("rod", (0.0, 0.0, 0.0), (length, 0.0, 0.0), mass=mass))
    model.add(Revolute("pivot", model.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return model
