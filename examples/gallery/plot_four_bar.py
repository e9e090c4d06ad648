"""
Four-bar linkage
================

A spatial four-bar that turns under gravity. All four joints are revolutes in space, so three constraint rows are
redundant; nothing has to be said about it.
"""

import index3 as ix

model = ix.Model("four-bar")
A, B, C, D = (0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)
crank = model.add(ix.RigidBody.rod("crank", A, B, mass=1.0, angular_velocity=(0, 3, 0)))
coupler = model.add(ix.RigidBody.rod("coupler", B, C, mass=1.0))
rocker = model.add(ix.RigidBody.rod("rocker", C, D, mass=1.0))
model.add(ix.Revolute("A", model.ground, crank, at=A, axis=(0, 1, 0)))
model.add(ix.Revolute("B", crank, coupler, at=B, axis=(0, 1, 0)))
model.add(ix.Revolute("C", coupler, rocker, at=C, axis=(0, 1, 0)))
model.add(ix.Revolute("D", rocker, model.ground, at=D, axis=(0, 1, 0)))
print(model.check())

result = ix.simulate(model, (0.0, 3.0), t_eval=0.01)
axes = result.plot("coupler.position", "B.force")
print(result)
