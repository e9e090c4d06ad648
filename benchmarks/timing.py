"""Timing and printing shared by the benchmarks: minima over repeats, tables, JSON."""

import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any


def best(run: Callable[[], Any], repeats: int = 3, budget: float = 30.0) -> tuple[float, Any]:
    """Smallest CPU time of `run()` in s over the repeats, and its last result; stops repeating after `budget` s.

    CPU time (user and system, all threads of this process) suffers far less from other load than wall time.
    """
    smallest, result, start = float("inf"), None, time.perf_counter()
    for _ in range(repeats):
        gc.collect()
        cpu = time.process_time()
        result = run()
        smallest = min(smallest, time.process_time() - cpu)
        if time.perf_counter() - start > budget:
            break
    return smallest, result


def print_table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Print the named columns of the rows, aligned."""
    cells = [list(columns), *([show(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)), flush=True)


def show(value: Any) -> str:
    """A number with four digits, anything else as it is, nothing for None."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    return {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}


def print_json(name: str, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """Print everything measured as one line of JSON, the last line of the output."""
    print(json.dumps({"benchmark": name, **machine(), **more, "rows": list(rows)}))
    sys.stdout.flush()
