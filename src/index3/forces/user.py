"""Forces by a user's own function of the poses and velocities of its markers (see `index3.constraints.user_block`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from index3.bodies.marker import Marker, as_numbers, as_positive
from index3.bodies.states import States
from index3.compiled.callbacks import Form, UserFunctions
from index3.compiled.unread import unread
from index3.constraints.user_block import FUNCTION, NONE, POSES, derivative_mode, pose_shapes
from index3.errors import ModelError
from index3.fields import END, declare, numbers
from index3.forces import user_kernels
from index3.forces.force import ForceElement, Place
from index3.forces.user_blocks import PARTS
from index3.forces.user_reading import Reading, as_flag, ends_of
from index3.registry import register

if TYPE_CHECKING:
    from index3.user_types import ArrayLike, BodiesOrMarkers, UserFunction


class UserForce(ForceElement, UserFunctions):
    """A force by your own function.

    Parameters
    ----------
    name : str
    markers : a marker or body, or a sequence of k of them; a body stands for a marker at its origin with its axes
    f : function f(t, r, A, v, w, p, out) that fills `out` and returns None. t [s]; of each marker the point r (k, 3),
        axes A (k, 3, 3, columns x, y, z), velocity v (k, 3) and angular velocity w (k, 3); p, the parameters; `out`
        (k, 6), zero at entry: force [N] on each marker and torque [N m] about its point. All in ground axes. The
        arrays are used again for the next call: copy what you keep. A plain Python function costs about 1 us a call;
        one decorated with `numba.njit` is compiled into the run. A `scipy.LowLevelCallable` with the signature
        "int64 (double, double *)" gets t and the block r, A, v, w, p, out, K, D row by row, and returns 0 for success;
        `out` or K and D are zero at entry.
    parameters : numbers handed to f as `p`
    jacobian : where the derivatives of the force come from. None or "differences": central differences, 24 k calls of f
        for each Jacobian of an implicit method. A function jacobian(t, r, A, v, w, p, K, D), of any kind that f may be:
        fills, from zero, the (6k, 6k) derivatives of `out` by K: (dr, dtheta) and D: (v, w) of each marker in turn;
        dtheta turns every axis u by dtheta x u. "none": left out (but not those by accelerations), for soft forces;
        implicit methods then converge more slowly, and not at all if the force is stiff.
    states : a block of n first-order states (`States`) whose rates the function also gives. It then is
        f(t, r, A, v, w, p, out, x, rate) with the states x (n,) and their rates to be filled in, zero at entry (several
        forces may name one block: their rates add up); and jacobian(t, r, A, v, w, p, K, D, x), where K and D have 6
        more rows and columns for every 6 states or part of that: the rates are rows 6k ... of both, the states columns
        6k ... of D.
    accelerations : True if the force depends on the accelerations of its markers. The functions then have more
        arguments after all others, f(..., dv, dw) and jacobian(..., M, dv, dw): accelerations dv (k, 3) [m/s^2] and
        angular accelerations dw (k, 3) [rad/s^2], and the derivatives M of `out` by (dv, dw), of the shape of K. In a
        block of doubles dv and dw follow p, and M follows D. The force is found together with the motion it causes.
    reactions : True if the force depends on the reaction of a joint, which then stands in place of `markers`: the force
        acts on the joint's two markers. The functions have more arguments after those of accelerations, f(..., F, T)
        and jacobian(..., L, F, T): force F (3,) [N] and torque T (3,) [N m] of the reaction on the joint's second
        marker, and the derivatives L (6k, 6) of `out` by (F, T); `L` follows M and the arguments dv and dw follow `L`.
        In a block of doubles F and T follow dw, and L follows M. Derivatives of the states' rates by reactions are left
        out of the matrix.
    reads : other `UserForce` or `UserEquations`, whose forces and variables the function sees as its last argument, a
        list with (.out, .z) for each: its wrenches (k, 6) and its variables (m,), as they are at this very state.
        Laws that depend on each other in a loop belong into one `UserEquations`. For plain Python functions.
    longest_step : most that a run may step at once [s], where the function has something to say only for a short time

    The work of the force is counted as work, not as potential energy. A torque on a PointMass has no effect. An
    exception in a Python function ends the run and is shown with its own traceback.

    Raises
    ------
    ModelError : names the force.

    >>> from index3.bodies.point_mass import PointMass
    >>> def drag(t, r, A, v, w, p, out):
    ...     out[0, :3] = -p[0] * v[0]
    >>> UserForce("drag", PointMass("ball", 1.0), drag, parameters=(0.1,))
    UserForce('drag', 'ball')
    """

    kind = user_kernels.__name__
    page = "howto/user_force.md"
    no_file = "it holds Python functions"
    fields = declare(markers=END.found(lambda force: force.ends), parameters=numbers())
    arguments: Mapping[str, tuple[str, ...]] = {"f": (*POSES, "out"), "jacobian": (*POSES, "K", "D")}
    memory: Sequence[float] | np.ndarray = ()
    """Numbers that f may change, as its last argument, and finds again at the next call: at the start of a run."""
    variables_from = variables_to = 0
    """Where variables begin and end in it, which others may see; 0: all that f is given."""

    def __init__(
        self,
        name: str,
        markers: BodiesOrMarkers,
        f: UserFunction,
        parameters: ArrayLike = (),
        jacobian: str | UserFunction | None = None,
        *,
        states: States | None = None,
        accelerations: bool = False,
        reactions: bool = False,
        reads: Sequence[ForceElement] = (),
        longest_step: float = math.inf,
    ) -> None:
        super().__init__(name)
        self.joint, self.ends = ends_of(self.label, markers)
        self.accelerations = as_flag(accelerations, self.label, "accelerations")
        self.reactions = as_flag(reactions, self.label, "reactions")
        if self.reactions and self.joint is None:
            raise ModelError(f"{self.label} depends on reactions. Give the joint they belong to in place of markers.")
        if states is not None and not isinstance(states, States):
            raise ModelError(f"{self.label} has states {short(states)}. Give a block: states=model.add(States(...)).")
        self.reading = Reading(self.label, reads, len(self.ends), len(self.memory), states, self.accelerations)
        self.states = self.reading.states
        self.ends += self.reading.ends
        self.memory = np.concatenate([self.memory, *(other.memory for other in self.reading.others)])
        self.markers = self.ends if self.states is None else (*self.ends, *self.states.markers)
        self._name_arguments()
        self.parameters = as_numbers(parameters, self.label, "parameters")
        self.function = f
        self.f = self.reading_others if self.reading.others else f
        self.jacobian = jacobian
        limited = not (isinstance(longest_step, float) and longest_step == math.inf)
        self._longest_step = as_positive(longest_step, self.label, "longest_step") if limited else math.inf
        self.check_function("function" if self.reading.others else "f", f)
        if self.mode == FUNCTION:
            if self.reading.others:
                raise ModelError(f"{self.label} reads other forces. Leave jacobian to differences.")
            self.check_function("jacobian", jacobian)

    @property
    def reported(self) -> int:
        """The second of its own markers, or the only one: those of forces that it reads come after."""
        return min(1, self.reading.own - 1)

    @property
    def made_with(self) -> dict[str, Any]:
        """Arguments that no attribute keeps under their names, for what makes the element again."""
        own = self.ends[: self.reading.own] if self.joint is None else self.joint
        return {"markers": own, "f": self.function, "reads": self.reading.others}

    @property
    def conservative(self) -> bool:
        """Whether it can do no work: nothing that it acts on moves, as in a model of states alone."""
        return all(type(marker) is Marker and marker.body.size == 0 for marker in self.ends)

    @property
    def uses_time(self) -> bool:
        """Whether its own function may follow the time; others that it reads say so themselves."""
        return "t" not in unread(self.function, self.arguments["function" if self.reading.others else "f"])

    def _name_arguments(self) -> None:
        """What its functions are called with after t."""
        given: tuple[str, ...] = (*POSES, "out")
        slopes: tuple[str, ...] = (*POSES, "K", "D")
        if self.states is not None:
            given, slopes = (*given, "x", "rate"), (*slopes, "x")
        if self.accelerations:
            given, slopes = (*given, "dv", "dw"), (*slopes, "M", "dv", "dw")
        if self.reactions:
            given, slopes = (*given, "F", "T"), (*slopes, "L", "F", "T")
        kept = ("memory",) if len(self.memory) else ()
        own = ("memory",) if self.reading.memory else ()
        self.arguments = {"f": (*given, *kept), "jacobian": slopes, "function": (*given, *own, "seen")}

    def reading_others(self, t: float, *parts: Any) -> None:
        """Its function, called with what others say at this state."""
        named = dict(zip(self.arguments["f"], parts, strict=True))
        seen, own = self.reading.read(t, named)
        answer = self.function(t, *(own[key] for key in self.arguments["function"][:-1]), seen)
        if answer is not None:
            raise ModelError(f"{self.label}: its function f returns {short(answer)}. It must fill out and return None.")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares the functions, but calls them itself."""
        other = super().__deepcopy__(memo)
        if self.reading.others:
            object.__setattr__(other, "f", other.reading_others)
        return other

    @property
    def longest_step(self) -> float:
        """As given."""
        return self._longest_step

    @property
    def mode(self) -> int:
        """How its derivatives are made: NONE, DIFFERENCES or FUNCTION."""
        return derivative_mode(self.jacobian)

    @property
    def curved(self) -> bool:
        """Whether derivatives are known."""
        return self.mode != NONE

    @property
    def damped(self) -> bool:
        """Whether derivatives are known."""
        return self.mode != NONE

    @property
    def reads_accelerations(self) -> bool:
        """As given."""
        return self.accelerations

    @property
    def reads_reactions(self) -> bool:
        """As given."""
        return self.reactions

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        return self.explain_function("jacobian" if stage == "force_derivatives" and self.mode == FUNCTION else "f", t)

    def record(self, place: Place) -> tuple[Any, ...]:
        """The part of its row that does not depend on other elements."""
        rows = place.rows(self.joint) if self.reactions else (0, 0, 0, 0)
        return (place.stiffness, len(self.ends), self.mode, *rows)

    def form(self) -> Form:
        """The parts of its block."""
        count, width = len(self.ends), 6 * len(self.markers)
        n, read = 0 if self.states is None else self.states.size, int(self.accelerations)
        loads = int(self.reactions)
        rates = ((count * read, 3), (count * read, 3), (3 * loads,), (3 * loads,))
        own = ((n,), (count, 6), (n,), (width - 6 * count - n,), (width, width), (width, width))
        last = ((width * read, width), (width * loads, 6), (width,), (len(self.memory),), (len(self.memory),))
        shapes = (*pose_shapes(count, len(self.parameters)), *rates, *own, *last)
        return Form(PARTS, shapes, ("out", "rate", "K", "D", "M", "L", "memory"))


register(UserForce)
