"""The command line: what it prints where, its files, its exit codes."""

from __future__ import annotations

import json
import re
import signal
import textwrap
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import index3 as ix
from index3 import cli
from index3.commands import common, doctor
from index3.compiled import sources, store
from index3.errors import ModelError

MODEL_FILE = """
    import index3 as ix

    def model(length=1.0):
        m = ix.Model("rod")
        rod = m.add(ix.RigidBody.rod("rod", (0, 0, 0), (length, 0, 0), mass=1.0))
        m.add(ix.Revolute("pin", m.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
        return m

    def broken():
        return 1 / 0

    def wrong():
        return {"bodies": []}

    def twice():
        m = model()
        m.add(ix.RigidBody("rod", 1.0, (1, 1, 1)))
        return m

    def interrupted():
        import _thread, threading
        timer = threading.Timer(2.0, _thread.interrupt_main)
        timer.daemon = True
        timer.start()
        return model()
"""


@pytest.fixture(scope="module", autouse=True)
def built_kernels():
    """Nothing is left to build, so that a command's standard error holds its own words only."""
    store.prepare(sources.kernels(sources.kernel_modules()))


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "rod.py"
    path.write_text(textwrap.dedent(MODEL_FILE), "utf-8")
    return path


def run(*arguments):
    """Exit code, standard output and standard error of one command."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_run_prints_a_summary_and_nothing_on_stderr():
    code, out, err = run("run", "pendulum", "--t-end", "0.1")
    assert (code, err) == (0, "")
    assert "pendulum" in out


def test_run_writes_the_files_asked_for(tmp_path):
    files = [tmp_path / name for name in ("a.html", "a.png", "a.nc", "b.nc")]
    names = [text for pair in zip(("--html", "--plot", "--save", "--store"), files, strict=True) for text in pair]
    code, out, _ = run("run", "pendulum", "--dt", "0.05", *names)
    assert code == 0
    assert all(file.stat().st_size > 0 and str(file) in out for file in files)


def test_quiet_run_prints_nothing():
    assert run("run", "pendulum", "--t-end", "0.1", "--quiet") == (0, "", "")


def test_run_of_a_file_with_parameter_and_method_option(model_file):
    code, out, _ = run(
        "run", model_file, "--param", "length=2.0", "--option", "alpha=-0.1", "--method", "hht-i3", "--t-end", "0.1"
    )
    assert code == 0
    assert "rod" in out


def test_run_starts_at_joint_coordinates(tmp_path):
    order = ("run", "pendulum", "--t-end", "0.01", "--quiet", "--save", tmp_path / "run.nc")
    name = next(iter(ix.library.pendulum().joints))
    code, _, err = run(*order, "--initial", f"{name}.angle=0.3", "--initial", f"{name}.angle_rate=2")
    assert (code, err) == (0, "")
    joint = ix.Result.load(tmp_path / "run.nc")[name]
    assert joint.angle[0] == pytest.approx(0.3, abs=1e-12)
    assert joint.angle_rate[0] == pytest.approx(2.0, abs=1e-12)
    code, _, err = run(*order, "--initial", f"{name}.angle")
    assert (code, err.strip()) == (2, f"error: --initial '{name}.angle' is not of the form joint.coordinate=number.")


def test_run_with_a_linear_solver(tmp_path):
    file = tmp_path / "a.nc"
    code, _, _ = run("run", "pendulum", "--linear", "scipy", "--method", "dopri5", "--t-end", "0.1", "--save", file)
    assert code == 0
    assert ix.Result.load(file).options["linear"] == "scipy"
    code, _, err = run("run", "pendulum", "--linear", "sparse", "--t-end", "0.1")
    assert code == 2
    assert "no linear solver 'sparse'" in err
    code, _, err = run("run", "pendulum", "--linear", "reduced", "--method", "hht-i3", "--t-end", "0.1")
    assert code == 2
    assert "Method 'hht-i3' needs" in err


def test_fixed_step_run_takes_the_steps_it_was_told(tmp_path):
    import index3

    assert (
        run("run", "pendulum", "--method", "hht-i3", "--step", "0.01", "--t-end", "0.1", "--save", tmp_path / "a.nc")[0]
        == 0
    )
    # 1e-15: the times are t0 + k h by multiplication, so only rounding of the last digit is left
    assert index3.Result.load(tmp_path / "a.nc").t == pytest.approx([0.01 * k for k in range(11)], abs=1e-15)


def test_run_that_ends_early_fails_but_writes_what_there_is(tmp_path):
    file = tmp_path / "a.nc"
    code, out, err = run("run", "pendulum", "--option", "max_steps=3", "--save", file)
    assert code == common.FAILED
    assert "error: " in err
    assert str(file) in out
    assert file.exists()


@pytest.fixture
def heeded_interrupts():
    """Ctrl-C as in a terminal; a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
