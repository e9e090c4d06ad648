"""Fields of bodies in model files: what they were made with, and the state and shape they were given since."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from index3.errors import ModelError
from index3.fields import (
    DIRECTION,
    FLAG,
    LENGTH,
    POINT,
    TEXT,
    TEXTS,
    Field,
    Fields,
    choice,
    declare,
    field,
    number,
    numbers,
    points,
    vector,
)


def given(**own: Field) -> Fields:
    """Arguments that a body was made with."""
    return {key: kind.found(given_as(key)) for key, kind in own.items()}


def given_as(key: str) -> Callable[[Any], Any]:
    """What finds an argument that a body was made with."""
    return lambda body: arguments_of(body).get(key)


def arguments_of(body: Any) -> dict[str, Any]:
    """What a body was made with, by name."""
    given, bound = _last[0]
    if given is body.given:  # of the fields of a body, one is asked for after the other
        return bound
    arguments, settings = body.given
    kind: Any = type(body)
    signature = signature_of(kind)
    bound = signature.bind(*arguments, **settings).arguments
    for key, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            bound |= bound.pop(key, {})
    _last[0] = body.given, bound
    return bound


_last: list[tuple[Any, dict[str, Any]]] = [(None, {})]
"""What was found last, for which arguments."""


@functools.cache
def signature_of(kind: Any) -> inspect.Signature:
    """The signature of a class, which is slow to find."""
    return inspect.signature(kind)


def state(key: str) -> Field:
    """Coordinates or rates at the start, in place of those that follow from the arguments."""

    def put(body: Any, values: list[float]) -> None:
        if len(values) != body.size:
            known = ", ".join(body.coordinate_names)
            raise ModelError(f"there are {len(values)} numbers. Give {body.size}: {known}.")
        getattr(body, key)[:] = values

    return numbers()._replace(short=True, set=put)


def draw(body: Any, shape: dict[str, Any]) -> None:
    """Set the shape of a body."""
    body.shape = shape


def paint(body: Any, color: str) -> None:
    """Set the colour of a body."""
    body.color = color


STATE = declare(q0=state("q0"), v0=state("v0"))
"""Coordinates and rates at the start, written only where they do not follow from the arguments of a body."""
DRAWN = field("shape")._replace(get=lambda body: None if body.shape == {"type": "none"} else body.shape, set=draw)
COLOR = TEXT._replace(get=lambda body: body.color, set=paint)
BODY = declare(STATE, shape=DRAWN, color=COLOR)
"""Fields that bodies have besides their arguments."""
MASS, FLAT, ORIENTATION = number("mass", positive=True), vector("length", 2), field("orientation")
RATES = given(velocity=vector("length/time"), angular_velocity=vector("angle/time"))
POSE = declare(given(position=POINT, orientation=ORIENTATION), RATES)
PLANAR_RATES = given(velocity=vector("length/time", 2), spin=number("angle/time"))
PLANAR_POSE = declare(given(position=FLAT, angle=number("angle")), PLANAR_RATES)


def rigid(*own: Fields) -> Fields:
    """Those of a kind of rigid body with its own arguments."""
    return declare(POSE, *own, BODY, mass=MASS, inertia=field("inertia"))


def solids(*own: Fields, **more: Fields) -> Mapping[str, Fields]:
    """Those of the convenient forms of a kind of rigid body, and of more that it has."""
    solid = declare(POSE, *own, BODY, mass=MASS, density=number("mass/length^3", positive=True))
    return {
        **more,
        "rod": declare(RATES, *own, BODY, start=POINT, end=POINT, mass=MASS, radius=LENGTH),
        "box": declare(solid, size=POINT),
        "cylinder": declare(solid, radius=LENGTH, length=LENGTH, axis=DIRECTION),
        "sphere": declare(solid, radius=LENGTH),
    }


END_POINT, PRESSURE = field("flat_or_not"), number("force/length^2", positive=True)
FROM_POINTS = declare(RATES, BODY, points=points("length", 3, 1), masses=numbers("mass"))
REFERENCE = given(reference=ORIENTATION)
NATURAL = given(points=points("length", 3, 1, 4), vectors=points("1", 3, 0, 4))
PLANAR = declare(PLANAR_POSE, BODY, mass=MASS, inertia=number("mass*length^2"))
PLANAR_MAKERS: Mapping[str, Fields] = MappingProxyType(
    {"rod": declare(PLANAR_RATES, BODY, start=FLAT, end=FLAT, mass=MASS)}
)
NATURAL_PLANAR = declare(PLANAR, given(points=points("length", 2, 2, 2)))
LINKAGE = declare(given(planar=FLAG), BODY, steps=field("steps"))
POINT_MASS = declare(given(position=POINT, velocity=vector("length/time")), BODY, mass=MASS)
MODAL_POSE = declare(
    BODY,
    position=POINT.found(lambda body: body.placed["position"]),
    orientation=ORIENTATION.found(lambda body: body.placed["orientation"]),
    velocity=vector("length/time").found(lambda body: body.placed["velocity"]),
    angular_velocity=vector("angle/time").found(lambda body: body.placed["angular_velocity"]),
)
MODAL = declare(
    MODAL_POSE,
    given(
        mass_matrix=field("file"), stiffness_matrix=field("file"), nodes=points("length", 3, 1),
        interface=field("nodes"),
        modes=field("count"), max_frequency=number("1/time", positive=True), damping=field("ratios"),
        names=field("numbers_by_name"), members=field("nodes"), faces=field("nodes"), radius=LENGTH,
        stress=field("file"),
    ),
)  # fmt: skip
MODAL_DATA = declare(MODAL_POSE, data=field("arrays").found(lambda body: body.file_arrays()))
STATES = declare(
    initial=numbers().found(lambda block: block.v0), names=TEXTS.found(lambda block: list(block.coordinate_names))
)
ANCF_BEAM = declare(
    given(
        start=END_POINT, end=END_POINT, points=field("axis"), elements=field("count"),
        height=number("length", positive=True), width=number("length", positive=True),
        young=PRESSURE, poisson=number("1"), density=number("mass/length^3", positive=True),
        law=choice("continuum", "elastic-line"), plane=choice("strain", "stress"), damping=field("damping"),
        coordinates=choice("nodal", "cholesky"), gravity_across=choice("ignore"),
    ),
    PLANAR_RATES,
    STATE,
)  # fmt: skip
LINE = declare(
    given(
        start=END_POINT, end=END_POINT, points=field("axis"), elements=field("count"),
        height=number("length", positive=True), width=number("length", positive=True),
        radius=number("length", positive=True),
        young=PRESSURE, poisson=number("1"), density=number("mass/length^3", positive=True), damping=field("damping"),
    ),
    RATES,
    STATE,
)  # fmt: skip
"""Those of cables and beams in space."""
ANCF_CABLE = declare(LINE, given(bending_stiffness=number("force*length^2")))
ANCF_BEAM3D = declare(
    LINE,
    given(
        y=vector("1"), torsion_constant=number("length^4", positive=True), shear_factor=number("1", positive=True)
    ),
)  # fmt: skip
