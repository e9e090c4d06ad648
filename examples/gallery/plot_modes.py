"""
Natural frequencies of a chain
==============================

Equilibrium first, then small vibrations about it: a hanging chain of rods against the Bessel zeros of a rope.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import jn_zeros

import index3 as ix

links, length = 20, 1.0
model = ix.Model("hanging chain")
before = model.ground
for k in range(links):
    ends = (0, 0, -length * k / links), (0, 0, -length * (k + 1) / links)
    link = model.add(ix.RigidBody.rod(f"link {k}", *ends, mass=0.5 / links))
    model.add(ix.Revolute(f"pin {k}", before, link, at=ends[0], axis=(0, 1, 0)))
    before = link

found = ix.linearize(model, initial=ix.static(model))
rope = jn_zeros(0, 5) / 2 * np.sqrt(9.80665 / length) / (2 * np.pi)
frequencies = np.sort(found.frequencies)[:5] / (2 * np.pi)
for k, (chain, ideal) in enumerate(zip(frequencies, rope, strict=True)):
    print(f"mode {k + 1}: {chain:.4f} Hz, rope {ideal:.4f} Hz")
figure, plane = plt.subplots()
plane.plot(range(1, 6), frequencies, "o", label="chain of 20 rods")
plane.plot(range(1, 6), rope, "x", label="rope")
plane.set(xlabel="mode", ylabel="frequency [Hz]")
plane.legend()
