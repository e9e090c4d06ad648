"""
Bouncing ball
=============

A rubber ball falls on the floor. Contact is a compliant law with a coefficient of restitution; the height after each
bounce follows from it.
"""

import numpy as np

import index3 as ix
from index3.shapes import Plane, Sphere

model = ix.Model("ball")
ball = model.add(
    ix.RigidBody.sphere(
        "ball", 0.05, mass=0.2, position=(0, 0, 1.05), velocity=(0.5, 0, 0)
    )
)
model.add(
    ix.Contact(
        "floor",
        ball,
        model.ground,
        (Sphere(0.05), Plane()),
        stiffness=2e5,
        restitution=0.7,
        impact_velocity=4.0,
        friction=0.3,
    )
)

result = ix.simulate(model, (0.0, 3.0), t_eval=0.002)
height = result["ball"].position[:, 2] - 0.05
peaks = [
    height[k]
    for k in range(1, len(height) - 1)
    if height[k - 1] < height[k] >= height[k + 1]
]
print("heights after the bounces:", ", ".join(f"{peak:.3f} m" for peak in peaks[:4]))
print(
    "ratios:",
    ", ".join(
        f"{np.sqrt(b / a):.3f}" for a, b in zip([1.0, *peaks], peaks[:4], strict=False)
    ),
)
axes = result.plot("ball.position.z", "ball.velocity.z")
