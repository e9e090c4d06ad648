"""The mechanisms of the library: their names, data, closure and velocities, checked with NumPy alone."""

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from index3 import library
from index3.errors import ModelError

MODELS = {name: (lambda name=name: getattr(library, name)()) for name in library.names() if name != "chain"}
MODELS |= {
    "chain": lambda: library.chain(5),
    "chain with spring": lambda: library.chain(3, springs=True),
    "parallelogram 3": lambda: library.parallelogram(3, speed=-2.0),
    "atv": lambda: library.atv(settled=False),  # test_atv.py has it at rest
    "hmmwv50": lambda: library.hmmwv50(settled=False),  # test_cars.py has it at rest
    "another four-bar": lambda: library.four_bar((0.3, 1.1, 0.7, 0.9), speed=-1.5),
}
# bodies, coordinates, constraints, degrees of freedom, redundant rows
COUNTS = {
    "ancf_pendulum": (1, 18, 2, 16, 0),
    "andrews": (7, 21, 20, 1, 0),
    "atv": (29, 337, 192, 145, 0),
    "belt_drive": (105, 735, 130, 605, 0),
    "chain": (5, 35, 30, 5, 0),
    "chain with spring": (3, 21, 18, 3, 0),
    "crawler_track": (61, 427, 366, 61, 0),
    "double_pendulum": (2, 6, 4, 2, 0),
    "four_bar": (3, 21, 23, 1, 3),
    "another four-bar": (3, 21, 23, 1, 3),
    "free_double_pendulum": (2, 6, 4, 2, 0),
    "flexible_slider_crank": (3, 23, 13, 10, 0),
    "hmmwv14": (14, 98, 80, 18, 0),
    "hmmwv50": (50, 350, 320, 30, 0),
    "iltis": (1, 23, 22, 1, 0),
    "mass_spring": (4, 28, 25, 3, 0),
    "parallelogram": (3, 9, 8, 1, 0),
    "parallelogram 3": (7, 21, 20, 1, 0),
    "pendulum": (1, 7, 6, 1, 0),
    "slider_crank": (3, 21, 20, 1, 0),
    "spinning_top": (1, 7, 4, 3, 0),
}
REFERENCE = Path(__file__).parents[1] / "reference"
CLOSURE = 1e-12  # lengths are of order 1 m to 10 m: a few thousand roundings


def motion(body):
    """Velocity of the origin and angular velocity of a body at the start, in ground axes."""
    v, q = np.asarray(body.v0), np.asarray(body.q0)
    if body.kind in ("rigid", "modal"):
        e0, e, rate = q[3], q[4:7], v[3:7]
        E = np.column_stack((-e, e0 * np.eye(3) + np.cross(np.eye(3), e)))
        return v[:3], 2 * E @ rate
    if body.kind == "planar":
        return np.array((v[0], v[1], 0.0)), np.array((0.0, 0.0, v[2]))
    return (v, np.zeros(3)) if body.kind == "point" else (np.zeros(3), np.zeros(3))


def rows(joint):
    """Residuals of the rows of a joint at the start and their rates, written independently of the package."""
    (r1, A1), (r2, A2) = joint.first.pose(), joint.second.pose()
    (v1, w1), (v2, w2) = (point_motion(marker) for marker in (joint.first, joint.second))
    d, rate = r2 - r1, v2 - v1
    values, rates = [], []
    for primitive in joint.primitives():
        f = primitive.fields
        if primitive.kind == "coincident":
            values.extend(d)
            rates.extend(rate)
        elif primitive.kind == "perpendicular":
            a, b = A1[:, f["axis_first"]], A2[:, f["axis_second"]]
            values.append(a @ b - f["cosine"])
            rates.append(np.cross(w1, a) @ b + a @ np.cross(w2, b))
        elif primitive.kind == "in_plane":
            a = A1[:, f["axis_first"]]
            values.append(0.0 if f.get("driven") else a @ d - f["offset"])  # driven: held where it is
            rates.append(np.cross(w1, a) @ d + a @ rate)
        elif primitive.kind == "distance":
            length = np.linalg.norm(d)
            values.append(length - f["length"])
            rates.append(d @ rate / length)
        elif primitive.kind == "constant_velocity":
            values.append(0.5 * (A1[:, 0] @ A2[:, 1] - A1[:, 1] @ A2[:, 0]))
            rates.append(0.5 * (np.cross(A1[:, 0], A2[:, 1]) - np.cross(A1[:, 1], A2[:, 0])) @ (w1 - w2))
        elif primitive.kind == "angular_rate":
            rates.append(A1[:, 2] @ (w2 - w1))
        elif primitive.kind == "coupler":
            rates.append(sum(factor * coordinate_rate(*which) for factor, *which in f["terms"]))
        else:
            raise AssertionError(f"no formula for {primitive.kind} in this test")
    return np.array(values), np.array(rates)


