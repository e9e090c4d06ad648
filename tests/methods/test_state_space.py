"""Implicit methods on the manifold: coefficients, order, stiffness, control, derivatives, velocity-level rows, work."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oscillator import orders, oscillator
from thesis_formulas import by_reduction, on_tangent_plane, order_conditions, stability

import index3 as ix
from index3.compiled import slots as s
from index3.engine.assembly import assemble_state
from index3.errors import ModelError
from index3.methods import run
from index3.methods.projection import Projector
from index3.methods.run_table import Run
from index3.methods.state_space import jacobian, rosenbrock
from index3.methods.state_space.partition import dense_rows
from index3.methods.state_space.rosenbrock_method import Rosenbrock4
from index3.methods.tableaus import ROSENBROCK4, SDIRK4_15, SDIRK4_16, TRAPEZOIDAL
from index3.reproduce.thesis import PRINTED
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

TRAPEZOIDALS = ("statespace-trapezoidal", "descriptor-trapezoidal")
FOURTH = ("descriptor-sdirk4", "firstorder-sdirk4", "rosenbrock4")
KEYS = TRAPEZOIDALS + FOURTH
STIFF = json.loads((Path(__file__).parents[1] / "reference" / "stiff_double_pendulum" / "data.json").read_text())
ROWS = np.array(STIFF["rows"])
FOUND = {  # the same here
    "firstorder-sdirk4": ((5.6e-3, 7.9e-4, 8.4e-5, 7.4e-6), (4.6e-2, 6.2e-3, 1.2e-3, 3.7e-4)),
    "rosenbrock4": ((3.3e-2, 6.6e-3, 7.1e-4, 6.5e-5), (2.6e-1, 5.0e-2, 5.5e-3, 6.3e-4)),
}


def floats(tableau):
    return np.array(tableau.A, float), np.array(tableau.b, float), np.array(tableau.embedded, float)


@pytest.mark.parametrize(("tableau", "order", "embedded"), [(TRAPEZOIDAL, 2, 1), (SDIRK4_16, 4, 3), (SDIRK4_15, 4, 3)])
def test_tableaus_have_their_orders(tableau, order, embedded):
    """S4-33, S4-42, S4-50, S4-52: orders of formulas and of what they are compared with."""
    A, b, bhat = floats(tableau)
    for weights, reached in ((b, order), (bhat, embedded)):
        mismatch = order_conditions(A, weights)
        assert max(mismatch[k] for k in range(1, reached + 1)) < 1e-13  # rounding of fractions of up to 1e17
        assert all(mismatch[k] > 1e-4 for k in range(reached + 1, 5))


def test_stability_at_infinity():
    """S2-53, S4-122. R(inf): 1 for the trapezoidal rule, 0 for both SDIRK formulas; embedded 3.33 and 3.80."""
    z = -1e6  # what is left decays like 1/z, times coefficients of up to 100
    assert abs(stability(*floats(TRAPEZOIDAL)[:2], z)) == pytest.approx(1.0, abs=1e-5)
    for tableau, embedded in ((SDIRK4_16, 10 / 3), (SDIRK4_15, 15047025 / 3954688)):
        A, b, bhat = floats(tableau)
        assert abs(stability(A, b, z)) < 1e-3
        assert abs(stability(A, bhat, z)) == pytest.approx(embedded, rel=1e-3)


def test_rosenbrock_order_conditions():
    """S4-40: the eight conditions of order 4, and the four of the embedded formula's order 3, to 1e-14."""
    a, B = ROSENBROCK4.a, ROSENBROCK4.a + ROSENBROCK4.e
    alpha, beta = a.sum(axis=1), B.sum(axis=1)
    third = {1: np.ones(4), 1 / 2: beta, 1 / 3: alpha**2, 1 / 6: B @ beta}
    fourth = {1 / 4: alpha**3, 1 / 8: alpha * (a @ beta), 1 / 12: B @ alpha**2, 1 / 24: B @ (B @ beta)}
    for weights, conditions in ((ROSENBROCK4.b, third | fourth), (ROSENBROCK4.embedded, third)):
        assert max(abs(weights @ values - wanted) for wanted, values in conditions.items()) < 1e-14  # the demand
    assert max(abs(ROSENBROCK4.embedded @ values - wanted) for wanted, values in fourth.items()) > 1e-3