def test_interrupted_run_gives_what_was_computed(model_file, tmp_path):
    file = tmp_path / "a.nc"
    code, out, err = run("run", f"{model_file}:interrupted", "--t-end", "1e5", "--dt", "1.0", "--save", file)
    assert code == common.FAILED
    assert "nterrupted" in err
    assert str(file) in out
    assert file.exists()


def test_interrupt_before_the_run_is_a_clean_line(monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("index3.analysis.simulate.simulate", interrupt)
    code, out, err = run("run", "pendulum")
    assert (code, out) == (common.FAILED, "")
    assert "interrupted" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "four_baar"], "Did you mean 'four_bar'?"),
        (["run", "zzz"], "There are: ancf_pendulum, andrews"),
        (["run", "nowhere.json"], "nowhere.json: cannot be read"),
        (["run", "nowhere.yaml"], "ends in .json or .toml"),
        (["check", "nowhere.toml", "--param", "n=1"], "has no parameters"),
        (["convert", "pendulum", "a.txt"], "a.txt: a model file ends in .json or .toml"),
        (["run", "nowhere.py"], "no file 'nowhere.py'"),
        (["run", "pendulum", "--param", "lenght=2"], "no parameter 'lenght'. Did you mean 'length'?"),
        (["run", "pendulum", "--param", "length"], "not of the form key=value"),
        (["run", "pendulum", "--param", "length=1", "--param", "length=2"], "'length' twice"),
        (["run", "pendulum", "--option", "rtol=1e-3"], "cannot set 'rtol'"),
        (["run", "pendulum", "--option", "alhpa=-0.1"], "alpha"),
        (["run", "pendulum", "--option", "alpha=0.5"], "alpha"),
        (["run", "pendulum", "--method", "hht-i2"], "hht-i3"),
        (["run", "pendulum", "--t-end", "-1"], "-1"),
        (["run", "pendulum", "--html", "no_such_folder/a.html"], "does not exist"),
        (["run", "pendulum", "--plot", "a.txt"], "is not a picture file"),
        (["check", "four_baar"], "Did you mean 'four_bar'?"),
        (["run"], "MODEL"),
        (["run", "pendulum", "--t-end", "soon"], "--t-end"),
        (["compare", "pendulum", "--methods", "dopri5,hht"], "There is no method 'hht'. Did you mean 'hht-i3'?"),
        (["sweep", "pendulum", "--vary", "rod.mas=1:2:3"], "no field 'mas' to change. Did you mean 'mass'?"),
    ],
)
def test_bad_input_is_named_without_a_traceback(arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (common.BAD_INPUT, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("broken", "raised ZeroDivisionError: division by zero (rod.py, line 11)"),
        ("wrong", "returned dict, not an index3.Model"),
        ("twice", "'rod'"),
        ("modle", "no function 'modle'. Did you mean 'model'?"),
    ],
)
def test_bad_model_file_is_named_without_a_traceback(model_file, function, message):
    code, out, err = run("run", f"{model_file}:{function}")
    assert (code, out) == (common.BAD_INPUT, "")
    assert message in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback_of_the_users_error(model_file):
    code, _, err = run("run", f"{model_file}:broken", "--debug")
    assert code == common.BAD_INPUT
    assert "return 1 / 0" in err


def test_check_names_the_redundant_rows():
    code, out, err = run("check", "four-bar")
    assert (code, err) == (0, "")
    assert "redundant" in out


def test_model_files_are_written_converted_and_run(tmp_path):
    first, second, third = (tmp_path / name for name in ("a.json", "b.toml", "c.json"))
    assert run("convert", "four_bar", first, "--param", "speed=2.0") == (0, f"wrote {first}\n", "")
    assert run("convert", first, second)[0] == run("convert", second, third)[0] == 0
    assert third.read_text() == first.read_text()
    code, out, _ = run("check", second)
    assert code == 0
    assert "redundant" in out
    code, out, err = run("run", third, "--t-end", "0.1")
    assert (code, err) == (0, "")
    assert "four-bar" in out


def test_version_is_printed():
    assert run("--version") == (0, f"index3 {ix.__version__}\n", "")


def test_page_of_the_command_line_names_every_command_and_every_option_of_run():
    page = (Path(__file__).parents[1] / "docs" / "reference" / "command_line.md").read_text("utf-8")
    commands = typer.main.get_command(cli.app).commands
    assert [name for name in commands if f"`index3 {name}" not in page] == []
    options = [option.opts[0] for option in commands["run"].params if option.opts[0].startswith("--")]
    assert "--rtol" in options
    assert [option for option in options if option not in page] == []


