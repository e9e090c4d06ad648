"""Compile a model: number everything, find the pattern, fill the tables, collect the kernels."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from index3.bodies.moving_marker import MovingMarker
from index3.bodies.time_functions import is_zero
from index3.compiled import slots as s
from index3.compiled.failures import Failures
from index3.compiled.interface import Kernel, Slot, Table
from index3.model.model import Model
from index3.registry import PRIMITIVES
from index3.system import kinds, tables
from index3.system.addresses import Addresses
from index3.system.functions import Functions
from index3.system.maps import find_maps, group_records
from index3.system.numbering import Numbering
from index3.system.places import Places
from index3.system.shapes import initial_values, work_shapes
from index3.system.sparsity import Sparsity
from index3.system.structure import Structure, body_part, group_part, keep_structure, known_structure, marker_parts
from index3.system.system import System

StageLine = tuple[str, Kernel, list[Any], Table]
"""A stage, the kernel of a kind that it runs, the elements of this kind and their table."""


class Compiler:
    """Collects the pieces of a `System` in the order in which they depend on each other.

    What follows from the structure alone is taken from `like`, if that is given; the numbers are always the model's.
    """

    def __init__(self, model: Model, without: frozenset[str], like: Structure | None, apart: bool) -> None:
        self.model, self.like = model, like
        self.failures = Failures() if like is None or like.addresses is None else like.addresses.failures
        self.functions = Functions(self.failures)
        self.numbers = Numbering(model, self.functions, without, apart)
        forces = model.forces.values()
        self.reads_reactions = any(force.reads_reactions for force in forces)
        self.reads_accelerations = any(force.reads_accelerations for force in forces)

    def compile(self, kernels: Iterable[Kernel]) -> System:
        """The whole system."""
        numbers, functions, structure = self.numbers, self.functions, self.structure()
        lines = self.stage_lines(structure.sparsity)
        addresses = self.addresses(structure, [(stage, kernel) for stage, kernel, _, _ in lines], kernels)
        fixed = structure.fixed | self.number_arrays()
        fixed[s.CORE], fixed[s.STAGES] = addresses.core, addresses.stages
        of_stage = [stage for stage, _, _, _ in lines]
        counts = [of_stage.count(stage) for stage in kinds.STAGES]
        fixed[s.STAGE_FIRST] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        fixed[s.WORKING], fixed[s.WORKING_FORCES] = working_lines(lines)
        switches = sum(kinds.switches(elements, table) for stage, _, elements, table in lines if stage == "switches")
        reads = self.reads_reactions, self.reads_accelerations
        conservative, reactions_work = self.energy_sources()
        return System(
            name=self.model.name, n=numbers.n, m=numbers.m, bodies=numbers.bodies, starts=numbers.starts,
            groups=numbers.groups, structure=structure, level=fixed[s.LEVEL], fixed=fixed, addresses=addresses,
            work=work_shapes(numbers, len(structure.sparsity.indices), len(functions), *reads)
            | {s.SWITCH: (switches,), s.SWEEP: (s.SWEEP_SIZE if "passes" in of_stage else 0,)},
            initial=initial_values(numbers) | {s.FUNCTION_VALUES: functions.constants},
            stages=[(stage, elements, table) for stage, _, elements, table in lines],
            angle_joints=numbers.angle_joints, augmentation=numbers.augmentation(),
            q0=np.concatenate([body.q0 for body in numbers.bodies]),
            v0=np.concatenate([body.v0 for body in numbers.bodies]),
            conservative=conservative, reactions_work=reactions_work, reads_reactions=self.reads_reactions,
            reads_accelerations=self.reads_accelerations,
            function_labels=functions.labels, failures=self.failures, keep=functions.keep,
        )  # fmt: skip

    def structure(self) -> Structure:
        """What does not depend on numbers: found, or taken over if the parts of the model are the same.

        Raises
        ------
        ModelError : the model has another structure than `like`.
        """
        numbers = self.numbers
        order = numbers.body_order()
        marks = marker_parts(numbers.markers, order)
        parts = [
            ("The model", ("coordinates that move its markers",), (numbers.spans,)),
            *(body_part(body, id(body) in numbers.lacks_inertia) for body in numbers.bodies),
            *(group_part(group, order, marks) for group in numbers.groups),
        ]
        if self.like is not None:
            self.like.check(parts)
            return self.like
        found = known_structure(parts)
        if found is None:
            found = Structure(parts, *find_maps(numbers), *numbers.row_names())
            keep_structure(found)
        return found

    def stage_lines(self, sparsity: Sparsity) -> list[StageLine]:
        """All lines of STAGES, in the order in which the evaluator walks them."""
        stages: dict[str, list[StageLine]] = defaultdict(list)
        for module, elements, table in self.tables(sparsity):
            table.kind, table.memory = module.__name__, getattr(module, "MEMORY", ())
            for stage, kernel in module.STAGES.items():
                stages[stage].append((stage, kernel, elements, table))
        joints = self.numbers.angle_joints
        if joints:
            module = PRIMITIVES["angle"]
            table = tables.measured_angles(joints, self.numbers.markers, self.numbers.first, self.numbers.poses)
            stages["poses"].append(("poses", module.count_turns, joints, table))
            stages["measure"].append(("measure", module.measure, joints, table))
        return [line for stage in kinds.STAGES for line in stages[stage]]

    def tables(self, sparsity: Sparsity) -> Iterator[tables.KindTable]:
        """The tables of every kind of body, primitive and force in the model."""
        numbers = self.numbers
        yield from tables.of_bodies(numbers.bodies, numbers.first, numbers.own, numbers.markers, sparsity)
        others = [group for group in numbers.groups if not hasattr(group.element, "kind")]
        yield from tables.of_primitives([group for group in others if group not in numbers.held])
        if numbers.held:
            yield tables.of_held(numbers.held)
        own = [group for group in numbers.groups if hasattr(group.element, "kind")]  # forces, users' constraints
        yield from tables.of_kinds(own, lambda group: Places(numbers, self.functions, group))
        yield from tables.of_moving(numbers.markers, numbers.groups, self.functions.add)

    def addresses(self, structure: Structure, lines: list[tuple[str, Kernel]], kernels: Iterable[Kernel]) -> Addresses:
        """The addresses of the kernels of all stages, loaded as far as a run with other `kernels` needs them."""
        addresses = structure.addresses
        if addresses is None or addresses.lines != lines:
            failures = self.failures if self.like is not None else Failures()  # systems of other models may share it
            addresses = structure.addresses = Addresses(lines, failures, self.reads_accelerations)
        addresses.load_once(tuple(kernels))
        return addresses

    def number_arrays(self) -> dict[Slot, np.ndarray]:
        """The arrays of all slots that hold numbers, flags or addresses of the model."""
        markers = self.numbers.markers
        return {
            s.GRAVITY: np.array(self.model.gravity, float),
            s.FUNCTIONS: self.functions.addresses,
            s.LOCAL_R: np.array([marker.position for marker in markers], float).reshape(len(markers), 3),
            s.LOCAL_A: np.array([marker.axes for marker in markers], float).reshape(len(markers), 9),
            s.GROUPS: group_records(self.numbers),
        }

    def energy_sources(self) -> tuple[bool, bool]:
        """Whether the energy is constant; whether reactions do work, or forces that depend on them or on `a`."""
        model = self.model
        drives: list[Any] = [x for x in (*model.motions.values(), *model.joints.values()) if hasattr(x, "functions")]
        driven = any(not is_zero(x.functions[x.row_rate]) for x in drives)  # a coordinate that is held does no work
        driven = driven or any(isinstance(marker, MovingMarker) for marker in self.numbers.markers)
        acting = (*self.numbers.bodies, *model.forces.values(), *model.joints.values())
        conservative = all(getattr(element, "conservative", True) for element in acting) and not driven
        users = (joint for joint in model.joints.values() if not getattr(joint, "conservative", True))
        return conservative, driven or self.reads_reactions or self.reads_accelerations or any(users)


def working_lines(lines: list[StageLine]) -> tuple[np.ndarray, np.ndarray]:
    """The lines of the stage of energies in which a kind has elements that do work, and those of the stage of forces
    whose kernel such a kind needs before, because that of energies reads what it wrote."""
    energies = [
        k for k, (stage, _, elements, _) in enumerate(lines)
        if stage == "energies" and not all(getattr(element, "conservative", True) for element in elements)
    ]  # fmt: skip
    kinds_at_work = {lines[k][3].kind for k in energies}
    forces = [
        k for k, (stage, _, _, table) in enumerate(lines)
        if stage == "forces" and table.kind in kinds_at_work
        and not getattr(sys.modules.get(table.kind), "POWER_FROM_POSES", False)
    ]  # fmt: skip
    return np.array(energies, np.int64), np.array(forces, np.int64)


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
