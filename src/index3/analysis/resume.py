"""Runs that are stored on the way, and go on after their process ended."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from index3 import __version__
from index3.compiled.interface import JIT
from index3.engine.resuming import Keeper, Saved, text_in, unpack
from index3.engine.segments import Plan
from index3.engine.settings import check_model, is_number
from index3.errors import Index3Error, ModelError
from index3.results.result import Result
from index3.results.store import StoreSink, checkpoint_path, complete, open_journal

if TYPE_CHECKING:
    from index3.analysis.simulation import Simulation
    from index3.model.model import Model
    from index3.user_types import Events, Progress

FUNCTIONS = ("events", "callback")
"""Settings that hold functions: a file keeps none."""
FORGOTTEN = (*FUNCTIONS, "progress", "on_failure", "store")
"""Settings that belong to a process, not to a run."""


def check_store(store: Any, dense_output: bool) -> Path | None:
    """The file of a run that is to be stored, before any time is spent on the run.

    Raises
    ------
    ModelError : it is no path, or a run of this kind cannot be stored.
    """
    if store is None:
        return None
    if not isinstance(store, str | os.PathLike) or not Path(store).name or "\0" in str(store):
        raise ModelError(f"simulate: store = {short(store)}. Give the path of a file, such as 'run.nc'.")
    path = Path(store)
    if not path.absolute().parent.is_dir() or (path.exists() and not path.is_file()):
        raise ModelError(f"simulate: store = '{path}': give a file in an existing folder.")
    if dense_output:
        raise ModelError("simulate: dense_output is kept in memory, not in a store. Give t_eval, or leave one out.")
    return path


def keeper_of(simulation: Simulation, model: Model, plan: Plan, asked: Mapping[str, Any]) -> Keeper | None:
    """What keeps checkpoints of a run that begins; None if it is not to be stored."""
    path = check_store(asked["store"], asked["dense_output"])
    if path is None:
        return None
    from index3.files.digests import digests  # model files are slow to import
    from index3.files.write import data_of

    try:
        text, lacks = data_of(model), ""
    except ModelError as error:
        text, lacks = {}, str(error)
    chosen = simulation._chosen
    options = {name: getattr(chosen, name) for name in chosen.options} if chosen else simulation.options
    settings = {name: value for name, value in asked.items() if name not in FORGOTTEN}
    settings |= {"atol": plan.atol, "discontinuities": plan.stops, "open_joints": ()}  # what is open is in checkpoints
    if not is_number(settings["t_eval"]):
        settings["t_eval"] = plan.t_eval
    return Keeper(
        StoreSink(path),
        {
            "id": uuid.uuid4().hex, "version": __version__, "t_span": plan.span, "settings": settings,
            "method": "auto" if chosen is None else chosen.key, "options": options, "linear": simulation.linear,
            "model": text, "lacks": lacks, "digests": digests(model),
            "functions": [name for name in FUNCTIONS if asked[name] is not None],
        },
    )  # fmt: skip


def resume(
    path: str | os.PathLike[str], model: Model | None = None, *, events: Events | None = None,
    callback: Callable[..., Any] | None = None, progress: Progress = "auto", on_failure: str = "return",
) -> Result:  # fmt: skip
    """Continue a stored run that did not end; returns the whole result, from its start.

    On the same machine, with the same index3, the result is to the last bit that of a run that was never interrupted.
    A run that has ended is simply loaded.

    Parameters
    ----------
    path : what was given as `store`
    model : the model of the run; it must be given again if it holds Python functions
    events, callback : as they were given to the run, if they were; what they remember by themselves is not restored
    progress, on_failure : as in `simulate`

    Raises
    ------
    ModelError : the model is another one, or has to be given, or event functions or a callback are missing.
    Index3Error : there is no such run, it is still running, or was started by another version of index3.

    >>> import index3 as ix, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.nc")
    >>> result = ix.simulate(ix.library.pendulum(), (0.0, 0.1), t_eval=0.05, store=path)
    >>> len(ix.resume(path).t)
    3
    """
    journal = open_journal(path)
    if journal is None:
        return Result.load(path)
    if journal.info is not None:  # it had ended, and the process while it wrote the file
        complete(path, journal)
        return Result.load(path)
    asked = journal.asked
    if asked is None:
        raise Index3Error(f"resume: the journal of '{path}' does not contain the settings of the run. Run it again.")
    if asked["version"] != __version__ or not JIT:
        here = __version__ if JIT else "kernels run as plain Python"
        raise Index3Error(f"resume: '{path}' was begun by index3 {asked['version']}, here is {here}. Resume it there.")
    given = {"events": events, "callback": callback}
    for name in FUNCTIONS:
        if (name in asked["functions"]) != (given[name] is not None):
            had = "had" if name in asked["functions"] else "had no"
            raise ModelError(f"resume: the run of '{path}' {had} {name}. Give {name} as simulate was given.")
    from index3.analysis.simulation import Simulation  # which asks this module for keepers

    settings = asked["settings"] | given | {"progress": progress, "on_failure": on_failure, "store": path}
    whole = model_of_run(asked, model, path)
    options = {name: tuple(x) if isinstance(x, list) else x for name, x in asked["options"].items()}
    simulation = Simulation(whole, asked["method"], settings, options, asked["linear"])
    saved, end = last_checkpoint(Path(path), journal)
    return simulation.resume(asked["t_span"], Keeper(StoreSink(path), asked, saved, end))


def model_of_run(asked: Mapping[str, Any], model: Model | None, path: Any) -> Model:
    """The model of a stored run: what was given, if it is the same, or what the store has.

    Raises
    ------
    ModelError : it is another one, or it has to be given.
    """
    from index3.files.digests import check_same
    from index3.files.read import model_of

    if model is not None:
        check_model(model, "resume")
    elif asked["lacks"]:
        raise ModelError(f"resume: '{path}' does not hold its model: {asked['lacks']} Give the model again.")
    else:
        model = model_of(asked["model"])
    check_same(model, asked["digests"], "resume")
    return model


def last_checkpoint(path: Path, journal: Any) -> tuple[Saved, int]:
    """The last checkpoint of a run, and the place in the journal behind the lines before it; else how it began."""
    file = checkpoint_path(path)
    saved = unpack(file.read_bytes()) if file.exists() else None
    if saved is not None:
        place = text_in(saved, "place")
        if place["run"] == journal.asked["id"]:
            return saved, place["journal"]
    saved = unpack(journal.start)
    if saved is None:
        raise Index3Error(f"resume: '{path}' holds no checkpoint that can be read. Run it again.")
    return saved, journal.end
