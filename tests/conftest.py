"""Marks the fast set (`fast_set.py`), and keeps the times of tests for it.

Times are those of the processor, child processes included: other programs do not count. What a fixture of a module
costs is shared by the functions that use it.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from fast_set import choose, function_of, read_list, updated, write_list

TIMES: dict[str, float] = {}
USED: dict[str, list[str]] = {}
"""Names of the fixtures that a test uses."""
FIXTURES: dict[tuple[str, str], float] = {}
"""Time of a fixture of more than one test, by where it is seen and its name."""


def spent() -> float:
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="note in long_tests.txt which functions took long")


@pytest.hookimpl(tryfirst=True)  # before -m leaves tests out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ids = [item.nodeid for item in items if item.get_closest_marker("slow") is None]
    whole = {function_of(item.nodeid) for item in items if item.get_closest_marker("fast_cases")}
    chosen = choose(ids, read_list(), whole)
    for item in items:
        if item.nodeid in chosen:
            item.add_marker("fast")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    before, others = spent(), sum(FIXTURES.values())
    answer = yield
    TIMES[item.nodeid] = spent() - before - (sum(FIXTURES.values()) - others)
    USED[item.nodeid] = item.fixturenames  # type: ignore[attr-defined]
    return answer


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    before = spent()
    answer = yield
    if fixturedef.scope != "function":
        key = fixturedef.baseid, fixturedef.argname
        FIXTURES[key] = FIXTURES.get(key, 0.0) + spent() - before
    return answer


def shares() -> Counter[str]:
    """What the fixtures cost each test, shared equally among the functions that use them."""
    found: Counter[str] = Counter()
    for (place, name), cost in FIXTURES.items():
        users = [nodeid for nodeid, used in USED.items() if nodeid.startswith(place) and name in used]
        for nodeid in users:
            found[nodeid] += cost / len({function_of(user) for user in users})
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("record"):
        shared = shares()
        write_list(updated(read_list(), {nodeid: took + shared[nodeid] for nodeid, took in TIMES.items()}))
