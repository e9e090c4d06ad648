"""Stored runs: whatever ends them, their lines are there, and they go on bit by bit as if nothing had happened."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from typer.testing import CliRunner

import index3 as ix
from index3.cli import app
from index3.engine import automatic, collector, interrupts, resuming
from index3.engine.reasons import INTERRUPTED, STORE_FAILED
from index3.errors import Index3Error, ModelError
from index3.results.journal import JournalWriter, read_journal
from index3.results.sinks import FileSink

SPAN = (0.0, 0.15)


class Killed(BaseException):
    """Ends a run where it stands: nothing is tidied up."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of five lines: a run comes back to Python after each."""
    monkeypatch.setattr(collector, "BLOCK_LINES", 5)


@pytest.fixture
def no_file(monkeypatch):
    """The journal stays: most of what a test would take is the netCDF file."""
    monkeypatch.setattr(FileSink, "finish", lambda sink, layout, info: sink.writer.close())


def chain():
    model = ix.library.chain(3, springs=True)
    bodies = list(model.bodies.values())
    model.add(ix.Contact("stop", bodies[-1], model.ground, shapes=(ix.Sphere(0.1), ix.Plane()), stiffness=1e4))
    return model


def killed(run, looks):
    """Do a run until it has looked so many times whether a checkpoint is due; that time it is, and the run ends."""
    count, look = itertools.count(1), resuming.Keeper.keep_if_due

    def dying(keeper, runner):
        if next(count) == looks:
            keeper.due = 0.0
            look(keeper, runner)
            raise Killed

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(resuming.Keeper, "keep_if_due", dying)
        patched.setattr(
            interrupts.Watch, "request_return", lambda watch: None
        )  # looks come with blocks, not with the clock
        with pytest.raises(Killed) as caught:
            run()
    del caught
    gc.collect()  # lets go of the journal, as the end of a process does


def assert_same(one, two):
    for name in one.arrays:
        assert one.arrays[name].tobytes() == two.arrays[name].tobytes(), name
    timing = [name for name in one.stats if name.startswith("seconds")]
    assert {**one.stats, **dict.fromkeys(timing)} == {**two.stats, **dict.fromkeys(timing)}
    assert (one.status, one.message, one.method) == (two.status, two.message, two.method)
    assert one.jumps == two.jumps
    assert one.audit == two.audit


@pytest.mark.parametrize("method", ["auto", *ix.METHODS])
@pytest.mark.usefixtures("no_file")
def test_every_method_goes_on(method, tmp_path):
    """Springs and a contact, which have memories; killed twice."""
    store = tmp_path / "run.nc"
    whole = ix.simulate(chain(), SPAN, method, progress=False)
    killed(lambda: ix.simulate(chain(), SPAN, method, progress=False, store=store), 3)
    part = ix.load(store)
    assert 0 < len(part) < len(whole)
    assert (part.status, part.success) == (INTERRUPTED, False)
    assert part.q.tobytes() == whole.q[: len(part)].tobytes()
    killed(lambda: ix.resume(store, progress=False), 2)
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.parametrize("method", ["tlismni-hht", "tlismni-adams3", "hht-i3"])
@pytest.mark.usefixtures("no_file")
def test_forces_by_accelerations_go_on(method, tmp_path, monkeypatch):
    """What is left of the last accelerations, after lines of output or not, does not matter."""

    def heavy():
        model = chain()
        model.add(ix.AddedMass("water", model["link3"], 0.4, 0.1))
        return model

    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(heavy(), SPAN, method, progress=False, store=store), 3)
    resumed = ix.resume(store, progress=False)
    monkeypatch.undo()  # the usual blocks
    assert_same(ix.simulate(heavy(), SPAN, method, progress=False), resumed)


def test_a_run_that_has_ended_is_loaded(tmp_path):
    store = tmp_path / "run.nc"
    whole = ix.simulate(chain(), SPAN, "hht-i3", progress=False)
    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store), 3)
    (tmp_path / ".999999999.run.nc").touch()  # left by a process that was killed while it wrote the file
    resumed = ix.resume(store, progress=False)
    assert resumed.q.tobytes() == whole.q.tobytes()
    assert os.listdir(tmp_path) == ["run.nc"]
    assert_same(whole, ix.resume(store))


