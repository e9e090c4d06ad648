"""A flexible body: a floating frame and component modes of a structure of finite elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from index3.algebra.rotations import E_transposed, rotation
from index3.bodies import body_fields
from index3.bodies.body import Body, kept
from index3.bodies.marker import as_number, as_positive, as_vector
from index3.bodies.modal_arrays import arrays_of, data_from
from index3.bodies.modal_data import ModalData
from index3.bodies.modal_matrices import as_count, as_damping, as_drawn, as_interfaces, as_named_structure
from index3.bodies.modal_nodes import BodyOfNodes
from index3.bodies.modal_reduced import add_spiders, reduced
from index3.bodies.modal_reduction import component_modes, own_modes
from index3.bodies.rigid_data import as_quaternion
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, DampingLike, MatrixLike, NodeLike, NodesLike, RotationLike

FRAME_NAMES = ("x", "y", "z", "e0", "e1", "e2", "e3")


@register
class ModalBody(BodyOfNodes):
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

    def __init__(
        self,
        name: str,
        mass_matrix: MatrixLike,
        stiffness_matrix: MatrixLike,
        nodes: NodesLike,
        *,
        interface: Sequence[NodeLike | Sequence[NodeLike]],
        modes: int | None = None,
        max_frequency: float | None = None,
        damping: DampingLike = 0.0,
        names: Mapping[str, int] | None = None,
        members: Sequence[Sequence[NodeLike]] = (),
        faces: ArrayLike = (),
        radius: float = 0.0,
        stress: MatrixLike | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        structure, known = as_named_structure(owner, mass_matrix, stiffness_matrix, nodes, names)
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
        modes: ArrayLike,
        mass_matrix: MatrixLike,
        stiffness_matrix: MatrixLike,
        nodes: NodesLike,
        *,
        damping: DampingLike = 0.0,
        names: Mapping[str, int] | None = None,
        members: Sequence[Sequence[NodeLike]] = (),
        faces: ArrayLike = (),
        radius: float = 0.0,
        stress: MatrixLike | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Self:
        """A body that deforms in given shapes alone, the columns of `modes` (6 N or 3 N, n); else as `ModalBody`.

        The shapes need not be orthogonal, to each other or to rigid motions, but must not contain a rigid motion.
        """
        body = cls.__new__(cls)
        Body.__init__(body, name, cls.kind_name)
        owner = body.label
        structure, known = as_named_structure(owner, mass_matrix, stiffness_matrix, nodes, names)
        try:
            given = np.array(modes, float)
        except (TypeError, ValueError, OverflowError):
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
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
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
        data.lines, data.faces = (as_drawn(drawn[k], 2 + k, data.nodes, data.names, owner) for k in (0, 1))
        data.radius = as_number(drawn[2], owner, "radius")
        own = np.sqrt(data.stiffness) / (2.0 * np.pi)  # of given modes with the frame at rest
        self.stiffness, self.damping = data.stiffness.copy(), as_damping(damping, own, owner)
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
