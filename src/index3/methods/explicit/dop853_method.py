"""DOP853 as a user sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from index3.methods.explicit.runge_kutta_method import RungeKutta
from index3.methods.explicit.tableaus import DOP853, Tableau
from index3.registry import register


@register
@dataclass(frozen=True)
class Dop853(RungeKutta):
    """Dormand and Prince's explicit Runge-Kutta formula of order 8(5,3), with projection after every step.

    Outputs inside a step are shorter steps of the same formula: each costs 11 evaluations, and keeps the order.

    Parameters
    ----------
    stages : "auto" recovers the constraints at every stage where rows are redundant, "closed" always, "free" never
    parametrization : "tangent-plane", or "partition": the formula holds for a choice of the model's own coordinates,
        and every stage is recovered by the others
    newton_tol : scaled residual that recovered stages may keep with constant steps (else 1e-4 rtol, if more)
    stabilization : what the end of a step does: "projection" onto the constraints, "post" one step towards them,
        "baumgarte" nothing, but Phi'' = -2 alpha Phi' - beta^2 Phi in all accelerations
    baumgarte : (alpha, beta) in 1/s, for stabilization="baumgarte"

    >>> Dop853().order
    8
    """

    stages: str = "auto"
    parametrization: str = "tangent-plane"
    newton_tol: float = 1e-13
    stabilization: str = "projection"
    baumgarte: tuple[float, float] = (10.0, 10.0)

    key: ClassVar[str] = "dop853"
    order: ClassVar[int] = 8
    paper: ClassVar[str] = "Hairer, Norsett, Wanner 1993"
    summary: ClassVar[str] = "smooth motion without stiffness, tight tolerances"
    tableau: ClassVar[Tableau] = DOP853
    own_output: ClassVar[bool] = True
