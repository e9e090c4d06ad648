"""The first state of a run: what its kernels take over, the energies they measure, and the first step they choose."""

import math

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.linear.registry import solver_of
from index3.methods import audit, run
from index3.methods.direct import transient
from index3.methods.direct.tables import within_transient
from index3.methods.run_table import Run
from index3.system import evaluate

RTOL, ATOL = 1e-3, 1e-5


def swinging():
    """A rod that swings, and a ball on a spring at its end."""
    model = ix.Model("swinging")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0, angular_velocity=(0, 3, 0)))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    ball = model.add(ix.PointMass("ball", 0.5, position=(2, 0, 0), velocity=(0, 0, -1)))
    model.add(ix.SpringDamper("coil", rod, ball, points=((1, 0, 0), (2, 0, 0)), stiffness=50.0, length=0.3))
    return model


@pytest.fixture
def begun():
    """A run that has taken its first state."""
    equations = Equations(swinging(), "test")
    equations.close(0.0)
    settings = {"rtol": RTOL, "atol": np.full(equations.system.n, ATOL), "newton_tol": 1e-10}
    rest = {"t_eval": None, "step": 0.0, "max_step": math.inf, "max_steps": None}
    return Run(equations.state, solver_of(equations.system), (0.0, 2.0), **settings, **rest)


def test_both_last_states_are_the_state(begun):
    state = begun.state
    for old, new, slot in (
        (run.OLD_Q, run.NEW_Q, s.Q),
        (run.OLD_V, run.NEW_V, s.V),
        (run.OLD_A, run.NEW_A, s.A),
        (run.OLD_LAM, run.NEW_LAM, s.LAM),
    ):
        assert np.array_equal(begun[old], state[slot])
        assert np.array_equal(begun[new], state[slot])
    assert np.array_equal(begun[run.LARGEST], np.abs(state[s.Q]))
    assert np.array_equal(begun[run.LARGEST_V], np.abs(state[s.V]))
    assert begun[run.CLOCK][run.SPEED_NEW] == pytest.approx(3.0, rel=1e-12)  # of the pin's angle: rounding


def test_energies_and_what_the_weights_allow(begun):
    """Against the same sums in NumPy; the state is left as it was."""
    state, a, lam = begun.state, begun.state[s.A].copy(), begun.state[s.LAM].copy()
    begun[run.AUDIT][:] = 0.0
    begun[run.AUDIT][audit.PART], begun[run.WORK][run.WORK_NEW] = 0.1, 3.0
    begun.measure_start()
    assert np.array_equal(state[s.A], a)
    assert np.array_equal(state[s.LAM], lam)
    w, w_v = ATOL + RTOL * np.abs(state[s.Q]), ATOL + RTOL * np.abs(state[s.V])
    state[s.LAM][:] = 0.0
    assert state.run(evaluate.forces, evaluate.energy) == 0
    force, energy = np.abs(state[s.G]) @ w, state[s.ENERGY].copy()
    state[s.A][:] = w_v
    assert state.run(evaluate.mass) == 0
    found = [begun[run.AUDIT][place] for place in (audit.KINETIC, audit.POTENTIAL, audit.FLOOR)]
    wanted = [energy[s.KINETIC], energy[s.POTENTIAL], force + 0.5 * abs(state[s.MA] @ w_v)]
    assert found == pytest.approx(wanted, rel=1e-13)  # sums of eleven terms, in another order
    kinetic, potential, floor = found
    balances = (audit.BALANCE, audit.LEAST, audit.LEAST_RAW, audit.MOST)
    assert {float(begun[run.AUDIT][place]) for place in balances} == {kinetic + potential - 3.0}
    assert begun[run.AUDIT][audit.SCALE] == max(kinetic, floor / 0.1)
    assert begun[run.AUDIT][audit.MOST_HELD] == kinetic + potential
    assert begun[run.AUDIT][audit.STRICT] == 1.0


def test_the_balance_goes_on_behind_a_restart(begun):
    """Bounds and scale of before stay; the balance is that of the new state."""
    watched = begun[run.AUDIT]
    watched[audit.PART], watched[audit.STRICT], watched[audit.SCALE], watched[audit.LEAST] = 0.1, 4.0, 1e9, -7.0
    begun.measure_start()
    assert (watched[audit.STRICT], watched[audit.SCALE], watched[audit.LEAST]) == (4.0, 1e9, -7.0)
    assert watched[audit.BALANCE] == watched[audit.KINETIC] + watched[audit.POTENTIAL] != 0.0