def coordinate_rate(joint, coordinate):
    """Rate of the angle or displacement of a joint at the start."""
    (r1, A1), (r2, _) = joint.first.pose(), joint.second.pose()
    (v1, w1), (v2, w2) = (point_motion(marker) for marker in (joint.first, joint.second))
    return A1[:, 2] @ (w2 - w1 if coordinate == "angle" else v2 - v1 - np.cross(w1, r2 - r1))


def point_motion(marker):
    """Velocity of a marker and angular velocity of its body at the start."""
    v, w = motion(marker.body)
    return v + np.cross(w, marker.pose()[0] - marker.body.pose()[0]), w


def test_names_are_sorted_and_all_can_be_called():
    assert library.names() == sorted(library.names())
    assert all(callable(getattr(library, name)) for name in library.names())


@pytest.mark.parametrize("name", library.names())
def test_importing_the_module_of_a_mechanism_does_not_hide_its_function(name):
    importlib.import_module(f"index3.library.{name}")
    assert callable(getattr(library, name))


@pytest.mark.parametrize("name", library.names())
def test_docstring_says_what_it_is(name):
    assert len(getattr(library, name).__doc__) > 300


@pytest.mark.parametrize("name", MODELS)
def test_each_call_gives_a_new_model(name):
    assert MODELS[name]() is not MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_joints_close_and_velocities_agree_with_them(name):
    for joint in MODELS[name]().joints.values():
        value, rate = rows(joint)
        assert np.max(np.abs(value), initial=0.0) < CLOSURE, joint.name
        assert np.max(np.abs(rate)) < 1e3 * CLOSURE, joint.name  # rates reach 150 rad/s


@pytest.mark.parametrize("name", MODELS)
def test_counts(name):
    """S0-41, S1-07, among others: counts of the papers."""
    report = MODELS[name]().check()
    counts = (report.bodies, report.coordinates, report.constraints, report.dof)
    assert counts == COUNTS[name][:4]
    assert len(report.redundant) == COUNTS[name][4]


def test_four_bar_is_the_one_of_the_first_example():
    model = library.four_bar()
    C = model["C"].first.pose()[0]
    assert np.allclose(C, (0.91833, 0.0, 0.79582), atol=5e-6)  # the example prints five digits
    assert np.allclose(motion(model["crank"])[1], (0.0, 3.0, 0.0), atol=1e-14)


@pytest.mark.parametrize("lengths", [(1, 2, 3), (0.4, 1.0, 0.8, -1.0), (0.4, 1.0, math.nan, 1.0), (1.0, 0.2, 0.2, 1.0)])
def test_four_bar_refuses_lengths_that_make_no_linkage(lengths):
    with pytest.raises(ModelError, match="four_bar"):
        library.four_bar(lengths)


@pytest.mark.parametrize("lengths", [(0.8, 1.0, 0.4, 1.0), (1.0, 0.9, 0.8, 0.95)])
def test_four_bar_says_when_the_crank_can_only_rock(lengths):
    with pytest.warns(UserWarning, match="Grashof"):
        library.four_bar(lengths)


