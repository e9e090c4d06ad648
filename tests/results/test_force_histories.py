"""Histories of contacts and tyres in results."""

import math

import numpy as np
import pytest

import index3 as ix

G = 9.80665


def sliding_box(swapped=False):
    model = ix.Model("box")
    size = (0.2, 0.2, 0.1)
    depth = 2.0 * G / (4 * 1e5)
    box = model.add(ix.RigidBody.box("box", size, mass=2.0, position=(0, 0, 0.05 - depth), velocity=(3.0, 0, 0)))
    ends, shapes = (box, model.ground), (ix.Box(size), ix.Plane())
    if swapped:
        ends, shapes = ends[::-1], shapes[::-1]
    law = {"stiffness": 1e5, "exponent": 1.0, "damping": 500.0, "onset": 1e-5, "friction": 0.3}
    model.add(ix.Contact("floor", *ends, shapes, **law))
    return model


@pytest.mark.parametrize("swapped", [False, True])
def test_contact_force_is_that_on_the_second_body(swapped):
    result = ix.simulate(sliding_box(swapped), (0.0, 0.5), rtol=1e-8, t_eval=0.05, progress=False)
    floor, sign = result["floor"], 1.0 if swapped else -1.0
    acceleration = result["box"].acceleration - (0.0, 0.0, -G)
    # Newton's law at every output; accelerations are solved from the equations of motion there
    assert floor.force == pytest.approx(sign * 2.0 * acceleration, abs=1e-9)
    assert floor.normal[-1] == pytest.approx(2.0 * G, rel=1e-4)  # settled
    assert floor.friction[-1] == pytest.approx([-sign * 0.3 * 2.0 * G, 0, 0], rel=1e-4, abs=1e-4)
    assert floor.depth[-1] > 0.0
    assert floor.point[-1, 0] > result["box"].position[-1, 0]  # friction shifts the load forward
    assert floor.on(0 if swapped else 1)[0] == pytest.approx(floor.force, abs=1e-9)
    known = "force, torque, power, depth, normal, friction, point"
    assert repr(floor) == f"<Contact 'floor' at 11 times: {known}>"


def test_histories_survive_a_file(tmp_path):
    result = ix.simulate(sliding_box(), (0.0, 0.1), t_eval=0.05, progress=False)
    result.save(tmp_path / "run.nc")
    assert np.array_equal(ix.Result.load(tmp_path / "run.nc")["floor"].force, result["floor"].force)


def test_histories_by_name(tmp_path):
    result = ix.simulate(sliding_box(), (0.0, 0.1), t_eval=0.05, progress=False)
    result.to_csv(tmp_path / "run.csv", ["floor.normal", "floor.friction.x", "floor"])
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    assert head.count("floor") == 5
    assert float(rows[0].split(",")[1]) == result["floor"].normal[0]
    with pytest.raises(ix.ModelError, match="'floor' has no history 'angle'"):
        result.to_csv(tmp_path / "run.csv", ["floor.angle"])


def test_sets_have_their_pairs_along_the_second_axis():
    model = ix.Model("two", gravity=(0, 0, 0))
    balls = [model.add(ix.RigidBody.sphere(f"ball{k}", 0.1, mass=1.0, position=(0.19 * k, 0, 0))) for k in range(3)]
    model.add(ix.ContactSet("row", [(ball, ix.Sphere(0.1)) for ball in balls], stiffness=100.0, exponent=1.0))
    result = ix.simulate(model, (0.0, 0.5), t_eval=0.1, progress=False)
    row = result["row"]
    assert row.force.shape == (6, 3, 3)
    assert row.normal[0] == pytest.approx([1.0, 0.0, 1.0], rel=1e-12)  # 0.01 m deep, the outer two are apart
    assert np.isnan(row.point[0, 1]).all()
    assert row.point[0, 0] == pytest.approx([0.095, 0, 0], abs=1e-12)


@pytest.mark.parametrize("relaxation", [None, 0.3])
def test_tyre_forces(relaxation):
    model = ix.Model("braking")
    upright = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
    spin = (0.0, 30.0, 0.0)
    wheel = ix.RigidBody.cylinder("wheel", 0.3, 0.2, mass=400.0, position=(0, 0, 0.28), orientation=upright,
                                  velocity=(10.0, 0.2, 0), angular_velocity=spin)  # fmt: skip
    model.add(wheel)
    given = {"longitudinal_stiffness": 1e5, "cornering_stiffness": 6e4, "relaxation": relaxation}
    model.add(ix.Tyre("tyre", wheel, model.ground, radius=0.3, stiffness=2e5, damping=3e3, **given))
    result = ix.simulate(model, (0.0, 0.2), rtol=1e-8, t_eval=0.02, progress=False)
    tyre = result["tyre"]
    acceleration = result["wheel"].acceleration - (0.0, 0.0, -G)
    assert tyre.force == pytest.approx(400.0 * acceleration, rel=1e-9, abs=1e-6)  # Newton's law at every output
    assert tyre.vertical == pytest.approx(tyre.force[:, 2])
    assert tyre.longitudinal[1] < 0.0
    assert tyre.deflection[-1] == pytest.approx(0.3 - result["wheel"].position[-1, 2], rel=1e-2)  # upright almost
