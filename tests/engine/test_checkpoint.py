"""Runs that are saved, restored elsewhere and go on: bit by bit as if nothing had happened."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from first_segment import first_segment

import index3 as ix
from index3.analysis.simulate import SETTINGS
from index3.analysis.simulation import Simulation
from index3.compiled.columns import COLUMNS, METHOD
from index3.engine import checkpoint
from index3.errors import Index3Error, ModelError
from index3.methods import run
from index3.methods.output import Output

SPAN = (0.0, 0.15)
WRITTEN = [column.name for column in COLUMNS if column.writer == METHOD]


def chain():
    model = ix.library.chain(3, springs=True)
    bodies = list(model.bodies.values())
    model.add(ix.Contact("stop", bodies[-1], model.ground, shapes=(ix.Sphere(0.1), ix.Plane()), stiffness=1e4))
    return model


def begun(simulation, span=SPAN):
    """A segment that has not stepped yet, with tables of its own."""
    segment = first_segment(simulation, span)
    segment.run.write_to(Output(segment.variant.projection.sizes, 100))
    return segment


def take_lines(segment):
    """The lines that the run has written since the last call."""
    output = segment.run.output
    lines = {name: output.arrays[name][: output.count].copy() for name in WRITTEN}
    output.count = 0
    return lines


def simulation_of(model, method, **settings):
    options = {name: value for name, value in settings.items() if name not in SETTINGS}
    given = {name: value for name, value in settings.items() if name in SETTINGS}
    return Simulation(model, method, SETTINGS | given, options)


def advance(segment, steps, lines):
    """Step at most so often; output is projected as in a run, which moves the state."""
    code = segment.run.advance(segment.method.kernel, segment.table, steps)
    block = take_lines(segment)
    lines.append(block)
    segment.variant.projection.project_block(**block, project=True)
    return code


def finish(segment, lines):
    while (code := advance(segment, 1000, lines)) in (run.BUDGET, run.BLOCK_FULL):
        pass
    assert code == run.DONE, code


def through_a_file(saved):
    """What a file gives back."""
    buffer = io.BytesIO()
    np.savez(buffer, **saved)
    buffer.seek(0)
    with np.load(buffer, allow_pickle=False) as file:
        return dict(file)


def assert_same_run(one, two, lines, others):
    for name in lines[0]:
        both = [np.concatenate([block[name] for block in blocks]) for blocks in (lines, others)]
        np.testing.assert_array_equal(*both, err_msg=name)
    assert one.counters() == two.counters()
    for slot in (run.CLOCK, run.NEW_Q, run.NEW_V, run.NEW_A, run.NEW_LAM, run.LARGEST, run.WORK):
        np.testing.assert_array_equal(one.run[slot], two.run[slot])


def check_interrupted(simulation, steps):
    whole, lines = begun(simulation), []
    finish(whole, lines)
    first, others = begun(simulation), []
    assert advance(first, steps, others) == run.BUDGET
    saved = through_a_file(checkpoint.save(first))
    finish(first, [])  # what was saved is a copy
    second = begun(simulation)
    checkpoint.restore(second, saved)
    finish(second, others)
    assert_same_run(whole, second, lines, others)


@pytest.mark.parametrize("method", list(ix.METHODS))
@pytest.mark.parametrize("steps", [1, 7])
def test_every_method_goes_on(method, steps):
    """Springs and a contact, whose memory is kept too."""
    check_interrupted(simulation_of(chain(), method), steps)


@pytest.mark.parametrize("method", ["hht-i3", "radau5"])
def test_a_heap_goes_on_with_the_part_of_the_matrix_in_use(method):
    """Balls of which each may touch each: order and pattern of the factors change on the way and are kept."""
    model, shapes = ix.Model("row"), []
    for k in range(4):
        place, velocity = (0.21 * k, 0.0, 0.0995), (1.0 if k == 0 else 0.0, 0.0, 0.0)
        ball = model.add(ix.RigidBody.sphere(f"b{k}", 0.1, mass=1.0, position=place, velocity=velocity))
        shapes.append((ball, ix.Sphere(0.1)))
    model.add(ix.ContactSet("all", [*shapes, (model.ground, ix.Plane())], stiffness=1e5, damping=0.2, friction=0.2))
    check_interrupted(simulation_of(model, method, rtol=1e-4), 20)


@pytest.mark.jit_off
def test_kernels_as_plain_python_go_on():
    check_interrupted(simulation_of(ix.library.pendulum(), "hht-i3", step=0.03), 2)


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from test_checkpoint import advance, begun, chain, checkpoint, simulation_of
segment, lines = begun(simulation_of(chain(), {method!r})), []
advance(segment, 9, lines)
np.savez({file!r}, **checkpoint.save(segment))
"""