@pytest.mark.usefixtures("no_file")
def test_killed_before_the_first_step(tmp_path):
    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store), 1)
    (tmp_path / "run.nc.checkpoint").unlink()
    assert len(ix.load(store)) == 0
    assert_same(ix.simulate(chain(), SPAN, "hht-i3", progress=False), ix.resume(store, progress=False))


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("hht-i3", {"step": 0.002, "discontinuities": [0.05, 0.11]}),
        (ix.METHODS["bdf-i3"](order=(1, 3)), {"t_eval": 0.003, "discontinuities": [0.05]}),
        ("dopri5", {"baumgarte": (5.0, 5.0), "stabilization": "baumgarte", "max_step": 0.003}),
        ("bdf-i3", {"t_eval": np.linspace(0.0, 0.15, 77) ** 1.0, "atol": 1e-7}),
        ("auto", {"discontinuities": [0.05], "rtol": 1e-4, "max_steps": 10_000}),
    ],
)
@pytest.mark.parametrize("looks", [2, 5])
@pytest.mark.usefixtures("no_file")
def test_settings_are_those_of_the_run(method, settings, looks, tmp_path):
    whole = ix.simulate(chain(), SPAN, method, progress=False, **settings)
    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(chain(), SPAN, method, progress=False, store=store, **settings), looks)
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.usefixtures("no_file")
def test_a_limit_of_steps_counts_from_the_start(tmp_path):
    store, settings = tmp_path / "run.nc", {"discontinuities": [0.03], "max_steps": 30, "progress": False}
    whole = ix.simulate(chain(), SPAN, "hht-i3", **settings)
    assert (whole.success, whole.stats["steps"]) == (False, 30)
    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", store=store, **settings), 5)
    assert_same(whole, ix.resume(store, progress=False))


def swing(t, state):
    return state["ball"].position[0]


def drop(t, state):
    return t - 0.2


def bouncing():
    """A ball on a string that is cut and caught, over a floor which it strikes; it has a spring, too."""
    model = ix.Model("ball")
    ball = model.add(ix.PointMass("ball", 1.0, position=(0.3, 0.0, 0.4)))
    model.add(ix.PointInPlane("floor", model.ground.marker((0, 0, 0)), ball.marker()))
    model.add(ix.Distance("string", model.ground.marker((0, 0, 0.8)), ball.marker()))
    model.add(ix.SpringDamper("coil", model.ground.marker((1, 0, 0)), ball.marker(), stiffness=5.0, damping=0.1))
    return model


def floor(t, state):
    return state["ball"].position[2]


drop.action = ix.open_joint("string")
floor.action = ix.impact("floor", restitution=0.8)
floor.direction = -1


@pytest.mark.parametrize(("method", "looks"), [("auto", 7), ("auto", 100), ("hht-i3", 100), ("bdf-i3", 60)])
@pytest.mark.usefixtures("no_file")
def test_events_and_open_joints(method, looks, tmp_path):
    """Restarts in other equations; a floor that was met before is met again after the run was resumed."""
    settings = {"events": [swing, drop, floor], "open_joints": ["floor"], "progress": False, "max_step": 0.01}
    store, span = tmp_path / "run.nc", (0.0, 1.2)
    whole = ix.simulate(bouncing(), span, method, **settings)
    assert len(whole.jumps) > 2
    killed(lambda: ix.simulate(bouncing(), span, method, store=store, **settings), looks)
    resumed = ix.resume(store, events=settings["events"], progress=False)
    assert_same(whole, resumed)
    for one, two in zip(whole.t_events + whole.y_events, resumed.t_events + resumed.y_events, strict=True):
        assert one.tobytes() == two.tobytes()


