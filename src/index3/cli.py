"""Command line: `index3 run four_bar --t-end 5 --html run.html`, also as `python -m index3`.

Exit codes: 0 fine, 1 a simulation failed or was interrupted (or `doctor` found something wrong), 2 bad input.
Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib.metadata
import importlib.util
import inspect
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from index3 import __version__
from index3.errors import Index3Error, ModelError, SimulationFailed

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.results.result import Result

FAILED, BAD_INPUT = 1, 2
PACKAGES = ("numpy", "scipy", "llvmlite", "numba", "pydantic", "xarray", "h5netcdf", "h5py", "typer", "rich")
PICTURES = (".png", ".pdf", ".svg", ".jpg")
RESERVED = ("model", "t_span", "method", "rtol", "atol", "step", "t_eval", "progress", "callback")  # not by --option
SPANS = {"andrews": 0.03, "spinning_top": 0.2, "mass_spring": 0.05}  # of `compare`, where 1 s is not a good length
MODEL_HELP = "A mechanism of the library, a .py file with model(), or file.py:function."

app = typer.Typer(
    help="Multibody dynamics: run and check mechanisms.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
ParamOption = Annotated[list[str], typer.Option("--param", metavar="KEY=VALUE", help="Parameter of the model; repeat.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@contextlib.contextmanager
def clean_errors(debug: bool) -> Iterator[None]:
    """Turn an error into one line on stderr and an exit code; with `debug` the traceback comes first."""
    try:
        yield
    except (Index3Error, OSError) as error:
        if debug:
            traceback.print_exc()
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(FAILED if isinstance(error, SimulationFailed) else BAD_INPUT) from None
    except KeyboardInterrupt:
        typer.echo("error: interrupted", err=True)
        raise typer.Exit(FAILED) from None


@app.command()
def run(
    model: ModelArgument,
    t_end: Annotated[float, typer.Option(help="End of the run in s; it starts at 0.")] = 1.0,
    method: Annotated[str, typer.Option(help="An integration method; `index3 methods` lists them.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Relative error tolerance.")] = 1e-6,
    atol: Annotated[float | None, typer.Option(help="Absolute error tolerance; rtol/100 if not given.")] = None,
    step: Annotated[float | None, typer.Option(help="Constant step size in s, without error control.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time between outputs in s; without it every step is kept.")] = None,
    option: Annotated[list[str], typer.Option(metavar="KEY=VALUE", help="Setting of the method; repeat.")] = [],  # noqa: B006
    param: ParamOption = [],  # noqa: B006
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an animated page.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Write energy and residual plots.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE.nc", help="Write all results (netCDF).")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
    debug: DebugOption = False,
) -> None:
    """Simulate a mechanism and print a summary."""
    with clean_errors(debug):
        check_outputs(html, plot, save)
        options = read_pairs(option, "--option", reserved=RESERVED)
        mechanism = load_model(model, read_pairs(param, "--param"))
        from index3.analysis.simulate import simulate

        start = time.perf_counter()
        progress = False if quiet else "auto"
        result = simulate(
            mechanism, (0.0, t_end), method, rtol=rtol, atol=atol, step=step, t_eval=dt, progress=progress, **options
        )
        elapsed = time.perf_counter() - start
        if not quiet:
            typer.echo(f"{result!r}\ncomputed in {elapsed:.2f} s")
        for file in write_files(result, html, plot, save):
            if not quiet:
                typer.echo(f"wrote {file}")
        if not result.success:
            typer.echo(f"error: {result.message}", err=True)
            raise typer.Exit(FAILED)


@app.command()
def check(model: ModelArgument, param: ParamOption = [], debug: DebugOption = False) -> None:  # noqa: B006
    """Count bodies, coordinates and constraints, and name redundant ones."""
    with clean_errors(debug):
        typer.echo(load_model(model, read_pairs(param, "--param")).check())


@app.command()
def methods() -> None:
    """List the integration methods."""
    from index3.methods.registry import methods

    methods()


@app.command()
def compare(
    model: ModelArgument,
    t_end: Annotated[float | None, typer.Option(help="End of the runs in s; the library knows a good one.")] = None,
    methods: Annotated[str, typer.Option(metavar="KEY,KEY", help="Methods to compare; all if not given.")] = "",
    rtol: Annotated[str, typer.Option(metavar="X,X", help="Relative tolerances.")] = "1e-3,1e-4,1e-5,1e-6,1e-7,1e-8",
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Where the diagram goes.")] = None,
    param: ParamOption = [],  # noqa: B006
    debug: DebugOption = False,
) -> None:
    """Draw work against precision of all methods on a mechanism."""
    with clean_errors(debug):
        mechanism = load_model(model, read_pairs(param, "--param"))
        from index3.analysis.compare import compare

        try:
            tolerances = [float(word) for word in rtol.split(",")]
        except ValueError:
            raise ModelError(f"--rtol {rtol}: give numbers separated by commas.") from None
        end = t_end if t_end is not None else SPANS.get(model, 1.0)
        result = compare(mechanism, end, [key for key in methods.split(",") if key] or None, tolerances)
        typer.echo(result)
        file = plot or Path(f"compare_{Path(model).stem}.png")
        result.plot(str(file))
        typer.echo(f"wrote {file}")


@app.command()
def warmup(debug: DebugOption = False) -> None:
    """Build and load all kernels now, so that no later run waits for it."""
    with clean_errors(debug):
        from index3.compiled import store

        start = time.perf_counter()
        modules = store.kernel_modules()
        missing = sum(store.find(module) is None for module in modules)
        store.prepare(modules)
        elapsed = time.perf_counter() - start
        typer.echo(f"{len(modules)} kernel modules ready in {elapsed:.2f} s ({missing} of them built now)")


@app.command()
def doctor() -> None:
    """Look at the installation, run a self-test, and say what is wrong."""
    typer.echo(f"index3 {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    examinations: tuple[Callable[[], list[str]], ...] = (examine_packages, examine_kernels, examine_run)
    problems = [problem for examine in examinations for problem in examine()]
    for problem in problems:
        typer.echo(f"wrong: {problem}")
    if problems:
        raise typer.Exit(FAILED)
    typer.echo("all fine")


def examine_packages() -> list[str]:
    """Print the versions of what index3 needs; the problems found."""
    problems, versions = [], []
    for name in (*PACKAGES, "matplotlib"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name == "matplotlib":
                typer.echo("matplotlib is not installed; plots need it: pip install 'index3[plot]'")
            else:
                problems.append(f"{name} is not installed; install index3 again: pip install --force-reinstall index3")
    typer.echo("packages: " + ", ".join(versions))
    return problems


def examine_kernels() -> list[str]:
    """Print where kernels are and how many are built; a missing one is built at first use and is no problem."""
    try:
        from index3.compiled import store

        modules = store.kernel_modules()
        built = sum(store.find(module) is not None for module in modules)
    except Exception as error:
        return [f"the kernel store cannot be read: {error}"]
    typer.echo(f"kernels: {built} of {len(modules)} modules built, in {store.INSTALLED} or {store.cache_directory()}")
    if built < len(modules):
        typer.echo("the others are built when first needed, or all at once by `index3 warmup`")
    return []


def examine_run() -> list[str]:
    """Run a pendulum for a second and look at its energy and residuals; the problems found."""
    start = time.perf_counter()
    try:
        import index3

        result = index3.simulate(index3.library.pendulum(), (0.0, 1.0), progress=False)
        residual = float(result.arrays["violation_scaled"][:, 0].max())
        drift = float(abs(result.energy.balance - result.energy.balance[0]).max() / result.energy.kinetic.max())
    except Exception as error:
        return [f"the self-test could not run: {type(error).__name__}: {error}"]
    typer.echo(
        f"self-test: pendulum, 1 s: energy balance within {drift:.1e} of the largest kinetic energy, position residual "
        f"{residual:.1e}, {time.perf_counter() - start:.2f} s"
    )
    # limits: 3e-3 is what the default tolerance promises for a four-bar over 5 s; output is projected to rounding
    if not result.success or not drift < 3e-3 or not residual < 1e-10:
        return [f"the self-test gave a bad result: {result.message}"]
    return []


def read_pairs(texts: list[str], flag: str, reserved: tuple[str, ...] = ()) -> dict[str, Any]:
    """`["alpha=-0.1"]` to `{"alpha": -0.1}`; values are Python literals, anything else is a string."""
    pairs: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise ModelError(f"{flag} {text!r} is not of the form key=value.")
        if key in pairs:
            raise ModelError(f"{flag} gives {key!r} twice. Give it once.")
        if key in reserved:
            raise ModelError(f"{flag} cannot set {key!r}. See `index3 run --help` for the flags there are.")
        try:
            pairs[key] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            pairs[key] = value
    return pairs


def check_outputs(html: Path | None, plot: Path | None, save: Path | None) -> None:
    """Refuse an output file that could not be written, before any time is spent."""
    for file in (html, plot, save):
        if file is not None and not file.parent.is_dir():
            raise ModelError(f"The folder {str(file.parent)!r} for {file.name!r} does not exist. Make it first.")
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise ModelError(f"{plot.name!r} is no picture. Use a name that ends in {', '.join(PICTURES)}.")
    if plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise ModelError("--plot needs Matplotlib, which is not installed. Run: pip install 'index3[plot]'")


def write_files(result: Result, html: Path | None, plot: Path | None, save: Path | None) -> list[Path]:
    """Write the files asked for; also those of a run that stopped early."""
    if html is not None:
        result.to_html(html)
    if plot is not None:
        result.plot()[0].figure.savefig(plot, dpi=150)
    if save is not None:
        result.save(save)
    return [file for file in (html, plot, save) if file is not None]


def load_model(text: str, parameters: dict[str, Any]) -> Model:
    """The mechanism that a MODEL argument names, made with these parameters."""
    file, colon, function = text.partition(".py:")
    if colon or text.endswith(".py"):
        builder = load_function(Path(file + ".py" if colon else text), function or "model")
    elif text.endswith((".json", ".toml", ".yaml", ".yml")):
        raise ModelError(f"{text}: model files are not yet supported; use a .py file with a function model() -> Model.")
    else:
        builder = library_function(text)
    accepted = inspect.signature(builder).parameters
    for key in parameters:
        if key not in accepted and not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
            raise ModelError(f"Model {text!r} has no parameter {key!r}. {near(key, list(accepted))}")
    return build_model(builder, text, parameters)


def build_model(builder: Callable[..., Any], text: str, parameters: dict[str, Any]) -> Model:
    """Call the function that makes the model."""
    from index3.model.model import Model

    with user_code(text):
        model = builder(**parameters)
    if not isinstance(model, Model):
        raise ModelError(f"Model {text!r}: the function returned {type(model).__name__}, not an index3.Model.")
    return model


def library_function(name: str) -> Callable[..., Any]:
    """The function of the library that makes a mechanism."""
    from index3 import library

    key = name.replace("-", "_")
    if key not in library.names():
        raise ModelError(f"There is no model {name!r} in the library. {near(key, library.names())}")
    return getattr(library, key)


def load_function(path: Path, name: str) -> Callable[..., Any]:
    """A function of a Python file, run as `python file.py` would find its neighbours."""
    if not path.is_file():
        raise ModelError(f"There is no file {str(path)!r}.")
    spec = importlib.util.spec_from_file_location(f"index3_user_{path.stem}", path)
    assert spec is not None  # any existing .py file has a spec and a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    with user_code(str(path)):
        spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise ModelError(f"{path} has no function {name!r}. {near(name, functions)}")
    return function


@contextlib.contextmanager
def user_code(where: str) -> Iterator[None]:
    """Report an exception of a user's file as bad input, with the line it came from."""
    try:
        yield
    except Index3Error:
        raise
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(line.filename).name}, line {line.lineno}"
        raise ModelError(f"{where} raised {type(error).__name__}: {error} ({place}).") from error


def near(word: str, known: list[str]) -> str:
    """A sentence that helps with a misspelt name."""
    close = difflib.get_close_matches(word, known, n=3)
    if close:
        return f"Did you mean {' or '.join(repr(name) for name in close)}?"
    return f"There are: {', '.join(sorted(known))}." if known else "It has none."


def main() -> None:
    """Entry point of the `index3` command."""
    app()
