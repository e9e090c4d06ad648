"""Where a wheel touches a plane: the arm c = R u - rho k from its centre to the contact point, and its derivatives.

k is the normal of the plane, n the axis of the wheel, gamma = k . n, sigma = sqrt(1 - gamma^2). The rim is a circle of
radius R with a round tread of radius rho: u = (gamma n - k) / sigma points from the centre to the lowest point of the
circle. R = 0 is a ball, rho = 0 a thin disc. A wheel with R > 0 that lies flat (sigma = 0) has no lowest point.
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.vectors import add, apply, cross, dot, multiply, outer, scale, skew, sub
from index3.compiled.interface import helper
from index3.constraints.turning_angle import combine

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
FLAT = 1e-8
"""Smallest sigma of a wheel that stands: its contact point is good to eps / sigma."""


@helper
def steepness(k, n):
    """sigma, the sine of the angle between the wheel's axis and the plane's normal."""
    a = cross(k, n)
    return sqrt(dot(a, a))


@helper
def arm(R, rho, k, n):
    """c, from the centre of the wheel to the contact point."""
    if R == 0.0:
        return scale(-rho, k)
    u = scale(1.0 / steepness(k, n), sub(scale(dot(k, n), n), k))
    return sub(scale(R, u), scale(rho, k))


@helper
def arm_derivatives(R, rho, k, n):
    """(dc/dtheta_i, dc/dtheta_j) as 9-tuples; k turns with i, n with j."""
    cross_k, cross_n = skew(k), skew(n)
    if R == 0.0:
        return combine(rho, cross_k, 0.0, cross_k), combine(0.0, cross_n, 0.0, cross_n)
    gamma, sigma = dot(k, n), steepness(k, n)
    u = scale(1.0 / sigma, sub(scale(gamma, n), k))
    along = add(scale(1.0 / sigma, n), scale(gamma / (sigma * sigma), u))  # du/dgamma
    by_k = combine(-1.0 / sigma, IDENTITY, 1.0, outer(along, n))
    by_n = combine(gamma / sigma, IDENTITY, 1.0, outer(along, k))
    by_i = combine(-R, multiply(by_k, cross_k), rho, cross_k)  # dk = -k x dtheta_i
    return by_i, combine(-R, multiply(by_n, cross_n), 0.0, cross_n)


@helper
def arm_rate(R, rho, k, n, wi, wj):
    """Rate of c at the angular velocities of the two markers."""
    by_i, by_j = arm_derivatives(R, rho, k, n)
    return add(apply(by_i, wi), apply(by_j, wj))


@helper
def arm_gradient(R, rho, k, n, wi, wj, P, Q):
    """Gradients by theta_i and theta_j of P . c + Q . c' for fixed P, Q and angular velocities."""
    gi = scale(-rho, add(cross(k, P), cross(k, cross(Q, wi))))
    if R == 0.0:
        return gi, (0.0, 0.0, 0.0)
    gamma, sigma = dot(k, n), steepness(k, n)
    c1, c3 = 1.0 / sigma, 1.0 / sigma**3
    k1, n1 = cross(wi, k), cross(wj, n)
    rate = dot(k1, n) + dot(k, n1)
    # P . u = -(P.k - gamma P.n) / sigma, by k and n
    pk, pn = dot(P, k), dot(P, n)
    p_gamma = pn * c1 - (pk - gamma * pn) * gamma * c3
    # Q . u' = -N1 / sigma - N0 gamma gamma' / sigma^3 as a function of k, n and their rates k1, n1
    qk, qn, qk1, qn1 = dot(Q, k), dot(Q, n), dot(Q, k1), dot(Q, n1)
    N0, N1 = qk - gamma * qn, qk1 - rate * qn - gamma * qn1
    q_rate = qn * c1 - N0 * gamma * c3
    q_gamma = qn1 * c1 - N1 * gamma * c3 + qn * gamma * rate * c3
    q_gamma -= N0 * rate * (c3 + 3.0 * gamma * gamma / sigma**5)
    both = p_gamma + q_gamma
    by_k = add(add(scale(-c1, P), scale(-gamma * rate * c3, Q)), add(scale(both, n), scale(q_rate, n1)))
    q_n = rate * (c1 + gamma * gamma * c3)
    by_n = add(add(scale(gamma * c1, P), scale(q_n, Q)), add(scale(both, k), scale(q_rate, k1)))
    by_k1, by_n1 = add(scale(-c1, Q), scale(q_rate, n)), add(scale(gamma * c1, Q), scale(q_rate, k))
    by_k = add(by_k, cross(by_k1, wi))  # k1 = w_i x k
    by_n = add(by_n, cross(by_n1, wj))
    return add(gi, scale(R, cross(k, by_k))), scale(R, cross(n, by_n))
