"""What is asked of rigid bodies, asked of every kind of flexible body: modes, changes, batches, stored runs, events."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from flexible_models import beam

import index3 as ix

SOFT = {"height": 0.02, "width": 0.02, "density": 1000.0}


def lines(young):
    """A body of each kind that lies from the origin to (0.5, 0, 0)."""
    planar = functools.partial(ix.AncfBeam, "line", (0, 0), (0.5, 0), elements=2, poisson=0.3, young=young, **SOFT)
    return {
        "continuum": planar,
        "elastic-line": lambda: planar(law="elastic-line"),
        "cable": lambda: ix.AncfCable("line", (0, 0, 0), (0.5, 0, 0), elements=2, young=young, **SOFT),
        "space": lambda: ix.AncfBeam3D("line", (0, 0, 0), (0.5, 0, 0), elements=1, poisson=0.3, young=young, **SOFT),
        "modes": lambda: beam(3, length=0.5, young=20 * young).body("line", interface=["A", "B"], modes=0),
    }


KINDS = sorted(lines(1e7))


def cantilever(kind, young=1e7):
    model = ix.Model("cantilever", gravity=(0, -9.81, 0))
    line = model.add(lines(young)[kind]())
    model.add(ix.Fixed("wall", model.ground, line, at=(0, 0, 0)))
    return model, line.marker(node="B") if kind == "modes" else line.marker(s=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_modes_of_the_bent_line_are_shown(kind, tmp_path):
    """About its equilibrium: frequencies are positive, the first shape moves its end most and its page is written."""
    model, tip = cantilever(kind)
    rest = ix.static(model)
    assert rest.stable
    linear = ix.linearize(model, initial=rest)
    assert linear.frequencies[0] > 1.0
    linear.to_html(tmp_path / "mode.html", mode=0)
    assert b"</html>" in (tmp_path / "mode.html").read_bytes()
    shape = linear.mode(0, amplitude=0.05)
    moved = np.ptp(shape.marker(tip).position, axis=0)
    assert 0.01 < np.linalg.norm(moved) < 0.2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "modes"])
def test_a_prepared_run_takes_another_stiffness(kind):
    """As the same model built with it does, to the last bit."""
    model, tip = cantilever(kind)
    changed = ix.prepare(model, "hht-i3").run((0.0, 0.05), changes={"line.young": 3e7})
    other, _ = cantilever(kind, 3e7)
    built = ix.simulate(other, (0.0, 0.05), "hht-i3")
    assert np.array_equal(changed.marker(tip).position, built.marker(tip).position)
    assert not np.allclose(built.q[-1], ix.simulate(model, (0.0, 0.05), "hht-i3").q[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_stored_runs_files_and_events(kind, tmp_path):
    """A model file runs alike to the last bit; a stored result knows the body's points; an event stops the tip."""
    model, tip = cantilever(kind)
    model.save(tmp_path / "model.json")

    def low(t, state):
        return state.marker(tip).position[1] + 0.01

    low.terminal = True
    result = ix.simulate(model, (0.0, 0.3), "hht-i3", rtol=1e-5, events=low)
    assert result.marker(tip).position[-1, 1] == pytest.approx(-0.01, abs=1e-6)
    result.save(tmp_path / "run.nc")
    again = ix.Result.load(tmp_path / "run.nc")
    assert np.array_equal(again.marker(tip).position, result.marker(tip).position)
    read = ix.Model.load(tmp_path / "model.json")
    runs = [ix.simulate(each, (0.0, 0.02), "hht-i3").q[-1] for each in (model, read)]
    assert np.array_equal(*runs)


SWING = (lambda t: 1.0 - np.cos(3.0 * t), lambda t: 3.0 * np.sin(3.0 * t), lambda t: 9.0 * np.cos(3.0 * t))


def arm(kind, driven):
    """On a hinge at its start, by way of a hub."""
    model = ix.Model("arm", gravity=(0, -9.81, 0))
    line = model.add(lines(1e7)[kind]())
    hub = model.add(ix.RigidBody("hub", 1.0, (0.1, 0.1, 0.1)))
    pin = model.add(ix.Revolute("pin", model.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Fixed("wall", hub, line, at=(0, 0, 0)))
    if driven:
        model.add(ix.Motion("swing", pin, *SWING))
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_inverse_dynamics_of_a_run(kind):
    """The drive of a run is found again from its motion, deformations included; between its times nobody knows it."""
    run = ix.simulate(arm(kind, True), (0.0, 0.1), "hht-i3", rtol=1e-5, t_eval=0.02)
    model = arm(kind, False)
    found = ix.inverse_dynamics(model, run)
    torque = -run["swing"].lam[:, 0]
    assert np.ptp(torque) > 0.1
    assert found["pin.angle"] == pytest.approx(torque, abs=1e-8 * np.abs(torque).max())
    assert found.result.q == pytest.approx(run.q, abs=1e-9)
    with pytest.raises(ix.ModelError, match=r"deform between the times of the result.*Leave t_eval out"):
        ix.inverse_dynamics(model, run, t_eval=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_kinematics_leaves_deformations_to_dynamics(kind):
    with pytest.raises(
        ix.ModelError, match=r"no motion drives: the deformation of \w+ 'line'\. Bodies that deform move by"
    ):
        ix.kinematics(arm(kind, True), (0.0, 1.0), t_eval=0.5)
