"""A joint, a primitive and a force of a user's own: registered, they do all that those of the package do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import same_height
import test_derivatives as derivatives
import zoo

import index3 as ix
from index3.compiled import slots as s
from index3.compiled import sources
from index3.compiled.interface import OK, Table, kernel, slots, view
from index3.fields import ENDS, LENGTH, declare, number
from index3.files.schema import file_type, schema
from index3.files.write import data_of
from index3.forces.force import Place, element_table
from index3.forces.line import add_line_stiffness, pull_together, stretch
from index3.registry import ELEMENTS, PRIMITIVES
from index3.results.html import payload
from index3.system.compile import compile_model

MAGNET = np.dtype([("i", "i8"), ("j", "i8"), ("group", "i8"), ("strength", "f8")])
(MAGNETS,) = slots(magnets=(MAGNET, 1))


class Level(ix.Joint):
    """The second point stays `offset` [m] above the first."""

    required = ("at",)
    symbol = "plate"
    page = "elements/joints.md"
    fields = declare(ix.Joint.fields, offset=LENGTH)

    def __init__(self, name: str, first: Any, second: Any, *, offset: float = 0.0, at: Any = None) -> None:
        self._set_name(name)
        self.offset = float(offset)
        self.recipe = (ix.Primitive("same_height", ("height",), {"offset": self.offset}),)
        super().__init__(name, first, second, at=at)


class Magnet(ix.ForceElement):
    """Two points attract each other by strength / distance^2."""

    kind = __name__
    symbol = "coil"
    conservative = True
    fields = declare(ENDS, strength=number("force*length^2"))

    def __init__(self, name: str, first: Any, second: Any, *, strength: float) -> None:
        super().__init__(name)
        self.markers, self.strength = (first, second), float(strength)

    def record(self, place: Place) -> tuple[Any, ...]:
        return (*place.markers, place.stiffness, self.strength)


def table(elements: Sequence[Magnet], places: Sequence[Place]) -> Table:
    """The table of all magnets."""
    return element_table(MAGNETS, elements, places)


@kernel
def forces(T, E):
    """Pull the ends together."""
    magnets = view(E, MAGNETS)
    for e in range(magnets.shape[0]):
        length, u, _ = stretch(T, magnets[e].i, magnets[e].j)
        if length == 0.0:
            return e + 1
        pull_together(T, magnets[e].i, magnets[e].j, magnets[e].strength / (length * length), u)
    return OK


@kernel
def force_derivatives(T, E):
    """The tension falls at the rate -2 strength / L^3."""
    magnets, K = view(E, MAGNETS), view(T, s.GROUP_K)
    for e in range(magnets.shape[0]):
        length, u, v = stretch(T, magnets[e].i, magnets[e].j)
        tension = magnets[e].strength / (length * length)
        add_line_stiffness(K, magnets[e].group, length, u, v, tension, -2.0 * tension / length, 0.0)
    return OK


@kernel
def energy(T, E):
    """The potential -strength / L."""
    magnets = view(E, MAGNETS)
    for e in range(magnets.shape[0]):
        length, _, _ = stretch(T, magnets[e].i, magnets[e].j)
        view(T, s.ENERGY)[s.POTENTIAL] -= magnets[e].strength / length
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}


@pytest.fixture(autouse=True)
def registered():
    """Known while a test of this file runs, and unknown to all others."""
    for thing in (Level, Magnet, same_height):
        ix.register(thing)
    yield
    for registry, name in ((ELEMENTS, "Level"), (ELEMENTS, "Magnet"), (PRIMITIVES, "same_height")):
        del registry.added[name]


def swing() -> ix.Model:
    """A ball on a table is drawn to a magnet on it; at half the distance its speed follows from its energy."""
    model = ix.Model("magnet")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=2.0, position=(4.0, 0.0, 0.3)))
    model.add(Level("table", model.ground, ball, at=(4.0, 0.0, 0.3)))
    model.add(Magnet("pull", model.ground.marker((0.0, 0.0, 0.3)), ball.marker(), strength=8.0))
    return model


@pytest.mark.jit_off
def test_they_run():
    result = ix.simulate(swing(), (0.0, 2.0), t_eval=0.5, rtol=1e-8)
    assert result.success, result.message
    x, v = result["ball"].position[:, 0], result["ball"].velocity[:, 0]
    assert x[-1] < 3.9
    # m v^2 / 2 = k (1/x - 1/x0); a hundred times the tolerance of the run
    np.testing.assert_allclose(v**2, 8.0 * (1.0 / x - 1.0 / 4.0), atol=1e-6)
    np.testing.assert_allclose(result["ball"].position[:, 2], 0.3, atol=1e-12)  # projected at every output
    np.testing.assert_allclose(result["table"].force[:, 2], 2.0 * 9.80665, rtol=1e-9)  # it carries the weight
    assert np.ptp(result.energy.balance) < 1e-6  # of energies of about 2 J


@pytest.mark.parametrize("pair", zoo.PAIRS[:3], ids="-".join)
def test_derivatives_of_the_force(pair):
    model = ix.Model("two")
    rng = np.random.default_rng(5)
    first, second = zoo.ends(model, pair, rng)
    for k in range(2):
        model.add(Magnet(f"magnet{k}", first, second, strength=5.0 + k))
    derivatives.check_matrix(zoo.random_state(compile_model(model), seed=7))


@pytest.mark.parametrize("check", ["test_rows", "test_gamma_is_the_second_derivative", "test_matrix"])
def test_derivatives_of_the_joint(check):
    model = ix.Model("two")
    first, second = zoo.ends(model, ("rigid", "rigid"), np.random.default_rng(5))
    for k in range(2):
        model.add(Level(f"level{k}", first, second, offset=0.2))
    getattr(derivatives, check)(zoo.random_state(compile_model(model), seed=7))


def test_they_go_through_a_file(tmp_path):
    model = swing()
    ix.save_model(model, tmp_path / "magnet.toml")
    again = ix.load_model(tmp_path / "magnet.toml")
    assert isinstance(again["table"], Level)
    assert again["pull"].strength == 8.0
    assert data_of(again) == data_of(model)
    entry = {"type": "Magnet", "name": "m", "first": "ground", "second": "ball"}
    (tmp_path / "bad.json").write_text(json.dumps({**data_of(model), "forces": [entry]}))
    with pytest.raises(ix.ModelError, match=r"forces\[0\] 'm': Magnet has no 'strength'"):
        ix.load_model(tmp_path / "bad.json")


def test_their_numbers_can_be_changed_in_a_prepared_simulation():
    stronger = swing()
    stronger.forces["pull"].strength = 12.0
    prepared = ix.prepare(swing())
    changed, plain = prepared.run((0.0, 0.1), changes={"pull.strength": 12.0}), ix.simulate(stronger, (0.0, 0.1))
    assert np.array_equal(changed.q, plain.q)
    assert not np.array_equal(changed.q[-1], prepared.run((0.0, 0.1)).q[-1])


def test_numbers_of_a_class_that_nobody_registered_cannot_be_changed():
    class Stronger(Magnet):
        """Known to no model file."""

    model = swing()
    model.add(Stronger("more", model.ground.marker(), model["ball"].marker(), strength=1.0))
    with pytest.raises(ix.ModelError, match=r"'more' has no fields to change: .* only the elements"):
        ix.prepare(model).run((0.0, 0.1), changes={"more.strength": 2.0})


def test_they_are_in_the_schema():
    definitions = schema()["$defs"]
    assert set(definitions["Magnet"]["properties"]) == {"type", "name", "first", "second", "strength"}
    assert definitions["Magnet"]["description"] == "Two points attract each other by strength / distance^2."
    file_type().model_validate(json.loads(json.dumps(data_of(swing()))))


def test_the_page_draws_them(tmp_path):
    result = ix.simulate(swing(), (0.0, 0.1))
    data = payload(result, "magnet")
    assert [(joint["type"], joint["symbol"]) for joint in data["joints"]] == [("Level", "plate")]
    assert [(force["type"], force["symbol"]) for force in data["forces"]] == [("Magnet", "coil")]
    result.to_html(tmp_path / "magnet.html")
    assert '"symbol":"coil"' in (tmp_path / "magnet.html").read_text("utf-8")


def test_a_method_of_ones_own():
    from index3.methods.method import METHODS

    @dataclass(frozen=True)
    class Mild(ix.HHT):
        """HHT with less damping."""

        alpha: float = -0.05
        key = "hht-mild"
        summary = "little damping"

    ix.register(Mild)
    try:
        result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), method="hht-mild")
        assert result.success
        assert result.method == "hht-mild"
    finally:
        del METHODS.added["hht-mild"]


def refusal(thing: Any) -> str:
    """What register says."""
    with pytest.raises(ix.ModelError) as caught:
        ix.register(thing)
    return str(caught.value)


def test_what_cannot_be_registered():
    class Revolute(ix.Revolute):
        """A name that is taken."""

    class Nameless(ix.ForceElement):
        """Neither kind nor fields."""

        no_file = "a test"

    class Bare(ix.ForceElement):
        """No fields."""

        kind = __name__

    class Empty(ix.Joint):
        """No recipe."""

    class Lost(ix.ForceElement):
        """A module without kernels."""

        kind, no_file = "json", "a test"
        __module__ = "json"

    class Ghost(ix.Body):
        """A body without kernels."""

        no_file = "a test"

    class Half(ix.Method):
        """A method that says nothing about itself."""

    assert "'Revolute' of test_own_elements cannot be registered: index3.joints.standard has one" in refusal(Revolute)
    assert "'Nameless' cannot be registered: it has no kind" in refusal(Nameless)
    assert "'Bare' cannot be registered: it has no fields" in refusal(Bare)
    assert "'Empty' cannot be registered: it has no recipe" in refusal(Empty)
    assert "'Lost' cannot be registered: module json has no STAGES and no table" in refusal(Lost)
    assert "'Ghost' cannot be registered: it has no kernels" in refusal(Ghost)
    assert "'Half' cannot be registered: it has no key and no family" in refusal(Half)
    assert "'json' cannot be registered: module json has no ROWS and no STAGES and no record" in refusal(json)
    for wrong in (int, 3.0):
        assert "Give a class derived from Joint, ForceElement, Body, Method or Solver" in refusal(wrong)
    ix.register(Level)  # once more is no harm: a cell of a notebook is run again


def test_a_primitive_that_nobody_registered_is_named():
    class Odd(ix.Revolute):
        recipe = (ix.Primitive("sideways", ("x",)),)

    model = ix.Model()
    with pytest.raises(ix.ModelError, match="There is no primitive 'sideways'"):
        Odd("odd", model.ground, ix.PointMass("a", 1.0), at=(0, 0, 0), axis=(0, 0, 1))


SCRIPT = """
import numpy as np
import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import OK, kernel, slots, view
from index3.forces.force import element_table
from scales import doubled

