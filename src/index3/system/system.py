"""The compiled equations of one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable
from index3.compiled.failures import Failing, Failures
from index3.compiled.interface import Room, Slot, Table
from index3.errors import Index3Error
from index3.joints.base import axes_of
from index3.record import Record, fresh
from index3.system import evaluate
from index3.system.addresses import NOT_BUILT, Addresses
from index3.system.kinds import recorded
from index3.system.parts import Group
from index3.system.sparsity import Sparsity
from index3.system.state import State
from index3.system.structure import Structure

FAR = 10.0
"""Sizes of a model from which on ground's origin is far away: coordinates are then hardly more than that distance."""


class System(Record):
    """Tables, sparsity and kernel addresses of a model; nothing here changes during a run but addresses of kernels.

    Any number of states, in any number of threads, may share it: what evaluations change is theirs. n coordinates, m
    rows. `fixed` holds the arrays of the slots that are data, `work` the shapes of the others.
    """

    name: str
    n: int
    m: int
    bodies: list[Any]
    starts: np.ndarray  # first coordinate of each body
    groups: list[Group]
    structure: Structure  # shared by all systems that differ in numbers alone
    level: np.ndarray
    fixed: dict[Slot, np.ndarray]
    addresses: Addresses  # of the kernels in CORE and STAGES
    work: dict[Slot, tuple[int, ...]]
    initial: dict[Slot, np.ndarray]  # what stands in work arrays from the start (poses of ground markers)
    stages: list[tuple[str, Sequence[Any], Table]]  # kernel name, elements and table of each line of STAGES
    angle_joints: list[Any]  # joints whose angle is measured, in the order of ANGLES
    augmentation: list[tuple[int, float]]  # rows whose square is added to the matrix, with weights
    q0: np.ndarray
    v0: np.ndarray
    conservative: bool
    reactions_work: bool  # reactions do work, or forces that do depend on them or on accelerations
    reads_reactions: bool  # a force depends on the multipliers: accelerations and reactions are found by iteration
    reads_accelerations: bool  # a force depends on the accelerations of its markers: the same
    function_labels: list[str]
    failures: Failures = fresh(default_factory=Failures)  # of users' functions of time, and of builds during a run
    solvers: dict[str, Any] = fresh(default_factory=dict)  # of its matrix, by name
    described: Any = None  # the layout of its results, once it was asked for
    altered: Any = None  # another system, and the bodies whose masses and inertias alone differ from there
    own_tables: Any = None  # then: its tables of their records, by the id of those there
    found: dict[str, Any] = fresh(default_factory=dict)  # what others work out of it once, whatever its masses
    keep: list[Any] = fresh(default_factory=list)  # callbacks whose addresses the tables hold

    @property
    def sparsity(self) -> Sparsity:
        """The pattern of the bordered matrix."""
        return self.structure.sparsity

    @property
    def row_names(self) -> list[str]:
        """Names of the rows, such as "B.x1.z2"."""
        return self.structure.row_names

    @property
    def row_labels(self) -> list[str]:
        """How messages call the element of each row."""
        return self.structure.row_labels

    def readers(self, what: str) -> list[str]:
        """The labels of the forces that depend on "reactions" or "accelerations"."""
        return [group.element.label for group in self.groups if getattr(group.element, f"reads_{what}", False)]

    def explain(self, state: State) -> str:
        """What the last failed evaluation found wrong, naming the element."""
        code, place, number = (int(x) for x in state[s.STATUS][:3])
        if code == evaluate.BAD_FUNCTION:
            return self.explain_function(place, number, state[s.TIME][0])
        not_built = self.addresses.failures.errors or self.failures.errors
        if number == NOT_BUILT and not_built:
            return str(not_built[-1])
        if code == 0:  # every kernel had an answer, but no accelerations follow from them
            readers = [*self.readers("accelerations"), *self.readers("reactions")]
            needed = f", which {' and '.join(readers)} needs" if readers else ""
            return (
                f"There are no accelerations at t = {float(state[s.TIME][0]):.6g}{needed}: the mechanism is singular "
                "there, such as Euler angles at their pole, or numbers are not finite."
            )
        stage, elements, _ = self.stages[place]
        elements = recorded(elements)
        if 0 < number <= len(elements) and hasattr(elements[number - 1], "explain"):
            element, t = elements[number - 1], float(state[s.TIME][0])
            return state.tables[place].explain(element, number - 1, t) or str(element.explain(stage, t))
        return f"The {stage} kernel of {elements[0].label} failed with code {number}."

    def explain_function(self, place: int, number: int, t: float) -> str:
        """What is wrong with a user's function of time: what it raised, or what it returned."""
        label = self.function_labels[place]
        if self.failures.errors:
            error = self.failures.errors[-1]
            if isinstance(error, Index3Error):
                return str(error)
            return f"{label}: its function of time raised {type(error).__name__} at t = {t:.6g}: {error}"
        what = ("value", "rate", "second derivative")[number]
        return f"{label} gave a {what} that is not a finite number at t = {t:.6g}. Return finite numbers throughout."

    @cached_property
    def blank(self) -> Table:
        """What the tables of all states have in common."""
        table = self.structure.blank.sharing()
        for slot, array in self.fixed.items():
            if array is not self.structure.fixed.get(slot):
                table[slot] = array
        return table

    @cached_property
    def room(self) -> Room:
        """The arrays that a state has for itself."""
        return self.structure.room(("state", *self.work.items()), lambda: self.work)

    @cached_property
    def branching(self) -> bool:
        """Whether rows have a second set of solutions that is watched."""
        return any(stage == "measure" and elements is not self.angle_joints for stage, elements, _ in self.stages)

    @cached_property
    def given_rates(self) -> np.ndarray:
        """A mask of the rates that the user gave."""
        given = np.zeros(self.n, bool)
        for body, start in zip(self.bodies, self.starts.tolist(), strict=False):
            given[start : start + body.size] = body.given_rates()
        return given

    @cached_property
    def held_rates(self) -> np.ndarray | None:
        """The same if some are given and others are to follow, else None."""
        given = self.given_rates
        return given if given.any() and not given.all() else None

    @cached_property
    def lengths(self) -> np.ndarray:
        """By which the rate of each coordinate is a speed of its body's material: 1, or `Body.turn_length`."""
        lengths = np.ones(self.n)
        for number, body in enumerate(self.bodies):
            self.put_length(lengths, number, body)
        return lengths

    def put_length(self, lengths: np.ndarray, number: int, body: Any) -> None:
        """Put the length of the body with this number, which follows from its mass and inertia, among all."""
        start = int(self.starts[number])
        lengths[start + body.translations : start + body.size] = body.turn_length

    @cached_property
    def remembers(self) -> bool:
        """Whether kernels of some kind write to its table."""
        return any(table.memory for _, _, table in self.stages)

    @cached_property
    def far_origin(self) -> tuple[np.ndarray, float]:
        """Coordinates of the middle of the model, if ground's origin is far from all of it, and its size as a part of
        the distance; zeros and 1 if the origin is near, or if bodies have unknowns of another kind.
        """
        origin = np.zeros(self.n)
        moving = [
            (body, k) for body, k in zip(self.bodies, self.starts.tolist(), strict=False) if body.kind != "states"
        ]
        own = np.zeros((len(moving), 3))
        for place, (body, k) in zip(own, moving, strict=True):
            place[: body.translations] = self.q0[k : k + min(body.translations, 3)]
        places = np.concatenate([self.initial[s.MARKER_R], own])
        if not len(places) or any(body.translations > 3 for body, _ in moving):
            return origin, 1.0
        low, high = places.min(axis=0), places.max(axis=0)
        middle, size = 0.5 * low + 0.5 * high, 2.0 * float(np.max(0.5 * high - 0.5 * low))  # without overflow
        distance = float(np.max(np.abs(middle)))
        if size == 0.0 or distance < FAR * size:
            return origin, 1.0
        for body, k in moving:
            origin[k : k + body.translations] = middle[: body.translations]
        return origin, size / distance

    @cached_property
    def kind_tables(self) -> tuple[list[Table], np.ndarray]:
        """The table of each line of `stages`, and their handles for kernels."""
        tables = [table for _, _, table in self.stages]
        return tables, np.array([table.handle for table in tables], np.int64)

    def with_tables(self, tables: Mapping[int, Table]) -> System:
        """The same with other records in tables of some kinds, by the id of those before; all else is shared."""
        _ = self.blank, self.room, self.branching, self.held_rates, self.is_self_contained, self.failing  # once for all
        _ = self.silent_forces, self.first_state, self.user_states, self.remembers
        _ = self.far_origin
        other = object.__new__(System)
        other.__dict__ = self.__dict__.copy()  # far quicker than `update`
        other.stages = [(stage, elements, tables.get(id(table), table)) for stage, elements, table in self.stages]
        other.own_tables = tables
        own = [table for _, _, table in other.stages]
        other.kind_tables = own, np.array([table.handle for table in own], np.int64)
        return other

    @cached_property
    def is_self_contained(self) -> bool:
        """Whether evaluations ask nobody outside the package: no function of a user, no element from elsewhere."""
        if np.any(self.fixed[s.FUNCTIONS]):
            return False
        for _, _, table in self.stages:
            curves = (curve for _, _, curve in getattr(table, "owners", ()))
            if isinstance(table, CallbackTable) or any(curve.functions is not None for curve in curves):
                return False
            if table.kind and not table.kind.startswith("index3."):
                return False
        return True

    def interrupt(self) -> None:
        """Let users' functions in Python fail from now on, in this thread, until `take_failures`."""
        self.failures.keep(KeyboardInterrupt(), "f", 0.0)
        for element in self.failing:
            element.failure = KeyboardInterrupt()

    def take_failures(self) -> list[BaseException]:
        """What users' functions raised in this thread since the last call: functions of time first, then forces."""
        taken = list(self.failures.errors)
        self.failures.errors.clear()
        if self.addresses.failures is not self.failures:  # of builds
            taken += self.addresses.failures.errors
            self.addresses.failures.errors.clear()
        for element in self.failing:
            error = element.failure
            if error is not None:
                taken.append(error)
                element.failure = None
        return taken

    @cached_property
    def failing(self) -> list[Failing]:
        """The elements with functions of users, which may fail."""
        return [group.element for group in self.groups if isinstance(group.element, Failing)]

    def worst_rows(self, residual: np.ndarray, count: int = 3) -> str:
        """The rows with the largest residuals, by name."""
        worst = np.argsort(-np.abs(residual))[:count]
        return ", ".join(f"{self.row_names[k]} ({residual[k]:.3g})" for k in worst if residual[k] != 0.0)

    @cached_property
    def silent_forces(self) -> list[str]:
        """Labels of forces whose kind says nothing of energy: the energy balance of a run does not hold with them."""
        speaking = {id(element) for stage, elements, _ in self.stages if stage == "energies" for element in elements}
        acting = [group.element for group in self.groups if getattr(group.element, "element", "") == "force"]
        return [element.label for element in acting if id(element) not in speaking]

    @cached_property
    def first_state(self) -> int:
        """The first coordinate that belongs to a block of states; those come last."""
        return self.n - sum(body.size for body in self.bodies if body.kind == "states")

    @cached_property
    def user_states(self) -> bool:
        """Whether there are blocks of states other than those that forces bring along."""
        own = {id(block) for group in self.groups for block in getattr(group.element, "own_states", ())}
        return any(body.kind == "states" and id(body) not in own for body in self.bodies)

    @property
    def has_rare_contacts(self) -> bool:
        """Whether the pattern couples many bodies that seldom touch: more switched pairs of them than bodies."""
        count, body = 0, self.structure.fixed[s.MARKERS]["body"]
        for group in self.groups:
            if getattr(group.element, "switched", False):
                count += int(np.all(body[group.tied_numbers] >= 0, axis=1).sum())
        return count > len(self.bodies)

    @property
    def joint_bodies(self) -> list[list[int]]:
        """For each group with rows, the bodies it touches (-1: ground), as `joint_blocks` has their blocks."""
        return self._touched(np.repeat(np.arange(len(self.bodies)), np.diff(self.starts)))

    @property
    def joint_blocks(self) -> list[list[int]]:
        """For each group with rows, the blocks of coordinates it touches (-1: ground).

        Ground counts as touched unless every common rigid motion of the bodies leaves the rows satisfied.
        """
        return self._touched(self.block_of_coordinate)

    def _touched(self, owners: np.ndarray) -> list[list[int]]:
        owner, lists = owners.tolist(), []
        for group in self.groups:
            if group.rows > 0:
                grounded = any(marker.body.kind == "ground" for marker in group.markers) or not is_free(group)
                lists.append(sorted({owner[k] for k in group.coordinates} | ({-1} if grounded else set())))
        return lists

    @cached_property
    def block_of_coordinate(self) -> np.ndarray:
        """The number of the block that each coordinate belongs to, counted over all bodies."""
        blocks: list[int] = [0] * self.n
        number = 0
        for body, start in zip(self.bodies, self.starts.tolist(), strict=False):
            for coordinates in body.blocks:
                for k in coordinates:
                    blocks[start + k] = number
                number += 1
        return np.array(blocks, np.int64)

    @property
    def n_blocks(self) -> int:
        """The number of blocks of all bodies."""
        return sum(len(body.blocks) for body in self.bodies)

    @property
    def node_of_scalar(self) -> np.ndarray:
        """The block or group with rows that each of the n + m unknowns belongs to.

        A body's own row belongs to the block of the first coordinate that it depends on.
        """
        block, count = self.block_of_coordinate, self.n_blocks
        node = np.empty(self.n + self.m, np.int64)
        node[: self.n] = block
        starts = zip(self.bodies, self.starts, strict=False)
        own = [block[start + columns[0]] for body, start in starts for columns in body.own_columns]
        node[self.n : self.n + len(own)] = own
        restrained = [group for group in self.groups if group.rows > 0]
        for k, group in enumerate(restrained):
            node[self.n + group.row : self.n + group.row + group.rows] = count + k
        return node


def is_free(group: Group) -> bool:
    """Whether every common rigid motion of the bodies of a group leaves its rows satisfied.

    A planar body and a spatial one have no common motion that leaves the plane, a body that its own rows hold to ground
    has none, a point mass does not turn along, and nothing is known of a user's rows. A body that deforms can take up
    forces that do no work in a rigid motion, so its joints count as tied to ground as well.
    """
    if not group.markers or any(primitive.kind == "user" for primitive in group.primitives):
        return False
    bodies = [marker.body for marker in group.markers if marker.body.kind != "ground"]
    if any(body.held or body.deforms for body in bodies) or len({body.planar for body in bodies}) > 1:
        return False
    return all(marker.oriented for marker in group.markers) or not group.curved or only_points(group)


def only_points(group: Group) -> bool:
    """Whether the rows of a group tie points alone, without axes."""
    return not any(axes_of(primitive) for primitive in group.primitives)
