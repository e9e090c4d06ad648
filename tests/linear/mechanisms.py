"""Random mechanisms and their saddle-point matrices [H P^T; P 0], built from rigid-body twists.

Rows are W (twist_j - twist_i) at one point, so a rigid motion of both bodies leaves them satisfied, as real joints do;
matrices with random rows would not have the property that the forest rule of the order relies on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from index3.linear import contract
from index3.linear.solver import Bordered, Solver

GROUND = -1
AXES = np.eye(3)


def zero_rows(solver: Solver) -> np.ndarray:
    """Scalars that the last factorisation left out: redundant rows."""
    return np.flatnonzero(solver.own[contract.ZERO])


@dataclass
class Matrix:
    """What the solver is told: pattern, values, graph and the rows to augment with."""

    n: int
    m: int
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    node_of_scalar: np.ndarray
    n_bodies: int
    joint_bodies: list[list[int]]
    augmentation: list[tuple[int, float]]

    def given(self) -> Bordered:
        """What a solver is given of it."""
        return Bordered(
            self.n, self.m, self.indptr, self.indices, self.node_of_scalar, self.n_bodies, self.joint_bodies,
            self.augmentation,
        )  # fmt: skip

    def dense(self) -> np.ndarray:
        """The matrix as a full array."""
        full = np.zeros((self.n + self.m,) * 2, self.values.dtype)
        full[self.indices, np.repeat(np.arange(self.n + self.m), np.diff(self.indptr))] = self.values
        return full

    def constraint_rows(self) -> np.ndarray:
        """P, one row for each multiplier."""
        return self.dense()[self.n :, : self.n]


def skew(s: np.ndarray) -> np.ndarray:
    """The matrix of s x ."""
    return np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])


def rate_matrix(p: np.ndarray) -> np.ndarray:
    """2 E(p): angular velocity in ground axes from the rates of the Euler parameters."""
    return 2 * np.column_stack([-p[1:], p[0] * np.eye(3) + skew(p[1:])])


@dataclass
class Mechanism:
    """Bodies and joints in a fixed position; `matrix()` gives their equations for the accelerations."""

    rng: np.random.Generator
    positions: list[np.ndarray] = field(default_factory=list)
    twists: list[np.ndarray] = field(default_factory=list)  # per body (6, coordinates): rates to twist at its origin
    masses: list[np.ndarray] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)  # of the normalisation row; 0 for planar bodies
    parameters: list[np.ndarray] = field(default_factory=list)
    joints: list[tuple[list[int], list[np.ndarray]]] = field(default_factory=list)  # bodies, one block of rows for each

    def spatial(self, position, mass=1.0, inertia=(0.1, 0.12, 0.15)) -> int:
        """Add a body with seven coordinates in a random orientation; returns its number."""
        p = self.rng.normal(size=4)
        p /= np.linalg.norm(p)
        rates = rate_matrix(p)
        twist = np.zeros((6, 7))
        twist[:3, :3], twist[3:, 3:] = np.eye(3), rates
        axes = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        inertia = mass * axes @ np.diag(inertia) @ axes.T
        block = np.zeros((7, 7))
        block[:3, :3], block[3:, 3:] = mass * np.eye(3), rates.T @ inertia @ rates
        return self._add(position, twist, block, p, 4 * np.trace(inertia) / 3)

    def planar(self, position, mass=1.0, inertia=0.1) -> int:
        """Add a body with three coordinates in the x-y plane; returns its number."""
        twist = np.zeros((6, 3))
        twist[[0, 1, 5], [0, 1, 2]] = 1.0
        position = np.array([position[0], position[1], 0.0])
        return self._add(position, twist, np.diag([mass, mass, mass * inertia]), np.empty(0), 0.0)

    def _add(self, position, twist, block, p, weight) -> int:
        self.positions.append(np.asarray(position, float))
        self.twists.append(twist)
        self.masses.append(block)
        self.parameters.append(p)
        self.weights.append(weight)
        return len(self.positions) - 1

    def at(self, body: int, point) -> np.ndarray:
        """Rates of a body to the twist at a point of it, (6, coordinates)."""
        twist = self.twists[body].copy()
        twist[:3] -= skew(np.asarray(point, float) - self.positions[body]) @ twist[3:]
        return twist

    def rows(self, bodies: list[int], blocks: list[np.ndarray]) -> int:
        """Add rows given by one block for each body, ground excepted; returns the joint's number."""
        self.joints.append((bodies, blocks))
        return len(self.joints) - 1

    def joint(self, i: int, j: int, point, directions: np.ndarray) -> int:
        """Add the rows directions (twist_j - twist_i); returns the joint's number."""
        blocks = [sign * directions @ self.at(body, point) for sign, body in ((-1.0, i), (1.0, j)) if body != GROUND]
        return self.rows([i, j], blocks)

    def planar_joint(self, i: int, j: int, point) -> int:
        """A pin between planar bodies: the two rows in the plane."""
        return self.joint(i, j, point, np.eye(6)[:2])

    def spherical(self, i: int, j: int, point) -> int:
        """Coincident points."""
        return self.joint(i, j, point, np.eye(6)[:3])

    def revolute(self, i: int, j: int, point, axis) -> int:
        """Coincident points and two forbidden rotations."""
        return self.joint(i, j, point, revolute_directions(axis))

    def universal(self, i: int, j: int, point, axis) -> int:
        """Coincident points and one forbidden rotation."""
        return self.joint(i, j, point, np.vstack([np.eye(6)[:3], np.r_[np.zeros(3), axis]]))

    def repeat(self, joint: int) -> int:
        """Add a joint's rows once more: all of them redundant."""
        bodies, blocks = self.joints[joint]
        return self.rows(list(bodies), [block.copy() for block in blocks])

    def append_combination(self, joint: int) -> None:
        """Give a joint one more row, a combination of those it has."""
        _, blocks = self.joints[joint]
        factors = self.rng.normal(size=len(blocks[0]))
        for k, block in enumerate(blocks):
            blocks[k] = np.vstack([block, factors @ block])

    def gear(self, i: int, j: int, k: int, ratio: float) -> int:
        """One row on three bodies: (twist_j - twist_i) and (twist_k - twist_i) about an axis in proportion."""
        axis = np.r_[np.zeros(3), self.rng.normal(size=3)]
        blocks = [f * axis[None] @ self.twists[b] for f, b in ((-1 - ratio, i), (1.0, j), (ratio, k)) if b != GROUND]
        return self.rows([i, j, k], blocks)

    def matrix(self, stiffness=0.0, unsymmetric=0.0, full_coupling=False) -> Matrix:
        """The matrix with bodies joined by a joint coupled in H (stiffness relative to the mass, random)."""
        return _Assembly(self).matrix(stiffness, unsymmetric, full_coupling)


