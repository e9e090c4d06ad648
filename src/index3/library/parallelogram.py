"""A row of planar parallelogram linkages that share their cranks."""

from index3.bodies.marker import as_number
from index3.bodies.planar_body import PlanarBody
from index3.errors import ModelError
from index3.joints.standard import Revolute
from index3.library.arguments import as_whole
from index3.model.model import Model


def parallelogram(n: int = 1, speed: float = 1.0) -> Model:
    """Return n parallelogram four-bars in a row: n + 1 cranks and n couplers, planar.

    Parameters
    ----------
    n : int
        Number of four-bars, at least 1.
    speed : float
        Velocity of the crank tips along x at the start, m/s: the cranks of 1 m turn with -speed rad/s.

    Raises
    ------
    ModelError
        If n is not a positive whole number.

    Notes
    -----
    Problem A02 of the multibody benchmark library of the University of La Coruna ("N-four-bar mechanism"). All rods
    are uniform, 1 kg and 1 m, in the x-y plane with gravity 9.81 m/s^2 along -y. Crank `crank0` ... `crank<n>` stand
    upright on the ground pivots `A0` ... `A<n>` at (k, 0); `coupler<k>` joins the tip of `crank<k-1>` (joint `B<k>`)
    to the tip of `crank<k>` (joint `C<k>`). All velocities are consistent. Counts: 3 (2n + 1) coordinates, 6n + 2
    constraints, 1 degree of freedom.

    Whenever the cranks pass the horizontal, all points are in line and the mechanism has n + 1 degrees of freedom for
    an instant. The motion to look for keeps all cranks parallel; with theta from the upright, positive towards +x,
    `theta'' = 3 g (3n + 1) / (2 (4n + 1)) sin(theta)`.

    >>> from index3 import library
    >>> list(library.parallelogram(1).bodies)
    ['crank0', 'crank1', 'coupler1']
    """
    n = as_whole(n, "parallelogram", "n")
    speed = as_number(speed, "parallelogram", "speed")
    if n < 1:
        raise ModelError(f"parallelogram: n is {n}. Give a whole number of four-bars, at least 1.")
    model = Model(f"parallelogram {n}", gravity=(0.0, -9.81, 0.0))
    z = (0.0, 0.0, 1.0)
    cranks = [
        model.add(PlanarBody.rod(f"crank{k}", (k, 0.0), (k, 1.0), mass=1.0, velocity=(0.5 * speed, 0.0), spin=-speed))
        for k in range(n + 1)
    ]
    for k, crank in enumerate(cranks):
        model.add(Revolute(f"A{k}", model.ground, crank, at=(k, 0.0, 0.0), axis=z))
    for k in range(1, n + 1):
        coupler = model.add(PlanarBody.rod(f"coupler{k}", (k - 1, 1.0), (k, 1.0), mass=1.0, velocity=(speed, 0.0)))
        model.add(Revolute(f"B{k}", cranks[k - 1], coupler, at=(k - 1, 1.0, 0.0), axis=z))
        model.add(Revolute(f"C{k}", coupler, cranks[k], at=(k, 1.0, 0.0), axis=z))
    return model
