"""What the thesis says about the stages of a step: reduced solves, error weights, starting values, when to stop."""

from __future__ import annotations

import numpy as np
import pytest
from oscillator import oscillator, start_run
from test_state_space import KEYS, MODELS, TRAPEZOIDALS, consistent_state

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import JIT, view
from index3.linear.reference import sparse_matrix
from index3.methods import run
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import frame, jacobian, rosenbrock, sdirk
from index3.methods.tableaus import SDIRK4_15, Tableau, fractions
from index3.system import evaluate

SDIRKS = [key for key in KEYS if key != "rosenbrock4"]


def sliders():
    """Three blocks on rails of different directions, joined by springs and dampers that differ: nothing curves."""
    model = ix.Model("sliders", gravity=(0, -9.81, 0))
    blocks = []
    for k, axis in enumerate(((1, 0, 0), (0.6, 0.8, 0), (0, 1, 0))):
        block = model.add(ix.PlanarBody(f"block{k}", 1.0 + k, 1.0, position=(2.0 * k, 1.0 - k)))
        model.add(ix.Prismatic(f"rail{k}", model.ground, block, at=(2.0 * k, 1.0 - k, 0), axis=axis))
        blocks.append(block)
    for k, (a, b) in enumerate(((0, 1), (1, 2), (2, 0))):
        law = {"stiffness": 1e3 * (1 + k), "damping": 50.0 * (2 - k), "length": 1.5}
        model.add(ix.SpringDamper(f"spring{k}", blocks[a].marker(), blocks[b].marker(), **law))
    return model


