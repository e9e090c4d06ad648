"""Slow modes of mechanisms whose fastest modes are millions of times faster, from compliance instead of stiffness.

The state matrix A of a steel strip 10 m long and 2 mm thick has entries of 1e14 1/s^2 for the thickness of its sections
and its lowest eigenvalue is 1e-2 1/s^2: nothing is left of that in 16 digits. In the equations of motion bending does
not meet the thickness, so the response to forces, with a shift sigma that makes it exist for free bodies too,

    (K + sigma D + sigma^2 M) dq + Phi_q^T mu = f,    Phi_q dq = 0,

is accurate for modes that are not much faster than sigma. It gives (A - sigma)^-1, whose eigenvalues are
1 / (lambda - sigma). The shift is lowered until only motions are left that nothing holds.

Of a mechanism that moves, or with rows or states of first order, (A - sigma)^-1 is found from A itself (`Resolvent`).
Slow modes are lost there only where the entries of A have lost them: a mass on a spring beside a damper of 1e9 1/s
keeps its vibration, which the eigenvalues of A, exact to a part of the largest one, have not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from index3.methods.state_space.jacobian import Parts, augmented

STEP = 3e-3
"""The shift, as a part of the fastest modes that are taken from it: their squares keep ten digits."""
RESOLVED = 1e-3
"""Eigenvalues below this part of the shift are not told from zero: the root of what rounding leaves of a double one."""
ROUNDING = 1e-15
"""Rounding of an entry of the stiffness matrix, as a part of it."""
UNKNOWN = 2e-8
"""Eigenvalues of A below this part of the terms that they are made of are not told from zero: a free turn of a flexible
rotor has 1e-9 of its terms, a blade in bending beside its sections 2e-7."""
FASTEST = 1e60
"""Stands for an eigenvalue so fast that its response is nothing [1/s]."""
NOTHING = 1e-14
"""Stiffness below this part of the largest is none."""
MOST_SHIFTS = 12


class Compliance:
    """Responses of a mechanism at rest, in the states xi, eta with the basis z of both."""

    def __init__(self, parts: Parts, z: np.ndarray) -> None:
        n = len(parts.mass)
        self.parts, self.z, self.damped = parts, z, bool(parts.damping.any())
        # Released from rest where constraints curve, a displacement changes the accelerations that they ask for.
        curved = np.vstack([np.zeros((n, n)), parts.gamma_q - parts.phia_q])
        drawn = np.linalg.solve(augmented(parts.metric, parts.phi_q), curved)[:n]
        self.stiffness = parts.stiffness + parts.mass @ drawn

    def pairs(self, shift: float) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors of the states from the responses with a shift, those below its resolution as zero."""
        return (damped_pairs if self.damped else undamped_pairs)(self, shift)

    def at(self, shift: float) -> Shifted:
        """The responses for one shift [1/s]; LinAlgError where there are none."""
        p, n = self.parts, len(self.parts.mass)
        matrix = augmented(self.stiffness + shift * p.damping + shift**2 * p.mass, p.phi_q)
        loads = np.hstack([p.mass @ self.z, (p.damping + shift * p.mass) @ self.z])
        loads = np.vstack([loads, np.zeros((len(p.phi_q), loads.shape[1]))])
        found = self.z.T @ p.metric @ np.linalg.solve(matrix, loads)[:n]
        if not np.isfinite(found).all():
            raise np.linalg.LinAlgError("responses that are no numbers")
        return Shifted(shift, *np.hsplit(found, 2))

    def beyond_rounding(self, values: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """True for eigenvalues that rounding of the stiffness could not have made of zero; `xi` are their columns."""
        mass, damping, terms = self.forms(xi)
        size = np.abs(values)
        return size * (size * mass + damping) > ROUNDING * terms

    def count_zeros(self) -> int:
        """How many eigenvalues are zero: motions that nothing holds, and their speeds where nothing damps them."""
        basis, _ = np.linalg.qr(self.z)  # forces for unit changes: here thick and thin do not differ as by mass
        free = null_space(basis.T @ self.stiffness @ basis)
        if not self.damped:
            return free.shape[1]
        damping = basis.T @ self.parts.damping @ basis
        slowed = np.linalg.svd(free.T @ damping @ free, compute_uv=False)
        return free.shape[1] + int(np.sum(slowed <= NOTHING * np.linalg.norm(damping, 2)))

    def forms(self, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x^T M x, x^T D x and the sum of the sizes of the terms of x^T K x, for columns of displacements."""
        x = self.z @ xi
        mass, damping = (
            np.abs(np.einsum("ik,ik->k", x.conj(), matrix @ x)) for matrix in (self.parts.mass, self.parts.damping)
        )
        return mass, damping, np.einsum("ik,ik->k", np.abs(x), np.abs(self.stiffness) @ np.abs(x))


class Resolvent:
    """(A - shift)^-1 of a state matrix of which nothing is at zero."""

    def __init__(self, matrix: np.ndarray, terms: np.ndarray, limit: float) -> None:
        self.matrix, self.terms, self.limit = matrix, terms, limit

    def pairs(self, shift: float) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors, those as zero that the shift does not resolve or that A does not know."""
        values, vectors, held = self.shifted(shift)
        small = np.abs(values) <= shift / STEP
        return np.where(small & ~(held & (np.abs(values) > RESOLVED * shift)), 0.0, values), vectors

    def shifted(self, shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Eigenvalues and vectors, and whether A knows them from zero."""
        import scipy.linalg

        inverse = np.linalg.inv(self.matrix - shift * np.eye(len(self.matrix)))
        values, left, right = scipy.linalg.eig(inverse, left=True)
        values = unshifted(shift, values)
        made_of = np.einsum("ik,ik->k", np.abs(left), self.terms @ np.abs(right))
        apart = np.abs(np.einsum("ik,ik->k", left.conj(), right))  # next to nothing where several are at one place
        return values, right, np.abs(values) * apart > UNKNOWN * made_of

    def count_zeros(self) -> int:
        """How many eigenvalues are not told from zero with whatever shift."""
        values, _, held = self.shifted(STEP * self.limit)
        return int(np.sum(~held & (np.abs(values) <= self.limit)))


def unshifted(shift: float, inverse: np.ndarray) -> np.ndarray:
    """Eigenvalues of a matrix from those of (matrix - shift)^-1, where zero as something faster than all."""
    return shift + 1.0 / np.where(inverse == 0.0, 1.0 / FASTEST, inverse)


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Columns that a matrix makes nothing of, but for rounding."""
    _, values, right = np.linalg.svd(matrix)
    return right[values <= NOTHING * values.max(initial=0.0)].T


class Shifted(NamedTuple):
    """Displacements xi for unit accelerations eta' and unit rates xi' left over, both with the opposite sign."""

    shift: float
    by_acceleration: np.ndarray
    by_rate: np.ndarray

    def inverse(self) -> np.ndarray:
        """(A - shift)^-1."""
        by_a, by_v = -self.by_acceleration, -self.by_rate
        return np.block([[by_v, by_a], [np.eye(len(by_v)) + self.shift * by_v, self.shift * by_a]])


def slow_pairs(source: Compliance | Resolvent, limit: float) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues up to the limit (of a compliance, those with non-negative imaginary part), and their vectors."""
    values, vectors, zeros = [], [], source.count_zeros()
    for _ in range(MOST_SHIFTS):
        shift = STEP * limit
        found, columns = source.pairs(shift)
        rest = np.abs(found) <= limit
        found, columns = found[rest], columns[:, rest]
        if np.sum(found == 0.0) <= zeros:
            break
        quick = np.abs(found) > shift
        values.append(found[quick])
        vectors.append(columns[:, quick])
        limit = shift
    return np.concatenate([*values, found]), np.hstack([*vectors, columns])


def undamped_pairs(compliance: Compliance, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues and vectors from the responses with a shift, those below its resolution as zero."""
    inverse, columns = symmetric_pairs(compliance.at(shift).by_acceleration)
    squares = shift**2 - 1.0 / inverse
    held = compliance.beyond_rounding(np.sqrt(np.abs(squares)), columns)
    return roots_of(np.where(held & (np.abs(squares) > (RESOLVED * shift) ** 2), squares, 0.0), columns)


def damped_pairs(compliance: Compliance, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """The same with damping."""
    import scipy.linalg

    inverse, columns = scipy.linalg.eig(compliance.at(shift).inverse())
    values = unshifted(shift, inverse)
    held = compliance.beyond_rounding(values, columns[: len(columns) // 2])
    values = np.where(held & (np.abs(values) > RESOLVED * shift), values, 0.0)
    upper = values.imag >= 0.0
    return values[upper], columns[:, upper]


def symmetric_pairs(matrix: np.ndarray, tolerance: float = 1e-10) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of a matrix that is symmetric within the tolerance, as a part of its largest entry."""
    import scipy.linalg

    if np.abs(matrix - matrix.T).max(initial=0.0) <= tolerance * np.abs(matrix).max(initial=0.0):
        return scipy.linalg.eigh(0.5 * (matrix + matrix.T))
    return scipy.linalg.eig(matrix)


def roots_of(squares: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of the states xi, xi' whose squares and vectors of xi these are."""
    roots = np.sqrt(squares.astype(complex))
    roots = np.where(roots.imag < 0.0, -roots, roots)
    decays = (roots.imag == 0.0) & (roots.real > 0.0)  # what grows in one way decays in the other
    roots, vectors = np.concatenate([roots, -roots[decays]]), np.hstack([vectors, vectors[:, decays]])
    return roots, np.vstack([vectors, vectors * roots])
