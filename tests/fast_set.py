"""The rule of the fast set: which of the collected tests `pytest -m fast` runs.

A function is in it with one of its cases (all of them if it is marked `fast_cases`), unless `long_tests.txt` says that
it took long or it is marked slow. A function that the list does not know is in the set. `pytest --record` brings the
list up to date with what it ran.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

LIST = Path(__file__).parent / "long_tests.txt"
LONG = 0.15
"""Seconds of processor time from which a function counts as long."""


def function_of(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def by_function(ids: Iterable[str]) -> dict[str, list[str]]:
    """The cases of each function."""
    functions = defaultdict(list)
    for nodeid in ids:
        functions[function_of(nodeid)].append(nodeid)
    return functions


def one_case(name: str, cases: list[str]) -> str:
    """A case that the function's name draws: tests over the methods take different ones, always the same."""
    return cases[zlib.crc32(name.encode()) % len(cases)]


def choose(ids: Iterable[str], long: Mapping[str, float], whole: Iterable[str] = ()) -> set[str]:
    """The ids that belong to the fast set; all cases of the functions in `whole`."""
    chosen: set[str] = set()
    for name, cases in by_function(ids).items():
        if name in whole:
            chosen.update(cases)
        elif name not in long:
            chosen.add(one_case(name, cases))
    return chosen


def updated(long: Mapping[str, float], times: Mapping[str, float]) -> dict[str, float]:
    """The list after a run that took these times: of each function, of the case that the fast set would take."""
    seen = {name: times[one_case(name, cases)] for name, cases in by_function(times).items()}
    return {name: took for name, took in {**long, **seen}.items() if took >= LONG}


def read_list() -> dict[str, float]:
    lines = (line.split(maxsplit=1) for line in LIST.read_text("utf-8").splitlines())
    return {name: float(seconds) for seconds, name in lines}


def write_list(long: Mapping[str, float]) -> None:
    LIST.write_text("".join(f"{took:.1f} {name}\n" for name, took in sorted(long.items())), "utf-8")
