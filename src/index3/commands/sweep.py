"""The command `sweep`: many runs of a mechanism, for numbers given on the command line."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from index3.commands.analyses import show_table
from index3.commands.common import (
    FAILED,
    DebugOption,
    ModelArgument,
    ParamOption,
    QuietOption,
    clean_errors,
    load_model,
)
from index3.errors import ModelError

KINDS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(), "min": lambda x: x.min(), "last": lambda x: x[-1], "mean": lambda x: x.mean(),
    "range": lambda x: x.max() - x.min(), "rms": lambda x: (x**2).mean() ** 0.5, "peak": lambda x: abs(x).max(),
}  # fmt: skip
"""What `--measure HISTORY:KIND` makes of a history."""
DEFAULT = ["energy.kinetic:max", "energy.potential:last"]
FEW = 50
"""Cases up to which a table is printed."""


def sweep(
    model: ModelArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=LOW:HIGH:COUNT[:log]", help="Field of an element, or NAME=A,B,C; repeatable, for a grid."
        ),
    ],
    measure: Annotated[
        list[str],
        typer.Option(metavar="HISTORY:KIND", help=f"What to keep, such as rod.position.z:max; {', '.join(KINDS)}."),
    ] = [],  # noqa: B006
    t_end: Annotated[float, typer.Option(help="End of the runs in s; they start at 0.")] = 1.0,
    method: Annotated[str, typer.Option(help="An integration method; `index3 methods` lists them.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Relative error tolerance.")] = 1e-6,
    dt: Annotated[float | None, typer.Option(help="Time between outputs in s; without it every step is kept.")] = None,
    samples: Annotated[
        int | None, typer.Option(help="Draw this many samples of a Latin hypercube from LOW:HIGH.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the samples.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which a case is stopped.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep finished cases there.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the sweep in --store.")] = False,
    save: Annotated[Path | None, typer.Option(metavar="FILE.nc", help="Write the dataset (netCDF).")] = None,
    param: ParamOption = [],  # noqa: B006
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Run a mechanism for many values of its numbers, on all processors."""
    with clean_errors(debug):
        if save is not None and not save.absolute().parent.is_dir():
            raise ModelError(f"The folder {str(save.parent)!r} for {save.name!r} does not exist. Make it first.")
        parameters = dict(read_vary(text, sampled=samples is not None) for text in vary)
        for name in parameters:
            if "." not in name:
                raise ModelError(
                    f"--vary {name!r} is not a field of an element. Give names such as coil.stiffness; to vary the "
                    "parameters of a function, call index3.sweep in Python."
                )
        measures = {text: measure_of(text) for text in measure or DEFAULT}
        mechanism = load_model(model, param)
        from index3.analysis.simulate import prepare
        from index3.analysis.sweep import sweep

        start = time.perf_counter()
        found = sweep(
            prepare(mechanism, method, rtol=rtol, t_eval=dt), parameters, t_span=(0.0, t_end), measure=measures,
            samples=samples, seed=seed, time_limit=time_limit, store=store, resume=resume,
            progress=False if quiet else "auto",
        )  # fmt: skip
        if save is not None:
            found.to_netcdf(save, engine="h5netcdf")
        if not quiet:
            print_sweep(found, list(parameters), time.perf_counter() - start)
        if not (found.status.values == "ok").any():
            raise typer.Exit(FAILED)


def read_vary(text: str, sampled: bool) -> tuple[str, Any]:
    """`coil.stiffness=1e4:1e6:20:log` as a name and 20 values, or a range to draw samples from."""
    name, equals, rest = text.partition("=")
    parts = rest.split(":")
    logarithmic = parts[-1] == "log"
    numbers = parts[: len(parts) - logarithmic]
    try:
        if not equals or not name.strip():
            raise ValueError
        if len(parts) == 1 and not sampled:
            return name.strip(), [float(x) for x in rest.split(",")]
        if sampled:
            low, high = (float(x) for x in numbers)
            return name.strip(), (low, high, "log") if logarithmic else (low, high)
        low, high, count = float(numbers[0]), float(numbers[1]), int(numbers[2])
        if len(numbers) != 3 or count < 1 or (logarithmic and not (low > 0.0 and high > 0.0)):
            raise ValueError
    except (ValueError, IndexError):
        form = "NAME=LOW:HIGH[:log] with --samples" if sampled else "NAME=LOW:HIGH:COUNT[:log] or NAME=A,B,C"
        raise ModelError(f"--vary {text!r} is not of the form {form}.") from None
    import numpy as np  # here, as all that is heavy

    return name.strip(), (np.geomspace if logarithmic else np.linspace)(low, high, count)


def measure_of(text: str) -> Callable[[Any], float]:
    """`rod.position.z:max` as a function of a result."""
    name, _, kind = text.rpartition(":")
    if not name or kind not in KINDS:
        raise ModelError(f"--measure {text!r} is not of the form HISTORY:KIND, with KIND one of {', '.join(KINDS)}.")
    return partial(measured, name=name, kind=kind)


def measured(result: Any, name: str, kind: str) -> float:
    """One number of a history; of several columns, of the length of the vector."""
    from index3.results.export import quantity

    values = quantity(result, name).values
    return float(KINDS[kind](values[:, 0] if values.shape[1] == 1 else (values**2).sum(axis=1) ** 0.5))


def print_sweep(found: Any, parameters: list[str], seconds: float) -> None:
    """The cases as a table if they are few, else what became of them; reasons are counted."""
    flat = found.stack(every=list(found.status.dims), create_index=False)
    said = ", ".join(f"{count} {status}" for status, count in Counter(flat.status.values.tolist()).items())
    typer.echo(f"{flat.sizes['every']} cases in {seconds:.1f} s: {said}")
    measures = [name for name in found.data_vars if name not in ("status", "message", "seconds")]
    if flat.sizes["every"] <= FEW:
        columns = [*parameters, *measures]
        rows = [
            (*(f"{flat[name].values[k]:.6g}" for name in columns), str(flat.status.values[k]))
            for k in range(flat.sizes["every"])
        ]
        show_table("cases", (*columns, "status"), rows)
    for reason, count in Counter(flat.message.values.tolist()).items():
        if reason:
            typer.echo(f"{count} x {reason}")
