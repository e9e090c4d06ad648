"""Forces in the contact patch of a tyre by slip, and their changes; helpers of kernels.

The brush model of [Fiala] for combined slip. kappa and tau are the slips (sliding velocity over rolling speed, with
the sign of the force), z = (C_x kappa, C_y tau) what the force would be without sliding, F the vertical force, mu the
friction, zeta = |z| / (3 mu F): the force is z (1 - zeta + zeta^2 / 3) while zeta < 1, then mu F along z. With lateral
slip alone this is [Fiala]'s curve mu F (1 - (1 - zeta)^3). The force acts behind the centre by the pneumatic trail
a (1 - zeta)^3 / (3 - 3 zeta + zeta^2), a half the length of the patch.

mu falls from the static to the dynamic coefficient while the slip |(kappa, tau)| grows to 1, as a smooth cubic.
"""

from __future__ import annotations

from math import sqrt

from index3.compiled.interface import helper


@helper
def friction_at(tyre, slip):
    """(mu, dmu/dslip)."""
    fall = tyre.friction - tyre.sliding_friction
    if slip >= 1.0:
        return tyre.sliding_friction, 0.0
    return tyre.friction - 0.5 * fall * slip * (3.0 - slip * slip), -1.5 * fall * (1.0 - slip * slip)


@helper
def patch_forces(tyre, F, kappa, tau):
    """(F_x, F_y, trail) for a vertical force F > 0."""
    x, y = tyre.longitudinal_stiffness * kappa, tyre.cornering_stiffness * tau
    mu, _ = friction_at(tyre, sqrt(kappa * kappa + tau * tau))
    zeta = sqrt(x * x + y * y) / (3.0 * mu * F)
    if zeta >= 1.0:
        return x / (3.0 * zeta), y / (3.0 * zeta), 0.0
    share, left = 1.0 - zeta + zeta * zeta / 3.0, 1.0 - zeta
    return x * share, y * share, tyre.patch * left * left * left / (3.0 * share)


@helper
def patch_forces_rate(tyre, F, kappa, tau, dF, dkappa, dtau):
    """Changes of `patch_forces`."""
    x, y = tyre.longitudinal_stiffness * kappa, tyre.cornering_stiffness * tau
    dx, dy = tyre.longitudinal_stiffness * dkappa, tyre.cornering_stiffness * dtau
    slip, z = sqrt(kappa * kappa + tau * tau), sqrt(x * x + y * y)
    mu, slope = friction_at(tyre, slip)
    if z == 0.0:  # then also no slip, or no stiffness: the share is 1, or there is no force
        return dx, dy, 0.0
    dmu = slope * (kappa * dkappa + tau * dtau) / slip
    zeta = z / (3.0 * mu * F)
    dzeta = zeta * ((x * dx + y * dy) / (z * z) - dmu / mu - dF / F)
    if zeta >= 1.0:
        share, dshare = 1.0 / (3.0 * zeta), -dzeta / (3.0 * zeta * zeta)
        return dx * share + x * dshare, dy * share + y * dshare, 0.0
    share, dshare, left = 1.0 - zeta + zeta * zeta / 3.0, (2.0 * zeta / 3.0 - 1.0) * dzeta, 1.0 - zeta
    dtrail = -tyre.patch * left * left * (3.0 * dzeta + left * dshare / share) / (3.0 * share)
    return dx * share + x * dshare, dy * share + y * dshare, dtrail
