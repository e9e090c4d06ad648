"""The package as a whole: what importing it costs, its public names, its packaging files, its examples."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import index3

ROOT = Path(__file__).parent.parent
HEAVY = ("numba", "llvmlite", "numpy", "scipy", "scipy.integrate", "matplotlib", "xarray", "pandas", "pydantic")
HEAVY += ("typer", "rich")
WRITTEN = ["docs/reference/api.md", "docs/reference/methods.md", "docs/reference/model_file.schema.json"]
WRITTEN += ["src/index3/__init__.pyi", "src/index3/methods/__init__.pyi", "src/index3/names.py"]
LISTED = (Path(__file__).parent / "public_names.txt").read_text("utf-8")  # see test_public_names.py
FIRST_NAMES = re.findall(r"^(\w+)(?:\(.*\))?$", LISTED, re.M)


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


REMEMBERED = """
import index3, sys
from index3.compiled import memory
memory.QUIET = -60.0  # sources that were just written count as finished
index3.simulate(index3.library.pendulum(), (0.0, 0.01))
print(*sys.modules)
"""
NEEDLESS = [
    "numpy.ma", "numpy.random", "numba", "llvmlite", "json", "csv", "html", "uuid", "tempfile", "zipfile", "difflib",
    "pathlib", "urllib.parse", "hashlib",
    "index3.library.chain", "index3.forces.tyre", "index3.analysis.static", "index3.analysis.audit",
    "index3.analysis.resume", "index3.analysis.stepper", "index3.compiled.build", "index3.compiled.workers",
    "index3.engine.checkpoint", "index3.engine.dense", "index3.engine.events", "index3.engine.resuming",
    "index3.engine.switching", "index3.results.energy", "index3.results.export", "index3.results.journal",
    "index3.results.netcdf", "index3.results.store", "index3.results.bodies", "index3.results.writing",
]  # fmt: skip


def test_a_pendulum_loads_no_more_than_it_needs():
    """Neither other mechanisms of the library and their elements, nor parts of NumPy that take 10 ms each, nor files.

    The first process remembers what the sources say.
    """
    loaded = [run_python("-c", REMEMBERED).stdout.split() for _ in range(2)][1]
    assert "index3.library.pendulum" in loaded
    assert [name for name in NEEDLESS if name in loaded] == []
    own = [name for name in loaded if name.startswith("index3")]
    assert len(own) <= 180, own  # 177 now, and a few for files that are split; each takes a quarter of a millisecond


def test_a_mechanism_hides_its_module():
    """Also when the module is imported by itself, before or after the function was asked for."""
    code = (
        "import index3.library.chain, index3\nfrom index3.library import andrews\nimport index3.library.andrews as m\n"
    )
    code += (
        "print(index3.library.chain(2).name, andrews is index3.library.andrews is m, 'chain' in dir(index3.library))"
    )
    assert run_python("-c", code).stdout.split() == ["chain", "2", "True", "True"]
    assert dir(index3.library) == index3.library.__all__  # completion shows mechanisms alone
    with pytest.raises(AttributeError, match=r"no attribute 'pendulums'.*spinning_top"):
        index3.library.pendulums  # noqa: B018


@pytest.mark.parametrize("name", index3.__all__)
def test_public_name_resolves(name):
    assert getattr(index3, name) is not None
    assert name in dir(index3)


def test_shapes_and_methods_have_namespaces():
    assert index3.methods.HHT is index3.HHT
    assert dir(index3.methods) == sorted(cls.__name__ for cls in index3.METHODS.values())
    assert index3.shapes.__all__ == [*index3._BESIDE["index3.forces.shapes"]]
    assert all(getattr(index3.shapes, name) is getattr(index3, name) for name in index3.shapes.__all__)
    assert not {*dir(index3.methods), *index3.shapes.__all__} & set(dir(index3))
    with pytest.raises(AttributeError, match="no attribute 'HTH'"):
        _ = index3.methods.HTH


@pytest.fixture(scope="module")
def declarations():
    """What the declarations of the package give."""
    found = importlib.import_module("index3.commands.declarations")
    found.read_declarations()
    return found


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_from_the_declarations_is_up_to_date(name, declarations):
    """To renew it: python go.py declare"""
    if not Path(index3.__file__).is_relative_to(ROOT / "src"):
        pytest.skip("the package is installed elsewhere: it is the sources that are written to")
    files = {path.relative_to(ROOT).as_posix(): text for path, text in declarations.FILES.items()}
    assert sorted(files) == WRITTEN
    assert (ROOT / name).read_text("utf-8") == files[name]()


def test_type_checkers_see_the_public_names():
    tree = ast.parse((ROOT / "src" / "index3" / "__init__.pyi").read_text("utf-8"))
    seen = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen >= {*index3.__all__, *FIRST_NAMES, "Body", "ForceElement", "Joint", "Method", "Primitive", "register"}


def test_names_of_the_package_are_found_without_importing_their_modules():
    code = "import sys, index3\nassert 'Tyre' in index3.registry.ELEMENTS\n"
    code += "assert list(index3.names.METHODS)[0] == 'hht-i3'\nprint(*sys.modules)"
    answer = run_python("-c", code)
    assert answer.returncode == 0, answer.stderr
    assert not {"index3.forces.tyre", "index3.methods.direct.hht_method", "numpy"} & set(answer.stdout.split())


def test_methods_can_be_called_whatever_was_imported_before(capsys):
    importlib.import_module("index3.methods.registry")
    index3.methods()
    assert "hht-i3" in capsys.readouterr().out


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"no attribute 'Revolut'\. Did you mean 'Revolute'\?"):
        _ = index3.Revolut
    with pytest.raises(AttributeError, match=r"no attribute 'WeldJoint'\. Did you mean Fixed\?"):
        _ = index3.WeldJoint


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
    monkeypatch.setattr(hook, "wheel_tag", lambda sources, files: None)
    data = {"force_include": {}}
    hook.KernelBuildHook(str(ROOT), {}, None, None, "", "wheel").initialize(version, data)
    built = {str(ROOT / folder / "one.kob"): "index3/kernels/one.kob"}
    assert data["force_include"] == (built if version == "standard" else {})
    assert data.get("infer_tag", False) == (version == "standard")
    monkeypatch.setenv("INDEX3_BUILD_KERNELS", "0")
    data = {"force_include": {}}
    hook.KernelBuildHook(str(ROOT), {}, None, None, "", "wheel").initialize(version, data)
    assert data == {"force_include": {}}


def test_the_tag_of_a_wheel_follows_from_its_platform_and_kernels(hook, monkeypatch):
    seen = []
    monkeypatch.setattr("index3.compiled.symbols.check_portable", seen.append)
    monkeypatch.setattr(hook.sys, "platform", "linux")
    monkeypatch.setattr(hook.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(hook.platform, "libc_ver", lambda: ("glibc", "2.99"))
    here = "cp{}{}".format(*sys.version_info[:2])
    assert hook.wheel_tag(ROOT / "src", ["files"]) == f"{here}-{here}-manylinux_2_17_x86_64"
    assert seen == [["files"]]
    monkeypatch.setattr(hook.platform, "libc_ver", lambda: ("", ""))  # musl
    assert hook.wheel_tag(ROOT / "src", ["files"]) is None


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_example_runs(name, tmp_path):
    answer = run_python(str(ROOT / "examples" / name), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples" / "gallery").glob("*.py")))
def test_script_of_the_gallery_runs(name, tmp_path, monkeypatch):
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "examples" / "gallery" / name).read_text("utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
    assert plt.get_fignums()
    plt.close("all")


SCRIPTS = ["tutorials/sweep.md", "howto/sweeps.md", "develop/own_elements.md", "develop/extend.md"]
SCRIPTS += ["develop/kernels.md"]  # the sketch of a kernel
"""Pages whose code has to be a file: run below, and in tests/contracts/test_package_outside.py."""
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if "_build" not in page.parts]
PAGES = [str(page.relative_to(ROOT)) for page in PAGES if "```python" in page.read_text("utf-8")]
PAGES = [name for name in PAGES if name.removeprefix("docs/") not in SCRIPTS]


@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_runs(name, tmp_path, monkeypatch, capsys):
    """And prints what the page says that it prints."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text("utf-8")
    names: dict[str, object] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), names)
    assert "result" not in names or names["result"].success
    printed = capsys.readouterr().out.splitlines()
    for block in re.findall(r"```python\n[^`]*print\([^`]*```\n(?:\nprints\n)?\n```\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            assert any(is_said(line, other) for other in printed), line


def is_said(quoted, printed):
    """Whether a line printed is the one quoted: the same words; times of a machine are its own, other numbers are near.

    Counts of steps may differ with the last bits of another machine, so a factor of 2 is let pass, and 10 for what is
    given as a power of ten, such as residuals.
    """
    if quoted.lstrip().startswith("stepping took"):
        return printed.lstrip().startswith("stepping took")
    number = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
    if re.sub(number, "#", quoted).split() != re.sub(number, "#", printed).split():
        return False
    pairs = zip(re.findall(number, quoted), re.findall(number, printed), strict=True)
    return all(x == y or (abs(float(x)) <= (10 if "e" in x else 2) * abs(float(y))
                          and abs(float(y)) <= (10 if "e" in x else 2) * abs(float(x))) for x, y in pairs)  # fmt: skip


def test_script_of_the_page_on_own_elements_runs(tmp_path):
    """Its kernels need a file, so the blocks of the page make one."""
    page = (ROOT / "docs" / "develop" / "own_elements.md").read_text("utf-8")
    (tmp_path / "magnet.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "utf-8")
    answer = run_python("magnet.py", cwd=tmp_path)
    assert answer.stdout.startswith("True"), answer.stderr
    assert 'type = "Magnet"' in (tmp_path / "magnet.toml").read_text("utf-8")


def test_script_of_the_tutorial_on_sweeps_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    page = (ROOT / "docs" / "tutorials" / "sweep.md").read_text("utf-8")
    (tmp_path / "absorber.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "utf-8")
    answer = run_python("absorber.py", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "not measured: 0" in answer.stdout
    found, theory = (line.split()[1:5:2] for line in answer.stdout.splitlines()[-2:])
    assert [float(x) for x in found] == pytest.approx([float(x) for x in theory], rel=0.01)  # xatol 1e-3 of 0.5: 0.2 %
    assert (tmp_path / "absorber.png").stat().st_size > 1000


def test_script_of_the_page_on_sweeps_runs(tmp_path):
    """Its functions go to other processes, so the blocks of the page make a file."""
    page = (ROOT / "docs" / "howto" / "sweeps.md").read_text("utf-8")
    (tmp_path / "coil.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "utf-8")
    answer = run_python("coil.py", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("[-1."), answer.stdout
    assert (tmp_path / "coil_sweep" / "cases.jsonl").read_text("utf-8").count('"ok"') == 2


def test_code_on_pages_fits_without_scrolling_sideways():
    """At most 88 columns, the width of a page; formulas and what programs print may be wider."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for block in re.findall(r"```(?:python|json|toml)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            assert [line for line in block.splitlines() if len(line) > 88] == [], page
    for script in (ROOT / "examples").rglob("*.py"):
        text = script.read_text("utf-8")
        shown = text.splitlines()[ast.parse(text).body[0].end_lineno :]  # the first docstring becomes a paragraph
        assert [line for line in shown if len(line) > 88] == [], script


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            assert target.startswith("https://") or (page.parent / target).is_file(), f"{page}: {target}"
        for target, anchor in re.findall(r"\]\(([^)#:]*\.md)?#([^)]+)\)", page.read_text("utf-8")):
            text = ((page.parent / target) if target else page).read_text("utf-8")
            titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
            known = [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]
            assert anchor in known, f"{page}: {target}#{anchor}"


def test_page_on_errors_quotes_every_way_in_which_a_run_ends():
    """Each status has its line, and the words quoted from messages are in the sources."""
    from index3.engine import runner
    from index3.methods import run

    page = (ROOT / "docs" / "howto" / "errors.md").read_text("utf-8")
    lines = re.findall(r"^\| (-?\d+) \| (.*?) \|", page, re.MULTILINE)
    failed = {
        code
        for name, code in vars(run).items()
        if isinstance(code, int) and run.NEWTON_FAILED <= code <= run.OVERFLOWED
    }
    assert {int(status) for status, _ in lines} >= {0, 1, 2, -runner.CLOSURE_FAILED, -runner.STORE_FAILED}
    assert {-int(status) for status, _ in lines if int(status) <= -run.NEWTON_FAILED} == failed
    texts = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    said = re.sub(r"""["']\s+f?["']""", "", "\n".join(texts))  # strings that go on in the next line
    quoted = [
        piece.strip() for _, words in lines for quote in re.findall(r"\*(.*?)\*", words) for piece in quote.split("...")
    ]
    assert [piece for piece in quoted if piece not in said] == []


def test_every_paper_cited_is_on_the_page_of_papers():
    """A tag is some names run together, [NegrutHHT], behind a blank or a parenthesis."""
    known = set(re.findall(r"\*\*\[(\w+)\]\*\*", (ROOT / "docs" / "reference" / "papers.md").read_text("utf-8")))
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]
    texts = [path.read_text("utf-8") for path in (*SOURCES, *pages)]
    cited = {tag for text in texts for tag in re.findall(r"[\s(]\[([A-Z][a-z]+(?:[A-Z][a-z]+|HHT)+)\][^(]", text)}
    assert "NegrutHHT" in cited
    assert cited <= known


def test_every_element_has_its_equations_on_a_page():
    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "elements").glob("*.md"))
    known = [*index3.names.ELEMENTS, "Controller"]
    assert [name for name in known if not re.search(rf"`{name}\b", pages)] == []


THEORY = [page.name for page in (ROOT / "docs" / "theory").glob("[!i]*.md")]


SOURCES = sorted((ROOT / "src").rglob("*.py"))


def theory_rows(name):
    """Rows of the tables of a page: what comes before the last cell, and the code named in that."""
    for line in (ROOT / "docs" / "theory" / name).read_text("utf-8").splitlines():
        if line[:1] == "|" and not set(line) <= set("|-: "):
            *said, place = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            yield " ".join(said), re.findall(r"`([^`]+)`", place)


def files_of(word):
    """Files that a word of a table names, and the function named in them: `file.py: f`, `module.f`, `Class.f`."""
    file, _, function = word.partition(": ")
    if file.endswith(".py"):
        return [path for path in SOURCES if str(path).endswith(f"/{file}")], function
    owner, dot, function = re.sub(r"\(.*\)$", "", word).partition(".")
    if not dot or not (owner + function).isidentifier():
        return [], ""
    files = [path for path in SOURCES if path.stem == owner]
    return files or [path for path in SOURCES if f"\nclass {owner}" in path.read_text("utf-8")], function


@pytest.mark.parametrize("name", sorted(THEORY))
def test_code_named_on_a_page_of_theory_is_there_and_carries_the_numbers_of_its_equations(name):
    for said, words in theory_rows(name):
        found = [(word, *files_of(word)) for word in words if word.partition(": ")[0].endswith(".py") or "." in word]
        text = "\n".join(path.read_text("utf-8") for _, files, _ in found for path in files)
        for word, files, function in found:
            missing = function and not re.search(rf"\b(def|class) {function}\b|^ *{function}\b", text, re.MULTILINE)
            assert not missing, f"{name}: {word}"
            assert files or not word.partition(": ")[0].endswith(".py"), f"{name}: {word}"
        for tag in re.findall(r"\((\d+[a-z]?(?:\.\d+[a-z]?)*)\)", said) if text else ():
            assert re.search(rf"(?<![\w.]){re.escape(tag)}(?![\w.]*\d)", text), f"{name}: ({tag}) of {words}"


@pytest.mark.parametrize("name", sorted(THEORY))
def test_a_page_of_theory_maps_equations_to_code_that_exists(name):
    """Every file in its tables exists, and so does every function named after one: `file.py: first`, `second`."""
    tables = [line for line in (ROOT / "docs" / "theory" / name).read_text("utf-8").splitlines() if line[:1] == "|"]
    sources = {path.name: path for path in (ROOT / "src").rglob("*.py")}
    cells = [line.strip().strip("|").split("|")[-1] for line in tables]
    named = [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
    assert any(word.partition(":")[0].endswith(".py") or "." in word for word in named)
    text = ""
    for cell in cells:
        for word in re.findall(r"`([^`]+)`", cell):
            file, colon, function = word.partition(": ")
            if file.endswith(".py"):
                assert file.split("/")[-1] in sources, f"{name}: {file}"
                text = sources[file.split("/")[-1]].read_text("utf-8") if colon else ""
            else:
                function = word
            if text and re.fullmatch(r"\w+", function):
                assert f"def {function}(" in text, f"{name}: {word}"
        text = ""
