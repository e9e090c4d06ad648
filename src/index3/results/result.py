"""The outcome of a run: times in rows, names to arrays, energy, residuals, files, plots and a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from os import PathLike
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.element_type import nearest
from index3.errors import Index3Error, ModelError
from index3.results.arrays import check_shapes
from index3.results.audit import RunAudit
from index3.results.kinematics import Kinematics, body_kinematics
from index3.results.layout import Layout
from index3.results.lazy import LateArrays, LazyArrays
from index3.results.lookup import Index, UnknownName, find, unknown
from index3.results.sinks import Written

if TYPE_CHECKING:  # what a run does not need is imported where it is asked for
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from xarray import Dataset

    from index3.bodies.marker import Marker
    from index3.bodies.moving_marker import MovingMarker
    from index3.model.model import Model
    from index3.results.energy import Energy, Violation
    from index3.results.jump import Jump
    from index3.results.markers import MarkerResult
    from index3.results.tables import Spectrum
    from index3.user_types import ArrayLike, AxesLike


class Result:
    """Everything a run computed; the first axis of every array is time.

    `t`, `q`, `v`, `a`, `lam` are the raw histories, `result["crank"]` a body, `result["B"]` a joint,
    `result["B.angle"]`, `result["crank.position.z"]` histories by the names that plots and tables take, `energy`,
    `violation`, `audit`, `stats`, `status`, `message` and `success` the rest. `sol` is None, or after
    `simulate(..., dense_output=True)` a function of time that returns (q, v), not projected; files do not keep it.

    >>> layout = Layout("falling", [{"name": "ball", "kind": "point", "start": 0, "size": 3, "shape": {}, "mass": 1.0}])
    >>> from index3.results.arrays import empty_arrays
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> arrays = empty_arrays(len(t), 3, 0, 0, 0) | {"t": t}
    >>> arrays["q"][:, 2] = -4.9 * t**2
    >>> Result(layout, arrays)["ball"].position[-1].tolist()
    [0.0, 0.0, -4.9]
    """

    def __init__(self, layout: Layout, arrays: Mapping[str, np.ndarray], info: Mapping[str, Any] | None = None) -> None:
        info = info or {}
        self.layout = layout
        self.arrays: Mapping[str, np.ndarray] = arrays
        if type(arrays) is not Written and not isinstance(arrays, LazyArrays | Written):  # the first is far quicker
            self.arrays = {name: np.asarray(x, float) for name, x in arrays.items()}
            check_shapes(layout, self.arrays)
        self.status = int(info.get("status", 0))
        self.message = str(info.get("message", ""))
        self.success = bool(info.get("success", True))
        self.stats: dict[str, Any] = dict(info.get("stats", {}))
        self.method = str(info.get("method", ""))
        self.options: dict[str, Any] = dict(info.get("options", {}))
        audit: Any = info.get("audit")
        asked_late = audit is None or callable(audit) or isinstance(audit, RunAudit)
        self._audit: Any = audit if asked_late else RunAudit.from_list(audit)  # or what makes it
        self.t_events: list[np.ndarray] | None = None  # with events: times, one array per function
        self.y_events: list[np.ndarray] | None = None  # and (k, 2, n) coordinates and rates there
        if info.get("t_events") is not None:
            n = self.arrays["q"].shape[1]
            self.t_events = [np.array(times, float) for times in info["t_events"]]
            self.y_events = [np.array(states, float).reshape(-1, 2, n) for states in info["y_events"]]
        self.jumps: list[Jump] = []  # changes made by events
        if info.get("jumps"):
            from index3.results.jump import Jump

            self.jumps = [Jump.from_dict(entry) for entry in info["jumps"]]
        self._sol: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None = None
        self.auditor: Callable[[Result], Any] | None = None  # splits the energy by element
        self.source: Any = None  # `index3.results.applied.ModelOfRun`, which knows the forces of the run
        self.controllers: list[dict[str, Any]] = list(info.get("controllers", ()))  # what they saw and said
        self._applied: Any = None  # what forces do, once it was asked for or read
        self.moving: Sequence[Any] = ()  # markers of ground that follow functions of time; files do not keep them
        self._index = Index(layout)

    @property
    def sol(self) -> Any:
        """(q, v) at any time inside the run, or at an array of times: `result.sol(t)`, of a run with dense output.

        Raises
        ------
        ModelError : the run kept no dense output, or the result was read from a file, which has none.
        """
        if self._sol is None:
            raise ModelError(
                "result.sol: this result has no dense output, which is not kept by default and not written to files. "
                "Run simulate(..., dense_output=True), or give t_eval= the times you need."
            )
        return self._sol

    @sol.setter
    def sol(self, dense: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None) -> None:
        self._sol = dense

    def __getstate__(self) -> dict[str, Any]:
        _ = self.audit  # complete
        return {**self.__dict__, "auditor": None, "source": None}  # the model may hold what cannot be pickled

    @property
    def audit(self) -> RunAudit | None:
        """What was checked of the run, against which bounds; None if it was not."""
        if callable(self._audit):
            self._audit = self._audit()
        found: RunAudit | None = self._audit
        return found

    @property
    def t(self) -> np.ndarray:
        """Times, (n_t,), s."""
        return self.arrays["t"]

    @property
    def q(self) -> np.ndarray:
        """Coordinates of all bodies, (n_t, n)."""
        return self.arrays["q"]

    @property
    def v(self) -> np.ndarray:
        """Their rates q', (n_t, n)."""
        return self.arrays["v"]

    @property
    def a(self) -> np.ndarray:
        """Their second derivatives q'', (n_t, n)."""
        return self.arrays["a"]

    @property
    def lam(self) -> np.ndarray:
        """Lagrange multipliers, (n_t, m)."""
        return self.arrays["lam"]

    @property
    def energy(self) -> Energy:
        """`kinetic`, `potential`, `total`, `work` and `balance`, (n_t,) each, J; `shares()` splits them by element."""
        from index3.results.energy import Energy

        auditor = None if self.auditor is None else partial(self.auditor, self)
        error = float(self.stats.get("work_error", 0.0))
        return Energy(self.arrays["kinetic"], self.arrays["potential"], self.arrays["work"], auditor, error)

    @property
    def violation(self) -> Violation:
        """Constraint residuals `position`, `velocity`, `acceleration`, (n_t,) each; `scaled` has the same three."""
        from index3.results.energy import Violation

        position, velocity, acceleration = self.arrays["violation"].T
        return Violation(position, velocity, acceleration, Violation(*self.arrays["violation_scaled"].T))

    @property
    def info(self) -> dict[str, Any]:
        """How the run went: status, message, success, stats, method, options, audit, jumps and events in one dict."""
        known = {key: getattr(self, key) for key in ("status", "message", "success", "stats", "method", "options")}
        audit = None if self.audit is None else self.audit.to_list()
        known |= {"audit": audit, "jumps": [asdict(jump) for jump in self.jumps], "controllers": self.controllers}
        events = {"t_events": self.t_events, "y_events": self.y_events}
        return known | {key: [x.tolist() for x in found] for key, found in events.items() if found is not None}

    @property
    def states(self) -> Mapping[str, np.ndarray]:
        """Histories of blocks of first-order states by name, (n_t, number of states) each."""
        blocks = {block["name"]: (block["start"], block["size"]) for block in self.layout.states}
        return MappingProxyType({name: self.v[:, first : first + size] for name, (first, size) in blocks.items()})

    @property
    def index(self) -> np.ndarray | None:
        """Index of the equations in the step to each time, (n_t,), of augmented Lagrangian methods; None for others.

        `stats["index_changes"]` has the times of the changes, each with the index from there on; first comes the start.
        """
        changes = self.stats.get("index_changes")
        if not changes:
            return None
        begins, indices = zip(*changes, strict=True)
        return np.array(indices, int)[np.maximum(np.searchsorted(begins, self.t, "left") - 1, 0)]

    @property
    def names(self) -> tuple[str, ...]:
        """Names that `result[name]` takes: bodies, joints, motions, forces, controllers; "B.angle" is a history."""
        return (*self._index.bodies, *self._index.joints, *self._index.forces, *self.layout.controllers)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise UnknownName(f"{short(name)} is not a name. Use one of {', '.join(self.names)}.")
        return find(self, self._index, name)

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Say how to write the name of an element, or what a misspelt one may mean."""
            if name.startswith("_") or "layout" not in vars(self):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
            own = [word for word in dir(type(self)) if not word.startswith("_")]
            advice = f"Write result['{name}']." if name in self.names else nearest(name, own).rstrip()
            raise AttributeError(f"Result has no attribute '{name}'. {advice}".rstrip(), name=name, obj=self)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.t)

    __iter__ = None  # a result is neither a sequence nor a mapping: loop over `names` or over `t`

    def kinematics(self, body: str, part: str | None = None) -> Kinematics:
        """Motion of a body's frame, ground included, by name; or of one of its parts."""
        return body_kinematics(self.entry(body), *self.columns(body), part)

    def entry(self, body: str) -> dict[str, Any]:
        """A body's entry in the layout, ground included, by name."""
        bodies = self._index.bodies
        if body != "ground" and body not in bodies:
            raise unknown(self, body, tuple(bodies))
        return bodies.get(body, {"kind": "ground", "start": 0, "size": 0})

    def columns(self, body: str, *, accelerations: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A body's columns of q, v and a, ground included, by name; zeros for a if nobody is to work it out."""
        entry = self.entry(body)
        columns = slice(entry["start"], entry["start"] + entry["size"])
        q, v = self.q[:, columns], self.v[:, columns]
        there = accelerations or not isinstance(self.arrays, LazyArrays) or self.arrays.is_filled("a")
        return q, v, self.a[:, columns] if there else np.broadcast_to(0.0, v.shape)

    def applied(self) -> Any:
        """Wrenches and power of all force elements, see `index3.results.applied.Applied`; evaluated when first asked.

        Raises
        ------
        Index3Error : the result does not know its model, and its file holds no forces.
        """
        if self._applied is None:
            if self.source is None:
                raise Index3Error(
                    f"This result of model '{self.layout.model}' does not know its model, from which forces are worked "
                    "out. Give it the model: result.use_model(model)."
                )
            self._applied = self.source.applied(self)
        return self._applied

    @property
    def knows_forces(self) -> bool:
        """Whether `applied` can tell what forces do."""
        return self._applied is not None or self.source is not None

    def use_model(self, model: Model) -> Result:
        """Let a result that was read from a file, or unpickled, work out forces by its model; returns the result.

        Raises
        ------
        ModelError : the model has other bodies or forces.
        """
        for part, entries in (("bodies", self._index.bodies), ("forces", self._index.forces)):
            there = getattr(model, part, None)
            names = list(there) if isinstance(there, Mapping) else []
            if names != list(entries):
                raise ModelError(
                    f"Result of model '{self.layout.model}' has the {part} {short(list(entries))}, the model given has "
                    f"{short(names)}. Give the model of the run."
                )
        from index3.results.applied import ModelOfRun  # here: it compiles the model

        self.source, self._applied = ModelOfRun(model), None
        return self

    def marker(self, marker: Marker | MovingMarker) -> MarkerResult:
        """Motion of a marker of the model: `position`, `velocity`, `acceleration`, `rotation`, ..."""
        from index3.results.markers import MarkerResult

        moving = marker if hasattr(marker, "motion") else None
        return MarkerResult(self, marker.body.name, marker.position, marker.axes, marker.part, moving)

    def plot(self, *names: str, x: str | None = None, y: str | Sequence[str] = (), ax: Axes | None = None) -> AxesLike:
        """Plot named histories against time, or `y` against the history `x`; see `index3.results.plot.plot`."""
        from index3.results import plot

        return plot.plot(self, *names, x=x, y=y, ax=ax)

    def plot_along(self, *names: str, t: ArrayLike | None = None, ax: Axes | None = None) -> AxesLike:
        """Plot "beam.moment" and the like along a beam or cable; see `index3.results.plot_along.plot_along`."""
        from index3.results import plot_along

        return plot_along.plot_along(self, *names, t=t, ax=ax)

    def to_html(self, path: str | PathLike[str], title: str | None = None, fps: float = 60.0) -> None:
        """Write one self-contained page that plays the motion; see `index3.results.html.write_html`."""
        from index3.results import html

        html.write_html(self, path, title, fps)

    def _repr_html_(self) -> str:
        """The page, shown by notebooks; its text alone where there is no motion to show."""
        from html import escape

        from index3.results import html

        if not np.isfinite(self.q).all(axis=1).any():
            return f"<pre>{escape(repr(self))}</pre>"
        return html.notebook_text(self)

    def to_xarray(self) -> Dataset:
        """An `xarray.Dataset` of all arrays and of every body's motion, such as "crank.position"."""
        from index3.results import netcdf

        return netcdf.to_xarray(self)

    def to_pandas(self, names: Sequence[str] | None = None) -> DataFrame:
        """One `pandas.DataFrame` of named histories, or of all; see `index3.results.tables.to_pandas`."""
        from index3.results import tables

        return tables.to_pandas(self, names)

    def spectrum(self, name: str, *, window: str = "hann") -> Spectrum:
        """Amplitudes of a history over frequency; see `index3.results.tables.spectrum`."""
        from index3.results import tables

        return tables.spectrum(self, name, window=window)

    def to_csv(self, path: str | PathLike[str], names: Sequence[str] | None = None) -> None:
        """Write named histories as columns of text; see `index3.results.export.write_csv`."""
        from index3.results import export

        export.write_csv(self, path, names)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a netCDF file without loss; a file already there is replaced.

        Forces are worked out and written too, unless a stored run is read in pieces and nobody asked for them.
        """
        from index3.results import netcdf

        forces = self._applied
        in_memory = not isinstance(self.arrays, LazyArrays) or isinstance(self.arrays, LateArrays)
        if forces is None and self._index.forces and self.source is not None and in_memory:
            try:
                forces = self.applied()
            except Index3Error:  # a force without value, as where a run failed: the rest is kept
                forces = None
        netcdf.write_netcdf(self.layout, self.arrays, self.info, path, forces)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read back a file that `save` or a stored run wrote; `Index3Error` if it is not one."""
        if not isinstance(path, str | PathLike):
            raise ModelError(f"Result.load: {path!r} is not a path. Give that of a saved result, such as 'run.nc'.")
        from index3.results.checksums import damaged
        from index3.results.store import read_store
        from index3.results.wrenches import stored

        layout, arrays, info = read_store(path)
        try:
            forces = stored(arrays)
            result = cls(Layout.from_dict(layout), arrays, info)
            result._applied = forces
            return result
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, Index3Error) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        from index3.results.summary import summary

        return summary(self)
