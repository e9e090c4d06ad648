"""`go.py fuzz --minutes N`: as many random cases as fit into the time, and a table of what became of them.

Seeds count up from `--seed`, so two runs from the same one try the same cases. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_guard import outcomes, take
from fuzz_judge import FINDINGS, Outcome

SHARES = (("models", 40), ("uses", 20), ("model files", 40), ("result files", 20), ("faults", 1))
"""Kinds of cases, and how many of each come in turn."""


def say(text: str) -> None:
    print(f"[index3] {text}", flush=True)


def cases(kind: str | None, seed: int, count: int | None) -> Any:
    """Kinds with the seeds to try, in turn."""
    if kind is not None and count is not None:
        yield kind, seed, seed + count
        return
    starts = {name: seed for name, _ in SHARES if kind in (None, name)}
    for name, share in itertools.cycle(SHARES):
        if name in starts:
            yield name, starts[name], starts[name] + share
            starts[name] += share


def logged(path: str | None, kind: str) -> dict[int, Outcome]:
    """What a log holds of one kind, by seed."""
    if path is None or not Path(path).exists():
        return {}
    lines = (json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines())
    return {seed: Outcome(**outcome) for one, seed, outcome in lines if one == kind}


def fresh(kind: str, first: int, last: int, known: dict[int, Outcome]) -> Iterator[tuple[int, Outcome]]:
    """Each seed from first up to last with its outcome, those that are not known yet."""
    while first < last:
        end = first
        while end < last and end not in known:
            end += 1
        yield from outcomes(kind, first, end)
        first = end + 1


def show(kind: str, seed: int, outcome: Outcome) -> None:
    """A finding with the line that repeats it."""
    say(f"{outcome.word}: {outcome.cause}")
    if outcome.detail:
        print("    " + outcome.detail.strip().replace("\n", "\n    "))
    print(f'    repeat: python3 go.py fuzz --repeat "{kind}" --seed {seed}', flush=True)


def table(counts: Counter[tuple[str, str, str]], seconds: float) -> None:
    """How many cases had which outcome, by cause."""
    for kind in dict.fromkeys(kind for kind, _, _ in counts):
        words = Counter[str]()
        for (one, word, _), count in counts.items():
            words[word] += count if one == kind else 0
        say(f"{kind}: {sum(words.values())}")
        for word, count in words.most_common():
            if count:
                print(f"{count:7d}  {word}{'  <-- finding' if word in FINDINGS else ''}")
                causes = {why: n for (one, same, why), n in counts.items() if one == kind and same == word and why}
                for why, n in sorted(causes.items(), key=lambda pair: -pair[1])[:12]:
                    print(f"{n:14d}  {why}")
    found = sum(count for (_, word, _), count in counts.items() if word in FINDINGS)
    say(f"{sum(counts.values())} cases in {seconds:.0f} s, {found} findings")


def main() -> int:
    parser = argparse.ArgumentParser(prog="go.py fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--count", type=int, help="this many of one --kind, however long it takes")
    parser.add_argument("--kind", choices=[name for name, _ in SHARES], help="cases of one kind alone")
    parser.add_argument("--repeat", choices=[name for name, _ in SHARES], help="the one case of this kind and --seed")
    parser.add_argument("--log", help="file that gets a line of JSON for every case; seeds in it are not tried again")
    chosen = parser.parse_args()
    if chosen.repeat:
        return repeat(chosen.repeat, chosen.seed)
    start, said = time.monotonic(), time.monotonic()
    counts: Counter[tuple[str, str, str]] = Counter()
    try:
        for kind, first, last in cases(chosen.kind, chosen.seed, chosen.count):
            known = logged(chosen.log, kind)
            for seed in range(first, last):
                if seed in known:
                    counts[kind, known[seed].word, known[seed].cause] += 1
            for seed, outcome in fresh(kind, first, last, known):
                counts[kind, outcome.word, outcome.cause] += 1
                if chosen.log:
                    with open(chosen.log, "a", encoding="utf-8") as log:
                        log.write(json.dumps([kind, seed, vars(outcome)]) + "\n")
                if outcome.found:
                    show(kind, seed, outcome)
                if time.monotonic() - said > 20:
                    said = time.monotonic()
                    say(f"{sum(counts.values())} cases, {(said - start) / 60:.1f} minutes")
            if chosen.count is None and time.monotonic() - start > 60 * chosen.minutes:
                break
    except KeyboardInterrupt:
        say("interrupted")
    table(counts, time.monotonic() - start)
    return int(any(word in FINDINGS for _, word, _ in counts))


def repeat(kind: str, seed: int) -> int:
    """One case in this process, for a debugger."""
    if kind == "models":
        from fuzz_runs import draw_case

        say(str(draw_case(seed)))
    outcome = take(kind, seed)
    say(f"{outcome.word} {outcome.cause}\n{outcome.detail}")
    return int(outcome.found)


if __name__ == "__main__":
    raise SystemExit(main())
