"""
Vehicle over an obstacle
========================

The vehicle of the paper with fourteen bodies, four suspensions and tyres rolls over a half cylinder.
"""

import index3 as ix

model = ix.library.hmmwv14()
result = ix.simulate(model, (0.0, 3.0), method="hht-i3", rtol=1e-4, t_eval=0.01)
print(result)
axes = result.plot("chassis.position.z", "chassis.acceleration.z")