def test_rosenbrock_table_and_its_stability():
    """R(z) on y' = z y of the transformed recursion: order 4, 0 at infinity; embedded -0.367 (S4-40, S4-41)."""
    a, e, b = ROSENBROCK4.a, ROSENBROCK4.e, ROSENBROCK4.b

    def R(weights, z):
        return 1 + z * weights @ np.linalg.solve(np.eye(4) - z * (a + e), np.ones(4))

    assert abs(R(b, -1e9)) < 1e-8
    assert R(ROSENBROCK4.embedded, -1e9) == pytest.approx(-0.36730497, abs=1e-6)
    for weights, order in ((b, 4), (ROSENBROCK4.embedded, 3)):
        seen = np.log2(abs((R(weights, 0.02) - np.exp(0.02)) / (R(weights, 0.01) - np.exp(0.01))))
        assert seen == pytest.approx(order + 1, abs=0.15)  # z = 0.01: next term relative 1e-2
    table = ROSENBROCK4.transformed()
    assert table["w"][1, 0] == pytest.approx(2.0, abs=1e-14)  # printed 0.2: a misprint
    assert table["d"][3, 0] == pytest.approx(0.0037650883729466377874, abs=1e-15)
    assert table["s"] == pytest.approx(
        [2.2555662310268404294931, 0.2870550595798414806799, 0.43531196714727794246738, 1.0935076529988494061565],
        abs=1e-14,
    )


def end_states(model, key, span, counts, **options):
    states = []
    for count in counts:
        result = ix.simulate(model, (0, span), key, step=span / count, t_eval=[span], project=False, **options)
        assert result.success, result.message
        states.append((result.q[-1], result.v[-1], result.violation.scaled))
    return states


def observed(states):
    """Orders in q and v from differences of runs whose steps are halved each time."""
    size = np.array([[np.linalg.norm(x - y) for x, y in zip(a[:2], b[:2], strict=True)] for a, b in pairwise(states)])
    return orders(size)


@pytest.mark.parametrize("key", KEYS)
def test_order_on_the_spatial_four_bar(key):
    """Closed, redundant: order 2 or 4; residuals at rounding (S2-53, S4-29, S4-30, S4-31, S4-33, S4-39, S4-42)."""
    span, counts = (0.5, (100, 200, 400)) if key in TRAPEZOIDALS else (0.5, (40, 80, 160))
    if key == "rosenbrock4":  # over 0.5 s, with a whip near 0.25 s, it still converges with order 5 at these steps
        span, counts = 0.1, (10, 20, 40)
    states = end_states(ix.library.four_bar(), key, span, counts)
    assert np.all(np.abs(observed(states) - ix.METHODS[key].order) < 0.2)  # the bar of every method; seen: 0.1
    assert states[-1][2].position.max() < 1e-12  # recovered to 1e-13
    assert states[-1][2].velocity.max() < 1e-11


@pytest.mark.parametrize("key", KEYS)
def test_order_with_a_motion_and_a_time_dependent_force(key):
    """Constraints and forces that depend on time: Rosenbrock needs df/dt for its order (S4-39, S4-117)."""
    model = driven_arm()
    counts = (60, 120, 240) if key == "rosenbrock4" else (30, 60, 120)  # its errors are ten times larger
    seen = observed(end_states(model, key, 1.0, counts))
    assert np.all(np.abs(seen[:, 0] - ix.METHODS[key].order) < 0.2)  # the bar of every method
    assert np.all(np.abs(seen[:, 1] - ix.METHODS[key].order) < 0.5)  # errors of v nearly cancel here in some methods


