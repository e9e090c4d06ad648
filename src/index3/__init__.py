"""Multibody dynamics in Python: describe a mechanism in words, run it compiled, trust the error control.

>>> import index3 as ix
>>> model = ix.library.pendulum()
>>> result = ix.simulate(model, (0.0, 1.0))
>>> result.success
True

The names below are loaded when first used, so that `import index3` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from index3 import names as _names

__version__ = "0.1.0"

_HOME = {  # where public names that are no elements and no methods are defined
    "index3.analysis.assemble": ("assemble",),
    "index3.analysis.audit": ("energy_audit",),
    "index3.analysis.batch": ("batch",),
    "index3.analysis.check": ("check",),
    "index3.analysis.compare": ("compare",),
    "index3.analysis.differentiation": ("differentiation_index",),
    "index3.analysis.first_order": ("FirstOrder",),
    "index3.analysis.inverse_dynamics": ("inverse_dynamics",),
    "index3.analysis.kinematics": ("kinematics",),
    "index3.analysis.linearize": ("linearize",),
    "index3.analysis.local_error": ("local_errors",),
    "index3.analysis.resume": ("resume",),
    "index3.analysis.sensitivity": ("sensitivity",),
    "index3.analysis.simulate": ("prepare", "simulate"),
    "index3.analysis.simulation": ("Simulation",),
    "index3.analysis.static": ("static",),
    "index3.analysis.sweep": ("sweep",),
    "index3.engine.switching": ("Jump", "Switch", "close_joint", "impact", "open_joint"),
    "index3.analysis.topology": ("topology",),
    "index3.bodies.marker": ("Marker",),
    "index3.bodies.moving_marker": ("MovingMarker",),
    "index3.errors": ("AssemblyError", "Index3Error", "ModelError", "SimulationFailed", "SingularError"),
    "index3.files.expressions": ("Expression",),
    "index3.files.read": ("load_model",),
    "index3.files.time_table": ("TimeTable",),
    "index3.files.write": ("save_model",),
    "index3.forces.curve": ("Curve",),
    "index3.forces.road": ("Road",),
    "index3.methods.method": ("METHODS",),
    "index3.model.controller": ("Controller",),
    "index3.model.model": ("Model",),
    "index3.registry": ("register",),
    "index3.results.difference": ("difference",),
    "index3.results.result": ("Result",),
    "index3.results.store": ("load",),
}
_BESIDE = {  # names that work as well, but have a namespace of their own, or are for those who extend index3
    "index3.bodies.body": ("Body",),
    "index3.forces.force": ("ForceElement",),
    "index3.forces.shapes": ("Box", "Cylinder", "Plane", "Sphere", "Sprocket", "Strip"),
    "index3.joints.base": ("Joint", "Primitive"),
    "index3.linear.solver": ("Solver",),
    "index3.methods.direct.bdf_method": ("BDFStabilised",),
    "index3.methods.method": ("Method",),
}
_MODULES = ("errors", "fields", "flexible", "library", "registry", "reproduce", "shapes")
_METHODS = {name: home for home, _, name in (place.partition(":") for place in _names.METHODS.values())}
_PLACES = {name: place.partition(":")[0] for name, place in _names.ELEMENTS.items()} | _METHODS
_PLACES |= {name: home for table in (_HOME, _BESIDE) for home, names in table.items() for name in names}

__all__ = sorted([*(name for names in _HOME.values() for name in names), *_names.ELEMENTS, *_MODULES, "methods"])


class _Methods(ModuleType):
    """The package `index3.methods`: classes of methods by name, `index3.methods.HHT`; called, it prints a table."""

    def __call__(self) -> str:
        """Print a table of the integration methods, and return it as text."""
        return importlib.import_module("index3.methods.registry").methods()

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return getattr(importlib.import_module(_METHODS[name]), name)
        raise AttributeError(f"module 'index3.methods' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(_METHODS)


# a function of this name would be hidden by the package as soon as anything imports it, so the package is the function
importlib.import_module("index3.methods").__class__ = _Methods


def _nearest(name: str) -> str:
    """A hint at the public name that may be meant; Python itself asks for names with underscores."""
    if name.startswith("_"):
        return ""
    elsewhere = {  # what other programs call it
        "hinge": "Revolute", "pin": "Revolute", "ball": "Spherical", "slider": "Prismatic",
        "weld": "Fixed", "hooke": "Universal", "cardan": "Universal", "rod": "Distance", "link": "Distance",
        "tendon": "Rope", "pulley": "Rope", "belt": "Gear or Rope", "cable": "Rope or AncfCable",
        "winch": "Rope or Distance", "mimic": "Gear or Coupler", "cam": "CurveCoupler or PointOnCurve",
        "connect": "Spherical", "slide": "Prismatic", "motor": "Motion or Actuator", "spring": "SpringDamper",
        "damper": "SpringDamper", "tsda": "SpringDamper", "rsda": "RotationalSpringDamper",
        "torsionspring": "RotationalSpringDamper", "gravity": "Model(gravity=...)", "system": "Model",
        "mass": "PointMass", "friction": "JointFriction", "tire": "Tyre",
    }  # fmt: skip
    if other := elsewhere.get(name.lower().removesuffix("joint").removesuffix("constraint")):
        return f". Did you mean {other}?"
    import difflib  # only for a mistake

    near = difflib.get_close_matches(name.lower(), [known.lower() for known in __all__], n=1)
    return f". Did you mean '{next(known for known in __all__ if known.lower() == near[0])}'?" if near else ""


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"index3.{name}")
    else:
        raise AttributeError(f"module 'index3' has no attribute {name!r}{_nearest(name)}")
    globals()[name] = value  # found directly next time
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