@pytest.mark.parametrize("method", ["dopri5", "tlismni-adams4"])
def test_another_process_goes_on(method, tmp_path):
    """Addresses are others there; tlismni exchanges two tables after three steps."""
    file = tmp_path / "run.npz"
    script = SCRIPT.format(folder=str(Path(__file__).parent), method=method, file=str(file))
    subprocess.run([sys.executable, "-c", script], check=True)
    simulation = simulation_of(chain(), method)
    whole, here, lines = begun(simulation), begun(simulation), []
    with np.load(file, allow_pickle=False) as saved:
        checkpoint.restore(here, dict(saved))
    finish(whole, [])
    finish(here, lines)
    assert whole.counters() == here.counters()
    np.testing.assert_array_equal(whole.run[run.NEW_Q], here.run[run.NEW_Q])


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("hht-i3", {"step": 0.01}),
        ("bdf-i3", {"step": 0.005}),
        ("adams", {"step": 0.005}),
        ("adams", {"parametrization": "partition"}),
        ("dopri5", {"stabilization": "baumgarte"}),
        ("rosenbrock4", {"parametrization": "partition"}),
        ("descriptor-sdirk4", {"parametrization": "partition"}),
        ("tlismni-adams4", {"step": 0.005}),
        ("radau5", {"t_eval": 0.01}),
    ],
)
def test_settings_and_starters(method, settings):
    check_interrupted(simulation_of(chain(), method, **settings), 3)


def test_forces_that_read_reactions_and_functions_of_time():
    model = ix.library.pendulum()
    model.add(ix.JointFriction("rub", model["pivot"], friction=0.2, radius=0.05))
    model.add(ix.Force("push", model["rod"].marker(), lambda t: (np.sin(30 * t), 0.0, 0.0)))
    check_interrupted(simulation_of(model, "hht-i3"), 5)


def test_a_chosen_method_goes_on():
    """Methods that took over on the way are started before their tables are filled."""
    simulation = simulation_of(chain(), "auto")

    def switched():
        segment, lines = begun(simulation), []
        assert advance(segment, 5, lines) == run.BUDGET
        segment.table = segment.choice.take(segment.run, segment.run.t, checkpoint.Choice("hht-i3", "for a test"))
        segment.method = segment.choice.method
        return segment, lines

    whole, lines = switched()
    finish(whole, lines)
    first, others = switched()
    assert advance(first, 3, others) == run.BUDGET
    saved = through_a_file(checkpoint.save(first))
    second = begun(simulation)
    checkpoint.restore(second, saved)
    finish(second, others)
    assert_same_run(whole, second, lines, others)
    assert (second.method.key, second.choice.story) == ("hht-i3", whole.choice.story)


def test_limits_are_the_new_runs_own():
    model = chain()
    first = begun(simulation_of(model, "hht-i3", max_steps=4))
    while first.run.advance(first.method.kernel, first.table, 100) != run.TOO_MANY_STEPS:
        pass
    take_lines(first)
    second = begun(simulation_of(model, "hht-i3"))
    checkpoint.restore(second, checkpoint.save(first))
    lines = []
    finish(second, lines)
    whole = begun(simulation_of(model, "hht-i3"))
    finish(whole, [])
    np.testing.assert_array_equal(second.run[run.NEW_Q], whole.run[run.NEW_Q])


def test_output_must_be_taken_first():
    segment = begun(simulation_of(chain(), "hht-i3"))
    segment.run.advance(segment.method.kernel, segment.table, 2)
    with pytest.raises(Index3Error, match="Take the block first"):
        checkpoint.save(segment)


@pytest.mark.parametrize(
    ("model", "method", "settings", "message"),
    [
        (chain, "bdf-i3", {}, "began by method 'hht-i3', this one by 'bdf-i3'"),
        (ix.library.four_bar, "hht-i3", {}, "does not fit"),
        (chain, "hht-i3", {"t_eval": 0.01}, r"does not fit this one: 'run.table/\d+' differs"),
    ],
)
def test_another_run_is_refused(model, method, settings, message):
    saved = checkpoint.save(begun(simulation_of(chain(), "hht-i3")))
    with pytest.raises(ModelError, match=message):
        checkpoint.restore(begun(simulation_of(model(), method, **settings)), saved)