@pytest.mark.parametrize(("order", "slower", "by_order"), [(1, 1.0, False), (1, 5e-4, True), (2, 1e-5, True)])
def test_the_first_step_changes_y_by_a_hundredth_of_its_weights(begun, order, slower, by_order):
    """[Hairer, Norsett, Wanner] II.4 in NumPy, of motions that either of its two rules is for."""
    w, w_v = begun.weights, begun.velocity_weights
    begun[run.NEW_V][:] *= slower
    begun[run.NEW_A][:] *= slower
    q, v, a = begun[run.NEW_Q], begun[run.NEW_V], begun[run.NEW_A]
    d0, d1 = (math.sqrt(np.mean(np.concatenate([x / w, y / w_v]) ** 2)) for x, y in ((q, v), (v, a)))
    euler, root = 0.01 * max(d0, 1.0) / d1, (0.01 / d1) ** (1.0 / (order + 1))
    assert d1 > 1.0
    assert (root < euler < 2.0) is by_order
    wanted = min(2.0, euler, root)
    assert begun.choose_first_step(order) == pytest.approx(wanted, rel=1e-13)  # sums of 22 terms, in another order
    assert begun[run.CLOCK][run.H_NEXT] == begun.choose_first_step(order)


def test_nothing_moves_and_the_first_step_is_the_longest(begun):
    for slot in (run.NEW_V, run.NEW_A):
        begun[slot][:] = 0.0
    assert begun.choose_first_step(5) == 2.0


def damped(damping):
    """A ball that a damper stops, and one that falls."""
    model = ix.Model("damped")
    ball = model.add(ix.PointMass("ball", 0.5, position=(1, 0, 0), velocity=(2, 0, 0)))
    model.add(
        ix.SpringDamper(
            "damper", model.ground, ball, points=((0, 0, 0), (1, 0, 0)), stiffness=10.0, damping=damping, length=1.0
        )
    )
    model.add(ix.PointMass("stone", 2.0, position=(0, 1, 0)))
    return model


def shortened(begun, h):
    """The step in which forces change by a tenth at most, in NumPy; the same h where the velocities do not count."""
    state, w, w_v = begun.state, begun.weights, begun.velocity_weights
    q, v, a, force = (state[slot].copy() for slot in (s.Q, s.V, s.A, s.G))
    speed, size, way = (math.sqrt(np.mean(x**2)) for x in (v / w_v, a / w_v, a / w))
    while h * size > max(1.0, speed) and h * way * 2.0 > 1.0:
        state.move(h, q + h * v, v + h * a)
        assert state.run(evaluate.forces) == 0
        if np.abs(state[s.G] - force) @ w <= transient.CHANGE * np.abs(force) @ w:
            break
        h *= 0.1
    state.move(0.0, q, v)
    assert state.run(evaluate.forces) == 0
    return h


@pytest.mark.parametrize(("damping", "h", "times"), [(1e6, 0.02, 5), (1e3, 0.02, 2), (0.0, 1e-6, 0)])
def test_a_first_step_ends_within_a_transient(damping, h, times):
    """By as many powers of ten as the damper needs; all is left as it was."""
    equations = Equations(damped(damping), "test")
    equations.close(0.0)
    settings = {"rtol": RTOL, "atol": np.full(equations.system.n, ATOL), "newton_tol": 1e-10}
    begun = Run(equations.state, solver_of(equations.system), (0.0, 2.0), **settings, t_eval=None, step=0.0,
                max_step=math.inf, max_steps=None)  # fmt: skip
    wanted = shortened(begun, h)
    before = [begun.state[slot].copy() for slot in (s.TIME, s.Q, s.V, s.A, s.G, s.Q_MASS)]
    before += [begun[slot].copy() for slot in (run.NEW_A, run.OLD_A)]
    assert within_transient(begun, h) == wanted == pytest.approx(h * 0.1**times)
    after = [begun.state[slot] for slot in (s.TIME, s.Q, s.V, s.A, s.G, s.Q_MASS)]
    assert all(map(np.array_equal, before, [*after, begun[run.NEW_A], begun[run.OLD_A]]))
