"""Some seeds of the fuzzer, and that it sees what it looks for; `go.py fuzz --minutes N` tries more."""

from __future__ import annotations

import os
import sys
import types
import warnings
from pathlib import Path

import fuzz_guard
import fuzz_judge
import fuzz_main
import numpy as np
import pytest
from fuzz_draw import Planned
from fuzz_guard import outcomes
from fuzz_judge import Finding, Outcome, Ran, guarded
from fuzz_main import table
from fuzz_runs import Case, draw_case

import index3 as ix
from index3.compiled.interface import JIT

SEEDS = {"models": (25, 60), "uses": (0, 60), "model files": (0, 60), "result files": (0, 30)}
PATIENT = "60"
"""Seconds for a run: what is found counts here, not how fast the machine is (run 80323 took 5 to 13 s)."""


@pytest.mark.skipif(not JIT, reason="runs would take minutes")
@pytest.mark.parametrize("kind", SEEDS)
def test_nothing_is_found(kind, monkeypatch):
    monkeypatch.setenv("FUZZ_LONGEST", PATIENT)
    seen = list(outcomes(kind, *SEEDS[kind]))
    assert [seed for seed, _ in seen] == list(range(*SEEDS[kind]))
    assert [(seed, outcome) for seed, outcome in seen if outcome.found] == []
    words = {outcome.word for _, outcome in seen}
    assert words >= (
        {"agree", "refused"} if kind == "models" else {"clean", "refused"}
    )  # they get far enough to matter


@pytest.mark.skipif(not JIT, reason="runs would take minutes")
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("models", 72539),  # a constant step that overflows: NaN with success
        ("models", 134471),  # two methods of order 2, 0.015 from the motion and by chance 2e-4 from each other
        ("models", 181044),  # a body 1e12 m away: residuals of a line that rounding kept above its goal, for ever
        ("models", 184276),  # a stored run that was resumed said of a singular position what the whole run did not
        (
            "models",
            191489,
        ),  # penalties hide which rows are redundant: more rows than coordinates counted as independent
        ("uses", 80008),  # lines near a fold of a parallelogram with redundant rows: said to contradict each other
        ("uses", 80323),  # lines of output that changed which redundant rows later steps left out
        ("uses", 81097),  # velocities of a line that depended on which others were asked for
        (
            "uses",
            80958,
        ),  # an event that does nothing kept `auto` from looking at its choice where each step ends a segment
        ("model files", 32327),  # points of a linkage 1e200 m apart: NumPy's warning
    ],
)
def test_what_was_found_is_cured(kind, seed, monkeypatch):
    monkeypatch.setenv("FUZZ_LONGEST", PATIENT)
    [(_, outcome)] = outcomes(kind, seed, seed + 1)
    assert not outcome.found, outcome


def test_a_seed_draws_the_same_case_again():
    first, again = draw_case(5), draw_case(5)
    assert str(first) == str(again)
    assert first.model().check().coordinates == again.model().check().coordinates


