"""A bench for force kernels: markers at random poses and velocities, no bodies, no System."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
import pytest

import index3 as ix
from index3.compiled import slots as s
from index3.compiled.interface import Table
from index3.constraints.user_block import moving_components

STEP = 1e-6


@dataclass
class BenchPlace:
    """Where an element stands on the bench."""

    bench: Bench
    markers: tuple[int, ...]
    stiffness: int
    group: int

    def function(self, f, df, ddf):
        self.bench.functions.append((f, df, ddf))
        return len(self.bench.functions) - 1

    def angle(self, joint):
        return 0

    def coordinate_zero(self, joint, coordinate):
        return self.bench.zero


@dataclass
class Bench:
    """Elements of one kind on their own markers: the k-th element gets the next markers in turn."""

    elements: list
    seed: int = 1
    zero: float = 0.0
    near: float = 0.0
    functions: list = field(default_factory=list)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        counts = [len(element.markers) for element in self.elements]
        n, size = sum(counts), sum(36 * count**2 for count in counts)
        self.table = Table(s.SIZE)
        turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(n)]
        self.table[s.MARKER_R] = rng.normal(size=(n, 3))
        self.table[s.MARKER_A] = np.array([A * np.linalg.det(A) for A in turns]).reshape(n, 9)
        self.table[s.MARKER_V] = rng.normal(size=(n, 6))
        self.table[s.MARKER_F] = np.zeros((n, 6))
        self.table[s.GROUP_K], self.table[s.GROUP_D] = np.zeros(size), np.zeros(size)
        self.table[s.ENERGY], self.table[s.TIME] = np.zeros(3), np.array([0.7])
        self.table[s.ANGLE_REF], self.table[s.STATUS] = np.array([self.near]), np.zeros(s.STATUS_SIZE, np.int64)
        self.places, marker, stiffness = [], 0, 0
        self.table[s.COEF] = np.ones(6)  # a matrix with a place for all derivatives
        self.table[s.MARKERS] = np.ones(n, s.MARKER)  # all of them move
        self.table[s.GROUPS] = np.zeros(len(counts), s.GROUP)
        self.table[s.GROUP_APART] = np.zeros(len(counts), np.int64)
        for k, count in enumerate(counts):
            self.places.append(BenchPlace(self, tuple(range(marker, marker + count)), stiffness, k))
            marker, stiffness = marker + count, stiffness + 36 * count**2
        self.module = import_module(self.elements[0].kind)
        self.own = self.module.table(self.elements, self.places)
        self.fill_functions()

    def __getitem__(self, slot):
        return self.table[slot]

    def fill_functions(self):
        """Values of the registered functions at the bench's time."""
        t = self.table[s.TIME][0]
        self.table[s.FUNCTION_VALUES] = np.array([[g(t) for g in row] for row in self.functions]).reshape(-1, 3)

    def run(self, stage: str) -> int:
        """Run one kernel of the kind."""
        return self.module.STAGES[stage](self.table.handle, self.own.handle)

    def explain(self, k: int, stage: str, t: float) -> str:
        """What is wrong with the k-th element, as a system would say it."""
        return self.own.explain(self.elements[k], k, t) or self.elements[k].explain(stage, t)

    def forces(self) -> np.ndarray:
        """Wrenches on all markers."""
        self[s.MARKER_F][:] = 0.0
        assert self.run("forces") == 0
        return self[s.MARKER_F].copy()

    def energies(self) -> tuple[float, float]:
        """Potential energy and power; after `forces` at the same point."""
        self[s.ENERGY][:] = 0.0
        assert self.run("energies") == 0
        return self[s.ENERGY][s.POTENTIAL], self[s.ENERGY][s.POWER]

    def matrices(self, k: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """K and D of an element."""
        self[s.GROUP_K][:] = 0.0
        self[s.GROUP_D][:] = 0.0
        assert self.run("force_derivatives") == 0
        place = self.places[k]
        width = 6 * len(place.markers)
        piece = slice(place.stiffness, place.stiffness + width**2)
        return self[s.GROUP_K][piece].reshape(width, width), self[s.GROUP_D][piece].reshape(width, width)

    def shift(self, marker: int, c: int, h: float) -> None:
        """Move a marker by h along component c of its twist; the turn is about a ground axis."""
        if c < 3:
            self[s.MARKER_R][marker, c] += h
            return
        e = np.eye(3)[c - 3]
        skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
        turn = np.eye(3) + np.sin(h) * skew + (1 - np.cos(h)) * skew @ skew
        self[s.MARKER_A][marker] = (turn @ self[s.MARKER_A][marker].reshape(3, 3)).ravel()

    def differences(self, k: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """-dF/dxi and -dF/dV of an element by central differences."""
        members = list(self.places[k].markers)
        width = 6 * len(members)
        K, D = np.zeros((width, width)), np.zeros((width, width))
        for column in range(width):
            marker, c = members[column // 6], column % 6
            A = self[s.MARKER_A].copy()
            for sign in (1, -1):
                self.shift(marker, c, sign * STEP)
                K[:, column] -= sign * self.forces()[members].ravel() / (2 * STEP)
                self.shift(marker, c, -sign * STEP)
                self[s.MARKER_A][:] = A
                self[s.MARKER_V][marker, c] += sign * STEP
                D[:, column] -= sign * self.forces()[members].ravel() / (2 * STEP)
                self[s.MARKER_V][marker, c] -= sign * STEP
        self.forces()
        return K, D

    def check_derivatives(self) -> None:
        """K and D of every element against differences; users' forces leave out what never moves, such as ground."""
        for k, element in enumerate(self.elements):
            exact, numeric = self.matrices(k), self.differences(k)
            moving = np.ravel([moving_components(marker) for marker in element.markers]) == 1
            used = moving if isinstance(element, ix.UserForce) else slice(None)
            for a, b in zip(exact, numeric, strict=True):
                # rounding eps |F| / h = 1e-10 |F| and truncation h^2 = 1e-12, for values up to about 100
                assert np.abs(a - b)[:, used].max() <= 1e-7 * max(1.0, np.abs(b).max())

    def check_energy(self) -> None:
        """Power of all forces = power of what is not conservative - rate of potential energy."""
        total = float(np.sum(self.forces() * self[s.MARKER_V]))
        _, power = self.energies()
        r, A, V = self[s.MARKER_R].copy(), self[s.MARKER_A].copy(), self[s.MARKER_V].copy()
        rate = 0.0
        for sign in (1, -1):
            for marker, twist in enumerate(V):
                self[s.MARKER_R][marker] += sign * STEP * twist[:3]
                for c in range(3, 6):  # the order of three small turns matters only to second order
                    self.shift(marker, c, sign * STEP * twist[c])
            self.forces()
            rate += sign * self.energies()[0] / (2 * STEP)
            self[s.MARKER_R][:], self[s.MARKER_A][:] = r, A
        # as in check_derivatives; the order of turns adds h |w|^2 = 1e-5 to second order, cancelled by the two signs
        assert total == pytest.approx(power - rate, rel=1e-7, abs=1e-7)


@pytest.fixture
def bench():
    """The class of benches."""
    return Bench
