"""A rigid body in space: three coordinates of its centre of mass and four Euler parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np

from index3.algebra.rotations import E_transposed, rotation, spin
from index3.bodies import body_fields
from index3.bodies.body import Body
from index3.bodies.kinematics import Kinematics, as_matrices
from index3.bodies.marker import as_mass, as_number, as_positive, as_vector, frame
from index3.bodies.mass_properties import as_mesh, as_points, joined, of_mesh, of_points, read_mesh
from index3.bodies.pairs import distance
from index3.bodies.rigid_data import as_inertia, as_quaternion, gyration, is_singular, mass_of, parameters_of
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, FrameKindSettings, KindSettings, RotationLike

# Radius over length of a rod given without a radius, used for its inertia about its own axis only.
SLENDER = 0.01


@register
class RigidBody(Body):
    """A rigid body that moves in space; its frame has its origin at the centre of mass.

    Parameters
    ----------
    name : str
    mass : float > 0 [kg]
    inertia : (Ixx, Iyy, Izz) or 3x3, about the centre of mass in body axes [kg m^2]; principal values may be zero
    position : centre of mass in ground [m]
    orientation : quaternion (w, x, y, z), 3x3 matrix (columns are the body axes) or SciPy `Rotation`, body to ground
    velocity, angular_velocity : in ground axes [m/s, rad/s]; zero if left out, and then known as "not given"

    Attributes `mass`, `inertia` (3, 3) and those of `Body`; q = (r, p) with Euler parameters p, and v = q'.

    Raises
    ------
    ModelError : names the body; for numbers that no rigid body has.

    >>> RigidBody("rod", 1.0, (0.1, 0.1, 0.001), position=(0, 0, -0.5)).q0.tolist()
    [0.0, 0.0, -0.5, 1.0, 0.0, 0.0, 0.0]
    """

    fields = body_fields.rigid()
    makers = body_fields.solids(from_points=body_fields.FROM_POINTS)
    of_record: ClassVar[Mapping[str, Any]] = {"mass": as_mass, "inertia": as_inertia}
    kernels = "index3.bodies.rigid_kernels"
    kind_name = "rigid"
    own_rows: tuple[str, ...] = ("normalisation",)
    own_columns: tuple[tuple[int, ...], ...] = ((3, 4, 5, 6),)
    couplings = (  # three diagonal entries of r, the 16 of the p block
        np.concatenate([np.arange(3), np.repeat(np.arange(3, 7), 4)]),
        np.concatenate([np.arange(3), np.tile(np.arange(3, 7), 4)]),
    )
    turning: tuple[int, ...] = (3, 4, 5, 6)

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        *,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        super().__init__(name, self.kind_name)
        owner = self.label
        self.mass = as_mass(mass, owner)
        self.inertia = as_inertia(inertia, owner)
        p = as_quaternion(orientation, owner)
        self.q0[:3] = as_vector(position, owner, "position")
        if velocity is not None:
            self.v0[:3] = as_vector(velocity, owner, "velocity")
            self.velocity_given = True
        w = None if angular_velocity is None else as_vector(angular_velocity, owner, "angular velocity")
        self.angular_velocity_given = w is not None
        self._orient(p, w)

    def _orient(self, p: tuple[float, ...], w: np.ndarray | None) -> None:
        """Set the coordinates of the orientation with Euler parameters p, and their rates if w is given."""
        self.q0[3:] = p
        if w is not None:
            self.v0[3:] = E_transposed(p, (0.5 * w).tolist())  # w = 2 E p' and p . p' = 0

    def record(self, site: Any) -> tuple[Any, ...]:
        """Its row in the table of its kind."""
        return (*site[:5], self.mass, tuple(np.ravel(self.inertia)))

    @property
    def lacks_inertia(self) -> bool:
        """Whether it has no inertia about some axis."""
        return is_singular(self.inertia)

    @property
    def turn_length(self) -> float:
        """Twice a radius of gyration: a body turns twice as fast as its Euler parameters."""
        return 2.0 * gyration(self.inertia, self.mass)

    def row_weights(self) -> list[float]:
        """4 tr(J)/3, the size of the p block of the mass matrix."""
        xx, yy, zz = self.inertia.diagonal().tolist()
        return [4.0 * max(xx + yy + zz, 1e-6 * self.mass) / 3.0]

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return Places(np.array([[0, 1, 2]]), np.ones(1), quaternion=3)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3,) and body axes (3, 3) in ground at the initial configuration."""
        return self.q0[:3].copy(), np.array(rotation(self.q0[3:].tolist())).reshape(3, 3)

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """q = (r, Euler parameters)."""
        p = tuple(q[:, 3:].T)
        w = np.column_stack(spin(p, tuple(v[:, 3:].T)))
        w_dot = np.column_stack(spin(p, tuple(a[:, 3:].T)))  # E(p') p' = 0, so the p'' term is all there is
        return Kinematics(q[:, :3], v[:, :3], a[:, :3], as_matrices(rotation(p)), w, w_dot, q[:, 3:])

    @classmethod
    def _made(
        cls, name: str, mass: float, inertia: ArrayLike, shape: dict[str, Any] | None, pose: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> Self:  # fmt: skip
        """A body of this kind with what is drawn of it; `pose`: position, orientation, velocity, angular velocity."""
        position, orientation, velocity, angular_velocity = pose
        body = cls(
            name, mass, inertia, position=position, orientation=orientation, velocity=velocity,
            angular_velocity=angular_velocity, **settings,
        )  # fmt: skip
        if shape is not None:
            body.shape = shape
        return body

    @classmethod
    def rod(
        cls,
        name: str,
        start: ArrayLike,
        end: ArrayLike,
        mass: float,
        *,
        radius: float = 0.0,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """A uniform rod between two points of ground; origin in the middle, body x axis from start to end.

        With a radius it has the inertia of a solid cylinder. Without one it is thin: m L^2 / 12 about y and z, and
        about x that of a rod with radius L / 100, so that its inertia is never singular. `settings` are those that
        other kinds of rigid bodies have in addition: `reference` of `EulerAngleBody`, `points` and `vectors` of
        `NaturalBody`.

        >>> RigidBody.rod("crank", (0, 0, 0), (0, 0, 2), mass=3.0).inertia.diagonal().round(6).tolist()
        [0.0006, 1.0, 1.0]
        """
        owner = f"{cls.__name__} '{name}'"
        a, b = as_vector(start, owner, "start"), as_vector(end, owner, "end")
        radius, mass = as_number(radius, owner, "radius"), as_positive(mass, owner, "mass")
        length = distance(a, b)
        if length == 0.0:
            raise ModelError(f"{owner} starts and ends at {a.tolist()}. Give two different points.")
        if radius < 0.0:
            raise ModelError(f"{owner} has radius {radius}. Give a positive radius, or 0 for a thin rod.")
        along = mass * (radius or SLENDER * length) ** 2 / 2.0
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        shape = {"type": "rod", "ends": [[-length / 2, 0.0, 0.0], [length / 2, 0.0, 0.0]], "radius": radius}
        pose = (0.5 * (a + b), parameters_of(frame(None, b - a, owner)), velocity, angular_velocity)
        return cls._made(name, mass, (along, across, across), shape, pose, settings)

    @classmethod
    def box(
        cls,
        name: str,
        size: ArrayLike,
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """A uniform box with edges `size` = (along x, y, z); give mass or density, and the keywords of `RigidBody`."""
        owner = f"{cls.__name__} '{name}'"
        a, b, c = (as_positive(edge, owner, "edge") for edge in as_vector(size, owner, "size").tolist())
        mass = mass_of(mass, density, a * b * c, owner)
        squares = (b * b + c * c, c * c + a * a, a * a + b * b)
        inertia = [mass * square / 12.0 for square in squares]
        pose = (position, orientation, velocity, angular_velocity)
        return cls._made(name, mass, inertia, {"type": "box", "size": [a, b, c]}, pose, settings)

    @classmethod
    def cylinder(
        cls,
        name: str,
        radius: float,
        length: float,
        mass: float | None = None,
        *,
        axis: ArrayLike | None = None,
        density: float | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """A uniform solid cylinder about body z; give mass or density, and the keywords of `RigidBody`.

        `axis` is the direction of body z in ground axes, in place of `orientation`: (0, 1, 0) for the wheel of a car.
        """
        owner = f"{cls.__name__} '{name}'"
        if axis is not None:
            if not np.array_equal(np.asarray(orientation), (1, 0, 0, 0)):
                raise ModelError(f"{owner} has an axis and also an orientation. Leave one out.")
            orientation = parameters_of(frame(axis, None, owner, "axis"))
        radius, length = as_positive(radius, owner, "radius"), as_positive(length, owner, "length")
        mass = mass_of(mass, density, math.pi * radius**2 * length, owner)
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        inertia = (across, across, mass * radius**2 / 2.0)
        shape = {"type": "cylinder", "radius": radius, "length": length, "axis": "z"}
        return cls._made(name, mass, inertia, shape, (position, orientation, velocity, angular_velocity), settings)

    @classmethod
    def sphere(
        cls,
        name: str,
        radius: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """A uniform solid sphere; give mass or density, and the keywords of `RigidBody`."""
        owner = f"{cls.__name__} '{name}'"
        radius = as_positive(radius, owner, "radius")
        mass = mass_of(mass, density, 4.0 / 3.0 * math.pi * radius**3, owner)
        inertia, shape = (0.4 * mass * radius**2,) * 3, {"type": "sphere", "radius": radius}
        return cls._made(name, mass, inertia, shape, (position, orientation, velocity, angular_velocity), settings)

    @classmethod
    def from_points(
        cls,
        name: str,
        points: ArrayLike,
        masses: ArrayLike,
        *,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[FrameKindSettings],
    ) -> Self:
        """Several point masses held together; `points` (k, 3) in ground [m], `masses` k numbers [kg].

        The body axes are those of ground at the start. On one line, it has no inertia about that line.

        >>> body = RigidBody.from_points("dumbbell", [(-1, 0, 0), (1, 0, 0)], [2.0, 2.0])
        >>> body.mass, body.inertia.diagonal().tolist()
        (4.0, [0.0, 4.0, 4.0])
        """
        owner = f"{cls.__name__} '{name}'"
        places, weights = as_points(points, masses, owner)
        mass, centre, inertia = of_points(places, weights)
        return cls._made(name, mass, inertia, None, (centre, (1, 0, 0, 0), velocity, angular_velocity), settings)

    @classmethod
    def from_mesh(
        cls,
        name: str,
        vertices: ArrayLike,
        faces: ArrayLike | None = None,
        density: float | None = None,
        *,
        scale: float = 1.0,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """A uniform solid inside a closed surface of triangles, by the divergence theorem; drawn as that surface.

        Parameters
        ----------
        vertices : (n, 3) corners [m], in a frame of the mesh's own; or a file (STL, OBJ, PLY and others that
            trimesh reads, `pip install "index3[mesh]"`), without `faces`
        faces : (k, 3) numbers of three corners each, counter-clockwise seen from outside
        density : float [kg/m^3]
        scale : metres per unit of the mesh, 0.001 for a file in millimetres
        position, orientation : of the frame of the mesh in ground; the body's axes are its axes
        velocity, angular_velocity : as of `RigidBody`, velocity that of the centre of mass

        Raises
        ------
        ModelError : the surface is open, or inside out; the file cannot be read.
        """
        owner = f"{cls.__name__} '{name}'"
        if isinstance(vertices, str | PathLike):
            vertices, faces = read_mesh(vertices, owner)
        corners, triangles = as_mesh(vertices, faces, owner)
        corners = as_positive(scale, owner, "scale") * corners
        mass, centre, inertia = of_mesh(corners, triangles, as_positive(density, owner, "density"), owner)
        A = np.array(rotation(as_quaternion(orientation, owner))).reshape(3, 3)
        place = as_vector(position, owner, "position") + A @ centre
        shape = {"type": "mesh", "vertices": (corners - centre).tolist(), "faces": triangles.tolist()}
        return cls._made(name, mass, inertia, shape, (place, orientation, velocity, angular_velocity), settings)

    @classmethod
    def from_parts(
        cls,
        name: str,
        parts: Sequence[Body],
        *,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        **settings: Unpack[KindSettings],
    ) -> Self:
        """Several rigid bodies and point masses held together, as they stand at the start; none may be in a model.

        The body axes are those of ground at the start.

        >>> ends = [RigidBody.sphere(f"end{x}", 0.1, 1.0, position=(x, 0, 0)) for x in (-1, 1)]
        >>> RigidBody.from_parts("dumbbell", ends).inertia.diagonal().round(3).tolist()
        [0.008, 2.008, 2.008]
        """
        mass, centre, inertia = joined(parts, f"{cls.__name__} '{name}'")
        return cls._made(name, mass, inertia, None, (centre, (1, 0, 0, 0), velocity, angular_velocity), settings)
