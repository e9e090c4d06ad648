"""`register`, by which elements, primitives, methods, solvers and sinks become known, those of the package too.

There is a registry for each of these. A base class says by its attribute `registry` which one its classes go to; a
module of kernels is a constraint primitive. What the package declares stands in the table `index3.names` as well, so
that it is found before its module is imported. What other packages bring along stands in their entry points, of the
groups "index3.elements", "index3.primitives", "index3.methods" and "index3.solvers".
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from reprlib import repr as short
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from index3.element_type import ElementType
from index3.errors import ModelError
from index3.fields import Fields

Thing = TypeVar("Thing")
REGISTRIES: list[Registry] = []
"""All registries, each for one kind of thing."""


class Registry(Mapping[str, Any]):
    """All that is registered of one kind, by name.

    Parameters
    ----------
    what : how messages call one of them, for example "method"
    table : name of the table in `index3.names` that says where those of the package are: name -> "module:attribute"
    name : the name of a class
    check : raises a ModelError, without an owner, for a class that lacks something
    """

    def __init__(
        self, what: str, table: str, *, name: Callable[[Any], str], check: Callable[[Any], None] = lambda thing: None
    ) -> None:
        self.what, self.table, self.name_of, self.check = what, table, name, check
        self.added: dict[str, Any] = {}
        REGISTRIES.append(self)

    @property
    def places(self) -> Mapping[str, str]:
        """Where those of the package are."""
        return getattr(import_module("index3.names"), self.table)  # no kernel depends on this table

    @property
    def outside(self) -> Mapping[str, Any]:
        """Entry points of other packages by name; those with a name of this package are not looked at."""
        return {name: entry for name, entry in entry_points(f"index3.{self.what}s", tuple(sys.path)).items()
                if name not in self.places}  # fmt: skip

    def add(self, thing: Any) -> None:
        """Take in a class or module; the same one again, as a cell of a notebook that is run twice, takes its place."""
        name, place = self.name_of(thing), place_of(thing)
        taken = place_of(self.added[name]) if name in self.added else None
        if taken is None and not place.startswith("index3."):
            taken = self.places.get(name)
        if taken is not None and taken != place:
            raise ModelError(
                f"The {self.what} '{name}' of {place.partition(':')[0]} cannot be registered: "
                f"{taken.partition(':')[0]} has one of this name. Choose another name."
            )
        try:
            self.check(thing)
        except ModelError as error:
            raise ModelError(f"The {self.what} '{name}' cannot be registered: {error}") from None
        self.added[name] = thing

    def __getitem__(self, name: str) -> Any:
        if name not in self.added:
            if name in self.places:
                module, _, attribute = self.places[name].partition(":")
                found = import_module(module)  # which registers its classes
                self.add(getattr(found, attribute) if attribute else found)
            else:
                self.add_entry(self.outside[name])
        return self.added[name]

    def add_entry(self, entry: Any) -> None:
        """Take in what an entry point of another package names.

        Raises
        ------
        ModelError : it cannot be imported, or has another name than its entry point.
        """
        owner = f"The {self.what} '{entry.name}' of package {entry.dist.name if entry.dist else entry.value}"
        try:
            thing = entry.load()
        except Exception as error:  # whatever the module of another package may raise
            raise ModelError(f"{owner} cannot be loaded: {type(error).__name__}: {error}") from error
        if self.name_of(thing) != entry.name:
            raise ModelError(
                f"{owner} is called '{self.name_of(thing)}' in {entry.value}. Give its entry point that name."
            )
        self.add(thing)

    def __contains__(self, name: object) -> bool:
        return name in self.added or name in self.places or name in self.outside

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.places, *self.added, *self.outside)))

    def __len__(self) -> int:
        return len({*self.places, *self.added, *self.outside})

    def __repr__(self) -> str:
        return f"<{self.what}s: {', '.join(self)}>"


@functools.cache
def entry_points(group: str, path: tuple[str, ...]) -> dict[str, Any]:
    """The entry points of a group by name, as they are found along a path of packages."""
    from importlib import metadata  # slow, and not needed while the names are those of the package

    return {entry.name: entry for entry in metadata.entry_points(group=group)}


def place_of(thing: Any) -> str:
    """Where a class or module is, as the tables of `index3.names` say it."""
    return thing.__name__ if isinstance(thing, ModuleType) else f"{thing.__module__}:{thing.__qualname__}"


def kernels_of(module: str, *needed: str) -> ModuleType:
    """The module of a kind's kernels.

    Raises
    ------
    ModelError : it lacks one of the `needed` names, such as STAGES.
    """
    found = import_module(module)
    missing = [name for name in needed if not hasattr(found, name)]
    if missing:
        raise ModelError(
            f"module {module} has no {' and no '.join(missing)}. Define that there, above the call of register."
        )
    return found


def check_primitive(module: ModuleType) -> None:
    """Raise unless a module has what a primitive needs."""
    kernels_of(module.__name__, "ROWS", "STAGES", "record")


def primitive_name(module: ModuleType) -> str:
    """`KIND` if the module says it, else the last part of its name."""
    return getattr(module, "KIND", module.__name__.rpartition(".")[2])


ELEMENTS = Registry("element", "ELEMENTS", name=lambda cls: cls.__name__, check=lambda cls: cls.check_declaration())
"""Bodies, states, joints, motions and forces by the names of their classes, which are their types in model files."""


HISTORIES = frozenset({
    "position", "velocity", "acceleration", "rotation", "angular_velocity", "angular_acceleration", "force", "torque",
    "angle", "angle_rate", "displacement", "displacement_rate", "length", "length_rate", "tension", "moment", "power",
})  # fmt: skip
"""Names of histories that users look for at elements."""


class Element(metaclass=ElementType):
    """Base of all that a model is made of; what a class says about itself besides its equations.

    Attributes
    ----------
    element : "body", "states", "joint", "motion" or "force", the part of a model that it goes to
    fields : those of model files (`index3.fields`), by the names of the arguments of its constructor
    makers : class methods that are constructors as well, with their fields
    written_by : the maker by which files that are written make it again; "" for the constructor
    no_file : why no file can hold it, if so
    symbol : what a page draws of it; "" if nothing. An instance may have another than its class
    page : where the manual tells about it, in the folder docs
    """

    registry: ClassVar[Registry] = ELEMENTS
    guarded: ClassVar[bool] = True
    element: ClassVar[str]
    fields: ClassVar[Fields]
    makers: ClassVar[Mapping[str, Fields]] = MappingProxyType({})
    written_by: ClassVar[str] = ""
    no_file: ClassVar[str] = ""
    symbol: ClassVar[str] = ""
    page: ClassVar[str]

    def __setattr__(self, key: str, value: Any) -> None:
        """Set an attribute; once the element is made, its fields are checked as when it was made.

        What begins with an underscore, and what classes of other packages keep, is theirs.

        Raises
        ------
        ModelError : there is no such attribute, its class refuses the value, or it follows from the fields.
        """
        setter = getattr(getattr(type(self), key, None), "fset", None)  # of a property, which checks for itself
        if "_made" not in vars(self) or key.startswith("_") or setter is not None:
            object.__setattr__(self, key, value)
        else:  # in a room above this one, and slow to import
            import_module("index3.files.changes").set_attribute(self, key, value)

    if not TYPE_CHECKING:  # which would believe in every name

        def __getattr__(self, key: str) -> Any:
            """Say where a history is that is asked of the element instead of a result."""
            words, name = f"{type(self).__name__} has no attribute '{key}'.", vars(self).get("name")
            if key in HISTORIES and isinstance(name, str):
                words += f" Histories are in the result of a run: result['{name}'].{key}"
            raise AttributeError(words, name=key, obj=self)

    def solids(self) -> list[dict[str, Any]]:
        """What a page draws of a joint or force besides its symbol: solids, each in the axes of one of its markers.

        A solid is `{"marker": number, "type": ..., ...}` with `box` (size), `sphere` (radius), `cylinder` (radius,
        length; along z unless "axis" says "x" or "y"), `ring` (radius, inner, length), `plane` (the xy plane), `gear`
        (radius, teeth, length, inside), `rack` (pitch, from, to, depth, length; along x, teeth towards y), `tyre`
        (radius, width), `road` (x, z, period, speed, wheel: the number of the marker that rolls on it), `path` (points)
        or `outline` (points of a closed curve in the xy plane, length). `color` and `alpha` may be given.
        """
        return []

    @classmethod
    def check_declaration(cls) -> None:
        """Raise a ModelError if the class lacks something."""
        if not hasattr(cls, "fields") and not cls.no_file:
            raise ModelError("it has no fields. Declare those of model files, or no_file, why there are none.")


@functools.cache
def checked_fields(cls: type[Element]) -> frozenset[str]:
    """The fields of a class that are arguments of its constructor, which checks them."""
    return frozenset(getattr(cls, "fields", ())) & frozenset(inspect.signature(cls).parameters)


PRIMITIVES = Registry("primitive", "PRIMITIVES", name=primitive_name, check=check_primitive)
"""Modules of constraint primitives by name."""


def register(thing: Thing) -> Thing:
    """Make a class or a module of your own known to index3, as index3 does with its own; returns it.

    Parameters
    ----------
    thing : a class derived from `Joint`, `ForceElement`, `Body`, `Method`, `Solver` or `results.sinks.Sink`, registered
        below its kernels; or a module of kernels that is a constraint primitive (`sys.modules[__name__]` for the one
        you are in). A joint, force or body is then a type in model files and in their schema, and drawn by its symbol;
        a method has its key, a solver or sink its name.

    Raises
    ------
    ModelError : the name is taken, the base class is another, or something is missing, such as STAGES.

    >>> import index3 as ix
    >>> @ix.register
    ... class Hinge(ix.Revolute):
    ...     "A revolute joint by another name."
    >>> del ix.registry.ELEMENTS.added["Hinge"]
    """
    registry: Any = PRIMITIVES if isinstance(thing, ModuleType) else getattr(thing, "registry", None)
    if registry is None or not isinstance(thing, type | ModuleType):
        raise ModelError(
            f"register cannot take {short(thing)}. Give a class derived from Joint, ForceElement, Body, Method or "
            "Solver, or the module of a constraint primitive."
        )
    registry.add(thing)
    return thing
