"""
Sweep: resonance with a vibration absorber
==========================================

A shaken machine with a small mass on a spring and a damper fixed to it, for many frequencies and three dampers. All
curves pass through two common points. Lines are linear theory, dots are runs.
"""

from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

M, K, mass, stiffness, force = 100.0, 4e4, 10.0, 3306.0, 100.0


def build(frequency, damping):
    """Machine and absorber on a vertical guide; heights count from the equilibrium."""
    m = ix.Model("absorber", gravity=(0, 0, 0))
    machine = m.add(
        ix.RigidBody.box("machine", (0.6, 0.4, 0.4), mass=M, position=(0, 0, 0.5))
    )
    block = m.add(
        ix.RigidBody.box("block", (0.2, 0.2, 0.1), mass=mass, position=(0, 0, 1.0))
    )
    m.add(ix.Prismatic("guide", m.ground, machine, at=(0, 0, 0.5), axis=(0, 0, 1)))
    m.add(ix.Prismatic("rail", machine, block, at=(0, 0, 1.0), axis=(0, 0, 1)))
    m.add(
        ix.SpringDamper(
            "mount", m.ground, machine, points=((0, 0, 0), (0, 0, 0.5)), stiffness=K
        )
    )
    ends = ((0, 0, 0.5), (0, 0, 1.0))
    m.add(
        ix.SpringDamper(
            "absorber",
            machine,
            block,
            points=ends,
            stiffness=stiffness,
            damping=damping,
        )
    )
    m.add(
        ix.Force("unbalance", machine, lambda t: (0, 0, force * np.sin(frequency * t)))
    )
    return m


def amplitude(result):
    """Of the last third of the run, where the start is forgotten."""
    z = result["guide"].displacement[result.t > 0.67 * result.t[-1]]
    return (z.max() - z.min()) / 2


# Threads suit a notebook; without `executor` and `isolate` each case has a process.
found = ix.sweep(
    build,
    {"frequency": np.linspace(14.0, 24.0, 9), "damping": [30.0, 80.0, 200.0]},
    t_span=(0.0, 9.0),
    measure={"amplitude": amplitude},
    executor=ThreadPoolExecutor(2),
    isolate=False,
    method="dopri5",
    rtol=1e-5,
    t_eval=0.02,
)
print(found.amplitude.max("frequency").to_series())

figure, plane = plt.subplots()
w = np.linspace(14.0, 25.0, 200)
for c in found.damping.values:
    link = stiffness + 1j * w * c
    theory = abs(
        force
        * (link - mass * w**2)
        / ((K - M * w**2) * (link - mass * w**2) - mass * w**2 * link)
    )
    (line,) = plane.plot(w, 1e3 * theory, label=f"damper of {c:.0f} N s/m")
    plane.plot(
        found.frequency,
        1e3 * found.amplitude.sel(damping=c),
        "o",
        color=line.get_color(),
    )
plane.set(xlabel="frequency [rad/s]", ylabel="amplitude of the machine [mm]")
plane.legend(title="line: theory, dots: runs")
