"""Rotors seen from axes that turn with them: a disc on a flexible shaft, blades with lead-lag hinges on a soft hub."""

import numpy as np
import pytest

import index3 as ix

Z = (0, 0, 1)


@pytest.mark.parametrize("spin", [0.0, 100.0, 500.0])
def test_whirl_of_a_disc_on_a_shaft(spin):
    """The shaft of MBDyn's tests/beam/rotordynamics.mbd, its disc off the middle; speeds of whirl by Stodola and Green.

    Reference: a disc with four degrees of freedom on a massless Bernoulli beam on two pins, whose flexibility where
    the disc sits is that of any handbook; gyroscopic moments Jp Omega. The shaft here has a thousandth of its mass.
    """
    length, at, d, D, width, density, young = 0.35, 0.25, 0.01, 0.15, 0.015, 7850.0, 2.1e11
    a, b, bending = at, length - at, young * np.pi * d**4 / 64
    mass = density * np.pi * D**2 / 4 * width
    across, along = mass * (D**2 / 16 + width**2 / 12), mass * D**2 / 8
    flexibility = np.array([[a * a * b * b, a * b * (b - a)], [a * b * (b - a), (a**3 + b**3) / length]])
    stiffness = np.linalg.inv(flexibility / (3 * bending * length))  # of deflection and slope
    M = np.diag([mass, across])
    gyro = np.diag([0.0, along * spin])
    zero = np.zeros((2, 2))
    # forward and backward whirl as one complex plane: M z'' - i G z' + K z = 0
    A = np.block([[zero, np.eye(2)], [-np.linalg.solve(M, stiffness), 1j * np.linalg.solve(M, gyro)]])
    whirl = np.linalg.eigvals(A).imag
    model = ix.Model("rotor", gravity=(0, 0, 0))
    steel = {"radius": d / 2, "young": young, "density": 1e-3 * density, "elements": 3, "y": (0, 1, 0)}
    turning = {"angular_velocity": (spin, 0, 0)}
    left = model.add(ix.AncfBeam3D("left", (0, 0, 0), (at, 0, 0), **steel, **turning))
    right = model.add(ix.AncfBeam3D("right", (at, 0, 0), (length, 0, 0), **steel, **turning))
    disc = model.add(ix.RigidBody("disc", mass, (along, across, across), position=(at, 0, 0), **turning))
    model.add(ix.Spherical("fixed bearing", model.ground, left, at=(0, 0, 0)))
    model.add(ix.Inline("sliding bearing", model.ground, right, at=(length, 0, 0), axis=(1, 0, 0)))
    model.add(ix.Fixed("hub", disc, left, at=(at, 0, 0)))
    model.add(ix.Fixed("collar", disc, right, at=(at, 0, 0)))
    linear = ix.linearize(model, frame="disc")
    for speed in whirl:  # 280 rad/s and 1240 rad/s at rest
        seen = abs(speed - spin)
        assert np.abs(linear.frequencies - seen).min() < 2e-3 * abs(speed)  # the mass of the shaft: 1e-3 seen
    assert linear.eigenvalues.real.max() < 1e-5


@pytest.mark.parametrize("spin", [20.0, 30.0])
def test_ground_resonance(spin):
    """Four blades with lead-lag hinges and dampers on a hub with springs, the numbers of Hammond's rotor.

    [Hammond, J. American Helicopter Society 19 (1974), 14-19], in MBDyn's tests/Hammond; its hub is made isotropic, so
    that with z = x + i y of the hub and p = sum of i zeta_k e^(i psi_k) the motion is two complex equations (Coleman):
    m z'' + c z' + k z + S p'' = 0,  I (D - i W)^2 p + c_l (D - i W) p + e S W^2 p + 2 S z'' = 0. At 30 rad/s it is
    unstable, 0.1202 1/s.
    """
    blade, first, second, e, lag = 94.9, 289.1, 1084.7, 0.3048, 4067.5
    hub, spring, damper = 3283.6, 1240481.8, 25539.3
    centre = first / blade
    own = second - blade * centre**2
    model = ix.Model("rotor", gravity=(0, 0, 0))
    carrier = model.add(ix.RigidBody("carrier", 1e-3, (1e-3,) * 3))
    head = model.add(ix.RigidBody("head", hub, (1, 1, 1), angular_velocity=(0, 0, spin)))
    model.add(ix.PointInPlane("level", model.ground, carrier, at=(0, 0, 0), axis=Z))
    model.add(ix.Orientation("upright", model.ground, carrier))
    shaft = model.add(ix.Revolute("shaft", carrier, head, at=(0, 0, 0), axis=Z))
    model.add(ix.Motion("drive", shaft, lambda t: spin * t, spin, 0.0))
    soft = {"stiffness": (spring, spring, 0), "damping": (damper, damper, 0)}
    model.add(ix.Bushing("legs", model.ground, carrier, at=(0, 0, 0), axis=Z, x=(1, 0, 0), **soft))
    for k in range(4):
        c, s = np.cos(k * np.pi / 2), np.sin(k * np.pi / 2)
        axes, at = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), (e + centre) * np.array([c, s, 0])
        motion = {"velocity": np.cross((0, 0, spin), at), "angular_velocity": (0, 0, spin)}
        arm = ix.RigidBody(f"blade{k}", blade, (1e-3 * own, own, own), position=at, orientation=axes, **motion)
        hinge = model.add(ix.Revolute(f"hinge{k}", head, model.add(arm), at=(e * c, e * s, 0), axis=Z))
        model.add(ix.RotationalSpringDamper(f"damper{k}", hinge, damping=lag))
    linear = ix.linearize(model, frame=(0, 0, spin))
    i = 1j * spin
    A2 = np.array([[hub + 4 * blade + 1e-3, first], [2 * first, second]])
    A1 = np.array([[damper, 0], [0, lag - 2 * i * second]])
    A0 = np.array([[spring, 0], [0, second * i**2 - lag * i + spin**2 * e * first]])
    zero = np.zeros((2, 2))
    expected = np.linalg.eigvals(np.block([[zero, np.eye(2)], [-np.linalg.solve(A2, A0), -np.linalg.solve(A2, A1)]]))
    assert bool(expected.real.max() > 0.12) is (spin == 30.0)
    found = np.concatenate([linear.eigenvalues, linear.eigenvalues.conj()])
    for value in expected:
        assert np.abs(found - (value - i)).min() < 1e-7 * abs(value)  # 1e-9 seen
    assert linear.stable is (spin == 20.0)
