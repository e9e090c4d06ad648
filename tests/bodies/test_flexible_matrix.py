"""Every kind of flexible body, joined at some place to every other kind of body, asked what rigid ones are asked."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from flexible_models import beam

import index3 as ix

SOFT = {"height": 0.02, "width": 0.03, "young": 2e7, "density": 1000.0}
LENGTH, END = 0.5, 0.05
ENDS = {"start": (0, 0), "end": (LENGTH, 0)}
ARC = {"points": ((0, 0), (0.25, 0.06), (LENGTH, 0))}


def planar(where=ENDS, elements=3, **settings):
    return ix.AncfBeam("soft", **where, elements=elements, **({"poisson": 0.3} | SOFT | settings))


def tube():
    return beam(3, length=LENGTH, young=2e8)


def by_shapes():
    """In the two softest shapes of a tube that is held at its start, and in no others."""
    held = np.linalg.eigh(tube().stiffness_matrix.toarray()[6:, 6:])[1][:, :2]
    return tube().body_of_modes("soft", np.vstack([np.zeros((6, 2)), held]))


FLEXIBLE = {
    "continuum": planar,
    "nearly incompressible": lambda: planar(poisson=0.49, law="elastic-line", damping=1e-4),
    "cholesky": lambda: planar(coordinates="cholesky", plane="stress"),
    "curved": lambda: planar(ARC, law="elastic-line"),
    "one element": lambda: planar(elements=1, poisson=0.0),
    "cable": lambda: ix.AncfCable("soft", (0, 0, 0), (LENGTH, 0, 0), elements=3, **SOFT),
    "space": lambda: ix.AncfBeam3D("soft", (0, 0, 0), (LENGTH, 0, 0), elements=2, poisson=0.49, **SOFT),
    "modes": lambda: tube().body("soft", interface=["A", "B"], modes=1, damping=0.02),
    "shapes": by_shapes,
}
PARTNERS = {
    "rigid": lambda at: ix.RigidBody.box("load", (0.1, 0.1, 0.1), 0.2, position=at),
    "Euler angles": lambda at: ix.EulerAngleBody.box("load", (0.1, 0.1, 0.1), 0.2, position=at),
    "natural": lambda at: ix.NaturalBody.rod("load", at, at + np.array((0, -0.2, 0)), mass=0.2),
    "planar": lambda at: ix.PlanarBody("load", 0.2, 1e-3, position=at[:2]),
    "point": lambda at: ix.PointMass("load", 0.2, position=at),
    "cable": lambda at: ix.AncfCable("load", at, at + np.array((0, -0.3, 0)), elements=2, **SOFT),
    "modes": lambda at: beam(2, length=0.3, young=2e8).body("load", interface=["A"], modes=1, position=at),
}
METHODS = ("hht-i3", "dop853", "al-index3", "tlismni-adams3", "statespace-trapezoidal", "descriptor-sdirk4", "bdf-si2")
CASES = [(kind, partner) for kind in FLEXIBLE for partner in PARTNERS]


def place_on(body, kind, rng):
    """A marker at an end, at a node, or anywhere; bodies by modes have nodes."""
    if kind in ("modes", "shapes"):
        return body.marker(node=int(rng.integers(1, 4)))
    s = body.length * rng.choice([1 / 3, 2 / 3, 1.0, rng.uniform(0.2, 1.0)])
    if kind in ("cable", "space"):
        return body.marker(s=s)
    return body.marker(s=s, y=rng.choice([0.0, 0.01, -0.005]), frame=str(rng.choice(["section", "tangent"])))


def coupled(kind, partner):
    """Hinged at its start, with a body on a ball joint at a place that depends on the pair, and a spring at another."""
    rng = np.random.default_rng(CASES.index((kind, partner)))
    model = ix.Model("pair", gravity=(0, -9.81, 0))
    soft = model.add(FLEXIBLE[kind]())
    first = soft.marker(node="A") if kind in ("modes", "shapes") else soft.marker(s=0.0)
    model.add(ix.Spherical("pin", model.ground.marker((0, 0, 0)), first))
    mark, pulled = place_on(soft, kind, rng), place_on(soft, kind, rng)
    at = mark.pose()[0]
    load = model.add(PARTNERS[partner](at))
    own = load.marker(node="A") if partner == "modes" else load.marker(s=0.0) if partner == "cable" else None
    model.add(ix.Spherical("ball", mark, own if own is not None else load.marker_at(at)))
    model.add(ix.SpringDamper("spring", model.ground.marker((0.3, 0.4, 0)), pulled, stiffness=40.0, damping=0.05))
    return model, pulled


def judged(kind, partner):
    """One method for each pair, in turn, so that every family meets every kind of body."""
    return METHODS[CASES.index((kind, partner)) % len(METHODS)]


@pytest.mark.parametrize(("kind", "partner"), CASES)
def test_pairs_move_alike_by_two_methods(kind, partner):
    """radau5 and a method of another family; files and pickles give the same bits."""
    model, pulled = coupled(kind, partner)
    exact = ix.simulate(model, (0.0, END), "radau5", rtol=1e-6, atol=1e-8, t_eval=0.01)
    assert exact.success, exact.message
    assert exact.audit.ok, exact.audit
    result = ix.simulate(model, (0.0, END), judged(kind, partner), rtol=1e-5, atol=1e-7, t_eval=0.01)
    assert result.success, result.message
    path, other = exact.marker(pulled).position, result.marker(pulled).position
    assert np.ptp(path, axis=0).max() > 1e-3
    assert other == pytest.approx(path, abs=3e-5)  # rtol of 0.5 m and what a run of some steps adds
    assert np.all(np.isfinite(exact["soft"].acceleration))


@pytest.mark.parametrize("kind", FLEXIBLE)
@pytest.mark.parametrize("partner", ["rigid", "natural", "modes"])
def test_pairs_are_kept_and_run_again_to_the_last_bit(kind, partner, tmp_path):
    """From a file, from a pickle, prepared, stored and resumed, and in a batch."""
    model, _ = coupled(kind, partner)
    model.save(tmp_path / "pair.json")
    span, settings = (0.0, 0.01), {"rtol": 1e-4}
    q = ix.simulate(model, span, "hht-i3", **settings).q[-1]
    for copy in (ix.Model.load(tmp_path / "pair.json"), pickle.loads(pickle.dumps(model)), model.copy()):
        assert np.array_equal(ix.simulate(copy, span, "hht-i3", **settings).q[-1], q)
    simulation = ix.prepare(model, "hht-i3", **settings)
    assert np.array_equal(simulation.run(span).q[-1], q)
    stiffer = {"spring.stiffness": 80.0}
    ends = ix.batch(simulation, [None, stiffer], span, workers=1)["q"].values
    assert np.array_equal(ends[0], q)
    changed, _ = coupled(kind, partner)
    changed["spring"].stiffness = 80.0
    assert np.array_equal(ends[1], ix.simulate(changed, span, "hht-i3", **settings).q[-1])
    store = tmp_path / "run.nc"
    ix.simulate(model, span, "hht-i3", store=store, **settings)
    assert np.array_equal(ix.resume(store, model).q[-1], q)


@pytest.mark.parametrize(("kind", "partner"), [(kind, partner) for kind in FLEXIBLE for partner in ("rigid", "cable")])
def test_pairs_rest_and_swing_about_their_rest(kind, partner):
    """A run that starts in equilibrium stays there; its first mode that swings moves."""
    model, pulled = coupled(kind, partner)
    rest = ix.static(model)
    assert rest.stable
    run = ix.simulate(model, (0.0, 0.02), "hht-i3", initial=rest)
    at = rest.marker(pulled).position
    assert run.marker(pulled).position == pytest.approx(np.tile(at, (len(run.t), 1)), abs=1e-6)
    linear = ix.linearize(model, initial=rest)
    assert linear.frequencies[-1] > 1.0
    first = int(np.argmax(linear.frequencies > 1e-3))  # a body on a ball joint turns about its centre at 0 Hz
    swing = linear.mode(first, amplitude=0.02).marker(pulled).position
    assert np.ptp(swing, axis=0).max() > 1e-6  # 4e-6 to 0.02; roundings 1e-14


@pytest.mark.parametrize("kind", FLEXIBLE)
def test_a_falling_body_touches_ground_with_its_end(kind):
    """Contact of a marker: found by an event and pressed back by the floor."""
    model = ix.Model("fall", gravity=(0, -9.81, 0))
    soft = model.add(FLEXIBLE[kind]())
    first, end = (
        (soft.marker(node="A"), soft.marker(node="B"))
        if kind in ("modes", "shapes")
        else (soft.marker(s=0.0), soft.marker(s=soft.length))
    )
    model.add(ix.Spherical("pin", model.ground.marker((0, 0, 0)), first))
    floor = model.ground.marker((0, -0.1, 0), z=(0, 1, 0))
    law = {"stiffness": 1e4, "exponent": 1.0, "damping": 1.0}
    model.add(ix.Contact("floor", end, floor, (ix.Sphere(0.01), ix.Plane()), **law))

    def touch(t, state):
        return state.marker(end).position[1] + 0.09

    result = ix.simulate(model, (0.0, 0.25), "hht-i3", rtol=1e-4, events=touch, t_eval=0.005)
    assert result.success, result.message
    assert len(result.t_events[0])
    assert result["floor"].normal.max() > 0.1
    assert result.marker(end).position[:, 1].min() > -0.11
