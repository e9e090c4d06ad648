"""What `linearize` returns: the matrices of a linear model, its frequencies and modes."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from index3.analysis.modes import Mode, mode_result
from index3.engine.settings import is_number
from index3.errors import Index3Error, ModelError
from index3.model.model import Model
from index3.results.result import Result


@dataclass
class Linear:
    """A linearised model, x' = A x + B u, y = C x + D u; prints as a table of its modes.

    Attributes
    ----------
    model : the Model
    t, q, v : the point of linearisation
    A (k, k), B (k, inputs), C (outputs, k), D (outputs, inputs) : x are changes of independent coordinates and rates
    inputs, outputs : names, one per column of B and row of C
    modes : list of `Mode`, by rising frequency: .eigenvalue .frequency [rad/s] .damping .shape (n,)
    displacement : (n, k) change of the coordinates by x
    notes : what a user should know
    """

    model: Model
    t: float
    q: np.ndarray
    v: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    inputs: list[str]
    outputs: list[str]
    modes: list[Mode]
    displacement: np.ndarray
    notes: list[str]

    @property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies |eigenvalue| of the modes [rad/s], rising."""
        return np.array([mode.frequency for mode in self.modes])

    @property
    def damping_ratios(self) -> np.ndarray:
        """Damping ratios -Re / |eigenvalue| of the modes; 0 for eigenvalues at zero, negative for growing ones."""
        return np.array([mode.damping for mode in self.modes])

    @property
    def eigenvalues(self) -> np.ndarray:
        """One eigenvalue of each mode [1/s], by rising frequency: of a conjugate pair the upper one alone.

        So there are fewer than states where something oscillates; `numpy.linalg.eigvals(linear.A)` lists all of them.
        """
        return np.array([mode.eigenvalue for mode in self.modes])

    @property
    def stable(self) -> bool:
        """Whether no mode grows; what is undamped counts as stable."""
        largest = np.abs(self.eigenvalues).max(initial=0.0)
        return bool(np.all(self.eigenvalues.real <= 1e-7 * largest))  # 1e-7: a double eigenvalue at zero, rounded

    def to_control(self) -> Any:
        """The same as a `StateSpace` of python-control, with the names of inputs and outputs, "_" for each dot in them.

        Raises
        ------
        Index3Error : python-control is not installed.
        """
        try:
            import control
        except ImportError as error:
            raise Index3Error(
                "to_control needs python-control, which is not installed. Run: pip install 'index3[control]'"
            ) from error
        inputs, outputs = ([name.replace(".", "_") for name in names] for names in (self.inputs, self.outputs))
        name = self.model.name.replace(".", "_")
        return control.ss(self.A, self.B, self.C, self.D, inputs=inputs, outputs=outputs, name=name)

    def mode(self, k: int, *, amplitude: float | None = None, periods: float = 2.0, frames: int = 60) -> Result:
        """The motion of one mode as a `Result`, for plots and `to_html`.

        Parameters
        ----------
        k : number of the mode, from 0
        amplitude : how far the mode moves, as a part of the mechanism's size or in rad; 0.1 by default
        periods : how many; shown without decay, over 1 s for a mode without frequency
        frames : output times per period
        """
        if not (isinstance(k, int | np.integer) and 0 <= k < len(self.modes)):
            raise ModelError(f"linearize: there is no mode {k!r}. Give a number from 0 to {len(self.modes) - 1}.")
        for name, value in (("amplitude", 0.1 if amplitude is None else amplitude), ("periods", periods)):
            if not (is_number(value) and 0.0 < value < np.inf):
                raise ModelError(f"linearize: {name} = {value!r}. Give a positive number.")
        if not (isinstance(frames, int | np.integer) and frames >= 2):
            raise ModelError(f"linearize: frames = {frames!r}. Give a whole number of at least 2.")
        return mode_result(self.model, self.t, self.q, self.modes[k], k, amplitude or 0.1, periods, int(frames))

    def to_html(self, path: str | PathLike[str], mode: int = 0, **settings: Any) -> None:
        """Write a page that plays one mode; `settings` are those of `mode`.

        It moves by a tenth of the mechanism's size, or of a radian, whatever its real size; bodies that deform do.
        """
        self.mode(mode, **settings).to_html(path)

    def __str__(self) -> str:
        lines = [f"model '{self.model.name}' linearised at t = {self.t:g}: {len(self.A)} states"]
        lines.append(f"{'mode':>6}{'rad/s':>14}{'Hz':>14}{'damping':>11}   moves most")
        for k, mode in enumerate(self.modes):
            hertz = mode.frequency / (2.0 * np.pi)
            lines.append(f"{k:>6}{mode.frequency:>14.6g}{hertz:>14.6g}{mode.damping:>11.4g}   {mode.words}")
        if len(self.modes) < len(self.A):
            lines.append(f"  {len(self.A)} eigenvalues: conjugate pairs are one mode, and appear once in .eigenvalues")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])
