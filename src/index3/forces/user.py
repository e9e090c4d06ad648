"""Forces by a user's own function of the poses and velocities of its markers.

Each element owns a block of doubles (see `index3.forces.callbacks`): kernels fill in the markers' poses and velocities,
call the function by address, and read the wrench, or its derivatives, that the function wrote.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import accumulate
from math import cos, sin
from reprlib import repr as short
from typing import Any

import numpy as np

from index3.bodies.body import Body
from index3.bodies.marker import Marker, as_vector
from index3.compiled import slots as s
from index3.compiled.interface import OK, Table, call_block, helper, kernel, slots, view
from index3.errors import Index3Error, ModelError, SimulationFailed
from index3.forces.callbacks import PARTS, check_function, layout, make_callable
from index3.forces.force import ForceElement, Place, marker_of

USER = np.dtype(
    [
        ("first", "i8"),  # place of its first marker in MEMBERS
        ("count", "i8"),
        ("group", "i8"),  # first place in GROUP_K and GROUP_D
        ("mode", "i8"),  # how its derivatives are made
        ("function", "i8"),  # addresses
        ("derivative", "i8"),
        *((name, "i8") for name in (*PARTS, "end")),  # first places of the parts of its block in BLOCKS
    ]
)
USERS, MEMBERS, BLOCKS = slots(users=(USER, 1), members=("i8", 1), blocks=("f8", 1))
NONE, DIFFERENCES, FUNCTION = 0, 1, 2
# Step of the central differences, relative to max(1, |value|): for smooth forces on the scale of metres truncation
# (h^2) and rounding (eps / h) are both below 1e-9 of the force.
STEP = 1e-6


class UserForce(ForceElement):
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
    jacobian : where the derivatives of the force come from. None: left out; implicit methods then converge more slowly,
        and not at all if the force is stiff. "differences": central differences, 24 k calls of f for each Jacobian. A
        function jacobian(t, r, A, v, w, p, K, D), of any kind that f may be: fills, from zero, the (6k, 6k) derivatives
        of `out` by K: (dr, dtheta) and D: (v, w) of each marker in turn; dtheta turns every axis u by dtheta x u.

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

    def __init__(self, name: str, markers: Any, f: Any, parameters: Any = (), jacobian: Any = None) -> None:
        super().__init__(name)
        given = [markers] if isinstance(markers, Marker | Body) else markers
        if not isinstance(given, Sequence) or not given:
            raise ModelError(f"{self.label} has markers {short(markers)}. Give a marker or body, or a list of them.")
        self.markers = tuple(marker_of(self.label, end) for end in given)
        try:
            self.parameters = as_vector(parameters, self.label, "parameters", len(parameters))
        except TypeError:  # no length
            raise ModelError(f"{self.label} has parameters {short(parameters)}. Give a list of numbers.") from None
        self.f = f
        self.jacobian = jacobian
        self.failure: BaseException | None = None
        self.failed_in = ("f", 0.0)
        check_function(self.label, "f", f)
        if jacobian is not None and not self.by_differences:
            check_function(self.label, "jacobian", jacobian)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "failure": None}  # a traceback cannot be pickled

    def __deepcopy__(self, memo: dict[int, Any]) -> UserForce:
        """A copy that shares the functions, which need not be copyable."""
        memo |= {id(function): function for function in (self.f, self.jacobian)}
        memo[id(self)] = other = object.__new__(type(self))
        other.__dict__.update(copy.deepcopy(self.__getstate__(), memo))
        return other

    @property
    def by_differences(self) -> bool:
        """Whether the derivatives are taken by differences."""
        return isinstance(self.jacobian, str) and self.jacobian == "differences"

    @property
    def curved(self) -> bool:
        """Whether derivatives are known."""
        return self.jacobian is not None

    @property
    def damped(self) -> bool:
        """Whether derivatives are known."""
        return self.jacobian is not None

    def explain(self, stage: str, t: float) -> str:
        """What went wrong in the user's function."""
        if isinstance(self.failure, Index3Error):
            return str(self.failure)
        if self.failure is not None:
            what, t = self.failed_in
            raised = f"{type(self.failure).__name__} at t = {t:.6g}: {self.failure}"
            return f"{self.label}: its function {what} raised {raised}"
        what = "jacobian" if stage == "stiffen" and not self.by_differences else "f"
        return (
            f"{self.label}: its function {what} gave numbers that are not finite at t = {t:.6g}, or failed there as "
            "compiled code. Check it at that state; a plain Python function shows its own error."
        )

    def raise_failure(self) -> None:
        """Raise what a Python function of the user raised, wrapped in `SimulationFailed`, and forget it; or return.

        Errors of index3, and what is not an error, such as KeyboardInterrupt, are raised as they are. A function that
        failed is not called again until this is done or a new table is made.
        """
        failure, self.failure = self.failure, None
        if failure is None:
            return
        if isinstance(failure, Index3Error) or not isinstance(failure, Exception):
            raise failure
        raise SimulationFailed(f"{self.label}: its function raised {type(failure).__name__}: {failure}") from failure

    def record(self, place: Place) -> tuple[Any, ...]:
        """The part of its row that does not depend on other elements."""
        mode = NONE if self.jacobian is None else DIFFERENCES if self.by_differences else FUNCTION
        return (len(place.markers), place.stiffness, mode)


class UserTable(Table):
    """A table that owns the callbacks whose addresses it holds."""

    keep: list[Any]


