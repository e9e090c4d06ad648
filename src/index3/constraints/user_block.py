"""What users' forces and users' constraints share: the block of doubles through which kernels and functions meet.

Kernels fill in poses and velocities of an element's markers, call its function by address (see
`index3.compiled.callbacks`), and read what the function wrote. Records of both kinds of element hold the numbers of
their markers and where the parts of their block begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from index3.algebra.rotations import about
from index3.algebra.vectors import multiply
from index3.compiled import slots as s
from index3.compiled.callbacks import CallbackTable, Form, make_callable
from index3.compiled.interface import Slot, call_block, helper, view

POSES = ("r", "A", "v", "w", "p")  # the parts that come first in every block
NONE, DIFFERENCES, FUNCTION = 0, 1, 2
"""How derivatives of a force are made."""


def derivative_mode(jacobian: Any) -> int:
    """What a user's `jacobian` of a force means."""
    if jacobian is None or isinstance(jacobian, str):
        return {None: DIFFERENCES, "differences": DIFFERENCES, "none": NONE}.get(jacobian, FUNCTION)
    return FUNCTION


def pose_shapes(count: int, parameters: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the first parts of a block: poses and velocities of `count` markers, and the parameters."""
    return ((count, 3), (count, 3, 3), (count, 3), (count, 3), (parameters,))


def moving_components(marker: Any) -> list[int]:
    """For each component of a marker's twist whether it is ever anything but zero."""
    if marker.body.kind == "ground" and not hasattr(marker, "functions"):
        return [0] * 6
    across, turns = int(not marker.body.planar), int(marker.oriented)
    return [1, 1, across, across * turns, across * turns, turns]


def user_table(
    slots: tuple[Slot, ...],
    elements: Sequence[Any],
    places: Sequence[Any],
    forms: Sequence[Form],
    make: type[CallbackTable] = CallbackTable,
) -> Any:
    """Table of records, marker numbers and blocks, which are its first slots; others are left to the caller.

    Here the users' functions become callable from kernels. A record is (first marker's place, number of markers,
    element's own numbers, addresses of f and jacobian, first places of the parts of its block, its end).
    """
    records, members, blocks = slots[:3]
    firsts = [0, *accumulate(form.starts[-1] for form in forms)]
    begins = [0, *accumulate(len(place.markers) for place in places)]
    result = make(len(slots))
    result.keep = []
    result[records] = np.zeros(len(elements), records.dtype).view(np.recarray)
    result[members] = np.array([marker for place in places for marker in place.markers], np.int64)
    result[blocks] = np.zeros(firsts[-1])
    for k, (element, place, form) in enumerate(zip(elements, places, forms, strict=True)):
        element.failure = None
        block, starts = result[blocks][firsts[k] : firsts[k + 1]], form.starts
        block[starts[form.names.index("p")] :][: len(element.parameters)] = element.parameters
        addresses = []
        for what, function in (("f", element.f), ("jacobian", element.jacobian)):
            address = 0
            if function is not None and not isinstance(function, str):
                address, owner = make_callable(element, what, function, form, firsts[k])
                result.keep.append(owner)
            addresses.append(address)
        own = (begins[k], len(place.markers), *element.record(place))
        result[records][k] = (*own, *addresses, *(firsts[k] + start for start in starts))
    return result


@helper
def load_marker(T, blocks, user, m, marker):
    """Write pose and velocity of a marker, the m-th of its element, into the block."""
    r, A, V = view(T, s.MARKER_R), view(T, s.MARKER_A), view(T, s.MARKER_V)
    for c in range(3):
        blocks[user.r + 3 * m + c] = r[marker, c]
        blocks[user.v + 3 * m + c] = V[marker, c]
        blocks[user.w + 3 * m + c] = V[marker, 3 + c]
    for c in range(9):
        blocks[user.A + 9 * m + c] = A[marker, c]


@helper
def load_markers(T, members, blocks, user):
    """Write poses and velocities of all markers of an element into its block."""
    for m in range(user.count):
        load_marker(T, blocks, user, m, members[user.first + m])


@helper
def run(blocks, user, address, t, first, end):
    """Call a user's function, which fills blocks[first:end]; returns OK if all that is there is finite."""
    for k in range(first, end):
        blocks[k] = 0.0
    code = call_block(address, t, blocks[user.r : user.end])
    for k in range(first, end):
        if not abs(blocks[k]) < 1e300:  # also catches NaN
            code = 1
    return code


@helper
def move(blocks, user, m, dr, dtheta):
    """Move the point of the m-th marker by dr and turn its axes by the rotation vector dtheta, in ground axes."""
    first = user.A + 9 * m
    B = (blocks[first], blocks[first + 1], blocks[first + 2], blocks[first + 3], blocks[first + 4],
         blocks[first + 5], blocks[first + 6], blocks[first + 7], blocks[first + 8])  # fmt: skip
    A = multiply(about(dtheta), B)
    for k in range(3):
        blocks[user.r + 3 * m + k] += dr[k]
    for k in range(9):
        blocks[first + k] = A[k]


@helper
def along(c, x):
    """x times the unit vector c; zero if c is none of 0, 1, 2."""
    return (x * (c == 0), x * (c == 1), x * (c == 2))


@helper
def shift(blocks, user, c, length, angle):
    """Move the markers of an element along one component of their twists: by `length` [m] or `angle` [rad]."""
    move(blocks, user, c // 6, along(c % 6, length), along(c % 6 - 3, angle))
