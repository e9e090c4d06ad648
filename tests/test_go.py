"""go.py: environments with the oldest Numba and a newer Python, and installations without kernels."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import index3

ROOT = Path(__file__).parent.parent


@pytest.fixture
def go():
    spec = importlib.util.spec_from_file_location("go", ROOT / "go.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def calls(go, monkeypatch):
    """Calls of what installs and of what runs, without doing it."""
    made = []
    monkeypatch.setattr(go, "environment", lambda *given, **variables: made.append((given, variables)) or "its python")
    monkeypatch.setattr(go, "check_kernels", lambda python: made.append(f"kernels of {python}"))
    monkeypatch.setattr(go, "run", lambda *command, **variables: made.append(command) or 5)
    return made


def test_the_oldest_numba_is_the_one_declared(go, calls):
    assert go.oldest([]) == 5  # what the tests return
    ((name, command, constraints), variables), tests = calls
    assert (name, command, variables) == ("oldest", [sys.executable], {"INDEX3_BUILD_KERNELS": "0"})
    names = [line.partition("==")[0] for line in constraints]
    assert [line for line in constraints if line.startswith("numba")] == ["numba==0.62.*"]
    assert not {"llvmlite", "numpy"} & set(names)  # as that Numba wants them
    assert "scipy" in names
    assert tests == ("its python", "-m", "pytest", "tests/compiled/test_ways.py")


def test_a_newer_python_is_started_by_the_variables_it_needs(go, calls, monkeypatch):
    monkeypatch.setattr(go, "NEWER", ("3.99", "3.98"))
    monkeypatch.setattr(go, "start_of", {"3.98": {"PYENV_VERSION": "3.98.7"}}.get)
    assert go.newer([]) == 5
    (given, variables), kernels, tests = calls
    assert given == ("newer", ["python3.98"], go.pins())
    assert variables == {"PYENV_VERSION": "3.98.7"}
    assert kernels == "kernels of its python"
    assert tests == ("its python", "-m", "pytest", *go.FAST)


def test_without_a_newer_python_the_last_line_says_so(go, calls, monkeypatch, capsys):
    monkeypatch.setattr(go, "start_of", lambda version: None)
    assert go.newer([]) == 0
    assert calls == []
    here = ".".join(map(str, sys.version_info[:2]))
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        last == f"[index3] no newer Python (3.13 or 3.12) can be started here: nothing was tested beside Python {here}"
    )
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "python3 go.py newer"


SHIM = '#!/bin/sh\n[ "$PYENV_VERSION" = 3.99.4 ]\n'
PYENV = "#!/bin/sh\nprintf '3.11.7\\n3.99.4\\n'\n"


@pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")
def test_a_python_of_pyenv_is_found_though_its_bare_name_fails(go, monkeypatch, tmp_path):
    for name, text in (("python3.99", SHIM), ("pyenv", PYENV)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    assert go.start_of("3.99") == {"PYENV_VERSION": "3.99.4"}
    assert go.start_of("3.98") is None
    assert go.start_of("3.10") is None  # not newer
    monkeypatch.setenv("PYENV_VERSION", "3.99.4")
    assert go.start_of("3.99") == {}


def test_an_installation_without_kernels_fails(go, monkeypatch, tmp_path, capfd):
    package = Path(index3.__file__).parent
    shutil.copytree(package, tmp_path / "index3", ignore=shutil.ignore_patterns("__pycache__", "kernels"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("INDEX3_BUILD_KERNELS", raising=False)
    with pytest.raises(SystemExit) as ended:
        go.check_kernels(sys.executable)
    assert ended.value.code == 1
    said = capfd.readouterr()
    assert f"kernels are missing in {tmp_path / 'index3' / 'kernels'}, among them index3." in said.err
    assert "failed: the kernels were not compiled" in said.out
    monkeypatch.setenv("INDEX3_BUILD_KERNELS", "0")
    go.check_kernels(sys.executable)
    assert "kernels are left out (INDEX3_BUILD_KERNELS=0)" in capfd.readouterr().out


def test_kernels_built_the_slow_way_are_told_of(go, monkeypatch, capfd):
    """Whatever lies in the user's cache: these are the installed ones."""
    monkeypatch.delenv("INDEX3_BUILD_KERNELS", raising=False)
    assert "target.QUICK not in" in go.MISSING
    monkeypatch.setattr(go, "MISSING", go.MISSING.replace("target.QUICK not in", "target.QUICK in"))
    go.check_kernels(sys.executable)
    assert "kernels were built by Numba's documented interface" in capfd.readouterr().out


