"""
A connecting rod that bends
===========================

The same slider-crank three times: its rod by modes in a floating frame, in absolute nodal coordinates, and rigid. At
150 rad/s the middle of an 8 mm steel rod swings by 2 mm. The force along the rod makes it stiffer in tension: the modal
rod leaves that out and bends a little more.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

times = np.linspace(0.0, 0.1, 401)
runs = {}
for kind in ("modal", "ancf", "rigid"):
    model = ix.library.flexible_slider_crank(kind)
    runs[kind] = (
        model,
        ix.simulate(model, (0.0, 0.1), "hht-i3", rtol=1e-5, t_eval=times),
    )


def middle(model, result):
    """How far the rod's middle is from the line between its ends."""
    first, last = (
        result.marker(marker).position
        for marker in (model["B"].second, model["C"].first)
    )
    rod = model["rod"]
    if rod.kind == "modal":
        node = int(np.argmin(np.abs(rod.nodes[:, 0] - 0.3)))
        place = result.marker(rod.marker(node=node)).position
    else:
        place = result["rod"].points([0.15])[:, 0]
    line, arm = last - first, place - first
    return (line[:, 0] * arm[:, 1] - line[:, 1] * arm[:, 0]) / np.linalg.norm(
        line, axis=1
    )


figure, (bending, stress) = plt.subplots(2, 1, sharex=True)
for kind in ("modal", "ancf"):
    bending.plot(1000 * times, 1000 * middle(*runs[kind]), label=kind)
bending.set(ylabel="deflection of the middle [mm]")
bending.legend()
modal = runs["modal"][1]
stress.plot(1000 * times, modal["rod"].stress().max(axis=1) / 1e6)
stress.set(xlabel="time [ms]", ylabel="largest stress [MPa]")
figure.tight_layout()

# %%
# A modal body has stresses at every node; the highest come with node and time.

for spot in modal["rod"].hot_spots(3):
    print(f"node {spot.node}: {spot.stress / 1e6:.0f} MPa at {1000 * spot.time:.1f} ms")
gap = runs["rigid"][1]["slider"].position - modal["slider"].position
largest = 1e6 * np.abs(gap[:, 0]).max()
print(f"the slider is up to {largest:.0f} micrometres from where a rigid rod puts it")
