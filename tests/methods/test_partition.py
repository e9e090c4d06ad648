"""Coordinate partitioning: what is chosen, dense and sparse, what it costs, when it is chosen anew, what it changes."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import orders
from test_state_space import MODELS, consistent_state, end_states, observed

import index3 as ix
from index3.compiled import slots as s
from index3.methods import run
from index3.methods.explicit import runge_kutta_method
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import (
    elimination,
    frame,
    jacobian,
    partition,
    rosenbrock,
    rosenbrock_method,
    sdirk_method,
)
from index3.methods.state_space.frame_table import Frame
from index3.methods.state_space.partition import (
    DENSE,
    Partition,
    choose_partition,
    dense_rows,
    eliminate_dense,
    eliminate_sparse,
    elimination_table,
    give_room,
)
from index3.methods.state_space.rosenbrock_method import Rosenbrock4
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State


@pytest.fixture
def frames(monkeypatch):
    """Tables of the frames of the runs that follow."""
    tables = []

    class Kept(Frame):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            tables.append(self.table)

    for module in (sdirk_method, rosenbrock_method, runge_kutta_method):
        monkeypatch.setattr(module, "Frame", Kept)
    return tables


def partitions(frames):
    return int(frames[-1][frame.FLAGS][frame.PARTITIONS])


def test_partition_of_the_thesis_pendulum():
    """Section 5.1: theta1 and y2 are independent at the start."""
    state = consistent_state(ix.library.double_pendulum(), 0)
    partition = choose_partition(state)
    assert partition.independent.tolist() == [2, 4]  # q = (x1, y1, theta1, x2, y2, theta2)
    assert partition.dependent[0] == 5


def test_partition_changes_the_parametrisation_only():
    """A-11: other independent coordinates: the same order, and the same limit (S4-109)."""
    model = ix.library.four_bar()
    states = end_states(model, "descriptor-sdirk4", 0.1, (10, 20, 40), parametrization="partition")
    assert np.all(np.abs(observed(states) - 4.0) < 0.2)  # the bar of every method
    tangent = end_states(model, "descriptor-sdirk4", 0.1, (40,))[0]
    assert np.abs(states[-1][0] - tangent[0]).max() < 1e-8  # both within their errors of 1e-9


def test_partition_goes_through_a_full_turn(frames):
    """The driven crank turns once: partitions are chosen anew on the way, with no loss of accuracy (S4-23)."""
    model = ix.library.slider_crank()
    ends = [
        ix.simulate(model, (0, 1), "firstorder-sdirk4", rtol=1e-6, t_eval=[1.0], parametrization=name)
        for name in ("tangent-plane", "partition")
    ]
    assert partitions(frames) > 3
    assert all(result.success for result in ends)
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-4  # 100 times the tolerance


RUNS = {
    "four_bar": (ix.library.four_bar, 0.5),
    "chain": (lambda: ix.library.chain(4, springs=True), 0.5),
    "andrews": (ix.library.andrews, 0.03),
}


@pytest.mark.parametrize(
    "key", ["rosenbrock4", "firstorder-sdirk4", "statespace-trapezoidal", "adams", "dopri5", "dop853"]
)
@pytest.mark.parametrize("name", list(RUNS))
def test_both_parametrisations_give_the_same_motion(name, key, frames):
    make, span = RUNS[name]
    ends = [
        ix.simulate(make(), (0, span), key, rtol=1e-6, t_eval=[span], parametrization=parametrization)
        for parametrization in ("tangent-plane", "partition")
    ]
    assert all(result.success for result in ends), ends[1].message
    assert partitions(frames) > 0
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-4  # 100 times the tolerance


@pytest.mark.parametrize("key", ["rosenbrock4", "descriptor-sdirk4"])
def test_order_over_several_partitions(key, frames):
    """The crank goes round: partitions change at step ends, and nothing restarts (S4-109)."""
    counts = (800, 1600, 3200) if key == "rosenbrock4" else (400, 800, 1600)  # 4.28 at the coarser ones
    states = end_states(ix.library.slider_crank(), key, 1.0, counts, parametrization="partition")
    assert partitions(frames) > 3
    assert np.all(np.abs(observed(states) - 4.0) < 0.2)  # the bar of every method


@pytest.mark.parametrize(("key", "settings"), [("dopri5", {}), ("adams", {"order": 4})])
def test_explicit_order_over_several_partitions(key, settings, frames):
    """S4-24: histories and stages hold all coordinates; the order does not suffer where the independent ones change."""
    model, order = ix.library.slider_crank(), settings.get("order", 5)
    counts = (200, 400, 800) if key == "dopri5" else (400, 800, 1600)
    exact = end_states(model, "dop853", 1.0, (800,))[0][0]
    states = end_states(model, key, 1.0, counts, parametrization="partition", **settings)
    assert partitions(frames) > 3
    errors = np.array([[np.linalg.norm(q - exact)] for q, _, _ in states])
    assert np.all(orders(errors) > order - 0.2)  # the bar of every method; they are better than that here


def test_explicit_methods_on_a_large_chain(frames):
    """210 coordinates, eliminated sparse."""
    ends = [
        ix.simulate(ix.library.chain(30), (0, 0.5), "adams", rtol=1e-7, t_eval=[0.5], parametrization=name)
        for name in ("tangent-plane", "partition")
    ]
    assert partitions(frames) > 0
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-6  # measured 2e-8 at 1e-6


def test_free_stages_and_a_partition_contradict_each_other():
    with pytest.raises(ix.ModelError, match="stages='free' recovers no coordinates"):
        ix.simulate(ix.library.pendulum(), (0, 0.1), "dopri5", stages="free", parametrization="partition")
    with pytest.raises(ix.ModelError, match="stabilization='post' does not recover dependent coordinates"):
        ix.simulate(ix.library.pendulum(), (0, 0.1), "dopri5", stabilization="post", parametrization="partition")


@pytest.mark.parametrize("name", ["four_bar", "chain", "andrews"])
def test_compiled_derivatives_of_a_partition(name, frames):
    """S4-110: J1, J2 of the kernel with the thesis's coordinates, after one tiny step, against the dense ones."""
    state = consistent_state(MODELS[name](), 3)
    parts = jacobian.evaluate_parts(state)
    progress = Run(
        state, Projector(state).solver, (0.0, 1e-9), rtol=1e-6, atol=np.full(state.system.n, 1e-8), newton_tol=1e-11,
        t_eval=np.zeros(0), step=1e-9, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    table = Rosenbrock4(parametrization="partition").start(progress, None)
    assert progress.advance(Rosenbrock4.kernel, table, 10) == run.DONE
    independent = np.flatnonzero(frames[-1][frame.FIXED])
    dependent = np.setdiff1d(np.arange(state.system.n), independent)
    chosen = Partition(dependent, independent, parts.partition.rows)
    exact = jacobian.by_columns(jacobian.Parts(chosen, *list(vars(parts).values())[1:]))
    for mine, dense in zip((rosenbrock.J1, rosenbrock.J2), exact, strict=True):
        assert np.abs(table[mine] - dense).max() < 1e-7 * max(1.0, np.abs(dense).max())  # t differs by 1e-9


def swung(links, seconds=0.0):
    """A chain after some time, Jacobian evaluated."""
    model = ix.library.chain(links)
    state = State(compile_model(model))
    if seconds > 0.0:
        result = ix.simulate(model, (0, seconds), rtol=1e-5, t_eval=[seconds])
        state.move(seconds, result.q[-1], result.v[-1])
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    return state


def response(state, columns, rows):
    """Condition of the dependent columns, and how far a dependent coordinate moves with an independent one."""
    phi_q = dense_rows(state)[rows]
    independent = np.setdiff1d(np.arange(phi_q.shape[1]), columns)
    answer = np.linalg.solve(phi_q[:, columns], phi_q[:, independent])
    return np.linalg.cond(phi_q[:, columns]), np.abs(answer).max()


@pytest.mark.parametrize(
    "make", [ix.library.four_bar, ix.library.andrews, lambda: ix.library.chain(6), ix.library.hmmwv14]
)
def test_sparse_and_dense_elimination_find_the_same_rank(make):
    state = consistent_state(make(), 0)
    found = [eliminate_dense(dense_rows(state)), eliminate_sparse(state)]
    assert len({len(part) for pair in found for part in pair}) == 1
    conditions = [response(state, *pair)[0] for pair in found]
    assert conditions[1] < 10 * conditions[0]  # sparse choices are nearly as good; measured 0.3 to 1.2


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_sparse_elimination_grows_with_the_chain(seconds):
    """From chain(50) to chain(400) multiplications and entries grow at most by 8 times 25/20: linear."""
    counts = np.array([elimination_table(swung(links, seconds))[elimination.INFO] for links in (50, 400)])
    assert counts[1, elimination.RANK] == 8 * counts[0, elimination.RANK]
    for kind in (elimination.PRODUCTS, elimination.ENTRIES):
        assert counts[1, kind] <= 1.25 * 8 * counts[0, kind], counts


def test_pivots_stay_until_they_are_too_small():
    state = swung(30, 0.2)
    table = elimination_table(state)
    first = table[elimination.PIVOT].copy()
    elimination.eliminate(state.handle, table.handle)
    assert np.array_equal(table[elimination.PIVOT], first)
    row = state.system.row_names.index("link15.normalisation")
    column = first[row]
    state[s.PHI_Q][state[s.BLOCK_COL] == column] *= 1e-3
    assert elimination.eliminate(state.handle, table.handle) == 0
    changed = np.flatnonzero(table[elimination.PIVOT] != first)
    assert row in changed
    assert len(changed) <= 3  # rows of one body, of 180


def test_elimination_without_room_says_so():
    state = swung(30)
    table = elimination_table(state)
    give_room(table, 20)
    assert elimination.eliminate(state.handle, table.handle) == elimination.FULL
    assert not table[elimination.WORK].any()
    assert not table[elimination.MARK].any()


def test_partition_of_a_large_chain(frames):
    """210 coordinates, eliminated sparse: the order, and the same motion as on the plane."""
    model = ix.library.chain(30)
    states = end_states(model, "descriptor-sdirk4", 1.0, (40, 80, 160), parametrization="partition")
    assert partitions(frames) > 0
    assert np.all(np.abs(observed(states)[:, 0] - 4.0) < 0.2)  # the bar of every method
    tangent = end_states(model, "descriptor-sdirk4", 1.0, (160,))[0]
    assert np.abs(states[-1][0] - tangent[0]).max() < 1e-6  # both within their errors of 1e-7


def test_sparse_partitions_follow_a_motion(frames, monkeypatch):
    """A chain that falls through its lowest position, eliminated sparse: no more steps than with dense elimination."""
    model, counts, ends = ix.library.chain(10), [], []
    for limit in (0, DENSE):
        monkeypatch.setattr(partition, "DENSE", limit)
        ends.append(
            ix.simulate(model, (0, 2), "firstorder-sdirk4", rtol=1e-6, t_eval=[2.0], parametrization="partition")
        )
        counts.append(partitions(frames))
    assert all(result.success for result in ends)
    assert min(counts) > 3
    assert ends[0].stats["steps"] < 1.1 * ends[1].stats["steps"]  # measured 124 and 125 at 1e-5
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-3  # the motion amplifies errors of 1e-6 a hundred times


def test_partitions_in_the_middle_of_a_chain_do_not_amplify():
    """Dependent coordinates move by a bounded factor with independent ones, whatever the length (seen: 4)."""
    state = swung(10, 1.44)
    assert response(state, *eliminate_sparse(state))[1] < 10
