"""A slip in the call of any word that the package exports is answered by that word, with the nearest setting."""

import inspect

import pytest

import index3 as ix
from index3.element_type import ElementType

NOT_WRITTEN = {"Result", "FirstOrder", "Jump", "Simulation", "Switch"}  # made by the package, never by users
EXPORTED = [getattr(ix, name) for name in ix.__all__]
CLASSES = [
    x for x in EXPORTED if isinstance(x, type) and not issubclass(x, Exception) and x.__name__ not in NOT_WRITTEN
]
MAKERS = [  # RigidBody.rod, Road.bump, ...
    getattr(word, key)
    for word in CLASSES
    for key, x in vars(word).items()
    if isinstance(x, classmethod) and key[0] != "_"
]


def refusal(call, *arguments, **settings):
    with pytest.raises(ix.ModelError) as caught:
        call(*arguments, **settings)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("word", CLASSES, ids=lambda word: word.__name__)
def test_every_exported_word_answers_slips(word):
    assert isinstance(word, ElementType)
    parameters = inspect.signature(word).parameters
    named = "name" in parameters and next(iter(parameters)) == "name"
    owner = f"{word.__name__} 'it'" if named else word.__name__
    arguments = ("it",) if named else ()
    passes_on = any(x.kind is x.VAR_KEYWORD for x in parameters.values())  # contacts: to their law, see below
    message = refusal(word, *arguments, zqj=1)
    assert message.startswith(f"{owner} lacks" if passes_on else f"{owner} has no setting zqj. It takes")
    longest = max((key for key, x in parameters.items() if x.kind is not x.VAR_KEYWORD), key=len)
    message = refusal(word, *arguments, **{longest[:-1] + longest[-1] * 2: 1})  # a letter too many
    assert f"Did you mean {longest}?" in message
    needed = [key for key, x in parameters.items() if x.default is x.empty and x.kind is not x.VAR_KEYWORD]
    if needed:
        assert refusal(word).startswith(f"{word.__name__} lacks {' and '.join(needed)}.")
    message = refusal(word, *(["it"] * 30))
    assert "30 positional values" in message


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__qualname__)
def test_every_maker_answers_slips(make):
    owner = f"{make.__self__.__name__}.{make.__name__}"
    assert refusal(make, *([1.0] * 30)).startswith(f"{owner} is given 30 positional values")
    parameters = inspect.signature(make).parameters.values()
    needed = [x.name for x in parameters if x.default is x.empty and x.kind is not x.VAR_KEYWORD]
    if needed:
        assert f"{owner} lacks {' and '.join(needed)}" in refusal(make)


def test_the_words_of_a_slip():
    model, body = ix.Model(), ix.RigidBody("b", 1.0, (1, 1, 1))
    message = refusal(ix.Universal, "cross", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    assert (
        message == "Universal 'cross' has no setting axis. Did you mean axes? It takes name, first, second, at, axes."
    )
    pair = (ix.Plane(), ix.Sphere(0.1))
    message = refusal(ix.Contact, "touch", model.ground, body, pair, stifness=1.0)
    assert message.startswith("Contact 'touch' has no setting stifness. Did you mean stiffness?")
    message = refusal(ix.Bushing, "bush", model.ground, body, rotational_stiffness=1.0)
    assert "Did you mean stiffness?" in message  # and not "at", which is in it, too
    assert "given first twice" in refusal(ix.Revolute, "pin", model.ground, body, first=body)
    assert refusal(ix.RigidBody.rod, "r", (0, 0, 0), (1, 0, 0), shape=1).startswith("RigidBody.rod 'r' lacks mass.")
    assert refusal(ix.RigidBody.rod, "r", (0, 0, 0), (1, 0, 0), 1.0, colour=1).startswith("RigidBody 'r' has no")


def test_errors_inside_a_word_stay_what_they_are():
    class Odd(ix.Revolute):
        def __init__(self, name):
            raise TypeError("its own")

    with pytest.raises(TypeError, match="its own"):
        Odd("pin")


def test_help_sees_the_settings():
    assert list(inspect.signature(ix.Revolute).parameters) == ["name", "first", "second", "at", "axis", "x"]
    assert "alpha" in inspect.signature(ix.HHT).parameters


def test_words_of_other_programs_are_understood():
    ground = ix.Model("m").ground
    ends = (ground.marker(), ground.marker((1, 0, 0)))
    assert "Did you mean stiffness?" in refusal(ix.SpringDamper, "s", *ends, k=100.0)
    assert "Did you mean mass?" in refusal(ix.RigidBody, "b", m=1.0, inertia=(1, 1, 1))
    message = refusal(ix.simulate, ix.library.pendulum(), (0.0, 1.0), dt=0.01)
    assert message == "simulate has no option 'dt'. Give t_eval for the interval of output, step for constant steps."
    assert "Did you mean 'hht-i3'" in refusal(ix.simulate, ix.library.pendulum(), (0.0, 1.0), "HHT-I3")
    message = refusal(ix.simulate, ix.library.pendulum(), (0.0, 1.0), events=lambda t, q, v: q[0])
    assert "cannot be called with two arguments. Give a function of (t, state)" in message
