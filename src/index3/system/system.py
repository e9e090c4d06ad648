"""The compiled equations of one model (`System`), and one instant of them (`State`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.interface import Kernel, Slot, Table
from index3.errors import Index3Error
from index3.joints.base import axes_of
from index3.system import evaluate
from index3.system.addresses import NOT_BUILT, Addresses
from index3.system.parts import Group
from index3.system.sparsity import Sparsity


@dataclass
class System:
    """Tables, sparsity and kernel addresses of a model; nothing here changes during a run.

    n coordinates, m rows. `fixed` holds the arrays of the slots that are data, `work` the shapes of the others.
    """

    name: str
    n: int
    m: int
    bodies: list[Any]
    starts: np.ndarray  # first coordinate of each body
    groups: list[Group]
    row_names: list[str]
    row_labels: list[str]  # how messages call the element of each row
    level: np.ndarray
    sparsity: Sparsity
    fixed: dict[Slot, np.ndarray]
    addresses: Addresses  # of the kernels in CORE and STAGES
    work: dict[Slot, tuple[int, ...]]
    initial: dict[Slot, np.ndarray]  # what stands in work arrays from the start (poses of ground markers)
    stages: list[tuple[str, list[Any], Table]]  # kernel name, elements and table of each line of STAGES
    angle_joints: list[Any]  # joints whose angle is measured, in the order of ANGLES
    augmentation: list[tuple[int, float]]  # rows whose square is added to the matrix, with weights
    q0: np.ndarray
    v0: np.ndarray
    conservative: bool
    reactions_work: bool  # reactions do work, or forces that do depend on them or on accelerations
    reads_reactions: bool  # a force depends on the multipliers: accelerations and reactions are found by iteration
    reads_accelerations: bool  # a force depends on the accelerations of its markers: the same
    function_labels: list[str]
    failures: list[BaseException] = field(default_factory=list)  # raised by users' functions during a run
    keep: list[Any] = field(default_factory=list)  # callbacks whose addresses the tables hold

    def readers(self, what: str) -> list[str]:
        """The labels of the forces that depend on "reactions" or "accelerations"."""
        return [group.element.label for group in self.groups if getattr(group.element, f"reads_{what}", False)]

    def explain(self, state: State) -> str:
        """What the last failed evaluation found wrong, naming the element."""
        code, place, number = (int(x) for x in state[s.STATUS][:3])
        if code == evaluate.BAD_FUNCTION:
            return self.explain_function(place, number, state[s.TIME][0])
        if number == NOT_BUILT and self.failures:
            return str(self.failures[-1])
        if code == 0:
            return "An evaluation failed."
        stage, elements, _ = self.stages[place]
        if 0 < number <= len(elements) and hasattr(elements[number - 1], "explain"):
            return str(elements[number - 1].explain(stage, state[s.TIME][0]))
        return f"The {stage} kernel of {elements[0].label} failed with code {number}."

    def explain_function(self, place: int, number: int, t: float) -> str:
        """What is wrong with a user's function of time: what it raised, or what it returned."""
        label = self.function_labels[place]
        if self.failures:
            error = self.failures[-1]
            if isinstance(error, Index3Error):
                return str(error)
            return f"{label}: its function of time raised {type(error).__name__} at t = {t:.6g}: {error}"
        what = ("value", "rate", "second derivative")[number]
        return f"{label} gave a {what} that is not a finite number at t = {t:.6g}. Return finite numbers throughout."

    def take_failures(self) -> list[BaseException]:
        """What users' functions raised since the last call, in the order of functions of time, then forces."""
        taken = list(self.failures)
        self.failures.clear()
        for group in self.groups:
            error = getattr(group.element, "failure", None)
            if error is not None:
                taken.append(error)
                group.element.failure = None
        return taken

    def worst_rows(self, residual: np.ndarray, count: int = 3) -> str:
        """The rows with the largest residuals, by name."""
        worst = np.argsort(-np.abs(residual))[:count]
        return ", ".join(f"{self.row_names[k]} ({residual[k]:.3g})" for k in worst if residual[k] != 0.0)

    @property
    def first_state(self) -> int:
        """The first coordinate that belongs to a block of states; those come last."""
        return self.n - sum(body.size for body in self.bodies if body.kind == "states")

    @property
    def mostly_apart(self) -> bool:
        """Whether the pattern couples many bodies that seldom touch: more switched pairs of them than bodies."""
        switched = [group for group in self.groups if getattr(group.element, "switched", False)]
        pairs = [group for group in switched if all(marker.body.kind != "ground" for marker in group.markers)]
        return len(pairs) > len(self.bodies)

    @property
    def joint_bodies(self) -> list[list[int]]:
        """For each group with rows, the bodies it touches (-1: ground).

        Ground counts as touched unless every common rigid motion of the bodies leaves the rows satisfied.
        """
        numbers = {id(body): k for k, body in enumerate(self.bodies)}
        lists = []
        for group in self.groups:
            if group.rows > 0:
                bodies = {numbers.get(id(body), -1) for body in touched(group)}
                lists.append(sorted(bodies | (set() if is_free(group) else {-1})))
        return lists

    @property
    def node_of_scalar(self) -> np.ndarray:
        """The body or group with rows that each of the n + m unknowns belongs to."""
        node = np.empty(self.n + self.m, np.int64)
        node[: self.n] = np.repeat(np.arange(len(self.bodies)), np.diff(self.starts))
        own = [k for k, body in enumerate(self.bodies) for _ in body.own_rows]
        node[self.n : self.n + len(own)] = own
        restrained = [group for group in self.groups if group.rows > 0]
        for k, group in enumerate(restrained):
            node[self.n + group.row : self.n + group.row + group.rows] = len(self.bodies) + k
        return node


