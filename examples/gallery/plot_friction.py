"""
Stick and slip
==============

A block rides on a belt and is held by a spring. Friction that falls from its static to its sliding value makes it
stick, slip and stick again. The normal load is the joint's own reaction.
"""

import matplotlib.pyplot as plt

import index3 as ix

model = ix.Model("stick-slip")
ground = model.ground
belt = model.add(
    ix.RigidBody.box("belt", (2.0, 0.3, 0.02), mass=5.0, position=(0, 0, -0.01))
)
run = model.add(ix.Prismatic("belt guide", ground, belt, at=(0, 0, 0), axis=(1, 0, 0)))
model.add(ix.Motion("belt drive", run, lambda t: 0.1 * t, lambda t: 0.1, lambda t: 0.0))
block = model.add(
    ix.RigidBody.box(
        "block", (0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05), velocity=(0.1, 0, 0)
    )
)
ride = model.add(ix.Prismatic("ride", belt, block, at=(0, 0, 0), axis=(1, 0, 0)))
model.add(
    ix.JointFriction("rubbing", ride, 0.2, static_friction=0.4, stick_velocity=1e-3)
)
model.add(
    ix.SpringDamper(
        "spring",
        ground,
        block,
        points=((-1.0, 0, 0.05), (0, 0, 0.05)),
        stiffness=40.0,
        length=1.0,
    )
)

result = ix.simulate(model, (0.0, 6.0), method="hht-i3", rtol=1e-4, t_eval=0.01)
figure, plane = plt.subplots()
plane.plot(result.t, result["block"].velocity[:, 0])
plane.axhline(0.1, color="gray", lw=0.8)
plane.set(
    xlabel="t [s]",
    ylabel="velocity of the block [m/s]",
    title="It sticks where it moves with the belt",
)
print(result.message)
