"""Andrews' squeezing mechanism."""

from math import cos, sin

from index3.bodies.planar_body import PlanarBody
from index3.forces.load import Torque
from index3.forces.spring_damper import SpringDamper
from index3.joints.standard import Revolute
from index3.model.model import Model

# Lengths in m, with the names of the test set.
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SA, SB, SC, SD, TA, TB = 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
U, UA, UB, ZF, ZT, FA = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
POINT_A, POINT_B, POINT_C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)  # kg, K1 ... K7
INERTIAS = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2, about the centres of mass
STIFFNESS, FREE_LENGTH, TORQUE = 4530.0, 0.07785, 0.033  # N/m, m, N m

# Consistent start of the test set: beta, Theta, gamma, Phi, delta, Omega, epsilon in rad.
START = (
    -0.0617138900142764496,
    0.0,
    0.4552798191630703803,
    0.2226683901658858847,
    0.4873649795438425502,
    -0.2226683901658858847,
    1.2305474445498211925,
)


def andrews() -> Model:
    """Return Andrews' squeezing mechanism: seven planar bodies, driven by a constant torque.

    Notes
    -----
    Data of the "Test Set for IVP Solvers" (problem Andrews' squeezing mechanism); also problem A03 of the multibody
    benchmark library. No gravity, at rest at t = 0, usual end time 0.03 s.

    Bodies `K1` ... `K7` move in the x-y plane. Their angles are, in the order K1 ... K7 and in the symbols of the
    test set, `beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon`; at the start they have just
    these values, so the unwrapped angle of `K1` is beta. Revolutes: `O` (ground, K1), `F` (K1, K2), `E3`, `E4`, `E6`
    (K2 to K3, K4, K6), `B` (K3, ground), `G` (K4, K5), `A5` (K5, ground), `H` (K6, K7), `A7` (K7, ground). The force
    `motor` turns K1 with 0.033 N m; `spring` pulls from the ground point C to the point D of K3. Counts: 21
    coordinates, 20 constraints, 1 degree of freedom, none redundant.

    K1 turns two and a half times in 0.03 s, and accelerations reach 5.7e5 rad/s^2: a hard test of step control. The
    value to meet is beta(0.03) = 15.81077119515.

    >>> from index3 import library
    >>> list(library.andrews().bodies)
    ['K1', 'K2', 'K3', 'K4', 'K5', 'K6', 'K7']
    """
    beta, Theta, gamma, Phi, delta, Omega, epsilon = START
    model = Model("andrews", gravity=(0.0, 0.0, 0.0))
    angles = (beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon)
    K1, K2, K3, K4, K5, K6, K7 = (
        model.add(PlanarBody(f"K{i + 1}", MASSES[i], INERTIAS[i], position=centre, angle=angles[i]))
        for i, centre in enumerate(centres())
    )
    point = points()
    pairs = {
        "O": (model.ground, K1, (0.0, 0.0)),
        "F": (K1, K2, point["F"]),
        "E3": (K2, K3, point["E"]),
        "E4": (K2, K4, point["E"]),
        "E6": (K2, K6, point["E"]),
        "B": (K3, model.ground, POINT_B),
        "G": (K4, K5, point["G"]),
        "A5": (K5, model.ground, POINT_A),
        "H": (K6, K7, point["H"]),
        "A7": (K7, model.ground, POINT_A),
    }
    for name, (first, second, at) in pairs.items():
        model.add(Revolute(name, first, second, at=(*at, 0.0), axis=(0.0, 0.0, 1.0)))
    model.add(Torque("motor", K1, (0.0, 0.0, TORQUE)))
    ends = ((*POINT_C, 0.0), (*point["D"], 0.0))
    model.add(SpringDamper("spring", model.ground, K3, points=ends, stiffness=STIFFNESS, length=FREE_LENGTH))
    return model


def points() -> dict[str, tuple[float, float]]:
    """Return the moving points D, E, F, G, H at the start."""
    beta, Theta, gamma, _, delta, _, epsilon = START
    (xa, ya), (xb, yb) = POINT_A, POINT_B
    F = (RR * cos(beta), RR * sin(beta))
    return {
        "D": (xb + SC * sin(gamma) + SD * cos(gamma), yb - SC * cos(gamma) + SD * sin(gamma)),
        "E": (F[0] - D * cos(beta + Theta), F[1] - D * sin(beta + Theta)),
        "F": F,
        "G": (xa + ZT * cos(delta), ya + ZT * sin(delta)),
        "H": (xa + U * sin(epsilon), ya - U * cos(epsilon)),
    }


def centres() -> list[tuple[float, float]]:
    """Return the centres of mass of K1 ... K7 at the start."""
    beta, Theta, gamma, Phi, delta, Omega, epsilon = START
    (xa, ya), (xb, yb) = POINT_A, POINT_B
    point = points()
    F, G, H = point["F"], point["G"], point["H"]
    return [
        (RA * cos(beta), RA * sin(beta)),
        (F[0] - DA * cos(beta + Theta), F[1] - DA * sin(beta + Theta)),
        (xb + SA * sin(gamma) + SB * cos(gamma), yb - SA * cos(gamma) + SB * sin(gamma)),
        (G[0] + (E - EA) * sin(Phi + delta), G[1] - (E - EA) * cos(Phi + delta)),
        (xa + TA * cos(delta) - TB * sin(delta), ya + TA * sin(delta) + TB * cos(delta)),
        (H[0] + (ZF - FA) * cos(Omega + epsilon), H[1] + (ZF - FA) * sin(Omega + epsilon)),
        (xa + UA * sin(epsilon) - UB * cos(epsilon), ya - UA * cos(epsilon) - UB * sin(epsilon)),
    ]
