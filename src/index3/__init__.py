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
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:  # `as` makes each a public name for type checkers
    from index3 import errors as errors
    from index3 import library as library
    from index3.analysis.assemble import assemble as assemble
    from index3.analysis.audit import energy_audit as energy_audit
    from index3.analysis.check import check as check
    from index3.analysis.compare import compare as compare
    from index3.analysis.differentiation import differentiation_index as differentiation_index
    from index3.analysis.first_order import FirstOrder as FirstOrder
    from index3.analysis.inverse_dynamics import inverse_dynamics as inverse_dynamics
    from index3.analysis.kinematics import kinematics as kinematics
    from index3.analysis.linearize import linearize as linearize
    from index3.analysis.local_error import local_errors as local_errors
    from index3.analysis.sensitivity import sensitivity as sensitivity
    from index3.analysis.simulate import simulate as simulate
    from index3.analysis.static import static as static
    from index3.analysis.topology import topology as topology
    from index3.bodies.euler_angle_body import EulerAngleBody as EulerAngleBody
    from index3.bodies.marker import Marker as Marker
    from index3.bodies.moving_marker import MovingMarker as MovingMarker
    from index3.bodies.natural_body import NaturalBody as NaturalBody
    from index3.bodies.natural_body import NaturalPlanarBody as NaturalPlanarBody
    from index3.bodies.natural_linkage import NaturalLinkage as NaturalLinkage
    from index3.bodies.planar_body import PlanarBody as PlanarBody
    from index3.bodies.point_mass import PointMass as PointMass
    from index3.bodies.rigid_body import RigidBody as RigidBody
    from index3.bodies.states import States as States
    from index3.engine.switching import Jump as Jump
    from index3.engine.switching import Switch as Switch
    from index3.engine.switching import close_joint as close_joint
    from index3.engine.switching import impact as impact
    from index3.engine.switching import open_joint as open_joint
    from index3.errors import AssemblyError as AssemblyError
    from index3.errors import Index3Error as Index3Error
    from index3.errors import ModelError as ModelError
    from index3.errors import SimulationFailed as SimulationFailed
    from index3.errors import SingularError as SingularError
    from index3.files.expressions import Expression as Expression
    from index3.files.read import load_model as load_model
    from index3.files.time_table import TimeTable as TimeTable
    from index3.files.write import save_model as save_model
    from index3.forces.actuator import Actuator as Actuator
    from index3.forces.added_mass import AddedMass as AddedMass
    from index3.forces.bushing import Bushing as Bushing
    from index3.forces.contact import Contact as Contact
    from index3.forces.contact import ContactSet as ContactSet
    from index3.forces.curve import Curve as Curve
    from index3.forces.drag import Drag as Drag
    from index3.forces.gravity import PointGravity as PointGravity
    from index3.forces.gravity import UniformGravity as UniformGravity
    from index3.forces.joint_friction import JointFriction as JointFriction
    from index3.forces.joint_limit import JointLimit as JointLimit
    from index3.forces.load import Force as Force
    from index3.forces.load import Torque as Torque
    from index3.forces.road import Road as Road
    from index3.forces.rotational_spring_damper import RotationalSpringDamper as RotationalSpringDamper
    from index3.forces.shapes import Box as Box
    from index3.forces.shapes import Cylinder as Cylinder
    from index3.forces.shapes import Plane as Plane
    from index3.forces.shapes import Sphere as Sphere
    from index3.forces.spring_damper import SpringDamper as SpringDamper
    from index3.forces.tyre import Tyre as Tyre
    from index3.forces.user import UserForce as UserForce
    from index3.forces.user_equations import UserEquations as UserEquations
    from index3.forces.vector_force import VectorForce as VectorForce
    from index3.joints import ConstantVelocity as ConstantVelocity
    from index3.joints import CoordinateConstraint as CoordinateConstraint
    from index3.joints import Coupler as Coupler
    from index3.joints import Cylindrical as Cylindrical
    from index3.joints import Distance as Distance
    from index3.joints import Fixed as Fixed
    from index3.joints import Gear as Gear
    from index3.joints import Inline as Inline
    from index3.joints import InPlane as InPlane
    from index3.joints import KnifeEdge as KnifeEdge
    from index3.joints import Motion as Motion
    from index3.joints import Orientation as Orientation
    from index3.joints import ParallelAxes as ParallelAxes
    from index3.joints import PerpendicularAxes as PerpendicularAxes
    from index3.joints import Planar as Planar
    from index3.joints import PointCoincidence as PointCoincidence
    from index3.joints import PointInPlane as PointInPlane
    from index3.joints import PointOnCurve as PointOnCurve
    from index3.joints import Prismatic as Prismatic
    from index3.joints import RackPinion as RackPinion
    from index3.joints import RelativeAngularVelocity as RelativeAngularVelocity
    from index3.joints import RelativeCoordinate as RelativeCoordinate
    from index3.joints import Revolute as Revolute
    from index3.joints import RollingBall as RollingBall
    from index3.joints import RollingCylinder as RollingCylinder
    from index3.joints import RollingDisc as RollingDisc
    from index3.joints import Screw as Screw
    from index3.joints import ShaftCoupling as ShaftCoupling
    from index3.joints import Spherical as Spherical
    from index3.joints import Universal as Universal
    from index3.joints import UserConstraint as UserConstraint
    from index3.methods.augmented.augmented_method import AugmentedIndex1 as AugmentedIndex1
    from index3.methods.augmented.augmented_method import AugmentedIndex3 as AugmentedIndex3
    from index3.methods.augmented.augmented_method import MultiIndex as MultiIndex
    from index3.methods.direct.bdf_method import BDFIndex3 as BDFIndex3
    from index3.methods.direct.bdf_method import BDFStabilised as BDFStabilised
    from index3.methods.direct.generalized_alpha_method import GeneralizedAlpha as GeneralizedAlpha
    from index3.methods.direct.hht_method import HHT as HHT
    from index3.methods.direct.radau_method import Radau5 as Radau5
    from index3.methods.explicit.adams_method import Adams as Adams
    from index3.methods.explicit.half_explicit_method import Hem4 as Hem4
    from index3.methods.explicit.runge_kutta_method import Dop853 as Dop853
    from index3.methods.explicit.runge_kutta_method import Dopri5 as Dopri5
    from index3.methods.registry import METHODS as METHODS
    from index3.methods.state_space.rosenbrock_method import Rosenbrock4 as Rosenbrock4
    from index3.methods.state_space.sdirk_method import DescriptorSDIRK4 as DescriptorSDIRK4
    from index3.methods.state_space.sdirk_method import DescriptorTrapezoidal as DescriptorTrapezoidal
    from index3.methods.state_space.sdirk_method import FirstOrderSDIRK4 as FirstOrderSDIRK4
    from index3.methods.state_space.sdirk_method import StateSpaceTrapezoidal as StateSpaceTrapezoidal
    from index3.methods.tlismni.tlismni_method import TlismniAdams3 as TlismniAdams3
    from index3.methods.tlismni.tlismni_method import TlismniAdams4 as TlismniAdams4
    from index3.methods.tlismni.tlismni_method import TlismniBDF2 as TlismniBDF2
    from index3.methods.tlismni.tlismni_method import TlismniHHT as TlismniHHT
    from index3.methods.tlismni.tlismni_method import TlismniTrapezoidal as TlismniTrapezoidal
    from index3.model.model import Model as Model
    from index3.results.difference import difference as difference
    from index3.results.result import Result as Result

