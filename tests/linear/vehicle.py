"""A vehicle with the joints of the thesis's 14-body one (section 3.4.3.5, Figs. 9, 16) and made-up dimensions."""

from __future__ import annotations

import index3 as ix

CORNERS = {"fr": (1.65, -1.0), "fl": (1.65, 1.0), "rr": (-1.65, -1.0), "rl": (-1.65, 1.0)}
STIFFNESS, DAMPING = 2.0e7, 2.0e6


def vehicle(stiff: bool = False) -> ix.Model:
    """Chassis, rack, and at each corner two arms and a spindle.

    `stiff`: upper arms on ball joints and bushings, rack locked.
    """
    model = ix.Model("vehicle")
    chassis = model.add(ix.RigidBody("chassis", 2086.0, (1078.0, 2955.0, 3570.0), position=(0, 0, 0.7)))
    rack = model.add(ix.RigidBody("rack", 3.4, (0.23, 0.01, 0.23), position=(1.45, 0, 0.55)))
    model.add(ix.Prismatic("guide", chassis, rack, at=(1.45, 0, 0.55), axis=(0, 1, 0)))
    if stiff:
        model.add(ix.Motion("lock", model["guide"], 0.0, 0.0, 0.0))
    for name, (x, side) in CORNERS.items():
        add_corner(model, name, x, side, stiff)
    return model


def add_corner(model: ix.Model, name: str, x: float, side: float, stiff: bool) -> None:
    """Upper and lower arm, spindle, tie rod, compressed spring."""
    chassis = model["chassis"]
    inner, outer = (x, 0.45 * side, 0.85), (x - 0.02, 0.75 * side, 0.84)
    upper = model.add(ix.RigidBody(f"{name} upper", 5.4, (0.03, 0.02, 0.04), position=(x, 0.6 * side, 0.845)))
    lower = model.add(ix.RigidBody(f"{name} lower", 16.3, (0.15, 0.12, 0.23), position=(x, 0.55 * side, 0.44)))
    spindle = model.add(ix.RigidBody(f"{name} spindle", 72.8, (1.3, 1.8, 1.3), position=(x, 0.9 * side, 0.5)))
    if stiff:
        model.add(ix.Spherical(f"{name} UC", chassis, upper, at=inner))
        for tag, (dy, dz) in (("a", (-0.1 * side, 0.0)), ("b", (0.0, 0.1))):
            ends = ((x + 0.2, inner[1] + dy, inner[2] + dz), (x + 0.2, inner[1], inner[2]))
            model.add(
                ix.SpringDamper(
                    f"{name} bushing {tag}",
                    chassis,
                    upper,
                    points=ends,
                    stiffness=STIFFNESS,
                    damping=DAMPING,
                    length=0.1,
                )
            )
    else:
        model.add(ix.Revolute(f"{name} UC", chassis, upper, at=inner, axis=(1, 0, 0.02)))
    model.add(ix.Revolute(f"{name} LC", chassis, lower, at=(x, 0.3 * side, 0.45), axis=(1, 0, -0.03)))
    model.add(ix.Spherical(f"{name} US", upper, spindle, at=outer))
    model.add(ix.Spherical(f"{name} LS", lower, spindle, at=(x + 0.02, 0.8 * side, 0.42)))
    ends = ((x + 0.05, 0.4 * side, 0.95), (x + 0.05, 0.6 * side, 0.43))
    model.add(ix.SpringDamper(f"{name} spring", chassis, lower, points=ends, stiffness=2e5, damping=2e4, length=0.6))
    base, end = (model["rack"], 1.45) if x > 0 else (chassis, x + 0.2)
    points = ((end, 0.35 * side, 0.55), (x - 0.2 if x > 0 else x + 0.2, 0.78 * side, 0.56))
    model.add(ix.Distance(f"{name} rod", base, spindle, points=points))
