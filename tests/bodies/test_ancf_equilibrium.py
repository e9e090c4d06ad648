"""Section forces of beams: resultants of all that acts beyond a section, while the beam moves."""

from __future__ import annotations

import numpy as np
import pytest

import index3 as ix
from index3.bodies.ancf_histories import place

ANGLE = np.linspace(0.0, 1.2, 7)
ARC = np.stack([np.sin(ANGLE), 1.0 - np.cos(ANGLE)], axis=1)
SOFT = {"height": 0.05, "width": 0.03, "young": 2e7, "poisson": 0.2, "density": 900.0, "elements": 3}
KINDS = {
    "continuum": lambda: ix.AncfBeam("beam", points=ARC, **SOFT, law="continuum", damping=(0.3, 1e-3)),
    "elastic-line": lambda: ix.AncfBeam("beam", points=ARC, **SOFT, law="elastic-line", damping=1e-3),
    "straight": lambda: ix.AncfBeam("beam", (0, 0), (0.7, 0.9), **SOFT, law="elastic-line"),
    "space": lambda: ix.AncfBeam3D("beam", points=np.c_[ARC, 0.1 * ANGLE], **SOFT, damping=(0.3, 1e-3)),
}
CABLES = {
    "cable": lambda: ix.AncfCable("beam", (0, 0, 0), (0.7, 0.9, 0.2), **SOFT),
    "damped cable": lambda: ix.AncfCable("beam", (0, 0, 0), (0.7, 0.9, 0.2), **SOFT, damping=(0.3, 1e-3)),
    "bent cable": lambda: ix.AncfCable("beam", points=np.c_[ARC, 0.1 * ANGLE], **SOFT, damping=(0.3, 1e-3)),
}


def loaded(kind):
    """A beam on a wall, with a weight, a spring and a torque between its nodes and a force at its end."""
    model = ix.Model("loaded", gravity=(1.0, -9.81, 0.0))
    beam = model.add(KINDS[kind]())
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    arm = beam.marker(s=0.47 * beam.length, y=0.02)
    place, axes = arm.pose()
    block = model.add(ix.RigidBody("block", 0.4, (1e-3, 1e-3, 1e-3), position=place, orientation=axes))
    model.add(ix.Fixed("weld", arm, block.marker()))
    model.add(
        ix.SpringDamper(
            "coil", model.ground.marker((1, 1, 0)), beam.marker(s=0.8 * beam.length), stiffness=30.0, damping=1.0
        )
    )
    model.add(ix.Torque("turn", beam.marker(s=0.21 * beam.length), (0, 0, 0.7)))
    model.add(ix.Force("pull", beam.marker(s=beam.length), (0.5, 1.0, 0.0)))
    return model, beam


def in_ground(result, beam, s):
    """Force and moment on sections, (n_t, n_s, 3) each, ground axes, from what results say in the sections' axes."""
    body, zero = result["beam"], np.zeros((len(result.t), np.size(s)))
    if beam.planar:
        frame = "section" if beam.law == "continuum" else "tangent"
        force = np.stack([body.axial_force(s), body.shear_force(s), zero], -1)
        moment = np.stack([zero, zero, body.moment(s)], -1)
    else:
        frame, moment = "section", body.moment(s)
        force = np.concatenate([body.axial_force(s)[..., None], body.shear_force(s)], -1)
    axes = np.stack([result.marker(beam.marker(s=float(x), frame=frame)).rotation for x in np.atleast_1d(s)], 1)
    return np.einsum("tsij,tsj->tsi", axes, force), np.einsum("tsij,tsj->tsi", axes, moment)