LIFT = np.dtype([("i", "i8"), ("force", "f8")])
(LIFTS,) = slots(lifts=(LIFT, 1))

class Lift(ix.ForceElement):
    kind, no_file = __name__, "a test"
    def __init__(self, name, body, force):
        super().__init__(name)
        self.markers, self.force = (body.marker(),), force
    def record(self, place):
        return (place.markers[0], self.force)

def table(elements, places):
    return element_table(LIFTS, elements, places)

@kernel
def forces(T, E):
    lifts, f = view(E, LIFTS), view(T, s.MARKER_F)
    for e in range(lifts.shape[0]):
        f[lifts[e].i, 2] += doubled(lifts[e].force)
    return OK

STAGES = {"forces": forces}
ix.register(Lift)
model = ix.Model("lift")
body = model.add(ix.PointMass("bob", 1.0))
model.add(Lift("up", body, 0.5 * 9.80665 + 1.0))
result = ix.simulate(model, (0.0, 1.0))
assert result.success, result.message
with open(f"{__file__}.runs", "a") as file:
    file.write("x")
print("ran", round(float(result["bob"].position[-1, 2]), 4))
"""


def test_a_script_with_kernels_of_its_own(tmp_path):
    """Workers build them without running the script; the helper beside it is part of what they are made from."""
    folder = tmp_path / "my scripts"
    folder.mkdir()
    (folder / "lift.py").write_text(SCRIPT)
    scales = "from index3.compiled.interface import helper\n\n@helper\ndef doubled(x):\n    return {} * x\n"
    (folder / "scales.py").write_text(scales.format("2.0"))
    run = [sys.executable, str(folder / "lift.py")]
    answer = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert answer.stdout == "ran 1.0\n", answer.stderr
    (folder / "scales.py").write_text(scales.format("1.0"))  # an edited helper is never served from an old object
    answer = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert answer.stdout == f"ran {round(0.5 * (1.0 - 0.5 * 9.80665), 4)}\n", answer.stderr
    assert (folder / "lift.py.runs").read_text() == "xx"


def test_kernels_without_a_file_are_refused():
    with pytest.raises(ix.Index3Error, match="Module nowhere has kernels, but no source file"):
        sources.digest("nowhere")


def test_a_module_beside_is_part_of_the_digest():
    assert {"same_height", "heights", "index3.constraints.rows"} <= sources.imports("same_height")
    assert "test_derivatives" in sources.imports(__name__)  # more than the kernels need: never less
