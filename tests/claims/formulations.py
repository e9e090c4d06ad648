"""Parts of the equations of motion of small planar models as dense arrays, and formulas on them, for other forms."""

from __future__ import annotations

import numpy as np

import index3 as ix
from index3.compiled import slots as s
from index3.methods.projection import KERNELS
from index3.methods.state_space.jacobian import bordered
from index3.methods.state_space.partition import dense_rows
from index3.system import evaluate
from index3.system.compile import compile_model
from index3.system.state import State

G = 9.81
EULER = (np.array([[0.0]]), np.array([1.0]))
HERK3 = (np.array([[0, 0, 0], [1 / 3, 0, 0], [-1, 2, 0]]), np.array([0, 3 / 4, 1 / 4]))  # Brasey, Hairer 1993


def rod(spin=0.0):
    """A planar rod of 1 m on a pin, released from the horizontal: x, y, angle and two rows."""
    model = ix.Model("rod", gravity=(0, -G, 0))
    rates = {"velocity": (0.0, 0.5 * spin), "spin": spin}
    body = model.add(ix.PlanarBody.rod("rod", (0, 0), (1, 0), mass=1.0, **rates))
    model.add(ix.Revolute("pin", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    return model


def two_rods():
    """The same with a second rod at its end: six coordinates, four rows."""
    model = rod()
    second = model.add(ix.PlanarBody.rod("second", (1, 0), (1, 1), mass=1.0))
    model.add(ix.Revolute("elbow", model["rod"], second, at=(1, 0, 0), axis=(0, 0, 1)))
    return model


def two_sliders():
    """Two blocks on straight rails that a spring joins: rows are linear in the coordinates, forces are not."""
    model = ix.Model("sliders", gravity=(0, -G, 0))
    blocks = []
    for k, axis in enumerate(((1, 0, 0), (0.6, 0.8, 0))):
        block = model.add(ix.PlanarBody(f"block{k}", 1.0 + k, 1.0, position=(2.0 * k, 1.0)))
        model.add(ix.Prismatic(f"rail{k}", model.ground, block, at=(2.0 * k, 1.0, 0), axis=axis))
        blocks.append(block.marker())
    model.add(ix.SpringDamper("spring", *blocks, stiffness=40.0, damping=1.0, length=1.5))
    return model


class Equations:
    """Parts of the equations of motion of a model at any (q, v), as dense arrays; its mass must be constant."""

    def __init__(self, model: ix.Model) -> None:
        self.state = State(compile_model(model, KERNELS))
        start = ix.assemble(model)
        self.q0, self.v0 = start.q.copy(), start.v.copy()
        self.at(self.q0, self.v0)
        self.mass = bordered(self.state, 1.0, 0.0, 0.0)

    def at(self, q, v):
        """Phi, Phi_q, gamma and the forces."""
        state = self.state
        state.move(0.0, q, v)
        state[s.LAM][:] = 0.0
        assert state.run(evaluate.forces, evaluate.jacobian, evaluate.levels) == 0
        return state[s.PHI].copy(), dense_rows(state), state[s.GAMMA].copy(), -state[s.G]

    def solve(self, P, force, right):
        """x and lam of [M P^T; P 0] [x; lam] = [force; right]."""
        n, m = len(force), len(right)
        matrix = np.block([[self.mass, P.T], [P, np.zeros((m, m))]])
        x = np.linalg.solve(matrix, np.concatenate([force, right]))
        return x[:n], x[n:]

    def accelerations(self, q, v, a=0.0, b=0.0):
        """Accelerations with the rows Phi'' = -2 a Phi' - b Phi."""
        phi, P, gamma, force = self.at(q, v)
        return self.solve(P, force, gamma - 2.0 * a * (P @ v) - b * phi)[0]

    def residuals(self, q, v):
        """Largest |Phi| and |Phi_q v|."""
        phi, P, _, _ = self.at(q, v)
        return np.abs(phi).max(), np.abs(P @ v).max()


def runge_kutta(rates, y, h):
    """The classical step of order 4."""
    k1 = rates(y)
    k2 = rates(y + 0.5 * h * k1)
    k3 = rates(y + 0.5 * h * k2)
    k4 = rates(y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def half_explicit(equations, table, h, count):
    """(q, v) and the largest velocity residual; gamma, the acceleration constraint, is never used."""
    A, b = table
    rows, stages = np.vstack([A, b])[1:], len(b)
    q, v, worst = equations.q0.copy(), equations.v0.copy(), 0.0
    for _ in range(count):
        V, rate, at = [v], [], q
        for i in range(stages):
            _, P, _, force = equations.at(at, V[i])
            at = q + h * sum(rows[i, j] * V[j] for j in range(i + 1))
            known = v + h * sum((rows[i, j] * rate[j] for j in range(i)), np.zeros(len(v)))
            _, P_next, _, _ = equations.at(at, V[i])
            # a_i = M^-1 (force - P^T lam) such that P(next) (known + h a_ii a_i) = 0
            inverse = np.linalg.inv(equations.mass)
            lam = np.linalg.solve(P_next @ inverse @ P.T, P_next @ (known / (h * rows[i, i]) + inverse @ force))
            rate.append(inverse @ (force - P.T @ lam))
            V.append(known + h * rows[i, i] * rate[i])
        q, v = at, V[-1]
        worst = max(worst, equations.residuals(q, v)[1])
    return q, v, worst
