"""Marks the fast set (`fast_set.py`), and keeps the times of tests for it."""

from __future__ import annotations

import os

import pytest
from fast_set import choose, read_list, updated, write_list

TIMES: dict[str, float] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="note in long_tests.txt which functions took long")


@pytest.hookimpl(tryfirst=True)  # before -m leaves tests out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ids = [item.nodeid for item in items if item.get_closest_marker("slow") is None]
    whole = {item.nodeid.partition("[")[0] for item in items if item.get_closest_marker("fast_cases")}
    chosen = choose(ids, read_list(), whole)
    for item in items:
        if item.nodeid in chosen:
            item.add_marker("fast")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Processor time with that of child processes, fixtures made for the test included: other programs do not count."""
    before = os.times()
    answer = yield
    TIMES[item.nodeid] = sum(os.times()[:4]) - sum(before[:4])
    return answer


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("record"):
        write_list(updated(read_list(), TIMES))