def is_free(group: Group) -> bool:
    """Whether every common rigid motion of the bodies of a group leaves its rows satisfied.

    A planar body and a spatial one have no common motion that leaves the plane, a body that its own rows hold to ground
    has none, a point mass does not turn along, and nothing is known of a user's rows.
    """
    if not group.markers or any(primitive.kind == "user" for primitive in group.primitives):
        return False
    bodies = [marker.body for marker in group.markers if marker.body.kind != "ground"]
    if any(body.held for body in bodies) or len({body.planar for body in bodies}) > 1:
        return False
    return all(marker.oriented for marker in group.markers) or not group.curved or only_points(group)


def only_points(group: Group) -> bool:
    """Whether the rows of a group tie points alone, without axes."""
    return not any(axes_of(primitive) for primitive in group.primitives)


def touched(group: Group) -> Sequence[Any]:
    """The bodies that a group acts on."""
    return [marker.body for marker in group.markers] or list(group.element.bodies)


class State:
    """One instant of a system and everything derived from it; one run owns one state.

    `state[slots.PHI]` is the array of a slot; only `move` writes the point of evaluation.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.table = Table(s.SIZE)
        for slot, array in system.fixed.items():
            self.table[slot] = array
        for slot, shape in system.work.items():
            self.table[slot] = np.zeros(shape, slot.dtype)
        for slot, array in system.initial.items():
            self.table[slot][:] = array
        self.move(0.0, system.q0, system.v0)

    def __getitem__(self, slot: Slot) -> np.ndarray:
        return self.table[slot]

    @property
    def handle(self) -> int:
        """The number by which kernels know this state."""
        return self.table.handle

    def move(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Set the point of evaluation."""
        self.table[s.TIME][0] = t
        self.table[s.Q][:] = q
        self.table[s.V][:] = v
        self.table[s.Q_MASS][:] = q

    def run(self, *kernels: Kernel) -> int:
        """Run kernels of the evaluator in turn; stops at the first positive status and returns it."""
        self.system.addresses.require(*kernels)
        for kernel in kernels:
            code = kernel(self.handle, 0)
            if code:
                return code
        return 0
