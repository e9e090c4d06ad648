"""Runs that begin as an earlier one did: from what that one has kept, with the same bits."""

import sys
import threading

import numpy as np
import pytest

import index3 as ix
from index3.engine import beginning, begun
from index3.methods.registry import METHODS

COLUMNS = ("t", "q", "v", "a", "lam", "angle", "kinetic", "potential", "work", "violation_scaled")
SECONDS = ("seconds", "seconds_setup", "seconds_steps", "seconds_output")


def bits(result):
    """Everything of a result but the time it took."""
    arrays = [np.asarray(result.arrays[name]).tobytes() for name in COLUMNS]
    stats = {name: value for name, value in result.stats.items() if name not in SECONDS}
    return arrays, stats, result.message, str(result.audit)


def stiff_start():
    """Not stiff while it comes to rest, then stiff: `auto` changes its method on the way."""
    model = ix.Model("mount", gravity=(0, 0, -9.81))
    link = model.add(ix.RigidBody.rod("link", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, link, at=(0, 0, 0), axis=(0, 1, 0)))
    mass = model.add(ix.PointMass("mass", 1.0, position=(0, 0, 2.0)))
    stiff = {"stiffness": (1e7,) * 3, "damping": (5e4,) * 3, "free": (0.1, 0, 0)}
    model.add(ix.Bushing("mount", model.ground, mass, at=(0, 0, 2.0), **stiff))
    return model


def ball_on_floor():
    """Contact with friction, whose elements remember."""
    model = ix.Model("ball", gravity=(0, 0, -9.81))
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 0.12), velocity=(1, 0, 0)))
    floor = model.ground.marker((0, 0, 0))
    shapes = [(ball, ix.Sphere(0.1)), (floor, ix.Plane())]
    model.add(ix.ContactSet("touch", shapes, stiffness=1e4, damping=0.2, friction=0.3))
    return model


@pytest.fixture
def starts(monkeypatch):
    """How often a run was begun anew, and from what was kept."""
    found = []
    plain = beginning.begin
    monkeypatch.setattr(beginning, "begin", lambda *x, **more: found.append("anew") or plain(*x, **more))
    again = begun.Begun.again
    monkeypatch.setattr(begun.Begun, "again", lambda self: found.append("kept") or again(self))
    return found


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_a_run_that_begins_alike_gives_the_same_bits(starts, method):
    settings = {"rtol": 1e-4, "t_eval": [0.0, 0.05, 0.1], "discontinuities": (0.03,), "progress": False}
    model = ix.library.four_bar()
    once = bits(ix.simulate(model.copy(), (0.0, 0.1), method, **settings))
    simulation = ix.prepare(model, method, **settings)
    for _ in range(4):
        assert bits(simulation.run((0.0, 0.1))) == once
    assert starts == ["anew"] * 3 + ["kept"] * 2


@pytest.mark.parametrize(("build", "end"), [(stiff_start, 0.05), (ball_on_floor, 0.3), (ix.library.andrews, 0.01)])
def test_it_does_so_with_memory_and_a_change_of_method(starts, build, end):
    model = build()
    once = bits(ix.simulate(model.copy(), (0.0, end), progress=False))
    results = [ix.simulate(model, (0.0, end), progress=False) for _ in range(4)]
    assert [bits(result) for result in results] == [once] * 4
    assert starts == ["anew"] * 3 + ["kept"] * 2
    assert build is not stiff_start or "from t = " in results[0].message


def test_other_settings_and_starts_begin_anew(starts):
    simulation = ix.prepare(ix.library.double_pendulum(), "dopri5", t_eval=[0.1], progress=False)
    for settings, kept in (
        ({}, 0), ({}, 0), ({}, 1), ({"rtol": 1e-4}, 0), ({}, 0), ({}, 0), ({}, 1),
        ({"changes": {"rod1.mass": 2.0}}, 0), ({"initial": {"pivot.angle": 0.1}}, 0),
        ({"events": lambda t, state: 1.0}, 0), ({"open_joints": ("elbow",)}, 0), ({}, 1),
    ):  # fmt: skip
        starts.clear()
        simulation.run((0.0, 0.1), **settings)
        assert starts.count("kept") == kept, settings


def test_a_large_start_is_not_kept(starts, monkeypatch):
    monkeypatch.setattr(begun, "LARGEST", 1000)
    simulation = ix.prepare(ix.library.double_pendulum(), "dopri5", t_eval=[0.1], progress=False)
    for _ in range(4):
        simulation.run((0.0, 0.1))
    assert starts == ["anew"] * 4


def test_an_own_solver_keeps_nothing(starts):
    simulation = ix.prepare(ix.library.double_pendulum(), "dopri5", linear="scipy", t_eval=[0.1], progress=False)
    for _ in range(4):
        simulation.run((0.0, 0.1))
    assert starts == ["anew"] * 4


def test_a_run_inside_a_run_has_a_start_of_its_own():
    simulation = ix.prepare(ix.library.double_pendulum(), "dopri5", t_eval=[0.05, 0.1], progress=False)
    once, found = bits(simulation.run((0.0, 0.1))), []
    for _ in range(4):
        asks = lambda t, q, v: found.append(bits(simulation.run((0.0, 0.1)))) and None  # noqa: E731
        assert bits(simulation.run((0.0, 0.1), callback=asks)) == once
    assert found == [once] * 8


def test_threads_begin_alike_and_apart():
    simulation = ix.prepare(ix.library.four_bar(), "auto", t_eval=[0.1], progress=False)
    once, found = bits(simulation.run((0.0, 0.1))), []

    def work():
        found.extend(bits(simulation.run((0.0, 0.1))) == once for _ in range(25))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert found == [True] * 100