def test_schema_is_printed():
    code, out, _ = run("schema")
    assert code == 0
    assert "Revolute" in json.loads(out)["$defs"]


def test_methods_are_listed():
    code, out, _ = run("methods")
    assert code == 0
    assert "hht-i3" in out


def test_warmup_leaves_nothing_to_build():
    assert run("warmup")[0] == 0
    code, out, _ = run("warmup")
    assert code == 0
    assert "(0 of them built now)" in out


def test_doctor_finds_a_sound_installation_sound():
    code, out, _ = run("doctor")
    assert code == 0, out
    assert "all fine" in out


def test_doctor_looks_at_everything():
    out = run("doctor")[1]
    seen = [line.split(":")[0] for line in out.splitlines()[1:-1]]
    kinds = ["Python", "packages", "kernels", "cache", "extras", "browser", "self-test"]
    assert [kind for kind in seen if kind != "note"] == kinds


@pytest.mark.parametrize("value", ["", "rel"])
def test_doctor_names_every_folder_that_kernels_are_loaded_from(monkeypatch, tmp_path, value):
    monkeypatch.setattr(doctor, "EXAMINATIONS", (doctor.kernels,))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("INDEX3_CACHE", value)
    line = next(line for line in run("doctor")[1].splitlines() if line.startswith("kernels:"))
    assert re.findall(r"\b(?:in|or) (\S+)", line) == [str(store.INSTALLED), str(tmp_path / ".cache" / "index3")]


def needs(monkeypatch, **bounds):
    monkeypatch.setattr(doctor, "EXAMINATIONS", (doctor.packages,))
    monkeypatch.setattr(doctor, "requirements", lambda: bounds)


def test_doctor_names_packages_that_are_missing_or_of_other_versions(monkeypatch):
    needs(monkeypatch, no_such_package=">=1.0", numpy="<1.0,>=0.5")
    code, out, _ = run("doctor")
    assert code == common.FAILED
    assert "wrong: no_such_package is not installed: pip install --force-reinstall index3" in out
    assert re.search(r'wrong: numpy \S+ is not <1.0,>=0.5: pip install "numpy<1.0,>=0.5"', out)
    assert "all fine" not in out


@pytest.mark.parametrize(
    ("version", "bounds", "fits"),
    [
        ("0.68.1", "<0.69,>=0.62", True),
        ("0.69.0", "<0.69,>=0.62", False),
        ("0.9", ">=0.62", False),
        ("2.0rc1", "", True),
    ],
)
def test_doctor_compares_versions_by_their_numbers(version, bounds, fits):
    assert doctor.meets(version, bounds) == fits


def test_doctor_looks_at_the_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "EXAMINATIONS", (doctor.cache,))
    monkeypatch.setenv("INDEX3_CACHE", str(tmp_path / "deep" / "cache"))
    assert "(not made yet)" in run("doctor")[1]
    (tmp_path / "deep" / "cache").mkdir(parents=True)
    (tmp_path / "deep" / "cache").chmod(0o777)
    code, out, _ = run("doctor")
    assert code == common.FAILED
    assert "others can write to it: chmod 700" in out
    (tmp_path / "deep" / "cache").chmod(0o700)
    monkeypatch.setattr(doctor, "ROOM", 1e30)
    code, out, _ = run("doctor")
    assert code == common.FAILED
    assert f"free on the disk of {tmp_path}" in out


def test_doctor_says_how_to_get_an_extra_and_what_for(monkeypatch):
    monkeypatch.setattr(doctor, "EXAMINATIONS", (doctor.extras, doctor.browser))
    monkeypatch.setattr(doctor, "EXTRAS", {"plot": (("no-such-package",), "plots")})
    monkeypatch.setattr(doctor, "BROWSERS", ())
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    code, out, _ = run("doctor")
    assert code == 0
    assert 'plots: pip install "index3[plot]"' in out
    assert "copy them to a machine with a browser" in out


