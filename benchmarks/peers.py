"""index3 beside what users would take instead, at equal error, in one run: the table of `docs/reference/peers.md`.

    python benchmarks/peers.py [--rows andrews,chain] [--rounds 5] [--budget 60] [--page docs/reference/peers.md]

Peers that are installed take part: `pip install casadi mujoco drake exudyn`, in an environment with index3.
For each row every code first tries its settings; the cheapest that meets the error counts. Then the codes run in
turn for some rounds, so that each suffers the same from other load, and the smallest CPU time of each is taken; in a
turn a short run is repeated, since the first one after other codes waits for what it finds in no cache. Times are of
the whole call, set-up and output included, but without what peers compile once (`prepared` is that of index3).
Where the smallest time of a code was met in one round only, the machine was too noisy to conclude, and the row says so.
"""

import argparse
import gc
import platform
import textwrap
import time
from importlib import import_module
from pathlib import Path

from timing import print_json, print_table

MODULES = ("andrews_row", "stiff_row", "chain_row", "pendulums_row", "beam_row", "user_rows", "start_row")
TURN = 0.02
"""CPU seconds for which a code repeats short runs before the next one has its turn."""
NOISY = 1.25
"""Second smallest time over the smallest beyond which one round is not believed."""
COLUMNS = ("work", "code", "setting", "ms", "loop_ms", "error", "ratio", "goal_ms", "note")


HEAD = """CPU milliseconds of the whole call on one core, set-up and output included (`loop`: the step loop alone), at
equal error; smallest of several rounds in which the codes took turns of 0.02 s or of one run. `ratio` is the cost over
that of index3 in the same row. Peers get their equations or models compiled before the clock starts; so does `index3
prepared`. Trees (Drake, MuJoCo) use joint coordinates, index3 absolute ones. Made by `benchmarks/peers.py`, which tells
how."""


def timed(way, turn=0.0):
    """Least CPU seconds of a run, repeated until they make up a turn, and its error."""
    gc.collect()
    costs, error = [], None
    while not costs or sum(costs) < turn:
        before = way.clock()
        error = way.run()
        costs.append(way.clock() - before)
    return min(costs), error


def cheapest(row, ways, budget):
    """The cheapest way that is accurate enough, by one turn of each after a first run that loads code; or None."""
    found, start = [], time.perf_counter()
    for way in ways:
        if not found:
            timed(way)
        cost, error = timed(way, TURN)
        if row.error is None or error <= row.error:
            found.append((cost, error, way))
        if time.perf_counter() - start > budget:
            break
    return min(found, key=lambda x: x[0], default=None)


def compare(row, rounds, budget):
    """One line of the table for each code."""
    chosen, notes = {}, {}
    for code, ways in row.codes.items():
        try:
            best = cheapest(row, ways(), budget)
        except ImportError as missing:
            notes[code] = f"not installed: {missing.name or missing}"
            continue
        if best is None:
            notes[code] = "no setting meets the error"
        else:
            chosen[code] = best
    costs, loops = {code: [] for code in chosen}, {code: [] for code in chosen}
    start = time.perf_counter()
    for _ in range(rounds):
        for code, (_, _, way) in chosen.items():
            costs[code].append(timed(way, TURN)[0])
            if way.loop is not None:
                loops[code].append(way.loop())
        if time.perf_counter() - start > 4.0 * budget:
            break
    lines = [line(row, code, chosen.get(code), costs.get(code, []), loops.get(code, []), notes) for code in row.codes]
    own = next((x["ms"] for x in lines if x["code"].startswith("index3") and x["ms"]), None)
    for one in lines:
        one["ratio"] = one["ms"] / own if own and one["ms"] else None
    return lines


def line(row, code, best, costs, loops, notes):
    """What is known of a code."""
    least = sorted(costs)
    noisy = len(least) > 1 and least[1] > NOISY * least[0]
    goal = row.goal.get(code)
    return {
        "work": row.work,
        "code": code,
        "setting": best[2].setting if best else None,
        "ms": 1e3 * least[0] if least else None,
        "loop_ms": 1e3 * min(loops) if loops else None,
        "error": best[1] if best else None,
        "goal_ms": 1e3 * goal if goal else None,
        "note": notes.get(code, "too noisy to conclude" if noisy else ""),
    }


def page(lines):
    """The table as a page."""
    text = [
        "# Beside other codes",
        "",
        *textwrap.wrap(HEAD, 120),
        "",
        f"Machine: {platform.machine()}, Python {platform.python_version()}.",
        "",
        "| work | code | setting | ms | loop | error | ratio | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    show = lambda x, digits=3: "" if x is None else f"{x:.{digits}g}"  # noqa: E731
    for x in lines:
        cells = (x["work"], x["code"], x["setting"] or "", show(x["ms"]), show(x["loop_ms"]), show(x["error"], 2))
        text.append(f"| {' | '.join(cells)} | {show(x['ratio'])} | {x['note']} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help="parts of the names of rows, with commas between them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for the trials of one code in one row")
    parser.add_argument("--page", type=Path, help="write the table as Markdown")
    options = parser.parse_args()
    wanted = options.rows.split(",") if options.rows else [""]
    lines = []
    for module in MODULES:
        for row in import_module(f"peer_rows.{module}").ROWS:
            if any(part.lower() in row.work.lower() for part in wanted):
                lines += compare(row, options.rounds, options.budget)
                print_table(lines[-len(row.codes) :], COLUMNS)
                print(flush=True)
    if options.page:
        options.page.write_text(page(lines))
    print_json("peers", lines)


if __name__ == "__main__":
    main()
