"""`index3 reproduce stiff-pendulum`: an experiment of the papers, run again."""

from __future__ import annotations

from typing import Annotated

import typer

from index3.commands.common import DebugOption, clean_errors


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="An experiment, or `all`.")] = None,
    debug: DebugOption = False,
) -> None:
    """Run an experiment of the papers and print its numbers beside the printed ones; without a name list them."""
    from index3 import reproduce

    with clean_errors(debug):
        if name is None:
            for key, (_, what) in reproduce.EXPERIMENTS.items():
                typer.echo(f"{key:<20}{what}")
            return
        for k, key in enumerate(reproduce.EXPERIMENTS if name == "all" else [name]):
            typer.echo(("\n" if k else "") + str(reproduce.run(key)))
