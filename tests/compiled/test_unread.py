"""Which arguments a user's function never looks at, by its code."""

from __future__ import annotations

import functools

import pytest

from index3.compiled.unread import looks_at, unread

NAMES = ("r", "A", "v", "w", "p", "out")


def place(t, r, A, v, w, p, out):
    out[0] = r[0, 0]


def other_names(time, here, axes, *, more=1):
    return here


def by_other_names(time, here, axes, speed, spin, numbers, result, extra=2.0):
    result[0] = here[0, 0] * time + extra * speed[0, 0]


def nested(t, r, A, v, w, p, out):
    out[0] = sum(x * v[0, 0] for x in (r[0, k] for k in range(3)))


def inner(t, r, A, v, w, p, out):
    def later():
        return A[0, 0, 0]

    out[0] = later()


def all_at_once(t, r, A, v, w, p, out):
    out[0] = locals()["A"][0, 0, 0]


def anything(t, *parts):
    parts[-1][0] = parts[0][0, 0]


def deleted(t, r, A, v, w, p, out):
    del w
    out[:] = 0.0


class Law:
    def method(self, t, r, A, v, w, p, out):
        out[0] = r[0, 0]

    def __call__(self, t, r, A, v, w, p, out):
        out[0] = r[0, 0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (place, {"t", "A", "v", "w", "p"}),
        (by_other_names, {"A", "w", "p"}),
        (nested, {"t", "A", "w", "p"}),
        (inner, {"t", "r", "v", "w", "p"}),
        (deleted, {"t", "r", "A", "v", "p"}),
        (lambda t, r, A, v, w, p, out: None, {"t", *NAMES}),
        (all_at_once, set()),
        (anything, set()),
        (other_names, set()),
        (Law().method, set()),
        (Law(), set()),
        (functools.partial(place), set()),
        (len, set()),
        ("differences", set()),
        (None, set()),
    ],
)
def test_arguments_that_are_never_mentioned(function, expected):
    assert unread(function, NAMES) == expected


def test_a_function_of_numba_is_read_as_it_was_written():
    numba = pytest.importorskip("numba")
    assert unread(numba.njit(place), NAMES) == {"t", "A", "v", "w", "p"}


def test_flags_follow_the_names_asked_for():
    assert looks_at(by_other_names, NAMES, ("t", "r", "A", "v", "w", "dv")) == (1, 1, 0, 1, 0, 1)
