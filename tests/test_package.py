"""The package as a whole: what importing it costs, its public names, its packaging files, its examples."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import index3

ROOT = Path(__file__).parent.parent
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "scipy.integrate", "matplotlib", "xarray", "pandas", "pydantic")
HEAVY += ("typer", "rich")


def run_python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter, as a user would."""
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd)


def loaded_after(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after running some code."""
    answer = run_python("-c", f"{code}\nimport sys\nprint(*sys.modules)")
    assert answer.returncode == 0, answer.stderr
    return set(HEAVY) & set(answer.stdout.splitlines()[-1].split())  # before it stands what the code printed


def test_import_loads_nothing_heavy():
    assert loaded_after("import index3") == set()


def test_errors_load_nothing_heavy():
    assert loaded_after("import index3; index3.ModelError; index3.errors") == set()


def test_command_line_help_loads_no_numerics():
    code = "import sys\nsys.argv = ['index3', 'run', '--help']\nfrom index3.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass"
    assert loaded_after(code) <= {"typer", "rich", "pydantic"}  # which typer may bring along


def test_run_with_stored_kernels_loads_neither_numba_nor_plots():
    index3.simulate(index3.library.pendulum(), (0.0, 0.01))  # builds and stores whatever kernel is missing
    code = "import index3\nindex3.simulate(index3.library.pendulum(), (0.0, 0.01))"
    assert loaded_after(code) & {"numba", "scipy", "matplotlib", "xarray", "pandas", "typer"} == set()


@pytest.mark.parametrize("name", index3.__all__)
def test_public_name_resolves(name):
    assert getattr(index3, name) is not None
    assert name in dir(index3)


def test_names_of_the_table_are_those_for_type_checkers():
    tree = ast.parse((ROOT / "src" / "index3" / "__init__.py").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [(node.module, alias.name) for node in block.body for alias in node.names]
    table = [(home, name) for home, names in index3._HOME.items() for name in names]
    assert sorted(imports) == sorted(table + [("index3", name) for name in index3._MODULES])


def test_methods_can_be_called_whatever_was_imported_before(capsys):
    importlib.import_module("index3.methods.registry")
    index3.methods()
    assert "hht-i3" in capsys.readouterr().out


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Revolut'"):
        _ = index3.Revolut


def test_version_is_in_the_changelog():
    assert re.fullmatch(r"\d+\.\d+\.\d+", index3.__version__)
    assert f"[{index3.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_constraints_are_plain_pins():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)] == []


def test_go_needs_the_standard_library_only():
    tree = ast.parse((ROOT / "go.py").read_text("utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.fixture
def hook():
    """The build hook."""
    pytest.importorskip("hatchling", reason="needed to load the build hook; part of the development environment")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_install_fails_and_says_why_when_kernels_cannot_be_built(hook, monkeypatch, tmp_path):
    def fail(directory, jobs):
        raise RuntimeError("no compiler")

    monkeypatch.setattr("index3.compiled.build.build_all", fail)
    with pytest.raises(RuntimeError, match=r"could not be built: no compiler\nSet INDEX3_BUILD_KERNELS=0"):
        hook.build_kernels(ROOT / "src", tmp_path)


@pytest.mark.parametrize(("version", "folder"), [("standard", "build/kernels"), ("editable", "src/index3/kernels")])
def test_a_wheel_does_not_touch_the_kernels_of_an_editable_install(hook, monkeypatch, version, folder):
    monkeypatch.delenv("INDEX3_BUILD_KERNELS", raising=False)
    monkeypatch.setattr("index3.compiled.build.build_all", lambda directory, jobs: [directory / "one.kob"])
    data = {"force_include": {}}
    hook.KernelBuildHook(str(ROOT), {}, None, None, "", "wheel").initialize(version, data)
    built = {str(ROOT / folder / "one.kob"): "index3/kernels/one.kob"}
    assert data["force_include"] == (built if version == "standard" else {})
    assert data.get("infer_tag", False) == (version == "standard")
    monkeypatch.setenv("INDEX3_BUILD_KERNELS", "0")
    data = {"force_include": {}}
    hook.KernelBuildHook(str(ROOT), {}, None, None, "", "wheel").initialize(version, data)
    assert data == {"force_include": {}}


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_example_runs(name, tmp_path):
    answer = run_python(str(ROOT / "examples" / name), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout


PAGES = ["README.md", "docs/tutorials/first_mechanism.md", "docs/reference/model_files.md"]
PAGES += [f"docs/howto/{name}.md" for name in ("user_force", "analyses", "events", "prepared")]
PAGES += sorted(f"docs/elements/{page.name}" for page in (ROOT / "docs" / "elements").glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_runs(name, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec("\n".join(blocks), names)
    assert names["result"].success


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            assert target.startswith("https://") or (page.parent / target).is_file(), f"{page}: {target}"
