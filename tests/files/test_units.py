"""Units of files: every dimension converted, none guessed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from file_examples import EXAMPLES

import index3 as ix
from index3.files.entries import ENTRIES
from index3.files.kinds import Place
from index3.files.read import model_of
from index3.files.units import UNITS, Units
from index3.files.write import data_of

OTHER = {"length": "mm", "mass": "g", "time": "ms", "angle": "deg", "force": "kN"}
WITHOUT_UNIT = {("Coupler", "terms"), ("Coupler", "constant"), ("States", "initial")}
WITHOUT_UNIT |= {("CurveCoupler", key) for key in ("x", "y", "period")}
WITHOUT_UNIT |= {("ModalBody.from_data", "data"), ("ModalBody.from_data", "q0")}


def test_factors_are_exact_where_they_can_be():
    units = Units({"length": "mm", "angle": "deg"})
    assert units.factor("force/length") == 1000.0
    assert units.factor("mass*length^2") == 1e-6
    assert units.factor("force*length/angle") == 1e-3 / (math.pi / 180.0)
    assert units.factor("1") == 1.0
    assert Units({}).is_si
    assert all(next(iter(known.values())) == 1.0 for known in UNITS.values())


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_field_has_a_dimension_or_refuses(name):
    model = EXAMPLES[name]()
    refused = set()
    for section in ("bodies", "states", "joints", "motions", "forces"):
        for entry in data_of(model).get(section, []):
            place = Place(model, Units(OTHER), entry)
            for key, kind in ENTRIES[entry["type"]].kinds.items():
                try:
                    if key in entry:
                        kind.read(entry[key], place)
                except ix.ModelError as error:
                    refused.add((entry["type"], key, str(error).partition(",")[0]))
    assert {(word, key) for word, key, _ in refused} <= WITHOUT_UNIT
    assert {problem for *_, problem in refused} <= {"its unit is not fixed"}


def both(sections: dict, in_units: dict) -> tuple[ix.Model, ix.Model]:
    """A model in SI units, and one in others."""
    return model_of({"index3": 1, **sections}), model_of({"index3": 1, "units": OTHER, **in_units})


def numbers(data) -> list[float]:
    """All numbers of an entry, in order."""
    if isinstance(data, dict):
        return [x for value in data.values() for x in numbers(value)]
    if isinstance(data, list):
        return [x for value in data for x in numbers(value)]
    return [float(data)] if isinstance(data, float | int) else []


def body(scale: bool) -> dict:
    """A body in SI units, or in mm, g, ms, deg."""
    L, M, T, A = (1e3, 1e3, 1e3, 180.0 / math.pi) if scale else (1.0, 1.0, 1.0, 1.0)
    return {
        "type": "RigidBody", "name": "a", "mass": 2.0 * M, "inertia": [0.1 * M * L**2, 0.2 * M * L**2, 0.15 * M * L**2],
        "position": [0.1 * L, 0.2 * L, 0.3 * L], "velocity": [0.4 * L / T, 0.0, 0.0],
        "angular_velocity": [0.0, 0.5 * A / T, 0.0], "shape": {"type": "sphere", "radius": 0.1 * L},
    }  # fmt: skip


def elements(scale: bool) -> dict:
    """A mechanism in SI units, or in mm, g, ms, deg, kN."""
    L, M, T, A, F = (1e3, 1e3, 1e3, 180.0 / math.pi, 1e-3) if scale else (1.0, 1.0, 1.0, 1.0, 1.0)
    turn = f"{30.0 * math.pi / 180.0 * A!r}*sin(2*t/{T!r})"
    law = f"{F!r}*(1e4*x/{L!r} + 1e6*(x/{L!r})**3)"
    curve = {"table": {"x": [-1.0 * L / T, 0.0, 1.0 * L / T], "y": [-50.0 * F, 0.0, 80.0 * F]}}
    contact = {"stiffness": 1e6 * F / L**1.5, "damping": 0.3 * T / L, "stick_velocity": 0.01 * L / T}
    return {
        "gravity": [0.0, 0.0, -9.81 * L / T**2],
        "bodies": [body(scale)],
        "joints": [
            {"type": "Revolute", "name": "pin", "first": "ground", "second": "a", "at": [0.1 * L, 0, 0],
             "axis": [0, 1, 0]}
        ],
        "motions": [{"type": "Motion", "name": "m", "joint": "pin", "f": {"expression": turn}}],
        "forces": [
            {"type": "SpringDamper", "name": "s", "first": "ground", "second": "a", "length": 0.1 * L, "force": 3.0 * F,
             "points": [[0, 0, 1.0 * L], [0, 0, 0.5 * L]], "stiffness": {"expression": law}, "damping": curve},
            {"type": "RotationalSpringDamper", "name": "r", "joint": "pin", "stiffness": 7.0 * F * L / A,
             "damping": 0.2 * F * L * T / A, "free_angle": 0.1 * A, "torque": 2.0 * F * L},
            {"type": "Bushing", "name": "b", "first": "ground", "second": "a", "at": [0, 0, 0],
             "stiffness": [[1e3 * F / L, 0, 0, 5.0 * F / A, 0, 0], [0, 1e3 * F / L, 0, 0, 0, 0],
                           [0, 0, 1e3 * F / L, 0, 0, 0], [5.0 * F, 0, 0, 20.0 * F * L / A, 0, 0],
                           [0, 0, 0, 0, 20.0 * F * L / A, 0], [0, 0, 0, 0, 0, 20.0 * F * L / A]],
             "damping": [1.0 * F * T / L] * 3 + [2.0 * F * L * T / A] * 3,
             "preload": [1.0 * F] * 3 + [2.0 * F * L] * 3},
            {"type": "Force", "name": "f", "on": "a",
             "vector": [0, 2.0 * F, {"table": {"t": [0, 1.0 * T], "y": [0, F]}}]},
            {"type": "Drag", "name": "d", "on": "a", "coefficient": 0.3, "area": 0.5 * L**2, "density": 1.2 * M / L**3,
             "wind": [1.0 * L / T, 0, 0]},
            {"type": "AddedMass", "name": "w", "on": "a", "mass": 0.2 * M, "inertia": [0.1 * M * L**2] * 3,
             "coupling": [[0, 0.01 * M * L, 0], [0, 0, 0], [0, 0, 0]]},
            {"type": "JointLimit", "name": "l", "joint": "pin", "lower": -1.0 * A, "stiffness": 9.0 * F * L / A**1.5,
             "damping": 0.1 * F * L * T / A, "exponent": 1.5, "onset": 0.01 * A},
            {"type": "Contact", "name": "c", "first": "a", "second": "ground",
             "shapes": [{"type": "Sphere", "radius": 0.1 * L}, {"type": "Plane"}], **contact},
            {"type": "PointGravity", "name": "g", "body": "a", "mu": 4.0 * L**3 / T**2,
             "centre": {"body": "ground", "position": [9.0 * L, 0, 0]}},
            {"type": "Tyre", "name": "t", "wheel": "a", "on": "ground", "radius": 0.1 * L, "stiffness": 1e5 * F / L,
             "damping": 10.0 * F * T / L,
             "road": {"type": "bump", "start": 1.0 * L, "length": 2.0 * L, "height": 0.1 * L, "speed": 3.0 * L / T}},
        ],
    }  # fmt: skip


def test_a_mechanism_in_other_units_is_the_same():
    one, two = both(elements(False), elements(True))
    first, second = data_of(one), data_of(two)
    # formulas differ in their text: compared by value; all other numbers up to a few roundings of the factors
    assert two["m"].functions[0](0.3) == pytest.approx(one["m"].functions[0](0.3), rel=1e-13)
    assert two["m"].functions[2](0.3) == pytest.approx(one["m"].functions[2](0.3), rel=1e-13)
    assert two["s"].stiffness(0.02) == pytest.approx(one["s"].stiffness(0.02), rel=1e-13)
    assert two["s"].stiffness.derivative(0.02) == pytest.approx(one["s"].stiffness.derivative(0.02), rel=1e-13)
    assert len(numbers(first)) == len(numbers(second)) > 100
    np.testing.assert_allclose(numbers(second), numbers(first), rtol=1e-13, atol=1e-300)


def test_what_has_no_fixed_unit_is_refused_by_name():
    data = data_of(EXAMPLES["States"]()) | {"units": {"length": "mm"}}
    with pytest.raises(ix.ModelError, match="initial: its unit is not fixed, and the file has length in mm"):
        model_of(data)
