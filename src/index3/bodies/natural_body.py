"""Single rigid bodies in natural coordinates: points and unit vectors fixed to them are the unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.algebra.rotations import rotation
from index3.bodies import body_fields
from index3.bodies.body import Body
from index3.bodies.kinematics import Kinematics
from index3.bodies.marker import as_direction, as_number, as_positive, as_vector
from index3.bodies.natural_structure import UNIT, Edges, Frame, Member, Structure, checked_mass
from index3.bodies.planar_body import PlanarBody
from index3.bodies.rigid_body import RigidBody
from index3.bodies.rigid_data import as_inertia, as_quaternion
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, RotationLike


class Natural(Body):
    """What bodies in natural coordinates share: all that the system asks them follows from their structure."""

    kind_name = "natural"
    kernels = "index3.bodies.natural_tables"

    structure: Structure
    mass: float
    _given: list[int]  # coordinates whose rates the user gave
    _vectors: list[list[int]] | None = None  # coordinates of its points and vectors; of a linkage they are not all free
    _weights: list[float]

    def _take(self, structure: Structure) -> None:
        """Declare the coordinates, rows and couplings of a structure."""
        self.structure = structure
        self.coordinate_names = tuple(structure.names)
        size = self.size = self.translations = structure.size
        rates = np.zeros(size)
        rates[: len(self.v0)] = self.v0
        self.q0, self.v0 = np.array(structure.q0), rates
        self.planar = structure.planar
        self.own_rows = tuple(row.label for row in structure.rows)
        self.own_columns = tuple(row.columns for row in structure.rows)
        self.couplings = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
        axes = [form for frame in structure.frames.values() for axis in frame.axes for form in axis]
        self.turning = tuple(sorted({i for form in axes for i in form if i >= 0}))

    @property
    def lacks_inertia(self) -> bool:
        """Whether its mass and its own rows leave some motion without inertia."""
        block = self.structure.mass_matrix()
        for row, weight in zip(self.structure.rows, self.row_weights(), strict=True):
            g = row.gradient(self.q0)
            block += weight * np.outer(g, g)
        values = np.linalg.eigvalsh(block)
        return bool(values[0] <= 1e-12 * max(values[-1], 1e-300))  # rounding of the sums

    @property
    def flat(self) -> bool:  # type: ignore[override]  # of other kinds it is a constant
        """Whether its constant mass matrix is singular, as that of a lamina."""
        values = np.linalg.eigvalsh(self.structure.mass_matrix())
        return bool(values[0] <= 1e-12 * max(values[-1], 1e-300))

    def row_weights(self) -> list[float]:
        """The mass over the square of each row's gradient at the start."""
        gradients = [row.gradient(self.q0) for row in self.structure.rows]
        return [self.mass / max(float(g @ g), 1e-300) for g in gradients]

    def constants(self) -> dict[str, Any]:
        """Names of the coordinates, and of every part how its point and axes depend on them."""
        frames = {name: frame.matrix(self.size) for name, frame in self.structure.frames.items()}
        return {"coordinates": list(self.coordinate_names), "frames": frames}

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Point and axes linear in q; `constants` has the coefficients of every part, that of the body itself first."""
        frames = constants["frames"]
        C = np.asarray(frames[next(iter(frames)) if part is None else part], float)
        pose, rate, second = q @ C[:, :-1].T + C[:, -1], v @ C[:, :-1].T, a @ C[:, :-1].T
        A, A_rate, A_second = (x[:, 3:].reshape(-1, 3, 3) for x in (pose, rate, second))
        w, w_dot = (0.5 * np.cross(A, x, axis=1).sum(axis=2) for x in (A_rate, A_second))
        return Kinematics(pose[:, :3], rate[:, :3], second[:, :3], A, w, w_dot)

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors."""
        return None if self._vectors is None else Places(np.array(self._vectors), np.array(self._weights))

    def frame_of(self, part: str | None) -> Frame:
        """The frame of a part, by default of the first."""
        return next(iter(self.structure.frames.values())) if part is None else self.structure.frames[part]

    def has_part(self, part: str | None) -> bool:
        """Whether it has a part of this name; the first stands for the body."""
        return part is None or part in self.structure.frames

    def part_pose(self, part: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The initial pose of a part."""
        frame = self.frame_of(part)
        return frame.r.copy(), frame.A.copy()

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Origin (3,) and axes (3, 3) of the first part in ground at the initial configuration."""
        return self.part_pose(None)

    def is_oriented(self, part: str | None) -> bool:
        """Whether markers on a part turn with it."""
        return self.frame_of(part).oriented

    def given_rates(self) -> np.ndarray:
        """Of vectors if the angular velocity was given, of points if both were or the velocity of that very point."""
        return np.isin(np.arange(self.size), self._given)

    def _build(
        self,
        members: list[tuple[str, str, np.ndarray]],
        inertia: np.ndarray,
        r: np.ndarray,
        A: np.ndarray,
        planar: bool,
    ) -> list[Member]:
        """One rigid part of members given by name, type and initial value."""
        structure = Structure(planar)
        made = [structure.add_member(*member) for member in members]
        edges = structure.edges(made, self.label)
        if edges.values.shape[1] < (2 if planar else 3):
            raise ModelError(f"{self.label} has points and vectors that lie in one plane. Give some across it.")
        structure.hold_together(edges, made, self.name)
        structure.add_mass(edges, self.mass, inertia, r, A)
        structure.frames["body"] = full_frame(edges, r, A, planar)
        self._take(structure)
        self._vectors = [[i for form in member.form for i in form if i >= 0] for member in made]
        self._weights = [float(member.type == "point") for member in made]
        return made

    def _set_rates(self, members: list[Member], r: np.ndarray, velocity: np.ndarray, w: np.ndarray) -> None:
        """The rates of all members of a body that moves with `velocity` and turns with w, and which count as given."""
        self._given = []
        for member in members:
            central = member.type == "point" and not np.any(member.value - r)
            speed_known = self.velocity_given or member.type == "vector"
            if speed_known and (self.angular_velocity_given or central):
                self._given += [i for form in member.form for i in form]
            rate = np.cross(w, member.value if member.type == "vector" else member.value - r)
            rate = rate if member.type == "vector" else rate + velocity
            for form, x in zip(member.form, rate, strict=True):
                for i in form:
                    self.v0[i] = x


def full_frame(edges: Edges, r: np.ndarray, A: np.ndarray, planar: bool) -> Frame:
    """A frame that moves with a part."""
    x, y, z = (edges.form(A[:, k]) for k in range(3))
    return Frame(edges.point(r), (x, y, UNIT[2] if planar else z), r, A, True)


@register
class NaturalBody(Natural, RigidBody):
    """A rigid body in space whose unknowns are points and unit vectors fixed to it, four in all: 12 coordinates.

    The mass matrix is constant and there are no inertia forces of second order in the rates. Six rows hold the lengths
    of and products between the edges. Its frame has its origin at the centre of mass.

    Parameters
    ----------
    name, mass, inertia, position, orientation, velocity, angular_velocity : as of `RigidBody`; so are `.rod`, ...
    points : one to four points in the body frame [m], the first by default the centre of mass
    vectors : directions in the body frame, to make four together with the points; by default body axes

    Attributes `mass`, `inertia` and those of `Body`; q = (P1, P2, ..., u1, u2, ...) in ground axes.

    Raises
    ------
    ModelError : names the body; also for points and vectors that lie in one plane.

    >>> rod = NaturalBody("rod", 1.0, (0.1, 0.1, 0.001), points=((0, 0, -0.5), (0, 0, 0.5)))
    >>> rod.size, len(rod.own_rows)
    (12, 6)
    >>> rod.coordinate_names[:4]
    ('P1_x', 'P1_y', 'P1_z', 'P2_x')
    """

    fields = body_fields.rigid(body_fields.NATURAL)
    makers = body_fields.solids(body_fields.NATURAL)
    own_rows: tuple[str, ...] = ()
    own_columns: tuple[tuple[int, ...], ...] = ()
    turning: tuple[int, ...] = ()

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        *,
        points: ArrayLike = ((0, 0, 0),),
        vectors: ArrayLike | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: RotationLike = (1, 0, 0, 0),
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> None:
        Body.__init__(self, name, self.kind_name)
        owner = self.label
        self.mass, self.inertia = as_positive(mass, owner, "mass"), as_inertia(inertia, owner)
        r = as_vector(position, owner, "position")
        A = np.array(rotation(as_quaternion(orientation, owner))).reshape(3, 3)
        local = [as_vector(point, owner, "point") for point in as_list(points, owner, "points")]
        if vectors is None:
            directions = missing_axes(local)
        else:
            directions = [np.array(as_direction(u, owner, "vector")) for u in as_list(vectors, owner, "vectors")]
        if len(local) + len(directions) != 4:
            raise ModelError(
                f"{owner} has {len(local)} points and {len(directions)} vectors. Give four together, or no vectors."
            )
        members = [(f"P{k}", "point", r + A @ x) for k, x in enumerate(local, 1)]
        members += [(f"u{k}", "vector", A @ x) for k, x in enumerate(directions, 1)]
        made = self._build(members, self.inertia, r, A, planar=False)
        self.velocity_given, self.angular_velocity_given = velocity is not None, angular_velocity is not None
        speed = as_vector((0, 0, 0) if velocity is None else velocity, owner, "velocity")
        w = as_vector((0, 0, 0) if angular_velocity is None else angular_velocity, owner, "angular velocity")
        self._set_rates(made, r, speed, w)

    def is_oriented(self, part: str | None) -> bool:
        """Always."""
        return True


@register
class NaturalPlanarBody(Natural, PlanarBody):
    """A rigid body in the ground x-y plane whose unknowns are two points fixed to it: 4 coordinates and one row.

    Parameters
    ----------
    name, mass, inertia, position, angle, velocity, spin : as of `PlanarBody`; so is `.rod`
    points : two points (x, y) in the body frame [m]; by default the centre of mass and (1, 0)

    Attributes `mass`, `inertia` (float) and those of `Body`; q = (P1, P2) in ground axes.

    >>> bar = NaturalPlanarBody("bar", 1.0, 0.1, position=(0.5, 0), points=((-0.5, 0), (0.5, 0)))
    >>> bar.q0.tolist(), bar.own_rows
    ([0.0, 0.0, 1.0, 0.0], ('P1-P2.P1-P2',))
    """

    fields = body_fields.NATURAL_PLANAR
    makers = Body.makers
    angle_coordinate = -1

    def __init__(
        self,
        name: str,
        mass: float,
        inertia: float,
        *,
        points: ArrayLike = ((0, 0), (1, 0)),
        position: ArrayLike = (0, 0),
        angle: float = 0.0,
        velocity: ArrayLike | None = None,
        spin: float | None = None,
    ) -> None:
        Body.__init__(self, name, self.kind_name)
        owner = self.label
        self.mass = as_positive(mass, owner, "mass")
        tensor = checked_mass(mass, inertia, owner, planar=True)[1]
        self.inertia = float(tensor[2, 2])
        r = np.append(as_vector(position, owner, "position", 2), 0.0)
        turn = as_number(angle, owner, "angle")
        c, s = np.cos(turn), np.sin(turn)
        A = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
        local = [np.append(as_vector(point, owner, "point", 2), 0.0) for point in as_list(points, owner, "points")]
        if len(local) != 2:
            raise ModelError(f"{owner} has {len(local)} points. Give two.")
        made = self._build([(f"P{k}", "point", r + A @ x) for k, x in enumerate(local, 1)], tensor, r, A, planar=True)
        self.velocity_given, self.angular_velocity_given = velocity is not None, spin is not None
        speed = np.append(as_vector((0, 0) if velocity is None else velocity, owner, "velocity", 2), 0.0)
        self._set_rates(made, r, speed, np.array((0.0, 0.0, as_number(spin or 0.0, owner, "spin"))))


def as_list(value: Any, owner: str, what: str) -> list[Any]:
    """A list of any things."""
    try:
        return list(value)
    except TypeError:
        raise ModelError(f"{owner} has {what} {short(value)}. Give a list of {what}.") from None


def missing_axes(points: list[np.ndarray]) -> list[np.ndarray]:
    """Body axes that make up four with the points, those farthest from the span of the points first."""
    edges = np.array([point - points[0] for point in points[1:]]).reshape(-1, 3).T
    inside = np.linalg.qr(edges)[0] if edges.shape[1] else np.zeros((3, 0))
    chosen: list[np.ndarray] = []
    for _ in range(4 - len(points)):
        across = np.eye(3) - inside @ inside.T
        axis = int(np.argmax(np.round(np.linalg.norm(across, axis=0), 9)))
        chosen.append(np.eye(3)[axis])
        direction = across[:, axis] / max(float(np.linalg.norm(across[:, axis])), 1e-300)
        inside = np.column_stack([inside, direction])
    return chosen
