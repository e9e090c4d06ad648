"""A pivot that is small because much hangs on a joint is no redundant row: long chains, heavy loads on light links."""

import numpy as np
import pytest

import index3 as ix

Y = (0, 1, 0)


def chain(masses):
    """Rods of 1 m along x, hinged to each other and to ground about y."""
    model = ix.Model("chain")
    last = model.ground
    for k, mass in enumerate(masses):
        rod = model.add(ix.RigidBody.rod(f"rod{k}", (k, 0, 0), (k + 1, 0, 0), mass=mass, radius=0.05))
        model.add(ix.Revolute(f"pin{k}", last, rod, at=(k, 0, 0), axis=Y))
        last = rod
    return model


@pytest.mark.parametrize("count", [300, 1500])
def test_a_long_straight_chain_has_no_redundant_rows(count):
    """The first pin holds the last rod 1500 m away: its pivots are 1e-10 of what the first rod alone would give."""
    found = chain([1.0] * count).check()
    assert found.redundant == []
    assert found.dof == count


def test_a_really_redundant_joint_of_a_long_chain_is_found():
    model = chain([1.0] * 300)
    model.add(ix.Revolute("again", model.ground, model["rod0"], at=(0, 0, 0), axis=Y))
    found = model.check()
    assert found.dof == 300
    assert len(found.redundant) == 5


@pytest.mark.parametrize("ratio", [1e8, 1e9, 1e10])
@pytest.mark.parametrize("method", ["dopri5", "hht-i3"])
def test_a_heavy_rod_on_a_light_one(ratio, method):
    """The motion is that beside a link of 1e-6 of the mass, to that size and the error of the methods."""
    settings = {"t_eval": 0.5, "rtol": 1e-6 if method == "hht-i3" else 1e-8}
    model = chain([1.0, ratio])
    assert model.check().dof == 2
    result = ix.simulate(model, (0.0, 2.0), method, **settings)
    assert result.success, result.message
    expected = ix.simulate(chain([1.0, 1e6]), (0.0, 2.0), "dop853", t_eval=0.5, rtol=1e-10)["rod1"].position
    # HHT-I3 of rtol 1e-6 errs by 5e-4 after 2 s; the others by the 1e-6 between the models
    assert result["rod1"].position == pytest.approx(expected, abs=1e-3 if method == "hht-i3" else 1e-5)
    assert result["pin0"].unique


@pytest.mark.parametrize("heavy", [0, 1, 2])
@pytest.mark.parametrize("mass", [1e-8, 1e8])
def test_a_loop_with_redundant_rows_and_one_mass_far_from_the_others(mass, heavy):
    model = ix.Model("four-bar")
    points = [(0, 0, 0), (0, 0, 0.4), (0.91833, 0, 0.79582), (1, 0, 0)]
    masses = [mass if k == heavy else 1.0 for k in range(3)]
    turning = ({"angular_velocity": (0, 3, 0)}, {}, {})
    rods = [
        model.add(ix.RigidBody.rod(f"rod{k}", points[k], points[k + 1], mass=masses[k], **turning[k])) for k in range(3)
    ]
    for k, pair in enumerate(zip((model.ground, *rods), (*rods, model.ground), strict=True)):
        model.add(ix.Revolute("ABCD"[k], *pair, at=points[k], axis=Y))
    assert len(model.check().redundant) == 3
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.1)
    assert result.success, result.message
    assert np.ptp(result.energy.total) < 1e-4 * result.energy.kinetic.max()  # rtol 1e-6; at most 9e-6 seen
