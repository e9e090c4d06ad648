"""The free planar double pendulum."""

from index3.bodies.planar_body import PlanarBody
from index3.joints.standard import Revolute
from index3.model.model import Model


def free_double_pendulum() -> Model:
    """Return a planar double pendulum of two equal uniform rods, released at rest from the horizontal.

    Notes
    -----
    J. Cardenal, J. Cuadrado, E. Bayo, A strategy to accelerate the numerical integration in the dynamic simulation of
    multibody systems, DETC97/VIB-4228, 1997, Fig. 1. `rod1` and `rod2` are 1 m and 1 kg, both along +x at the start;
    joints `pivot` at the origin and `elbow` at (1, 0); gravity is 9.81 m/s^2 along -y. Counts: 6 coordinates, 4
    constraints, 2 degrees of freedom.

    With the potential zero at the pivot the total energy is 0 throughout. The motion is chaotic: compare trajectories
    up to about t = 5 s, energies up to any time.

    >>> from index3 import library
    >>> list(library.free_double_pendulum().bodies)
    ['rod1', 'rod2']
    """
    model = Model("free double pendulum", gravity=(0.0, -9.81, 0.0))
    rod1 = model.add(PlanarBody.rod("rod1", (0.0, 0.0), (1.0, 0.0), mass=1.0))
    rod2 = model.add(PlanarBody.rod("rod2", (1.0, 0.0), (2.0, 0.0), mass=1.0))
    z = (0.0, 0.0, 1.0)
    model.add(Revolute("pivot", model.ground, rod1, at=(0.0, 0.0, 0.0), axis=z))
    model.add(Revolute("elbow", rod1, rod2, at=(1.0, 0.0, 0.0), axis=z))
    return model
