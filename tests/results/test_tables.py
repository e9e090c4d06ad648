"""Tables, spectra, plots of one history against another, Euler angles."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import index3 as ix
from index3.errors import ModelError


@pytest.fixture(scope="module")
def swing():
    m = ix.Model("swing")
    bob = m.add(ix.RigidBody.box("bob", (0.1, 0.2, 0.3), mass=1.0, angular_velocity=(0.4, -0.8, 1.2)))
    disc = m.add(ix.PlanarBody("disc", 1.0, 0.1, spin=3.0))
    m.add(ix.SpringDamper("coil", m.ground, bob, points=((0, 0, 1), (0, 0, 0)), stiffness=(2 * np.pi * 5) ** 2))
    m.add(ix.Revolute("pin", m.ground, disc, at=(0, 0, 0), axis=(0, 0, 1)))
    return m, ix.simulate(m, (0.0, 2.0), rtol=1e-8, t_eval=0.005, progress=False)


def test_one_table_of_everything(swing):
    pandas = pytest.importorskip("pandas")
    _, result = swing
    table = result.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table.index.name == "time"
    assert np.array_equal(table.index, result.t)
    assert np.array_equal(table["bob.position.z"], result["bob"].position[:, 2])
    assert np.array_equal(table["coil.tension"], result["coil"].tension)
    assert np.array_equal(table["pin.angle_rate"], result["pin"].angle_rate)
    assert np.array_equal(table["disc.angle"], result["disc"].angle)
    assert np.array_equal(table["energy.total"], result.energy.total)
    assert table.shape[1] < 80  # one column for each number: no products of axes
    few = result.to_pandas(["pin.angle", "bob.velocity"])
    assert list(few) == ["pin.angle", "bob.velocity.x", "bob.velocity.y", "bob.velocity.z"]
    with pytest.raises(ModelError, match="'pin' has no history 'angel'"):
        result.to_pandas(["pin.angel"])


def test_spectra_show_amplitudes(swing):
    _, result = swing
    found = result.spectrum("bob.position.z")
    # 401 times: frequencies of 0.499 Hz, ten of which are nearly 5 Hz; g / omega^2 is the amplitude
    peak = np.argmax(found.amplitude[:, 0])
    assert found.frequency[peak] == pytest.approx(5.0, abs=0.02)
    assert found.amplitude[peak, 0] == pytest.approx(9.80665 / (2 * np.pi * 5) ** 2, rel=0.01)
    assert found.unit == "m"
    assert result.spectrum("bob.position", window="boxcar").amplitude.shape == (201, 3)
    uneven = ix.simulate(swing[0], (0.0, 0.5), t_eval=[0.0, 0.1, 0.2, 0.35, 0.5], progress=False)
    with pytest.raises(ModelError, match="not evenly spaced"):
        uneven.spectrum("bob.position.z")
    with pytest.raises(ModelError, match="window 'hat' is not known"):
        result.spectrum("bob.position.z", window="hat")


def test_histories_against_each_other(swing):
    pytest.importorskip("matplotlib").use("Agg")
    _, result = swing
    ax = result.plot(x="bob.position.z", y="coil.tension")
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_xdata(), result["bob"].position[:, 2])
    assert np.array_equal(line.get_ydata(), result["coil"].tension)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bob position z [m]", "coil tension [N]")
    assert len(result.plot(x="pin.angle", y=["bob.position.x", "bob.position.z"]).get_lines()) == 2
    with pytest.raises(ModelError, match=r"has the columns x, y, z\. Name one of them"):
        result.plot(x="bob.position", y="coil.tension")
    with pytest.raises(ModelError, match="nothing to draw against it"):
        result.plot(x="bob.position.x")


def test_euler_angles_are_those_of_scipy(swing):
    _, result = swing
    bob = result["bob"]
    assert np.array_equal(bob.euler("zyx"), Rotation.from_matrix(bob.rotation).as_euler("zyx"))
    yaw, pitch, roll = bob.euler()[-1]
    turns = [Rotation.from_euler(axis, angle) for axis, angle in (("z", yaw), ("y", pitch), ("x", roll))]
    assert (turns[0] * turns[1] * turns[2]).as_matrix() == pytest.approx(bob.rotation[-1], abs=1e-12)
    assert result["disc"].euler("ZYX", degrees=True)[:200, 0] == pytest.approx(np.degrees(result["disc"].angle[:200]))
    with pytest.raises(ModelError, match="Body 'bob': 'zz' is not a sequence of Euler angles"):
        bob.euler("zz")
