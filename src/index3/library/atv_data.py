"""Numbers of the all-terrain vehicle with a flexible frame on a shaker of four posts.

[NegrutHHT], section 4.3, prints of its vehicle the counts, the frequencies of the frame, the weight of the rider and
the kind of its motions. Everything else is chosen here: tubes and junctions of the frame so that it has these
frequencies, masses, points and springs as a vehicle of this size has them.

Axes: x forward, y left, z up from the pads. Points are those of the left side; the right side mirrors them. In the
design position the tyres just touch the pads; the vehicle then comes to rest a few centimetres lower.
"""

from typing import Any

Part = tuple[float, tuple[float, float, float], tuple[float, float, float]]

JUNCTIONS = {  # of the left half of the frame [m]
    "A": (0.7, 0.14, 0.35),
    "B": (0.25, 0.18, 0.3),
    "C": (-0.3, 0.18, 0.3),
    "D": (-0.7, 0.16, 0.38),
    "E": (0.55, 0.14, 0.7),
    "F": (0.05, 0.15, 0.68),
    "G": (-0.6, 0.15, 0.72),
}
SIDE_TUBES = (
    ("A", "B"),
    ("B", "C"),
    ("C", "D"),
    ("A", "E"),
    ("E", "F"),
    ("F", "G"),
    ("G", "D"),
    ("B", "F"),
    ("C", "F"),
)
TUBE: dict[str, Any] = {
    "outer_diameter": 0.0176,
    "wall": 0.0025,
    "young": 2.07e11,
    "poisson": 0.3,
    "density": 7850.0,
    "elements": 5,
}
HELD_MODES = 44
"""Modes with the interfaces held that the reduction keeps."""

# mass [kg], principal inertias [kg m^2], centre [m]
LUMPS: dict[str, Part] = {
    "engine": (38.0, (0.8, 1.0, 0.9), (-0.05, 0.0, 0.45)),
    "rider": (90.72, (5.0, 5.0, 2.0), (-0.3, 0.0, 0.9)),
    "front rack": (6.0, (0.3, 0.2, 0.4), (0.62, 0.0, 0.75)),
    "rear rack": (8.0, (0.4, 0.3, 0.6), (-0.65, 0.0, 0.78)),
    "tank": (9.0, (0.1, 0.1, 0.1), (0.1, 0.0, 0.75)),
    "battery": (4.0, (0.02, 0.02, 0.02), (-0.45, 0.0, 0.6)),
    "differential": (6.0, (0.03, 0.03, 0.03), (0.58, 0.0, 0.36)),
}
SEATS = {  # the node of the frame that carries a lump: a junction, or the first one along a cross tube from the left
    "engine": "C1",
    "rider": "FL",
    "front rack": "EL",
    "rear rack": "GR",
    "tank": "FR",
    "battery": "GL",
    "differential": "AL",
}
COLUMN: Part = (17.61, (0.5, 0.5, 0.2), (0.35, 0.0, 0.95))
PITMAN: Part = (0.5, (0.001, 0.001, 0.001), (0.48, 0.0, 0.42))
STEERING_AXIS = (0.05, 0.0, -0.53)
"""Down along the column, through its centre: 0.1 m behind the tie rods, as far as these are behind the king pins."""
COLUMN_BEARING = 0.7
"""Height of the bearing of the column in the frame [m]."""
UPPER_ARM: Part = (1.2, (0.005, 0.005, 0.008), (0.62, 0.24, 0.35))
LOWER_ARM: Part = (1.8, (0.008, 0.008, 0.014), (0.62, 0.24, 0.235))
UPPER_PIVOT, LOWER_PIVOT = (0.62, 0.14, 0.36), (0.62, 0.14, 0.25)
UPPER_BALL, LOWER_BALL = (0.62, 0.32, 0.34), (0.62, 0.33, 0.22)
FRONT_CENTRE, REAR_CENTRE = (0.62, 0.4, 0.28), (-0.62, 0.38, 0.28)
KNUCKLE: Part = (2.5, (0.01, 0.01, 0.01), FRONT_CENTRE)
FRONT_WHEEL: Part = (9.0, (0.25, 0.4, 0.25), FRONT_CENTRE)
TIE_ROD = (0.4, (0.004, 0.004, 0.0001))  # the long axis is the last
TIE_ROD_INNER, TIE_ROD_OUTER = (0.5, 0.05, 0.4), (0.52, 0.33, 0.26)
SWING_ARM: Part = (5.0, (0.05, 0.12, 0.15), (-0.46, 0.16, 0.29))
REAR_AXLE: Part = (7.0, (0.25, 0.02, 0.25), (-0.62, 0.0, 0.28))
REAR_WHEEL: Part = (10.0, (0.3, 0.45, 0.3), REAR_CENTRE)
POST = (50.0, (1.0, 1.0, 1.0))
POST_CENTRE = -0.2
"""Height of the centre of a post below its pad [m]."""
RADIUS = 0.28
FRONT_SHOCK = ((0.58, 0.24, 0.26), (0.52, 0.14, 0.68))  # on the lower arm, on the frame
REAR_SHOCK = ((-0.52, 0.0, 0.33), (-0.55, 0.0, 0.7))  # on the swing arm, on the frame
FRONT_LAW: dict[str, Any] = {"stiffness": 14000.0, "damping": 900.0, "length": 0.47}
REAR_LAW: dict[str, Any] = {"stiffness": 38000.0, "damping": 2200.0, "length": 0.41}
TYRE: dict[str, float] = {
    "stiffness": 1e5,
    "exponent": 1.0,
    "damping": 600.0,
    "onset": 1e-3,
    "friction": 0.8,
}
SHAKE = "0.02*step5(t, 0, 0, 0.25, 1)*sin(8*pi*t + {phase})"
PHASES = {"front left": "0", "front right": "pi/2", "rear left": "pi", "rear right": "3*pi/2"}
STEER = "10*pi/180*sin(pi*t)"


def mirrored(point: tuple[float, float, float], side: float) -> tuple[float, float, float]:
    """A point of the left side, on the side 1 (left) or -1 (right)."""
    return (point[0], side * point[1], point[2])


def ratio_to_critical(frequency: float) -> float:
    """Damping of a mode of the frame: 1 % below 100 Hz, 10 % up to 1 kHz, critical above."""
    return 0.01 if frequency < 100.0 else 0.1 if frequency < 1000.0 else 1.0
