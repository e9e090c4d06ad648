"""Sweeps: every case is a row, whatever it does to its process."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import index3 as ix
from index3.analysis import sweep_child
from index3.analysis.sweep_cases import cases_of
from index3.cli import app
from index3.errors import Index3Error, ModelError

SPAN = (0.0, 0.05)


def build(what="sound", mass=1.0):
    if what == "slow":
        time.sleep(1e6)
    if what == "kills":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "exits":
        os._exit(3)
    if what == "leaves":
        sys.exit("enough")
    if what == "prints":
        print("something", flush=True)
    model = ix.library.pendulum()
    model["rod"].mass = mass
    if what == "wrong" or mass < 0.0:
        model.add(ix.PointMass("lead", -1.0))
    if what == "breaks":
        model.add(ix.Force("push", model["rod"].marker(), breaking))
    if what == "not a model":
        return 3
    return model


def breaking(t):
    return (0.0 if t < 0.02 else float("nan"), 0.0, 0.0)


def peak(result):
    return result.energy.kinetic.max()


def end(result):
    return result["rod"].position[-1]


@pytest.fixture(scope="module")
def one_worker():
    with ThreadPoolExecutor(1) as executor:
        yield executor
    sweep_child.end_children()


def swept(parameters, **settings):
    settings = {"t_span": SPAN, "measure": {"peak": peak}, "progress": False, "rtol": 1e-4} | settings
    return ix.sweep(settings.pop("build", build), parameters, **settings)


def direct(**parameters):
    return peak(ix.simulate(build(**parameters), SPAN, rtol=1e-4, progress=False))


def test_a_grid_and_what_may_happen():
    kinds = ["sound", "wrong", "breaks", "kills", "exits", "prints", "not a model", "leaves"]
    found = swept({"what": kinds, "mass": [2.0]}, measure={"peak": peak, "end": end}, time_limit=60.0)
    assert dict(found.sizes) == {"what": 8, "mass": 1, "end_0": 3}
    wanted = ["ok", "raised", "failed", "killed", "killed", "ok", "raised", "raised"]
    assert found.status.values.tolist() == [[status] for status in wanted]
    assert found.peak.sel(what="sound", mass=2.0) == direct(mass=2.0)
    assert np.isfinite(found.peak.sel(what="prints")).all()
    assert np.isnan(found.peak.where(found.status != "ok", drop=True)).all()
    assert found.end.dims == ("what", "mass", "end_0")
    said = dict(zip(kinds, found.message.values[:, 0], strict=True))
    assert said["wrong"].startswith("ModelError: PointMass 'lead'")
    assert "Force 'push'" in said["breaks"]
    assert said["kills"] == "The process of the case ended: killed by SIGKILL."
    assert said["exits"] == "The process of the case ended: exit code 3."
    assert said["leaves"] == "SystemExit: enough"
    assert said["sound"] == ""
    assert (found.seconds.values > 0.0).all()
    assert not sweep_child.IDLE  # the last processes have gone


def test_a_case_that_hangs(one_worker):
    cases = [{"what": what} for what in ("sound", "slow", "sound")]
    found = swept(cases, time_limit=15.0, executor=one_worker)
    assert found.status.values.tolist() == ["ok", "timeout", "ok"]
    assert found.message.values[1] == "More than 15 s."
    assert found.what.dims == ("case",)


def dies_once(folder, mass):
    """Kills its process at the first try, of two cases one."""
    mark = Path(folder) / str(mass)
    if mass == 2.0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return build(mass=mass)


def test_a_case_that_was_killed_is_tried_once_more(tmp_path, one_worker):
    found = swept({"folder": [str(tmp_path)], "mass": [1.0, 2.0]}, build=dies_once, executor=one_worker)
    assert found.status.values.tolist() == [["ok", "ok"]]


@pytest.mark.parametrize("isolate", [False, True])
def test_executors_of_the_user(isolate):
    with ProcessPoolExecutor(1, get_context("spawn")) as processes, ThreadPoolExecutor(2) as threads:
        for executor in (processes, threads):
            found = swept([{"mass": 1.0}, {"mass": 3.0}, {"mass": -1.0}], executor=executor, isolate=isolate)
            assert found.status.values.tolist() == ["ok", "ok", "raised"]
            assert found.peak.values[1] == direct(mass=3.0)
    sweep_child.end_children()


def test_a_pool_that_loses_its_worker_gives_rows():
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        found = swept([{"what": "kills"}, {"what": "sound"}], executor=executor, isolate=False)
    assert found.status.values[0] == "killed"
    assert "The worker ended: BrokenProcessPool" in found.message.values[0]


def test_a_prepared_simulation():
    pendulum = ix.prepare(ix.library.pendulum(), "dopri5", rtol=1e-4)
    with ThreadPoolExecutor(1) as executor:
        found = ix.sweep(
            pendulum, {"rod.mass": [1.0, 2.0], "gravity": [(0, 0, -1.0), (0, 0, -2.0)]}, t_span=SPAN, executor=executor,
            measure={"peak": lambda result: result.energy.kinetic.max()}, isolate=False, progress=False,
        )  # fmt: skip
    assert found.peak.dims == ("rod.mass", "gravity")
    changed = pendulum.run(SPAN, changes={"rod.mass": 2.0, "gravity": (0, 0, -1.0)}, progress=False)
    assert found.peak.values[1, 0] == peak(changed)


def test_samples():
    ranges = {"a": (1.0, 3.0), "b": (1e2, 1e6, "log")}
    latin = cases_of(ranges, 50, 1).values
    assert cases_of(ranges, ("latin", 50), 1).values == latin
    a, b = (np.array([case[name] for case in latin]) for name in "ab")
    assert sorted(np.floor((a - 1.0) / 2.0 * 50)) == list(range(50))  # one in each fiftieth
    assert sorted(np.floor(np.log10(b / 1e2) / 4.0 * 50)) == list(range(50))
    sobol = cases_of(ranges, ("sobol", 8), 1)
    assert (len(sobol.values), sobol.grid) == (8, None)
    assert cases_of(ranges, np.array([[0.5, 0.5]]), None).values == [{"a": 2.0, "b": pytest.approx(1e4)}]


@pytest.mark.parametrize(
    ("parameters", "settings", "message"),
    [
        ({}, {}, "there are no parameters"),
        ({"mass": 1.0}, {}, "Give the values it is to have"),
        ([{"mass": 1.0}, {"what": "x"}], {}, "case 1 has the parameters"),
        ([1.0], {}, "a list with a dict per case"),
        ({"mass": (2.0, 1.0)}, {"samples": 3}, "Give low < high"),
        ({"mass": (1.0, 2.0, 3.0)}, {"samples": 3}, r"Give \(low, high\)"),
        ({"mass": (1.0, 2.0)}, {"samples": ("random", 3)}, "samples = "),
        ([{"mass": 1.0}], {"samples": 3}, "samples are drawn from ranges"),
        ({"status": [1.0]}, {}, "'status' is taken"),
        ({"mass": [1.0]}, {"measure": peak}, "Give a dict of functions"),
        ({"mass": [1.0]}, {"measure": {"mass": peak}}, "'mass' is taken"),
        ({"mass": [1.0]}, {"build": 3}, "build is 3"),
        ({"mass": [1.0]}, {"executor": 4}, "executor = 4"),
        ({"mass": [1.0]}, {"time_limit": -1.0}, "time_limit = -1.0"),
        ({"mass": [1.0]}, {"time_limit": 1.0, "isolate": False}, "cannot be ended"),
        ({"mass": [1.0]}, {"resume": True}, "resume needs the folder"),
        ({"mass": [1.0]}, {"on_failure": "raise"}, "on_failure is not a setting"),
        ({"mass": [1.0]}, {"progress": "yes"}, "sweep: progress = 'yes'"),
        ({"mass": [1.0]}, {"t_span": (1.0, 0.0)}, "sweep: t_span"),
    ],
)
def test_what_means_nothing_is_refused(parameters, settings, message):
    with pytest.raises(ModelError, match=message):
        swept(parameters, **settings)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rod.mas", "sweep: RigidBody 'rod' has no field 'mas' to change. Did you mean 'mass'"),
        ("rot.mass", "Did you mean 'rod'"),
        ("mass", "'mass' is not a field of an element"),
        ("pivot.third.position", "third"),
    ],
)
def test_names_that_a_prepared_model_has_not_are_refused(name, message):
    with pytest.raises(ModelError, match=message):
        swept({name: [1.0]}, build=ix.prepare(ix.library.pendulum()))


def test_what_cannot_go_to_another_process_is_refused():
    if importlib.util.find_spec("cloudpickle"):
        pytest.skip("cloudpickle sends lambdas")
    with pytest.raises(ModelError, match="defined with def at the top of a module"):
        swept({"mass": [1.0]}, measure={"peak": lambda result: 1.0})


def test_a_store_keeps_finished_cases(tmp_path, one_worker):
    store, cases = tmp_path / "swept", [{"mass": mass} for mass in (1.0, 2.0, -1.0, 3.0)]
    whole = swept(cases, store=store, executor=one_worker)
    with pytest.raises(ModelError, match="holds a sweep already"):
        swept(cases, store=store)
    with pytest.raises(ModelError, match="its parameters differ"):
        swept(cases[:3], store=store, resume=True)
    with pytest.raises(ModelError, match="its measures differ"):
        swept(cases, store=store, resume=True, measure={"peak": end})
    lines = (store / "cases.jsonl").read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)[0] in (1, 2)]
    (store / "cases.jsonl").write_bytes(b"".join(kept) + lines[0][:20])  # killed while it wrote a line
    done = []
    progress = lambda count, total: done.append((count, total))  # noqa: E731
    again = swept(cases, store=store, resume=True, progress=progress, executor=one_worker)
    assert done == [(2, 4), (3, 4), (4, 4)]
    assert again.drop_vars("seconds").identical(whole.drop_vars("seconds"))
    assert len((store / "cases.jsonl").read_bytes().splitlines()) == 4


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with ThreadPoolExecutor(1) as executor, pytest.raises(Index3Error, match="cannot be written: No space left"):
        swept([{"mass": 1.0}], store=tmp_path / "swept", isolate=False, executor=executor)


SCRIPT = """
    import sys, time
    import index3 as ix

    def build(number):
        if number == 5:
            time.sleep(1e6)
        return ix.library.pendulum()

    def steps(result):
        return result.stats["steps"]

    if {guarded}:
        cases = [{{"number": k}} for k in range({count})]
        ix.sweep(build, cases, t_span=(0.0, 0.05), measure={{"steps": steps}}, store=sys.argv[1], progress=False)
