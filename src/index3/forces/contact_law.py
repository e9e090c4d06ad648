"""Normal force and friction of a contact point, and their derivatives; helpers of kernels, also of tyres.

Normal force F = k delta^n m(1 + B delta'), delta the depth, B = b (Hunt-Crossley [HuntCrossley]) or
B = c s(delta) / (k delta^n) (penalty: k delta^n + c s delta', s a smooth step from 0 to 1 over `onset`). m(y) is y but
for y < BLEND, where it bends to 0 with a continuous slope: a contact never pulls.

Friction -F g(w) t against the sliding velocity t, w = |t|, g the coefficient of `friction_law` divided by w.
"""

from __future__ import annotations

import numpy as np

from index3.algebra.vectors import add, dot, norm, scale, sub
from index3.compiled.interface import helper
from index3.forces.friction_law import FRICTION_FIELDS, friction_ratio

BLEND = 0.05
"""Free impacts with a restitution above 0.26 never come below it, so they follow the law of the paper exactly."""

LAW = np.dtype(
    [
        ("stiffness", "f8"),
        ("exponent", "f8"),
        ("damping", "f8"),  # b [s/m], or c [N s/m] with an onset
        ("onset", "f8"),  # depth at which the damper is fully on; 0: Hunt-Crossley
        *FRICTION_FIELDS,
    ]
)


@helper
def bent(y):
    """(m, m'): y, bent to zero with a continuous slope below BLEND."""
    if y >= BLEND:
        return y, 1.0
    if y <= 0.0:
        return 0.0, 0.0
    x = y / BLEND
    return y * x * (2.0 - x), x * (4.0 - 3.0 * x)


@helper
def normal_force(law, delta, rate):
    """(F, dF/ddelta, dF/drate, elastic part) at a depth above zero."""
    elastic = law.stiffness * delta**law.exponent
    by_delta = law.exponent * elastic / delta
    B, dB = law.damping, 0.0
    if law.onset > 0.0 and B > 0.0:
        x = delta / law.onset
        step, slope = (x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x) / law.onset) if x < 1.0 else (1.0, 0.0)
        dB = B * (slope - step * by_delta / elastic) / elastic
        B *= step / elastic
    m, slope = bent(1.0 + B * rate)
    return elastic * m, by_delta * m + elastic * slope * dB * rate, elastic * slope * B, elastic


@helper
def point_force(law, n, delta, u):
    """Force on the first body where the relative velocity is u and the surface of the second one has the normal n."""
    rate = -dot(n, u)
    F, _, _, _ = normal_force(law, delta, rate)
    force = scale(F, n)
    if law.static > 0.0:
        t = add(u, scale(rate, n))
        g, _ = friction_ratio(law, norm(t))
        force = sub(force, scale(F * g, t))
    return force


@helper
def point_force_rate(law, n, delta, u, dn, ddelta, du, curved):
    """Change of `point_force` for small changes of the normal, the depth and the relative velocity.

    With curved = 0 friction is taken as proportional to the sliding velocity: a secant instead of the slope.
    """
    rate, drate = -dot(n, u), -dot(dn, u) - dot(n, du)
    F, by_delta, by_rate, _ = normal_force(law, delta, rate)
    dF = by_delta * ddelta + by_rate * drate
    change = add(scale(dF, n), scale(F, dn))
    if law.static > 0.0:
        t = add(u, scale(rate, n))
        dt = add(du, add(scale(rate, dn), scale(drate, n)))
        g, slope = friction_ratio(law, norm(t))
        change = sub(change, add(scale(dF * g + curved * F * slope * dot(t, dt), t), scale(F * g, dt)))
    return change
