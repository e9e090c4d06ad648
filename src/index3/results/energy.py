"""Energies and constraint residuals of a run over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from index3.errors import Index3Error


@dataclass(frozen=True)
class Energy:
    """Energies in J, (n_t,) each; `balance` = `total` - `work` stays constant in an exact solution.

    `work_error` is a number: how far `work` at the end may be off for having been summed over steps, as estimated.
    """

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    auditor: Callable[[], Any] | None = field(default=None, repr=False)
    work_error: float = 0.0

    def shares(self) -> Any:
        """Energies, power and work by element, see `index3.analysis.audit.Audit`.

        Raises
        ------
        Index3Error : the result was read from a file or unpickled, and so does not know its model.
        """
        if self.auditor is None:
            raise Index3Error("This result does not know its model. Use index3.energy_audit(model, result).")
        return self.auditor()

    def audit(self) -> Any:
        """The older name of `shares`."""
        return self.shares()

    @property
    def total(self) -> np.ndarray:
        """Kinetic plus potential energy."""
        return self.kinetic + self.potential

    @property
    def balance(self) -> np.ndarray:
        """Total energy minus the work of motions and of non-conservative forces since the start."""
        return self.total - self.work


@dataclass(frozen=True)
class Violation:
    """Largest constraint residual at each time, (n_t,), at three levels.

    `scaled` holds the same with each row divided by max(1, sum of the absolute terms of that row).
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    scaled: Violation | None = None