def test_storing_changes_nothing_and_leaves_one_file(tmp_path):
    simulation = ix.prepare(chain(), "hht-i3", progress=False)
    plain = simulation.run(SPAN, changes={"gravity": (0, 0, -3.0)})
    stored = simulation.run(SPAN, changes={"gravity": (0, 0, -3.0)}, store=tmp_path / "run.nc")
    assert_same(plain, stored)
    assert_same(plain, ix.load(tmp_path / "run.nc"))
    assert os.listdir(tmp_path) == ["run.nc"]


@pytest.mark.usefixtures("no_file")
def test_changes_of_a_prepared_simulation_are_in_the_store(tmp_path):
    simulation, store = ix.prepare(chain(), "hht-i3", progress=False), tmp_path / "run.nc"
    changes = {"gravity": (0, 0, -3.0)}
    killed(lambda: simulation.run(SPAN, changes=changes, store=store), 3)
    assert_same(simulation.run(SPAN, changes=changes), ix.resume(store, progress=False))


SCRIPT = """
    import os, signal
    import index3 as ix
    from index3.engine import collector, resuming

    collector.BLOCK_LINES, resuming.WAIT, resuming.SHARE = 5, 0.0, 1e9

    def kill(t, end):
        if t > 0.6 * end:
            os.kill(os.getpid(), signal.SIGKILL)

    ix.simulate(ix.library.four_bar(), (0.0, 0.5), {method!r}, progress=kill, store={store!r})
"""


@pytest.mark.parametrize("method", ["hht-i3", "bdf-i3", "dopri5", "tlismni-adams4", "auto"])
@pytest.mark.usefixtures("no_file")
def test_after_a_kill(method, tmp_path, monkeypatch):
    """Another process goes on: all addresses are others there, also in the checkpoint that it writes before a step."""
    store = tmp_path / "run.nc"
    script = textwrap.dedent(SCRIPT).format(method=method, store=str(store))
    done = subprocess.run([sys.executable, "-c", script], timeout=300)
    assert done.returncode == -signal.SIGKILL
    whole = ix.simulate(ix.library.four_bar(), (0.0, 0.5), method, progress=False)
    part = ix.load(store)
    assert 0 < len(part) < len(whole)
    monkeypatch.setattr(resuming, "WAIT", 0.0)
    assert_same(whole, ix.resume(store, progress=False))


def push(t):
    return (np.sin(30 * t), 0.0, 0.0)


def pushed(function=push, mass=1.0):
    model = ix.library.pendulum()
    model["rod"].mass = mass
    model.add(ix.Force("push", model["rod"].marker(), function))
    return model


@pytest.mark.usefixtures("no_file")
def test_a_model_with_functions_is_given_again(tmp_path):
    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(pushed(), SPAN, "hht-i3", progress=False, store=store), 2)
    with pytest.raises(ModelError, match=r"does not hold its model: Force 'push'.*Give the model again"):
        ix.resume(store)
    with pytest.raises(ModelError, match="Force 'push' is not what it was"):
        ix.resume(store, pushed(lambda t: (np.cos(30 * t), 0.0, 0.0)))
    with pytest.raises(ModelError, match="RigidBody 'rod' is not what it was"):
        ix.resume(store, pushed(mass=2.0))
    with pytest.raises(ModelError, match="has no Force 'push'"):
        ix.resume(store, ix.library.pendulum())
    other = pushed()
    other.add(ix.PointMass("more", 1.0))
    with pytest.raises(ModelError, match="PointMass 'more' is new"):
        ix.resume(store, other)
    whole = ix.simulate(pushed(), SPAN, "hht-i3", progress=False)
    assert_same(whole, ix.resume(store, pushed(), progress=False))


def test_functions_of_the_run_are_given_again(tmp_path):
    store, lines = tmp_path / "run.nc", []

    def callback(t, q, v):
        lines.append(t)

    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store, callback=callback), 3)
    with pytest.raises(ModelError, match="Give callback as simulate was given"):
        ix.resume(store)
    with pytest.raises(ModelError, match="had no events"):
        ix.resume(store, events=swing, callback=callback)
    lines.clear()
    part = len(ix.load(store))
    resumed = ix.resume(store, callback=callback, progress=False)
    assert lines == resumed.t[part:].tolist()  # those before were shown to the first process


