"""How a run went, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from index3.results.result import Result


def summary(result: Result) -> str:
    """How a run went, in a few lines."""
    state = "finished" if result.success else f"FAILED (status {result.status})"
    head = f"Result of '{result.layout.model}': {state}"
    if not len(result):
        return f"{head}, no output. {result.message}"
    by = f" by {result.method}" if result.method else ""
    lines = [f"{head}, {len(result)} times from {result.t[0]:g} to {result.t[-1]:g} s{by}"]
    if result.message and not result.success:
        lines.append(f"  {result.message}")
    lines += [f"  {line}" for line in stats_lines(result.stats)]
    if result.audit is not None:
        lines.append(f"  {result.audit.line()}")
    balance, largest = result.energy.balance, np.max(result.energy.kinetic)
    if np.all(np.isfinite(balance)):
        part = f" ({np.ptp(balance) / largest:.1e} of the largest kinetic energy)" if largest > 0 else ""
        lines.append(f"  energy balance varies by {np.ptp(balance):.3g} J{part}")
    if result.lam.shape[1]:
        worst = np.max(result.arrays["violation_scaled"], axis=0)
        levels = zip(worst, ("position", "velocity", "acceleration"), strict=True)
        lines.append("  scaled residuals at most " + ", ".join(f"{x:.1e} ({level})" for x, level in levels))
    return "\n".join(lines)


def stats_lines(stats: Mapping[str, Any]) -> list[str]:
    """What a run counted, and the time that it took, in words; nothing of what is zero."""
    numbers = {key: value for key, value in stats.items() if not isinstance(value, list) and value}
    counts = [key for key in numbers if not key.startswith("seconds") and key != "work_error"]
    lines = [", ".join(f"{key.replace('_', ' ')} {numbers[key]:.5g}" for key in counts)]
    parts = [f"{key[8:]} {numbers[key]:.2g} s" for key in numbers if key.startswith("seconds_")]
    times = [f"stepping took {numbers['seconds']:.2g} s"] if "seconds" in numbers else []
    times += ["CPU time: " + ", ".join(parts)] if parts else []
    return [line for line in (*lines, "; ".join(times)) if line]