def test_doctor_knows_every_extra_for_users():
    with open(Path(__file__).parents[1] / "pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["project"]["optional-dependencies"]
    names = {extra: tuple(line.split(">=")[0] for line in lines) for extra, lines in declared.items()}
    assert {extra: names[extra] for extra in names.keys() - {"test", "dev", "docs"}} == {
        extra: packages for extra, (packages, _) in doctor.EXTRAS.items()
    }


def test_pairs_are_literals_or_strings():
    assert common.read_pairs(["a=1", "b-c=(1, 2)", "d=word", "e=a=b"], "--param") == {
        "a": 1,
        "b_c": (1, 2),
        "d": "word",
        "e": "a=b",
    }
    with pytest.raises(ModelError, match="key=value"):
        common.read_pairs(["=1"], "--param")


def test_static_prints_positions_and_reactions(model_file):
    code, out, err = run("static", model_file)
    assert (code, err) == (0, "")
    assert "static equilibrium of 'rod' at t = 0 s: stable" in out
    assert ["rod", "0", "0", "-0.5"] in [line.split() for line in out.splitlines()]
    assert "9.80665" in out


def test_static_names_unknown_holds_and_quiet_is_quiet(model_file):
    code, out, err = run("static", model_file, "--hold", "nobody")
    assert (code, out) == (common.BAD_INPUT, "")
    assert "no body or joint 'nobody'" in err
    assert run("static", model_file, "--quiet") == (0, "", "")


def test_linearize_prints_modes_and_plays_one(model_file, tmp_path):
    page = tmp_path / "mode.html"
    code, out, _ = run("linearize", model_file, "--static", "--html", page)
    assert code == 0
    assert "3.83536" in out  # sqrt(3 g / 2)
    assert "rod: turn about y" in out
    assert page.stat().st_size > 1000
    code, out, err = run("linearize", model_file, "--mode", 5)
    assert code == common.BAD_INPUT
    assert "no mode 5" in err


def test_linearize_in_axes_that_turn_with_a_body(tmp_path):
    file = tmp_path / "spinning.json"
    model = ix.Model("spinning", gravity=(0, 0, 0))
    model.add(ix.RigidBody("body", 1.0, (1.0, 2.0, 2.5), angular_velocity=(0, 4, 0)))
    model.save(file)
    code, out, _ = run("linearize", file, "--frame", "body")
    assert code == 0
    assert "1.78885" in out  # 4 sqrt((2 - 1) (2.5 - 2) / 2.5): it tumbles
    assert "steadily" in out
    code, _, err = run("linearize", file, "--frame", "bod")
    assert code == common.BAD_INPUT
    assert "Did you mean 'body'" in err


def test_kinematics_drives_joints(model_file, tmp_path):
    file = tmp_path / "driven.nc"
    code, out, _ = run("kinematics", model_file, "--drive", "pin=2", "--t-end", 2, "--dt", 0.5, "--save", file)
    assert code == 0
    assert "by kinematics" in out
    assert file.is_file()
    code, out, err = run("kinematics", model_file)
    assert (code, out) == (common.BAD_INPUT, "")
    assert "the angle of Revolute 'pin'" in err
    code, _, err = run("kinematics", model_file, "--drive", "pin=fast")
    assert code == common.BAD_INPUT
    assert "joint=rate" in err
    code, _, err = run("kinematics", model_file, "--drive", "nail=1")
    assert (code, err) == (common.BAD_INPUT, "error: kinematics: 'nail' is not a joint. There are: pin.\n")


@pytest.mark.parametrize(("model", "t_end"), [("andrews", "0.003"), ("double_pendulum", "0.02")])
def test_compare_draws_all_methods_in_one_command(model, t_end, tmp_path):
    """Every registered method has its points in the table, and the diagram is written."""
    file = tmp_path / "work.png"
    code, out, _ = run("compare", model, "--t-end", t_end, "--rtol", "1e-3,1e-4", "--plot", file)
    assert code == 0
    for key in ix.METHODS:
        lines = [line for line in out.splitlines() if line.startswith(f"{key} ")]
        assert len(lines) == 2, key
        assert all(float(line.split()[2]) < 1.0 for line in lines), lines  # an error, not a refusal
    assert file.read_bytes().startswith(b"\x89PNG")


def test_what_is_no_model_is_told_what_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rod.py").write_text(textwrap.dedent(MODEL_FILE), "utf-8")
    Path("slip.py").write_text("def model(:\n", "utf-8")
    for model, words in (
        ("run.nc", "run.nc is a result, not a model. `index3 view run.nc` shows it."),
        ("rod", "For the file give rod.py."),
        ("slip.py", "slip.py raised SyntaxError: invalid syntax (slip.py, line 1).\n"),  # and no line of Python's own
    ):
        found = CliRunner().invoke(cli.app, ["check", model])
        assert found.exit_code == 2
        assert words in found.stderr
    found = CliRunner().invoke(cli.app, ["sweep", "rod.py", "--vary", "length=1,2"])
    assert "to vary the parameters of a function, call index3.sweep" in found.stderr
