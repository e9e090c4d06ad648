"""Rows with a second set of solutions: a warning near it, and an end by name rather than a silent change."""

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.constraints.perpendicular import thirds
from index3.methods import run
from index3.methods.run_table import Run

SPEED = 3.0


def shaft():
    """A shaft on a joint of constant velocity that turns at 3 rad/s towards pointing back along the other one."""
    model = ix.Model("bent")
    body = model.add(ix.RigidBody.box("shaft", (0.1, 0.2, 1.0), 1.0, angular_velocity=(SPEED, 0.0, 0.0)))
    model.add(ix.ConstantVelocity("joint", model.ground, body, at=(0, 0, 0), axes=((0, 0, 1), (0, 0, 1))))
    return model


METHODS = [
    ("dopri5", {}),
    ("dopri5", {"step": 0.2}),  # 0.6 rad: from one side of the fold to the other
    ("hht-i3", {"rtol": 1e-2}),
    ("hht-i3", {"step": 0.2}),
    ("radau5", {"rtol": 1e-1}),
    ("bdf-i3", {"rtol": 1e-1}),
]


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_a_joint_bent_all_the_way_back_ends_the_run(method, settings):
    """Also where steps leap across the fold."""
    result = ix.simulate(shaft(), (0.0, 4.0), method, progress=False, **settings)
    assert not result.success
    assert "ConstantVelocity 'joint'" in result.message
    assert "second position" in result.message
    assert result.t[-1] < np.pi / SPEED


def test_a_warning_comes_first():
    with pytest.warns(UserWarning, match="ConstantVelocity 'joint' .* came near a second position"):
        result = ix.simulate(shaft(), (0.0, np.radians(174.0) / SPEED), "dopri5", progress=False)
    assert result.success


@pytest.mark.filterwarnings("error")
def test_no_warning_at_ordinary_angles():
    assert ix.simulate(shaft(), (0.0, np.radians(150.0) / SPEED), "dopri5", progress=False).success


def rows(*axes, cosine=0.0):
    return [{"axis_first": i, "axis_second": j, "cosine": cosine} for i, j in axes]


def test_axes_that_two_rows_hold_parallel():
    assert thirds(rows((0, 2), (1, 2))) == [(2, 2), (2, 2)]  # a hinge: z along z, or against it
    assert thirds(rows((0, 1), (0, 2), (1, 2))) == [(0, 0), (2, 2), (2, 2)]  # a fixed joint: x along x as well
    assert thirds(rows((2, 2))) == [(-1, -1)]  # a universal joint: one piece
    assert thirds(rows((0, 2), (1, 2), cosine=0.1)) == [(-1, -1), (-1, -1)]


@pytest.mark.parametrize("method", ["dopri5", "hht-i3", "radau5", "bdf-i3"])
@pytest.mark.parametrize("joint", ["Revolute", "Fixed", "Prismatic"])
def test_a_joint_on_its_other_side_ends_the_run(monkeypatch, method, joint):
    """The run is made to believe that it began with the axis the other way round."""

    class Turned(Run):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            np.testing.assert_allclose(self.state[s.BRANCH][:, 0], 1.0, rtol=1e-12)
            self.table[run.BRANCH][-1, 0] *= -1.0

    monkeypatch.setattr("index3.engine.segments.Run", Turned)
    model = ix.Model("side", gravity=(0, 0, -9.81))
    body = model.add(ix.RigidBody.box("body", (0.1, 0.2, 1.0), 1.0))
    axis = {} if joint == "Fixed" else {"axis": (0, 1, 0)}
    model.add(getattr(ix, joint)("joint", model.ground, body, at=(0, 0, 0), **axis))
    result = ix.simulate(model, (0.0, 1.0), method, progress=False)
    assert not result.success
    assert f"{joint} 'joint'" in result.message
