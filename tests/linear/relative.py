"""Kinematics and equations of motion of a tree in relative coordinates, plain, as the thesis writes them.

[NegrutThesis] section 3.4.3.1; bare numbers are its equations. The frame of a body stands at its inboard joint and is
aligned with ground where all coordinates are 0. A joint slides along its axis, turns about it, or does both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from composite import Tree
from mechanisms import skew
from scipy.spatial.transform import Rotation

import index3 as ix

GRAVITY = np.array([0.0, 0.0, -9.81])
JOINTS = {"slide": ix.Prismatic, "turn": ix.Revolute, "slide turn": ix.Cylindrical}


@dataclass
class Link:
    """A body with its inboard joint; points, axes and inertia (about the centre, in ground axes) at coordinates 0."""

    name: str
    parent: int  # -1: ground
    kind: str
    at: np.ndarray
    axis: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray


def random_links(parents: tuple[int, ...], seed: int) -> list[Link]:
    """A tree with joints of all kinds, ancestors first."""
    rng = np.random.default_rng(seed)
    links = []
    for k, parent in enumerate(parents):
        axis = rng.normal(size=3)
        at, centre, inertia = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), np.diag(rng.uniform(0.5, 0.8, 3))
        kind = list(JOINTS)[k % 3]
        links.append(Link(f"b{k}", parent, kind, at, axis / np.linalg.norm(axis), 1.0 + k, centre, inertia))
    return links


class Relative:
    """All bodies at joint coordinates q with rates v, which are in the order of the links."""

    def __init__(self, links: list[Link], q: np.ndarray, v: np.ndarray) -> None:
        self.links = links
        self.A, self.r, self.B, self.D, self.Y = ([] for _ in range(5))
        sizes = [len(link.kind.split()) for link in links]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        for k, link in enumerate(links):
            self._place(link, q[ends[k] : ends[k + 1]], v[ends[k] : ends[k + 1]])

    def _place(self, link: Link, q: np.ndarray, v: np.ndarray) -> None:
        """The next body: its pose, B (3.134), Y (3.132) and D (3.135) from those of its parent."""
        A, r, w, Y, base = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(6), np.zeros(3)
        if link.parent >= 0:
            A, r, Y = self.A[link.parent], self.r[link.parent], self.Y[link.parent]
            w, base = Y[3:], self.links[link.parent].at
        words, u = link.kind.split(), A @ link.axis
        slide, turn = (q[words.index(x)] if x in words else 0.0 for x in ("slide", "turn"))
        self.A.append(A @ Rotation.from_rotvec(turn * link.axis).as_matrix())
        self.r.append(r + A @ (link.at - base) + slide * u)  # r_j = r_i + s_ij + d_ij
        place, none = self.r[-1], np.zeros(3)
        d_q = np.column_stack([u if word == "slide" else none for word in words])
        H = np.column_stack([u if word == "turn" else none for word in words])
        B = np.vstack([d_q + skew(place) @ H, H])
        self.B.append(B)
        self.Y.append(Y + B @ v)
        W = skew(w)  # the axes turn with the parent
        rate = self.velocity(len(self.r) - 1)[:3]
        dB = np.vstack([W @ d_q + skew(rate) @ H + skew(place) @ W @ H, W @ H])
        self.D.append(dB @ v)

    def T(self, j: int) -> np.ndarray:
        """(3.136): from the twist at the ground origin to that of the body's frame."""
        return np.block([[np.eye(3), -skew(self.r[j])], [np.zeros((3, 3)), np.eye(3)]])

    def velocity(self, j: int) -> np.ndarray:
        """Velocity of the body's frame, and its angular velocity."""
        return self.T(j) @ self.Y[j]

    def R(self, j: int) -> np.ndarray:
        """(3.136): what the conversion's own rate adds, -dT/dt Y."""
        rate = self.velocity(j)
        return np.concatenate([np.cross(rate[:3], rate[3:]), np.zeros(3)])

    def centre(self, j: int) -> np.ndarray:
        """From the frame to the centre of mass, in ground axes."""
        return self.A[j] @ (self.links[j].centre - self.links[j].at)

    def body_equations(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """(3.138), (3.139): mass matrix and force for accelerations of the twist at the ground origin."""
        link, rho, w = self.links[j], self.centre(j), self.Y[j][3:]
        m, offset, W, T = link.mass, skew(rho), skew(w), self.T(j)
        J = self.A[j] @ link.inertia @ self.A[j].T - m * offset @ offset
        M = np.block([[m * np.eye(3), -m * offset], [m * offset, J]])
        Q = np.concatenate([m * GRAVITY - m * W @ W @ rho, m * np.cross(rho, GRAVITY) - W @ J @ w])
        return T.T @ M @ T, T.T @ (Q + M @ self.R(j))

    def tree(self) -> Tree:
        """Descendants first, with the composite inertia of `composite`."""
        last = len(self.links) - 1
        parents = [last - link.parent if link.parent >= 0 else -1 for link in reversed(self.links)]
        return Tree(parents, self.B[::-1], [self.body_equations(j)[0] for j in range(last, -1, -1)])

    def path(self, j: int) -> list[int]:
        """The body and its ancestors."""
        return [] if j < 0 else [j, *self.path(self.links[j].parent)]

    def accelerations(self) -> np.ndarray:
        """Joint accelerations: the composite inertia with what the rates contribute, (3.140)-(3.146)."""
        count, tree = len(self.links), self.tree()
        force = np.zeros(tree.starts[-1])
        for j in range(count):
            M, Q = self.body_equations(j)
            force += tree.motion(count - 1 - j).T @ (Q - M @ sum(self.D[k] for k in self.path(j)))
        found = np.linalg.solve(tree.composite(), force)
        return np.concatenate([found[tree.columns(count - 1 - j)] for j in range(count)])

    def body_acceleration(self, j: int, a: np.ndarray) -> np.ndarray:
        """Accelerations of the body's frame, linear and angular, for joint accelerations: (3.135), (3.136)."""
        ends = np.concatenate([[0], np.cumsum([B.shape[1] for B in self.B])])
        path = self.path(j)
        return self.T(j) @ sum(self.B[k] @ a[ends[k] : ends[k + 1]] + self.D[k] for k in path) - self.R(j)


def cartesian(links: list[Link], q: np.ndarray, v: np.ndarray) -> ix.Model:
    """The same tree in absolute coordinates, from joint coordinates q (where its joints say 0) and their rates v."""
    model, state = ix.Model("tree", gravity=GRAVITY), Relative(links, q, v)
    for j, link in enumerate(links):
        frame, rho = state.velocity(j), state.centre(j)
        turn = Rotation.from_matrix(state.A[j])
        rates = {"velocity": frame[:3] + np.cross(frame[3:], rho), "angular_velocity": frame[3:]}
        place = {"position": state.r[j] + rho, "orientation": turn}
        body = model.add(ix.RigidBody(link.name, link.mass, link.inertia, **place, **rates))
        parent = model[links[link.parent].name] if link.parent >= 0 else model.ground
        axis = (state.A[link.parent] if link.parent >= 0 else np.eye(3)) @ link.axis
        model.add(JOINTS[link.kind](f"j{j}", parent, body, at=state.r[j], axis=axis))
    return model


def joint_values(result: ix.Result, links: list[Link], q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Relative coordinates and rates of a line of a run that began at coordinates q."""
    found: list[float] = []
    rates: list[float] = []
    for j, link in enumerate(links):
        for word in link.kind.split():
            name = {"slide": "displacement", "turn": "angle"}[word]
            found.append(getattr(result[f"j{j}"], name)[k])
            rates.append(getattr(result[f"j{j}"], f"{name}_rate")[k])
    return q + np.array(found), np.array(rates)
