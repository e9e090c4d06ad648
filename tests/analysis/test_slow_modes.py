"""Slow modes beside very fast ones: strips of steel a thousandth of their length thick, and less."""

from math import sqrt

import numpy as np
import pytest

import index3 as ix

LENGTH, YOUNG, DENSITY = 10.0, 2e11, 7800.0
CLAMPED, FREE = (3.51602, 22.0345), 22.3733  # roots of cosh x cos x = -1 and 1, squared


def strip(kind, height, *, free=False, along=(1.0, 0.0), **settings):
    """A strip without gravity, clamped at its start or free."""
    model = ix.Model("strip", gravity=(0, 0, 0))
    end = LENGTH * np.array((*along, 0.0)) / np.hypot(*along)
    settings = {"height": height, "width": height, "elements": 6, "young": YOUNG, "density": DENSITY} | settings
    if kind == "AncfBeam":
        beam = ix.AncfBeam("strip", (0, 0), end[:2], law="elastic-line", poisson=0.3, **settings)
    else:
        beam = ix.AncfBeam3D("strip", (0, 0, 0), end, poisson=0.3, **settings)
    model.add(beam)
    if not free:
        model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    return model, sqrt(YOUNG * height**2 / 12 / DENSITY) / LENGTH**2


@pytest.mark.parametrize("kind", ["AncfBeam", "AncfBeam3D"])
@pytest.mark.parametrize(("height", "along"), [(0.01, (1.0, 0.0)), (0.002, (1.0, 2.0)), (0.0005, (1.0, 0.0))])
def test_a_slender_strip_has_its_lowest_frequencies(kind, height, along):
    """Its sections vibrate 1e6 to 1e9 times as fast: in A nothing is left of bending beside them."""
    model, unit = strip(kind, height, along=along)
    linear = ix.linearize(model)
    bending = linear.frequencies[: 2 if kind == "AncfBeam" else 4] / unit
    expected = CLAMPED if kind == "AncfBeam" else np.repeat(CLAMPED, 2)
    assert bending == pytest.approx(expected, rel=3e-4)  # six elements: 1e-4 in the second
    assert not any("equilibrium" in note for note in linear.notes)  # a straight strip is one, to rounding


@pytest.mark.parametrize("damping", [0.0, 0.01])
@pytest.mark.parametrize(("kind", "count"), [("AncfBeam", 3), ("AncfBeam3D", 6)])
def test_a_free_strip_moves_freely(kind, count, damping):
    """As many zeros as it has rigid motions (with damping each is two: a place and a speed), and none besides."""
    model, unit = strip(kind, 0.002, free=True, damping=damping, elements=3)
    linear = ix.linearize(model)
    zeros = count if damping == 0.0 else 2 * count
    assert np.count_nonzero(linear.frequencies == 0.0) == zeros
    assert linear.frequencies[zeros] / unit == pytest.approx(FREE, rel=5e-3)  # of three elements
    assert linear.damping_ratios[zeros] == pytest.approx(0.5 * damping * linear.frequencies[zeros], rel=1e-6)


@pytest.mark.parametrize("damping", [0.01, (0.01, 0.0), (0.004, 0.02)])
def test_a_slender_strip_is_damped_as_it_was_told(damping):
    model, unit = strip("AncfBeam", 0.002, damping=damping)
    linear = ix.linearize(model)
    per_mass, per_stiffness = damping if isinstance(damping, tuple) else (0.0, damping)
    w = linear.frequencies[:2]
    assert w / unit == pytest.approx(CLAMPED, rel=3e-4)
    assert linear.damping_ratios[:2] == pytest.approx(0.5 * (per_mass / w + per_stiffness * w), rel=1e-6)


def test_slow_shapes_are_those_of_bending():
    """The tip moves by 1, its turn is 1.3765 times that over the length (the first mode of a cantilever)."""
    model, _ = strip("AncfBeam", 0.0005)
    mode = ix.linearize(model).modes[0]
    tip = mode.shape[-6:] / mode.shape[-5]  # x, y, r_x, r_y of the last node
    turn = 1.376506 / LENGTH
    assert tip == pytest.approx([0.0, 1.0, 0.0, turn, -turn, 0.0], abs=1e-6)  # the digits of the constant


@pytest.mark.parametrize("damping", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("moving", ["wheel", "coin"])
def test_what_moves_keeps_its_slow_modes_beside_a_strong_damper(moving, damping):
    """They were all zero beyond a part of 3e-7 of the damper's rate: a vibration of 1 rad/s beside 1e7 1/s."""
    model = ix.Model("beside", gravity=(0, 0, -9.81))
    if moving == "wheel":
        body = model.add(ix.RigidBody("wheel", 1.0, (1, 1, 1), angular_velocity=(0, 0, 5)))
        model.add(ix.Revolute("axle", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
        own, zeros = [], 2
    else:  # a disc that rolls straight on: a zero of multiplicity six beside its lean
        up = (0.5**0.5, -(0.5**0.5), 0, 0)
        spin, moves = (0, 10.0, 0), (3.0, 0, 0)
        body = model.add(
            ix.RigidBody("coin", 1.0, (0.0225, 0.0225, 0.045), position=(0, 0, 0.3), orientation=up, velocity=moves,
                         angular_velocity=spin)
        )  # fmt: skip
        model.add(
            ix.RollingDisc("rim", model.ground, body, radius=0.3, at=(0, 0, 0.3), axis=(0, 1, 0), normal=(0, 0, 1))
        )
        own, zeros = [np.sqrt((0.045 * (0.045 + 0.09) * 100 / 0.0225 - 9.81 * 0.3) / (0.0225 + 0.09))], 6
    for name, place, c in (("free", 3.0, 0.2), ("stiff", 5.0, damping)):
        mass = model.add(ix.PointMass(name, 1.0, position=(0, place, 0)))
        model.add(ix.Bushing(f"on {name}", model.ground, mass, at=(0, place, 0), stiffness=(1, 4, 9), damping=(c,) * 3))
    linear = ix.linearize(model)
    assert np.count_nonzero(linear.frequencies == 0.0) >= zeros
    waves = linear.frequencies[(linear.frequencies > 0.5) & (linear.frequencies < 1e3)]
    assert waves == pytest.approx(sorted([1.0, 2.0, 3.0, *own]), rel=1e-6)  # of 1e9 1/s, 16 digits leave 1e-7 of 1
    if damping <= 1e5:  # 1e10 apart; what is 1e14 slower than the damper is lost beside the zeros that are split off
        slow = linear.eigenvalues.real[(linear.frequencies > 0.0) & (linear.frequencies < 0.5)]
        assert -np.sort(-slow) == pytest.approx(-np.array((1, 4, 9)) / damping, rel=1e-2)
        assert np.count_nonzero(linear.frequencies == 0.0) == zeros
