"""Three masses on springs, each on a prismatic joint."""

from collections.abc import Sequence

import numpy as np

from index3.bodies.marker import as_number, as_numbers, length_of
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.forces.spring_damper import SpringDamper
from index3.joints.standard import Fixed, Prismatic
from index3.model.model import Model


def mass_spring(k: float | Sequence[float] = 1e6, mass: float = 1.0, displacement: float = 0.01) -> Model:
    """Return three separate mass-spring oscillators of spatial bodies, on a frame that is held as a body.

    Parameters
    ----------
    k : float or three floats
        Stiffness of the springs, N/m; one number means three equal springs. The stiff case of the source is (1e6,
        1e8, 1e12).
    mass : float
        Mass of each cube, kg.
    displacement : float
        Distance of the masses from rest at the start, m.

    Raises
    ------
    ModelError
        If k is neither one number nor three.

    Notes
    -----
    A. A. Shabana, D. Zhang, G. Wang, TLISMNI/Adams algorithm for the solution of the differential/algebraic equations
    of constrained dynamical systems, section 6.1. The cubes `mass1`, `mass2`, `mass3` (side 0.1 m) slide along ground
    x on the prismatic joints `slide1` ... `slide3`, at y = -0.5, 0, 0.5; each hangs on its `spring1` ... `spring3`,
    free at 0.5 m, when the mass is at x = 0. The paper counts the ground as a body: here the body `frame` is held by
    the joint `hold`, so that the counts are the printed ones: 28 coordinates, 25 constraints, 3 degrees of freedom.
    Gravity is across the slides and does no work.

    The exact solution is `x_i = displacement cos(sqrt(k_i / mass) t)`: a stiff, undamped oscillation, on which the
    numerical damping of a method can be read off.

    >>> from index3 import library
    >>> list(library.mass_spring(k=(1e6, 1e8, 1e12)).bodies)
    ['frame', 'mass1', 'mass2', 'mass3']
    """
    mass = as_number(mass, "mass_spring", "mass")
    displacement = as_number(displacement, "mass_spring", "displacement")
    stiffness = as_numbers(k, "mass_spring", "k") if length_of(k) else np.array([as_number(k, "mass_spring", "k")])
    if stiffness.size not in (1, 3):
        raise ModelError(f"mass_spring: k has {stiffness.size} values. Give one stiffness or three.")
    model = Model("mass-spring")
    x, free_length = (1.0, 0.0, 0.0), 0.5
    frame = model.add(RigidBody.box("frame", (0.1, 1.2, 0.1), mass=10.0, position=(-free_length, 0.0, 0.0)))
    model.add(Fixed("hold", model.ground, frame, at=(-free_length, 0.0, 0.0)))
    for i, (y, k_i) in enumerate(zip((-0.5, 0.0, 0.5), np.broadcast_to(stiffness, 3), strict=True), start=1):
        centre = (displacement, y, 0.0)
        body = model.add(RigidBody.box(f"mass{i}", (0.1, 0.1, 0.1), mass=mass, position=centre))
        model.add(Prismatic(f"slide{i}", frame, body, at=centre, axis=x))
        ends = ((-free_length, y, 0.0), centre)
        model.add(SpringDamper(f"spring{i}", frame, body, points=ends, stiffness=float(k_i), length=free_length))
    return model