def driven_arm():
    model = ix.Model("driven arm")
    upper = model.add(ix.RigidBody.rod("upper", (0, 0, 0), (1, 0, 0), mass=1.0))
    lower = model.add(ix.RigidBody.rod("lower", (1, 0, 0), (1, 0, -1), mass=1.0))
    shoulder = model.add(ix.Revolute("shoulder", model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ix.Revolute("elbow", upper, lower, at=(1, 0, 0), axis=(0, 1, 0)))
    model.add(
        ix.Motion(
            "drive",
            shoulder,
            lambda t: 0.5 * np.sin(3 * t),
            lambda t: 1.5 * np.cos(3 * t),
            lambda t: -4.5 * np.sin(3 * t),
        )
    )
    model.add(ix.Force("push", lower.marker(), lambda t: (np.sin(5 * t), 0.0, 0.0)))
    return model


def test_state_space_and_descriptor_forms_agree():
    """The same formula on the same manifold: what is iterated on does not matter (S4-34)."""
    a, b = (end_states(ix.library.four_bar(), key, 0.2, (40,))[0] for key in TRAPEZOIDALS)
    assert np.abs(a[0] - b[0]).max() < 1e-10  # 40 steps of 1e-12 each
    assert np.abs(a[1] - b[1]).max() < 1e-9


def stiff_run(key, tolerance, **options):
    model = ix.library.double_pendulum()
    result = ix.simulate(model, (0, 2), key, rtol=tolerance, atol=tolerance, t_eval=ROWS[:, 0], **options)
    assert result.success, result.message
    at = np.searchsorted(ROWS[:, 0], result.t)
    angle, rate = result["rod1"].angle - ROWS[at, 1], result["rod1"].spin - ROWS[at, 3]
    return np.abs(angle).max(), np.abs(rate).max(), result.stats


@pytest.mark.parametrize("key", KEYS)
def test_tolerance_sets_the_error_of_a_stiff_motion(key):
    """Monotone, within a factor 3 of a power law, slope 0.85..1.2 (S4-81..83)."""
    tolerances = 10.0 ** -np.arange(3, 6 if key in TRAPEZOIDALS else 8)
    errors = np.array([stiff_run(key, tolerance)[0] for tolerance in tolerances])
    print(key, "error/rtol", errors / tolerances)
    fit = np.polyfit(np.log(tolerances), np.log(errors), 1)
    assert np.all(np.diff(errors) < 0)
    assert 0.85 < fit[0] < 1.2
    assert np.exp(np.abs(np.polyval(fit, np.log(tolerances)) - np.log(errors)).max()) < 3.0


@pytest.mark.parametrize("key", list(PRINTED))
def test_errors_beside_the_thesis_tables(key):
    """S4-81, S4-82, S4-83, Tables 20-23: at most 10 times the tolerance in the angle, 100 times in the rate.

    SDIRK's are 0.06 to 0.3 of the printed ones, Rosenbrock's 3 to 16 times: their order is the other way round
    (docs/theory/state_space.md).
    """
    for k, tolerance in enumerate((1e-2, 1e-3, 1e-4, 1e-5)):
        angle, rate, _ = stiff_run(key, tolerance)
        print(f"{key} {tolerance:g}: {angle:.3g} ({PRINTED[key][0][k]:.3g}), {rate:.3g} ({PRINTED[key][1][k]:.3g})")
        assert angle < 10 * tolerance
        assert rate < 100 * tolerance
        found = FOUND[key][0][k], FOUND[key][1][k]
        assert (angle, rate) == pytest.approx(found, rel=0.3)  # steps change with rounding


class KeptMasses(ix.METHODS["firstorder-sdirk4"]):
    """Without masses and directions of each stage, as in the thesis."""

    lasting = 0


@pytest.mark.parametrize("key", ["descriptor-sdirk4", "firstorder-sdirk4"])
def test_stages_get_masses_of_their_own_where_bodies_turn(key):
    """A spinning top took 23817 and 8640 corrections, and 397 and 74 Jacobians."""
    result = ix.simulate(ix.library.spinning_top(), (0, 0.5), key, rtol=1e-6, t_eval=0.025)
    assert result.stats["newton"] < (12000 if key == "descriptor-sdirk4" else 8000)
    assert result.stats["jacobians"] < 20


def test_a_first_point_is_closed_for_the_correction_to_come():
    """Of a spinning top by `descriptor-sdirk4`: closed to rounding, first points took 49246 evaluations."""
    stats = ix.simulate(ix.library.spinning_top(), (0, 0.5), "descriptor-sdirk4", rtol=1e-6, t_eval=0.025).stats
    assert stats["evaluations"] < 46500  # seen: 44074


def test_thesis_errors_come_from_its_loose_iteration():
    """With the thesis's kappa what the iteration leaves over exceeds the truncation error, as in Table 20 (S4-114).

    A laxer test saves corrections, two fifths of them, but not at an error that is unchanged within 5 %: it grows 25
    times. From 1e-4 on it is unchanged. With masses renewed in each stage, which the thesis does not do, less is left
    over: the error grows 5 times.
    """
    # the thesis holds kappa = 1e-2 at every tolerance; ours shrinks below rtol = 1e-3, here by (1e-2)^(1/4)
    loose, tight, tighter = (stiff_run(KeptMasses(kappa=kappa), 1e-5) for kappa in (1e-2 * 100**0.25, 1e-4, 1e-5))
    assert loose[0] > 5 * tight[0]  # seen: 26
    assert 0.2 * PRINTED["firstorder-sdirk4"][0][3] < loose[0] < 5 * PRINTED["firstorder-sdirk4"][0][3]
    iterations = [run_[2]["newton"] / run_[2]["steps"] for run_ in (loose, tight, tighter)]
    print("corrections per step:", iterations, "errors:", loose[0], tight[0], tighter[0])
    assert iterations[0] < 0.85 * iterations[1] < 0.85 * iterations[2]
    assert tight[0] == pytest.approx(tighter[0], rel=0.05)  # that of the ledger


@pytest.mark.parametrize("key", ["descriptor-sdirk4", "firstorder-sdirk4"])
def test_stiffness_costs_no_steps(key):
    """L-stability: damping ten thousand times larger, at most twice the steps (S4-55)."""
    steps = [ix.simulate(ix.library.double_pendulum(c2=c2), (0, 2), key, rtol=1e-4).stats["steps"] for c2 in (5e4, 5e8)]
    assert steps[1] <= 2 * steps[0]


def test_rosenbrock_stiffness_in_a_fixed_direction_costs_no_steps():
    """Where the stiff direction does not turn, the Rosenbrock method needs no smaller steps either."""
    steps = []
    for damping in (1e4, 1e8):
        model = oscillator(10 * damping, damping=damping)
        steps.append(ix.simulate(model, (0, 1), "rosenbrock4", rtol=1e-5).stats["steps"])
    assert steps[1] <= 2 * steps[0]


def test_filter_saves_steps():
    """The stiff error filter: fewer steps at equal tolerance for the SDIRK pairs, whose raw estimate grows."""
    plain, filtered = (stiff_run("firstorder-sdirk4", 1e-5, filtered=flag)[2]["steps"] for flag in (False, True))
    assert filtered < 0.6 * plain  # seen: 110 of 278


def test_derivatives_by_time_are_kept_for_other_tries_of_a_step():
    """20 steps take 674 evaluations, the two tries before them 81; 91 where derivatives by time are found for each."""
    model = ix.Model("shaken")
    path = (lambda t: (0, 0, 0.05 * np.sin(20 * t)), lambda t: (0, 0, np.cos(20 * t)),
            lambda t: (0, 0, -20 * np.sin(20 * t)))  # fmt: skip
    arm = model.add(ix.RigidBody.rod("arm", (0, 0, 0), (1, 0, 0), mass=1.0))
    tip = model.add(ix.RigidBody.rod("tip", (1, 0, 0), (1.2, 0, 0), mass=0.02))
    model.add(ix.Spherical("A", model.ground.moving_marker(path=path), arm.marker_at((0, 0, 0))))
    model.add(ix.Revolute("B", arm, tip, at=(1, 0, 0), axis=(0, 1, 0)))
    settings = {"rtol": 1e-5, "audit": "off", "t_eval": [0.0, 0.5], "first_step": 0.05, "max_steps": 20}
    stats = ix.simulate(model, (0, 0.5), "rosenbrock4", **settings).stats
    assert (stats["steps"], stats["rejected"]) == (20, 2)
    assert stats["evaluations"] < 760


def test_work_counts():
    """Jacobians are reused, a new step size costs none, the Rosenbrock method takes one per step and no iteration."""
    stats = stiff_run("firstorder-sdirk4", 1e-5)[2]
    assert stats["jacobians"] < 0.2 * stats["steps"]
    assert stats["rejected"] < 0.1 * stats["steps"]
    assert stats["newton"] < 5 * 4 * stats["steps"]
    rosen = stiff_run("rosenbrock4", 1e-5)[2]
    assert rosen["jacobians"] == rosen["steps"]  # rejected steps take no new one (S4-100)
    assert rosen["newton"] == 0
    tried = rosen["steps"] + rosen["rejected"]
    assert rosen["factorisations"] <= 2 * tried + 2 * rosen["steps"]  # two stages; accepted: accelerations, reference


def consistent_state(model, seed):
    """A state on the constraints with a random velocity."""
    state = State(compile_model(model))
    assemble_state(state, Projector(state), 0.0)
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    _, values, rows = np.linalg.svd(dense_rows(state))
    null = rows[np.count_nonzero(values > 1e-9) :]
    state[s.V][:] = np.random.default_rng(seed).normal(size=len(null)) @ null
    return state


MODELS = {
    "four_bar": ix.library.four_bar,
    "andrews": ix.library.andrews,
    "chain": lambda: ix.library.chain(4, springs=True),
    "double_pendulum": ix.library.double_pendulum,
}


@pytest.mark.parametrize("name", list(MODELS))
def test_derivatives_by_reduction_and_by_columns_agree(name):
    """S4-36, S4-71."""
    parts = jacobian.evaluate_parts(consistent_state(MODELS[name](), 1))
    for a, b in zip(by_reduction(parts), jacobian.by_columns(parts), strict=True):
        assert np.abs(a - b).max() <= 1e-8 * max(1.0, np.abs(b).max())  # the demand; rounding gives 1e-15


@pytest.mark.parametrize("name", list(MODELS))
def test_derivatives_against_differences(name):
    """S4-28, S4-36: J1, J2 of the partition against central differences through the recovery of coordinates."""
    state = consistent_state(MODELS[name](), 2)
    parts = jacobian.evaluate_parts(state)
    j1, j2 = jacobian.by_columns(parts)
    q, v, w = state[s.Q].copy(), state[s.V].copy(), parts.partition.independent
    step = 1e-6
    for k in range(len(w)):
        for matrix, by_rate in ((j1, False), (j2, True)):
            sides = [accelerations(state, parts, q, v, k, sign * step, by_rate)[w] for sign in (1, -1)]
            numeric = (sides[0] - sides[1]) / (2 * step)
            scale = max(1.0, np.abs(parts.stiffness).max(), np.abs(j1).max(), np.abs(j2).max())
            assert np.abs(matrix[:, k] - numeric).max() < 1e-6 * scale  # rounding 1e-10 / 1e-6 of forces, truncation


def accelerations(state, parts, q, v, k, change, by_rate):
    state[s.Q][:], state[s.V][:] = q, v
    (state[s.V] if by_rate else state[s.Q])[parts.partition.independent[k]] += change
    recover(state, parts)
    jacobian.evaluate_parts(state)
    return state[s.A].copy()


def recover(state, parts):
    """Dependent positions and velocities of a state from its independent ones."""
    u, w, rows = parts.partition.dependent, parts.partition.independent, parts.partition.rows
    for _ in range(6):
        assert state.run(evaluate.forces, evaluate.jacobian) == 0
        phi_q = dense_rows(state)[rows]
        state[s.Q][u] -= np.linalg.solve(phi_q[:, u], state[s.PHI][rows])
    assert state.run(evaluate.forces, evaluate.jacobian) == 0
    phi_q = dense_rows(state)[rows]
    state[s.V][u] = -np.linalg.solve(phi_q[:, u], phi_q[:, w] @ state[s.V][w] + state[s.PHI_T][rows])


@pytest.mark.parametrize("name", ["four_bar", "chain"])
def test_compiled_derivatives(name):
    """S4-110: J1, J2 of the kernel, after one tiny step, against the dense ones on the same tangent plane."""
    state = consistent_state(MODELS[name](), 3)
    parts = jacobian.evaluate_parts(state)
    system = state.system
    progress = Run(
        state, Projector(state).solver, (0.0, 1e-9), rtol=1e-6, atol=np.full(system.n, 1e-8), newton_tol=1e-11,
        t_eval=np.zeros(0), step=1e-9, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    table = Rosenbrock4().start(progress, None)
    assert progress.advance(Rosenbrock4.kernel, table, 10) == run.DONE
    basis = table[rosenbrock.BASIS].T
    assert np.abs(basis.T @ parts.mass @ basis - np.eye(basis.shape[1])).max() < 1e-10  # rounding
    assert np.abs(parts.phi_q @ basis).max() < 1e-10
    for mine, dense in zip((rosenbrock.J1, rosenbrock.J2), on_tangent_plane(parts, basis), strict=True):
        assert np.abs(table[mine] - dense).max() < 1e-8 * max(1.0, np.abs(dense).max())  # the demand


@pytest.mark.parametrize("key", KEYS)
def test_singular_positions_are_passed_or_refused(key):
    """The parallelogram through its aligned positions: never the other branch, never wrong energy in silence."""
    result = ix.simulate(ix.library.parallelogram(), (0, 3), key, rtol=1e-5, t_eval=0.05)
    assert result.success or "step became too small" in result.message
    assert np.abs(result.q[:, 2] - result.q[:, 5]).max() < 1e-3  # the cranks stay parallel
    assert np.ptp(result.energy.total) < 1e-2  # of 20 J: 1e-5 per step over some hundred steps


@pytest.mark.parametrize("key", [key for key in KEYS if key != "descriptor-sdirk4"])
def test_singular_positions_are_passed(key):
    """Ten aligned positions (trapezoidal rule: three), each on the branch where the cranks are parallel."""
    span = 3 if key in TRAPEZOIDALS else 10
    result = ix.simulate(ix.library.parallelogram(), (0, span), key, rtol=1e-5, t_eval=0.05)
    assert result.success, result.message
    assert np.ptp(result.q[:, 2]) > 3 * np.pi  # three aligned positions at least
    assert np.abs(result.q[:, 2] - result.q[:, 5]).max() < 1e-3


def test_rosenbrock_warns_of_forces_without_derivatives():
    def drag(t, r, A, v, w, p, out):
        out[0, :3] = -v[0]

    for derivatives, warned in (("none", True), (None, False), ("differences", False)):
        model = ix.library.pendulum()
        body = next(iter(model.bodies.values()))
        model.add(ix.UserForce("drag", body, drag, jacobian=derivatives))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert ix.simulate(model, (0, 0.05), "rosenbrock4").success
        assert any("drag" in str(w.message) for w in caught) == warned


def test_refusals_by_name():
    with pytest.raises(ModelError, match=r"rosenbrock4.*200 degrees of freedom"):
        ix.simulate(ix.library.chain(201), (0, 0.1), "rosenbrock4")
    with pytest.raises(ModelError, match="parametrization = 'polar'"):
        ix.simulate(ix.library.pendulum(), (0, 0.1), "firstorder-sdirk4", parametrization="polar")
    with pytest.raises(ModelError, match=r"rosenbrock4.*velocity-level row"):
        ix.simulate(skate(), (0, 0.1), "rosenbrock4")


def skate():
    """A blade on a plane that slopes along x, turning at 3 rad/s: x = sin^2(3 t) / 9."""
    model = ix.Model("skate", gravity=(2, 0, 0))
    body = model.add(ix.PlanarBody("skate", 1.0, 0.1, spin=3.0))
    model.add(ix.KnifeEdge("edge", model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    return model


@pytest.mark.parametrize("parametrization", ["tangent-plane", "partition"])
@pytest.mark.parametrize("key", [key for key in KEYS if key != "rosenbrock4"])
def test_order_with_velocity_level_rows(key, parametrization):
    """Velocities recovered across the blade enter the positions with the weights of the formula."""
    model, t = skate(), 0.5
    exact = np.array([np.sin(3 * t) ** 2 / 9, (t - np.sin(6 * t) / 6) / 3, 3 * t])
    states = end_states(model, key, t, (10, 20, 40), parametrization=parametrization)
    errors = np.array([[np.linalg.norm(q - exact)] for q, _, _ in states])
    print(key, parametrization, orders(errors).tolist())
    assert np.all(np.abs(orders(errors) - ix.METHODS[key].order) < 0.2)  # the bar of every method
    assert states[-1][2].velocity.max() < 1e-12  # recovered to 1e-14


@pytest.mark.parametrize("filtered", [True, False])
def test_error_control_sees_drift_across_velocity_level_rows(filtered):
    """A hundred times smaller tolerance, a clearly smaller error across the blade's direction at the start."""
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        result = ix.simulate(skate(), (0, 1), "firstorder-sdirk4", rtol=rtol, t_eval=[1.0], filtered=filtered)
        errors.append(abs(result.q[-1, 1] - (1 - np.sin(6) / 6) / 3))
    assert errors[0] > 3 * errors[1] > 9 * errors[2], errors
    assert errors[2] < 1e-6  # 100 times the tolerance


@pytest.mark.parametrize("key", [*TRAPEZOIDALS, "firstorder-sdirk4", "descriptor-sdirk4"])
def test_multipliers_of_a_driven_part_follow_it_round(key):
    """A rotor on a motion beside a pendulum: work of the motion as its kinetic energy, over several turns."""
    model = ix.Model("rotor and pendulum")
    rotor = model.add(ix.RigidBody("rotor", 2.0, (0.3, 0.2, 0.4), position=(0.5, 0, 0)))
    pin = model.add(ix.Revolute("pin", model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(ix.Motion("drive", pin, lambda t: 2 * t + t * t, lambda t: 2 + 2 * t, 2.0))
    rod = model.add(ix.RigidBody.rod("rod", (0, 3, 0), (1, 3, 0), mass=1.0))
    model.add(ix.Revolute("hinge", model.ground, rod, at=(0, 3, 0), axis=(0, 1, 0)))
    t_end = 2.0 if key in TRAPEZOIDALS else 6.0
    result = ix.simulate(model, (0.0, t_end), key, rtol=1e-5, t_eval=0.1)
    assert result.success, result.message
    given = 0.5 * (0.4 + 2.0 * 0.5**2) * ((2 + 2 * result.t) ** 2 - 4)
    # 1e-4: errors of some rtol; with stale multipliers the work was of any size, and the audit ended the run.
    assert result.energy.work == pytest.approx(given, abs=1e-4 * given[-1])
