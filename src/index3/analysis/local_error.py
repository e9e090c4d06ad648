"""The error that a method makes in one step, measured by halving the step.

From the same state y one step of size h gives y1, two of h/2 give y2. With a method of order p the errors are c h^(p+1)
and 2 c (h/2)^(p+1), so that the first one is (y1 - y2) / (1 - 2^-p): Richardson's extrapolation. No method's own
estimate takes part in it [CardenalMultiIndex, footnote 3].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.engine.settings import check_model, check_result, is_number
from index3.engine.variants import Variant
from index3.errors import ModelError, SimulationFailed
from index3.methods import run
from index3.methods.projection import kernels_for
from index3.methods.registry import choose
from index3.methods.run_table import Run
from index3.model.model import Model
from index3.results.result import Result
from index3.system.compile import compile_model

if TYPE_CHECKING:
    from index3.user_types import MethodLike


@dataclass(frozen=True)
class LocalErrors:
    """Errors of single steps.

    Attributes
    ----------
    t : (n_t,) times at which the steps begin [s]
    q, v : (n_t, n) error of the coordinates and of their rates after one step
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray


def local_errors(model: Model, result: Result, method: MethodLike, step: float, **options: Any) -> LocalErrors:
    """Measure the error of one step of a method at every output time of a run.

    Parameters
    ----------
    model : Model
    result : a run of the model, by any method; its output states are where the steps begin
    method : key of `index3.METHODS` or an instance; a one-step method, since a step from a state has no past
    step : size of the step [s]
    options : settings of the method

    Raises
    ------
    ModelError : a wrong setting, a method that needs past steps, or a result of another model.
    SimulationFailed : a step does not converge.

    >>> import index3 as ix
    >>> model = ix.library.pendulum()
    >>> run = ix.simulate(model, (0.0, 0.2), t_eval=0.1)
    >>> errors = ix.local_errors(model, run, "dopri5", step=0.01)
    >>> errors.q.shape == run.q.shape
    True
    """
    check_model(model, "local_errors")
    check_result(result, "local_errors")
    chosen = choose(method, options)
    if not isinstance(chosen.order, int) or chosen.family == "tlismni":
        raise ModelError(f"local_errors: method '{chosen.key}' needs past steps. Choose a one-step method.")
    if not is_number(step) or not 0.0 < step < np.inf:
        raise ModelError(f"local_errors: step = {step!r}. Give a positive number of seconds.")
    kernels = kernels_for(model, chosen)
    variant = Variant(model, lambda opened: compile_model(model, kernels, without=opened), "local_errors")
    variant.start(result)  # refuses results of other models
    share = 1.0 - 2.0**-chosen.order
    q, v = np.empty_like(result.q), np.empty_like(result.v)
    for k, t in enumerate(result.t):
        line = float(t), result.q[k], result.v[k], result.arrays["angle"][k]
        one, two = (take_steps(variant, chosen, line, step, count) for count in (1, 2))
        q[k], v[k] = ((one[slot] - two[slot]) / share for slot in (run.NEW_Q, run.NEW_V))
    return LocalErrors(result.t.copy(), q, v)


def take_steps(variant: Variant, method: Any, line: tuple[Any, ...], step: float, count: int) -> Run:
    """A run of `count` equal steps that together take `step`, from a line (t, q, v, angles) of output.

    Raises
    ------
    SimulationFailed : a step does not converge.
    """
    variant.move(*line)
    variant.make_consistent()
    t = line[0]
    progress = Run(
        variant.state, variant.projection.solver, (t, t + step), rtol=1e-6, atol=np.full(variant.system.n, 1e-8),
        newton_tol=method.newton_tol, t_eval=np.zeros(0), step=step / count, max_step=np.inf, max_steps=None,
    )  # fmt: skip
    table = method.start(progress, None)
    if progress.advance(method.kernel, table, count + 1) != run.DONE:
        raise SimulationFailed(
            f"local_errors: a step of {step / count:g} s from t = {t:g} with method '{method.key}' does not converge. "
            "Give a smaller step."
        )
    return progress