def revolute_directions(axis) -> np.ndarray:
    """The five directions that a revolute joint forbids."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    u = np.cross(axis, AXES[np.argmin(abs(axis))])
    u /= np.linalg.norm(u)
    directions = np.zeros((5, 6))
    directions[:3, :3] = np.eye(3)
    directions[3, 3:], directions[4, 3:] = u, np.cross(axis, u)
    return directions


class _Assembly:
    """Collects entries (row, column, value) of the matrix; rows of normalisation precede those of joints."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        widths = [block.shape[0] for block in mechanism.masses]
        self.first = np.concatenate(([0], np.cumsum(widths)))
        self.n = int(self.first[-1])
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.row = self.n

    def coordinates(self, body: int) -> np.ndarray:
        """Numbers of a body's coordinates."""
        return np.arange(self.first[body], self.first[body + 1])

    def put(self, rows, columns, block, mask=None) -> None:
        """Add a block; `mask` marks the entries that belong to the pattern (all if None)."""
        rows, columns = np.meshgrid(rows, columns, indexing="ij")
        keep = np.ones(rows.shape, bool) if mask is None else mask
        self.entries.append((rows[keep], columns[keep], np.broadcast_to(block, rows.shape)[keep]))

    def put_rows(self, body: int, rows: np.ndarray, block: np.ndarray) -> None:
        """Add a block of P and its transpose."""
        columns, mask = self.coordinates(body), block != 0
        self.put(rows, columns, block, mask)
        self.put(columns, rows, block.T, mask.T)

    def matrix(self, stiffness: float, unsymmetric: float, full_coupling: bool) -> Matrix:
        """Assemble bodies, then joints."""
        mech, nodes = self.mechanism, []
        augmentation = []
        for b, block in enumerate(mech.masses):
            c = self.coordinates(b)
            self.put(c, c, block, np.ones(block.shape, bool) if full_coupling else block != 0)
            nodes += [b] * len(c)
        for b, weight in enumerate(mech.weights):
            if weight:
                self.put_rows(b, np.array([self.row]), np.r_[np.zeros(3), mech.parameters[b]][None])
                augmentation.append((self.row, weight))
                nodes.append(b)
                self.row += 1
        n_bodies = len(mech.masses)
        for k, (bodies, blocks) in enumerate(mech.joints):
            rows = np.arange(self.row, self.row + blocks[0].shape[0])
            moving = [b for b in bodies if b != GROUND]
            for b, block in zip(moving, blocks, strict=True):
                self.put_rows(b, rows, block)
            self.couple(moving, stiffness, unsymmetric, full_coupling)
            nodes += [n_bodies + k] * len(rows)
            self.row += len(rows)
        joint_bodies = [self.touched(bodies) for bodies, _ in mech.joints]
        return self.compress(np.array(nodes), n_bodies, joint_bodies, augmentation)

    def touched(self, bodies: list[int]) -> list[int]:
        """The bodies of a joint; with ground if they are of both kinds, which share no spatial rigid motion."""
        widths = {self.mechanism.masses[b].shape[0] for b in bodies if b != GROUND}
        return sorted({*bodies, GROUND}) if len(widths) > 1 else list(bodies)

    def couple(self, bodies: list[int], stiffness: float, unsymmetric: float, full: bool) -> None:
        """Add a small stiffness between bodies; unless `full`, only between their rotations, as real joints do."""
        mech = self.mechanism
        scales = [np.sqrt(abs(np.diag(mech.masses[b]))) for b in bodies]
        numbers = [self.coordinates(b) for b in bodies]
        if not full:
            skip = [2 if len(c) == 3 else 3 for c in numbers]
            numbers = [c[s:] for c, s in zip(numbers, skip, strict=True)]
            scales = [x[s:] for x, s in zip(scales, skip, strict=True)]
        c, scale = np.concatenate(numbers), np.concatenate(scales)
        square = mech.rng.normal(size=(len(c), len(c)))
        block = stiffness * (square @ square.T) / len(c) + unsymmetric * mech.rng.normal(size=square.shape)
        self.put(c, c, block * np.outer(scale, scale))

    def compress(self, nodes, n_bodies, joint_bodies, augmentation) -> Matrix:
        """Sum duplicates into columns; the diagonal is always present."""
        size = self.row
        diagonal = np.arange(size)
        rows = np.concatenate([e[0] for e in self.entries] + [diagonal])
        columns = np.concatenate([e[1] for e in self.entries] + [diagonal])
        values = np.concatenate([e[2] for e in self.entries] + [np.zeros(size)])
        keys, place = np.unique(columns * size + rows, return_inverse=True)
        indptr = np.searchsorted(keys, np.arange(size + 1) * size)
        summed = np.bincount(place, values, minlength=len(keys))
        return Matrix(self.n, size - self.n, indptr, keys % size, summed, nodes, n_bodies, joint_bodies, augmentation)


