"""A spatial slider-crank."""

import numpy as np

from index3.bodies.rigid_body import RigidBody
from index3.joints.standard import Prismatic, Revolute, Spherical, Universal
from index3.model.model import Model


def slider_crank() -> Model:
    """Return the spatial slider-crank of Haug: crank, connecting rod and slider, 1 degree of freedom.

    Notes
    -----
    E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, section 12.2, with the data of the
    IFToMM benchmark. Gravity is 9.81 m/s^2 along -z.

    `crank` (0.08 m, 0.12 kg) turns about ground x on the revolute `A` at (0, 0.1, 0.12); it starts upright with 6
    rad/s. `rod` (0.3 m, 0.5 kg; body x along the rod) hangs on the spherical joint `B` at (0, 0.1, 0.2) and on the
    universal joint `C` at (0.2, 0, 0), whose axes are x of the slider and (0, -2, 1) of the rod at the start.
    `slider` (2 kg) slides along ground x on the prismatic joint `guide`. All velocities are consistent. Counts: 21
    coordinates, 20 constraints, 1 degree of freedom, none redundant.

    Look at the position of the slider, x = 0.2 m at the start, and at the energy, which is constant.

    >>> from index3 import library
    >>> list(library.slider_crank().joints)
    ['A', 'B', 'C', 'guide']
    """
    model = Model("slider-crank", gravity=(0.0, 0.0, -9.81))
    A, B, C = (0.0, 0.1, 0.12), (0.0, 0.1, 0.2), (0.2, 0.0, 0.0)
    x = np.array((2.0, -1.0, -2.0)) / 3.0  # from B to C
    y = np.array((0.0, -2.0, 1.0)) / np.sqrt(5.0)  # the axis of the universal joint on the rod
    crank = model.add(
        RigidBody(
            "crank",
            0.12,
            (1e-4, 1e-4, 1e-5),
            position=(0.0, 0.1, 0.16),
            velocity=(0.0, -0.24, 0.0),
            angular_velocity=(6.0, 0.0, 0.0),
        )
    )
    rod = model.add(
        RigidBody(
            "rod",
            0.5,
            (4e-4, 4e-3, 4e-3),
            position=(0.1, 0.05, 0.1),
            orientation=np.column_stack((x, y, np.cross(x, y))),
            velocity=(0.12, -0.24, 0.0),
            angular_velocity=(1.92, -0.96, 0.48),
        )
    )
    slider = model.add(RigidBody("slider", 2.0, (1e-4, 1e-4, 1e-4), position=C, velocity=(0.24, 0.0, 0.0)))
    model.add(Revolute("A", model.ground, crank, at=A, axis=(1.0, 0.0, 0.0)))
    model.add(Spherical("B", crank, rod, at=B))
    model.add(Universal("C", slider, rod, at=C, axes=((1.0, 0.0, 0.0), y)))
    model.add(Prismatic("guide", model.ground, slider, at=C, axis=(1.0, 0.0, 0.0)))
    return model
