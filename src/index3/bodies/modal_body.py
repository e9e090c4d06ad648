"""A flexible body: a floating frame and component modes of a structure of finite elements."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from index3.algebra.rotations import E_transposed, rotation
from index3.bodies import body_fields
from index3.bodies.body import Body, kept
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import Marker, as_number, as_positive, as_vector, check_name, frame
from index3.bodies.modal_arrays import arrays_of, data_from
from index3.bodies.modal_data import ModalData, invariants, rigid_motions
from index3.bodies.modal_matrices import as_interfaces, as_nodes, as_structure, mass_and_centre, node_number
from index3.bodies.modal_motion import constants_of, frame_of, motion_of, node_of
from index3.bodies.modal_reduction import Interface, Structure, component_modes, own_modes
from index3.bodies.modal_results import QUANTITIES
from index3.bodies.modal_stress import as_recovery
from index3.bodies.rigid_data import as_quaternion, is_singular
from index3.errors import ModelError
from index3.registry import register

FRAME_NAMES = ("x", "y", "z", "e0", "e1", "e2", "e3")
# Largest distance of a joint from the nearest node, relative to the size of the body: farther away it is a slip.
REACH = 0.1


@register
class ModalBody(Body):
    """A flexible body by a floating frame and component modes (Craig-Bampton), from matrices of finite elements.

    Its frame has its origin at the centre of mass without deformation and the axes in which the nodes are given.
    Deformations are small in that frame, which may move and turn in any way.

    Parameters
    ----------
    name : str
    mass_matrix, stiffness_matrix : of the free structure; arrays, sparse matrices of SciPy, or names of files
        (MatrixMarket, .npz). Six rows for each node (ux, uy, uz, rx, ry, rz), or three.
    nodes : (N, 3) places of the nodes [m]; or names of nodes and their places
    interface : the nodes at which joints and forces act, by number or name; a list of nodes in their place is a rigid
        spider. Where nodes have three rows, every interface is a spider of at least three nodes.
    modes : number of modes kept with the interfaces held, besides the six static ones of every interface; all if both
        this and `max_frequency` are left out
    max_frequency : [Hz] of these modes
    damping : ratio to critical damping, of all modes; one for each mode; or a function of the frequency [Hz]
    names : of nodes, to their numbers, where `nodes` has none
    members, faces : nodes that are joined by lines (pairs) and by faces (triples), to be drawn; `radius` of lines [m]
    stress : matrix that makes of the displacements six stresses (xx, yy, zz, xy, yz, zx) for every node
    position, orientation : where the frame of the nodes stands in ground, as of `RigidBody`
    velocity, angular_velocity : of the body frame, ground axes

    Attributes `mass`, `inertia` (3, 3), `frequencies` [Hz], `modes` (their number), `nodes` and those of `Body`;
    q = (r, Euler parameters, modal coordinates of unit modal mass).

    Raises
    ------
    ModelError : names the body; for matrices that no free structure has, and too few interface nodes.
    """

    kernels = "index3.bodies.modal_kernels"
    kind_name = "modal"
    fields = body_fields.MODAL
    makers = MappingProxyType({"from_data": body_fields.MODAL_DATA})
    written_by = "from_data"
    own_rows: tuple[str, ...] = ("normalisation",)
    own_columns: tuple[tuple[int, ...], ...] = ((3, 4, 5, 6),)
    deforms = True
    quantities = QUANTITIES

    def __init__(
        self,
        name: str,
        mass_matrix: Any,
        stiffness_matrix: Any,
        nodes: Any,
        *,
        interface: Any,
        modes: int | None = None,
        max_frequency: float | None = None,
        damping: Any = 0.0,
        names: Mapping[str, int] | None = None,
        members: Any = (),
        faces: Any = (),
        radius: float = 0.0,
        stress: Any = None,
        position: Any = (0, 0, 0),
        orientation: Any = (1, 0, 0, 0),
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        places, known = as_nodes(nodes, owner)
        known |= names or {}
        structure = as_structure(owner, mass_matrix, stiffness_matrix, places)
        interfaces = as_interfaces(interface, structure, known)
        limit = None if max_frequency is None else as_positive(max_frequency, owner, "highest frequency")
        shapes, ends, squares = component_modes(structure, interfaces, as_count(modes, owner), limit)
        data = reduced(structure, known, shapes, squares, stress)
        add_spiders(data, interfaces, ends)
        self._take(data, damping, (members, faces, radius), (position, orientation, velocity, angular_velocity))

    @classmethod
    def from_modes(
        cls,
        name: str,
        modes: Any,
        mass_matrix: Any,
        stiffness_matrix: Any,
        nodes: Any,
        *,
        damping: Any = 0.0,
        names: Mapping[str, int] | None = None,
        members: Any = (),
        faces: Any = (),
        radius: float = 0.0,
        stress: Any = None,
        position: Any = (0, 0, 0),
        orientation: Any = (1, 0, 0, 0),
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> Self:
        """A body that deforms in given shapes alone, the columns of `modes` (6 N or 3 N, n); else as `ModalBody`.

        The shapes need not be orthogonal, to each other or to rigid motions, but must not contain a rigid motion.
        """
        body = cls.__new__(cls)
        Body.__init__(body, name, cls.kind_name)
        owner = body.label
        places, known = as_nodes(nodes, owner)
        known |= names or {}
        structure = as_structure(owner, mass_matrix, stiffness_matrix, places)
        try:
            given = np.array(modes, float)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim != 2 or given.shape[0] != structure.M.shape[0] or not np.all(np.isfinite(given)):
            raise ModelError(
                f"{owner} has modes {short(modes)}. Give a shape in every column, of {structure.M.shape[0]} numbers."
            )
        data = reduced(structure, known, *own_modes(structure, given), stress)
        body._take(data, damping, (members, faces, radius), (position, orientation, velocity, angular_velocity))
        return body

    @classmethod
    def from_data(
        cls,
        name: str,
        data: Mapping[str, Any],
        *,
        position: Any = (0, 0, 0),
        orientation: Any = (1, 0, 0, 0),
        velocity: Any = None,
        angular_velocity: Any = None,
    ) -> Self:
        """A body that was reduced before, from the arrays with which model files keep it."""
        body = cls.__new__(cls)
        Body.__init__(body, name, cls.kind_name)
        structure, damping = data_from(data, body.label)
        drawn = structure.lines, structure.faces, structure.radius
        body._take(structure, 0.0, drawn, (position, orientation, velocity, angular_velocity))
        body.damping = damping
        body.conservative = not np.any(damping)
        return body

    def file_arrays(self) -> tuple[str, dict[str, np.ndarray]]:
        """Its name, and all that `from_data` makes it of."""
        return self.name, arrays_of(self.data, self.damping)

    def _take(self, data: ModalData, damping: Any, drawn: Any, pose: Any) -> None:
        """Take over a reduced structure, and stand where `pose` says."""
        owner = self.label
        position, orientation, velocity, angular_velocity = pose
        keys = ("position", "orientation", "velocity", "angular_velocity")
        self.placed = {key: kept(value) for key, value in zip(keys, pose, strict=True)}
        self.data, self.modes, self.mass = data, len(data.stiffness), data.mass
        data.lines, data.faces = as_drawn(drawn[0], 2, data, owner), as_drawn(drawn[1], 3, data, owner)
        data.radius = as_number(drawn[2], owner, "radius")
        self.stiffness, self.damping = data.stiffness.copy(), as_damping(damping, self.frequencies, owner)
        self.conservative = not np.any(self.damping)
        self.inertia, self.inertia_data = data.inertia.inertia, data.inertia
        self.coordinate_names = (*FRAME_NAMES, *(f"mode{k + 1}" for k in range(self.modes)))
        self.size = len(self.coordinate_names)
        self.turning = tuple(range(3, self.size))
        self.couplings = np.repeat(np.arange(self.size), self.size), np.tile(np.arange(self.size), self.size)
        self.q0, self.v0 = np.zeros(self.size), np.zeros(self.size)
        p = as_quaternion(orientation, owner)
        A = np.array(rotation(p)).reshape(3, 3)
        self.q0[:3], self.q0[3:7] = as_vector(position, owner, "position") + A @ data.centre, p
        self.velocity_given, self.angular_velocity_given = velocity is not None, angular_velocity is not None
        if velocity is not None:
            self.v0[:3] = as_vector(velocity, owner, "velocity")
        if angular_velocity is not None:
            w = as_vector(angular_velocity, owner, "angular velocity")
            self.v0[3:7] = E_transposed(p, (0.5 * w).tolist())  # w = 2 E p' and p . p' = 0

    @property
    def frequencies(self) -> np.ndarray:
        """Of the free body's modes [Hz], by growing frequency."""
        return np.sqrt(self.data.stiffness) / (2.0 * np.pi)

    @property
    def nodes(self) -> np.ndarray:
        """Places of the nodes without deformation, in the frame in which they were given; spiders come last."""
        return self.data.nodes

    @property
    def lacks_inertia(self) -> bool:
        """Whether it has no inertia about some axis."""
        return is_singular(self.inertia)

    def row_weights(self) -> list[float]:
        """4 tr(J)/3, the size of the p block of the mass matrix."""
        return [4.0 * max(float(np.trace(self.inertia)), 1e-6 * self.mass) / 3.0]

    def given_rates(self) -> np.ndarray:
        """A mask of the rates that the user gave; modes start at rest unless joints make them move."""
        given = super().given_rates()
        given[len(FRAME_NAMES) :] = True
        return given

    def constants(self) -> dict[str, Any]:
        """Names of the coordinates, and the nodes with their shapes."""
        return constants_of(self.data, self.coordinate_names, self.label)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Origin (3,) and axes (3, 3) of the body frame in ground at the initial configuration."""
        return self.q0[:3].copy(), np.array(rotation(self.q0[3:7].tolist())).reshape(3, 3)

    def marker_pose(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """As its motion has it."""
        entry = {"position": marker.position, "axes": marker.axes, "part": marker.part}
        still = np.zeros((1, self.size))
        motion = self.marker_motion(self.constants(), entry, self.q0[None], still, still)
        return motion.position[0], motion.rotation[0]

    def part_pose(self, part: str | None) -> tuple[np.ndarray, np.ndarray]:
        """That of a node, or of the body frame."""
        if part is None:
            return self.pose()
        return self.marker_pose(Marker.placed(self, np.zeros(3), np.eye(3), None, part))

    def is_oriented(self, part: str | None) -> bool:
        """Whether markers on a node turn with it; nodes with three coordinates have no rotations."""
        return part is None or bool(self.data.turning[node_of(part)])

    def has_part(self, part: str | None) -> bool:
        """Whether it has such a node."""
        number = (part or "node0").removeprefix("node")
        return number.isdecimal() and int(number) < len(self.data.nodes)

    def shapes_at(self, part: str | None) -> np.ndarray:
        """Displacement and rotation (modes, 6) of a node; none of the body frame."""
        return np.zeros((self.modes, 6)) if part is None else self.data.shapes[node_of(part)].T

    def rest_of(self, part: str | None) -> np.ndarray:
        """The place of a node without deformation in the body frame."""
        return np.zeros(3) if part is None else self.data.nodes[node_of(part)] - self.data.centre

    def marker(
        self, position: Any = (0, 0, 0), *, node: Any = None, x: Any = None, z: Any = None, name: str | None = None
    ) -> Marker:
        """A marker on a node, given by its number or name; `position` from it and directions in the body frame.

        Away from its node it moves as if on a rigid arm. A node with three coordinates gives no axes and no arm.
        Without a node it is the origin of the floating frame, for forces on the body as a whole.
        """
        owner = f"Marker of {self.label}"
        if node is None:
            if np.any(as_vector(position, owner, "position")):
                raise ModelError(f"{owner} stands on no node. Give node=..., one of those the body was made with.")
            return self._on(None, np.zeros(3), frame(z, x, owner), name)
        number = node_number(node, self.data.nodes, self.data.names, self.label)
        arm = as_vector(position, owner, "position")
        if np.any(arm) and not self.data.turning[number]:
            raise ModelError(f"{owner} stands on an arm at node {number}, which has no rotations. Use an interface.")
        return self._on(number, arm, frame(z, x, owner), name)

    def marker_at_pose(self, point: np.ndarray, axes: np.ndarray, name: str | None = None) -> Marker:
        """A marker with the pose (`point`, `axes`) in ground at the start, on the nearest node."""
        number, r, A = self._nearest(point)
        return self._on(number, A.T @ (point - r), A.T @ axes, name)

    def own_marker_at(self, point: np.ndarray) -> Marker:
        """A marker at a `point` of ground at the start, on the nearest node, with its axes."""
        number, r, A = self._nearest(point)
        return self._on(number, A.T @ (point - r), np.eye(3), None)

    def _on(self, number: int | None, arm: np.ndarray, axes: np.ndarray, name: str | None) -> Marker:
        if name is not None:
            check_name(name, f"Marker of {self.label}")
        return Marker.placed(self, arm, axes, name, None if number is None else f"node{number}")

    def _nearest(self, point: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """The number and pose of the node nearest to a point of ground, one with axes unless the point is at it."""
        r, A = self.pose()
        away = np.linalg.norm(self.data.nodes - self.data.centre - A.T @ (point - r), axis=1)
        size = float(np.ptp(self.data.nodes, axis=0).max())
        away[~self.data.turning & (away > 1e-9 * size)] = np.inf
        number = int(np.argmin(away))
        if away[number] > REACH * size:
            raise ModelError(
                f"{self.label} has no node within a tenth of its size of {point.tolist()}. Give a marker: "
                "marker(node=..., position=...)."
            )
        return number, *self.part_pose(f"node{number}")

    def drawing(self) -> dict[str, Any]:
        """Lines along its members, those that follow each other in one, and around its faces; else its shape."""
        lines: list[list[int]] = []
        for first, second in self.data.lines.tolist():
            if lines and lines[-1][-1] == first:
                lines[-1].append(second)
            else:
                lines.append([first, second])
        lines += [[*face, face[0]] for face in self.data.faces.tolist()]
        if not lines:
            return self.shape
        at = {"position": [0.0, 0.0, 0.0], "axes": np.eye(3).tolist()}
        drawn = [[{**at, "part": f"node{node}"} for node in line] for line in lines]
        return {"type": "lines", "lines": drawn, **({"radius": self.data.radius} if self.data.radius else {})}

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Of the body frame, or of a node."""
        if part is None:
            return frame_of(q, v, a)
        return motion_of(constants, {"position": np.zeros(3), "axes": np.eye(3), "part": part}, q, v, a)

    @classmethod
    def marker_motion(
        cls, constants: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """On a node."""
        return motion_of(constants, marker, q, v, a)


def as_count(modes: Any, owner: str) -> int | None:
    """A number of modes, or None."""
    if modes is None:
        return None
    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or modes < 0:
        raise ModelError(f"{owner} has modes {short(modes)}. Give the number of modes to keep, or leave it out.")
    return int(modes)


def as_damping(damping: Any, frequencies: np.ndarray, owner: str) -> np.ndarray:
    """What multiplies the modal rates: 2 zeta w, from a ratio, one for each mode, or a function of the frequency."""
    ratios = [damping(float(f)) for f in frequencies] if callable(damping) else damping
    try:
        zeta = np.broadcast_to(np.array(ratios, float), frequencies.shape)
    except (TypeError, ValueError):
        raise ModelError(
            f"{owner} has damping {short(damping)} for {len(frequencies)} modes. Give one ratio to critical damping, "
            "one for each mode, or a function of the frequency."
        ) from None
    if not np.all(np.isfinite(zeta)) or np.any(zeta < 0.0):
        raise ModelError(f"{owner} has damping ratios that are negative or not finite. Give zero or positive numbers.")
    return 4.0 * np.pi * zeta * frequencies


def as_drawn(value: Any, size: int, data: ModalData, owner: str) -> np.ndarray:
    """Groups of `size` nodes each."""
    groups = [[node_number(node, data.nodes, data.names, owner) for node in group] for group in value]
    for group in groups:
        if len(group) != size:
            raise ModelError(
                f"{owner} has {'members' if size == 2 else 'faces'} of {len(group)} nodes. Give {size} each."
            )
    return np.array(groups, int).reshape(-1, size)


def reduced(
    structure: Structure, names: dict[str, int], modes: np.ndarray, squares: np.ndarray, stress: Any
) -> ModalData:
    """A structure with its modes (coordinates, n) of unit modal mass."""
    mass, centre = mass_and_centre(structure)
    count, per = len(structure.nodes), structure.per_node
    shapes = np.zeros((count, 6, modes.shape[1]))
    shapes[:, :per] = modes.reshape(count, per, -1)
    inertia = invariants(structure.M, modes, rigid_motions(structure.nodes, centre, per))
    recovery = as_recovery(stress, count, per * count, structure.owner)
    return ModalData(
        structure.nodes, names, shapes, np.full(count, per == 6), squares, mass, centre, inertia,
        stress=None if recovery is None else recovery.of_modes(modes),
    )  # fmt: skip


def add_spiders(data: ModalData, interfaces: list[Interface], ends: np.ndarray) -> None:
    """Append the centres of spiders as nodes, and note the names of interfaces; `ends` are their shapes (k, 6, n)."""
    for interface, shapes in zip(interfaces, ends, strict=True):
        number = interface.nodes[0]
        if len(interface.nodes) > 1:
            number = len(data.nodes)
            data.nodes = np.vstack([data.nodes, interface.centre])
            data.shapes = np.concatenate([data.shapes, shapes[None]])
            data.turning = np.append(data.turning, True)
        if interface.name:
            data.names[interface.name] = number
