"""What controllers saw and said in a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def sample_numbers(samples: Mapping[str, Any], t: np.ndarray) -> np.ndarray:
    """The number of the sample that holds at each time; of two lines at the time of a sample the first is before it."""
    times = np.asarray(samples["t"], float)
    same = np.append(t[:-1] == t[1:], False) & np.isin(t, times)
    return np.maximum(np.searchsorted(times, t, "right") - 1 - same, 0)


def held_outputs(samples: Mapping[str, Any], t: np.ndarray) -> np.ndarray:
    """What a controller holds at each time, (n_t, outputs)."""
    return np.asarray(samples["y"], float)[sample_numbers(samples, t)]


class ControllerResult:
    """What a controller saw and said: its samples `t`, `u`, `y`, and what was held at each time of the result.

    `inputs` and `outputs` are (n_t, k) each: those of the last sample.
    """

    def __init__(self, t: np.ndarray, samples: Mapping[str, Any]) -> None:
        self.name: str = samples["name"]
        self.period: float = samples["period"]
        self.t, self.u, self.y = (np.asarray(samples[key], float) for key in ("t", "u", "y"))
        self._numbers = sample_numbers(samples, t)
        columns = {
            key: tuple(map(str, range(getattr(self, x).shape[1]))) for key, x in (("inputs", "u"), ("outputs", "y"))
        }
        self.quantities = {key: ("", labels) for key, labels in columns.items() if labels}
        self.coordinates = ("outputs",)

    @property
    def inputs(self) -> np.ndarray:
        """Inputs of the last sample at each time, (n_t, k)."""
        return self.u[self._numbers]

    @property
    def outputs(self) -> np.ndarray:
        """What is held at each time, (n_t, k)."""
        return self.y[self._numbers]

    def __repr__(self) -> str:
        return f"<Controller '{self.name}': {len(self.t)} samples every {self.period:g} s>"
