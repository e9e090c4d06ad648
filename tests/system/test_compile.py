"""From a model to its System: numbers, names, graph, and what it costs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import JIT
from index3.system import evaluate, kinds
from index3.system.compile import compile_model
from index3.system.state import State


def test_a_model_without_bodies_is_named():
    with pytest.raises(ix.ModelError, match="Model 'empty' has no bodies"):
        compile_model(ix.Model("empty"))


def test_counts_and_names_of_a_four_bar():
    system = compile_model(ix.library.four_bar())
    assert (system.n, system.m) == (21, 23)
    bodies = [f"{name}.normalisation" for name in ("crank", "coupler", "rocker")]
    joints = [f"{name}.{label}" for name in "ABCD" for label in ("x", "y", "z", "x1.z2", "y1.z2")]
    assert system.row_names == bodies + joints
    assert system.row_labels[0] == "RigidBody 'crank'"
    assert system.row_labels[-1] == "Revolute 'D'"


def test_andrews_has_21_coordinates_and_20_rows():
    system = compile_model(ix.library.andrews())
    assert (system.n, system.m) == (21, 20)


def test_rows_of_groups_follow_each_other(mixed):
    mixed.add(ix.Spherical("a", mixed["r0"], mixed["m0"], at=(2, 0, 0)))
    hinge = mixed.add(ix.Revolute("b", mixed["r0"], mixed["r1"], at=(1, 0, 0), axis=(0, 1, 0)))
    mixed.add(ix.CoordinateConstraint("c", mixed["p0"], "x"))
    mixed.add(ix.KnifeEdge("d", mixed.ground, mixed["r1"], at=(3, 0, 0), axis=(0, 1, 0)))
    mixed.add(ix.Motion("e", hinge, 0.0))
    mixed.add(ix.Force("f", mixed["r0"], (1, 0, 0)))
    system = compile_model(mixed)
    assert [(group.name, group.row, group.rows) for group in system.groups] == [
        ("a", 2, 3), ("b", 5, 5), ("c", 10, 1), ("d", 11, 1), ("e", 12, 1), ("f", 13, 0),
    ]  # fmt: skip
    assert system.m == 13
    assert system.row_names[2:5] == ["a.x", "a.y", "a.z"]
    assert system.row_names[10:] == ["c.x", "d.sideways", "e.angle"]
    assert system.level.tolist() == [0] * 11 + [1, 0]


def test_ragged_pieces_do_not_overlap():
    system = compile_model(ix.library.chain(5, springs=True))
    state = State(system)
    groups = system.fixed[s.GROUPS]
    widths = 6 * groups["marker_count"]
    for field, sizes, slot in (
        ("gradient", widths * groups["row_count"], s.ROW_G),
        ("stiffness", widths**2, s.GROUP_K),
    ):
        np.testing.assert_array_equal(groups[field][1:], (groups[field] + sizes)[:-1])
        assert groups[field][-1] + sizes[-1] == len(state[slot])
    markers = system.fixed[s.MARKERS]
    np.testing.assert_array_equal(markers["jacobian"], np.concatenate([[0], np.cumsum(6 * markers["count"])])[:-1])


def test_coordinates_start_where_bodies_say(mixed):
    system = compile_model(mixed)
    assert system.starts.tolist() == [0, 7, 10, 13, 20]
    np.testing.assert_array_equal(system.q0[7:10], mixed["p0"].q0)
    np.testing.assert_array_equal(system.v0[10:13], mixed["m0"].v0)


def test_kinds_that_are_not_used_have_no_kernels():
    system = compile_model(ix.library.pendulum())
    used = {element.kind for _, elements, _ in system.stages for element in elements if hasattr(element, "kind")}
    assert used == {"rigid"}
    assert len(system.fixed[s.STAGES]) == len(system.stages) == system.fixed[s.STAGE_FIRST][-1]
    assert len(system.fixed[s.STAGE_FIRST]) == len(kinds.STAGES) + 1


def graph(model):
    """The bodies that each group with rows touches, by name."""
    system = compile_model(model)
    names = [*(body.name for body in system.bodies), "ground"]
    return [{names[k] for k in bodies} for bodies in system.joint_bodies]


def test_joint_graph_of_spatial_bodies(mixed):
    mixed.add(ix.Revolute("a", mixed["r0"], mixed["r1"], at=(1, 0, 0), axis=(0, 1, 0)))
    mixed.add(ix.Revolute("b", mixed.ground, mixed["r1"], at=(3, 0, 0), axis=(0, 1, 0)))
    mixed.add(ix.SpringDamper("s", mixed["r0"], mixed["r1"], points=((0, 0, 0), (3, 0, 0)), stiffness=1.0))
    assert graph(mixed) == [{"r0", "r1"}, {"r1", "ground"}]


def test_joint_graph_names_ground_where_kinds_mix(mixed):
    """A planar body cannot follow a spatial one out of the plane: its joint holds the other to ground."""
    mixed.add(ix.Revolute("a", mixed["r0"], mixed["p0"], at=(1, 0, 0), axis=(0, 0, 1)))
    mixed.add(ix.Spherical("b", mixed["p0"], mixed["m0"], at=(2, 0, 0)))
    mixed.add(ix.Spherical("c", mixed["r1"], mixed["m0"], at=(2, 0, 0)))
    mixed.add(ix.CoordinateConstraint("d", mixed["m0"], "x"))
    assert graph(mixed) == [{"r0", "p0", "ground"}, {"p0", "m0", "ground"}, {"r1", "m0"}, {"m0", "ground"}]


def test_every_unknown_belongs_to_a_body_or_a_joint(mixed):
    mixed.add(ix.Spherical("a", mixed["r0"], mixed["m0"], at=(2, 0, 0)))
    mixed.add(ix.CoordinateConstraint("b", mixed["m0"], "x"))
    system = compile_model(mixed)
    assert system.node_of_scalar.tolist() == [0] * 7 + [1] * 3 + [2] * 3 + [3] * 7 + [0, 3] + [4] * 3 + [5]


@pytest.mark.jit_off
def test_two_states_of_a_system_are_apart():
    system = compile_model(ix.library.pendulum())
    first, second = State(system), State(system)
    first.move(1.0, system.q0 + 1.0, system.v0)
    np.testing.assert_array_equal(second[s.Q], system.q0)
    assert second[s.TIME][0] == 0.0
    assert np.shares_memory(first[s.MARKERS], second[s.MARKERS])  # data are shared


def test_functions_of_time_are_called_in_order_and_failures_kept():
    model = ix.Model("driven")
    body = model.add(ix.PointMass("ball", 1.0))

    def push(t):
        raise ZeroDivisionError("at once")

    model.add(ix.Force("push", body, push))
    system = compile_model(model)
    state = State(system)
    assert state.run(evaluate.forces) == evaluate.BAD_FUNCTION
    assert "Force 'push': its function of time raised ZeroDivisionError" in system.explain(state)
    assert isinstance(system.take_failures()[0], ZeroDivisionError)
    assert system.take_failures() == []


def calls_of_compiling(model):
    """How many Python functions are called to compile a model."""
    count = 0

    def tally(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        compile_model(model)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.skipif(not JIT, reason="counts the calls of the way users run")
def test_compiling_a_chain_costs_the_same_for_every_link():
    """Calls grow linearly and stay few: 404 a link when this was written, 0.4 s of a processor for 1000 links."""
    compile_model(ix.library.chain(2))  # kernels loaded
    counts = [calls_of_compiling(ix.library.chain(n)) for n in (50, 100, 200)]
    per_link = (counts[1] - counts[0]) / 50, (counts[2] - counts[1]) / 100
    assert per_link[1] == pytest.approx(per_link[0], rel=0.02)  # arrays grow by doubling now and then
    assert per_link[1] < 500  # a quarter more than when this was written
