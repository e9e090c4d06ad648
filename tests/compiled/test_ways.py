"""Two ways to build kernels: the quick one, and Numba's documented interface where that does not know this Numba."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from index3.compiled import frontend, sources, store, target, workers
from index3.compiled.interface import JIT
from index3.errors import Index3Error

pytestmark = pytest.mark.skipif(not JIT, reason="plain kernels are not built")
ROOT = Path(__file__).parent.parent.parent
FALLBACK = "Kernels are built by Numba's documented interface, which takes longer."
TRAJECTORIES = """
import numpy as np
import index3
for name in ("pendulum", "four_bar"):
    result = index3.simulate(getattr(index3.library, name)(), (0.0, 1.0), method="dopri5", progress=False)
    np.savez(name, t=result.t, q=result.q, v=result.v)
"""
UNKNOWN = {  # an edit of frontend.py that makes this Numba one that it does not know, and the reason given
    "version": ("TESTED = (0, 62), (0, 69)", "TESTED = (0, 1), (0, 2)", "tested are versions from 0.1 to below 0.2"),
    "import": ("import PostProcessor,", "import Postprocessor,", "cannot import name 'Postprocessor'"),
    "failure": ("    module.verify()", "    module.verify_all()", "object has no attribute 'verify_all'"),
}


@pytest.fixture
def change(workshop):
    """Edits a file of the workshop's package for one test."""
    kept = {}

    def edit(name, old, new):
        path = workshop.package / name
        kept[path] = path.read_text("utf-8")
        assert kept[path].count(old) == 1
        path.write_text(kept[path].replace(old, new), "utf-8")

    yield edit
    for path, text in kept.items():
        path.write_text(text, "utf-8")


@pytest.mark.slow
def test_both_ways_give_the_same_trajectories(make_workshop, tmp_path):
    """Bit for bit: both hand the same arithmetic to LLVM, which may not reorder it."""
    made = {way: make_workshop(tmp_path / way) for way in ("quick", "unknown")}
    frontend = made["unknown"].package / "compiled" / "frontend.py"
    frontend.write_text(frontend.read_text("utf-8").replace(*UNKNOWN["version"][:2]), "utf-8")
    _, messages = made["quick"].run(TRAJECTORIES, INDEX3_NUMBA="quick")
    assert FALLBACK not in messages
    _, messages = made["unknown"].run(TRAJECTORIES)
    assert messages.count(FALLBACK) == 1
    for name in ("pendulum", "four_bar"):
        quick, standard = (np.load(one.folder / f"{name}.npz") for one in made.values())
        assert len(quick["t"]) > 10
        for column in ("t", "q", "v"):
            np.testing.assert_array_equal(quick[column], standard[column])


@pytest.mark.parametrize("reason", UNKNOWN)
def test_an_unknown_numba_is_met_by_its_documented_interface(workshop, change, reason):
    old, new, said = UNKNOWN[reason]
    change("compiled/frontend.py", old, new)
    output, messages = workshop.run()
    assert output == "7.0 False\n"
    _, notice, _ = messages.splitlines()
    assert re.fullmatch(rf"index3: the quick build does not work with Numba \S+ \(.*{re.escape(said)}.*\)\. .*", notice)
    assert notice.endswith(FALLBACK)
    assert workshop.run() == ("7.0 False\n", "")  # what was built is kept and found


def test_a_numba_that_lacks_a_name_or_takes_other_arguments_is_unknown(monkeypatch):
    frontend.check_numba()
    for name, parameters in (("set_environment", "self env_name env"), ("set_env", "self env_name env flags")):
        monkeypatch.setattr(frontend, "KNOWN", [*frontend.KNOWN, (frontend.JITCPUCodegen, name, parameters)])
        expected = f"JITCPUCodegen.{name}({parameters.replace(' ', ', ')}) is not there"
        with pytest.raises(frontend.UnknownNumba, match=re.escape(expected)):
            frontend.check_numba()
        monkeypatch.undo()


@pytest.mark.parametrize(("version", "known"), [((0, 61), 0), ((0, 62), 1), ((0, 68), 1), ((0, 69), 0), ((1, 0), 0)])
def test_a_numba_outside_the_tested_versions_is_unknown(monkeypatch, version, known):
    monkeypatch.setattr(frontend.numba, "version_info", frontend.numba.version_info._replace(short=version))
    with (
        contextlib.nullcontext() if known else pytest.raises(frontend.UnknownNumba, match=r"from 0\.62 to below 0\.69")
    ):
        frontend.check_numba()


