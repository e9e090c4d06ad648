"""
Stewart platform: which forces move it?
=======================================

Six legs carry a platform along a given path. Kinematics first, then inverse dynamics: the forces that the legs must
give.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

model = ix.Model("Stewart platform")
ground = model.ground
platform = model.add(
    ix.RigidBody.cylinder("platform", 0.3, 0.04, mass=20.0, position=(0, 0, 0.8))
)
angles = np.radians([0, 60, 120, 180, 240, 300])
lower = [
    (0.5 * np.cos(a), 0.5 * np.sin(a), 0.0) for a in angles + np.radians([-20, 20] * 3)
]
upper = [
    (0.3 * np.cos(a), 0.3 * np.sin(a), 0.8) for a in angles + np.radians([20, -20] * 3)
]
for k, (foot, head) in enumerate(zip(lower, upper, strict=True)):
    foot, head = np.array(foot), np.array(head)
    along, middle = (head - foot) / np.linalg.norm(head - foot), (foot + head) / 2
    barrel = model.add(
        ix.RigidBody.rod(f"barrel {k}", foot, middle, mass=1.0, radius=0.02)
    )
    rod = model.add(ix.RigidBody.rod(f"rod {k}", middle, head, mass=0.5, radius=0.01))
    side = np.cross(along, (0, 0, 1.0))
    model.add(
        ix.Universal(
            f"foot {k}", ground, barrel, at=foot, axes=(side, np.cross(along, side))
        )
    )
    model.add(ix.Prismatic(f"leg {k}", barrel, rod, at=middle, axis=along))
    model.add(ix.Spherical(f"head {k}", rod, platform, at=head))


def path(t):
    """Displacement, velocity and acceleration: it sways and heaves by 5 cm."""
    w, s, c = 2 * np.pi, 0.05 * np.sin(2 * np.pi * t), 0.05 * np.cos(2 * np.pi * t)
    return (
        np.array([s, 0, 0.05 - c]),
        w * np.array([c, 0, s]),
        w * w * np.array([-s, 0, c]),
    )


def extension(k):
    """Extension of a leg, its rate and its second derivative, as functions of time."""
    leg = np.array(upper[k]) - np.array(lower[k])

    def value(t):
        return np.linalg.norm(leg + path(t)[0]) - np.linalg.norm(leg)

    def rate(t):
        d, v = leg + path(t)[0], path(t)[1]
        return d @ v / np.linalg.norm(d)

    def second(t):
        d, v, a = leg + path(t)[0], path(t)[1], path(t)[2]
        return (d @ a + v @ v - rate(t) ** 2) / np.linalg.norm(d)

    return value, rate, second


for k in range(6):
    model.add(ix.Motion(f"drive {k}", model[f"leg {k}"], *extension(k)))

result = ix.kinematics(model, (0.0, 1.0), t_eval=0.01)
figure, plane = plt.subplots()
for k in range(6):
    drive = result[f"drive {k}"]
    axis = result[f"leg {k}"].first.rotation[:, :, 2]
    plane.plot(result.t, np.einsum("ti,ti->t", drive.force, axis), label=f"leg {k}")
plane.set(xlabel="t [s]", ylabel="force of the leg [N]")
plane.legend()
print(f"platform sways by {np.ptp(result['platform'].position[:, 0]):.4f} m")
