"""Modes of a linearised model: eigenvalues, shapes by body, and their motion as a result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from index3.analysis.instants import deflections, extent, movement, snapshots
from index3.analysis.slow_modes import UNKNOWN, Compliance, Resolvent, roots_of, slow_pairs, symmetric_pairs
from index3.compiled import slots as s
from index3.engine.equations import Equations
from index3.engine.layout import describe
from index3.model.model import Model
from index3.results.applied import ModelOfRun
from index3.results.result import Result
from index3.system import evaluate
from index3.system.system import System

PAIRED = 1e-10
"""Damping below this part of the largest entry of A is none: the modes then come from a symmetric problem."""
STILL = 3e-7
"""Eigenvalues below this part of the largest one are zero: what is left of a motion that nothing holds."""

SLOW = 1e-4
"""Modes below this part of the fastest are taken from the compliance if some are below a tenth of it: A has lost eight
digits of their squares to the fastest, and the response to a force has not."""

NULL = 1e-12
"""Singular values of a balanced matrix below this part of the terms that they are made of are zero: rounding of an
entry of A is below 1e-13."""
NOISE = 1e-14
"""Entries of A below this part of others are rounding: they come from solutions of linear equations."""
UNSEEN = 1e-9
"""Movement of what is looked at below this part of the change of coordinates is rounding: the section of a beam that
grows thicker and thinner moves no point of its axis."""


@dataclass
class Mode:
    """One mode of a linearised model.

    Attributes
    ----------
    eigenvalue : complex [1/s]
    frequency : |eigenvalue| [rad/s]
    damping : damping ratio, -Re / |eigenvalue|
    shape : (n,) complex change of the coordinates; the largest displacement or turn of a body, or displacement of a
        point of one that deforms, is 1
    bodies : body name -> (6,) complex: displacement of its origin and turn, ground axes
    words : the body that moves most and how
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: np.ndarray = field(repr=False)
    bodies: dict[str, np.ndarray] = field(repr=False)
    words: str


