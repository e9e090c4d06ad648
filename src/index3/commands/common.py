"""What the commands share: the MODEL argument, key=value options, output files, errors as one line."""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from index3.errors import Index3Error, ModelError, SimulationFailed

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.results.result import Result

FAILED, BAD_INPUT = 1, 2
PICTURES = (".png", ".pdf", ".svg", ".jpg")
MODEL_HELP = "A mechanism of the library, a model file (.json, .toml), a .py file with model(), or file.py:function."

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
ParamOption = Annotated[
    list[str], typer.Option("--param", metavar="KEY=VALUE", help="Parameter of the model; repeatable.")
]
InitialOption = Annotated[
    list[str],
    typer.Option("--initial", metavar="JOINT.ANGLE=X", help="Joint coordinate or rate at the start; repeatable."),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
HtmlOption = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write an animated page.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Write energy and residual plots.")]
SaveOption = Annotated[Path | None, typer.Option("--save", metavar="FILE.nc", help="Write all results (netCDF).")]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE.nc", help="Write results during the run; see `index3 resume`.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]


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


def read_start(texts: list[str]) -> dict[str, Any] | None:
    """`["pin.angle=0.3"]` as joint coordinates to start from; None without any."""
    start: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            start[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ModelError(f"--initial {text!r} is not of the form joint.coordinate=number.")
    return start or None


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


def check_outputs(html: Path | None, plot: Path | None, save: Path | None, store: Path | None = None) -> None:
    """Refuse an output file that could not be written, before any time is spent."""
    for file in (html, plot, save, store):
        if file is not None and not file.parent.is_dir():
            raise ModelError(f"The folder {str(file.parent)!r} for {file.name!r} does not exist. Make it first.")
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise ModelError(f"{plot.name!r} is not a picture file. Use a name that ends in {', '.join(PICTURES)}.")
    if plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise ModelError("--plot needs Matplotlib, which is not installed. Run: pip install 'index3[plot]'")


def write_files(result: Result, html: Path | None, plot: Path | None, save: Path | None, quiet: bool) -> None:
    """Write the files asked for, also those of a run that stopped early, and say so."""
    if html is not None:
        result.to_html(html)
    if plot is not None:
        axes: Any = result.plot()  # an array: there are two panels
        axes[0].figure.savefig(plot, dpi=150)
    if save is not None:
        result.save(save)
    for file in (html, plot, save):
        if file is not None and not quiet:
            typer.echo(f"wrote {file}")


def finish_run(
    result: Result, seconds: float | None, html: Path | None, plot: Path | None, save: Path | None, quiet: bool
) -> None:
    """Say what came of a run and write its files; a run that failed ends the command. No seconds: it was only read."""
    if not quiet:
        typer.echo(repr(result))
        typer.echo("read from the file: the run had ended" if seconds is None else f"computed in {seconds:.2f} s")
    write_files(result, html, plot, save, quiet)
    if not result.success:
        typer.echo(f"error: {result.message}", err=True)
        raise typer.Exit(FAILED)


def load_model(text: str, param: list[str]) -> Model:
    """The mechanism that a MODEL argument names, made with the parameters of --param."""
    parameters = read_pairs(param, "--param")
    file, colon, function = text.partition(".py:")
    if colon or text.endswith(".py"):
        builder = load_function(Path(file + ".py" if colon else text), function or "model")
    elif text.endswith((".json", ".toml", ".yaml", ".yml")):
        from index3.files.read import load_model

        if parameters:
            raise ModelError(f"{text}: a model file has no parameters. Leave --param out.")
        return load_model(text)
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
        if name.endswith(".nc"):
            raise ModelError(f"{name} is a result, not a model. `index3 view {name}` shows it.")
        if Path(f"{name}.py").is_file():
            raise ModelError(f"There is no model {name!r} in the library. For the file give {name}.py.")
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
    except SyntaxError as error:  # which tells its own file and line
        raise ModelError(f"{where} raised {type(error).__name__}: {error}.") from error
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
