"""What users wait for: cars with their output, a long chain with 1001 lines, balls in a box, a wheel's suspension."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import index3 as ix
from peer_rows.row import Row, Way

BALLS, RADIUS, SPACE = 60, 0.1, 0.25
SIDE = int(np.ceil((BALLS / 4) ** 0.5))  # balls along each side of a layer
WIDTH = SPACE * SIDE
QUARTER_CAR = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "plot_quarter_car.py"


def simulated(model, span, **settings):
    """A way that simulates a model."""
    last = {}

    def run():
        result = ix.simulate(model, span, progress=False, on_failure="raise", **settings)
        last["loop"] = result.stats["seconds_steps"]

    return Way(f"{settings['method']} {settings.get('rtol', 0):.0e}", run, loop=lambda: last["loop"])


def car(name, span, lines):
    """A library car with output, which has no peer here."""
    model = getattr(ix.library, name)()
    yield simulated(model, (0.0, span), method="hht-i3", rtol=1e-3, t_eval=np.linspace(0.0, span, lines))


def long_chain():
    """1000 links, 1 s at constant steps of 1 ms, a line each."""
    times = np.linspace(0.0, 1.0, 1001)
    yield simulated(ix.library.chain(1000), (0.0, 1.0), method="hht-i3", step=1e-3, t_eval=times)


def suspension():
    """The gallery's quarter car: its file up to the first analysis."""
    names = {}
    exec(QUARTER_CAR.read_text().partition("rest = ")[0], names)
    return names["model"]


def suspension_at_rest():
    """Static equilibrium of the quarter car."""
    model = suspension()

    def run():
        ix.static(model)

    yield Way("static", run)


def suspension_over_bump():
    """The quarter car over its bump, from the equilibrium."""
    model = suspension()
    rest = ix.static(model)
    yield simulated(model, (0.0, 1.5), initial=rest, t_eval=0.005, method="hht-i3", rtol=1e-4)


def places():
    """Balls in layers, shifted at random by up to 1 cm."""
    random = np.random.default_rng(1)
    grid = [(k % SIDE, (k // SIDE) % SIDE, k // SIDE**2) for k in range(BALLS)]
    shifts = random.uniform(-0.01, 0.01, (BALLS, 3))
    corner = np.array([SPACE / 2, SPACE / 2, 0.3])
    return [corner + SPACE * np.array(cell) + shift for cell, shift in zip(grid, shifts, strict=True)]


def box():
    """Balls dropped into an open box: each may touch all others, the floor and four walls."""
    model = ix.Model("balls in a box")
    balls = [
        model.add(ix.RigidBody.sphere(f"b{k}", RADIUS, mass=1.0, position=tuple(place)))
        for k, place in enumerate(places())
    ]
    walls = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 1, 0))]
    walls += [((WIDTH, 0, 0), (-1, 0, 0)), ((0, WIDTH, 0), (0, -1, 0))]
    shapes = [(ball, ix.Sphere(RADIUS)) for ball in balls]
    shapes += [(model.ground.marker(at, z=normal), ix.Plane()) for at, normal in walls]
    model.add(ix.ContactSet("all", shapes, stiffness=1e5, damping=0.2, friction=0.3))
    yield simulated(model, (0.0, 1.0), method="hht-i3", rtol=1e-3, t_eval=[1.0])


def mujoco_box():
    """MuJoCo's own soft contact with constant steps: other physics, so only the cost is compared."""
    import mujoco

    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="1" friction=".3"/></body>'
        for x, y, z in places()
    )
    planes = [("0 0 0", "0 0 1"), ("0 0 0", "1 0 0"), ("0 0 0", "0 1 0")]
    planes += [(f"{WIDTH} 0 0", "-1 0 0"), (f"0 {WIDTH} 0", "0 -1 0")]
    walls = "".join(
        f'<geom type="plane" pos="{pos}" zaxis="{axis}" size="0 0 1" friction=".3"/>' for pos, axis in planes
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{walls}{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)

    def run():
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, round(1.0 / model.opt.timestep))

    yield Way(f"h {1e3 * model.opt.timestep:g} ms", run)


ROWS = [
    Row("HMMWV14, 4 s, 401 lines", None, {"index3": lambda: car("hmmwv14", 4.0, 401)}, {"index3": 0.05}),
    Row("HMMWV50, 10 s, 1001 lines", None, {"index3": lambda: car("hmmwv50", 10.0, 1001)}, {"index3": 0.5}),
    Row("chain of 1000, 1 s, 1001 lines", None, {"index3": long_chain}, {"index3": 3.0}),
    Row("60 balls in a box, 1 s", None, {"index3": box, "MuJoCo (other physics)": mujoco_box}, {"index3": 3.0}),
    Row("quarter car, static equilibrium", None, {"index3": suspension_at_rest}, {"index3": 0.03}),
    Row("quarter car over a bump, 1.5 s, 301 lines", None, {"index3": suspension_over_bump}, {"index3": 0.05}),
]
