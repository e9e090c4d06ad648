"""
Crawler track: a chain on a sprocket
====================================

A short crawler track stands on the ground, settles on its chain for half a second and drives off: 22 shoes with pins,
a sprocket whose gaps take the pins, rollers, an idler on a spring, 242 candidates of contact.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

model = ix.library.crawler_track(short=True)
result = ix.simulate(model, (0.0, 3.0), "hht-i3", rtol=1e-3, t_eval=0.01)
print(result)

# %%
# The chain from the side, at the start and after 3 s. The shoes on the ground stay
# where they are; the machine rolls over them.

figure, plane = plt.subplots()
shoes = [name for name in model.bodies if name.startswith("shoe ")]
for k, colour in ((0, "0.7"), (-1, "C0")):
    places = np.array([result[name].position[k] for name in [*shoes, shoes[0]]])
    plane.plot(
        places[:, 0], places[:, 2], "o-", color=colour, label=f"t = {result.t[k]:g} s"
    )
    for wheel in ("sprocket", "idler"):
        plane.plot(*result[wheel].position[k][[0, 2]], "+", color=colour, markersize=14)
plane.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
plane.legend()

# %%
# What the ground carries, and the force of the spring that tightens the chain.

figure, planes = plt.subplots(2, sharex=True)
planes[0].plot(result.t, 1e-3 * result["soil"].normal.sum(axis=1))
planes[0].set(ylabel="ground [kN]")
planes[1].plot(result.t, -1e-3 * result["tension spring"].tension)
planes[1].set(xlabel="t [s]", ylabel="tension spring [kN]")
plt.show()