"""


def test_the_process_of_the_sweep_is_killed(tmp_path):
    """Finished cases are in the store, and no child is left, not even one that hangs."""
    script, store = tmp_path / "script.py", tmp_path / "swept"
    script.write_text(textwrap.dedent(SCRIPT).format(guarded="__name__ == '__main__'", count=6))
    process = subprocess.Popen([sys.executable, str(script), str(store)])
    file = store / "cases.jsonl"
    while not file.exists() or file.read_bytes().count(b"\n") < 5:
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    pids = [int(pid) for task in children.parents[1].iterdir() for pid in (task / "children").read_text().split()]
    assert pids
    process.kill()
    process.wait()
    for _ in range(200):
        if not any(is_alive(pid) for pid in pids):
            break
        time.sleep(0.05)
    assert not any(is_alive(pid) for pid in pids)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_script_without_a_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT).format(guarded="True", count=1))
    if importlib.util.find_spec("cloudpickle"):
        pytest.skip("with cloudpickle no guard is needed")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(script), str(tmp_path / "swept")], capture_output=True, text=True
    )
    assert "Put the call under: if __name__ == '__main__':" in done.stdout, done.stderr


RUN = """
import sys
import index3.analysis.sweep as module
real = module.as_dataset
module.as_dataset = lambda cases, rows, work: print(rows) or real(cases, rows, work)
sys.argv = sys.argv[1:]
main = sys.modules["__main__"]
main.__file__ = sys.argv[0]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), main.__dict__)
"""


def test_on_dask():
    """A local cluster, whose workers may not have children of `multiprocessing`; one of them is killed."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'index3[sweep]'")
    cases = [{"mass": 1.0 + k} for k in range(20)] + [{"mass": -1.0}]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())

        def kill(done, total):
            if done == 5:
                os.kill(pids[0], signal.SIGKILL)

        found = swept(cases, executor=client.get_executor(), progress=kill, time_limit=60.0)
    assert found.status.values.tolist() == ["ok"] * 20 + ["raised"]


