"""Set up and run index3 from a clone: `python3 go.py demo`, `test`, `check`, `docs`, `declare` or `fuzz`.

Each command makes what it needs by itself: a virtual environment in `.venv`, the package in it with its kernels
compiled. A second call finds all that in place unless the sources have changed. `package`, `oldest` and `newer` install
index3 in environments of their own, in `.venvs`. Standard library only.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "index3.stamp"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST = (3, 11)
EXTRAS = ("plot", "test", "dev", "docs")  # each holds those before it
OTHERS = ROOT / ".venvs"
KERNELS = ROOT / "src" / "index3" / "kernels"
NEWER = ("3.13", "3.12")  # Pythons to try beside the one that runs this, the best one first
FAST = ("-m", "fast")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = """
import glob, os
from index3.compiled import sources, store, target
keys = sources.kernels(sources.kernel_modules())
found = {key: [way for way in target.ways() if store.unpack(os.path.join(store.INSTALLED, store.file_name(*key, way)))]
         for key in keys}
lost = [".".join(key) for key in keys if not found[key]]
if lost:
    stem = lost[0].removeprefix("index3.")
    there = sorted(glob.glob(f"{stem}-*.kob", root_dir=store.INSTALLED))
    raise SystemExit(
        f"{len(lost)} of {len(keys)} kernels are missing in {store.INSTALLED}, among them {lost[0]}: of that name "
        f"there is {', '.join(there) or 'nothing'}, these sources give {store.file_name(*lost[0].rsplit('.', 1))}"
    )
slow = sum(target.QUICK not in ways for ways in found.values())
if slow:
    print(f"[index3] {slow} of {len(keys)} kernels were built by Numba's documented interface", flush=True)
"""
FIRST_RUN = """
import sys
import index3 as ix
if not ix.__file__.startswith(sys.prefix):
    raise SystemExit(f"{ix.__file__} is not the index3 that was installed in {sys.prefix}")
