"""Forces by a user's own function of the motion of a second marker as seen from a first (`index3.forces.relative`)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from index3.bodies.marker import as_numbers
from index3.compiled.callbacks import Form, UserFunctions
from index3.constraints.user_block import FUNCTION, NONE, derivative_mode
from index3.errors import ModelError
from index3.fields import ENDS, FORM, declare, numbers
from index3.forces import vector_force_kernels
from index3.forces.force import ForceElement, Place
from index3.forces.relative import relative_markers
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodyOrMarker, UserFunction


class VectorForce(ForceElement, UserFunctions):
    """A force and torque by your own function on a second marker, in the axes of a first, which takes the opposite.

    Parameters
    ----------
    name : str
    first, second : two markers, or two bodies together with `at` and, if wanted, `axis` (z) and `x`, in ground at the
        initial configuration
    f : function f(t, x, v, p, out) that fills `out` and returns None. t [s]; x (6,), position [m] and rotation vector
        [rad] of the second marker as seen from the first, in its axes; v (6,), velocity [m/s] and angular velocity
        [rad/s] of the second as seen from there; p, the parameters; `out` (6,), zero at entry: force [N] on the second
        body at its marker, and torque [N m], in the axes of the first. The first body takes the opposite at the same
        point. Kinds of functions as for `UserForce`; in C the block is x, v, p, out, K, D.
    parameters : numbers handed to f as `p`
    jacobian : "differences" or None: central differences, 24 calls of f for each Jacobian. A function
        jacobian(t, x, v, p, K, D), which fills, from zero, the (6, 6) derivatives of `out` by x and by v. "none": left
        out; implicit methods then converge more slowly, and not at all if the force is stiff.
    at, axis, x : of the short form

    The markers may turn against each other by less than 3 rad. The work of the force is counted as work.

    Raises
    ------
    ModelError : names the force.

    >>> from index3.bodies.ground import Ground
    >>> from index3.bodies.rigid_body import RigidBody
    >>> def belt(t, x, v, p, out):
    ...     out[:3] = -p[:3] * x[:3] - 1e-3 * p[:3] * v[:3]
    >>> link = RigidBody.box("link", (0.01, 0.02, 0.004), mass=1e-3)
    >>> VectorForce("belt", Ground(), link, belt, (2e6, 2e5, 2e5), at=(0, 0, 0))
    VectorForce('belt', 'ground', 'link')
    """

    kind = vector_force_kernels.__name__
    no_file = "it holds Python functions"
    fields = declare(ENDS, FORM, parameters=numbers())
    arguments = MappingProxyType({"f": ("x", "v", "p", "out"), "jacobian": ("x", "v", "p", "K", "D")})

    def __init__(
        self,
        name: str,
        first: BodyOrMarker,
        second: BodyOrMarker,
        f: UserFunction,
        parameters: ArrayLike = (),
        jacobian: str | UserFunction = "differences",
        *,
        at: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        x: ArrayLike | None = None,
    ) -> None:
        super().__init__(name)
        self.markers = relative_markers(self.label, first, second, at, axis, x)
        if not self.markers[1].oriented:
            raise ModelError(
                f"{self.label} acts on {self.markers[1].body.label}, which has no orientation. "
                "Use a RigidBody, a Bushing with three stiffnesses, or a UserForce."
            )
        self.parameters = as_numbers(parameters, self.label, "parameters")
        self.f = f
        self.jacobian = jacobian
        self.check_function("f", f)
        if self.mode == FUNCTION:
            self.check_function("jacobian", jacobian)

    @property
    def mode(self) -> int:
        """How its derivatives are made."""
        return derivative_mode(self.jacobian)

    @property
    def damped(self) -> bool:
        """Whether derivatives are known."""
        return self.mode != NONE

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        return self.explain_function("jacobian" if stage == "force_derivatives" and self.mode == FUNCTION else "f", t)

    def record(self, place: Place) -> tuple[Any, ...]:
        """The part of its row that does not depend on other elements."""
        return (place.stiffness, self.mode)

    def form(self) -> Form:
        """The parts of its block."""
        names = ("x", "v", "p", "out", "K", "D", "wrench")
        return Form(names, ((6,), (6,), (len(self.parameters),), (6,), (6, 6), (6, 6), (6,)), ("out", "K", "D"))


register(VectorForce)
