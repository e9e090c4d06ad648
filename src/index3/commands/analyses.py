"""Commands for questions other than a run: `static`, `linearize`, `kinematics`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from index3.commands.common import (
    DebugOption,
    HtmlOption,
    InitialOption,
    ModelArgument,
    ParamOption,
    PlotOption,
    QuietOption,
    SaveOption,
    check_outputs,
    clean_errors,
    finish_run,
    load_model,
    read_start,
    write_files,
)
from index3.errors import ModelError

if TYPE_CHECKING:
    from index3.analysis.linear_model import Linear
    from index3.analysis.static import Static
    from index3.model.model import Model

TimeOption = Annotated[float, typer.Option("--time", help="Time at which motions and forces are evaluated, s.")]
HoldOption = Annotated[
    list[str],
    typer.Option("--hold", metavar="NAME", help="Body, coordinate or joint coordinate to hold fixed; repeatable."),
]
StaticMethod = Annotated[str, typer.Option("--method", help="auto, newton or relaxation.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to a command line."""
    for command in (static, linearize, kinematics):
        app.command()(command)


def show_table(title: str, columns: tuple[str, ...], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; plain text where the output is no terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)  # a file or a pipe has no width to fit into
    console.print(table)


def static(
    model: ModelArgument,
    at: TimeOption = 0.0,
    hold: HoldOption = [],  # noqa: B006
    initial: InitialOption = [],  # noqa: B006
    method: StaticMethod = "auto",
    param: ParamOption = [],  # noqa: B006
    html: HtmlOption = None,
    save: SaveOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Find the static equilibrium of a mechanism and print positions and reactions."""
    with clean_errors(debug):
        check_outputs(html, None, save)
        mechanism = load_model(model, param)
        from index3.analysis.static import static

        found = static(mechanism, t=at, hold=hold, initial=read_start(initial), method=method)
        if not quiet:
            print_static(mechanism, found)
        write_files(found.result, html, None, save, quiet)


def print_static(model: Model, found: Static) -> None:
    """The equilibrium as two tables."""
    stable = {True: "stable", False: "UNSTABLE", None: "stability not examined"}[found.stable]
    typer.echo(f"static equilibrium of '{found.model}' at t = {found.t:g} s: {stable}")
    typer.echo(f"by {found.method}, {found.iterations} steps; unbalanced force {found.residual:.1e} of the largest")
    for word in found.free:
        typer.echo(f"held where it was, without stiffness: {word}")
    for note in found.notes:
        typer.echo(f"note: {note}")
    rows = [(name, *in_digits(found[name].position)) for name in model.bodies]
    show_table("positions of bodies, m", ("body", "x", "y", "z"), rows)
    rows = []
    for joint in found.result.layout.joints:
        view = found[joint["name"]]
        mark = "" if joint["unique"] else " *"
        rows.append((joint["name"] + mark, *in_digits((*view.force, *view.torque))))
    show_table("reactions on second bodies, N and N m", ("joint", "Fx", "Fy", "Fz", "Tx", "Ty", "Tz"), rows)
    if any(not joint["unique"] for joint in found.result.layout.joints):
        typer.echo("* not unique: redundant constraints")


def in_digits(numbers: Iterable[float]) -> tuple[str, ...]:
    """Numbers with six digits; what is left of zero after rounding as 0."""
    return tuple(f"{0.0 if abs(x) < 1e-11 else x:.6g}" for x in numbers)


def linearize(
    model: ModelArgument,
    at: TimeOption = 0.0,
    static: Annotated[bool, typer.Option("--static", help="Linearise at the static equilibrium.")] = False,
    frame: Annotated[
        str | None, typer.Option(help="Describe small motions in axes that rotate with this body.")
    ] = None,
    mode: Annotated[int | None, typer.Option(help="Number of the mode that --html plays; the first if none.")] = None,
    param: ParamOption = [],  # noqa: B006
    html: HtmlOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Print natural frequencies, damping ratios and what moves in each mode."""
    with clean_errors(debug):
        check_outputs(html, None, None)
        mechanism = load_model(model, param)
        from index3.analysis.linearize import linearize
        from index3.analysis.static import static as equilibrium

        found = linearize(mechanism, initial=equilibrium(mechanism, t=at) if static else None, t=at, frame=frame)
        if not quiet:
            print_modes(found)
        if html is not None or mode is not None:
            shown = found.mode(0 if mode is None else mode)
            write_files(shown, html, None, None, quiet)


def print_modes(found: Linear) -> None:
    """The modes as a table."""
    typer.echo(f"'{found.model.name}' linearised at t = {found.t:g} s: {len(found.A)} states")
    for note in found.notes:
        typer.echo(f"note: {note}")
    rows = [
        (str(k), f"{x.frequency:.6g}", f"{x.frequency / 6.283185307179586:.6g}", f"{x.damping:.4g}", x.words)
        for k, x in enumerate(found.modes)
    ]
    show_table("modes", ("mode", "rad/s", "Hz", "damping", "moves most"), rows)


def kinematics(
    model: ModelArgument,
    t_end: Annotated[float, typer.Option(help="End of the motion in s; it starts at 0.")] = 1.0,
    dt: Annotated[float | None, typer.Option(help="Time between outputs in s; 200 intervals if not given.")] = None,
    drive: Annotated[
        list[str], typer.Option(metavar="JOINT=RATE", help="Drive a joint coordinate at a constant rate; repeatable.")
    ] = [],  # noqa: B006
    param: ParamOption = [],  # noqa: B006
    html: HtmlOption = None,
    plot: PlotOption = None,
    save: SaveOption = None,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Move a fully driven mechanism without integration: positions to reactions."""
    with clean_errors(debug):
        check_outputs(html, plot, save)
        mechanism = load_model(model, param)
        from index3.analysis.inverse_dynamics import add_motions
        from index3.analysis.kinematics import kinematics

        add_motions(mechanism, constant_rates(drive), "kinematics")
        start = time.perf_counter()
        result = kinematics(mechanism, (0.0, t_end), t_eval=dt)
        finish_run(result, time.perf_counter() - start, html, plot, save, quiet)


def constant_rates(texts: list[str]) -> dict[str, tuple[Any, Any, Any]]:
    """`["crank=2.5"]` as motions of constant rate."""
    motions: dict[str, tuple[Any, Any, Any]] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            rate = float(number)
        except ValueError:
            raise ModelError(f"--drive {text!r} is not of the form joint=rate.") from None
        motions[name.strip()] = (lambda t, rate=rate: rate * t, rate, 0.0)
    return motions