def eigenpairs(A: np.ndarray, places: int, compliance: Compliance | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues with non-negative imaginary part and their vectors, columns.

    Of an undamped system the squares are found: a motion that nothing holds is then one 0, not a rounded double root.
    Slow modes that A has lost beside fast ones come from the `compliance`.
    """
    plain = is_undamped(A) and not (compliance is not None and compliance.damped)
    values, vectors = square_pairs(A) if plain else state_pairs(A, places)
    fastest = np.abs(values).max(initial=0.0)
    if compliance is None or np.abs(values).min(initial=np.inf) >= 0.1 * SLOW * fastest:
        return values, vectors
    try:
        slow, columns = slow_pairs(compliance, SLOW * fastest)
    except np.linalg.LinAlgError:
        return values, vectors
    fast = np.abs(values) > SLOW * fastest  # both sides know the modes near this limit to eight digits
    return np.concatenate([slow, values[fast]]), np.hstack([columns, vectors[:, fast]])


def is_undamped(A: np.ndarray) -> bool:
    """If A is [0 1; B 0]: xi'' = B xi."""
    half = len(A) // 2
    plain = len(A) == 2 * half and np.array_equal(np.round(A[:half, half:], 9), np.eye(half))
    size = np.abs(A).max(initial=0.0)
    quiet = plain and np.abs(A[half:, half:]).max(initial=0.0) <= PAIRED * size
    return quiet and not np.abs(A[:half, :half]).max() > 1e-9


def square_pairs(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of an undamped system, from those of their squares."""
    half = len(A) // 2
    values, vectors = symmetric_pairs(A[half:, :half], PAIRED)
    values = np.where(np.abs(values) <= STILL**2 * np.abs(values).max(initial=0.0), 0.0, values)
    return roots_of(values, vectors)


def state_pairs(A: np.ndarray, places: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of any A."""
    values, vectors = deflated(A, places)
    keep = values.imag >= 0.0
    return values[keep], vectors[:, keep]


def deflated(A: np.ndarray, places: int) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues and vectors; those at zero are split off first.

    A wheel that rolls has a place, a heading and a speed that nothing holds: a zero of multiplicity three or more,
    which rounding would spread over a circle. With an orthonormal basis of the null space in front, A becomes
    [0 B; 0 C]; the same again for C, until nothing is left at zero.
    """
    import scipy.linalg

    n = len(A)
    balanced, scale = scipy.linalg.matrix_balance(cleaned(A, places), permute=False)
    basis, zeros = np.eye(n), 0
    whole, terms, rounding = balanced, np.abs(balanced), 0.0
    while zeros < n:
        left, values, right = np.linalg.svd(whole[zeros:, zeros:])
        made_of = np.einsum("ik,ik->k", np.abs(left), terms[zeros:, zeros:] @ np.abs(right.T))
        found = int(np.sum(values <= NULL * made_of + rounding))
        if not found:
            break
        basis[:, zeros:] = basis[:, zeros:] @ right[::-1].T  # the smallest singular value first
        whole, terms = basis.T @ balanced @ basis, np.abs(basis.T) @ np.abs(balanced) @ np.abs(basis)
        rounding = 4.0 * np.finfo(float).eps * np.linalg.norm(balanced, 2)  # of these products
        zeros += found
    values, inner = slow_and_fast(whole[zeros:, zeros:], terms[zeros:, zeros:] + 200.0 * rounding / UNKNOWN)
    nilpotent, coupling = np.triu(whole[:zeros, :zeros], 1), whole[:zeros, zeros:]
    vectors = np.eye(n, dtype=complex)
    vectors[zeros:, zeros:] = inner
    for k, value in enumerate(values):
        if value != 0.0:
            vectors[:zeros, zeros + k] = np.linalg.solve(value * np.eye(zeros) - nilpotent, coupling @ inner[:, k])
    vectors = scale @ basis @ vectors
    return np.concatenate([np.zeros(zeros), values]), vectors / np.linalg.norm(vectors, axis=0)


def cleaned(A: np.ndarray, places: int) -> np.ndarray:
    """A without entries that are rounding of others in their row; balancing would blow them up.

    Responses to displacements (the first columns) and to rates have their own sizes.
    """
    kept = A.copy()
    for part in (kept[:, :places], kept[:, places:]):
        sizes = np.abs(part)
        part[sizes <= NOISE * sizes.max(axis=1, initial=0.0, keepdims=True)] = 0.0
    return kept


def slow_and_fast(A: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues and vectors; slow ones beside very fast ones come from an inverse of A.

    `terms` are the sizes of what the entries of A are made of. By A itself eigenvalues are exact to a part of the
    largest one: a damper of 1e9 1/s hid the vibrations of all other bodies.
    """
    import scipy.linalg

    values, vectors = scipy.linalg.eig(A)
    fastest = np.abs(values).max(initial=0.0)
    if np.all(np.abs(values) > 0.1 * SLOW * fastest):
        return values, vectors
    fast = np.abs(values) > SLOW * fastest
    try:
        slow, columns = slow_pairs(Resolvent(A, terms, SLOW * fastest), SLOW * fastest)
    except np.linalg.LinAlgError:
        slow = np.zeros(0)
    if len(slow) + np.count_nonzero(fast) != len(A):
        return np.where(np.abs(values) <= STILL * fastest, 0.0, values), vectors
    return np.concatenate([slow, values[fast]]), np.hstack([columns, vectors[:, fast]])


def find_modes(
    model: Model,
    system: System,
    q: np.ndarray,
    A: np.ndarray,
    places: int,
    displacement: np.ndarray,
    compliance: Compliance | None,
) -> list[Mode]:
    """The modes of x' = A x by rising frequency; `displacement` (n, states) turns x into changes of q.

    The first of the states, as many as `places`, are displacements.
    """
    if not len(A):
        return []
    values, vectors = eigenpairs(A, places, compliance)
    order = np.argsort(np.abs(values), kind="stable")
    values, shapes = values[order], displacement @ vectors[:, order]
    count = len(values)
    lines = np.concatenate([shapes.real.T, shapes.imag.T])
    result = snapshots(model, system, np.tile(q, (2 * count, 1)), lines)
    twists = {
        body.name: np.hstack([result[body.name].velocity, result[body.name].angular_velocity])
        for body in model.bodies.values()
    }
    bent = {name: (r, x[:count] + 1j * x[count:]) for name, (r, x) in deflections(system, q, lines).items()}
    origins = {name: result[name].position[0] for name in bent}
    modes = []
    for k, value in enumerate(values):
        bodies = {name: x[k] + 1j * x[count + k] for name, x in twists.items()}
        points = [np.abs(x[k]).max() for _, x in bent.values()]
        largest = max([np.abs(x).max() for x in bodies.values()] + points, default=0.0)
        whole = np.abs(shapes[:, k]).max(initial=0.0)
        largest = largest if largest > UNSEEN * whole else whole or 1.0
        size = float(abs(value))
        damping = 0.0 - float(value.real) / size if size else 0.0
        shares = {name: x / largest for name, x in bodies.items()}
        moved = {name: x[k] for name, (_, x) in bent.items()}
        arms = {name: r - origins[name] for name, (r, _) in bent.items()}
        words = describe_bending(bodies, moved, arms) or describe_shape(bodies)
        modes.append(Mode(complex(value), size, damping, shapes[:, k] / largest, shares, words))
    return modes


def describe_bending(bodies: dict[str, np.ndarray], bent: dict[str, np.ndarray], arms: dict[str, np.ndarray]) -> str:
    """The body that deforms most, if some point of it moves more by that than all bodies as a whole; else nothing.

    `bent` (k, 3) is how the sections move, `arms` (k, 3) where they are from the body's origin.
    """
    own = {name: x - bodies[name][:3] - np.cross(bodies[name][3:], arms[name]) for name, x in bent.items() if len(x)}
    if not own:
        return ""
    name = max(own, key=lambda key: float(np.abs(own[key]).max()))
    size = float(np.abs(own[name]).max())
    if size <= max(float(np.abs(x).max()) for x in bodies.values()):
        return ""
    return f"{name}: deforms along {'xyz'[int(np.argmax(np.abs(own[name]).max(axis=0)))]}"


def describe_shape(bodies: dict[str, np.ndarray]) -> str:
    """The body that moves most, and the component."""
    if not any(np.abs(x).max() > 0.0 for x in bodies.values()):
        return "states alone"
    name = max(bodies, key=lambda key: float(np.abs(bodies[key]).max()))
    k = int(np.argmax(np.abs(bodies[name])))
    return f"{name}: {'shift along' if k < 3 else 'turn about'} {'xyz'[k % 3]}"


def mode_result(
    model: Model, t: float, q: np.ndarray, mode: Mode, number: int, amplitude: float, periods: float, frames: int
) -> Result:
    """A few periods of a mode, its positions closed, as a result that plots and plays."""
    equations = Equations(model, "linearize")
    system, state = equations.system, equations.state
    state.move(t, q, np.zeros(system.n))
    state.run(evaluate.poses)
    parts = np.array([mode.shape.real, mode.shape.imag])
    bent = [
        np.abs(x).max() / max(extent(state), np.ptp(r, axis=0).max()) for r, x in deflections(system, q, parts).values()
    ]
    size = max([*(movement(state, part) for part in parts), *bent])
    whole = np.abs(mode.shape).max(initial=0.0)
    size = size if size > UNSEEN * whole else whole or 1.0
    rate = abs(mode.eigenvalue.imag) or mode.frequency or 2.0 * np.pi
    times = np.linspace(0.0, periods * 2.0 * np.pi / rate, round(periods * frames) + 1)
    turning = np.exp(1j * rate * times)[:, None] * (amplitude / size * mode.shape)
    lines = q + turning.real
    zero = np.zeros((len(times), system.n))
    rates = (1j * rate * turning).real
    angle = np.tile(state[s.ANGLE_REF], (len(times), 1))
    block = equations.projection.project_block(
        np.full(len(times), t), lines, rates, zero, np.zeros((len(times), system.m)), angle, project=True
    )
    words = f"Mode of {mode.frequency:.6g} rad/s, damping ratio {mode.damping:.4g}."
    info = {"method": f"mode {number}, {mode.frequency / (2.0 * np.pi):.4g} Hz", "message": words}
    result = Result(describe(model, system), block | {"t": times}, info)
    result.source = ModelOfRun(model)
    return result