DIES = """
import os, sys, time
sys.path.insert(0, {folder!r})
import fuzz_guard
from fuzz_judge import Outcome
fuzz_guard.GIVE_UP = 0.2

def take(kind, seed):
    if seed == 2:
        os.abort()
    while seed == 4:
        pass
    return Outcome("clean", str(seed))

fuzz_guard.take = take
fuzz_guard.child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals that end a process")
def test_a_child_that_dies_or_hangs_is_told_by_its_seed(monkeypatch, tmp_path):
    script = tmp_path / "child.py"
    script.write_text(DIES.format(folder=os.fspath(Path(fuzz_guard.__file__).parent)))
    monkeypatch.setattr(fuzz_guard, "CHILD", (sys.executable, os.fspath(script)))
    seen = dict(outcomes("models", 0, 6))
    assert {seed: outcome.word for seed, outcome in seen.items()} == {
        0: "clean", 1: "clean", 2: "crash", 3: "clean", 4: "above 10 s", 5: "clean",
    }  # fmt: skip


def test_a_log_is_continued(monkeypatch, tmp_path, capsys):
    """Seeds that are in it are counted and not tried again."""
    tried = []

    def some(kind, first, last):
        tried.extend(range(first, last))
        return [(seed, Outcome("agree")) for seed in range(first, last)]

    monkeypatch.setattr(fuzz_main, "outcomes", some)
    log = os.fspath(tmp_path / "log")
    for count in (2, 5):
        words = ["fuzz", "--kind", "models", "--seed", "3", "--count", str(count), "--log", log]
        monkeypatch.setattr(sys, "argv", words)
        assert fuzz_main.main() == 0
    assert tried == [3, 4, 5, 6, 7]
    assert "5  agree" in capsys.readouterr().out


def test_errors_of_index3_are_honest_and_others_are_findings(monkeypatch):
    def refuse():
        raise ix.ModelError("Revolute 'a' is wrong. Mend it.")

    def plan():
        raise Planned("own")

    def leak():
        np.float64(1.0) / np.float64(0.0)

    assert guarded(refuse).word == "refused"
    assert guarded(plan).word == "own"
    assert guarded(lambda: warnings.warn("slow", stacklevel=1)).word == "warned"
    for wrong, word in ((lambda: {}["x"], "raw exception"), (leak, "leaked warning")):
        with pytest.raises(Finding) as found:
            guarded(wrong)
        assert found.value.outcome.word == word
    monkeypatch.setattr(fuzz_judge, "LONGEST", -1.0)
    with pytest.raises(Finding) as found:
        guarded(lambda: None)
    assert found.value.outcome.word == "above 10 s"


@pytest.mark.parametrize(
    ("errors", "word"),
    [
        ({False: 1e-3}, "agree"),
        ({False: 0.5, True: 0.02}, "agree at tighter tolerances"),
        ({False: 0.5, True: 0.4}, "differs"),
        ({False: 0.5, True: 0.4, "moved": 0.6}, "set aside"),
        ({False: 0.5, True: 0.4, "moved": 6e-4}, "explained"),  # rtol 1e-7 in the start would move it by 0.6
        ({False: 0.5, True: 0.4, "moved": 2e-4}, "differs"),
        ({False: 0.5, True: 0.4, "finer": 0.1}, "explained"),
        ({False: 0.5, True: 0.4, "finer": 0.3}, "differs"),
    ],
)
def test_differences_are_explained_or_found(monkeypatch, errors, word):
    """Runs whose first method is off by what is said, at first and at tighter tolerances."""

    def run(case, model, method, rtol, start=None, tighter=False):
        finer = "finer" if rtol < 5e-8 and "finer" in errors else tighter
        off = errors[finer] if method == "a" else errors.get("moved", 0.0) if start else 0.0
        return Ran("clean", result=types.SimpleNamespace(q=np.full((2, 1), 1.0 + 1.01 * off), v=np.zeros((2, 1))))

    monkeypatch.setattr(fuzz_judge, "run", run)
    case = Case(0, "", lambda: ix.Model("empty"), (0.0, 1.0), "a", ("b",), 1e-4)
    assert fuzz_judge.judge(case).word == word


@pytest.mark.parametrize(
    ("tight", "word"), [((1e-6, 1e-4, 1.0), "agree at tighter tolerances"), ((1e-6, 0.5, 1.0), "differs")]
)
def test_motions_are_compared_until_they_part(monkeypatch, tight, word):
    """Errors that grow until they are as large as the motion; there, smaller tolerances do not help any more."""

    def run(case, model, method, rtol, start=None, tighter=False):
        off = np.zeros(3) if method == "b" else np.array(tight if tighter else (1e-3, 0.5, 1.5))
        return Ran("clean", result=types.SimpleNamespace(q=1.0 + off[:, None], v=np.zeros((3, 1))))

    monkeypatch.setattr(fuzz_judge, "run", run)
    case = Case(0, "", lambda: ix.Model("empty"), (0.0, 1.0), "a", ("b",), 1e-4)
    assert fuzz_judge.judge(case).word == word


@pytest.mark.parametrize(("second", "word"), [(0.0, "explained"), (0.47, "differs")])
def test_methods_that_are_close_by_chance_are_explained_if_both_converge(monkeypatch, second, word):
    """0.03 from each other and 0.5 from the motion, then 0.004; unless the second one stays where it is."""

    def run(case, model, method, rtol, start=None, tighter=False):
        off = (second + 0.004 if tighter else 0.5) if method == "a" else (second if tighter else 0.47)
        return Ran("clean", result=types.SimpleNamespace(q=np.full((2, 1), 10.0 + 10.01 * off), v=np.zeros((2, 1))))

    monkeypatch.setattr(fuzz_judge, "run", run)
    case = Case(0, "", lambda: ix.Model("empty"), (0.0, 1.0), "a", ("b",), 1e-4)
    assert fuzz_judge.judge(case).word == word


def test_junk_among_the_settings_is_left_to_simulate():
    case = Case(0, "", ix.library.pendulum, (0.0, 0.1), "hht-i3", (), 1e-4, settings={"linear": np.ones(3)})
    assert fuzz_judge.judge(case).word == "refused"


def test_an_audit_of_a_success_that_raises_is_a_finding():
    class Raises:
        @property
        def audit(self):
            raise ix.AssemblyError("Rows contradict others.")

    with pytest.raises(Finding) as found:
        fuzz_judge.is_sound(Raises())
    assert found.value.outcome.word == "raw exception"


def test_the_table_names_causes(capsys):
    from collections import Counter

    table(Counter({("models", "agree", ""): 3, ("models", "crash", "exit code -11"): 1}), 5.0)
    said = capsys.readouterr().out
    assert "3  agree\n" in said
    assert "1  crash  <-- finding\n             1  exit code -11" in said
    assert "4 cases in 5 s, 1 findings" in said
    assert Outcome("crash").found


@pytest.mark.skipif(not JIT, reason="runs would take minutes")
@pytest.mark.parametrize(
    ("seed", "steps", "most"),
    [
        (70150, 500, {"newton_failed": 120}),  # a fast loop by radau5: 82, and 507 where steps grow freely
        (20620, 500, {"newton_failed": 120}),  # a force without derivatives by radau5: 58, and 726
        (70353, 500, {"newton_failed": 120}),  # near a fold by generalized-alpha: 83, and 499
        # a knife edge of 1 km by descriptor-sdirk4: 9027; every point of an iteration closed to rounding: 20764
        (70326, 100, {"evaluations": 12000}),
        # three rows of velocities by descriptor-sdirk4: 24344; all closed to rounding, evaluated at every v: 46100
        (74776, 100, {"evaluations": 30000}),
        # stiff dampers by al-index1: 3815; steps that grew until the iteration failed: 10227
        (121557, 500, {"evaluations": 5000}),
    ],
)
def test_runs_that_took_long_need_less_work(seed, steps, most):
    """Work is counted, since the time of a machine says little: what these took is beside them."""
    case = draw_case(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ix.simulate(case.model(), case.span, case.method, rtol=case.rtol, max_steps=steps, progress=False)
    assert {name: result.stats[name] for name in most if result.stats[name] > most[name]} == {}