def test_another_number_of_events_is_refused(tmp_path):
    store = tmp_path / "run.nc"
    settings = {"progress": False, "open_joints": ["floor"], "events": [drop, swing]}
    killed(lambda: ix.simulate(bouncing(), SPAN, "hht-i3", store=store, **settings), 3)
    with pytest.raises(ModelError, match="had 2 event functions, and 1 were given"):
        ix.resume(store, events=drop, progress=False)
    assert len(ix.load(store)) > 0


@pytest.mark.usefixtures("no_file")
def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path):
    store = tmp_path / "run.nc"

    def interrupt(t, end):
        if t > 0.1:
            raise KeyboardInterrupt

    whole = ix.simulate(chain(), SPAN, "hht-i3", progress=False)
    part = ix.simulate(chain(), SPAN, "hht-i3", progress=interrupt, store=store)
    assert (part.status, part.success) == (INTERRUPTED, False)
    assert part.q.tobytes() == whole.q[: len(part)].tobytes()
    assert_same(whole, ix.resume(store, progress=False))


def full_after(monkeypatch, records):
    """A disk that is full after so many records."""
    count, fsync = itertools.count(), os.fsync

    def full(descriptor):
        if next(count) >= records:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)


@pytest.mark.parametrize("records", [5, 6])
@pytest.mark.usefixtures("no_file")
def test_a_full_disk_ends_the_run_and_keeps_its_lines(records, monkeypatch, tmp_path):
    """The record that does not fit is one of lines, or a checkpoint."""
    store = tmp_path / "run.nc"
    whole = ix.simulate(chain(), SPAN, "hht-i3", progress=False)
    with monkeypatch.context() as patched:
        patched.setattr(resuming, "WAIT", 0.0)
        patched.setattr(resuming, "SHARE", 1e9)
        full_after(patched, records)
        part = ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store)
    assert (part.status, part.success) == (-STORE_FAILED, False)
    assert "run.nc" in part.message
    assert "No space left on device" in part.message
    assert 0 < len(part) < len(whole)
    assert part.q.tobytes() == whole.q[: len(part)].tobytes()
    assert read_journal(tmp_path / "run.nc.journal").ignored == 0
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.usefixtures("no_file")
def test_of_a_block_that_does_not_fit_the_disk_keeps_what_fits(monkeypatch, tmp_path):
    """Four of a first block of five lines; none was kept."""
    store, journal = tmp_path / "run.nc", tmp_path / "run.nc.journal"
    whole = ix.simulate(chain(), SPAN, "hht-i3", progress=False)
    line = sum(array[0].nbytes for array in whole.arrays.values())
    begun = []
    with monkeypatch.context() as patched:
        put = JournalWriter.put

        def full(self, data):
            """Room for the first records and for 4.7 lines; what fits of a piece is written, as by a file system."""
            if self.path.exists():
                begun or begun.append(self.end)
                room = begun[0] + int(4.7 * line) - self.file.tell()
                if len(data) > room:
                    put(self, bytes(data)[: max(room, 0)])
                    raise OSError(28, "No space left on device")
            put(self, data)

        patched.setattr(JournalWriter, "put", full)
        part = ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store)
    assert (part.status, part.success) == (-STORE_FAILED, False)
    assert "No space left on device" in part.message
    found = ix.load(store)
    assert len(part) == len(found) == 4
    assert "disk was full; then index3.resume" in found.message
    assert found.q.tobytes() == whole.q[:4].tobytes()
    assert read_journal(journal).ignored == 0
    assert_same(whole, ix.resume(store, progress=False))