def table(elements: Sequence[UserForce], places: Sequence[Place]) -> UserTable:
    """The table of all user forces of a system; here their functions become callable from kernels."""
    starts = [layout(len(element.markers), len(element.parameters)) for element in elements]
    blocks = [0, *accumulate(start[-1] for start in starts)]
    members = [0, *accumulate(len(place.markers) for place in places)]
    result = UserTable(3)
    result.keep = []
    result[USERS] = np.zeros(len(elements), USER).view(np.recarray)
    result[MEMBERS] = np.array([marker for place in places for marker in place.markers], np.int64)
    result[BLOCKS] = np.zeros(blocks[-1])
    for k, (element, place) in enumerate(zip(elements, places, strict=True)):
        element.failure = None
        block, size = result[BLOCKS][blocks[k] : blocks[k + 1]], (len(element.markers), len(element.parameters))
        parameters = PARTS.index("p")
        block[starts[k][parameters] : starts[k][parameters + 1]] = element.parameters
        head = element.record(place)
        f, owner = make_callable(element, "f", element.f, block, *size)
        result.keep.append(owner)
        jacobian = 0
        if head[-1] == FUNCTION:
            jacobian, owner = make_callable(element, "jacobian", element.jacobian, block, *size)
            result.keep.append(owner)
        result[USERS][k] = (members[k], *head, f, jacobian, *(blocks[k] + start for start in starts[k]))
    return result


@helper
def load_marker(T, blocks, user, m, marker):
    """Write pose and velocity of a marker, the m-th of its force, into the block."""
    r, A, V = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V)
    for c in range(3):
        blocks[user.r + 3 * m + c] = r[marker, c]
        blocks[user.v + 3 * m + c] = V[marker, c]
        blocks[user.w + 3 * m + c] = V[marker, 3 + c]
    for c in range(9):
        blocks[user.A + 9 * m + c] = A[marker, c]


@helper
def load_markers(T, E, user):
    """Write poses and velocities of all markers of a force into its block."""
    members, blocks = view(E, MEMBERS), view(E, BLOCKS)
    for m in range(user.count):
        load_marker(T, blocks, user, m, members[user.first + m])


@helper
def run(T, blocks, user, address, first, end):
    """Call a user's function, which fills blocks[first:end]; returns OK if all that is there is finite."""
    for k in range(first, end):
        blocks[k] = 0.0
    code = call_block(address, view(T, s.TIME)[0], blocks[user.r : user.end])
    for k in range(first, end):
        if not abs(blocks[k]) < 1e300:  # also catches NaN
            code = 1
    return code


@kernel
def push(T, E):
    """Put what each function says on its markers, and keep it for `energy`."""
    users, members, blocks, f = view(E, USERS), view(E, MEMBERS), view(E, BLOCKS), view(T, s.MARKER_F)
    for e in range(users.shape[0]):
        user = users[e]
        load_markers(T, E, user)
        if run(T, blocks, user, user.function, user.out, user.K) != OK:
            return e + 1
        for m in range(user.count):
            for c in range(6):
                x = blocks[user.out + 6 * m + c]
                f[members[user.first + m], c] += x
                blocks[user.wrench + 6 * m + c] = x
    return OK


@helper
def shift(blocks, user, m, c, sign):
    """Move the m-th marker along component c of its twist (0-5) or change its velocity (6-11); returns the step."""
    if 3 <= c < 6:  # turn about a ground axis: mix the rows of the other two
        y, z = user.A + 9 * m + 3 * ((c + 1) % 3), user.A + 9 * m + 3 * ((c + 2) % 3)
        for k in range(3):
            a, b = blocks[y + k], blocks[z + k]
            blocks[y + k] = cos(STEP) * a - sign * sin(STEP) * b
            blocks[z + k] = sign * sin(STEP) * a + cos(STEP) * b
        return STEP
    first = user.r if c < 3 else user.v if c < 9 else user.w
    at = first + 3 * m + c % 3
    h = STEP * max(1.0, abs(blocks[at]))
    blocks[at] += sign * h
    return h


@helper
def add_differences(T, E, user, marker, m):
    """Add minus the derivatives by pose and velocity of the m-th marker, one column at a time."""
    blocks, width = view(E, BLOCKS), 6 * user.count
    for c in range(12):
        group = view(T, s.GROUP_K) if c < 6 else view(T, s.GROUP_D)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            h = shift(blocks, user, m, c, sign)
            code = run(T, blocks, user, user.function, user.out, user.K)
            load_marker(T, blocks, user, m, marker)
            if code != OK:
                return code
            for row in range(width):
                group[user.group + row * width + 6 * m + c % 6] -= sign * blocks[user.out + row] / (2.0 * h)
    return OK


@helper
def add_derivatives(T, E, user):
    """Add minus the derivatives that the user's own function gives."""
    blocks, K, D, size = view(E, BLOCKS), view(T, s.GROUP_K), view(T, s.GROUP_D), user.D - user.K
    code = run(T, blocks, user, user.derivative, user.K, user.wrench)
    if code == OK:
        for k in range(size):
            K[user.group + k] -= blocks[user.K + k]
            D[user.group + k] -= blocks[user.D + k]
    return code


@kernel
def stiffen(T, E):
    """Derivatives of the forces that have them."""
    users, members = view(E, USERS), view(E, MEMBERS)
    for e in range(users.shape[0]):
        user, code = users[e], OK
        load_markers(T, E, user)
        if user.mode == FUNCTION:
            code = add_derivatives(T, E, user)
        elif user.mode == DIFFERENCES:
            for m in range(user.count):
                if code == OK:
                    code = add_differences(T, E, user, members[user.first + m], m)
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
        for m in range(user.count):
            for c in range(6):
                values[s.POWER] += blocks[user.wrench + 6 * m + c] * V[members[user.first + m], c]
    return OK


STAGES = {"push": push, "stiffen": stiffen, "energies": energy}
