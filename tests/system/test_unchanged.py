"""A model is compiled again if and only if something in it has changed."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import index3 as ix
from index3.system import unchanged

MODELS = {
    "andrews": ix.library.andrews,
    "chain": lambda: ix.library.chain(3),
    "four_bar": ix.library.four_bar,
    "hmmwv14": ix.library.hmmwv14,  # with a constant coordinate
    "slider_crank": ix.library.slider_crank,
}
OTHERS = {
    "hmmwv50": ix.library.hmmwv50,  # curves
    "iltis": ix.library.iltis,  # a function of Python
    "flexible_slider_crank": ix.library.flexible_slider_crank,  # sparse matrices
}


@pytest.fixture
def compiled(monkeypatch):
    """The names of models that were compiled for runs."""
    names, compile_model = [], unchanged.compile_model

    def noted(model, *arguments, **more):
        names.append(model.name)
        return compile_model(model, *arguments, **more)

    monkeypatch.setattr(unchanged, "compile_model", noted)
    return names


def run(model, method="hht-i3", **settings):
    return ix.simulate(model, (0.0, 0.01), method, progress=False, **settings)


@pytest.mark.parametrize("name", ["andrews", "hmmwv14", "hmmwv50", "iltis", "flexible_slider_crank"])
def test_runs_of_a_model_as_it_is_share_one_system(name, compiled):
    model, fresh = (MODELS | OTHERS)[name](), (MODELS | OTHERS)[name]()
    compiled.clear()  # of the equilibrium from which the car starts
    first, second, other = run(model), run(model), run(model, "dopri5", rtol=1e-4)
    assert len(compiled) == 1
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.lam, second.lam)
    assert np.array_equal(other.q, run(fresh, "dopri5", rtol=1e-4).q)
    assert len(compiled) == 2


def heavier(model):
    body = next(iter(model.bodies.values()))
    body.mass = 1.5 * body.mass


def turned(model):
    next(iter(model.bodies.values())).v0[-1] += 0.5  # in place


def lighter_gravity(model):
    model.gravity = (0.0, -1.6, 0.0)


def one_more(model):
    body = next(iter(model.bodies.values()))
    model.add(ix.Force("more", body, (1.0, 2.0, 0.0)))


def stiffer(model):
    force = next(x for x in model.forces.values() if hasattr(x, "stiffness"))
    force.stiffness = 2.0 * force.stiffness


@pytest.mark.parametrize("change", [heavier, turned, lighter_gravity, one_more, stiffer])
def test_a_change_is_seen(compiled, change):
    model, fresh = MODELS["andrews"](), MODELS["andrews"]()
    before = run(model)
    change(model)
    change(fresh)
    after = run(model)
    assert len(compiled) == 2
    assert not np.array_equal(before.lam[-1], after.lam[-1])
    assert np.array_equal(after.lam, run(fresh).lam)


def values(part):
    """Places of numbers in an element: in its attributes, and in arrays, lists and dicts there."""
    for key, value in vars(part).items():
        if isinstance(value, float | int) and not isinstance(value, bool):
            yield vars(part), key
        elif isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
            yield value, (0,) * value.ndim
        elif isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            yield from ((value, k) for k, x in pairs if isinstance(x, float))


@pytest.mark.parametrize("name", MODELS)
def test_every_number_counts(name):
    """Each is changed by its last bit, behind the back of the checks; then it is what it was."""
    model = MODELS[name]()
    run(model)
    before, count = unchanged.content_of(model), 0
    assert before is not None
    markers = [marker for joint in model.joints.values() for marker in joint.markers]
    for part in [*model.bodies.values(), *model.joints.values(), *model.forces.values(), *markers]:
        for holder, key in list(values(part)):
            if isinstance(holder, np.ndarray):
                held = holder.flags.writeable
                holder.setflags(write=True)
            old = holder[key]
            holder[key] = np.nextafter(old, np.inf) if isinstance(old, float) else old + 1
            assert unchanged.content_of(model) != before, (part, key)
            holder[key] = old
            if isinstance(holder, np.ndarray):
                holder.setflags(write=held)
            count += 1
    assert count > 10
    assert unchanged.content_of(model) == before


def test_zero_has_a_sign():
    found = [[], []]
    for value, content in zip((0.0, -0.0), found, strict=True):
        unchanged.add({"x": value}, content, {})
    assert found[0] != found[1]


class Heavy(ix.RigidBody):
    """A body of another package."""


class Settings:
    """What a user may keep numbers in."""

    push = 1.0


PUSH, NUMBERS, OBJECT = 1.0, {"push": 1.0}, Settings()


def by_global(t):
    return (PUSH * math.cos(t), 0.0, 0.0)


def by_another(t):
    return by_global(t)


def by_inner(t):
    return (max(x * PUSH for x in (1.0, 0.5)), 0.0, 0.0)


def by_dict(t):
    return (NUMBERS["push"], 0.0, 0.0)


def by_object(t):
    return (OBJECT.push, 0.0, 0.0)


def by_module(t):
    return (ix.__name__ and 1.0, 0.0, 0.0)


def blown(function):
    """A pendulum in a wind."""
    model = ix.library.pendulum()
    model.add(ix.Force("wind", next(iter(model.bodies.values())), function))
    return model


@pytest.mark.parametrize("function", [by_global, by_another, by_inner, by_dict])
def test_a_function_is_the_same_while_all_that_it_reads_is(compiled, function, monkeypatch):
    model = blown(function)
    first = run(model)
    assert np.array_equal(run(model).q, first.q)
    assert len(compiled) == 1
    monkeypatch.setitem(globals(), "PUSH", 2.0)
    monkeypatch.setitem(NUMBERS, "push", 2.0)
    second = run(model)
    assert len(compiled) == 2
    assert np.array_equal(second.q, run(blown(function)).q)
    assert not np.array_equal(second.q, first.q)


def test_what_stands_around_a_function_counts():
    def wind(size, more=0.0):
        return lambda t, more=more: (size + more, 0.0, 0.0)

    model = blown(wind([1.0][0]))
    before = unchanged.content_of(model)
    assert before is not None
    assert unchanged.content_of(model) == before
    sizes = [1.0]
    listed = blown(lambda t: (sizes[0], 0.0, 0.0))
    before = unchanged.content_of(listed)
    sizes[0] = 2.0
    assert unchanged.content_of(listed) != before
    function = wind(1.0, 2.0)
    model = blown(function)
    before = unchanged.content_of(model)
    function.__defaults__ = (3.0,)
    assert unchanged.content_of(model) != before


def test_an_expression_is_what_its_text_says():
    drive = ix.Expression("sin(t)")
    model = blown((drive, 0.0, 0.0))
    before = unchanged.content_of(model)
    assert before is not None
    drive(0.3)  # which it remembers
    assert unchanged.content_of(model) == before


def test_every_entry_of_a_sparse_matrix_counts():
    sparse = pytest.importorskip("scipy.sparse")
    found = []
    for value in (1.0, 2.0):
        found.append([])
        unchanged.add(sparse.csc_matrix(np.diag([value, 3.0])), found[-1], {})
    assert found[0] != found[1]
    with pytest.raises(unchanged.Unknown):
        unchanged.add(sparse.lil_matrix((2, 2)), [], {})


@pytest.mark.parametrize("function", [by_object, by_module])
def test_what_cannot_be_compared_is_compiled_each_time(compiled, function):
    driven = blown(function)
    assert unchanged.content_of(driven) is None
    run(driven)
    run(driven)
    assert len(compiled) == 2
    other = ix.Model("other")
    other.add(Heavy("ball", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    assert unchanged.content_of(other) is None


def test_copies_and_pickles_hold_no_system(compiled):
    model = MODELS["chain"]()
    run(model)
    for other in (model.copy(), pickle.loads(pickle.dumps(model))):
        assert other._compiled.known == (None, {})
        assert np.array_equal(run(other).q, run(model).q)
    assert len(compiled) == 3


def test_open_joints_have_systems_of_their_own(compiled):
    model = MODELS["chain"]()
    joint = list(model.joints)[-1]
    first, opened = run(model), run(model, open_joints=[joint])
    assert np.array_equal(run(model).q, first.q)
    assert np.array_equal(run(model, open_joints=[joint]).q, opened.q)
    assert not np.array_equal(first.q[-1], opened.q[-1])
    assert len(compiled) == 2


def test_an_equilibrium_and_the_run_from_it_share_one_system(compiled):
    def hanging(stiffness):
        model = ix.Model("hanging")
        ball = model.add(ix.PointMass("ball", 1.0, position=(0, 0, -1)))
        ends = model.ground.marker(), ball.marker()
        model.add(ix.SpringDamper("coil", *ends, stiffness=stiffness, damping=1.0, length=1.0))
        return model

    model = hanging(100.0)
    rest = ix.static(model)
    run(model, initial=rest)
    assert len(compiled) == 1
    model["coil"].stiffness = 200.0
    softer, fresh = ix.static(model), ix.static(hanging(200.0))
    assert len(compiled) == 3
    assert np.array_equal(softer.q, fresh.q)
    assert not np.allclose(softer.q, rest.q)
