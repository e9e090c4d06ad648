"""Drag: words, law, derivatives, falling with and without wind."""

import numpy as np
import pytest

import index3 as ix
from index3.bodies.ground import Ground
from index3.bodies.point_mass import PointMass
from index3.bodies.rigid_body import RigidBody
from index3.compiled import slots as s
from index3.errors import ModelError
from index3.forces.drag import Drag

BALL = PointMass("ball", 2.0)
BOX = RigidBody.box("box", (1, 1, 1), mass=1.0, position=(0, 0, -2), orientation=(0.8, 0.6, 0, 0))


def drag(on=BALL, **settings):
    return Drag("air", on, **{"coefficient": 0.5, "area": 2.0, "density": 1.2, **settings})


def gusts(t):
    return 3.0 * t, 1.0, -t * t


def test_what_the_system_asks():
    assert drag().factor == 0.6
    assert drag().damped
    assert not drag().conservative
    assert np.allclose(drag(BOX, at=(0.1, 0.2, -2)).markers[0].pose()[0], (0.1, 0.2, -2), atol=1e-15)  # rounding


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: drag(coefficient=-1.0), "Drag 'air' has coefficient -1.0"),
        (lambda: drag(coefficient="much"), "coefficient 'much'"),
        (lambda: drag(area=0.0), "area 0.0"),
        (lambda: drag(density=np.inf), "density inf"),
        (lambda: drag(wind=(1, 2)), "wind (1, 2)"),
        (lambda: drag(on=Ground()), "acts on ground"),
        (lambda: drag(on="ball"), "cannot act on 'ball'"),
        (lambda: drag(on=BOX.marker(), at=(0, 0, 0)), "also at"),
    ],
)
def test_errors_name_the_element(make, message):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.jit_off
def test_law(bench):
    b = bench([drag(wind=(1.0, 0.0, 0.0)), drag(wind=gusts)])
    b[s.MARKER_V][:] = 0.0
    b[s.MARKER_V][0, :3] = (4.0, 4.0, 0.0)
    u = np.array([0.0 - 2.1, -1.0, 0.49])  # the bench stands at t = 0.7
    expected = -0.6 * np.linalg.norm(u) * u
    assert np.allclose(b.forces()[:, :3], [(-9.0, -12.0, 0.0), expected], rtol=1e-14)  # rounding
    assert b.energies() == (0.0, pytest.approx(-9.0 * 4.0 - 12.0 * 4.0, rel=1e-14))


@pytest.mark.jit_off
def test_derivatives_and_energy(bench):
    b = bench([drag(), drag(BOX, wind=(1.0, 2.0, 3.0)), drag(wind=gusts)])
    b.check_derivatives()
    b.check_energy()


@pytest.mark.jit_off
def test_at_rest_in_still_air_there_is_none(bench):
    b = bench([drag()])
    b[s.MARKER_V][:] = 0.0
    assert not b.forces().any()
    assert not np.any(b.matrices())


def test_fall_to_the_final_velocity():
    """v = v_end tanh(g t / v_end), v_end^2 = m g / b; and the energy balance counts what the air takes."""
    model = ix.Model("fall", gravity=(0, 0, -9.81))
    ball = model.add(PointMass("ball", 2.0))
    model.add(drag(ball, wind=(0, 0, 4.0)))
    result = ix.simulate(model, (0.0, 2.0), rtol=1e-8, atol=1e-10, t_eval=0.1)
    end = np.sqrt(2.0 * 9.81 / 0.6)
    start = np.arctanh(4.0 / end)  # relative to the wind it falls from the start
    expected = 4.0 - end * np.tanh(9.81 * result.t / end + start)
    # the method's tolerance 1e-8; measured 5e-10 m/s and 2e-11
    assert np.allclose(result["ball"].velocity[:, 2], expected, rtol=0, atol=1e-7)
    assert np.ptp(result.energy.balance) <= 1e-8 * np.abs(result.energy.work).max()
