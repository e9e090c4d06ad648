"""Position, velocity and acceleration analysis by the constraints alone: convergence, residuals, storage."""

import tracemalloc

import numpy as np
import pytest
from small_models import displaced_four_bar, four_bar

import index3 as ix
from index3.compiled import slots as s
from index3.linear.reference import rank
from index3.methods import projection_kernels
from index3.methods.projection import KERNELS, Projector
from index3.methods.state_space.partition import choose_partition, dense_rows
from index3.system.compile import compile_model
from index3.system.state import State


def slider_crank():
    model = ix.library.slider_crank()
    model.add(ix.Motion("drive", model["A"], lambda t: 0.4 + 0.0 * t, 0.0, 0.0))  # 23 degrees from the start
    return model


def driven_four_bar():
    model = four_bar(angular_velocity=None)
    model.add(ix.Motion("drive", model["A"], lambda t: 0.3 + 0.0 * t, 0.0, 0.0))
    return model


@pytest.mark.parametrize("make", [slider_crank, driven_four_bar])
def test_positions_converge_quadratically_with_the_drive_held(make):
    """S0-18: The row of the motion is the selector: it holds the independent coordinate while Newton closes
    the others."""
    state = State(compile_model(make(), KERNELS))
    projector = Projector(state)
    projector.table[projection_kernels.SETTINGS][projection_kernels.ITERATIONS] = 1.0
    residuals = []
    for _ in range(8):
        projection_kernels.assemble_positions(state.handle, projector.handle)
        residuals.append(float(np.abs(state[s.PHI]).max()))
    assert residuals[-1] < 1e-10
    falling = [x for x in residuals if x > 1e-11]  # below that is rounding
    exponents = np.diff(np.log(falling))[1:] / np.diff(np.log(falling))[:-1]
    assert exponents[-1] > 1.8
    result = ix.kinematics(make(), (0.0, 1.0), t_eval=1.0)
    wanted = make().motions["drive"].functions[0](0.0)
    assert result["A"].angle == pytest.approx(np.full(2, wanted), abs=1e-14)  # to the last digits


def test_held_coordinates_do_not_move():
    """S0-18: what is independent stays."""
    model = displaced_four_bar()
    before = model["crank"].q0.copy()
    found = ix.assemble(model, hold=["crank"])
    assert found.q[:7] == pytest.approx(before, abs=1e-14)


@pytest.mark.parametrize("make", [ix.library.slider_crank, four_bar])
def test_velocities_and_accelerations_satisfy_their_rows(make):
    """S0-19, S0-20."""
    model = make()
    model.add(ix.Motion("drive", model["A"], lambda t: 3.0 * t + t**2, lambda t: 3.0 + 2.0 * t, 2.0))
    result = ix.kinematics(model, (0.0, 0.3), t_eval=0.05)
    assert result.violation.velocity.max() < 1e-10
    assert result.violation.acceleration.max() < 1e-9
    assert result["A"].angle_rate == pytest.approx(3.0 + 2.0 * result.t, abs=1e-11)
    # the independent velocity: positions are closed to 1e-12 m on links of 0.1 m and more


@pytest.mark.parametrize("make", [ix.library.slider_crank, four_bar])
def test_independent_coordinates_are_as_many_as_the_rank_leaves(make):
    """S0-21: by elimination with pivoting."""
    model = make()
    base = ix.assemble(model)
    state = State(compile_model(model, KERNELS))
    state.move(0.0, base.q, base.v)
    projector = Projector(state)
    assert projection_kernels.assemble_accelerations(state.handle, projector.handle) == 0
    partition = choose_partition(state)
    assert len(partition.independent) == model.check().dof
    random = np.random.default_rng(0)
    rows = dense_rows(state)
    scaled = rows * 10.0 ** random.uniform(-2, 2, (len(rows), 1)) * 10.0 ** random.uniform(-2, 2, rows.shape[1])
    assert rank(scaled) == len(partition.rows)
    assert len(rows) - len(partition.rows) == len(model.check().redundant)


@pytest.mark.slow
def test_no_dense_matrix_of_a_large_driven_chain():
    """286 links, 2002 coordinates: one dense matrix would take 32 MB."""
    model = ix.library.chain(286)
    for k, joint in enumerate(list(model.joints.values())):
        model.add(ix.Motion(f"drive{k}", joint, lambda t: 0.01 * t, 0.01, 0.0))
    model.check()  # what is loaded and compiled once does not count
    tracemalloc.start()
    result = ix.kinematics(model, (0.0, 0.1), t_eval=0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.q.shape[1] == 2002
    assert peak < 2002**2 * 8