def test_what_the_build_says_is_seen(go, monkeypatch):
    """pip hides what a build hook prints, so that kernels are compiled beside it."""
    made = []
    monkeypatch.setattr(go, "must", lambda *command, **variables: made.append((command[1:3], variables)))
    monkeypatch.setattr(go, "follow", lambda *command: made.append((command[1:3], command[3])))
    monkeypatch.setattr(go, "check_kernels", lambda python: None)
    monkeypatch.delenv("INDEX3_BUILD_KERNELS", raising=False)
    go.install("test")
    assert made[1:] == [
        (("-m", "pip"), {"INDEX3_BUILD_KERNELS": "0"}),
        (("-m", "index3.compiled.build"), go.KERNELS),
    ]
    made.clear()
    monkeypatch.setenv("INDEX3_BUILD_KERNELS", "0")
    go.install("test")
    assert [what for what, _ in made] == [("-m", "pip")] * 2


def test_distributions_are_built_installed_and_run(go, monkeypatch, tmp_path, capsys):
    """Without doing it: the source distribution from the clone, the wheel from that, each in a fresh environment."""
    made = []

    def must(*command, **variables):
        words = [str(part) for part in command]
        made.append((words, variables))
        if "sdist" in words:
            (tmp_path / "dist").mkdir()
            (tmp_path / "dist" / "index3-1.tar.gz").write_text("")
        if "wheel" in words:
            (tmp_path / "dist" / "index3-1.whl").write_text("")

    monkeypatch.setattr(go, "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", "src")  # which would hide what is installed
    monkeypatch.setattr(go, "OTHERS", tmp_path / "others")
    monkeypatch.setattr(go, "build_requirements", lambda: ["hatchling"])
    monkeypatch.setattr(go, "bare", lambda name: f"{name}/python")
    monkeypatch.setattr(go, "check_kernels", lambda python: made.append(([python, "kernels"], {})))
    monkeypatch.setattr(go, "must", must)
    monkeypatch.setattr(go, "run", lambda *command, **variables: must(*command, **variables) or 0)
    assert go.package([]) == 0
    assert "PYTHONPATH" not in os.environ
    programs = [words[0] for words, _ in made]
    assert programs == ["build/python"] * 3 + ["wheel/python"] * 4 + ["source/python"] * 2
    installs = {words[0]: (words[-1], variables) for words, variables in made if "install" in words}
    assert installs["wheel/python"][0].endswith("index3-1.whl")
    source = (tmp_path / "dist" / "index3-1.tar.gz").as_uri()
    content = hashlib.sha256(b"").hexdigest()  # so that pip does not take what it once built from this address
    assert installs["source/python"][0] == f"index3 @ {source}#sha256={content}"
    assert installs["source/python"][1]["INDEX3_BUILD_KERNELS"] == "0"
    (tmp_path / "others" / "wheel" / "cache").mkdir(parents=True)  # as if a run had to build kernels
    assert go.try_wheel(tmp_path / "index3-1.whl", {}) == 1
    assert "failed: a run with the wheel built kernels of its own" in capsys.readouterr().out


def test_the_first_run_refuses_sources_that_are_not_installed(go):
    """This very test runs the sources of the clone, or an installation: `sys.prefix` tells."""
    monkey = f"import sys; sys.prefix = {str(ROOT / 'nowhere')!r}\n"
    answer = subprocess.run([sys.executable, "-c", monkey + go.FIRST_RUN], capture_output=True, text=True)
    assert answer.returncode == 1
    assert "is not the index3 that was installed in" in answer.stderr


def test_an_installation_tells_how_far_it_is(go, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setattr(go, "KERNELS", folder)
    (folder / "old.kob").touch()
    os.utime(folder / "old.kob", (0, 0))
    work = f"import pathlib, time; pathlib.Path({str(folder)!r}, 'new.kob').touch(); time.sleep(1)"
    go.follow(sys.executable, "-c", work, every=0.2)
    assert "[index3] 1 kernels compiled after" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        go.follow(sys.executable, "-c", "raise SystemExit(3)")
    assert ended.value.code == 3
    assert "failed (exit code 3)" in capsys.readouterr().out