def one_step(model, key, h):
    """The run and the method's table after one accepted step of size h with error control, velocities at its start."""
    state, method = consistent_state(model, 4), ix.METHODS[key]()
    jacobian.evaluate_parts(state)
    progress = Run(
        state, Projector(state).solver, (0.0, 1.0), rtol=1e-2, atol=np.full(state.system.n, 10.0), newton_tol=1e-11,
        t_eval=np.zeros(0), step=0.0, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    table = method.start(progress, h)
    assert progress.advance(method.kernel, table, 1) == run.BUDGET
    assert progress.counters()["steps"] == 1
    return progress, table


def both_rows(j1, j2, g, e_q, e_v):
    """(I - g G) x = e with the 2 ndof rows of G = [0 I; J1 J2]: (3.100)."""
    one = np.eye(len(j1))
    return np.split(np.linalg.solve(np.block([[one, -g * one], [-g * j1, one - g * j2]]), np.r_[e_q, e_v]), 2)


@pytest.mark.parametrize("name", list(MODELS))
def test_reduced_solve_of_a_rosenbrock_step(name):
    """S4-37: ndof rows factored for a step, I - g J2 - g^2 J1, give what the 2 ndof rows of (3.100) give."""
    h = 0.02 if name == "four_bar" else 1e-2  # an error estimate well above rounding
    _, table = one_step(MODELS[name](), "rosenbrock4", h)
    g = h * table[rosenbrock.SETTINGS][rosenbrock.E_ROOT]
    vectors, u = table[rosenbrock.VECTORS], table[rosenbrock.U]
    e_q, e_v = h * vectors[rosenbrock.EP_W] @ u, vectors[rosenbrock.EV_W] @ u  # of the embedded formula
    x_q, x_v = both_rows(table[rosenbrock.J1], table[rosenbrock.J2], g, e_q, e_v)
    assert np.abs(e_v - x_v).max() > 1e-4 * np.abs(x_v).max()  # J1 and J2 matter
    assert np.abs(table[rosenbrock.ERR_V] - x_v).max() < 1e-10 * np.abs(x_v).max()  # the demand
    assert np.abs(table[rosenbrock.ERR_Y] - x_q).max() < 1e-10 * np.abs(x_q).max()


def test_reduced_solve_without_derivatives_of_accelerations():
    """S4-37: SDIRK's bordered matrix, in which J1 and J2 do not appear, gives what the 2 ndof rows of (3.100) give.

    On straight rails, where errors lie in the tangent plane V: J1 = -(V'MV)^-1 V'KV, J2 = -(V'MV)^-1 V'DV.
    """
    h = 1e-2
    progress, table = one_step(sliders(), "firstorder-sdirk4", h)
    n, sparsity = progress.system.n, progress.system.sparsity
    M, K, D = (
        sparse_matrix(sparsity, table.keep.table[slot]).toarray() for slot in (frame.MASS, frame.STIFF, frame.DAMP)
    )
    _, values, rows = np.linalg.svd(M[n:, :n])
    V = rows[len(values) :].T
    M, K, D = (V.T @ x[:n, :n] for x in (M, K, D))
    e_q, e_v = (np.linalg.solve(M @ V, M @ table[slot]) for slot in (sdirk.ERR_Q, sdirk.ERR_V))
    j1, j2 = (-np.linalg.solve(M @ V, x @ V) for x in (K, D))
    x_q, x_v = (V @ x for x in both_rows(j1, j2, h * 4 / 15, e_q, e_v))
    assert np.abs(V @ e_v - x_v).max() > 0.02 * np.abs(x_v).max()  # J1 and J2 matter
    assert np.abs(table[sdirk.OUT_V] - x_v).max() < 1e-10 * np.abs(x_v).max()  # the demand
    assert np.abs(table[sdirk.OUT_Q] - x_q).max() < 1e-10 * np.abs(x_q).max()


def test_printed_error_weights_are_those_of_the_tableau():
    """S4-51: bhat of (4.83), and d-bar of (4.87) as printed is (b - bhat) A^-1 to the last digit of its fractions."""
    embedded = fractions("33665407/11668050 -2284766/15662025 11244716/4704885 -96203066666797/23297141763930 0")[0]
    d_bar = fractions(
        "-7752107607/11393456128 17881415427/11470078208 -2433277665/179459416 96203066666797/6212571137048 1"
    )[0]
    assert SDIRK4_15.embedded == embedded
    assert SDIRK4_15.product(d_bar) == SDIRK4_15.error
    _, table = one_step(sliders(), "firstorder-sdirk4", 1e-2)
    assert table[sdirk.ERROR_V] == pytest.approx([float(x) for x in SDIRK4_15.error], rel=1e-15)  # what a run weighs by
    weights = np.array(table[sdirk.ERROR_V]) @ np.array(SDIRK4_15.A, float)  # a position is the sum of A's velocities
    assert table[sdirk.ERROR_Q] == pytest.approx(weights, rel=1e-13)  # rounding of five products
    assert weights @ np.ones(5) == pytest.approx(0.0, abs=1e-14)  # (b - bhat) A e = 1/2 - 1/2


@pytest.mark.parametrize(("push", "code"), [(1e-3, 0), (0.2, frame.STUCK)])
def test_a_recovery_as_long_as_the_step_is_refused(push, code):
    """What a formula leaves off the constraints is taken back; not if that is all it did: that may be another branch.

    A rod on a pin is pushed along itself, from where its last step began, and so nowhere along its motion.
    """
    model = ix.Model("pendulum", gravity=(0, -9.81, 0))
    rod = model.add(ix.PlanarBody("rod", 1.0, 1 / 12, position=(0.5, 0), spin=1.0, velocity=(0, 0.5)))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 0, 1)))
    progress, table = one_step(model, "firstorder-sdirk4", 1e-2)
    state, keep = progress.state, table.keep.table
    start = progress[run.NEW_Q].copy()
    state.move(progress.t, start + push * np.array((np.cos(start[2]), np.sin(start[2]), 0.0)), progress[run.NEW_V])
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    for slot in (frame.NORMAL_Q, frame.NORMAL_V):
        keep[slot][:] = 0.0
    keep[frame.SETTINGS][[frame.CLOSED, frame.REACH]] = 1e-10, 0.01
    assert frame.project_state(state.handle, keep.handle) == code
    assert state[s.Q] == pytest.approx(start, abs=1e-4)  # brought back all the same, to second order in the push


