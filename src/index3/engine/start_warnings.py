"""Warnings before a run begins: it is possible, but probably not what was meant.

A derivative that is not one, a mechanism that cannot move, velocities that joints do not allow, a force that answers
the same question differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.time_functions import Difference, derivative
from index3.compiled import slots as s
from index3.compiled.callbacks import UserFunctions
from index3.engine.assembly import displacements
from index3.engine.layout import moving_markers
from index3.engine.variants import Variant
from index3.errors import ModelError, warn
from index3.joints.base import Joint
from index3.linear import contract
from index3.model.model import Model
from index3.system import evaluate
from index3.system.state import State

REFUSED = 0.01
"""Part of a body's given velocity that joints may take away unsaid: velocities are often given with three digits."""
GROSS, MOST_GROSS = 0.25, 2
"""Part of its size by which a derivative is off that no rounding explains, and at how many times it may be."""
REPEATED = 1e-9
"""Part of the largest force by which two evaluations at one state may differ: memory of contacts, warm starts."""


def driven_functions(model: Model) -> list[tuple[str, Any]]:
    """Motions and joints that follow functions of time, with these: (f, df, ddf), or (f, df) of a rate."""
    driven: list[Any] = [
        *model.motions.values(),
        *(joint for joint in model.joints.values() if hasattr(joint, "functions")),
    ]
    return [(each.label, each.functions[: 2 + each.row_rate]) for each in driven]


def check_motions(motions: Iterable[tuple[str, Any]], span: tuple[float, float]) -> None:
    """Warn where a derivative given with a function of time is not its derivative, at the start or at some later times.

    One that is far off at several times is refused: positions would follow f and velocities something else, which no
    method can do; some crawl, some go on with one of the two. `motions` are labels with functions (f, df, ddf) or
    (f, df), of numbers or of vectors.

    Raises
    ------
    ModelError : names the motion and its derivative.
    """
    motions = list(motions)
    if not motions:
        return
    h = max(min(1e-4, 0.01 * (span[1] - span[0])), 1e3 * float(np.spacing(max(abs(span[0]), abs(span[1])))))
    for label, functions in motions:
        for k, name in enumerate(("df", "ddf")[: len(functions) - 1]):
            f, df = functions[k], functions[k + 1]
            if isinstance(df, Difference) or derivative(f) == df or derivative(functions[0], k + 1) == df:
                continue  # its own, or made from it
            wrong = wrong_slopes(f, df, span, h)
            if wrong:
                of, what = ("f", "Velocities follow df") if k == 0 else ("df", "Accelerations follow ddf")
                t, said, seen = wrong[0]
                fact = f"{label}: {name} gives {said:.6g} at t = {t:.6g}, but {of} changes there at the rate {seen:.6g}"
                gross = sum(abs(x - y) > GROSS * max(abs(x), abs(y)) for _, x, y in wrong)
                if gross > MOST_GROSS:
                    raise ModelError(
                        f"{fact}, and is as wrong at {gross} of {len(sample_times(span))} times. Make it the "
                        f"derivative of {of}, or leave it out."
                    )
                warn(f"{fact}. {what}: make it the derivative of {of}.")
                break


def wrong_slopes(f: Any, df: Any, span: tuple[float, float], h: float) -> list[tuple[float, float, float]]:
    """Sample times at which df is not the slope of f, with what it says and what f does; a fast f is asked closer."""
    try:
        f(span[0])
    except Exception:  # the run itself will say what is wrong with the function
        return []
    found = (wrong_slope(f, df, t, h, t == span[0]) for t in sample_times(span))
    return [told for told in found if told and wrong_slope(f, df, told[0], 1e-3 * h, told[0] == span[0])]


def sample_times(span: tuple[float, float]) -> list[float]:
    """Times at which derivatives are looked at: the start, and some that are no round part of the span."""
    return [span[0] + part * (span[1] - span[0]) for part in (0.0, 0.1373, 0.3819, 0.6180, 0.8571)]


