"""What force elements share: the word as the System sees it, and helpers for tables and kernels.

A kind of force is a module with a word, a record type, a `table(elements, places)` and `STAGES`, its kernels by stage:
"forces" adds the wrench F of each element to its markers, "force_derivatives" adds K = -dF/dxi and D = -dF/dV in the
twists of the markers (6 numbers each: dr and dtheta, or v and w, ground axes) and, where the force depends on their
accelerations W, -dF/dW (GROUP_M), "energies" adds potential energy and the power of what is not conservative.
A kernel that meets a broken law returns the element's number plus one; `explain` says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from reprlib import repr as short
from typing import Any, ClassVar, Protocol

import numpy as np

from index3.algebra.vectors import add, scale
from index3.bodies.body import Body
from index3.bodies.marker import Marker, as_vector, check_name
from index3.bodies.states import States
from index3.compiled import slots as s
from index3.compiled.interface import Slot, Table, helper, view
from index3.constraints.rows import axis
from index3.errors import ModelError
from index3.registry import Element, kernels_of

Function = Callable[[float], float]


class Place(Protocol):
    """Where one element stands in the system's tables."""

    markers: Sequence[int]
    stiffness: int  # first place in GROUP_K and GROUP_D
    group: int  # number in GROUPS

    def function(self, f: Function, df: Function, ddf: Function) -> int:
        """Register a function of time and its derivatives; returns its row in FUNCTION_VALUES."""

    def angle(self, joint: Any) -> int:
        """The place of a joint's unwrapped angle in ANGLES and ANGLE_REF."""

    def rows(self, joint: Any) -> tuple[int, int, int, int]:
        """First row and number of rows of a joint, its first places in ROW_G and in GROUP_K."""

    def coordinate_zero(self, joint: Any, coordinate: str) -> float:
        """What a joint's markers show at assembly for one of its coordinates, where that counts as zero."""


class ForceElement(Element):
    """Base of the words for forces.

    Attributes
    ----------
    name : str
    markers : tuple of Marker, the group of markers it acts on
    kind : str, the module of its kernels
    curved, damped : bool, whether it gives derivatives by pose (GROUP_K) and by twist (GROUP_D)
    conservative : bool, False if its work is counted as work instead of potential energy
    functions_of_time : users' functions of t alone that it follows
    own_states : its own blocks of first-order states (see `index3.bodies.states`); their markers are among `markers`
    ties : of a set of like elements, (elements, markers of each) which of `markers` each of them joins, on different
        bodies: each has a group and a record of its own, and is one of `parts`; None of all others

    Symbols: "line" between its markers, "coil", "piston", "spiral", "motor", "bushing". See also
    `index3.registry.Element`.
    """

    element = "force"
    symbol = "line"
    page = "elements/forces.md"
    kind: ClassVar[str]
    markers: tuple[Marker, ...]
    own_states: tuple[States, ...] = ()
    ties: np.ndarray | None = None

    @property
    def functions_of_time(self) -> tuple[Callable[[float], Any], ...]:
        """None, unless it says otherwise."""
        return ()

    @classmethod
    def check_declaration(cls) -> None:
        """Raise a ModelError if the class or the module of its kernels lacks something."""
        if not hasattr(cls, "kind"):
            raise ModelError("it has no kind. Give the class kind = __name__, if its kernels are in this module.")
        if not hasattr(cls, "fields") and not cls.no_file:
            raise ModelError(
                "it has no fields. Give the class the fields of model files, or no_file, the reason why not."
            )
        if cls.kind == cls.__module__:  # kernels elsewhere may need this class: asked when first used
            kernels_of(cls.kind, "STAGES", "table")

    def __init__(self, name: str) -> None:
        check_name(name, type(self).__name__)
        self.name = name

    def __repr__(self) -> str:
        bodies = ", ".join(repr(body.name) for body in self.bodies if body not in self.own_states)
        return f"{type(self).__name__}({self.name!r}, {bodies})"

    @property
    def label(self) -> str:
        """How messages call this force, for example "SpringDamper 'strut'"."""
        return f"{type(self).__name__} '{self.name}'"

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of its markers."""
        return tuple(marker.body for marker in self.markers)

    @property
    def parts(self) -> Sequence[ForceElement]:
        """The elements that stand for it in the equations, each with its record: itself, unless it is a set."""
        return (self,)

    @property
    def curved(self) -> bool:
        """Whether the force has derivatives by the poses of its markers."""
        return True

    @property
    def damped(self) -> bool:
        """Whether the force has derivatives by the velocities of its markers."""
        return False

    @property
    def conservative(self) -> bool:
        """Whether a potential energy accounts for all its work."""
        return False

    @property
    def longest_step(self) -> float:
        """The step [s] that a run may take at most, so that it does not leap over what this force does."""
        return math.inf

    @property
    def reads_reactions(self) -> bool:
        """Whether the force depends on the multipliers of its joint."""
        return False

    @property
    def reads_accelerations(self) -> bool:
        """Whether the force depends on the accelerations of its markers (MARKER_W)."""
        return False

    @property
    def reported(self) -> int:
        """The marker that `force` and `torque` of a result belong to: the second, or the only one."""
        return min(1, sum(marker.body.kind != "states" for marker in self.markers) - 1)

    @property
    def along(self) -> tuple[Any, ...]:
        """What a result measures it along: "line" for that between its markers, or (joint, name of a coordinate)."""
        return ()

    @property
    def spread(self) -> list[list[float]]:
        """Of a load along a beam, for each marker: ends of its piece [m], its number there, how many there are."""
        return []

    @property
    def law_in_numbers(self) -> dict[str, Any] | None:
        """Plain numbers from which a result works out the histories of the force; None if it has no such."""
        return None

    def record(self, place: Place) -> tuple[Any, ...]:
        """The element's row in the table of its kind."""
        raise NotImplementedError

    def explain(self, stage: str, t: float) -> str:
        """What it means that the kernel of a stage returned this element's number at time `t`."""
        return f"{self.label} has no force at t = {t:.6g}."