def test_no_room_for_the_file_at_the_end(monkeypatch, tmp_path):
    import index3.results.netcdf as netcdf

    def full(*arguments):
        raise OSError(28, "No space left on device")

    store = tmp_path / "run.nc"
    with monkeypatch.context() as patched:
        patched.setattr(netcdf, "write_netcdf", full)
        result = ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store)
    assert (result.status, result.success) == (-STORE_FAILED, False)
    assert "All lines of the run are in the journal" in result.message
    whole = ix.simulate(chain(), SPAN, "hht-i3", progress=False)
    assert_same(whole, ix.load(store))
    assert_same(whole, ix.resume(store))
    assert os.listdir(tmp_path) == ["run.nc"]


def test_a_run_under_way_is_left_alone(tmp_path):
    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store), 3)
    with pytest.raises(Index3Error, match=r"still running or did not end. Continue it with index3.resume\('run.nc'\)"):
        ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store)
    journal = tmp_path / "run.nc.journal"
    writer = JournalWriter.reopened(journal, journal.stat().st_size)
    with pytest.raises(Index3Error, match="is being written by a running simulation"):
        ix.resume(store, progress=False)
    writer.close()
    assert ix.resume(store, progress=False).success


@pytest.mark.usefixtures("no_file")
def test_a_damaged_checkpoint_means_the_start(tmp_path):
    store = tmp_path / "run.nc"
    killed(lambda: ix.simulate(chain(), SPAN, "hht-i3", progress=False, store=store), 3)
    (tmp_path / "run.nc.checkpoint").write_bytes(b"PK")
    assert_same(ix.simulate(chain(), SPAN, "hht-i3", progress=False), ix.resume(store, progress=False))


def test_what_cannot_be_stored_is_refused(tmp_path, monkeypatch):
    model = chain()
    for store, message in ((3, "Give the path"), ("", "Give the path"), (tmp_path, "give a file in an existing folder"),
                           (tmp_path / "no" / "run.nc", "give a file in an existing folder")):  # fmt: skip
        with pytest.raises(ModelError, match=message):
            ix.simulate(model, SPAN, store=store)
    with pytest.raises(ModelError, match="linear = 'scipy' cannot be stored"):
        ix.simulate(model, SPAN, store=tmp_path / "run.nc", linear="scipy")
    with pytest.raises(ModelError, match="dense_output is kept in memory"):
        ix.simulate(model, SPAN, store=tmp_path / "run.nc", dense_output=True)
    with pytest.raises(Index3Error, match="There is no file"):
        ix.resume(tmp_path / "run.nc")
    killed(lambda: ix.simulate(model, SPAN, "hht-i3", progress=False, store=tmp_path / "run.nc"), 2)
    monkeypatch.setattr("index3.analysis.resume.__version__", "99")
    with pytest.raises(Index3Error, match=r"was begun by index3 .*, here is 99"):
        ix.resume(tmp_path / "run.nc")


def test_commands(tmp_path):
    store = tmp_path / "run.nc"
    settings = ["--t-end", "0.15", "--method", "hht-i3", "--store", str(store), "--quiet"]
    run = ["run", "chain", "--param", "n=3", "--param", "springs=True", *settings]
    killed(lambda: CliRunner().invoke(app, run, catch_exceptions=False), 3)
    wrong = CliRunner().invoke(app, ["resume", str(store), "--model", "four_bar"])
    assert (wrong.exit_code, "resume: model 'four-bar' has no" in wrong.output) == (2, True), wrong.output
    done = CliRunner().invoke(app, ["resume", str(store)])
    assert done.exit_code == 0, done.output
    assert "finished" in done.output
    assert "computed in" in done.output
    again = CliRunner().invoke(app, ["resume", str(store)])
    assert "read from the file: the run had ended" in again.output
    whole = ix.simulate(ix.library.chain(3, springs=True), SPAN, "hht-i3", progress=False)
    assert_same(whole, ix.load(store))


def count_up(t, u, memory):
    memory[0] += 0.1
    return -4.0 * u[0] - memory[0]