def test_command(tmp_path):
    file, saved = tmp_path / "pendulum.toml", tmp_path / "found.nc"
    ix.library.pendulum().save(file)
    command = ["sweep", str(file), "--vary", "rod.mass=1:4:3:log", "--t-end", "0.05", "--save", str(saved)]
    done = CliRunner().invoke(app, [*command, "--measure", "rod.position.z:min", "--measure", "pivot.force:max"])
    assert done.exit_code == 0, done.output
    assert "3 cases" in done.output
    import xarray as xr

    with xr.open_dataset(saved, engine="h5netcdf") as found:
        assert found["rod.mass"].values == pytest.approx([1.0, 2.0, 4.0])
        pendulum = ix.prepare(ix.load_model(file), rtol=1e-6).run(SPAN, changes={"rod.mass": 4.0}, progress=False)
        assert found["rod.position.z:min"].values[2] == pendulum["rod"].position[:, 2].min()
        assert found["pivot.force:max"].values[2] == pytest.approx(
            np.linalg.norm(pendulum["pivot"].force, axis=1).max(),
            rel=1e-15,  # the length of a vector, rounded
        )
    for words, message in (
        (["--vary", "rod.mass=1:4"], "is not of the form NAME=LOW:HIGH:COUNT"),
        (["--vary", "rod.mass=1,2", "--measure", "rod.position.z"], "is not of the form HISTORY:KIND"),
    ):
        wrong = CliRunner().invoke(app, ["sweep", str(file), *words])
        assert (wrong.exit_code, message in wrong.output) == (2, True), wrong.output