def test_the_quick_way_alone_fails_instead(workshop, change):
    change("compiled/frontend.py", *UNKNOWN["version"][:2])
    process = workshop.start(INDEX3_NUMBA="quick")
    _, messages = process.communicate(timeout=300)
    assert process.returncode
    assert "Index3Error: Kernels could not be built" in messages
    assert "UnknownNumba: tested are versions" in messages


TUPLE = """
import numpy as np
from index3.compiled.interface import OK, Table, kernel, slots, view
(X,) = slots(x=("f8", 1))
POWERS = (2.0, 4.0, 8.0)

@kernel
def pick(T, E):
    x = view(T, X)
    x[1] = POWERS[int(x[0])]
    return OK

@kernel
def throw(T, E):
    if view(T, X)[0] > 5.0:
        raise ValueError("large")
    return OK
"""
PICK = """
from index3.tuples import X, Table, np, pick, throw
table = Table(1)
table[X] = np.array([2.0, 0.0])
print(pick(table.handle, 0), table[X][1])
throw.address
"""


def test_the_standard_way_lets_tuples_be_read_and_refuses_what_raises(workshop):
    (workshop.package / "tuples.py").write_text(TUPLE, "utf-8")
    process = workshop.start(PICK, INDEX3_NUMBA="standard")
    output, messages = process.communicate(timeout=300)
    assert output == "0 8.0\n"
    assert "kernel index3.tuples.throw can raise an exception. Return a status instead." in messages


def test_a_way_that_does_not_exist_is_an_error(monkeypatch):
    monkeypatch.setenv("INDEX3_NUMBA", "fast")
    with pytest.raises(Index3Error, match="INDEX3_NUMBA is 'fast'"):
        store.prepare([("index3.system.evaluate", "nothing")])


def test_what_is_tested_is_what_is_declared():
    (_, oldest), (_, too_new) = frontend.TESTED
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split())
    for listed in (project["build-system"]["requires"], project["project"]["dependencies"]):
        assert f"numba>=0.{oldest},<0.{too_new}" in listed
        (llvmlite,) = (one for one in listed if one.startswith("llvmlite"))
        assert llvmlite.endswith(f",<0.{int(pins['llvmlite'].split('.')[1]) + 1}")
    assert pins["numba"].startswith(f"0.{too_new - 1}.")  # the newest declared is the one pinned


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_versions_are_those_that_python_finds(package):
    code = f"import {package}; print({package}.__version__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert target.version(package) == found


def test_versions_settings_and_machine_are_part_of_a_digest(monkeypatch):
    def digests():
        sources.forget_sources()
        target.description.cache_clear()
        return {sources.digest("index3.forces.load", way) for way in (target.QUICK, target.STANDARD)}

    seen = digests()
    assert len(seen) == 2
    for place, other in (
        ("index3.compiled.target.version", lambda package: "0.62.0" if package == "numba" else "0.50.0"),
        ("index3.compiled.target.version", lambda package: "0.45.0" if package == "llvmlite" else "0.68.1"),
        ("index3.compiled.target.ENVIRONMENT", {**target.ENVIRONMENT, "NUMBA_OPT": "3"}),
        ("index3.compiled.target.ENVIRONMENT", {**target.ENVIRONMENT, "NUMBA_CPU_NAME": "skylake"}),
        ("llvmlite.binding.get_default_triple", lambda: "aarch64-unknown-linux-gnu"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, other)
            changed = digests()
        assert len(changed) == 2
        assert not seen & changed
        seen |= changed
    digests()


def test_workers_get_none_of_the_users_settings_of_numba(monkeypatch):
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    monkeypatch.setenv("NUMBA_OPT", "0")
    monkeypatch.setenv("PYTHONPATH", "relative")
    found = workers.environment("quick")
    wanted = {name: value for name, value in target.ENVIRONMENT.items() if name.startswith("NUMBA_")}
    assert {name: value for name, value in found.items() if name.startswith("NUMBA_")} == wanted
    assert found["INDEX3_NUMBA"] == "quick"
    assert found["PYTHONPATH"].split(":")[1] == str(Path.cwd() / "relative")  # workers run in another folder


def test_nothing_is_taken_from_the_current_folder(workshop, tmp_path):
    for name in ("numba.py", "sitecustomize.py", "index3.py"):
        (tmp_path / name).write_text("raise SystemExit('taken from the current folder')\n")
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    code = "import os\nfrom pathlib import Path\nfrom index3.compiled import workers, sources\n"
    code += f"os.chdir({str(tmp_path)!r})\n"
    code += "workers.build(sources.kernels(['index3.sample']), Path('built'))"
    workshop.run(code)
    assert len(list((tmp_path / "built").iterdir())) == 1
