"""Compile a model: number everything, fill the tables, find the pattern, collect the kernels."""

from __future__ import annotations

import ctypes
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from index3.bodies.moving_marker import MovingMarker
from index3.bodies.time_functions import is_zero
from index3.compiled import slots as s
from index3.compiled.failures import Failures
from index3.compiled.interface import JIT, Kernel, Slot, Table, plain_address
from index3.errors import ModelError
from index3.joints.primitive import CoordinateConstraint
from index3.model.model import Model
from index3.registry import PRIMITIVES
from index3.system import kinds, tables
from index3.system.addresses import Addresses
from index3.system.parts import (
    Group,
    angle_between,
    coordinate_starts,
    force_group,
    joint_group,
    measured,
    motion_group,
    number_markers,
)
from index3.system.sparsity import Sparsity, pairs, pattern
from index3.system.structure import Structure, body_part, group_part, keep_structure, known_structure
from index3.system.system import System

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


class Places:
    """Where one force or user's constraint stands: what its kind's `table` function needs to fill its record."""

    def __init__(self, compiler: Compiler, group: Group) -> None:
        self.markers = group.marker_numbers
        self.stiffness = group.stiffness
        self.group = compiler.group_numbers[id(group)]
        self.member, self.row, self.gradient = group.member, group.row, group.gradient
        self._compiler, self._group = compiler, group

    def function(self, f: Callable, df: Callable, ddf: Callable) -> int:
        """Register a user's function of time; its number in FUNCTION_VALUES."""
        return self._compiler.add_function(self._group.element.label, (f, df, ddf))

    def angle(self, joint: Any) -> int:
        """The number of a joint's unwrapped angle in ANGLES."""
        return self._compiler.angle_joints.index(joint)

    def angle_zero(self, joint: Any) -> float:
        """The angle of a joint at the initial configuration, which counts as zero."""
        return measured(joint, "angle")

    def rows(self, joint: Any) -> tuple[int, int, int, int]:
        """Where the rows, gradients and stiffness of a joint stand."""
        group = next(group for group in self._compiler.groups if group.element is joint)
        return group.row, group.rows, group.gradient, group.stiffness

    def coordinate_zero(self, joint: Any, coordinate: str) -> float:
        """A coordinate of a joint at the initial configuration, which counts as zero."""
        return measured(joint, coordinate)