def wrong_slope(f: Any, df: Any, t: float, h: float, first: bool) -> tuple[float, float, float] | None:
    """Time, what df says and what f does, where these differ by more than the error of differences; `first` if f may
    have no value before t."""
    try:
        said = np.atleast_1d(df(t))
        if first:
            at = [np.atleast_1d(f(t + x * h)) for x in (0.0, 0.5, 1.0, 2.0)]
            seen, coarse = (4.0 * at[1] - 3.0 * at[0] - at[2]) / h, (4.0 * at[2] - 3.0 * at[0] - at[3]) / (2.0 * h)
        else:
            at = [np.atleast_1d(f(t + x * h)) for x in (-1.0, -0.5, 0.5, 1.0)]
            seen, coarse = (at[2] - at[1]) / h, (at[3] - at[0]) / (2.0 * h)
        unsure = 3.0 * np.abs(seen - coarse)
        allowed = 1e-5 + 1e-2 * np.maximum(np.abs(seen), np.abs(said)) + unsure  # a slip, not the error of differences
        wrong = np.abs(seen - said) > allowed
    except Exception:  # the run itself will say what is wrong with the function
        return None
    k = int(np.argmax(wrong))
    return (t, float(said[k]), float(seen[k])) if wrong[k] else None


def locked(variant: Variant) -> str:
    """Whether joints leave the bodies no way to move, although nothing drives them; or empty.

    So does a loop of hinges whose axes are not quite parallel. A mechanism that motions drive may well have no other;
    rows by a function of the user may be a motion too. A tree in which nothing moves was welded together on purpose.
    """
    system = variant.system
    if any(isinstance(joint, UserFunctions) for joint in variant.model.joints.values()):
        return ""
    rank = system.m - int(variant.projection.factors[contract.INFO][contract.N_ZERO])
    if not 0 < system.first_state <= rank or driven_functions(variant.model) or moving_markers(system):
        return ""
    if not have_loop(joint for joint in variant.model.joints.values() if joint.name not in variant.open):
        return ""
    return (
        f"simulate: joints leave model '{system.name}' no degree of freedom, and nothing drives it: it cannot move. "
        "A loop locks if an axis or a point of it is slightly off. print(model.check()) counts rows and redundant ones."
    )


def have_loop(joints: Iterable[Joint]) -> bool:
    """Whether joints tie bodies in a loop, two joints between the same two included."""
    group: dict[Body, set[Body]] = {}  # of each body those that it hangs together with
    for joint in joints:
        first, *others = joint.bodies
        mine = group.setdefault(first, {first})
        for other in others:
            if other in mine:
                return True
            mine |= group.get(other, {other})
        group.update(dict.fromkeys(mine, mine))
    return False


def refused_velocities(state: State) -> str:
    """Which velocities that the user gave were changed at the start because joints do not allow them; or empty.

    Rates that were not given follow from the others, and a velocity of zero is often no more than a default.
    """
    system, said = state.system, []
    if not np.count_nonzero(system.v0) or not system.m:
        return ""
    given = system.given_rates
    wanted = np.where(given, system.v0, 0.0)
    if not np.any(wanted) or not system.m:
        return ""
    got = np.where(given, state[s.V], 0.0)
    if np.abs(got - wanted).max() <= 1e-9 * np.abs(wanted).max():  # nothing to look at, as in most runs
        return ""
    _, changed = displacements(system, state[s.Q], got, state[s.Q], wanted)
    _, speeds = displacements(system, state[s.Q], wanted, state[s.Q], np.zeros_like(wanted))
    for name, (line, turn) in changed.items():
        speed, spin = speeds.get(name, (0.0, 0.0))
        lost = [f"{change:.3g} {unit}" for change, whole, unit in ((line, speed, "m/s"), (turn, spin, "rad/s"))
                if change > REFUSED * whole > 0.0]  # fmt: skip
        if lost:
            said.append(f"that of '{name}' by {' and '.join(lost)}")
    if not said:
        return ""
    return (
        f"simulate: joints do not allow the velocities given, and changed {'; '.join(said[:4])}"
        f"{' and others' if len(said) > 4 else ''}. Give velocities that they allow, or leave out those that follow."
    )


def unrepeatable_forces(state: State) -> str:
    """Which users' functions give another force when they are asked twice at the start; or empty."""
    asked = [group.element.label for group in state.system.groups if isinstance(group.element, UserFunctions)]
    if not asked:
        return ""
    before, answers = state.save(), []
    for _ in range(2):
        failed = state.run(evaluate.forces)
        answers.append(state[s.G].copy())
        if failed:
            break
    state.system.take_failures()
    state.restore(before)
    largest = float(np.max(np.abs(answers), initial=0.0))
    if len(answers) < 2 or np.max(np.abs(answers[1] - answers[0]), initial=0.0) <= REPEATED * largest:
        return ""
    names = ", ".join(asked[:4])
    return (
        f"simulate: {'one of ' if len(asked) > 1 else ''}{names} gives another force when called twice at the same "
        "state. Steps are tried several times: let a force depend on its arguments alone. Noise can be drawn before "
        "the run as a TimeTable; what remembers belongs into states or a Controller."
    )