def element_table(
    slot: Slot, elements: Sequence[ForceElement], places: Sequence[Place], *shared: dict[Any, Any]
) -> Table:
    """A table with one slot: the records of all elements of a kind, which know what they have in common, if they do."""
    records = np.zeros(len(elements), slot.dtype).view(np.recarray)  # kernels that run as plain Python need its dots
    for k, (element, place) in enumerate(zip(elements, places, strict=True)):
        records[k] = element.record(place, *shared)
    table = Table(1)
    table[slot] = records
    return table


def marker_of(owner: str, end: Any, at: Any = None) -> Marker:
    """A marker as given, or one on a given body: at its origin or the ground point `at`, with the body's axes."""
    if isinstance(end, Marker):
        if at is not None:
            raise ModelError(f"{owner} has a marker and also at. Leave one out: the marker carries its point.")
        return end
    if not isinstance(end, Body):
        raise ModelError(f"{owner} cannot act on {short(end)}. Give a body or a marker.")
    return end.marker() if at is None else end.own_marker_at(as_vector(at, owner, "at"))


def moving_end(owner: str, end: Any, at: Any = None) -> Marker:
    """As `marker_of`, but not on ground."""
    marker = marker_of(owner, end, at)
    if marker.body.kind == "ground":
        raise ModelError(f"{owner} acts on ground, which does not move. Give a body that moves.")
    return marker


@helper
def turned(A, marker, x):
    """A vector given in the axes of a marker, in ground axes."""
    return add(add(scale(x[0], axis(A, marker, 0)), scale(x[1], axis(A, marker, 1))), scale(x[2], axis(A, marker, 2)))


@helper
def add_block(group, first, width, a, b, B, c):
    """Add c B to block (a, b) of a group's square matrix; blocks are numbered r, theta of each marker in turn."""
    for i in range(3):
        at = first + (3 * a + i) * width + 3 * b
        for j in range(3):
            group[at + j] += c * B[3 * i + j]


@helper
def next_switches(T, count):
    """The first place in SWITCH of the records of a kind, as many as there are; to be asked once in a kernel."""
    status = view(T, s.STATUS)
    at = status[s.SWITCH_AT]
    status[s.SWITCH_AT] = at + count
    return at