print("[index3]", ix.simulate(ix.library.pendulum(), (0.0, 0.1), progress=False).message, flush=True)
"""
VERSIONS = """
import sys, llvmlite, numba, numpy
packages = [f"{one.__name__} {one.__version__}" for one in (numba, llvmlite, numpy)]
print("[index3] Python", sys.version.split()[0], *packages, flush=True)
"""


def say(text):
    """Print a progress line at once, also into a pipe."""
    print(f"[index3] {text}", flush=True)


def run(*command, **variables):
    """Run a command in the clone with extra environment variables; its exit code."""
    return subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **variables}).returncode


def must(*command, **variables):
    """Run a command that the rest depends on."""
    code = run(*command, **variables)
    if code:
        say(f"failed (exit code {code}): {' '.join(str(part) for part in command)}")
        raise SystemExit(code)


def follow(*command, every=20.0):
    """Run a command that the rest depends on and that compiles kernels in place, and say how many are there by now."""
    start = time.time()
    with subprocess.Popen([str(part) for part in command], cwd=ROOT) as process:
        while process.poll() is None:
            try:
                process.wait(every)
            except subprocess.TimeoutExpired:
                done = sum(file.stat().st_mtime >= start for file in KERNELS.glob("*.kob"))
                say(f"{done} kernels compiled after {time.time() - start:.0f} s")
    if process.returncode:
        say(f"failed (exit code {process.returncode}): {' '.join(str(part) for part in command)}")
        raise SystemExit(process.returncode)


def python_version():
    """Version of the environment's Python, or None if there is no working one."""
    try:
        answer = subprocess.run(
            [str(PYTHON), "-c", "import pip, sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        )
    except OSError:
        return None
    return tuple(int(part) for part in answer.stdout.split()) if answer.returncode == 0 else None


def digest():
    """A hash of everything an installation is made from."""
    files = [ROOT / name for name in ("pyproject.toml", "constraints.txt", "hatch_build.py")]
    files += sorted((ROOT / "src").rglob("*.py"))
    content = hashlib.sha256(sys.version.encode())
    for file in files:
        content.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return content.hexdigest()


def prepare(extra):
    """Make `.venv` and install the package with at least this extra, unless that is done already."""
    if python_version() != sys.version_info[:2]:
        say("making the virtual environment .venv")
        must(sys.executable, "-m", "venv", "--clear", ENVIRONMENT)
    found = STAMP.read_text().split() if STAMP.is_file() else ["", EXTRAS[0]]
    wanted = [digest(), EXTRAS[max(EXTRAS.index(extra), EXTRAS.index(found[1]))]]
    if found == wanted:
        return
    install(wanted[1])
    STAMP.write_text(" ".join(wanted))


def build_requirements():
    """What the build needs, as pyproject.toml says."""
    import tomllib  # here, not above: older Pythons must get as far as the version check

    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]


def install(extra):
    """Install the package in place, with the versions of constraints.txt, and compile its kernels."""
    pip = [PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    start = time.perf_counter()
    say("installing the packages that index3 needs (a minute or two the first time)")
    must(*pip, *build_requirements())
    must(*pip, "--no-build-isolation", "-e", f".[{extra}]", INDEX3_BUILD_KERNELS="0")
    if os.environ.get("INDEX3_BUILD_KERNELS", "1") != "0":
        say("compiling the kernels of index3 (about a minute the first time)")
        follow(PYTHON, "-m", "index3.compiled.build", KERNELS)  # not by pip, which would hide what it says
    check_kernels(PYTHON)
    say(f"installed in {time.perf_counter() - start:.0f} s")


def check_kernels(python):
    """Fail unless the installation has brought every kernel, or was told not to."""
    if os.environ.get("INDEX3_BUILD_KERNELS", "1") == "0":
        say("kernels are left out (INDEX3_BUILD_KERNELS=0): each is built when a run first needs it")
    elif run(python, "-c", MISSING):
        say(f"failed: the kernels were not compiled; `{python} -m index3 warmup` tries again and says why")
        raise SystemExit(1)


def demo(arguments):
    """Run the four-bar example and show its page."""
    prepare("plot")
    say("running examples/four_bar.py")
    code = run(PYTHON, "examples/four_bar.py", *arguments)
    if code == 0:
        show(ROOT / "out" / "four_bar.html")
    return code


def show(page):
    """Open a page if this machine has a screen; say where it is in any case."""
    say(f"open {page} in a browser to see it move")
    if os.name == "posix" and sys.platform != "darwin" and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        return
    import webbrowser

    try:
        webbrowser.open(page.as_uri())
    except Exception as problem:  # a browser that does not start must not fail the demo
        say(f"no browser was opened: {problem}")


def test(arguments):
    """Run the tests, then those marked jit_off with the kernels as plain Python; `fast`: those that check every room
    and method in less than a minute; other arguments go to pytest."""
    prepare("test")
    if arguments[:1] == ["fast"]:
        arguments = ["-m", "fast", *arguments[1:]]
    say("running the tests")
    code = run(PYTHON, "-m", "pytest", *arguments)
    if code or arguments:
        return code
    say("running the kernels as plain Python (INDEX3_JIT=0)")
    code = run(PYTHON, "-m", "pytest", "-m", "jit_off", "tests", INDEX3_JIT="0")
    if not any(map(shutil.which, BROWSERS)):
        say(f"pages were not tried in a browser: there is none of {', '.join(BROWSERS)}")
    return code


def docs(arguments):
    """Build the documentation, without a warning, in docs/_build/html; the gallery runs its scripts."""
    prepare("docs")
    code = run(PYTHON, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", *arguments, "docs", "docs/_build/html")
    if code == 0:
        say("the first page is docs/_build/html/index.html")
    return code


def check(arguments):
    """Lint, formatting, import contracts and types."""
    prepare("dev")
    worst = 0
    for name, command in (
        ("lint", ["-m", "ruff", "check", "."]),
        ("formatting", ["-m", "ruff", "format", "--check", "."]),
        ("import contracts", ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]),
        ("types", ["-m", "mypy"]),
    ):
        say(f"checking {name}")
        worst = max(worst, run(PYTHON, *command))
    return worst


def environment(name, python, constraints, **variables):
    """Install the package, not in place, in an environment of its own; its Python."""
    folder = OTHERS / name
    must(*python, "-m", "venv", "--clear", folder, **variables)
    own = folder / PYTHON.relative_to(ENVIRONMENT)
    (folder / "constraints.txt").write_text("\n".join(constraints))
    pip = [own, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", folder / "constraints.txt"]
    must(*pip, *build_requirements(), **variables)
    must(*pip, "--no-build-isolation", ".[test]", **variables)
    must(own, "-c", VERSIONS)
    return own


def pins(*left_out):
    """The lines of constraints.txt without some packages."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    return [line for line in lines if line.partition("==")[0] not in left_out]


def package(arguments):
    """Build a source distribution and from it a wheel, in `dist`; install and run each in an environment of its own."""
    folder = ROOT / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop("PYTHONPATH", None)  # what is installed is tried, not the sources of a developer
    say("building the source distribution, and from it the wheel with its kernels")
    pip = [bare("build"), "-m", "pip", "-q", "--disable-pip-version-check"]
    limits = {
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "INDEX3_BUILD_KERNELS": "1",
    }  # isolated builds see them too
    must(*pip, "install", *build_requirements(), **limits)
    must(pip[0], "-m", "hatchling", "build", "-t", "sdist", "-d", folder)
    (source,) = folder.glob("*.tar.gz")
    alone = "--no-deps", "--no-build-isolation", "--no-cache-dir"  # made here and now, by what was just installed
    must(*pip, "wheel", *alone, "-w", folder, source, **limits)
    (wheel,) = folder.glob("*.whl")
    sizes = [f"{one.name} ({one.stat().st_size / 1e6:.1f} MB)" for one in (source, wheel)]
    say(f"built {sizes[0]} and {sizes[1]}")
    return try_wheel(wheel, limits) or try_source(source, limits)


def bare(name):
    """The Python of a new environment with nothing in it."""
    must(sys.executable, "-m", "venv", "--clear", OTHERS / name)
    return OTHERS / name / PYTHON.relative_to(ENVIRONMENT)


def try_wheel(wheel, limits):
    """Install a wheel: every kernel comes with it, so that the first run builds none and needs no cache."""
    say(f"installing {wheel.name} in {OTHERS / 'wheel'}")
    python, kept = bare("wheel"), OTHERS / "wheel" / "cache"
    must(python, "-m", "pip", "-q", "--disable-pip-version-check", "install", wheel, **limits)
    check_kernels(python)
    must(python, "-c", FIRST_RUN, INDEX3_CACHE=str(kept))
    if kept.exists():
        say(f"failed: a run with the wheel built kernels of its own, in {kept}")
        return 1
    return run(python, "-m", "index3", "doctor", INDEX3_CACHE=str(kept))


def try_source(source, limits):
    """Install a source distribution without kernels: the first run says how long it takes, and builds what it needs."""
    say(f"installing {source.name} without kernels in {OTHERS / 'source'}")
    python = bare("source")
    pip = [python, "-m", "pip", "-q", "--disable-pip-version-check", "install"]
    content = hashlib.sha256(source.read_bytes()).hexdigest()  # else pip takes what it built earlier from this address
    must(*pip, f"index3 @ {source.as_uri()}#sha256={content}", **{**limits, "INDEX3_BUILD_KERNELS": "0"})
    return run(python, "-c", FIRST_RUN, INDEX3_CACHE=str(OTHERS / "source" / "cache"))


def oldest(arguments):
    """Build and run a pendulum and a four-bar with the oldest Numba supported, in an environment of its own."""
    (numba,) = (one for one in build_requirements() if one.startswith("numba"))
    wanted = numba.partition(">=")[2].partition(",")[0]
    say(f"installing index3 with Numba {wanted} in {OTHERS / 'oldest'}")
    constraints = [*pins("numba", "llvmlite", "numpy"), f"numba=={wanted}.*"]
    python = environment("oldest", [sys.executable], constraints, INDEX3_BUILD_KERNELS="0")  # the tests build some
    say("building the kernels of a pendulum and a four-bar in both ways, and running them")
    return run(python, "-m", "pytest", *(arguments or ["tests/compiled/test_ways.py"]))


def newer(arguments):
    """Install index3 on a newer Python, where one can be started, and run the fast tests there."""
    for version in NEWER:
        variables = start_of(version)
        if variables is None:
            continue
        say(f"installing index3 on Python {version} in {OTHERS / 'newer'} and compiling its kernels")
        python = environment("newer", [f"python{version}"], pins(), **variables)
        check_kernels(python)
        say("running the fast tests")
        return run(python, "-m", "pytest", *(arguments or FAST))
    here = ".".join(map(str, sys.version_info[:2]))
    say(f"no newer Python ({' or '.join(NEWER)}) can be started here: nothing was tested beside Python {here}")
    return 0


def start_of(version):
    """The variables with which `python<version>` starts, or None; pyenv starts one only if it is told which."""
    if tuple(map(int, version.split("."))) <= sys.version_info[:2]:
        return None
    command = [f"python{version}", "-c", "import ensurepip, venv"]
    for chosen in ("", *installed_by_pyenv(version)):
        variables = {"PYENV_VERSION": chosen} if chosen else {}
        try:
            if subprocess.run(command, capture_output=True, env={**os.environ, **variables}).returncode == 0:
                return variables
        except OSError:
            return None
    return None


def installed_by_pyenv(version):
    """The full names of the Pythons of a version that pyenv has, if there is a pyenv."""
    try:
        answer = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True)
    except OSError:
        return []
    return [name for name in answer.stdout.split() if name.startswith(f"{version}.")]


def declare(arguments):
    """Write what follows from the declarations: the table of names, types for editors, pages, the schema."""
    prepare("dev")
    return run(PYTHON, "-m", "index3.commands.declarations")


def fuzz(arguments):
    """Try random models, damaged files and faults of the disk for `--minutes N`; a table of what became of them."""
    prepare("test")
    return run(PYTHON, "tests/fuzz/fuzz_main.py", *arguments)


def main():
    """Read the command line and run one command."""
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"index3 needs Python {OLDEST[0]}.{OLDEST[1]} or newer; {sys.executable} is {sys.version.split()[0]}. "
            "Run go.py with a newer one, for example `python3.11 go.py demo`."
        )
    commands = {
        "demo": demo, "test": test, "check": check, "docs": docs, "declare": declare, "fuzz": fuzz,
        "package": package, "oldest": oldest, "newer": newer,
    }  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands, help="; ".join(f"{k}: {f.__doc__}" for k, f in commands.items()))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the example or to pytest")
    chosen = parser.parse_args()
    try:
        raise SystemExit(commands[chosen.command](chosen.arguments))
    except KeyboardInterrupt:
        say("interrupted")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
