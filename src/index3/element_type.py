"""What the classes that users write have in common: a slip in a call is answered by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from index3.errors import ModelError


class ElementType(type):
    """The type of a word: `Revolute("pin", a, b, axs=...)` says what `Revolute 'pin'` takes, and so do its makers.

    Python's own `TypeError` names the class whose `__init__` is inherited, and not the element.
    """

    guarded = False
    """Whether attributes are checked that are set once the element is made (see `index3.registry.Element`)."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any) -> Any:
        """A class whose class methods without an underscore answer as the class itself does."""
        for key, value in namespace.items():
            if isinstance(value, classmethod) and not key.startswith("_"):
                namespace[key] = classmethod(answering(value.__func__))
        return super().__new__(mcs, name, bases, namespace, **settings)

    if not TYPE_CHECKING:  # which would take it for the signature of every word

        def __call__(cls, *arguments: Any, **settings: Any) -> Any:
            """An element; a call that its `__init__` cannot take is a ModelError."""
            try:
                with overflows_raise():
                    made = super().__call__(*arguments, **settings)
            except TypeError:
                check_call(cls.__name__, cls.__signature__, arguments, settings)
                raise
            except (OverflowError, FloatingPointError):
                raise too_large(cls.__name__, arguments, settings) from None
            if cls.guarded:
                vars(made)["_made"] = True
            return made

        @property
        def __signature__(cls) -> inspect.Signature:
            """That of its `__init__`, with the settings that it passes on to the class above; for help."""
            known: dict[str, inspect.Parameter] = {}
            for word in (word for word in cls.__mro__ if "__init__" in vars(word) and word is not object):
                own = without_first(inspect.signature(vars(word)["__init__"])).parameters.values()
                more = {x.name: x for x in own if x.kind is x.KEYWORD_ONLY or not known}
                passed_on = [key for key, x in known.items() if x.kind is x.VAR_KEYWORD]
                if known and not (passed_on and more):
                    break
                known = {key: x for key, x in (more | known).items() if key not in passed_on}
            return inspect.Signature(sorted(known.values(), key=lambda x: x.kind))


def overflows_raise() -> Any:
    """A context in which numbers beyond all bounds raise a FloatingPointError instead of going on as infinite."""
    import numpy as np  # only who makes an element needs it

    return np.errstate(over="raise", invalid="raise")


def answering(make: Callable[..., Any]) -> Callable[..., Any]:
    """A class method whose wrong calls are answered by name, for example "RigidBody.rod 'crank'"."""

    @functools.wraps(make)
    def call(cls: type, *arguments: Any, **settings: Any) -> Any:
        try:
            with overflows_raise():
                return make(cls, *arguments, **settings)
        except TypeError:
            own = without_first(inspect.signature(make))
            check_call(f"{cls.__name__}.{make.__name__}", own, arguments, settings)
            raise
        except (OverflowError, FloatingPointError):
            raise too_large(f"{cls.__name__}.{make.__name__}", arguments, settings) from None

    return call


def without_first(signature: inspect.Signature) -> inspect.Signature:
    """The signature of a method as its callers see it."""
    return signature.replace(
        parameters=list(signature.parameters.values())[1:], return_annotation=inspect.Signature.empty
    )


def too_large(word: str, arguments: Sequence[Any], settings: dict[str, Any]) -> ModelError:
    """The answer to numbers whose squares or products are beyond what a computer's numbers reach."""
    name = arguments[0] if arguments else settings.get("name")
    owner = f"{word} '{name}'" if isinstance(name, str) else word
    return ModelError(f"{owner} has numbers so large that their products overflow. Give it in SI units.")


def check_call(word: str, signature: inspect.Signature, arguments: Sequence[Any], settings: dict[str, Any]) -> None:
    """Raise a ModelError if a word with this signature cannot be called so."""
    try:
        signature.bind(*arguments, **settings)
    except TypeError:
        name = arguments[0] if arguments else settings.get("name")
        owner = f"{word} '{name}'" if isinstance(name, str) and "name" in signature.parameters else word
        refuse(owner, signature, len(arguments), settings)


def refuse(owner: str, signature: inspect.Signature, count: int, settings: dict[str, Any]) -> NoReturn:
    """Say what is unknown, given twice or missing in a call with `count` arguments and these settings."""
    own = signature.parameters.values()
    known = [x.name for x in own if x.kind not in (x.VAR_KEYWORD, x.VAR_POSITIONAL)]
    places = [x.name for x in own if x.kind is x.POSITIONAL_OR_KEYWORD]
    free = [key for key in known if key not in settings and key not in places[:count]]
    missing = [key for key in free if signature.parameters[key].default is inspect.Parameter.empty]
    passed_on = any(x.kind is x.VAR_KEYWORD for x in own)  # settings that it does not know itself
    takes = f"It takes {', '.join(known)}{' and more' if passed_on else ''}." if known else "It takes nothing."
    for key in (key for key in settings if key not in known):
        if not passed_on or nearest(key, free):
            raise ModelError(f"{owner} has no setting {key}. {nearest(key, free)}{takes}") from None
    for key in places[:count]:
        if key in settings:
            raise ModelError(f"{owner} is given {key} twice, by position and by name. Give it once.") from None
    if missing and count <= len(places):
        raise ModelError(f"{owner} lacks {' and '.join(missing)}. {takes}") from None
    by_name = [f"{x.name}=..." for x in own if x.kind is x.KEYWORD_ONLY]
    advice = f"Write {', '.join(by_name)} by name." if by_name else takes
    raise ModelError(f"{owner} is given {count} positional values, but takes {len(places)}. {advice}") from None


SYNONYMS = {
    "k": "stiffness", "c": "damping", "d": "damping", "l0": "length", "free_length": "length", "rest_length": "length",
    "m": "mass", "j": "inertia", "i": "inertia", "mu": "friction", "omega": "angular_velocity", "rho": "density",
    "e": "young", "nu": "poisson", "quaternion": "orientation", "rotation": "orientation", "location": "position",
    "function": "f", "torque": "f", "thrust": "f", "point": "at", "direction": "axis", "dt": "t_eval",
}  # fmt: skip
"""What other programs and books call some settings, in small letters."""


def nearest(key: str, known: Sequence[str]) -> str:
    """The advice that goes with a setting that is not one of the known ones; empty if none is near."""
    if SYNONYMS.get(key.lower()) in known:
        return f"Did you mean {SYNONYMS[key.lower()]}? "
    parts = [word for word in known if len(word) > 2 and len(key) > 2 and (key in word or word in key)]
    import difflib  # only for a mistake

    near = difflib.get_close_matches(key, known, n=1) or sorted(parts, key=len, reverse=True)
    return f"Did you mean {near[0]}? " if near else ""