@pytest.mark.parametrize("builder", [library.chain, library.parallelogram])
@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_number_of_links_must_be_a_positive_whole_number(builder, n):
    with pytest.raises(ModelError, match="whole number"):
        builder(n)


def test_chain_has_the_boxes_axes_and_gravity_of_the_benchmark():
    model = library.chain(4)
    assert np.allclose(model.gravity, 9.81 * np.array((0.0, 0.5, -math.sqrt(3) / 2)), rtol=1e-15)
    for k, (body, joint) in enumerate(zip(model.bodies.values(), model.joints.values(), strict=True)):
        assert (body.name, joint.name) == (f"link{k + 1}", f"joint{k + 1}")
        assert np.allclose(np.diag(body.inertia), (0.02 / 12, 1.01 / 12, 1.01 / 12), rtol=1e-15)
        r, A = joint.first.pose()
        assert np.allclose(r, (k, 0.0, 0.0), atol=CLOSURE)
        assert np.allclose(A[:, 2], ((0, 1, 0), (0, 0, 1))[k % 2], atol=CLOSURE)


def test_chain_spring_starts_with_a_length():
    first, second = library.chain(3, springs=True)["spring"].markers
    assert np.linalg.norm(second.pose()[0] - first.pose()[0]) == pytest.approx(math.sqrt(1.25), rel=1e-14)


def test_andrews_has_the_lengths_masses_and_angles_of_the_test_set():
    data = json.loads((REFERENCE / "andrews" / "data.json").read_text())
    p, model = data["parameters"], library.andrews()
    at = {name: joint.first.pose()[0] for name, joint in model.joints.items()}
    at["D"] = model["spring"].markers[1].pose()[0]
    lengths = {
        ("O", "F"): p["rr"],
        ("F", "E3"): p["d"],
        ("B", "E3"): p["ss"],
        ("B", "D"): math.hypot(p["sc"], p["sd"]),
        ("G", "E4"): p["e"],
        ("A5", "G"): p["zt"],
        ("H", "E6"): p["zf"],
        ("A7", "H"): p["u"],
    }
    for (start, end), length in lengths.items():
        assert np.linalg.norm(at[end] - at[start]) == pytest.approx(length, rel=1e-13), (start, end)
    arms = {
        "K1": ("O", p["ra"]),
        "K2": ("F", p["da"]),
        "K3": ("B", math.hypot(p["sa"], p["sb"])),
        "K4": ("E4", p["ea"]),
        "K5": ("A5", math.hypot(p["ta"], p["tb"])),
        "K6": ("E6", p["fa"]),
        "K7": ("A7", math.hypot(p["ua"], p["ub"])),
    }
    for i, (name, (point, arm)) in enumerate(arms.items(), start=1):
        body = model[name]
        assert np.linalg.norm(body.pose()[0] - at[point]) == pytest.approx(arm, rel=1e-13), name
        assert (body.mass, body.inertia) == (p[f"m{i}"], p[f"I{i}"])
    beta, Theta, gamma, Phi, delta, Omega, epsilon = data["start"]
    angles = [body.q0[2] for body in model.bodies.values()]
    expected = (beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon)
    assert np.allclose(angles, expected, rtol=0.0, atol=1e-15)


def test_stiff_double_pendulum_starts_where_the_thesis_says():
    model = library.double_pendulum()
    assert np.allclose(model["rod2"].q0, (3.4488887393, -0.3882285677, 23 * math.pi / 12), atol=1e-10)  # printed digits
    assert model["rod1"].q0[2] == 2 * math.pi


def test_mass_spring_takes_one_stiffness_or_three():
    stiffness = [force.stiffness for force in library.mass_spring((1e6, 1e8, 1e12)).forces.values()]
    assert stiffness == [1e6, 1e8, 1e12]
    with pytest.raises(ModelError, match="one stiffness or three"):
        library.mass_spring((1.0, 2.0))
