"""
A beam that bends far
=====================

A cantilever of soft plastic falls under its own weight and a small mass at its end: its shape, the moment along it
against that of equilibrium at rest, and the stress at its root.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix


def cantilever():
    model = ix.Model("cantilever", gravity=(0, -9.81, 0))
    plastic = {"young": 5e7, "poisson": 0.3, "density": 1100.0, "damping": 0.02}
    beam = model.add(
        ix.AncfBeam(
            "beam",
            (0, 0),
            (0.6, 0),
            height=0.02,
            width=0.03,
            elements=8,
            law="elastic-line",
            **plastic,
        )
    )
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    weight = model.add(ix.PointMass("weight", 0.05, position=(0.6, 0, 0)))
    model.add(ix.Spherical("hook", beam, weight, at=(0.6, 0, 0)))
    return model


model, s = cantilever(), np.linspace(0.0, 0.6, 61)
run = ix.simulate(model, (0.0, 3.0), "hht-i3", rtol=1e-5, t_eval=0.02)
rest = ix.static(cantilever())
beam, still = run["beam"], rest["beam"]
tips = still.points(0.6)[0, 0].round(4), beam.points(0.6)[-1, 0].round(4)
print(f"tip at rest: {tips[0]}, after 3 s: {tips[1]}")
print(f"moment at the wall {still.moment(0.0)[0, 0]:.4f} N m")
print(f"reaction of the wall {-rest['wall'].torque[2]:.4f} N m")

figure, (shapes, moments, stresses) = plt.subplots(
    3, 1, figsize=(6, 9), layout="constrained"
)
for k in range(0, 30, 3):
    shapes.plot(*beam.points(s)[k, :, :2].T, color="C0", alpha=0.2 + 0.025 * k)
shapes.plot(*still.points(s)[0, :, :2].T, "k--", label="at rest")
shapes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="the first 0.6 s")
shapes.legend()
moments.plot(s, beam.moment(s)[-1], label="after 3 s")
moments.plot(s, still.moment(s)[0], "k--", label="at rest")
moments.set(xlabel="s [m]", ylabel="moment [N m]")
moments.legend()
stresses.plot(run.t, beam.stress(0.0, 0.01)[:, 0, 0] / 1e6)
stresses.set(xlabel="t [s]", ylabel="stress at the root [MPa]")
