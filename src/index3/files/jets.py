"""Numbers with their first two derivatives by one variable: (value, first, second), and what formulas do with them."""

from __future__ import annotations

import math
from collections.abc import Callable

Jet = tuple[float, float, float]


def constant(value: float) -> Jet:
    """A number that does not change."""
    return (value, 0.0, 0.0)


def add(a: Jet, b: Jet) -> Jet:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Jet, b: Jet) -> Jet:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def negate(a: Jet) -> Jet:
    """-a."""
    return (-a[0], -a[1], -a[2])


def multiply(a: Jet, b: Jet) -> Jet:
    """a b."""
    return (a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2])


def divide(a: Jet, b: Jet) -> Jet:
    """a / b."""
    value = a[0] / b[0]
    first = (a[1] - value * b[1]) / b[0]
    return (value, first, (a[2] - 2.0 * first * b[1] - value * b[2]) / b[0])


def chain(a: Jet, value: float, slope: float, curvature: float) -> Jet:
    """g(a), from g, g' and g'' at the value of a."""
    return (value, slope * a[1], curvature * a[1] * a[1] + slope * a[2])


def power(a: Jet, b: Jet) -> Jet:
    """a ** b; a negative base needs a constant whole exponent."""
    if b[1] == 0.0 and b[2] == 0.0:
        n = b[0]
        slope = n * a[0] ** (n - 1.0) if n != 0.0 else 0.0  # at a = 0 what has the factor 0 is 0, not 0 times infinity
        curvature = n * (n - 1.0) * a[0] ** (n - 2.0) if n not in (0.0, 1.0) else 0.0
        value = a[0] ** n
        if isinstance(value, complex):
            raise ValueError("a negative number has no such power")
        return chain(a, value, slope, curvature)
    return exp(multiply(b, log(a)))


def exp(a: Jet) -> Jet:
    """Exponential."""
    value = math.exp(a[0])
    return chain(a, value, value, value)


def log(a: Jet) -> Jet:
    """Natural logarithm."""
    return chain(a, math.log(a[0]), 1.0 / a[0], -1.0 / (a[0] * a[0]))


def sqrt(a: Jet) -> Jet:
    """Square root."""
    value = math.sqrt(a[0])
    if a[1] == 0.0 and a[2] == 0.0:  # constants may be zero
        return constant(value)
    return chain(a, value, 0.5 / value, -0.25 / (value * a[0]))


def sin(a: Jet) -> Jet:
    """Sine of an angle in rad."""
    s, c = math.sin(a[0]), math.cos(a[0])
    return chain(a, s, c, -s)


def cos(a: Jet) -> Jet:
    """Cosine of an angle in rad."""
    s, c = math.sin(a[0]), math.cos(a[0])
    return chain(a, c, -s, -c)


def tan(a: Jet) -> Jet:
    """Tangent of an angle in rad."""
    value = math.tan(a[0])
    slope = 1.0 + value * value
    return chain(a, value, slope, 2.0 * value * slope)


def asin(a: Jet) -> Jet:
    """Inverse sine."""
    if a[1] == 0.0 and a[2] == 0.0:
        return constant(math.asin(a[0]))
    square = 1.0 - a[0] * a[0]
    return chain(a, math.asin(a[0]), 1.0 / math.sqrt(square), a[0] / (square * math.sqrt(square)))


def acos(a: Jet) -> Jet:
    """Inverse cosine."""
    return subtract(constant(0.5 * math.pi), asin(a))


def atan(a: Jet) -> Jet:
    """Inverse tangent."""
    slope = 1.0 / (1.0 + a[0] * a[0])
    return chain(a, math.atan(a[0]), slope, -2.0 * a[0] * slope * slope)


def atan2(y: Jet, x: Jet) -> Jet:
    """Angle of the point (x, y): its rate is (y' x - y x') / (x^2 + y^2)."""
    square = x[0] * x[0] + y[0] * y[0]
    first = (y[1] * x[0] - y[0] * x[1]) / square
    second = (y[2] * x[0] - y[0] * x[2] - 2.0 * first * (x[0] * x[1] + y[0] * y[1])) / square
    return (math.atan2(y[0], x[0]), first, second)


def sinh(a: Jet) -> Jet:
    """Hyperbolic sine."""
    s, c = math.sinh(a[0]), math.cosh(a[0])
    return chain(a, s, c, s)


def cosh(a: Jet) -> Jet:
    """Hyperbolic cosine."""
    s, c = math.sinh(a[0]), math.cosh(a[0])
    return chain(a, c, s, c)


def tanh(a: Jet) -> Jet:
    """Hyperbolic tangent."""
    value = math.tanh(a[0])
    slope = 1.0 - value * value
    return chain(a, value, slope, -2.0 * value * slope)


def absolute(a: Jet) -> Jet:
    """|a|; the slope at zero is that to the right."""
    return negate(a) if a[0] < 0.0 else a


def smallest(*a: Jet) -> Jet:
    """The smallest of several, the first of equal ones."""
    return min(a, key=lambda x: x[0])


def largest(*a: Jet) -> Jet:
    """The largest of several, the first of equal ones."""
    return max(a, key=lambda x: x[0])


def cubic_step(x: Jet, x0: Jet, y0: Jet, x1: Jet, y1: Jet) -> Jet:
    """From y0 before x0 to y1 after x1 along s^2 (3 - 2 s): a continuous slope."""
    return ramp(x, x0, y0, x1, y1, lambda s: (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s), 6.0 - 12.0 * s))


def quintic_step(x: Jet, x0: Jet, y0: Jet, x1: Jet, y1: Jet) -> Jet:
    """From y0 before x0 to y1 after x1 along s^3 (10 - 15 s + 6 s^2): a continuous curvature."""
    return ramp(
        x, x0, y0, x1, y1,
        lambda s: (s**3 * (10.0 - 15.0 * s + 6.0 * s * s), 30.0 * (s * (1.0 - s)) ** 2,
                   60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)),
    )  # fmt: skip


def ramp(x: Jet, x0: Jet, y0: Jet, x1: Jet, y1: Jet, shape: Callable[[float], Jet]) -> Jet:
    """y0 + (y1 - y0) shape(s), s = (x - x0) / (x1 - x0) between 0 and 1."""
    if x0[0] >= x1[0]:
        raise ValueError(f"a step from {x0[0]:.6g} to {x1[0]:.6g} does not rise")
    if x[0] <= x0[0]:
        return y0
    if x[0] >= x1[0]:
        return y1
    s = divide(subtract(x, x0), subtract(x1, x0))
    return add(y0, multiply(subtract(y1, y0), chain(s, *shape(s[0]))))


FUNCTIONS: dict[str, tuple[Callable[..., Jet], int, int]] = {  # function, least and most arguments
    "sin": (sin, 1, 1), "cos": (cos, 1, 1), "tan": (tan, 1, 1), "asin": (asin, 1, 1), "acos": (acos, 1, 1),
    "atan": (atan, 1, 1), "atan2": (atan2, 2, 2), "exp": (exp, 1, 1), "log": (log, 1, 1), "sqrt": (sqrt, 1, 1),
    "abs": (absolute, 1, 1), "min": (smallest, 1, 50), "max": (largest, 1, 50), "sinh": (sinh, 1, 1),
    "cosh": (cosh, 1, 1), "tanh": (tanh, 1, 1), "step": (cubic_step, 5, 5), "step5": (quintic_step, 5, 5),
}  # fmt: skip
