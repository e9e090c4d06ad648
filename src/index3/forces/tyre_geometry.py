"""Where a tyre meets the road, how it moves there, and the changes of both; helpers of kernels.

Wheel centre r_i with spin axis a, road marker r_j with axes x, z; X = x . (r_i - r_j) + speed t, road height h(X):

    height H = z . (r_i - r_j) - h,
    normal n = (z - h' x) N with N = (1 + h'^2)^(-1/2)  (n = z if only the height counts),
    m = (n - (n.a) a) / g in the wheel's plane, g = (1 - (n.a)^2)^(1/2)  (m = n, g = 1 without camber),
    loaded radius rho = H N / g, contact point c = r_i - rho m, deflection delta = R - rho,
    directions e_x = a x n / |a x n| forward, e_y = n x e_x to the left.

u is the velocity of the wheel relative to the road at c as if both were rigid, u_c that of the wheel's centre.
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.vectors import add, cross, dot, load, load_at, norm, scale, sub
from index3.compiled import slots as s
from index3.compiled.interface import helper, view
from index3.constraints.rows import axis
from index3.forces.road import height_at

NOWHERE = (0.0, 0.0, 0.0)


@helper
def road_below(T, tyre, knots):
    """(x, z, d, H, slope, curvature, N, n) of the road under the wheel; slope 0 if only the height counts."""
    r, A, t = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.TIME)[0]
    x, z, d = axis(A, tyre.j, 0), axis(A, tyre.j, 2), sub(load(r, tyre.i), load(r, tyre.j))
    height, slope, curvature = height_at(tyre, knots, dot(x, d) + tyre.speed * t)
    tilt = slope * tyre.sloped
    N = 1.0 / sqrt(1.0 + tilt * tilt)
    return x, z, d, dot(z, d) - height, slope, curvature, N, scale(N, sub(z, scale(tilt, x)))


@helper
def meet_road(T, tyre, knots):
    """(delta, n, c) of a tyre; the loaded radius is R - delta."""
    _, _, _, H, _, _, N, n = road_below(T, tyre, knots)
    a, ri = axis(view(T, s.MARKER_A), tyre.i, 2), load(view(T, s.MARKER_R), tyre.i)
    q = dot(n, a) * tyre.cambered
    g = sqrt(1.0 - q * q)
    rho = H * N / g
    return tyre.radius - rho, n, sub(ri, scale(rho / g, sub(n, scale(q, a))))


@helper
def meet_road_rate(T, tyre, knots, dri, ti, drj, tj):
    """Changes of `meet_road` while the wheel's marker moves by (dri, ti) and the road's by (drj, tj)."""
    x, z, d, H, slope, curvature, N, n = road_below(T, tyre, knots)
    a = axis(view(T, s.MARKER_A), tyre.i, 2)
    dx, dz, dd, da = cross(tj, x), cross(tj, z), sub(dri, drj), cross(ti, a)
    dX = dot(dx, d) + dot(x, dd)
    dH = dot(dz, d) + dot(z, dd) - slope * dX
    tilt, dtilt = slope * tyre.sloped, curvature * tyre.sloped * dX
    dN = -tilt * dtilt * N * N * N
    dn = add(scale(N, sub(dz, add(scale(dtilt, x), scale(tilt, dx)))), scale(dN / N, n))
    q, dq = dot(n, a) * tyre.cambered, (dot(dn, a) + dot(n, da)) * tyre.cambered
    g = sqrt(1.0 - q * q)
    dg, rho = -q * dq / g, H * N / g
    m = scale(1.0 / g, sub(n, scale(q, a)))
    dm = scale(1.0 / g, sub(sub(dn, add(scale(dq, a), scale(q, da))), scale(dg, m)))
    drho = (dH * N + H * dN - rho * dg) / g
    return -drho, dn, sub(dri, add(scale(drho, m), scale(rho, dm)))


@helper
def directions(T, tyre, n):
    """(e_x, e_y)."""
    k = cross(axis(view(T, s.MARKER_A), tyre.i, 2), n)
    length = norm(k)
    e = scale(1.0 / length, k) if length > 0.0 else NOWHERE
    return e, cross(n, e)


@helper
def directions_rate(T, tyre, n, dn, ti):
    """Changes of `directions` while the wheel turns by ti."""
    a = axis(view(T, s.MARKER_A), tyre.i, 2)
    k, dk = cross(a, n), add(cross(cross(ti, a), n), cross(a, dn))
    length = norm(k)
    e = scale(1.0 / length, k)
    de = scale(1.0 / length, sub(dk, scale(dot(e, dk), e)))
    return de, add(cross(dn, e), cross(n, de))


@helper
def velocities(T, tyre, c):
    """(u, u_c): the wheel at the contact point and at its centre, relative to the road at the contact point."""
    r, A, V = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V)
    i, j = tyre.i, tyre.j
    road = add(load_at(V, j, 0), cross(load_at(V, j, 3), sub(c, load(r, j))))
    centre = add(sub(load_at(V, i, 0), road), scale(tyre.speed, axis(A, j, 0)))
    return add(centre, cross(load_at(V, i, 3), sub(c, load(r, i)))), centre


@helper
def velocities_by_place(T, tyre, dc, dri, drj, tj):
    """Changes of `velocities` with the place, at constant twists."""
    A, V = view(T, s.MARKER_A), view(T, s.MARKER_V)
    i, j = tyre.i, tyre.j
    centre = sub(scale(tyre.speed, cross(tj, axis(A, j, 0))), cross(load_at(V, j, 3), sub(dc, drj)))
    return add(centre, cross(load_at(V, i, 3), sub(dc, dri))), centre


@helper
def velocities_by_twist(T, tyre, c, dvi, dwi, dvj, dwj):
    """Changes of `velocities` with the twists."""
    r = view(T, s.MARKER_R)
    centre = sub(dvi, add(dvj, cross(dwj, sub(c, load(r, tyre.j)))))
    return add(centre, cross(dwi, sub(c, load(r, tyre.i)))), centre
