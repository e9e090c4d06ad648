"""Forces by a user's own function of the poses and velocities of its markers (see `index3.constraints.user_block`).

With a block of states the function also gives their rates. To the kernels the block's markers stand behind the others,
six states each, so that rates follow the wrenches in a block of doubles, and states are twists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.body import as_markers
from index3.bodies.marker import as_numbers, as_positive
from index3.bodies.states import States
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable, Form, UserFunctions
from index3.compiled.interface import OK, helper, kernel, slots, view
from index3.constraints.user_block import (
    DIFFERENCES,
    FUNCTION,
    NONE,
    POSES,
    derivative_mode,
    load_marker,
    pose_shapes,
    run,
    shift,
    user_table,
)
from index3.errors import ModelError
from index3.fields import END, declare, numbers
from index3.forces.force import ForceElement, Place
from index3.registry import register

PARTS = (*POSES, "dv", "dw", "x", "out", "rate", "pad", "K", "D", "M", "wrench", "memory")
"""Of a block; "pad" and "wrench" are the kernels' own, "memory" is what a function keeps from one call to the next."""
USER = np.dtype(
    [
        ("first", "i8"),  # place of its first marker in MEMBERS
        ("count", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("bodies", "i8"),  # markers on bodies; the others are those of the states
        ("mode", "i8"),  # how its derivatives are made
        ("function", "i8"),  # addresses
        ("derivative", "i8"),
        *((name, "i8") for name in (*PARTS, "end")),  # first places of the parts of its block in BLOCKS
    ]
)
USERS, MEMBERS, BLOCKS = slots(users=(USER, 1), members=("i8", 1), blocks=("f8", 1))
MEMORY = (BLOCKS,)
# Step of the central differences, relative to max(1, |value|): for smooth forces on the scale of metres truncation
# (h^2) and rounding (eps / h) are both below 1e-9 of the force.
STEP = 1e-6


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

    kind = __name__
    page = "howto/user_force.md"
    no_file = "it holds functions of Python"
    fields = declare(markers=END.found(lambda force: force.ends), parameters=numbers())
    arguments: Mapping[str, tuple[str, ...]] = {"f": (*POSES, "out"), "jacobian": (*POSES, "K", "D")}
    memory: Sequence[float] | np.ndarray = ()
    """Numbers that f may change, as its last argument, and finds again at the next call: at the start of a run."""

    def __init__(
        self,
        name: str,
        markers: Any,
        f: Any,
        parameters: Any = (),
        jacobian: Any = None,
        *,
        states: States | None = None,
        accelerations: bool = False,
        longest_step: float = math.inf,
    ) -> None:
        super().__init__(name)
        self.ends = as_markers(self.label, markers)
        self.states = states
        self.markers = self.ends
        if states is not None:
            if not isinstance(states, States):
                raise ModelError(
                    f"{self.label} has states {short(states)}. Give a block: states=model.add(States(...))."
                )
            self.markers = (*self.ends, *states.markers)
            self.arguments = {"f": (*POSES, "out", "x", "rate"), "jacobian": (*POSES, "K", "D", "x")}
        if not isinstance(accelerations, bool):
            raise ModelError(f"{self.label} has accelerations {short(accelerations)}. Give True or False.")
        self.accelerations = accelerations
        if accelerations:
            given, slopes = self.arguments["f"], self.arguments["jacobian"]
            self.arguments = {"f": (*given, "dv", "dw"), "jacobian": (*slopes, "M", "dv", "dw")}
        if len(self.memory):
            self.arguments = {**self.arguments, "f": (*self.arguments["f"], "memory")}
        self.parameters = as_numbers(parameters, self.label, "parameters")
        self.f = f
        self.jacobian = jacobian
        limited = longest_step != math.inf
        self._longest_step = as_positive(longest_step, self.label, "longest_step") if limited else math.inf
        self.check_function("f", f)
        if self.mode == FUNCTION:
            self.check_function("jacobian", jacobian)

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

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        return self.explain_function("jacobian" if stage == "force_derivatives" and self.mode == FUNCTION else "f", t)

    def record(self, place: Place) -> tuple[Any, ...]:
        """The part of its row that does not depend on other elements."""
        return (place.stiffness, len(self.ends), self.mode)

    def form(self) -> Form:
        """The parts of its block."""
        count, width = len(self.ends), 6 * len(self.markers)
        n, read = 0 if self.states is None else self.states.size, int(self.accelerations)
        rates = ((count * read, 3), (count * read, 3))
        own = ((n,), (count, 6), (n,), (width - 6 * count - n,), (width, width), (width, width))
        last = ((width * read, width), (width,), (len(self.memory),))
        shapes = (*pose_shapes(count, len(self.parameters)), *rates, *own, *last)
        return Form(PARTS, shapes, ("out", "rate", "K", "D", "M", "memory"))


class UserTable(CallbackTable):
    """The table of user forces."""

    def by_differences(self) -> UserTable:
        """The same with all derivatives taken by differences."""
        other = self.sharing([USERS])
        other[USERS]["mode"] = DIFFERENCES
        return other


def table(elements: Sequence[UserForce], places: Sequence[Place]) -> UserTable:
    """The table of all user forces of a system; here their functions become callable from kernels."""
    forms = [element.form() for element in elements]
    result = user_table((USERS, MEMBERS, BLOCKS), elements, places, forms, UserTable)
    for element, record in zip(elements, result[USERS], strict=True):
        result[BLOCKS][record["memory"] : record["end"]] = element.memory
    return result


@helper
def load_state(T, members, blocks, user, k):
    """Write state k of a force into its block."""
    blocks[user.x + k] = view(T, s.MARKER_V)[members[user.first + user.bodies + k // 6], k % 6]


@helper
def load_motion(T, blocks, user, m, marker):
    """Write pose, velocity and, if they matter, accelerations of the m-th marker of a force into its block."""
    load_marker(T, blocks, user, m, marker)
    if user.dw > user.dv:
        W = view(T, s.MARKER_W)
        for c in range(3):
            blocks[user.dv + 3 * m + c] = W[marker, c]
            blocks[user.dw + 3 * m + c] = W[marker, 3 + c]


@helper
def load(T, members, blocks, user):
    """Write the motion of all markers and all states of a force into its block."""
    for m in range(user.bodies):
        load_motion(T, blocks, user, m, members[user.first + m])
    for k in range(user.out - user.x):
        load_state(T, members, blocks, user, k)


@kernel
def forces(T, E):
    """Put what each function says on its markers, and keep it for `energy`."""
    users, members, blocks = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS)
    f, t = view(T, s.MARKER_F), view(T, s.TIME)[0]
    for e in range(users.shape[0]):
        user = users[e]
        load(T, members, blocks, user)
        if run(blocks, user, user.function, t, user.out, user.K) != OK:
            return e + 1
        for m in range(user.count):
            for c in range(6):
                x = blocks[user.out + 6 * m + c]
                f[members[user.first + m], c] += x
                blocks[user.wrench + 6 * m + c] = x
    return OK


@helper
def change(blocks, user, m, c, sign):
    """Move the m-th marker along component c of its twist (0-5), or change its velocity (6-11) or acceleration (12-17).

    Returns the step.
    """
    if 3 <= c < 6:
        shift(blocks, user, 6 * m + c, 0.0, sign * STEP)
        return STEP
    first = user.r if c < 3 else user.v if c < 9 else user.w if c < 12 else user.dv if c < 15 else user.dw
    at = first + 3 * m + c % 3
    h = STEP * max(1.0, abs(blocks[at]))
    blocks[at] += sign * h
    return h


@helper
def add_differences(T, E, user, marker, m, begin, end):
    """Add minus the derivatives by components `begin` ... of the motion of the m-th marker, one column at a time."""
    blocks, width, t = view(E, BLOCKS), 6 * user.count, view(T, s.TIME)[0]
    for c in range(begin, end):
        group = view(T, s.GROUP_K) if c < 6 else view(T, s.GROUP_D) if c < 12 else view(T, s.GROUP_M)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            h = change(blocks, user, m, c, sign)
            code = run(blocks, user, user.function, t, user.out, user.K)
            load_motion(T, blocks, user, m, marker)
            if code != OK:
                return code
            for row in range(width):
                group[user.group + row * width + 6 * m + c % 6] -= sign * blocks[user.out + row] / (2.0 * h)
    return OK


@helper
def add_state_differences(T, E, user, k):
    """Add minus the derivatives by state k."""
    blocks, members, D = view(E, BLOCKS), view(E, MEMBERS), view(T, s.GROUP_D)
    width, h = 6 * user.count, STEP * max(1.0, abs(blocks[user.x + k]))
    for side in range(2):
        sign = 1.0 - 2.0 * side
        blocks[user.x + k] += sign * h
        code = run(blocks, user, user.function, view(T, s.TIME)[0], user.out, user.K)
        load_state(T, members, blocks, user, k)
        if code != OK:
            return code
        for row in range(width):
            D[user.group + row * width + 6 * user.bodies + k] -= sign * blocks[user.out + row] / (2.0 * h)
    return OK


@helper
def add_derivatives(T, E, user):
    """Add minus the derivatives that the user's own function gives."""
    blocks, K, D, size = view(E, BLOCKS), view(T, s.GROUP_K), view(T, s.GROUP_D), user.D - user.K
    M = view(T, s.GROUP_M)
    code = run(blocks, user, user.derivative, view(T, s.TIME)[0], user.K, user.wrench)
    if code == OK:
        for k in range(size):
            K[user.group + k] -= blocks[user.K + k]
            D[user.group + k] -= blocks[user.D + k]
        for k in range(user.wrench - user.M):
            M[user.group + k] -= blocks[user.M + k]
    return code


@kernel
def force_derivatives(T, E):
    """Derivatives of the forces that have them."""
    users, members, blocks = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS)
    for e in range(users.shape[0]):
        user, code = users[e], OK
        load(T, members, blocks, user)
        if user.mode == FUNCTION:
            code = add_derivatives(T, E, user)
        else:
            begin, end = 0 if user.mode == DIFFERENCES else 12, 18 if user.dw > user.dv else 12
            for m in range(user.bodies):
                if code == OK:
                    code = add_differences(T, E, user, members[user.first + m], m, begin, end)
        if user.mode == DIFFERENCES:
            for k in range(user.out - user.x):
                if code == OK:
                    code = add_state_differences(T, E, user, k)
        if code != OK:
            return e + 1
    return OK


@kernel
def energy(T, E):
    """Power of every force."""
    users, members, blocks = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS)
    V, values = view(T, s.MARKER_V), view(T, s.ENERGY)
    for e in range(users.shape[0]):
        user = users[e]
        for m in range(user.bodies):
            for c in range(6):
                values[s.POWER] += blocks[user.wrench + 6 * m + c] * V[members[user.first + m], c]
    return OK


STAGES = {"forces": forces, "force_derivatives": force_derivatives, "energies": energy}

register(UserForce)
