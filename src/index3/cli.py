"""Command line: `index3 run four_bar --t-end 5 --html run.html`, also as `python -m index3`.

Exit codes: 0 fine, 1 a simulation failed or was interrupted (or `doctor` found something wrong), 2 bad input.
Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from index3.commands import analyses, bench, doctor, reproduce, sweep, view
from index3.commands.common import (
    DebugOption,
    HtmlOption,
    InitialOption,
    ModelArgument,
    ParamOption,
    PlotOption,
    QuietOption,
    SaveOption,
    StoreOption,
    check_outputs,
    clean_errors,
    finish_run,
    load_model,
    read_pairs,
    read_start,
)
from index3.errors import ModelError

# not by --option:
RESERVED = ("model", "t_span", "method", "rtol", "atol", "step", "t_eval", "progress", "callback", "linear", "store")
SPANS = {"andrews": 0.03, "spinning_top": 0.2, "mass_spring": 0.05}  # of `compare`, where 1 s is not a good length

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def show_version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        from index3 import __version__

        typer.echo(f"index3 {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Multibody dynamics: run, check and analyse mechanisms."""


@app.command()
def run(
    model: ModelArgument,
    t_end: Annotated[float, typer.Option(help="End of the run in s; it starts at 0.")] = 1.0,
    method: Annotated[str, typer.Option(help="An integration method; `index3 methods` lists them.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Relative error tolerance.")] = 1e-6,
    atol: Annotated[float | None, typer.Option(help="Absolute error tolerance; rtol/100 if not given.")] = None,
    step: Annotated[float | None, typer.Option(help="Constant step size in s, without error control.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time between outputs in s; without it every step is kept.")] = None,
    linear: Annotated[str, typer.Option(help="Linear solver: static, partial, scipy or reduced.")] = "static",
    initial: InitialOption = [],  # noqa: B006
    option: Annotated[list[str], typer.Option(metavar="KEY=VALUE", help="Setting of the method; repeatable.")] = [],  # noqa: B006
    param: ParamOption = [],  # noqa: B006
    html: HtmlOption = None,
    plot: PlotOption = None,
    save: SaveOption = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Simulate a mechanism and print a summary."""
    with clean_errors(debug):
        check_outputs(html, plot, save, store)
        options = read_pairs(option, "--option", reserved=RESERVED)
        mechanism = load_model(model, param)
        from index3.analysis.simulate import simulate

        start = time.perf_counter()
        progress = False if quiet else "auto"
        settings = {"rtol": rtol, "atol": atol, "step": step, "t_eval": dt, "linear": linear, "store": store, **options}
        settings["initial"] = read_start(initial)
        result = simulate(mechanism, (0.0, t_end), method, progress=progress, **settings)
        finish_run(result, time.perf_counter() - start, html, plot, save, quiet)
        if store is not None and not quiet:
            typer.echo(f"wrote {store}")


@app.command()
def resume(
    file: Annotated[Path, typer.Argument(metavar="FILE.nc", help="The file given as --store.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="The mechanism, if FILE does not contain it.")
    ] = None,
    param: ParamOption = [],  # noqa: B006
    html: HtmlOption = None,
    plot: PlotOption = None,
    save: SaveOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Continue a stored run that did not end, and print a summary of the whole run."""
    with clean_errors(debug):
        check_outputs(html, plot, save)
        if param and model is None:
            raise ModelError("--param makes the mechanism of --model. Give both, or neither.")
        mechanism = None if model is None else load_model(model, param)
        from index3.analysis.resume import resume
        from index3.results.journal import SUFFIX

        start, unfinished = time.perf_counter(), file.with_name(file.name + SUFFIX).exists()
        result = resume(file, mechanism, progress=False if quiet else "auto")
        finish_run(result, time.perf_counter() - start if unfinished else None, html, plot, save, quiet)


@app.command()
def check(model: ModelArgument, param: ParamOption = [], debug: DebugOption = False) -> None:  # noqa: B006
    """Count bodies, coordinates and constraints, and name redundant ones."""
    with clean_errors(debug):
        typer.echo(load_model(model, param).check())


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
        mechanism = load_model(model, param)
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
def convert(
    model: ModelArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The model file to write, .json or .toml.")],
    param: ParamOption = [],  # noqa: B006
    debug: DebugOption = False,
) -> None:
    """Write a mechanism as a model file."""
    with clean_errors(debug):
        mechanism = load_model(model, param)
        from index3.files.write import save_model

        save_model(mechanism, file)
        typer.echo(f"wrote {file}")


@app.command()
def schema() -> None:
    """Print the JSON schema of model files."""
    from index3.files.schema import schema_text

    typer.echo(schema_text(), nl=False)


@app.command()
def warmup(debug: DebugOption = False) -> None:
    """Build and load all kernels now, so that no later run waits for it."""
    with clean_errors(debug):
        from index3.compiled import sources, store

        start = time.perf_counter()
        kernels = sources.kernels(sources.kernel_modules())
        missing = sum(store.find(*key) is None for key in kernels)
        store.prepare(kernels)
        elapsed = time.perf_counter() - start
        typer.echo(f"{len(kernels)} kernels ready in {elapsed:.2f} s ({missing} of them built now)")


doctor.register(app)
analyses.register(app)
view.register(app)
app.command()(sweep.sweep)
app.command()(reproduce.reproduce)
app.command()(bench.bench)


def main() -> None:
    """Entry point of the `index3` command."""
    app()
