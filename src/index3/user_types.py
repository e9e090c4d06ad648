"""Types of what users give, for annotations alone: no module needs them when it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike as ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy import LowLevelCallable
    from scipy.sparse import sparray, spmatrix

    from index3.bodies.body import Body
    from index3.bodies.marker import Marker
    from index3.forces.shapes import Box, Cylinder, Plane, Sphere, Sprocket, Strip
    from index3.methods.method import Method
    from index3.model.model import Model


class SciPyRotation(Protocol):
    """`scipy.spatial.transform.Rotation`."""

    def as_matrix(self) -> np.ndarray:
        """Three columns: the axes of the body in ground."""


class HasState(Protocol):
    """Anything with coordinates and rates: a `Result`, `Static`, or what `assemble` returned."""

    @property
    def q(self) -> np.ndarray:
        """Coordinates (n,), or (n_t, n)."""

    @property
    def v(self) -> np.ndarray:
        """Rates, as the coordinates."""


class PlanarKindSettings(TypedDict, total=False):
    """What some kinds of planar bodies take beside the settings of `PlanarBody`."""

    points: ArrayLike
    """Of a `NaturalPlanarBody`."""


class FrameKindSettings(TypedDict, total=False):
    """What some kinds of rigid bodies take beside the settings of `RigidBody`, `points` apart."""

    reference: RotationLike
    """Of an `EulerAngleBody`."""
    vectors: ArrayLike
    """Of a `NaturalBody`."""


class KindSettings(FrameKindSettings, total=False):
    """What some kinds of rigid bodies take beside the settings of `RigidBody`."""

    points: ArrayLike
    """Of a `NaturalBody`."""


BodyOrMarker: TypeAlias = "Body | Marker"
"""A marker, or a body: then its origin, or a point given beside it."""
PointPair: TypeAlias = "Sequence[ArrayLike]"
"""Two points, or two directions."""
BodiesOrMarkers: TypeAlias = "BodyOrMarker | Sequence[BodyOrMarker]"
RotationLike: TypeAlias = "ArrayLike | SciPyRotation"
"""A quaternion (w, x, y, z), a 3x3 matrix, or a SciPy `Rotation`."""
InitialState: TypeAlias = "HasState | tuple[ArrayLike, ArrayLike] | Mapping[str, float]"
"""Something with a state, (q, v), or joint coordinates by name."""
TimeFunction: TypeAlias = "float | Callable[[float], Any]"
"""A number, or a function of time: in Python, `TimeTable`, `Expression`."""
TimeVector: TypeAlias = "ArrayLike | Callable[[float], ArrayLike]"
"""Numbers, or a function of time that returns them."""
UserFunction: TypeAlias = "Callable[..., Any] | LowLevelCallable"
"""A function in Python, of Numba, or in C."""
Shape: TypeAlias = "Plane | Sphere | Box | Cylinder | Strip | Sprocket"
Changes: TypeAlias = "Mapping[str, Any] | Model"
"""{"element.field": value}, or a model of the same structure."""
FilePath: TypeAlias = "str | PathLike[str]"
MethodLike: TypeAlias = "str | Method"
"""A key of `METHODS`, or an instance."""
Trajectory: TypeAlias = "Callable[[float], float] | Sequence[Callable[[float], float]] | ArrayLike"
"""A function of time, three of them (f, f', f''), or samples."""
NodeLike: TypeAlias = "int | str"
"""A node of a structure, by number or name."""
NodesLike: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"
"""Places of nodes, or names and places."""
MatrixLike: TypeAlias = "ArrayLike | spmatrix | sparray | FilePath"
"""A matrix, a sparse one of SciPy, or the name of its file."""
DampingLike: TypeAlias = "ArrayLike | Callable[[float], float]"
"""Ratios to critical damping, or a function of the frequency [Hz] that gives them."""
AxesLike: TypeAlias = "Axes | np.ndarray"
"""One Axes of Matplotlib, or an array of them."""
Events: TypeAlias = "Callable[..., Any] | Sequence[Callable[..., Any]]"
Progress: TypeAlias = "bool | str | Callable[[float, float], Any]"
