"""
Quarter car over a bump
=======================

A double wishbone corner with bushings, a spring and a tyre rolls over a bump. The run starts from the static
equilibrium.
"""

import index3 as ix

model = ix.Model("quarter car")
ground = model.ground
chassis = model.add(
    ix.RigidBody.box("chassis", (0.6, 0.3, 0.3), mass=400.0, position=(0, -0.4, 0.55))
)
upright = model.add(
    ix.RigidBody.box("upright", (0.05, 0.05, 0.4), mass=15.0, position=(0, 0.3, 0.35))
)
wheel = model.add(
    ix.RigidBody.cylinder(
        "wheel", 0.3, 0.2, mass=20.0, position=(0, 0.4, 0.35), axis=(0, 1, 0)
    )
)
stiffness = (5e6, 5e6, 5e6, 500.0, 500.0, 50.0)
damping = (2e3, 2e3, 2e3, 2.0, 2.0, 0.5)
for name, z in (("lower", 0.2), ("upper", 0.5)):
    arm = model.add(
        ix.RigidBody.rod(f"{name} arm", (0, -0.1, z), (0, 0.28, z), mass=4.0)
    )
    model.add(
        ix.Bushing(
            f"{name} bushing",
            chassis,
            arm,
            at=(0, -0.1, z),
            axis=(1, 0, 0),
            stiffness=stiffness,
            damping=damping,
        )
    )
    model.add(ix.Spherical(f"{name} ball joint", arm, upright, at=(0, 0.28, z)))
model.add(
    ix.Distance(
        "tie rod", chassis, upright, points=((0.12, -0.1, 0.35), (0.12, 0.28, 0.35))
    )
)
model.add(ix.Prismatic("rig", ground, chassis, at=(0, -0.4, 0.55), axis=(0, 0, 1)))
model.add(ix.Revolute("bearing", upright, wheel, at=(0, 0.4, 0.35), axis=(0, 1, 0)))
model.add(
    ix.SpringDamper(
        "spring",
        chassis,
        model["lower arm"],
        points=((0, 0.0, 0.6), (0, 0.15, 0.2)),
        stiffness=4e4,
        damping=3e3,
        length=0.55,
    )
)
road = ix.Road.bump(start=5.0, length=1.0, height=0.06, speed=10.0)
model.add(
    ix.Tyre("tyre", wheel, ground, road, radius=0.35, stiffness=2e5, damping=200.0)
)

rest = ix.static(model)
result = ix.simulate(
    model, (0.0, 1.5), initial=rest, t_eval=0.005, method="hht-i3", rtol=1e-4
)
height = result["chassis"].position[:, 2]
print(f"chassis rises by {1e3 * (height.max() - height[0]):.1f} mm")
axes = result.plot("chassis.position.z", "wheel.position.z", "tyre.vertical")