class Compiler:
    """Collects the pieces of a `System` in the order in which they depend on each other.

    What follows from the structure alone is taken from `like`, if that is given; the numbers are always the model's.
    """

    def __init__(
        self, model: Model, without: frozenset[str] = frozenset(), like: Structure | None = None, apart: bool = False
    ) -> None:
        self.model, self.without, self.like, self.apart = model, without, like, apart
        self.bodies: list[Any] = [*model.bodies.values(), *model.blocks]  # states last
        if not self.bodies:
            raise ModelError(f"Model '{model.name}' has no bodies or states. Add at least one.")
        self.starts = coordinate_starts(self.bodies)
        self.first = {id(body): int(k) for body, k in zip(self.bodies, self.starts, strict=False)}
        self.n = int(self.starts[-1])
        for body in self.bodies:
            check_blocks(body)
            body.check_model(model)
        self.functions: list[tuple[int, int, int]] = []
        self.function_labels: list[str] = []
        self.failures = Failures() if like is None or like.addresses is None else like.addresses.failures
        self.keep: list[Any] = []
        self.angle_joints = [joint for joint in model.joints.values() if "angle" in joint.coordinates]
        self.stages: dict[str, list[tuple[Kernel, list[Any], Table]]] = defaultdict(list)

    def compile(self, kernels: Iterable[Kernel]) -> System:
        """The whole system."""
        self.number()
        structure = self.structure()
        sparsity = structure.sparsity
        for module, elements, table in self.tables(sparsity):
            table.kind, table.memory = module.__name__, getattr(module, "MEMORY", ())
            for stage, kernel in module.STAGES.items():
                self.stages[stage].append((kernel, elements, table))
        if self.angle_joints:
            module = PRIMITIVES["angle"]
            table = tables.measured_angles(self.angle_joints, self.markers, self.first)
            self.stages["poses"].append((module.count_turns, self.angle_joints, table))
            self.stages["measure"].append((module.measure, self.angle_joints, table))
        lines = [(stage, line) for stage in kinds.STAGES for line in self.stages[stage]]
        addresses = self.addresses(structure, [(stage, kernel) for stage, (kernel, _, _) in lines], kernels)
        fixed = structure.fixed | self.number_arrays()
        fixed[s.CORE], fixed[s.STAGES] = addresses.core, addresses.stages
        counts = [len(self.stages[stage]) for stage in kinds.STAGES]
        fixed[s.STAGE_FIRST] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        acting = (*self.bodies, *self.model.forces.values(), *self.model.joints.values())
        drives: list[Any] = [
            x for x in (*self.model.motions.values(), *self.model.joints.values()) if hasattr(x, "functions")
        ]
        driven = any(not is_zero(x.functions[x.row_rate]) for x in drives)  # a coordinate that is held does no work
        driven = driven or any(isinstance(marker, MovingMarker) for marker in self.markers)
        conservative = all(getattr(element, "conservative", True) for element in acting) and not driven
        users = (joint for joint in self.model.joints.values() if not getattr(joint, "conservative", True))
        reactions_work = driven or self.reads_reactions or self.reads_accelerations or any(users)
        return System(
            name=self.model.name, n=self.n, m=self.m, bodies=self.bodies, starts=self.starts, groups=self.groups,
            structure=structure, level=fixed[s.LEVEL], fixed=fixed,
            addresses=addresses, work=self.work_shapes(sparsity), initial=self.ground_markers(),
            stages=[(stage, elements, table) for stage, (_, elements, table) in lines],
            angle_joints=self.angle_joints, augmentation=self.augmentation(),
            q0=np.concatenate([body.q0 for body in self.bodies]), v0=np.concatenate([body.v0 for body in self.bodies]),
            conservative=conservative, reactions_work=reactions_work, reads_reactions=self.reads_reactions,
            reads_accelerations=self.reads_accelerations,
            function_labels=self.function_labels, failures=self.failures, keep=self.keep,
        )  # fmt: skip

    @property
    def reads_reactions(self) -> bool:
        """Whether a force depends on the reactions of its joint."""
        return any(force.reads_reactions for force in self.model.forces.values())

    @property
    def reads_accelerations(self) -> bool:
        """Whether a force depends on the accelerations of its markers."""
        return any(force.reads_accelerations for force in self.model.forces.values())

    def number(self) -> None:
        """Number rows, markers, groups, and the pieces of every ragged array."""
        self.own: dict[int, tuple[int, int]] = {}  # first own row of each body, and its first entry in PHI_Q
        row, entry = 0, 0
        for body in self.bodies:
            self.own[id(body)] = row, entry
            row += len(body.own_rows)
            entry += sum(map(len, body.own_columns))
        groups, self.held = [], []
        for joint in self.model.joints.values():
            if joint.name in self.without:
                group = Group(joint.name, joint, () if isinstance(joint, CoordinateConstraint) else joint.markers)
            elif isinstance(joint, CoordinateConstraint):
                group = Group(joint.name, joint, (), joint.primitives())
                self.held.append(group)
            else:
                functions = getattr(joint, "functions", None)
                number = -1 if functions is None else self.add_function(joint.label, functions)
                group = joint_group(joint, self.angle_joints, number)
            groups.append(group)
        for motion in self.model.motions.values():
            if motion.name in self.without:
                groups.append(Group(motion.name, motion, motion.joint.markers))
            else:
                groups.append(motion_group(motion, self.add_function(motion.label, motion.functions)))
        groups += [force_group(part) for force in self.model.forces.values() for part in force.parts]
        self.lacks_inertia = {id(body): body for body in self.bodies if body.lacks_inertia}
        for group in groups:  # the square of a row that makes up for missing inertia needs its places in the matrix
            group.full = group.rows > 0 and any(id(marker.body) in self.lacks_inertia for marker in group.markers)
            group.curved = group.curved or group.full
        self.groups = groups
        self.group_numbers = {id(group): k for k, group in enumerate(g for g in groups if g not in self.held)}
        self.markers = number_markers(self.model, groups, self.apart)
        self.spans = [self.span(marker) for marker in self.markers]
        self.columns: list[int] = []
        member, gradient, block, stiffness, map_ = 0, 0, entry, 0, 0
        for group in groups:
            self.find_coordinates(group)
            group.row, group.gradient, group.block, group.stiffness, group.map = row, gradient, block, stiffness, map_
            group.member = member
            width = 6 * len(group.markers)
            member += len(group.markers)
            row += group.rows
            gradient += group.rows * width
            block += group.rows * group.count
            stiffness += width * width
            map_ += group.count**2 if group.markers and (group.curved or group.damped) else 0
        self.m, self.sizes = row, {"gradient": gradient, "block": block, "stiffness": stiffness, "map": map_}

    def structure(self) -> Structure:
        """What does not depend on numbers: found, or taken over if the parts of the model are the same.

        Raises
        ------
        ModelError : the model has another structure than `like`.
        """
        order = {id(body): k for k, body in enumerate(self.bodies)}
        parts = [
            ("The model", ("coordinates that move its markers",), (self.spans,)),
            *(body_part(body, id(body) in self.lacks_inertia) for body in self.bodies),
            *(group_part(group, order) for group in self.groups),
        ]
        if self.like is not None:
            self.like.check(parts)
            return self.like
        found = known_structure(parts)
        if found is None:
            sparsity = self.find_pattern()
            found = Structure(parts, sparsity, self.structure_arrays(order), *self.row_names())
            keep_structure(found)
        return found

    def addresses(self, structure: Structure, lines: list[tuple[str, Kernel]], kernels: Iterable[Kernel]) -> Addresses:
        """The addresses of the kernels of all stages, loaded as far as a run with other `kernels` needs them."""
        addresses = structure.addresses
        if addresses is None or addresses.lines != lines:
            failures = self.failures if self.like is not None else Failures()  # systems of other models may share it
            addresses = structure.addresses = Addresses(lines, failures, self.reads_accelerations)
        addresses.load_once(tuple(kernels))
        return addresses

    def span(self, marker: Any) -> list[int]:
        """The coordinates of the system that move a marker, in the order that its body's kernels know."""
        body = marker.body
        first, span = self.first.get(id(body), 0), body.span(marker)
        if not isinstance(span, range):
            check_places(span, body, f"The span of {marker!r}")
        return [first + k for k in span]

    def find_coordinates(self, group: Group) -> None:
        """Give a group its coordinates, each once, and every coordinate of its markers a place among them."""
        if group in self.held:
            group.coordinates = [self.first[id(group.element.body)] + group.primitives[0].fields["index"]]
            group.count = 1
            return
        spanned = [k for number in group.marker_numbers for k in self.spans[number]]
        group.coordinates = list(dict.fromkeys(spanned))
        group.count, group.columns = len(group.coordinates), len(self.columns)
        if group.count == len(spanned):
            self.columns.extend(range(len(spanned)))
        else:  # markers that share coordinates
            place = {k: number for number, k in enumerate(group.coordinates)}
            self.columns.extend([place[k] for k in spanned])

    def find_pattern(self) -> Sparsity:
        """Entries of PHI_Q, the pattern of the matrix, and the maps from elements into it."""
        n = self.n
        block_row, block_col = self.own_entries()
        group_rows, group_cols, coupled = [], [], []
        for group in self.groups:
            for r in range(group.rows):
                block_row.append(np.full(group.count, group.row + r))
                block_col.append(np.array(group.coordinates, np.int64))
        turns = self.turning_coordinates()
        stiff = (group for group in self.groups if group.markers and (group.curved or group.damped))
        for (_, turning), alike in itertools.groupby(stiff, key=lambda group: (group.count, bool(group.turning))):
            rows, cols = pairs(np.array([group.coordinates for group in alike], np.int64))
            group_rows.append(rows)
            group_cols.append(cols)
            coupled.append(turns[rows] & turns[cols] if turning else np.ones(len(rows), bool))
        self.block_row = np.concatenate(block_row).astype(np.int64)
        self.block_col = np.concatenate(block_col).astype(np.int64)
        own_rows = np.concatenate([self.first[id(body)] + body.couplings[0] for body in self.bodies])
        own_cols = np.concatenate([self.first[id(body)] + body.couplings[1] for body in self.bodies])
        empty = [np.zeros(0, np.int64)]
        rows, cols, used = (np.concatenate(x or empty) for x in (group_rows, group_cols, coupled))
        used = used.astype(bool)
        sparsity = pattern(
            n + self.m, [rows[used], own_rows, n + self.block_row], [cols[used], own_cols, self.block_col]
        )
        self.group_map = np.where(used, sparsity.places(rows, cols), len(sparsity.indices))  # the rest: nowhere
        self.block_map = np.stack(
            [sparsity.places(n + self.block_row, self.block_col), sparsity.places(self.block_col, n + self.block_row)],
            1,
        )
        return sparsity

    def turning_coordinates(self) -> np.ndarray:
        """Which coordinates turn the markers of their body."""
        turns = np.zeros(self.n, bool)
        for body in self.bodies:
            turns[[self.first[id(body)] + k for k in body.turning]] = True
        return turns

    def own_entries(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Rows and columns of the entries of PHI_Q that belong to the bodies' own rows."""
        rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for body in self.bodies:
            if body.own_rows:
                row, start = self.own[id(body)][0], self.first[id(body)]
                for k, own in enumerate(body.own_columns):
                    rows.append(np.full(len(own), row + k))
                    columns.append(np.array(own) + start)
        return rows, columns

    def tables(self, sparsity: Sparsity) -> Iterator[tables.KindTable]:
        """The tables of every kind of body, primitive and force in the model."""
        yield from tables.of_bodies(self.bodies, self.first, self.own, self.markers, sparsity)
        others = [group for group in self.groups if not hasattr(group.element, "kind")]
        yield from tables.of_primitives([group for group in others if group not in self.held])
        if self.held:
            yield tables.of_held(self.held)
        own = [group for group in self.groups if hasattr(group.element, "kind")]  # forces, users' constraints
        yield from tables.of_kinds(own, lambda group: Places(self, group))
        yield from tables.of_moving(self.markers, self.groups, self.add_function)

    def add_function(self, label: str, functions: tuple[Callable, ...]) -> int:
        """Give three functions of time addresses; an exception inside one is kept and NaN returned."""

        failures = self.failures

        def guarded(f: Callable) -> Callable[[float], float]:
            def value(t: float) -> float:
                if failures.ended:
                    return float("nan")
                try:
                    return float(f(t))
                except BaseException as error:  # KeyboardInterrupt too: ctypes would print it and go on
                    failures.keep(error, "f", t)
                    return float("nan")

            return value

        addresses = []
        for f in functions:
            if JIT:
                callback = C_FUNCTION(guarded(f))
                self.keep.append(callback)
                addresses.append(ctypes.cast(callback, ctypes.c_void_p).value or 0)
            else:
                addresses.append(plain_address(guarded(f)))
        self.functions.append((addresses[0], addresses[1], addresses[2]))
        self.function_labels.append(label)
        return len(self.functions) - 1

    def structure_arrays(self, order: dict[int, int]) -> dict[Slot, np.ndarray]:
        """The arrays of all slots that follow from the structure; `order` numbers the bodies by their id."""
        count = len(self.markers)
        markers = np.zeros(count, s.MARKER)
        markers["body"] = [order.get(id(marker.body), -1) for marker in self.markers]
        markers["count"] = [len(span) for span in self.spans]
        markers["span"] = np.cumsum(markers["count"]) - markers["count"]
        markers["jacobian"] = 6 * markers["span"]
        members = [number for group in self.groups for number in group.marker_numbers]
        return {
            s.LEVEL: self.levels(),
            s.MARKERS: markers,
            s.SPANS: np.array([k for span in self.spans for k in span], np.int64),
            s.GROUP_MARKERS: np.array(members, np.int64),
            s.GROUP_COLUMNS: np.array(self.columns, np.int64),
            s.GROUP_MAP: self.group_map,
            s.BLOCK_ROW: self.block_row,
            s.BLOCK_COL: self.block_col,
            s.BLOCK_MAP: np.ascontiguousarray(self.block_map),
        }

    def number_arrays(self) -> dict[Slot, np.ndarray]:
        """The arrays of all slots that hold numbers, flags or addresses of the model."""
        count = len(self.markers)
        records = [
            (g.member, len(g.markers), g.row, g.rows, g.count, g.columns, g.gradient, g.block, g.stiffness, g.map,
             int(g.curved), int(g.damped), int(g.inertial))
            for g in self.groups
            if g not in self.held
        ]  # fmt: skip
        return {
            s.GRAVITY: np.array(self.model.gravity, float),
            s.FUNCTIONS: np.array(self.functions, np.int64).reshape(-1, 3),
            s.LOCAL_R: np.array([marker.position for marker in self.markers], float).reshape(count, 3),
            s.LOCAL_A: np.array([marker.axes for marker in self.markers], float).reshape(count, 9),
            s.GROUPS: np.array(records, s.GROUP),
        }

    def levels(self) -> np.ndarray:
        """The level of every row."""
        level = np.zeros(self.m, np.int64)
        for group in self.groups:
            row = group.row
            for primitive in group.primitives:
                level[row : row + len(primitive.labels)] = kinds.level(primitive)
                row += len(primitive.labels)
        return level

    def work_shapes(self, sparsity: Sparsity) -> dict[Slot, tuple[int, ...]]:
        """The shapes of all slots that are computed."""
        n, m, count = (self.n,), (self.m,), len(self.markers)
        ragged, entries = (6 * sum(map(len, self.spans)),), (self.sizes["block"],)
        shapes: dict[Slot, tuple[int, ...]] = dict.fromkeys((s.Q, s.V, s.A, s.Q_MASS, s.G, s.MA), n)
        shapes |= dict.fromkeys((s.LAM, s.PHI, s.PHI_T, s.PHI_TT, s.PHI_SCALE, s.RATE, s.GAMMA), m)
        shapes |= dict.fromkeys((s.MARKER_V, s.MARKER_F, s.MARKER_B, s.MARKER_X), (count, 6))
        shapes |= {s.MARKER_R: (count, 3), s.MARKER_A: (count, 9)}
        shapes |= dict.fromkeys((s.MARKER_J, s.MARKER_NV, s.MARKER_NA, s.MARKER_BQ, s.MARKER_BV), ragged)
        shapes |= dict.fromkeys((s.GROUP_K, s.GROUP_D), (self.sizes["stiffness"],))
        reactive = self.reads_reactions
        shapes |= {s.ROW_R: (self.sizes["gradient"] * reactive,), s.Q_LAM: (self.sizes["block"] * reactive,)}
        read = int(self.reads_accelerations)
        shapes |= {s.A_NOW: (self.n * read,), s.A_PAST: (self.n * read,), s.SHARE: (1,)}
        shapes |= {s.MARKER_W: (count * read, 6), s.GROUP_M: (self.sizes["stiffness"] * read,)}
        gradients = (s.ROW_G, s.ROW_VH, s.ROW_HV, s.ROW_XH, s.ROW_BH, s.ROW_H3)
        shapes |= dict.fromkeys(gradients, (self.sizes["gradient"],))
        shapes |= dict.fromkeys((s.PHI_Q, s.PHIV_Q, s.PHIA_Q, s.GAMMA_Q, s.GAMMA_V), entries)
        shapes |= dict.fromkeys((s.ANGLES, s.ANGLE_REF, s.ANGLE_SPEED), (len(self.angle_joints),))
        widest = 6 * max([2, *(len(group.markers) for group in self.groups if group.rows)])
        shapes |= {s.TIME: (1,), s.COEF: (6,), s.ENERGY: (3,), s.STATUS: (5,), s.HESSIAN: (widest, widest)}
        values = (len(self.functions) + 1, 3)  # the last line: the time of the others
        shapes |= {s.FUNCTION_VALUES: values, s.MATRIX: (len(sparsity.indices) + 1,)}
        shapes[s.BRANCH] = (self.m, 2)
        shapes[s.GROUP_APART] = (len(self.group_numbers),)
        return shapes

    def ground_markers(self) -> dict[Slot, np.ndarray]:
        """Initial poses of all markers; those of ground and the axes of point masses stay as they are."""
        poses = [marker.pose() for marker in self.markers]
        of_marker = {id(marker): pose for marker, pose in zip(self.markers, poses, strict=True)}
        ends = [(of_marker[id(joint.first)], of_marker[id(joint.second)]) for joint in self.angle_joints]
        angles = np.array([angle_between(first[1], second[1]) for first, second in ends], float)
        return {
            s.MARKER_R: np.array([r for r, _ in poses], float).reshape(-1, 3),
            s.MARKER_A: np.array([A for _, A in poses], float).reshape(-1, 9),
            s.ANGLE_REF: angles,
            s.BRANCH: np.tile([1.0, 0.0], (self.m, 1)),
        }

    def augmentation(self) -> list[tuple[int, float]]:
        """Rows whose weighted square makes body blocks definite: normalisation, joints of bodies without inertia."""
        weights: dict[int, float] = {}
        for body in self.bodies:
            weights.update(enumerate(body.row_weights(), self.own[id(body)][0]))
        for group in self.groups:
            bodies = [
                self.lacks_inertia[id(marker.body)] for marker in group.markers if id(marker.body) in self.lacks_inertia
            ]
            if bodies and group.rows:
                for r in range(group.rows):
                    weights[group.row + r] = max(body.mass for body in bodies)
        return sorted(weights.items())

    def row_names(self) -> tuple[list[str], list[str]]:
        """Names of the rows such as "B.x1.z2", and the labels of the elements they belong to."""
        names = [f"{body.name}.{label}" for body in self.bodies for label in body.own_rows]
        labels = [body.label for body in self.bodies for _ in body.own_rows]
        for group in self.groups:
            for primitive in group.primitives:
                names += [f"{group.name}.{label}" for label in primitive.labels]
                labels += [group.element.label] * len(primitive.labels)
        return names, labels


def check_blocks(body: Any) -> None:
    """Raise unless every coordinate of a body is in one of its blocks."""
    blocks = body.blocks
    if len(blocks) == 1 and blocks[0] == range(body.size):  # as most are
        return
    numbers = [k for block in blocks for k in block]
    check_places(numbers, body, f"The list of the blocks of {body.label}")
    if len(numbers) < body.size:
        raise ModelError(f"{body.label} has coordinates in none of its blocks. Give each of them a block.")


def check_places(numbers: Sequence[int], body: Any, what: str) -> None:
    """Raise unless these are numbers of coordinates of a body, each once: kernels write where they say."""
    if len(set(numbers)) < len(numbers) or not all(0 <= k < body.size for k in numbers):
        raise ModelError(f"{what} is {list(numbers)}. Give numbers of the {body.size} coordinates, each once.")


def compile_model(
    model: Model,
    kernels: Iterable[Kernel] = (),
    *,
    without: Iterable[str] = (),
    like: Structure | None = None,
    apart: bool = False,
) -> System:
    """The equations of a model, ready to be evaluated; `kernels` are others that the caller will need, built together.

    Joints and motions named in `without` are open: they keep their place and their measured coordinates, but no rows.
    With `like`, the structure of another system, the model's numbers alone are compiled; its kernels are loaded.
    `apart` gives every force markers that it shares with nothing else: MARKER_F then tells what each force does.

    Raises
    ------
    ModelError : the model has neither bodies nor states, ties planar bodies out of their plane, or its structure is not
        `like`.
    """
    return Compiler(model, frozenset(without), like, apart).compile(kernels)