@pytest.mark.parametrize("kind", KINDS)
def test_sections_carry_what_acts_beyond_them(kind):
    """At the wall minus its reaction, at the end the force there; steps where something acts, none at nodes."""
    model, beam = loaded(kind)
    result = ix.simulate(model, (0, 0.15), "dop853", rtol=1e-8, atol=1e-10, t_eval=0.05)
    assert result.success
    length, near = beam.length, 1e-9
    nodes = np.cumsum(beam.lengths)[:-1]
    places = np.array([0.0, length, *(nodes - near), *nodes])
    force, moment = in_ground(result, beam, places)
    scale = np.abs(force).max(), np.abs(moment).max()
    exact = {"abs": 1e-7 * scale[0]}, {"abs": 1e-7 * scale[1]}  # accelerations solve the equations to 1e-9
    assert force[:, 0] == pytest.approx(-result["wall"].force, **exact[0])
    assert moment[:, 0] == pytest.approx(-result["wall"].torque, **exact[1])
    assert force[:, 1] == pytest.approx(np.broadcast_to((0.5, 1.0, 0.0), force[:, 1].shape), **exact[0])
    assert moment[:, 1] == pytest.approx(np.zeros_like(moment[:, 1]), **exact[1])
    count = len(nodes)
    assert force[:, 2 : 2 + count] == pytest.approx(force[:, 2 + count :], **exact[0])
    assert moment[:, 2 : 2 + count] == pytest.approx(moment[:, 2 + count :], **exact[1])
    for name, share in (("weld", 0.47), ("coil", 0.8), ("turn", 0.21)):
        before, after = in_ground(result, beam, share * length + np.array([-near, near])), result[name]
        acts = after.on(0) if name != "coil" else after.on(1)
        assert before[0][:, 0] - before[0][:, 1] == pytest.approx(acts[0], **exact[0]), name
        if name == "turn":
            assert before[1][:, 0] - before[1][:, 1] == pytest.approx(acts[1], **exact[1])


@pytest.mark.parametrize("kind", ["continuum", "elastic-line"])
def test_sections_of_a_cantilever(kind):
    """Under its own weight: N = 0, Q = -w (L - s), M = -w (L - s)^2 / 2, also between the nodes; stress M y / I."""
    model = ix.Model("cantilever", gravity=(0, -9.81, 0))
    settings = {"height": 0.02, "width": 0.03, "young": 2e11, "poisson": 0.0, "density": 1200.0}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=4, law=kind, **settings))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    found, s = ix.static(model)["beam"], np.linspace(0.0, 1.0, 23)
    w = beam.mass * 9.81
    assert found.axial_force(s)[0] == pytest.approx(0.0 * s, abs=1e-3 * w)  # it turns by 1e-4
    assert found.shear_force(s)[0] == pytest.approx(-w * (1 - s), rel=1e-6, abs=1e-6 * w)
    assert found.moment(s)[0] == pytest.approx(-0.5 * w * (1 - s) ** 2, rel=1e-6, abs=1e-6 * w)
    if kind == "elastic-line":
        at = found.stress(s, 0.01)[0, :, 0]
        assert at == pytest.approx(0.5 * w * (1 - s) ** 2 * 0.01 / (0.03 * 0.02**3 / 12), rel=1e-3, abs=1e4)


def test_a_result_that_does_not_know_its_forces_says_so(tmp_path):
    """A spring between nodes: its force is asked of the model, unless the result knows it."""
    model, beam = loaded("straight")
    result = ix.simulate(model, (0, 0.02), "hht-i3")
    result.source = result._applied = None
    with pytest.raises(ix.Index3Error, match=r"does not know its model.*use_model"):
        result["beam"].moment(0.8 * beam.length)
    result.use_model(model)
    assert np.isfinite(result["beam"].moment(0.8 * beam.length)).all()


def test_small_loads_on_stiff_beams_have_an_equilibrium():
    """The rounding of the elastic forces, 1e-8 N, is more than 1e-8 of the load; the result says what is left."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    stiff = {"height": 0.1, "width": 0.1, "young": 1e9, "poisson": 0.0, "density": 1000.0}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=8, **stiff))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    model.add(ix.Force("load", beam.marker(s=1.0), (0, -1e-3, 0)))
    found = ix.static(model)
    theory = 1e-3 / (3 * 1e9 * 0.1**4 / 12) + 1e-3 / (0.5e9 * 0.01)
    assert found["beam"].points(1.0)[0, 0, 1] == pytest.approx(-theory, rel=0.01)
    assert found.residual < 1e-5


@pytest.mark.parametrize("coordinates", ["nodal", "cholesky"])
def test_loads_near_rounding_are_balanced_as_far_as_numbers_allow(coordinates):
    """Axial forces are rounded to 1e-16 of EA, 1e-4 of this load: Newton's steps come to rest, and a note says so."""
    model = ix.Model("cantilever", gravity=(0, 0, 0))
    stiff = {"height": 0.01, "width": 0.01, "young": 7.6e10, "poisson": 0.3, "density": 1000.0, "law": "elastic-line"}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (0.6, 0.8), elements=11, coordinates=coordinates, **stiff))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    load = 2e-6 * 7.6e10 * 0.01**4 / 12
    model.add(ix.Force("load", beam.marker(s=1.0), (0.8 * load, -0.6 * load, 0)))
    found = ix.static(model)
    bent = found["beam"].points(1.0)[0, 0] - (0.6, 0.8, 0.0)
    assert bent == pytest.approx((0.8 * 2e-6 / 3, -0.6 * 2e-6 / 3, 0.0), rel=1e-4, abs=1e-13)
    assert found.residual < 1e-3
    assert any("allow no better" in note for note in found.notes) == (found.residual > 1e-5)


