"""What is written from the declarations of the package: the table of names, the types that editors see, pages.

`python go.py declare` writes the files; a test says when one of them is not what the declarations give.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import index3
from index3.commands.api_page import api_page
from index3.files.schema import schema_text
from index3.methods.method import METHODS
from index3.methods.registry import methods_page
from index3.registry import ELEMENTS, REGISTRIES, Registry, place_of, register

PACKAGE = Path(index3.__file__).parent
DOCS = PACKAGE.parents[1] / "docs" / "reference"
ROOMS = ("bodies", "constraints", "joints", "forces", "linear", "methods", "results")
"""Where things are declared."""
ORDERED = ("SOLVERS", "METHODS")
"""Tables whose order is chosen: what messages and pages name first."""
HEAD = '"""{}; written by `python go.py declare`, not to be edited."""\n'


def read_declarations() -> None:
    """Import every module of these rooms, so that all of them have registered what they declare."""
    for room in ROOMS:
        for module in pkgutil.walk_packages([str(PACKAGE / room)], f"index3.{room}."):
            found = import_module(module.name)
            if room == "constraints" and all(hasattr(found, name) for name in ("ROWS", "STAGES", "record")):
                register(found)


def own(registry: Registry) -> dict[str, Any]:
    """What the package itself has registered, by name in the order of the alphabet."""
    found = {name: thing for name, thing in registry.added.items() if place_of(thing).startswith("index3.")}
    return dict(sorted(found.items()))


def listed(registry: Registry) -> dict[str, Any]:
    """The same in the order of the table that there is, new ones behind the others of their family, if any."""
    found, keys = own(registry), [key for key in registry.places if key in registry.added]
    families = {key: getattr(thing, "family", "") for key, thing in found.items()}
    for key in (key for key in found if key not in keys):
        family = [k for k, other in enumerate(keys) if families[other] == families[key]]
        keys.insert(max(family, default=len(keys) - 1) + 1, key)
    return {key: found[key] for key in keys}


def names_module() -> str:
    """The module `index3.names`."""
    text = HEAD.format("Where all that registers is declared")
    for registry in sorted(REGISTRIES, key=attrgetter("table")):  # whatever was imported first
        things = listed(registry) if registry.table in ORDERED else own(registry)
        lines = "".join(f'    "{name}": "{place_of(thing)}",\n' for name, thing in things.items())
        text += f"\n{registry.table} = {{\n{lines}}}\n"
    return text


def imports(places: Iterable[str]) -> str:
    """Lines that import things from their places "module:name" and show them to type checkers as public."""
    pairs = sorted((place.partition(":")[::2] for place in places), key=in_order)
    return "".join(f"from {module} import {name} as {name}\n" for module, name in pairs)


def in_order(pair: tuple[str, str]) -> tuple[str, int, str]:
    """The order in which ruff wants imports: by module; constants, classes, functions; capitals like others."""
    module, name = pair
    return module, 0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower()


def package_stub() -> str:
    """The types of `index3`."""
    package = vars(index3)
    tables = (package["_HOME"], package["_BESIDE"])
    places = [f"{home}:{name}" for table in tables for home, names in table.items() for name in names]
    places += [place_of(thing) for registry in (ELEMENTS, METHODS) for thing in own(registry).values()]
    text = HEAD.format("The public names of index3 for type checkers and editors") + "\n"
    modules = "".join(f"from index3 import {name} as {name}\n" for name in sorted((*package["_MODULES"], "methods")))
    return text + modules + imports(places) + "\n__version__: str\n"


def methods_stub() -> str:
    """The types of `index3.methods`."""
    text = HEAD.format("The classes of methods for type checkers and editors") + "\n"
    return text + imports(map(place_of, listed(METHODS).values()))


FILES: dict[Path, Callable[[], str]] = {
    PACKAGE / "names.py": names_module,
    PACKAGE / "__init__.pyi": package_stub,
    PACKAGE / "methods" / "__init__.pyi": methods_stub,
    DOCS / "api.md": lambda: api_page((DOCS / "api.md").read_text("utf-8")),
    DOCS / "methods.md": methods_page,
    DOCS / "model_file.schema.json": schema_text,
}
"""Files, and what they should hold once `read_declarations` was called."""


def main() -> None:
    """Write the files."""
    read_declarations()
    for path, text in FILES.items():
        path.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
