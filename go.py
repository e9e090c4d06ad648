"""Set up and run index3 from a clone: `python3 go.py demo`, `test`, `check` or `declare`.

Each command makes what it needs by itself: a virtual environment in `.venv`, the package in it with its kernels
compiled. A second call finds all that in place unless the sources have changed. Standard library only.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "index3.stamp"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST = (3, 11)
EXTRAS = ("plot", "test", "dev")  # each holds those before it


def say(text):
    """Print a progress line at once, also into a pipe."""
    print(f"[index3] {text}", flush=True)


def run(*command, **variables):
    """Run a command in the clone with extra environment variables; its exit code."""
    return subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **variables}).returncode


def must(*command):
    """Run a command that the rest depends on."""
    code = run(*command)
    if code:
        say(f"failed (exit code {code}): {' '.join(str(part) for part in command)}")
        raise SystemExit(code)


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


def install(extra):
    """Install the package in place, with the versions of constraints.txt; its build hook compiles the kernels."""
    import tomllib  # here, not above: older Pythons must get as far as the version check

    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    pip = [PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    start = time.perf_counter()
    say("installing the packages that index3 needs (a minute or two the first time)")
    must(*pip, *build)
    say("installing index3 and compiling its kernels (about a minute the first time)")
    must(*pip, "--no-build-isolation", "-e", f".[{extra}]")
    if not any((ROOT / "src" / "index3" / "kernels").glob("*.kob")):
        say(f"note: the kernels were not compiled; `{PYTHON} -m index3 warmup` tries again and says why")
    say(f"installed in {time.perf_counter() - start:.0f} s")


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
    """Run the tests, then those marked jit_off with the kernels as plain Python; arguments go to the first run."""
    prepare("test")
    say("running the tests")
    code = run(PYTHON, "-m", "pytest", *arguments)
    if code or arguments:
        return code
    say("running the kernels as plain Python (INDEX3_JIT=0)")
    return run(PYTHON, "-m", "pytest", "-m", "jit_off", "tests", INDEX3_JIT="0")


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


def declare(arguments):
    """Write what follows from the declarations: the table of names, types for editors, pages, the schema."""
    prepare("dev")
    return run(PYTHON, "-m", "index3.commands.declarations")


def main():
    """Read the command line and run one command."""
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"index3 needs Python {OLDEST[0]}.{OLDEST[1]} or newer; {sys.executable} is {sys.version.split()[0]}. "
            "Run go.py with a newer one, for example `python3.11 go.py demo`."
        )
    commands = {"demo": demo, "test": test, "check": check, "declare": declare}
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