_HOME = {  # where each public name is defined; a test holds this and the imports above together
    "index3.analysis.assemble": ("assemble",),
    "index3.analysis.audit": ("energy_audit",),
    "index3.analysis.check": ("check",),
    "index3.analysis.differentiation": ("differentiation_index",),
    "index3.analysis.first_order": ("FirstOrder",),
    "index3.analysis.inverse_dynamics": ("inverse_dynamics",),
    "index3.analysis.kinematics": ("kinematics",),
    "index3.analysis.linearize": ("linearize",),
    "index3.analysis.local_error": ("local_errors",),
    "index3.analysis.sensitivity": ("sensitivity",),
    "index3.analysis.simulate": ("simulate",),
    "index3.analysis.static": ("static",),
    "index3.bodies.euler_angle_body": ("EulerAngleBody",),
    "index3.analysis.compare": ("compare",),
    "index3.engine.switching": ("Jump", "Switch", "close_joint", "impact", "open_joint"),
    "index3.analysis.topology": ("topology",),
    "index3.bodies.marker": ("Marker",),
    "index3.bodies.moving_marker": ("MovingMarker",),
    "index3.bodies.natural_body": ("NaturalBody", "NaturalPlanarBody"),
    "index3.bodies.natural_linkage": ("NaturalLinkage",),
    "index3.bodies.planar_body": ("PlanarBody",),
    "index3.bodies.point_mass": ("PointMass",),
    "index3.bodies.rigid_body": ("RigidBody",),
    "index3.bodies.states": ("States",),
    "index3.errors": ("AssemblyError", "Index3Error", "ModelError", "SimulationFailed", "SingularError"),
    "index3.files.expressions": ("Expression",),
    "index3.files.read": ("load_model",),
    "index3.files.time_table": ("TimeTable",),
    "index3.files.write": ("save_model",),
    "index3.forces.actuator": ("Actuator",),
    "index3.forces.added_mass": ("AddedMass",),
    "index3.forces.bushing": ("Bushing",),
    "index3.forces.contact": ("Contact", "ContactSet"),
    "index3.forces.curve": ("Curve",),
    "index3.forces.drag": ("Drag",),
    "index3.forces.gravity": ("PointGravity", "UniformGravity"),
    "index3.forces.joint_friction": ("JointFriction",),
    "index3.forces.joint_limit": ("JointLimit",),
    "index3.forces.load": ("Force", "Torque"),
    "index3.forces.rotational_spring_damper": ("RotationalSpringDamper",),
    "index3.forces.road": ("Road",),
    "index3.forces.shapes": ("Box", "Cylinder", "Plane", "Sphere"),
    "index3.forces.spring_damper": ("SpringDamper",),
    "index3.forces.tyre": ("Tyre",),
    "index3.forces.user": ("UserForce",),
    "index3.forces.user_equations": ("UserEquations",),
    "index3.forces.vector_force": ("VectorForce",),
    "index3.joints": (
        "ConstantVelocity",
        "CoordinateConstraint",
        "Coupler",
        "Cylindrical",
        "Distance",
        "Fixed",
        "Gear",
        "InPlane",
        "Inline",
        "KnifeEdge",
        "Motion",
        "Orientation",
        "ParallelAxes",
        "PerpendicularAxes",
        "Planar",
        "PointCoincidence",
        "PointInPlane",
        "PointOnCurve",
        "Prismatic",
        "RackPinion",
        "RelativeAngularVelocity",
        "RelativeCoordinate",
        "Revolute",
        "RollingBall",
        "RollingCylinder",
        "RollingDisc",
        "Screw",
        "ShaftCoupling",
        "Spherical",
        "Universal",
        "UserConstraint",
    ),
    "index3.methods.augmented.augmented_method": ("AugmentedIndex1", "AugmentedIndex3", "MultiIndex"),
    "index3.methods.direct.bdf_method": ("BDFIndex3", "BDFStabilised"),
    "index3.methods.direct.radau_method": ("Radau5",),
    "index3.methods.direct.generalized_alpha_method": ("GeneralizedAlpha",),
    "index3.methods.direct.hht_method": ("HHT",),
    "index3.methods.explicit.adams_method": ("Adams",),
    "index3.methods.explicit.half_explicit_method": ("Hem4",),
    "index3.methods.explicit.runge_kutta_method": ("Dop853", "Dopri5"),
    "index3.methods.state_space.rosenbrock_method": ("Rosenbrock4",),
    "index3.methods.state_space.sdirk_method": (
        "DescriptorSDIRK4",
        "DescriptorTrapezoidal",
        "FirstOrderSDIRK4",
        "StateSpaceTrapezoidal",
    ),
    "index3.methods.tlismni.tlismni_method": (
        "TlismniAdams3",
        "TlismniAdams4",
        "TlismniBDF2",
        "TlismniHHT",
        "TlismniTrapezoidal",
    ),
    "index3.methods.registry": ("METHODS",),
    "index3.model.model": ("Model",),
    "index3.results.difference": ("difference",),
    "index3.results.result": ("Result",),
}
_MODULES = ("errors", "library")
_NAMES = {name: home for home, names in _HOME.items() for name in names}

__all__ = sorted([*_NAMES, *_MODULES, "methods"])


class _Methods(ModuleType):
    """The package `index3.methods`, which users also call: `index3.methods()`."""

    def __call__(self) -> str:
        """Print a table of the integration methods, and return it as text."""
        return importlib.import_module("index3.methods.registry").methods()


# a function of this name would be hidden by the package as soon as anything imports it, so the package is the function
importlib.import_module("index3.methods").__class__ = _Methods


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"index3.{name}")
    else:
        raise AttributeError(f"module 'index3' has no attribute {name!r}")
    globals()[name] = value  # found directly next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