def test_the_end_of_a_beam_is_a_node():
    """However its lengths are rounded: a force there acts on no section between nodes."""
    rng = np.random.default_rng(3)
    for lengths in (rng.uniform(0.1, 1.0, count) for count in range(1, 40)):
        element, x = place(lengths, lengths.sum())
        assert (element, x) == (len(lengths) - 1, lengths[-1])


@pytest.mark.parametrize("kind", CABLES)
def test_cables_carry_what_acts_beyond_them(kind):
    """Along and across the tangent: the wall's reaction, steps at loads between nodes, none at nodes, the end."""
    model = ix.Model("loaded", gravity=(1.0, -9.81, 2.0))
    cable = model.add(CABLES[kind]())
    model.add(ix.Fixed("wall", model.ground, cable, at=(0, 0, 0)))
    mass = model.add(ix.PointMass("mass", 0.4, position=cable.marker(s=0.47 * cable.length).pose()[0]))
    model.add(ix.Spherical("weld", cable.marker(s=0.47 * cable.length), mass.marker()))
    model.add(ix.Force("pull", cable.marker(s=cable.length), (0.5, 1.0, 3.0)))
    result = ix.simulate(model, (0, 0.15), "dop853", rtol=1e-8, atol=1e-10, t_eval=0.05)
    near, nodes = 1e-9, np.cumsum(cable.lengths)[:-1]
    weld = 0.47 * cable.length
    s = np.array([0.0, cable.length, weld - near, weld + near, *(nodes - near), *nodes])
    tangents = np.stack([result.marker(cable.marker(s=float(x))).rotation[:, :, 0] for x in s], 1)
    found = result["beam"]
    along, across = found.axial_force(s), found.shear_force(s)
    exact = {"abs": 1e-7 * np.abs(along).max()}  # accelerations solve the equations to 1e-9
    for k, force in ((0, -result["wall"].force), (1, np.array((0.5, 1.0, 3.0)))):
        pull = (force * tangents[:, k]).sum(-1)
        assert along[:, k] == pytest.approx(pull, **exact)
        assert across[:, k] == pytest.approx(np.linalg.norm(force - pull[:, None] * tangents[:, k], axis=-1), **exact)
    step = (result["weld"].on(0)[0] * tangents[:, 2]).sum(-1)
    assert along[:, 2] - along[:, 3] == pytest.approx(step, **exact)
    assert np.abs(step).max() > 1e3 * exact["abs"]
    assert along[:, 4 : 4 + len(nodes)] == pytest.approx(along[:, 4 + len(nodes) :], **exact)
    assert across[:, 4 : 4 + len(nodes)] == pytest.approx(across[:, 4 + len(nodes) :], **exact)


def test_stress_of_a_bent_wire():
    """A cantilever of a wire: N/A + E y kappa with the moment and the pull of its end, anywhere along it."""
    model = ix.Model("wire", gravity=(0, 0, 0))
    wire = model.add(ix.AncfCable("wire", (0, 0, 0), (1, 0, 0), radius=0.01, elements=5, young=2e11, density=7800.0))
    model.add(ix.Fixed("wall", model.ground, wire, at=(0, 0, 0)))
    model.add(ix.Force("load", wire.marker(s=1.0), (20.0, 0, -1.0)))
    found, s = ix.static(model)["wire"], np.linspace(0.0, 1.0, 13)
    area, second = np.pi * 0.01**2, np.pi * 0.01**4 / 4
    bent = (1 - s) * 0.01 / second
    # the pull straightens it by P L^2 / EI = 1 % of the deflection, and turns with it
    assert found.axial_force(s)[0] == pytest.approx(20.0 * np.ones(13), rel=1e-4)
    assert found.shear_force(s)[0] == pytest.approx(np.ones(13), rel=0.02)
    assert found.stress(s, 0.01)[0] == pytest.approx(20.0 / area + bent, rel=0.02)
    assert found.stress(s, -0.01)[0] == pytest.approx(20.0 / area - bent, rel=0.02, abs=0.02 * bent.max())
    assert found.von_mises(np.c_[s, 0 * s + 0.01])[0] == pytest.approx(found.stress(s, 0.01)[0], abs=1e-4 * bent.max())
