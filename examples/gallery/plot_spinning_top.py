"""
Spinning top
============

A heavy top precesses and nods. Its axis traces a curve with loops or waves, depending on how it was let go.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

tilt = np.radians(30.0)
model = ix.Model("top")
top = model.add(
    ix.RigidBody(
        "top",
        0.5,
        (4e-4, 4e-4, 6e-4),
        position=(0.06 * np.sin(tilt), 0, 0.06 * np.cos(tilt)),
        orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        angular_velocity=(120 * np.sin(tilt), 0, 120 * np.cos(tilt)),
    )
)
model.add(ix.Spherical("tip", model.ground, top, at=(0, 0, 0)))

result = ix.simulate(model, (0.0, 2.0), rtol=1e-8, t_eval=0.001)
axis = result["top"].rotation[:, :, 2]
figure, plane = plt.subplots(figsize=(5, 5))
plane.plot(axis[:, 0], axis[:, 1])
plane.set(
    xlabel="axis x",
    ylabel="axis y",
    aspect="equal",
    title="The axis of the top, seen from above",
)
print(f"energy kept within {np.ptp(result.energy.balance):.1e} J")
