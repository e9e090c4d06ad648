"""
Planetary gear
==============

A sun drives three planets inside a fixed ring; the carrier turns slowly. Willis' equation gives the ratio.
"""

import numpy as np

import index3 as ix

r_sun, r_planet = 0.06, 0.04
r_ring = r_sun + 2 * r_planet
model = ix.Model("planetary gear", gravity=(0, 0, 0))
ground, z = model.ground, (0, 0, 1)
sun = model.add(ix.RigidBody.cylinder("sun", r_sun, 0.02, mass=0.8))
carrier = model.add(
    ix.RigidBody.cylinder("carrier", 0.08, 0.01, mass=0.5, position=(0, 0, -0.03))
)
arm = model.add(ix.Revolute("arm", ground, carrier, at=(0, 0, 0), axis=z))
sun_on_arm = model.add(ix.Revolute("sun on arm", carrier, sun, at=(0, 0, 0), axis=z))
for k in range(3):
    angle = 2 * np.pi * k / 3
    place = ((r_sun + r_planet) * np.cos(angle), (r_sun + r_planet) * np.sin(angle), 0)
    planet = model.add(
        ix.RigidBody.cylinder(f"planet {k}", r_planet, 0.02, mass=0.3, position=place)
    )
    axle = model.add(ix.Revolute(f"axle {k}", carrier, planet, at=place, axis=z))
    model.add(ix.Gear(f"sun and planet {k}", sun_on_arm, axle, ratio=-r_sun / r_planet))
# The ring stands still: seen from the carrier, it turns by minus the carrier's angle.
model.add(
    ix.Coupler("ring", [(r_planet, model["axle 0"], "angle"), (r_ring, arm, "angle")])
)
model.add(ix.Torque("motor", sun, (0, 0, 0.05)))

result = ix.simulate(model, (0.0, 2.0), t_eval=0.01)
turned = result["arm"].angle
ratio = (result["sun on arm"].angle + turned)[-1] / turned[-1]
print(f"turns of the sun per turn of the carrier: {ratio:.6f}")
print(f"Willis: {1 + r_ring / r_sun:.6f}")
axes = result.plot("arm.angle", "sun on arm.angle")
