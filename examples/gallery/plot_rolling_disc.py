"""
A coin on a table
=================

A disc rolls without slipping, leans and comes round in a circle: two velocity-level constraint rows beside the one that
it touches the table.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

radius, mass, lean = 0.1, 0.05, np.radians(20.0)
model = ix.Model("coin")
inertia = mass * radius**2 * np.array([0.25, 0.25, 0.5])
axis = np.array([0.0, np.cos(lean), np.sin(lean)])  # leaning into the turn
turn = np.column_stack([(1.0, 0, 0), np.cross(axis, (1.0, 0, 0)), axis])
coin = model.add(
    ix.RigidBody(
        "coin",
        mass,
        inertia,
        position=(0, 0, radius * np.cos(lean)),
        orientation=turn,
        angular_velocity=8.0 * axis + np.array([0, 0, 1.5]),  # its velocity follows
    )
)
model.add(
    ix.RollingDisc(
        "rolls",
        model.ground,
        coin,
        radius=radius,
        at=coin.q0[:3],
        axis=axis,
        normal=(0, 0, 1),
    )
)

result = ix.simulate(model, (0.0, 4.0), rtol=1e-7, t_eval=0.01)
place = result["coin"].position
figure, plane = plt.subplots(figsize=(5, 5))
plane.plot(place[:, 0], place[:, 1])
plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="Path of the centre")
drift = np.ptp(result.energy.balance)
print(f"energy kept within {drift:.1e} J of {result.energy.kinetic[0]:.3f} J")
