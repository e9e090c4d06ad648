"""Records: fields by place and name, with defaults, as in dataclasses."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import ClassVar

import pytest

from index3.record import Record, fresh


class Plain(Record):
    """A record as most are."""

    kind: ClassVar[str] = "plain"
    first: int
    second: int = 2
    rest: list[int] = fresh(default_factory=list)


class Fixed(Record, frozen=True, eq=True):
    """One that cannot be changed and is compared by what it holds."""

    first: int
    second: tuple[int, ...] = ()


class Longer(Fixed, frozen=True, eq=True):
    """One with more fields than the class it comes from."""

    third: str = "c"


def test_fields_are_given_by_place_or_name():
    assert vars(Plain(1)) == vars(Plain(first=1, rest=[])) == {"first": 1, "second": 2, "rest": []}
    assert vars(Plain(1, 3, [4])) == {"first": 1, "second": 3, "rest": [4]}
    assert vars(Longer(1, third="d")) == {"first": 1, "second": (), "third": "d"}
    assert (Plain.field_names, Longer.field_names) == (("first", "second", "rest"), ("first", "second", "third"))


def test_each_has_its_own_fresh_default():
    Plain(1).rest.append(1)
    assert Plain(1).rest == []


@pytest.mark.parametrize(
    ("given", "named", "words"),
    [
        ((), {}, "Plain takes first, second, rest, and was not given first"),
        ((1, 2, [], 4), {}, "given 4 values by place"),
        ((1,), {"first": 2}, "given 1 values by place and first"),
        ((1,), {"third": 3}, "given 1 values by place and third"),
        ((), {"second": 1, "rest": [], "third": 3}, "not given first and third"),
    ],
)
def test_calls_that_do_not_fit_are_errors(given, named, words):
    with pytest.raises(TypeError, match=words):
        Plain(*given, **named)


def test_frozen_records_keep_their_values():
    fixed = Fixed(1)
    with pytest.raises(FrozenInstanceError, match=r"Fixed\.first"):
        fixed.first = 2
    with pytest.raises(FrozenInstanceError):
        del fixed.second
    assert fixed.replaced(first=2) == Fixed(2)
    plain = Plain(1)
    plain.first = 2
    assert plain.first == 2


def test_records_are_compared_and_shown_by_their_fields_if_they_ask_for_it():
    assert Fixed(1) == Fixed(1) != Fixed(2)
    assert Fixed(1) != Longer(1)
    assert len({Fixed(1), Fixed(1), Fixed(2)}) == 2
    assert repr(Fixed(1)) == "Fixed(first=1, second=())"
    assert Plain(1) != Plain(1)
    assert repr(Plain(1)).startswith("<")


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_equal(take):
    assert take(Fixed(1, (2,))) == Fixed(1, (2,))