def chain(links: int, rng: np.random.Generator) -> Mechanism:
    """Spatial links in a row, tilted revolutes, the first held by ground: 13 scalars for each link."""
    mech = Mechanism(rng)
    for k in range(links):
        mech.spatial((k + 0.5, 0.0, 0.0))
        tilt = 0.5 if k % 2 else -0.5
        mech.revolute(k - 1, k, (k, 0.0, 0.0), (0.0, np.sin(tilt), np.cos(tilt)))
    return mech


def four_bars(loops: int, rng: np.random.Generator, angle=1.1) -> Mechanism:
    """Loops of spatial rods with parallel revolutes side by side: 3 redundant rows for each loop."""
    mech, z = Mechanism(rng), (0.0, 0.0, 1.0)
    tip = np.array([np.cos(angle), np.sin(angle), 0.0])
    feet = [np.array([k, 0.0, 0.0]) for k in range(loops + 1)]
    rods = [mech.spatial(foot + 0.5 * tip) for foot in feet]
    for foot, rod in zip(feet, rods, strict=True):
        mech.revolute(GROUND, rod, foot, z)
    for k in range(loops):
        coupler = mech.spatial(feet[k] + (0.5, 0.0, 0.0) + tip)
        mech.revolute(rods[k], coupler, feet[k] + tip, z)
        mech.revolute(rods[k + 1], coupler, feet[k + 1] + tip, z)
    return mech