def slow_iteration(key, rate, most):
    """A first try whose corrections change by this rate each, at most so many: counters, and next step over this one.

    The spring is a user's force without derivatives, so the iteration does not know it: the rate is k (gamma h)^2 / m.
    """
    h, method = 0.01, ix.METHODS[key](max_iterations=most)
    stiffness = rate / (float(method.tableau.gamma) * h) ** 2

    def pull(t, r, A, v, w, p, out):
        out[0, 0] = -stiffness * r[0][0]

    model = ix.Model("spring", gravity=(0, 0, 0))
    block = model.add(ix.PlanarBody("block", 1.0, 1.0, position=(0.1, 0)))
    model.add(ix.Prismatic("rail", model.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(ix.UserForce("spring", block, pull, jacobian="none"))
    progress, table = start_run(model, method, first_step=h)
    assert progress.advance(method.kernel, table, 1) == run.BUDGET
    return progress.counters(), progress[run.CLOCK][run.H_NEXT] / h


@pytest.mark.parametrize("key", SDIRKS)
@pytest.mark.parametrize(("rate", "corrections"), [(1.1, 3), (1.5, 3), (4.0, 2)])
def test_iterations_that_diverge_end_early(key, rate, corrections):
    """S4-54 (c1): theta >= 1 ends the try at the third correction (the second if it doubles), of 100; then h/2."""
    counts, ratio = slow_iteration(key, rate, 100)
    assert (counts["newton_failed"], counts["rejected"], counts["steps"]) == (1, 1, 0)
    assert counts["newton"] == corrections
    assert ratio == 0.5


@pytest.mark.parametrize("key", SDIRKS)
def test_iterations_that_would_take_too_long_end_early(key):
    """S4-54 (c2): at theta = 0.3 ten corrections leave too much, which the third one foretells; 100 are enough."""
    counts, ratio = slow_iteration(key, 0.3, 10)
    assert (counts["newton_failed"], counts["newton"]) == (1, 3)
    assert ratio == 0.5
    counts, _ = slow_iteration(key, 0.3, 100)
    assert counts["newton_failed"] == 0
    assert counts["newton"] > 10 * (ix.METHODS[key].tableau.stages - (key in TRAPEZOIDALS))


def test_one_iteration_is_enough_where_it_converges_fast():
    """S4-53: a linear oscillator by the trapezoidal rule; one correction a step with the thesis's kappa, two with ours.

    SDIRK stages, much longer, still take two: their starting values are not as good.
    """
    few, more = (
        ix.simulate(oscillator(100.0, damping=1.0), (0.0, 1.0), "statespace-trapezoidal", kappa=kappa).stats
        for kappa in (1e-2 * 1000**0.5, 1e-4 * 1000**0.5)  # held at rtol 1e-6, as in the thesis: ours shrinks
    )
    assert few["newton"] < 1.1 * few["steps"]
    assert 1.5 * more["steps"] < more["newton"] < 2.1 * more["steps"]  # a linear problem needs no third


plain = pytest.mark.skipif(JIT, reason="counts inside kernels: with INDEX3_JIT=0")


@plain
@pytest.mark.jit_off
def test_later_stages_start_better(monkeypatch):
    """S4-43: starting from values of earlier stages, the fifth stage takes no more corrections than the second.

    First-order SDIRK: 2.9, 3.0, 2.4, 2.3, 2.5 of the stages on the average; 2.8, 3.5, 3.3, 3.2, 3.4 if all stages start
    from the acceleration before the step.
    """
    taken, solve = [], sdirk.solve_stage

    def counted(T, E, R, F, S, i, t, h):
        counts = view(R, run.COUNTS)
        before = counts[run.N_NEWTON]
        code = solve(T, E, R, F, S, i, t, h)
        taken.append((i, counts[run.N_NEWTON] - before))
        return code

    def means():
        taken.clear()
        assert ix.simulate(ix.library.double_pendulum(), (0, 0.2), "firstorder-sdirk4", rtol=1e-4).success
        stage, corrections = np.array(taken).T
        assert np.count_nonzero(stage == 4) > 10
        return [corrections[stage == i].mean() for i in range(5)]

    monkeypatch.setattr(sdirk, "solve_stage", counted)
    with_starts = means()
    monkeypatch.setattr(Tableau, "starts", lambda self, last: np.eye(1, self.stages + 1).repeat(self.stages, axis=0))
    without = means()
    print("corrections of the stages:", np.round(with_starts, 2), "without starting values:", np.round(without, 2))
    assert with_starts[4] <= with_starts[1]
    assert with_starts[4] < without[4] - 0.5


@plain
@pytest.mark.jit_off
@pytest.mark.parametrize("name", ["four_bar", "andrews"])
def test_recovery_takes_few_iterations(name, monkeypatch):
    """S4-21: positions are recovered with directions of the last accepted state in at most 4 iterations, typically."""
    rounds, recover, add = [], frame.recover_positions, frame.add_correction

    def counted_recovery(*arguments):
        rounds.append(0)
        return recover(*arguments)

    def counted_add(F, target, normal, x):
        rounds[-1] += normal is view(F, frame.NORMAL_Q)
        add(F, target, normal, x)

    monkeypatch.setattr(frame, "recover_positions", counted_recovery)
    monkeypatch.setattr(frame, "add_correction", counted_add)
    span = {"four_bar": 0.05, "andrews": 0.002}[name]
    assert ix.simulate(MODELS[name](), (0, span), "statespace-trapezoidal", rtol=1e-4).success
    print(name, "iterations of the recovery:", np.bincount(rounds), "mean", np.mean(rounds))
    assert len(rounds) > 20
    assert np.mean(np.array(rounds) <= 4) > 0.9
