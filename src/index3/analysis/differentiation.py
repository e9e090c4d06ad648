"""The differentiation index of the formulations of a model's equations, by ranks of derivative arrays.

Linearised, a formulation is E z' = A z. Differentiated k times, with the derivatives z', ..., z^(k+1) as unknowns,

    N_k = [E          ]
          [-A  E      ]
          [    -A  E  ],

the index is the smallest k for which these equations determine z': rank N_k = dim z + rank (N_k without the columns of
z') [NegrutThesis] section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from index3.engine.equations import Equations
from index3.engine.settings import check_model
from index3.engine.start import initial_or_at
from index3.errors import ModelError
from index3.linear.reference import rank
from index3.methods.state_space.jacobian import Parts, evaluate_parts
from index3.model.model import Model

if TYPE_CHECKING:
    from index3.user_types import InitialState

MOST = 100
"""Coordinates up to which the dense ranks are affordable."""
HIGHEST = 4


@dataclass
class IndexReport:
    """Formulation -> differentiation index; prints as a table."""

    model: str
    index: dict[str, int]

    def __str__(self) -> str:
        lines = [f"  {name:<46}{number:>3}" for name, number in self.index.items()]
        return "\n".join([f"model '{self.model}': differentiation index", *lines])


def differentiation_index(
    model: Model, *, initial: InitialState | None = None, at: InitialState | None = None
) -> IndexReport:
    """How often each formulation must be differentiated until it is an ordinary differential equation.

    Rows that are redundant at the configuration are left out: with them no number of differentiations is enough. It is
    that of `initial`, or by its other name `at`, as in `check`.

    >>> import index3 as ix
    >>> list(ix.differentiation_index(ix.library.pendulum()).index.values())
    [3, 2, 2, 1]
    """
    check_model(model, "differentiation_index")
    equations = Equations(model, "differentiation_index")
    system = equations.system
    if system.n > MOST:
        raise ModelError(
            f"differentiation_index: model '{model.name}' has {system.n} coordinates. Ask for one of at most {MOST}."
        )
    if np.any(system.level == 1):
        raise ModelError(
            f"differentiation_index: model '{model.name}' has velocity-level rows, which have no position level."
        )
    equations.assemble(start=equations.start(initial_or_at(initial, at, "differentiation_index")))
    parts = evaluate_parts(equations.state)
    return IndexReport(model.name, {name: index(E, A) for name, (E, A) in formulations(parts).items()})


def formulations(parts: Parts) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """E and A of each formulation, in z = (q, v, lam) or (q, v, lam, mu); forces scaled to size 1."""
    n, m = parts.mass.shape[0], len(parts.phi_q)
    one, zero, none = np.eye(n), np.zeros((n, n)), np.zeros((m, m))
    unit = np.abs(parts.mass).max()
    M, K, D, G = parts.mass / unit, parts.stiffness / unit, parts.damping / unit, parts.phi_q
    wide, tall = np.zeros((m, n)), np.zeros((n, m))
    motion_e, motion_a = [[one, zero, tall], [zero, M, tall]], [[zero, one, tall], [-K, -D, -G.T]]
    rates = parts.phiv_q
    bend = parts.gamma_q - parts.phia_q
    return {
        "positions: Phi = 0": (
            np.block([*motion_e, [wide, wide, none]]),
            np.block([*motion_a, [G, wide, none]]),
        ),
        "velocities: Phi_q v + Phi_t = 0": (
            np.block([*motion_e, [wide, wide, none]]),
            np.block([*motion_a, [rates, G, none]]),
        ),
        "positions and velocities, stabilised (bdf-si2)": (
            np.block([[*line, tall] for line in motion_e] + [[wide, wide, none, none]] * 2),
            np.block(
                [
                    [*motion_a[0], -G.T],
                    [*motion_a[1], tall],
                    [G, wide, none, none],
                    [rates, G, none, none],
                ]
            ),
        ),
        "accelerations: Phi_q a = gamma": (
            np.block([*motion_e, [wide, G, none]]),
            np.block([*motion_a, [bend, parts.gamma_v, none]]),
        ),
    }


def index(E: np.ndarray, A: np.ndarray) -> int:
    """The differentiation index of E z' = A z; `HIGHEST` + 1 if it is larger than that.

    >>> index(np.array([[1.0]]), np.array([[2.0]])), index(np.array([[0.0]]), np.array([[2.0]]))
    (0, 1)
    """
    size = len(E)
    for k in range(HIGHEST + 1):
        array = np.zeros(((k + 1) * size, (k + 1) * size))
        for j in range(k + 1):
            array[j * size : (j + 1) * size, j * size : (j + 1) * size] = E
            if j:
                array[j * size : (j + 1) * size, (j - 1) * size : j * size] = -A
        rest = rank(array[:, size:]) if k else 0
        if rank(array) == size + rest:
            return k
    return HIGHEST + 1
