"""The fast set holds a case of every function that is not long, and so of every room and method."""

from __future__ import annotations

from pathlib import Path

import pytest
from fast_set import choose, one_case, updated

from index3.methods.registry import METHODS

HERE = Path(__file__).parent
PLACES = {path.parent.name for path in HERE.glob("*/test_*.py")} | {path.name for path in HERE.glob("test_*.py")}
"""Folders of tests, one for each room, and files beside them."""


def test_one_case_of_a_function_or_all_or_none():
    cases = [f"each[{k}]" for k in range(5)]
    ids = ["plain", "long", *cases]
    assert choose(ids, {"long": 3.0}) == {"plain", one_case("each", cases)}
    assert choose(ids, {"each": 3.0}) == {"plain", "long"}
    assert choose(ids, {"each": 3.0}, {"each"}) == set(ids)


def test_functions_draw_different_cases():
    assert {one_case(f"test{k}", list(METHODS)) for k in range(200)} == set(METHODS)


def test_the_list_forgets_what_became_short_and_keeps_what_did_not_run():
    cases = [f"f[{k}]" for k in range(3)]
    taken = dict.fromkeys(cases, 9.0) | {one_case("f", cases): 0.1, "g": 0.5}
    assert updated({"f": 1.0, "h": 2.0}, taken) == {"g": 0.5, "h": 2.0}


def test_every_room_and_method_is_in_the_fast_set(request):
    fast = [item.nodeid for item in request.session.items if item.get_closest_marker("fast")]
    places = {nodeid.split("/")[1].partition("::")[0] for nodeid in fast}
    if "tests" not in request.config.args or request.config.getoption("keyword"):
        pytest.skip("not all tests were collected")
    assert places == PLACES
    runs = [nodeid for nodeid in fast if "test_constraints_hold_at_three_levels" in nodeid]
    assert [key for key in METHODS if not any(f"[{key}]" in nodeid for nodeid in runs)] == []
