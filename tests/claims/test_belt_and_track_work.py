"""HHT-I3 against BDF on small versions of the belt and the track for which the paper on HHT-I3 claims its gain."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import index3 as ix

MODELS = {
    "belt": (functools.partial(ix.library.belt_drive, 40), 2e-3),
    "track": (functools.partial(ix.library.crawler_track, True), 0.8),
}


def looked_at(name, result):
    """A position, a velocity and a force, (n_t, ...) each."""
    if name == "belt":
        axle = result["alternator axle"]
        return axle.angle, axle.angle_rate, axle.force[:, 0]
    return result["shoe 8"].position, result["shoe 8"].velocity, result["soil"].normal.sum(axis=1)


@functools.cache
def run(name, method, rtol, order=None):
    """What is looked at at 40 instants, and evaluations and factorisations."""
    make, end = MODELS[name]
    settings = {} if order is None else {"order": order}
    result = ix.simulate(make(), (0.0, end), method, rtol=rtol, t_eval=np.linspace(0, end, 41), **settings)
    assert result.success, result.message
    return looked_at(name, result), (result.stats["evaluations"], result.stats["factorisations"])


def difference(name, one, other):
    """Relative root mean squares of position, velocity and force."""
    return [np.sqrt(np.mean((a - b) ** 2) / np.mean(b**2)) for a, b in zip(one, other, strict=True)]


@pytest.mark.parametrize(("name", "bounds"), [("belt", (2e-3, 4e-3)), ("track", (1e-3, 0.1))])
def test_three_methods_agree(name, bounds):
    """The small models by the three methods of the paper, at one tolerance; found: a third of the bounds."""
    reference, _ = run(name, "hht-i3", 1e-4)
    for method in ("bdf-i3", "bdf-si2"):
        seen = difference(name, run(name, method, 1e-4)[0], reference)
        print(name, method, seen)
        assert seen[0] < bounds[0]
        assert seen[1] < bounds[1]


@pytest.mark.parametrize("name", MODELS)
def test_positions_then_velocities_then_forces(name):
    """S2-38, S2-50: relative differences between the two integrators are smallest in positions, largest in forces."""
    position, velocity, force = difference(name, run(name, "bdf-i3", 1e-4)[0], run(name, "hht-i3", 1e-4)[0])
    print(name, position, velocity, force)
    assert position < velocity < force if name == "belt" else position < min(velocity, force)


def test_work_of_bdf_of_order_one_on_a_track():
    """S2-39 on a track of 22 shoes and 242 contacts: stabilised index 2, order 1, over HHT-I3 at equal error.

    The paper says 5.2 times the time, the ledger asks for 2 times the work; found: 10 times the evaluations, at the
    error of HHT-I3 at rtol 1e-4, from a line through three tolerances.
    """
    exact, _ = run("track", "hht-i3", 1e-6)
    rows = {}
    for method, order in (("hht-i3", None), ("bdf-si2", 1)):
        runs = [run("track", method, rtol, order) for rtol in (1e-3, 1e-4, 1e-5)]
        rows[method] = [(difference("track", seen, exact)[0], *work) for seen, work in runs]
    print(rows)
    error, evaluations, _ = rows["hht-i3"][1]
    line = np.polyfit(np.log([row[0] for row in rows["bdf-si2"]]), np.log([row[1] for row in rows["bdf-si2"]]), 1)
    ratio = np.exp(np.polyval(line, np.log(error))) / evaluations
    print("evaluations of bdf-si2 of order 1 over hht-i3:", ratio)
    assert ratio > 2.0


def test_work_on_a_belt():
    """S2-37 does not reproduce: index-3 BDF takes HHT's work at equal tolerance, the paper says 2.65 times its time.

    On 40 segments over 2 ms at rtol 1e-4: 1.0 of the evaluations, 1.1 of the factorisations. Stabilised index 2: 1.9
    and 2.4. Half as much to either side, for the counts of failed corrections change with the last digits.
    """
    work = {method: np.array(run("belt", method, 1e-4)[1]) for method in ("hht-i3", "bdf-i3", "bdf-si2")}
    print(work)
    assert np.all(abs(np.log(work["bdf-i3"] / work["hht-i3"])) < np.log(1.5))
    assert np.all(work["bdf-si2"] > 1.2 * work["hht-i3"])
