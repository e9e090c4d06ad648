"""The tables of elements and methods on the page docs/reference/api.md, made from their declarations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from index3.files.schema import first_line
from index3.methods.method import METHODS
from index3.registry import ELEMENTS

MARK = re.compile(r"(<!-- (\w+): made from the declarations -->\n).*?(<!-- end -->)", re.DOTALL)


def api_page(text: str) -> str:
    """The page with its tables made anew; they stand between comments that name them."""
    return MARK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


def call(cls: Any) -> str:
    """How a class is called: arguments by place, then those by name that may be left out with `=`."""
    shown = []
    for parameter in inspect.signature(cls).parameters.values():
        required = parameter.default is parameter.empty
        shown.append(parameter.name if required and parameter.kind < parameter.KEYWORD_ONLY else f"{parameter.name}=")
    return f"`{cls.__name__}({', '.join(shown)})`"


def of_package(*kinds: str) -> list[Any]:
    """The classes of elements of the package, by name."""
    found = [cls for cls in ELEMENTS.values() if cls.element in kinds and cls.__module__.startswith("index3.")]
    return sorted(found, key=lambda cls: cls.__name__)


def linked(cls: Any) -> str:
    """What a class is, with the place in the manual."""
    text = first_line(cls).rstrip(".").replace("|", "\\|")
    return f"{text} ([more](../{cls.page}))"


def bodies() -> str:
    """Bodies and blocks of states."""
    lines = "".join(f"| {call(cls)} | {linked(cls)} |\n" for cls in of_package("body", "states"))
    return "| name | what |\n|---|---|\n" + lines


def joints() -> str:
    """Joints and motions."""
    lines = ""
    for cls in of_package("joint", "motion"):
        coordinates = ", ".join(f"`{name}`" for name in getattr(cls, "measures", ()))
        lines += f"| {call(cls)} | {linked(cls)} | {coordinates} |\n"
    return "| name | what | coordinates |\n|---|---|---|\n" + lines


def forces() -> str:
    """Forces."""
    return "| name | what |\n|---|---|\n" + "".join(f"| {call(cls)} | {linked(cls)} |\n" for cls in of_package("force"))


def methods() -> str:
    """Classes of methods."""
    own = [cls for cls in METHODS.values() if cls.__module__.startswith("index3.")]
    lines = "".join(f'| `methods.{cls.__name__}` | `"{cls.key}"` | {cls.summary} |\n' for cls in own)
    return "| class | key | for |\n|---|---|---|\n" + lines


TABLES: dict[str, Callable[[], str]] = {"bodies": bodies, "joints": joints, "forces": forces, "methods": methods}