def lattice(shape: tuple[int, ...], rng: np.random.Generator, planar=False) -> Mechanism:
    """Bodies on a grid, each pinned to its neighbours; the first held by ground."""
    mech = Mechanism(rng)
    cells = {cell: k for k, cell in enumerate(np.ndindex(*shape))}
    for cell in cells:
        centre = np.r_[cell, np.zeros(3 - len(cell))] + 0.2 * rng.normal(size=3)
        mass = 10.0 ** rng.uniform(-1, 1)
        mech.planar(centre, mass) if planar else mech.spatial(centre, mass)
    pin = mech.planar_joint if planar else mech.spherical
    pin(GROUND, 0, rng.normal(size=3) * (1, 1, 0))
    for cell, k in cells.items():
        for axis in range(len(shape)):
            other = (*cell[:axis], cell[axis] + 1, *cell[axis + 1 :])
            if other in cells and (axis == 0 or rng.random() < 0.35):  # all of them would leave nothing to move
                middle = 0.5 * (mech.positions[k] + mech.positions[cells[other]])
                pin(k, cells[other], middle)
    return mech


def random_mechanism(rng: np.random.Generator) -> Mechanism:
    """Bodies of both kinds in a random tree with loops, masses apart by up to 100, some rows redundant or dependent."""
    mech = Mechanism(rng)
    parallel = rng.random() < 0.3
    n_bodies = int(rng.integers(2, 9))
    kinds = ["planar" if rng.random() < 0.3 else "spatial" for _ in range(n_bodies)]
    for kind in kinds:
        getattr(mech, kind)(2 * rng.normal(size=3), mass=10.0 ** rng.uniform(-1, 1))
    z = np.array([0.0, 0.0, 1.0])
    grounded = rng.random() < 0.8
    for b in range(n_bodies):
        parent = int(rng.integers(-1 if grounded else 0, b)) if b > (0 if grounded else 1) else GROUND
        if parent != GROUND or grounded:
            _random_joint(mech, kinds, parent, b, z if parallel else rng.normal(size=3))
    for _ in range(int(rng.integers(0, 3))):
        i, j = sorted(rng.choice(np.arange(-1 if grounded else 0, n_bodies), 2, replace=False).tolist())
        _random_joint(mech, kinds, i, j, z if parallel else rng.normal(size=3))
    _random_extras(mech, rng, n_bodies)
    return mech


def _random_joint(mech: Mechanism, kinds: list[str], i: int, j: int, axis) -> None:
    """One joint that suits the kinds of its two bodies (ground suits both)."""
    planar = [b != GROUND and kinds[b] == "planar" for b in (i, j)]
    point = mech.rng.normal(size=3) * (1, 1, not any(planar))
    if all(p or b == GROUND for p, b in zip(planar, (i, j), strict=True)):
        mech.planar_joint(i, j, point)
    elif any(planar):
        mech.spherical(i, j, point)
    else:
        choice = mech.rng.random()
        if choice < 0.6:
            mech.revolute(i, j, point, axis)
        elif choice < 0.8:
            mech.universal(i, j, point, mech.rng.normal(size=3))
        else:
            mech.spherical(i, j, point)


def _random_extras(mech: Mechanism, rng: np.random.Generator, n_bodies: int) -> None:
    """Now and then: a joint twice, a dependent row, a row on three bodies, a driven coordinate."""
    if mech.joints and rng.random() < 0.25:
        mech.repeat(int(rng.integers(len(mech.joints))))
    if mech.joints and rng.random() < 0.25:
        mech.append_combination(int(rng.integers(len(mech.joints))))
    if n_bodies >= 3 and rng.random() < 0.3:
        mech.gear(*rng.choice(n_bodies, 3, replace=False).tolist(), ratio=2.0)
    if rng.random() < 0.3:
        body = int(rng.integers(n_bodies))
        row = np.zeros((1, mech.masses[body].shape[0]))
        row[0, rng.integers(2)] = 1.0
        mech.rows([body], [row])
