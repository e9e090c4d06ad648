"""A chain of spatial links on revolute joints."""

import math

from index3.bodies.body import Body
from index3.bodies.rigid_body import RigidBody
from index3.errors import ModelError
from index3.forces.spring_damper import SpringDamper
from index3.joints.standard import Revolute
from index3.library.arguments import as_whole
from index3.model.model import Model

GRAVITY = (0.0, 0.5 * 9.81, -0.5 * math.sqrt(3.0) * 9.81)  # 9.81 m/s^2 tilted by 30 degrees about x


def chain(n: int, springs: bool = False) -> Model:
    """Return a chain of n spatial links that starts straight, horizontal and at rest.

    Parameters
    ----------
    n : int
        Number of links, at least 1.
    springs : bool
        Add the spring-damper `spring` (20 N/m, 1 N s/m, free length 1 m) between the end of the last link, at (n, 0,
        0), and the ground point (n, -0.5, 1). It starts 1.118 m long, and gravity pulls the end away from the ground
        point.

    Raises
    ------
    ModelError
        If n is not a positive whole number.

    Notes
    -----
    Links `link1` ... `link<n>` are boxes of 1.0 x 0.1 x 0.1 m and 1 kg with their long side along ground x;
    `joint<k>` is at (k - 1, 0, 0), with axis y for odd k and z for even k. Gravity is 9.81 m/s^2, tilted by 30
    degrees about x: without the tilt the z joints would never move. Counts: 7n coordinates, 6n constraints, n degrees
    of freedom.

    Cost per step should grow linearly with n; `benchmarks/chain.py` measures it, and holds the position of the end of
    the last link after 1 s.

    >>> from index3 import library
    >>> list(library.chain(2).joints)
    ['joint1', 'joint2']
    """
    n = as_whole(n, "chain", "n")
    if n < 1:
        raise ModelError(f"chain: n is {n}. Give a whole number of links, at least 1.")
    model = Model(f"chain {n}", gravity=GRAVITY)
    previous: Body = model.ground
    for k in range(n):
        link = model.add(RigidBody.box(f"link{k + 1}", (1.0, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0.0, 0.0)))
        axis = (0.0, 1.0, 0.0) if k % 2 == 0 else (0.0, 0.0, 1.0)
        model.add(Revolute(f"joint{k + 1}", previous, link, at=(k, 0.0, 0.0), axis=axis))
        previous = link
    if springs:
        ends = ((n, -0.5, 1.0), (n, 0.0, 0.0))
        model.add(SpringDamper("spring", model.ground, previous, points=ends, stiffness=20.0, damping=1.0, length=1.0))
    return model
