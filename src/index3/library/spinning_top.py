"""A heavy symmetric top."""

from index3.bodies.rigid_body import RigidBody
from index3.joints.standard import Spherical
from index3.model.model import Model


def spinning_top() -> Model:
    """Return a fast heavy symmetric top on a spherical joint.

    Notes
    -----
    Data of Bruels, Cardona and Arnold, used in many papers on Lie group integration. The body `top` (15 kg, inertias
    0.234375, 0.46875, 0.234375 kg m^2 about its centre of mass) spins about its y axis, which starts horizontal along
    ground y, with 150 rad/s, and turns about z with -4.61538 rad/s; its tip is held at the origin by the joint `tip`,
    1 m from the centre of mass. Gravity is 9.81 m/s^2 along -z. Counts: 7 coordinates, 4 constraints, 3 degrees of
    freedom.

    The centre of mass dips from the horizontal almost to straight below the tip and back in 0.7452 s, while the body
    turns about 18 times: resolving the fast spin decides the step. Usual end time 2 s.

    >>> from index3 import library
    >>> list(library.spinning_top().joints)
    ['tip']
    """
    model = Model("spinning top", gravity=(0.0, 0.0, -9.81))
    top = model.add(
        RigidBody(
            "top",
            15.0,
            (0.234375, 0.46875, 0.234375),
            position=(0.0, 1.0, 0.0),
            velocity=(4.61538, 0.0, 0.0),
            angular_velocity=(0.0, 150.0, -4.61538),
        )
    )
    model.add(Spherical("tip", model.ground, top, at=(0.0, 0.0, 0.0)))
    return model
