"""What all bodies share: a name, initial coordinates and rates, markers, a shape to draw."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from index3.bodies.body_fields import arguments_of, signature_of
from index3.bodies.colors import as_color
from index3.bodies.kinematics import Kinematics, carried, on_arm
from index3.bodies.marker import Marker, as_flag, as_vector, check_name, frame
from index3.bodies.transport import Places
from index3.errors import ModelError
from index3.registry import Element, kernels_of

if TYPE_CHECKING:
    from index3.model.model import Model
    from index3.user_types import ArrayLike

COORDINATES = {
    "rigid": ("x", "y", "z", "e0", "e1", "e2", "e3"),
    "euler": ("x", "y", "z", "phi", "theta", "psi"),
    "planar": ("x", "y", "angle"),
    "point": ("x", "y", "z"),
    "ground": (),
    "states": (),
}
"""Names of the coordinates of the kinds that always have the same; others name their own."""

KINDS: dict[str, type[Body]] = {}
"""Every kind of body whose class is imported, by `kind_name`: results know bodies by it."""


def box_of(points: np.ndarray) -> float:
    """Diagonal of the box around points [m]."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


class Body(Element):
    """A body as the user describes it; `RigidBody`, `PlanarBody`, `PointMass`, ... and `Ground` are the kinds.

    A kind also declares what its equations look like, so that the system need not know it, and alone knows how its
    markers move (`span`, `marker_pose`, `frame_motion`, `marker_motion`); a class that sets `kind_name` is a kind.
    Numbers of coordinates are within the body.

    Attributes
    ----------
    name, kind : str; kind is "rigid", "planar", "point", ... or "ground"
    size : int, number of coordinates; `coordinate_names` names them
    q0, v0 : (size,) initial coordinates and their time derivatives [m, rad, s]
    velocity_given, angular_velocity_given : bool, whether the user gave these rates or they are zero by default
    model : the Model it was added to, or None
    shape : dict, what to draw in the body frame, for example {"type": "sphere", "radius": 0.1}
    own_rows : labels of the constraint rows that are the body's own
    own_columns : for each own row the coordinates it depends on
    couplings : (rows, columns) of the entries of its own part of the matrix, in the order that its kernels know
    blocks : its coordinates in blocks, each coordinate in one; a block is eliminated as a whole, so a body whose blocks
        are coupled to few others, as the nodes of a beam are, costs no more than in proportion to their number
    of_record : fields of which nothing is made but the record and the weights of own rows, each with the function that
        makes its attribute of a value and the label of the body; of the class itself alone
    turning : the coordinates that turn its markers
    translations : number of leading coordinates that are no angles or Euler parameters
    angle_coordinate : the coordinate that is its angle about ground z, or -1
    planar, held : whether it can only move in the x-y plane; whether its own rows hold it to ground
    flat : whether some of its coordinates have no mass although its own rows do not hold them
    deforms : whether its markers move against each other
    extent : of a body that deforms, how far its points are apart at rest [m]
    line : whether its markers have a tangent, along x, and no axes across it: torques turn it, `Fixed` holds it
    conservative : whether its energy accounts for all that its own forces do, so that it has no damping
    quantities : what results of the kind have besides motion, by name: functions of (constants, q, v, a, ...), where
        `constants` is what `constants()` gives, with the times as `t`, `gravity` of the model, and `loads`, a function
        that lists what forces and joints do to the body; q, v, a are histories of the coordinates; a `property` of
        such a function is worked out when it is asked for
    """

    kernels: ClassVar[str]  # the module of the kernels of its kind: STAGES and, unless `record` is enough, `table`
    given: tuple[tuple[Any, ...], dict[str, Any]]  # the arguments it was made with, for model files
    element = "body"
    kind_name: str
    mass: float
    page = "elements/bodies.md"
    own_rows: tuple[str, ...] = ()
    own_columns: tuple[tuple[int, ...], ...] = ()
    couplings: tuple[np.ndarray, np.ndarray] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    of_record: ClassVar[Mapping[str, Callable[[Any, str], Any]]] = MappingProxyType({})
    turning: tuple[int, ...] = ()
    translations = 3
    angle_coordinate = -1
    planar = False
    held = False
    flat = False
    deforms = False
    extent = 0.0
    line = False
    conservative = True
    quantities: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "kind_name" in cls.__dict__:
            KINDS[cls.kind_name] = cls
        if "__init__" in cls.__dict__:
            cls.__init__ = remembering(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        if kind != "ground":
            check_name(name, type(self).__name__)
        self.coordinate_names: tuple[str, ...] = COORDINATES.get(kind, ())
        self.size = len(self.coordinate_names)
        self.q0 = np.zeros(self.size)
        self.v0 = np.zeros(self.size)
        self.velocity_given = False
        self.angular_velocity_given = False
        self.model: Model | None = None
        self.shape: dict[str, Any] = {"type": "none"}
        self._color: str | None = None

    def __setattr__(self, key: str, value: Any) -> None:
        """Set an attribute; start and drawing of a body that is made are checked here, its fields as those of others.

        Raises
        ------
        ModelError : there is no such attribute, it is refused, or it follows from the fields.
        """
        if "_made" in vars(self):
            if key in ("q0", "v0"):
                value = as_vector(value, self.label, key, self.size)
            elif key == "shape":
                if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
                    example = "{'type': 'sphere', 'radius': 0.1}"
                    raise ModelError(f"{self.label} has shape {short(value)}. Give a dict with its type, as {example}.")
            elif key in ("velocity_given", "angular_velocity_given"):
                value = as_flag(value, self.label, key)
            else:
                super().__setattr__(key, value)
                return
        object.__setattr__(self, key, value)

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """An argument that the body was made with, such as `young` of a beam, where nothing else has its name."""
            signature = signature_of(type(self)).parameters if "given" in vars(self) else {}
            if name not in signature:
                return super().__getattr__(name)  # which tells where histories are
            return arguments_of(self).get(name, signature[name].default)

    @classmethod
    def check_declaration(cls) -> None:
        """Raise a ModelError if the class or the module of its kernels lacks something."""
        super().check_declaration()
        if not hasattr(cls, "kernels"):
            raise ModelError("it has no kernels. Name the module of the kernels of its kind.")
        if cls.kernels == cls.__module__:  # those elsewhere are asked when first used
            kernels_of(cls.kernels, "STAGES")

    def check_model(self, model: Model) -> None:
        """Raise a ModelError if the body cannot move in this model, which is about to be compiled."""

    def record(self, site: Any) -> tuple[Any, ...]:
        """Its row in the table of its kind, at a site (`index3.system.kinds.Site`)."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def label(self) -> str:
        """How messages call this body, for example "RigidBody 'crank'"."""
        return f"{type(self).__name__} '{self.name}'"

    @property
    def color(self) -> str | None:
        """Its colour in pages, "#rrggbb"; None if the page chooses. May be set by name or by three numbers as well."""
        return self._color

    @color.setter
    def color(self, value: Any) -> None:
        self._color = as_color(value, self.label)

    @property
    def lacks_inertia(self) -> bool:
        """Whether it lacks inertia about some axis, so that only its joints make its equations solvable."""
        return False

    @property
    def turn_length(self) -> float:
        """By which rates of the coordinates behind its `translations` are speeds of its material [m].

        Of rigid bodies the radius of gyration about an axis that has at least the moment of inertia of any.
        """
        return 1.0

    def given_rates(self) -> np.ndarray:
        """A mask of the rates that the user gave."""
        given = np.zeros(self.size, bool)
        given[: self.translations] = self.velocity_given
        given[self.translations :] = self.angular_velocity_given
        return given

    @property
    def places(self) -> Places | None:
        """Which of its coordinates are vectors, so that it can be displaced as a whole; None if that is not known."""
        return None

    def row_weights(self) -> list[float]:
        """For each own row the factor of its square that, added to the mass matrix, makes the body's block definite."""
        return []

    def constants(self) -> dict[str, Any]:
        """What a result needs besides coordinates to know the body's motion: plain lists, strings and numbers."""
        return {}

    @property
    def block(self) -> tuple[np.ndarray, np.ndarray]:
        """The same as `couplings`."""
        return self.couplings

    @property
    def blocks(self) -> Sequence[Sequence[int]]:
        """One, unless a kind says otherwise."""
        return (range(self.size),)

    def span(self, marker: Marker) -> Sequence[int]:
        """The coordinates that move a marker, in the order of the columns that the kind's kernels give it."""
        return range(self.size)

    def drawing(self) -> dict[str, Any]:
        """What to draw of it: by default `shape`, a solid in its frame.

        A body that deforms or has parts may be shown by lines through points that move with it: {"type": "lines",
        "lines": [[section, ...], ...], "radius": ...}. A section is one of its markers in plain numbers, {"position",
        "axes", "part"}, or with "body": "ground" a point of ground. The radius may be left out. Or by its nodes:
        {"type": "faces", "nodes": [section, ...], "members": [[i, j], ...], "faces": [[i, j, k], ...], "radius": ...},
        bars and triangles between them. With "rest", the nodes without deformation in the body frame, the page can
        exaggerate it; with "values" it colours them by one of `quantities`: [name, what it is called with], a history
        (n_t, nodes).
        """
        return self.shape

    @classmethod
    def frame_motion(
        cls, constants: Mapping[str, Any], part: str | None, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Motion of the body frame, or of the frame of a part, from histories of the body's coordinates.

        `constants` is what `constants()` gave, perhaps read from a file.
        """
        raise NotImplementedError(f"{cls.__name__} does not say how its frame moves.")

    @classmethod
    def marker_motion(
        cls, constants: Mapping[str, Any], marker: Mapping[str, Any], q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> Kinematics:
        """Motion of a marker, given as {"position", "axes", "part"}; by default fixed to the frame of its part."""
        frame = cls.frame_motion(constants, marker.get("part"), q, v, a)
        return carried(frame, marker["position"], marker["axes"])

    @classmethod
    def section_places(
        cls, constants: Mapping[str, Any], sections: Sequence[Mapping[str, Any]], q: np.ndarray
    ) -> np.ndarray:
        """Points of many sections of a drawing (n_t, sections, 3); a kind with many may have a faster way."""
        still = np.zeros_like(q)
        return np.stack([cls.marker_motion(constants, each, q, still, still).position for each in sections], axis=1)

    def sections(self) -> list[Mapping[str, Any]]:
        """Places, for `section_places`, by which a deformation is judged; a rigid body has none."""
        drawn = self.drawing() if self.deforms else {}
        return [place for line in (*drawn.get("lines", ()), drawn.get("nodes", ())) for place in line]

    def marker_pose(self, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
        """Point (3,) and axes (3, 3) of a marker at the initial configuration, as `marker_motion` has them."""
        return on_arm(*self.part_pose(marker.part), marker.position, marker.axes)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Origin (3,) and axes (3, 3) of the body frame in ground at the initial configuration."""
        return np.zeros(3), np.eye(3)

    def part_pose(self, part: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The pose of one of the rigid parts of a body that has several."""
        return self.pose()

    def is_oriented(self, part: str | None) -> bool:
        """Whether markers on a part turn with it."""
        return True

    def has_part(self, part: str | None) -> bool:
        """Whether it has a part of this name for markers to sit on."""
        return part is None

    def joint_point(self, point: np.ndarray) -> np.ndarray:
        """Where a joint that is to be at `point` (ground, initial configuration) takes hold of this body."""
        return point

    def clamp_arms(self, marker: Marker) -> Sequence[np.ndarray]:
        """Position gradients at a marker, in ground at the start, which a clamp holds; none if the kind has none."""
        return ()

    def marker_beside(self, marker: Marker, arm: np.ndarray) -> Marker:
        """A marker displaced by an `arm` (ground, initial configuration) that moves with what a clamp holds."""
        r, A = self.marker_pose(marker)
        return self.marker_at_pose(r + arm, A)

    def marker(
        self,
        position: ArrayLike = (0, 0, 0),
        *,
        x: ArrayLike | None = None,
        z: ArrayLike | None = None,
        name: str | None = None,
    ) -> Marker:
        """A marker at `position`, with z and x along the given directions, all in the body frame.

        Without directions it has the body's axes; with one, the other is chosen as `index3.bodies.marker.frame` says.
        """
        owner = f"Marker of {self.label}"
        return self._place(as_vector(position, owner, "position"), frame(z, x, owner), name)

    def marker_at(
        self, point: ArrayLike, *, z: ArrayLike | None = None, x: ArrayLike | None = None, name: str | None = None
    ) -> Marker:
        """A marker given in ground at the initial configuration: `point` and directions of z and x in ground axes."""
        owner = f"Marker of {self.label}"
        return self.marker_at_pose(as_vector(point, owner, "point"), frame(z, x, owner), name)

    def marker_at_pose(self, point: np.ndarray, axes: np.ndarray, name: str | None = None) -> Marker:
        """A marker with the pose (`point`, `axes`) in ground at the initial configuration."""
        r, A = self.pose()
        return self._place(A.T @ (point - r), A.T @ axes, name)

    def own_marker_at(self, point: np.ndarray) -> Marker:
        """A marker at a `point` of ground at the initial configuration, with the axes that a marker has by default."""
        r, A = self.pose()
        return self.marker(A.T @ (point - r))

    def _place(self, position: np.ndarray, axes: np.ndarray, name: str | None) -> Marker:
        if name is not None:
            check_name(name, f"Marker of {self.label}")
        return Marker.placed(self, position, axes, name)


def remembering(initialise: Callable[..., None]) -> Callable[..., None]:
    """An `__init__` that first keeps a copy of its arguments as `given`; of nested ones the outermost."""

    @functools.wraps(initialise)
    def keep(self: Body, *arguments: Any, **settings: Any) -> None:
        if "given" not in self.__dict__:
            self.given = (tuple(map(kept, arguments)), {key: kept(value) for key, value in settings.items()})
        initialise(self, *arguments, **settings)

    return keep


def kept(value: Any) -> Any:
    """A value that its owner may go on to change, as it is now."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return type(value)(map(kept, value)) if type(value) in (list, tuple) else value


def diagonal(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The couplings of a body with a diagonal mass matrix."""
    return np.arange(size), np.arange(size)
