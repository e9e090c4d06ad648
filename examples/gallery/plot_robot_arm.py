"""
Robot arm with a digital controller
===================================

Two links, two motors. A controller reads the joint angles 200 times a second and moves the hand around a square, by
proportional and derivative gains, with and without the torques that carry the weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import index3 as ix

L1, L2, m1, m2, g = 0.5, 0.4, 4.0, 2.0, 9.80665
corners = np.array([[0.7, -0.1], [0.7, 0.2], [0.4, 0.2], [0.4, -0.1], [0.7, -0.1]])


def path(t):
    """Where the hand should be: half a second per side, at rest in each corner."""
    side = min(int(t / 0.5), 3)
    s = min(t / 0.5 - side, 1.0)
    return corners[side] + (corners[side + 1] - corners[side]) * (
        10 * s**3 - 15 * s**4 + 6 * s**5
    )


def wanted(t):
    """The angles of shoulder and elbow."""
    x, z = path(t)
    bend = -np.arccos((x * x + z * z - L1 * L1 - L2 * L2) / (2 * L1 * L2))
    return np.array(
        [np.arctan2(z, x) - np.arctan2(L2 * np.sin(bend), L1 + L2 * np.cos(bend)), bend]
    )


def steer(t, u, memory):
    """Torques of the two motors; u are the angles and their rates."""
    rates = (wanted(t + 1e-5) - wanted(t)) / 1e-5
    return np.array([900.0, 300.0]) * (wanted(t) - u[:2]) + np.array([60.0, 15.0]) * (
        rates - u[2:]
    )


def steer_and_carry(t, u, memory):
    """The same, and what carries the weight of the links."""
    second = m2 / 2 * L2 * np.cos(u[0] + u[1])
    return steer(t, u, memory) + g * np.array(
        [(m1 / 2 + m2) * L1 * np.cos(u[0]) + second, second]
    )


def arm(law):
    """The arm with its controller."""
    m = ix.Model("robot arm")
    upper = m.add(ix.RigidBody.rod("upper", (0, 0, 0), (L1, 0, 0), mass=m1))
    fore = m.add(ix.RigidBody.rod("fore", (L1, 0, 0), (L1 + L2, 0, 0), mass=m2))
    shoulder = m.add(
        ix.Revolute("shoulder", m.ground, upper, at=(0, 0, 0), axis=(0, -1, 0))
    )
    elbow = m.add(ix.Revolute("elbow", upper, fore, at=(L1, 0, 0), axis=(0, -1, 0)))
    motors = [
        m.add(ix.Actuator("shoulder motor", shoulder, 0.0)),
        m.add(ix.Actuator("elbow motor", elbow, 0.0)),
    ]
    inputs = [
        "shoulder.angle",
        "elbow.angle",
        "shoulder.angle_rate",
        "elbow.angle_rate",
    ]
    m.add(ix.Controller("steering", 0.005, law, inputs, motors))
    return m


start = dict(zip(("shoulder.angle", "elbow.angle"), wanted(0.0), strict=True))
figure, (plane, torques) = plt.subplots(1, 2, figsize=(10, 4))
plane.plot(*corners.T, "k:", label="path")
for law, words in ((steer, "gains alone"), (steer_and_carry, "and the weight")):
    model = arm(law)
    result = ix.simulate(model, (0.0, 2.0), "dopri5", initial=start, t_eval=0.005)
    hand = result.marker(model["fore"].marker_at((L1 + L2, 0, 0))).position
    off = max(
        np.linalg.norm(r[[0, 2]] - path(t)) for t, r in zip(result.t, hand, strict=True)
    )
    print(f"{words}: off by at most {1e3 * off:.1f} mm")
    plane.plot(hand[:, 0], hand[:, 2], label=words)
    torques.plot(result.t, result["shoulder motor"].moment, label=f"shoulder, {words}")
plane.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
torques.set(xlabel="t [s]", ylabel="torque [N m]")
plane.legend()
torques.legend()
figure.tight_layout()
