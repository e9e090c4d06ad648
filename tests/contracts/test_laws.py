"""Laws that every force and every body obeys: momentum, energy; and every kind has a place in the zoo."""

from __future__ import annotations

from importlib import import_module

import force_zoo
import numpy as np
import pytest
import zoo

from index3.compiled import slots as s
from index3.system import evaluate
from index3.system.compile import compile_model

# Sums of about ten products of size 1..100: rounding 1e-13.
ROUNDING = 1e-11
# Central differences with step 1e-6 of energies of size 1..100: rounding 1e-14 / 1e-6, truncation 1e-12.
RELATIVE = 1e-6

BALANCED = [case for case in force_zoo.CASES if case[0].balanced]


@pytest.mark.parametrize("kind", force_zoo.registered())
def test_every_kind_of_force_is_in_the_zoo(kind):
    assert kind in {maker.kind for maker in force_zoo.MAKERS}, f"{kind} has no maker in tests/contracts/force_zoo.py"


def test_the_zoo_has_no_kind_that_is_gone():
    assert {maker.kind for maker in force_zoo.MAKERS} <= set(force_zoo.registered())


@pytest.mark.parametrize("kind", zoo.BODY_KINDS)
def test_every_kind_of_body_is_in_the_zoo(kind):
    assert zoo.make_body(kind, "one", np.random.default_rng(1)).kind == kind


@pytest.mark.parametrize("case", BALANCED, ids=force_zoo.case_name)
def test_forces_between_bodies_cancel(case):
    """S2-09: No net force, and no net moment about the origin."""
    state = force_zoo.force_state(*case, seed=BALANCED.index(case))
    assert state.run(evaluate.forces) == 0
    r, wrench = state[s.MARKER_R], zoo.applied_wrenches(state)
    assert np.abs(wrench).max() > 0.1  # something acts
    size = ROUNDING * np.abs(wrench).sum() * max(1.0, np.abs(r).max())
    assert np.abs(wrench[:, :3].sum(axis=0)).max() <= size
    moment = np.cross(r, wrench[:, :3]) + wrench[:, 3:]
    assert np.abs(moment.sum(axis=0)).max() <= size


FROM_POSES = [case for case in force_zoo.CASES if getattr(import_module(case[0].kind), "POWER_FROM_POSES", False)]


@pytest.mark.parametrize("case", FROM_POSES, ids=force_zoo.case_name)
def test_power_from_poses(case):
    """The same bits as after an evaluation of the forces, after one elsewhere."""
    state = force_zoo.force_state(*case, seed=force_zoo.CASES.index(case))
    assert state.run(evaluate.forces) == 0
    rng = np.random.default_rng(1)
    for slot in (s.Q, s.V):
        state[slot][:] += 1e-2 * rng.normal(size=len(state[slot]))
    assert state.run(evaluate.poses, evaluate.energy) == 0
    power = state[s.ENERGY][s.POWER]
    assert energies(state)[s.POWER] == power


def energies(state):
    """Kinetic and potential energy, and power."""
    assert state.run(evaluate.forces, evaluate.energy) == 0
    return state[s.ENERGY].copy()


@pytest.mark.parametrize("case", force_zoo.CASES, ids=force_zoo.case_name)
def test_power_of_forces(case):
    """Power of all wrenches = power that is not conservative - rate of potential energy."""
    state = force_zoo.force_state(*case, seed=force_zoo.CASES.index(case), gravity=(0.0, 0.0, 0.0))
    q, v = state[s.Q].copy(), zoo.tangent_rates(state)
    power = energies(state)[s.POWER]
    assert state.run(evaluate.jacobian, evaluate.rates) == 0
    # joints that loose markers violate do work as well: -lam . (Phi_q v)
    bodies = [k for k, marker in enumerate(state[s.MARKERS]) if not zoo.carries_states(state.system, marker)]
    total = float(np.sum((state[s.MARKER_F] * state[s.MARKER_V])[bodies]) + state[s.LAM] @ state[s.RATE])
    rate = zoo.difference(state, s.ENERGY, (evaluate.forces, evaluate.energy), "q", v)[s.POTENTIAL]
    np.testing.assert_array_equal(state[s.Q], q)
    scale = max(1.0, abs(total), np.abs(state[s.MARKER_F]).max())
    assert total == pytest.approx(power - rate, abs=RELATIVE * scale)


@pytest.mark.parametrize("case", force_zoo.CASES, ids=force_zoo.case_name)
def test_power_alone(case):
    """The same bits without the energies of bodies, which stay as they were."""
    state = force_zoo.force_state(*case, seed=force_zoo.CASES.index(case))
    power = energies(state)[s.POWER]
    state[s.ENERGY][:] = 1.0, 2.0, np.nan
    assert state.run(evaluate.power) == 0
    assert state[s.ENERGY].tolist() == [1.0, 2.0, power]


@pytest.mark.parametrize("maker", force_zoo.MAKERS, ids=lambda maker: maker.label)
def test_elements_that_are_conservative_say_so(maker):
    """Each element alone: no power if it claims to be conservative, some if not."""
    groups = force_zoo.force_state(maker, maker.pairs[0], seed=5).system.groups
    for element in [group.element for group in groups if group.element.element == "force"]:

        def only(*arguments, name=element.name):
            whole = name.partition("[")[0]  # a part is made with its whole
            return [other for other in maker.make(*arguments) if other.name == whole]

        state = force_zoo.force_state(force_zoo.Maker(maker.kind, maker.label, only), maker.pairs[0], seed=5)
        assert (energies(state)[s.POWER] == 0.0) == element.conservative, element.name


@pytest.mark.parametrize("kind", zoo.BODY_KINDS)
def test_free_body_keeps_its_energy(kind):
    """With the accelerations of the equations of motion, kinetic + potential energy does not change."""
    state = zoo.random_state(compile_model(zoo.body_model(kind, seed=3)), seed=7)
    system, h = state.system, 1e-6
    state[s.LAM][:] = 0.0
    q, v = state[s.Q].copy(), zoo.tangent_rates(state)
    matrix = zoo.dense_matrix(state, 1, 0, 0, 0, 0)
    assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
    a = np.linalg.solve(matrix, np.concatenate([-state[s.G], state[s.GAMMA]]))[: system.n]
    totals = []
    for sign in (1, -1):
        state[s.Q][:] = zoo.step(system, q, v, sign * h)
        state[s.V][:] = v + sign * h * a
        totals.append(energies(state)[[s.KINETIC, s.POTENTIAL]])
    rates = (totals[0] - totals[1]) / (2 * h)
    assert np.abs(rates).min() > 0.1  # both change
    assert abs(rates.sum()) <= RELATIVE * np.abs(rates).max()


@pytest.mark.parametrize("kind", zoo.BODY_KINDS)
def test_kinetic_energy_is_half_v_M_v(kind):
    state = zoo.random_state(compile_model(zoo.body_model(kind, seed=4)), seed=8)
    v = zoo.tangent_rates(state)
    n = state.system.n
    mass = zoo.dense_matrix(state, 1, 0, 0, 0, 0)[:n, :n]
    assert energies(state)[s.KINETIC] == pytest.approx(0.5 * v @ mass @ v, rel=1e-12)  # rounding
