"""Does the audit cry wolf, and what do runs gain? Models by every method that takes them.

usage: python benchmarks/audit.py [--set library] [--rtol 1e-6] [--models pendulum,four_bar] [--methods radau5]
                                  [--span 10] [--seconds 60] [--out found.txt]

--set is `library` (with its defaults), `reference` (what tests/reference_cases run, over their own spans), or
`conservative` (what the library has where nothing does work). Prints one line per model, tolerance and method: gain of
energy as a part of the scale, margin to its bound, what was out of bounds, and how far the run came in --seconds of
CPU if not to its end; lines found in --out are not computed again. `audit_cost.py` tells what the audit costs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import index3 as ix

SPANS = {"andrews": 0.03}
"""Models with a span of their own [s]."""
KEPT = ("events", "discontinuities", "open_joints", "max_step", "initial")
"""What a run of a reference case keeps of its settings."""
Case = tuple[Callable[[], ix.Model], float, dict[str, Any]]


def library(span: float) -> dict[str, Case]:
    """The models of the library with their defaults."""
    sized = {f"chain{n}": partial(ix.library.chain, n) for n in (5,)}
    makers = {name: getattr(ix.library, name) for name in ix.library.names() if name != "chain"} | sized
    return {name: (make, SPANS.get(name, span), {}) for name, make in makers.items()}


def conservative(span: float) -> dict[str, Case]:
    """Those in which nothing does work, some in other sizes too."""
    names = ("ancf_pendulum", "four_bar", "free_double_pendulum", "mass_spring", "parallelogram", "pendulum",
             "slider_crank", "spinning_top")  # fmt: skip
    cases = {name: (getattr(ix.library, name), span, {}) for name in names}
    cases["chain5"] = (partial(ix.library.chain, 5), span, {})
    cases["chain5_springs"] = (partial(ix.library.chain, 5, springs=True), span, {})
    cases["parallelogram8"] = (partial(ix.library.parallelogram, 8), span, {})
    return cases


def reference(_: float) -> dict[str, Case]:
    """The first run of every test in tests/reference_cases: model, span and what belongs to them."""
    import pytest

    found: dict[str, Case] = {}
    real = ix.simulate

    def note(model: ix.Model, t_span: Any, method: Any = "auto", **settings: Any) -> None:
        name = f"{Path(sys._getframe(1).f_code.co_filename).stem[5:]}:{model.name}"
        known = {key: settings[key] for key in KEPT if key in settings}
        if not any(case[0]() is model for case in found.values()):
            found.setdefault(name, (lambda: model, float(t_span[1]), known))
        pytest.skip("noted")

    ix.simulate = note
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            folder = Path(__file__).parents[1] / "tests" / "reference_cases"
            pytest.main(["-q", "-p", "no:cacheprovider", str(folder)])
    finally:
        ix.simulate = real
    return found


SETS = {"library": library, "conservative": conservative, "reference": reference}


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ctrl-C after so many seconds of CPU, upon which a run returns what it has."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job may have it ignored
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def find(case: Case, method: str, rtol: float, seconds: float) -> str:
    """What a run comes to."""
    make, span, settings = case
    model = make()  # `atv` alone takes seconds
    start = time.process_time()
    try:
        with limited(seconds), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = ix.simulate(model, (0.0, span), method, rtol=rtol, t_eval=span / 100.0, progress=False,
                                 **settings)  # fmt: skip
    except ix.Index3Error as error:
        return f"refused: {str(error)[:90]}"
    except KeyboardInterrupt:
        return "no run in time"
    used = time.process_time() - start
    if result.audit is None:
        return f"not audited, {used:.1f} s"
    check = result.audit["energy"]
    scale = float(check.note.split("scale ")[1].split(" J")[0])
    out = [x.name for x in result.audit.checks if not x.ok]
    warned = any("Do not trust" in str(x.message) for x in told)
    share = 100 * check.value / scale if scale else 0.0
    line = f"gain {check.value:9.3g} J = {share:9.3g} %, margin {check.margin:8.2g}, "
    line += f"{result.stats['steps']} steps, {used:.1f} s"
    line += f"  cut {check.note.split('divided by ')[1].split()[0]}" if "divided" in check.note else ""
    line += f"  OUT: {', '.join(out)}" if out else ""
    line += "  WARNED" if warned else ""
    if not result.success:
        line += f"  until {result.t[-1]:.4g} of {span:g} s: {result.message[:110]}" if len(result) else result.message
    return line


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="library", choices=SETS)
    parser.add_argument("--rtol", default="1e-6")
    parser.add_argument("--span", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--models", default="")
    parser.add_argument("--methods", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cases = SETS[given.set](given.span)
    done = given.out.read_text() if given.out is not None and given.out.exists() else ""
    for name in given.models.split(",") if given.models else cases:
        for rtol in given.rtol.split(","):
            for method in given.methods.split(",") if given.methods else ["auto", *ix.METHODS]:
                key = f"{name:<28}{rtol:<7}{method:<24}"
                if key in done:
                    continue
                line = key + find(cases[name], method, float(rtol), given.seconds)
                print(line, flush=True)
                if given.out is not None:
                    with given.out.open("a") as file:
                        file.write(line + "\n")


if __name__ == "__main__":
    main()
