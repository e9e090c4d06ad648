"""Polynomials between the two ends of a step, by values and derivatives there; q0, v0, a0 at the old end, q1, v1, a1 at
the new one, x in [0, 1] on the way, h the step."""

from __future__ import annotations

from index3.compiled.interface import helper


@helper
def hermite(x):
    """Cubic Hermite weights: value old, slope old, value new, slope new; then their derivatives."""
    y = 1.0 - x
    return (
        (1.0 + 2.0 * x) * y * y, x * y * y, x * x * (3.0 - 2.0 * x), -x * x * y,
        -6.0 * x * y, y * (1.0 - 3.0 * x), 6.0 * x * y, x * (3.0 * x - 2.0),
    )  # fmt: skip


@helper
def hermite_between(t, times, values, slopes, ends):
    """The value at t between the nodes `ends[0]` and `ends[1]`, by cubics from node to node."""
    k = ends[0]
    while k < ends[1] - 1 and t > times[k + 1]:
        k += 1
    h = times[k + 1] - times[k]
    w = hermite((t - times[k]) / h)
    return w[0] * values[k] + w[2] * values[k + 1] + h * (w[1] * slopes[k] + w[3] * slopes[k + 1])


@helper
def fill_cubic(x, h, q0, v0, q1, v1, q, v):
    """q of degree 3, and its derivative v."""
    w = hermite(x)
    for k in range(q.shape[0]):
        q[k] = w[0] * q0[k] + w[1] * h * v0[k] + w[2] * q1[k] + w[3] * h * v1[k]
        v[k] = (w[4] * q0[k] + w[6] * q1[k]) / h + w[5] * v0[k] + w[7] * v1[k]


AGREE, BENT = 0.1, 4.0
"""What rates at both ends may be off the mean rate of a step together, in parts of what they are apart; and how many
times more they may bend a state inside the step than the states at its ends and before it suggest."""


@helper
def state_between(x, h, v0, f0, v1, f1, earlier, before, allowed, other):
    """A first-order state inside a step: the cubic by its rates at both ends, or what is bent less than that.

    Where a stiff part decays within the step, or rounding is large in its rates, rates do not tell what is between:
    `other` does, which follows from the integral, or the parabola through both ends and `before`, the state a time
    `earlier` than the old one (0 in the first step). `allowed` is the error allowed.
    """
    way = v1 - v0
    s0, s1, bend = h * f0 - way, h * f1 - way, 0.0
    if earlier > 0.0:
        bend = h * h * (way / h - (v0 - before) / earlier) / (h + earlier)
        line, off = v0 + x * way, bend * x * (1.0 - x)
        other = line - off if abs(off) < abs(other - line) else other
    plain = earlier > 0.0 and abs(s0 - s1) / 8.0 > BENT * abs(bend) / 4.0 + allowed
    if plain or abs(s0 + s1) > AGREE * (abs(s0) + abs(s1)):
        return other
    w = hermite(x)
    return w[0] * v0 + w[2] * v1 + h * (w[1] * f0 + w[3] * f1)


@helper
def bends(h, q0, v0, a0, q1, v1, a1, allowed):
    """Second derivatives at both ends for the polynomial of degree 5 of a coordinate: a0, a1, or those of the cubic.

    Errors of a stiff motion that no weight notices are large in its accelerations, times h^2 in a step that is long
    beside its periods: at rest by rounding. So accelerations do not count where the polynomials differ by more than
    the error allowed in the coordinate and by more than the cubic itself is bent.
    """
    mean = (q1 - q0) / h
    c0, c1 = (6.0 * mean - 4.0 * v0 - 2.0 * v1) / h, (4.0 * v1 + 2.0 * v0 - 6.0 * mean) / h
    apart = abs(a0 - c0) + abs(a1 - c1)
    if apart > abs(c0) + abs(c1) and h * h / 64.0 * apart > allowed:
        return c0, c1
    return a0, a1


@helper
def fill_quintic(x, h, q0, v0, a0, q1, v1, a1, allowed, q, v):
    """q of degree 5, and its derivative v; `allowed`: errors, absolute and in parts of magnitudes, and these."""
    atol, rtol, largest = allowed
    x2, x3, x4 = x * x, x**3, x**4
    p1, p2, p3 = x3 * (10.0 - 15.0 * x + 6.0 * x2), x3 * (-4.0 + 7.0 * x - 3.0 * x2), 0.5 * x3 * (1.0 - x) * (1.0 - x)
    r2, r3 = x - x3 * (6.0 - 8.0 * x + 3.0 * x2), 0.5 * x2 * (1.0 - x) ** 3
    d1, d2, d3 = 30.0 * x2 * (1.0 - x) ** 2, -12.0 * x2 + 28.0 * x3 - 15.0 * x4, 0.5 * (3.0 * x2 - 8.0 * x3 + 5.0 * x4)
    e2, e3 = 1.0 - 18.0 * x2 + 32.0 * x3 - 15.0 * x4, 0.5 * (2.0 * x - 9.0 * x2 + 12.0 * x3 - 5.0 * x4)
    for k in range(q.shape[0]):
        b0, b1 = bends(h, q0[k], v0[k], a0[k], q1[k], v1[k], a1[k], atol[k] + rtol * largest[k])
        q[k] = q0[k] + p1 * (q1[k] - q0[k]) + h * (r2 * v0[k] + p2 * v1[k]) + h * h * (r3 * b0 + p3 * b1)
        v[k] = d1 * (q1[k] - q0[k]) / h + e2 * v0[k] + d2 * v1[k] + h * (e3 * b0 + d3 * b1)


@helper
def fill_middle(h, q0, v0, a0, q1, v1, a1, allowed, quintic, q, v):
    """q in the middle of the step, of degree 5 or 3, and the rates there of degree 3."""
    atol, rtol, largest = allowed
    for k in range(q.shape[0]):
        q[k] = 0.5 * (q0[k] + q1[k]) + h / 8.0 * (v0[k] - v1[k])
        v[k] = 1.5 * (q1[k] - q0[k]) / h - 0.25 * (v0[k] + v1[k])
        if quintic:
            b0, b1 = bends(h, q0[k], v0[k], a0[k], q1[k], v1[k], a1[k], atol[k] + rtol * largest[k])
            q[k] += h / 32.0 * (v0[k] - v1[k]) + h * h / 64.0 * (b0 + b1)
