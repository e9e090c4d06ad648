"""A rod on a revolute joint: the smallest mechanism, against its formula.

    python examples/pendulum.py

Released from rest at the horizontal, a uniform rod of length L passes its lowest point with angular velocity
sqrt(3 g / L).
"""

from math import sqrt

import index3 as ix

LENGTH = 1.0  # m


def model() -> ix.Model:
    """The rod starts along x; the pin at the origin turns about y."""
    m = ix.Model("pendulum")
    rod = m.add(ix.RigidBody.rod("rod", (0, 0, 0), (LENGTH, 0, 0), mass=2.0))
    m.add(ix.Revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    return m


def main() -> None:
    """Print the largest angular velocity and pin force of two seconds, and formulas."""
    result = ix.simulate(model(), (0.0, 2.0), rtol=1e-8, t_eval=0.001)
    fastest = abs(result["rod"].angular_velocity[:, 1]).max()
    formula = sqrt(3 * 9.80665 / LENGTH)
    print(
        f"largest angular velocity {fastest:.5f} rad/s, by formula {formula:.5f} rad/s"
    )
    largest = abs(result["pin"].force[:, 2]).max()
    print(f"largest pin force {largest:.3f} N, by formula {2.5 * 2.0 * 9.80665:.3f} N")


if __name__ == "__main__":
    main()
