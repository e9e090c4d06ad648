"""Frames that turn with vectors: their axes, and the rate of their turn with all its derivatives.

The frame of two vectors a and b has its first axis along a and its third along n = a x b. Its angular velocity is
linear in the rates a', b':

    w = a x a' / (a . a) + a (b' . n - (a . b) (a' . n) / (a . a)) / (n . n).

The first part is the turn of the line along a; a line alone has no more. To have derivatives of the formula without
writing it again, it is made of jets: (f, f_y, f_z, f_yz), a number with its derivatives along two directions.
"""

from __future__ import annotations

from math import sqrt

from index3.algebra.vectors import add, cross, dot, scale
from index3.compiled.interface import helper


@helper
def jet_add(p, q):
    """p + q."""
    return (p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3])


@helper
def jet_sub(p, q):
    """p - q."""
    return (p[0] - q[0], p[1] - q[1], p[2] - q[2], p[3] - q[3])


@helper
def jet_times(p, q):
    """p q."""
    return (
        p[0] * q[0],
        p[1] * q[0] + p[0] * q[1],
        p[2] * q[0] + p[0] * q[2],
        p[3] * q[0] + p[1] * q[2] + p[2] * q[1] + p[0] * q[3],
    )


@helper
def jet_over(p, q):
    """p / q."""
    i = 1.0 / q[0]
    y, z = -q[1] * i * i, -q[2] * i * i
    return jet_times(p, (i, y, z, -(q[3] + 2.0 * y * q[2] * q[0]) * i * i))


@helper
def jets(x, y, z, yz):
    """A vector of jets from a vector and its derivatives."""
    return ((x[0], y[0], z[0], yz[0]), (x[1], y[1], z[1], yz[1]), (x[2], y[2], z[2], yz[2]))


@helper
def part(u, k):
    """The vector of one of the four numbers of a vector of jets."""
    return (u[0][k], u[1][k], u[2][k])


@helper
def jet_dot(u, w):
    """u . w."""
    return jet_add(jet_add(jet_times(u[0], w[0]), jet_times(u[1], w[1])), jet_times(u[2], w[2]))


@helper
def jet_cross(u, w):
    """u x w."""
    return (
        jet_sub(jet_times(u[1], w[2]), jet_times(u[2], w[1])),
        jet_sub(jet_times(u[2], w[0]), jet_times(u[0], w[2])),
        jet_sub(jet_times(u[0], w[1]), jet_times(u[1], w[0])),
    )


@helper
def jet_scale(c, u):
    """c u."""
    return (jet_times(c, u[0]), jet_times(c, u[1]), jet_times(c, u[2]))


@helper
def line_turn(a, a_rate):
    """The turn of the line along a, of jets."""
    return jet_scale(jet_over((1.0, 0.0, 0.0, 0.0), jet_dot(a, a)), jet_cross(a, a_rate))


@helper
def frame_turn(a, b, a_rate, b_rate):
    """The turn of the frame of a and b, of jets."""
    n, w = jet_cross(a, b), line_turn(a, a_rate)
    share = jet_over(jet_dot(a, b), jet_dot(a, a))
    about = jet_sub(jet_dot(b_rate, n), jet_times(share, jet_dot(a_rate, n)))
    spin = jet_scale(jet_over(about, jet_dot(n, n)), a)
    return (jet_add(w[0], spin[0]), jet_add(w[1], spin[1]), jet_add(w[2], spin[2]))


@helper
def line_torque(a, torque):
    """What a torque on the line along a is on a: the transpose of `line_turn`."""
    return scale(1.0 / dot(a, a), cross(torque, a))


@helper
def frame_torque(a, b, torque):
    """What a torque on the frame of a and b is on a and on b: the transpose of `frame_turn`."""
    n = cross(a, b)
    by_b = scale(dot(a, torque) / dot(n, n), n)
    return add(line_torque(a, torque), scale(-dot(a, b) / dot(a, a), by_b)), by_b


@helper
def frame_axes(a, b):
    """The three axes of the frame of a and b."""
    n = cross(a, b)
    first, third = scale(1.0 / sqrt(dot(a, a)), a), scale(1.0 / sqrt(dot(n, n)), n)
    return first, cross(third, first), third


@helper
def turned_back(x, half, pole):
    """x turned by half a turn about `half` (or, where that vanishes, about `pole`)."""
    size = dot(half, half)
    if size < 1e-24:  # the two directions are opposite but for rounding
        half, size = pole, dot(pole, pole)
    return add(scale(2.0 * dot(half, x) / size, half), scale(-1.0, x))


@helper
def carried_axes(x, y, z, a):
    """Axes x, y, z turned by the smallest rotation that brings x along a; x is along a exactly.

    That is a half turn about x and one about the bisector of x and a.
    """
    first = scale(1.0 / sqrt(dot(a, a)), a)
    half = add(x, first)
    return first, turned_back(scale(-1.0, y), half, z), turned_back(scale(-1.0, z), half, z)
