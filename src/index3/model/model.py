"""The model: what the user said, by name and in order; nonsense is refused when it is added."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from index3.bodies.body import Body
from index3.bodies.ground import Ground
from index3.bodies.marker import as_vector, check_name
from index3.element_type import ElementType
from index3.errors import ModelError
from index3.joints.base import Joint
from index3.model.compiled import Compiled

if TYPE_CHECKING:
    from index3.analysis.check import Check
    from index3.joints.drives import Motion
    from index3.user_types import ArrayLike, FilePath

Element = TypeVar("Element")


class Model(metaclass=ElementType):
    """A mechanism as a list of bodies, joints, motions and forces, each with its own name.

    Parameters
    ----------
    name : str
    gravity : acceleration of free fall in ground axes [m/s^2]

    Attributes
    ----------
    ground : the body that does not move
    bodies, states, joints, motions, forces, controllers : dicts by name, in the order of adding

    >>> from index3.bodies.rigid_body import RigidBody
    >>> from index3.joints.standard import Revolute
    >>> model = Model("pendulum")
    >>> rod = model.add(RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    >>> pin = model.add(Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    >>> model
    Model('pendulum', 1 body, 1 joint)
    """

    guarded = True

    def __init__(self, name: str = "model", *, gravity: ArrayLike = (0, 0, -9.80665)) -> None:
        self.name = name
        if callable(gravity):
            raise ModelError(
                f"Model '{name}' has a function for gravity. Give three numbers; what changes in time is made by "
                "UniformGravity.field(name, bodies, function)."
            )
        self.gravity: np.ndarray = as_vector(gravity, f"Model '{name}'", "gravity")
        self.ground = Ground()
        object.__setattr__(self.ground, "model", self)
        self.bodies: dict[str, Body] = {}
        self.states: dict[str, Any] = {}
        self.joints: dict[str, Joint] = {}
        self.motions: dict[str, Motion] = {}
        self.forces: dict[str, Any] = {}
        self.controllers: dict[str, Any] = {}
        self._compiled = Compiled()

    def __setattr__(self, key: str, value: Any) -> None:
        if key == "gravity":
            value = as_vector(value, f"Model '{self.name}'", "gravity")
        elif key == "name":
            if not isinstance(value, str) or not value.strip():
                raise ModelError(f"Model has the name {short(value)}. Give a string that is not empty.")
        elif "_made" in vars(self) and not key.startswith("_"):
            import difflib  # only for a mistake

            near = difflib.get_close_matches(key, ("name", "gravity"), n=1)
            advice = f"Did you mean '{near[0]}'?" if near else "Add elements by model.add(...)."
            what = f": {key} cannot be set" if key in vars(self) else f" has no attribute '{key}'"
            raise ModelError(f"Model '{self.name}'{what}. {advice}")
        object.__setattr__(self, key, value)

    @property
    def _kinds(self) -> dict[str, dict[str, Any]]:
        kinds: dict[str, dict[str, Any]] = {"body": self.bodies, "states": self.states, "joint": self.joints}
        return kinds | {"motion": self.motions, "force": self.forces, "controller": self.controllers}

    @overload
    def add(self, element: Element) -> Element: ...
    @overload
    def add(self, element: Any, *others: Any) -> tuple[Any, ...]: ...

    def add(self, element: Any, *others: Any) -> Any:
        """Add a body, states, joint, motion, force or controller and return it; several at once come back as a tuple.

        What is refused changes nothing: of several, those before the refused one stay.

        Raises
        ------
        ModelError : the name is taken, or the element refers to something that is not in this model.
        """
        if not others:
            return self._add(element)
        return tuple(self._add(one) for one in (element, *others))

    def _add(self, element: Element) -> Element:
        """Add one element."""
        thing: Any = element
        kind = None if isinstance(element, type) else getattr(element, "element", None)
        if kind not in self._kinds:
            raise ModelError(
                f"Model '{self.name}' cannot add {short(element)}. Give a body, states, joint, motion, force or "
                "controller."
            )
        if isinstance(element, Ground):
            raise ModelError(f"Model '{self.name}' has a ground already. Use model.ground.")
        word = type(element).__name__
        check_name(thing.name, word)
        owner = f"{word} '{thing.name}'"
        taken = next((table[thing.name] for table in self._kinds.values() if thing.name in table), None)
        if taken is element:
            raise ModelError(f"{owner} was already added to model '{self.name}'. Add it once.")
        if taken is not None:
            raise ModelError(
                f"{owner} has the name of a {type(taken).__name__} in model '{self.name}'. Choose another name."
            )
        self._check_parts(thing, kind, owner)
        if kind in ("body", "states"):
            object.__setattr__(thing, "model", self)
        for block in getattr(thing, "own_states", ()):
            object.__setattr__(block, "model", self)
        if kind == "controller":
            thing.connect()
        self._kinds[kind][thing.name] = thing
        return element

    def remove(self, element: Any) -> Any:
        """Take an element, or that of a name, out of the model again and return it; a body may join another model.

        Forces that a controller has set go on with the numbers that they had before it.

        Raises
        ------
        ModelError : it is not in this model, or other elements need it; names them.
        """
        found = self[element] if isinstance(element, str) else element
        kind = next((k for k, table in self._kinds.items() if any(x is found for x in table.values())), None)
        if kind is None:
            raise ModelError(f"Model '{self.name}' has no element {short(element)} to remove.")
        users = [
            other
            for table in self._kinds.values()
            for other in table.values()
            if any(part is found for part in parts_of(other))
        ]
        if users:
            names = ", ".join(f"{type(other).__name__} '{other.name}'" for other in users[:4])
            more = f" and {len(users) - 4} more" if len(users) > 4 else ""
            label = f"{type(found).__name__} '{found.name}'"
            raise ModelError(f"{label} cannot be removed: {names}{more} need it. Remove them first.")
        del self._kinds[kind][found.name]
        if kind in ("body", "states"):
            object.__setattr__(found, "model", None)
        for block in getattr(found, "own_states", ()):
            object.__setattr__(block, "model", None)
        if kind == "controller":
            found.disconnect()
        return found

    def rename(self, element: Any, name: str) -> None:
        """Give an element, or that of a name, another name, as `element.name = name` does; its place in the list stays.

        Raises
        ------
        ModelError : it is not in this model, the name is taken, or a controller reads the element by its name.
        """
        found = self[element] if isinstance(element, str) else element
        table = next((table for table in self._kinds.values() if table.get(found.name) is found), None)
        if table is None:
            raise ModelError(f"Model '{self.name}' has no element {short(element)} to rename.")
        label = f"{type(found).__name__} '{found.name}'"
        check_name(name, type(found).__name__)
        if name in self and self[name] is not found:
            raise ModelError(
                f"{label} cannot become '{name}': a {type(self[name]).__name__} of model '{self.name}' has that name. "
                "Choose another."
            )
        readers = [c for c in self.controllers.values() if any(w.partition(".")[0] == found.name for w in c.inputs)]
        if readers:
            raise ModelError(
                f"{label} cannot become '{name}': {readers[0].label} reads it by its name. Remove the controller first."
            )
        items = [(name if thing is found else key, thing) for key, thing in table.items()]
        table.clear()
        table.update(items)
        for thing in (found, *getattr(found, "own_states", ())):
            object.__setattr__(thing, "name", name)

    def check_parts(self, element: Any) -> None:
        """Raise unless all that an element refers to is in this model."""
        self._check_parts(element, element.element, f"{type(element).__name__} '{element.name}'")

    def _check_parts(self, element: Any, kind: str, owner: str) -> None:
        """Raise unless all that an element refers to is in this model."""
        if kind in ("body", "states"):
            if element.model is not None:
                raise ModelError(
                    f"{owner} belongs to model '{element.model.name}'. Make a new body for model '{self.name}'."
                )
            return
        if kind == "controller":
            for force in element.outputs:
                if self.forces.get(force.name) is not force:
                    raise ModelError(
                        f"{owner} sets {force.label}, which is not in model '{self.name}'. Add that first."
                    )
            return
        bodies = element.bodies if kind == "joint" else [marker.body for marker in getattr(element, "markers", ())]
        bodies = [body for body in bodies if body not in getattr(element, "own_states", ())]
        for body in bodies:
            self._check_part(body, body.model is self, owner)
        joint = getattr(element, "joint", None)
        for part in (*getattr(element, "joints", ()), *([] if joint is None else [joint])):
            self._check_part(part, self.joints.get(part.name) is part, owner)
        if kind == "motion":
            for other in self.motions.values():
                if other.joint is joint and other.coordinate == element.coordinate and other.name != element.name:
                    raise ModelError(
                        f"{owner} and Motion '{other.name}' both drive the {element.coordinate} of {joint.label}: "
                        "contradictory motions. Keep one of them."
                    )

    def _check_part(self, part: Body | Joint, is_here: bool, owner: str) -> None:
        """Raise, saying where it is, for a body or joint that is not in this model."""
        if is_here:
            return
        owners = [part.model] if isinstance(part, Body) else [body.model for body in part.bodies]
        others = [model.name for model in owners if model is not None and model is not self]
        if others:
            raise ModelError(
                f"{owner} refers to {part.label}, which belongs to model '{others[0]}'. "
                f"Use one from model '{self.name}'."
            )
        raise ModelError(f"{owner} refers to {part.label}, which is not in model '{self.name}'. Add that first.")

    @property
    def blocks(self) -> list[Any]:
        """All blocks of first-order states: those that were added, then those that forces own."""
        return [*self.states.values(), *(block for force in self.forces.values() for block in force.own_states)]

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise ModelError(f"Model '{self.name}' has no element {short(name)}. Give a name.")
        if name == "ground":
            return self.ground
        for table in self._kinds.values():
            if name in table:
                return table[name]
        import difflib  # only for a mistake

        near = difflib.get_close_matches(str(name), list(self), n=3)
        advice = f"Did you mean {' or '.join(repr(key) for key in near)}?" if near else f"It has {short(list(self))}."
        raise ModelError(f"Model '{self.name}' has no element {short(name)}. {advice}")

    def __contains__(self, name: object) -> bool:
        return name == "ground" or any(name in table for table in self._kinds.values())

    def __iter__(self) -> Iterator[str]:
        """Names of all elements; ground is not one of them."""
        return (name for table in self._kinds.values() for name in table)

    def __len__(self) -> int:
        """Number of elements, without ground."""
        return sum(map(len, self._kinds.values()))

    def __bool__(self) -> bool:
        """A model is something even while it is empty."""
        return True

    def __repr__(self) -> str:
        plural = {
            "body": "bodies",
            "states": "blocks of states",
            "joint": "joints",
            "motion": "motions",
            "force": "forces",
            "controller": "controllers",
        }
        counts = [f"{len(t)} {kind if len(t) == 1 else plural[kind]}" for kind, t in self._kinds.items() if t]
        return f"Model({', '.join([repr(self.name), *(counts or ['empty'])])})"

    def copy(self) -> Model:
        """An independent model with copies of all elements; functions of the user are shared."""
        return copy.deepcopy(self)

    def check(self) -> Check:
        """Counts, degrees of freedom and redundant rows; prints as a readable text."""
        from index3.analysis.check import check  # asks the compiled equations, which are above this room

        return check(self)

    def save(self, path: FilePath) -> None:
        """Write a file, JSON or TOML by its ending; see `index3.save_model`."""
        from index3.files.write import save_model  # above this room, and slow to import

        save_model(self, path)

    @staticmethod
    def load(path: FilePath) -> Model:
        """The model of a file; see `index3.load_model`."""
        from index3.files.read import load_model

        return load_model(path)


def parts_of(element: Any) -> list[Any]:
    """Everything that an element refers to: bodies, joints, and forces that it sets or reads."""
    if element.element in ("body", "states"):
        return []
    joint, reading = getattr(element, "joint", None), getattr(element, "reading", None)
    lists = (
        [marker.body for marker in getattr(element, "markers", ())],
        *(getattr(element, word, ()) for word in ("bodies", "joints", "outputs")),
        () if reading is None else reading.others,
        () if joint is None else (joint,),
    )
    return [part for some in lists for part in some]