def controlled():
    model = ix.Model("cart")
    body = model.add(ix.RigidBody.box("body", (1, 1, 1), mass=2.0, velocity=(1.0, 0, 0)))
    rail = model.add(ix.Prismatic("rail", model.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    motor = model.add(ix.Actuator("motor", rail, 0.0))
    model.add(ix.Controller("pilot", 0.02, count_up, ["rail.displacement"], [motor], memory=1))
    return model


@pytest.mark.parametrize("method", ["dopri5", "bdf-si2"])
def test_controllers_go_on_with_what_they_hold_and_remember(method, tmp_path):
    whole = ix.simulate(controlled(), SPAN, method, progress=False)
    settings = {"store": tmp_path / "run.nc", "progress": False}
    killed(lambda: ix.simulate(controlled(), SPAN, method, **settings), 6)
    with pytest.raises(ModelError, match="Controller 'pilot' cannot be written to a file"):
        ix.resume(tmp_path / "run.nc", progress=False)
    other = controlled()
    other.controllers["pilot"].period = 0.03
    with pytest.raises(ModelError, match="Controller 'pilot' is not what it was"):
        ix.resume(tmp_path / "run.nc", other, progress=False)
    resumed = ix.resume(tmp_path / "run.nc", controlled(), progress=False)
    assert_same(resumed, whole)
    assert np.array_equal(resumed["pilot"].y, whole["pilot"].y)
    assert len(resumed["pilot"].t) == 8


def mounted():
    """auto changes from dopri5 to a stiff method on the way, once the mount is loaded."""
    model = ix.Model("link and mount", gravity=(0, 0, -9.81))
    link = model.add(ix.RigidBody.rod("link", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, link, at=(0, 0, 0), axis=(0, 1, 0)))
    mass = model.add(ix.PointMass("mass", 1.0, position=(0, 0, 2.0)))
    settings = {"stiffness": (1e7,) * 3, "damping": (5e4,) * 3, "free": (0.1, 0, 0)}
    model.add(ix.Bushing("mount", model.ground, mass, at=(0, 0, 2.0), **settings))
    return model


@pytest.mark.usefixtures("no_file")
@pytest.mark.parametrize("looks", [2, 5, 12, 20])
def test_auto_changes_its_method_before_or_after(looks, tmp_path, monkeypatch):
    monkeypatch.setattr(automatic, "RECONSIDER", 20)
    store = tmp_path / "run.nc"
    whole = ix.simulate(mounted(), (0.0, 0.3), progress=False, discontinuities=[0.01])
    assert ", from t = " in whole.message
    killed(lambda: ix.simulate(mounted(), (0.0, 0.3), progress=False, discontinuities=[0.01], store=store), looks)
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.usefixtures("no_file")
@pytest.mark.parametrize("looks", [5, 30])
def test_auto_damps_hidden_vibrations_before_or_after(looks, tmp_path):
    """The run ends while radau5 is at work, or when hht-i3 has taken over."""
    model = ix.Model("beam", gravity=(0.0, -9.81, 0.0))
    steel = {"height": 0.01, "width": 0.01, "young": 2.1e11, "poisson": 0.3, "density": 7850.0}
    body = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=20, **steel))
    model.add(ix.Fixed("clamp", model.ground, body, at=(0, 0, 0)))
    store = tmp_path / "run.nc"
    whole = ix.simulate(model, (0.0, 5e-3), progress=False)
    assert "hht-i3 damps them" in whole.message
    killed(lambda: ix.simulate(model, (0.0, 5e-3), progress=False, store=store), looks)
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.usefixtures("no_file")
def test_everything_that_is_saved_comes_back(tmp_path, monkeypatch):
    """A run just restored has what was saved of it, but for addresses and seconds."""
    store, found = tmp_path / "run.nc", {}
    settings = {"events": [swing, drop, floor], "progress": False}

    def note(name):
        look = resuming.Keeper.keep_if_due

        def noting(keeper, run):
            if name not in found or name == "before":
                run.zeno.times.setdefault(7, resuming.deque([0.5], maxlen=resuming.SHRINKING))
                run.stalling.warned = run.near_branch = True
                run.collector.give()  # as before every checkpoint
                found[name] = resuming.save_run(run)
            look(keeper, run)

        return noting

    with monkeypatch.context() as patched:
        patched.setattr(resuming.Keeper, "keep_if_due", note("before"))
        killed(
            lambda: ix.simulate(bouncing(), (0.0, 1.2), "hht-i3", store=store, open_joints=["floor"], **settings), 150
        )
    with monkeypatch.context() as patched:
        patched.setattr(resuming.Keeper, "keep_if_due", note("after"))
        ix.resume(store, **settings)
    before, after = found["before"], found["after"]
    assert before.keys() == after.keys()
    words = [
        {k: x for k, x in resuming.text_in(saved, "words").items() if k not in ("seconds", "cpu")}
        for saved in found.values()
    ]
    assert words[0] == words[1]
    assert words[0]["variants"]
    assert words[0]["zeno"]
    for name, array in before.items():
        if array.dtype == float:
            assert array.tobytes() == after[name].tobytes(), name


