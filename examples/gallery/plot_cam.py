"""
Cam and follower
================

A roller follows a closed curve that turns with the cam: a point on a spline, at all three constraint levels.
"""

import numpy as np

import index3 as ix

model = ix.Model("cam", gravity=(0, 0, -9.81))
cam = model.add(
    ix.RigidBody.cylinder("cam", 0.03, 0.02, mass=1.0, orientation=(1, -1, 0, 0))
)
bearing = model.add(
    ix.Revolute("bearing", model.ground, cam, at=(0, 0, 0), axis=(0, 1, 0))
)
s = np.linspace(0, 2 * np.pi, 24, endpoint=False)
radius = 0.05 + 0.015 * np.cos(s) ** 2
curve = np.column_stack([radius * np.sin(s), np.zeros(24), radius * np.cos(s)])
follower = model.add(
    ix.RigidBody.box(
        "follower", (0.02, 0.02, 0.1), mass=0.3, position=(0, 0, radius[0] + 0.05)
    )
)
model.add(
    ix.Prismatic("guide", model.ground, follower, at=(0, 0, radius[0]), axis=(0, 0, 1))
)
model.add(
    ix.PointOnCurve("contact", cam, follower, curve, closed=True, at=(0, 0, radius[0]))
)
model.add(
    ix.Motion(
        "drive", bearing, lambda t: 2 * np.pi * t, lambda t: 2 * np.pi, lambda t: 0.0
    )
)

result = ix.kinematics(model, (0.0, 1.0), t_eval=0.002)
print(f"lift {1e3 * np.ptp(result['follower'].position[:, 2]):.2f} mm")
axes = result.plot("guide.displacement", "contact.force.z")