KEPT = {
    "segment", "jumps", "seconds", "asked", "near_branch", "passed", "events", "cpu", "collector", "momenta",
    "stalling", "zeno", "sampling", "allowance", "growth",
}  # fmt: skip
"""Attributes of a runner of which checkpoints hold what changes."""
FIXED = {"plan", "callback", "layout", "status", "message", "cause", "log", "watch", "keeper"}
"""Those that do not change between two steps, or that a stored run does not have."""
PARTS = {
    "momenta": {"parts", "start", "next_look", "largest", "drifts", "looked"},
    "stalling": {"t", "end", "tried", "warned", "note"},
    "allowance": {"t", "end", "tried", "slow", "max_steps", "note"}, "zeno": {"span", "times"},
    "growth": {"end", "next_look", "warned", "note", "marks"},
    "events": {
        "functions", "segment", "layout", "moving", "source", "table", "found", "fired", "time", "span", "values",
        "largest", "earlier",
    },
}  # fmt: skip


@pytest.mark.usefixtures("no_file")
def test_all_that_a_runner_knows_was_thought_of(tmp_path, monkeypatch):
    """A new attribute is red here: if it changes on the way, `engine.resuming` must save and restore it."""
    seen = []
    monkeypatch.setattr(resuming.Keeper, "keep_if_due", lambda keeper, run: seen.append(run))
    ix.simulate(
        bouncing(), SPAN, "hht-i3", store=tmp_path / "run.nc", events=swing, open_joints="floor", progress=False
    )
    assert vars(seen[0]).keys() <= KEPT | FIXED
    for name, known in PARTS.items():
        assert vars(getattr(seen[0], name)).keys() <= known, name


@pytest.mark.usefixtures("no_file")
def test_momentum_of_what_is_free(tmp_path):
    """Looked at every 1000 steps."""
    model = ix.Model("free", gravity=(0, 0, 0))
    model.add(ix.RigidBody("top", 1.0, (1.0, 2.0, 3.0), velocity=(1, 0, 0), angular_velocity=(0.1, 5.0, 0.1)))
    store, settings = tmp_path / "run.nc", {"step": 0.001, "progress": False}
    whole = ix.simulate(model, (0.0, 2.5), "hht-i3", **settings)
    killed(lambda: ix.simulate(model, (0.0, 2.5), "hht-i3", store=store, **settings), 300)
    assert_same(whole, ix.resume(store, progress=False))


@pytest.mark.usefixtures("no_file")
def test_drift_of_momentum_since_the_last_look(tmp_path):
    """Which tells whether tolerances are cut."""
    model = ix.Model("wheel", gravity=(0, 0, 0))
    model.add(ix.RigidBody("wheel", 3.0, (0.02, 0.02, 0.03), angular_velocity=(30, 1, 100)))
    store, settings = tmp_path / "run.nc", {"rtol": 1e-3, "t_eval": 0.1, "progress": False}
    whole = ix.simulate(model, (0.0, 30.0), "hht-i3", **settings)
    assert "tolerances divided" in whole.audit["energy"].note
    killed(lambda: ix.simulate(model, (0.0, 30.0), "hht-i3", store=store, **settings), 60)
    assert_same(whole, ix.resume(store, progress=False))
