"""HHT-I3 and BDF at equal error: work on stiff models and on contacts, and the tolerances that belong to one error."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import index3 as ix

BALL = {"stiffness": 1e6, "damping": 0.3, "friction": 0.3}
FOOT = {"stiffness": 1e5, "damping": 0.3, "friction": 0.4}


def bouncing_ball():
    """A ball thrown along the floor: impacts with friction."""
    model = ix.Model("ball")
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(0, 0, 0.5), velocity=(0.5, 0, 0)))
    model.add(ix.Contact("floor", model.ground, ball, (ix.Plane(), ix.Sphere(0.1)), **BALL))
    return model


def falling_block():
    """A block that falls, turning, on four round feet and slides."""
    model = ix.Model("block")
    rates = {"velocity": (1, 0, 0), "angular_velocity": (0.3, 1, 0)}
    block = model.add(ix.RigidBody.box("block", (0.4, 0.3, 0.2), mass=2.0, position=(0, 0, 0.2), **rates))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        foot = block.marker((0.2 * x, 0.15 * y, -0.1))
        model.add(ix.Contact(f"foot{k}", model.ground, foot, (ix.Plane(), ix.Sphere(0.02)), **FOOT))
    return model


def dropped_chain():
    """Six links with pins, dropped flat on the floor: a piece of track."""
    model, last = ix.Model("track piece"), None
    for k in range(6):
        ends = (0.2 * k, 0, 0.15), (0.2 * k + 0.2, 0, 0.15)
        link = model.add(ix.RigidBody.rod(f"link{k}", *ends, mass=0.3, radius=0.02))
        if last is not None:
            model.add(ix.Revolute(f"pin{k}", last, link, at=ends[0], axis=(0, 1, 0)))
        model.add(ix.Contact(f"shoe{k}", model.ground, link, (ix.Plane(), ix.Sphere(0.03)), **FOOT))
        last = link
    return model


STIFF = {
    "stiff pendulum": (ix.library.double_pendulum, 2.0),
    "stiffer pendulum": (lambda: ix.library.double_pendulum(c2=5e8), 2.0),
    "iltis": (ix.library.iltis, 1.0),
}
CONTACTS = {"ball": (bouncing_ball, 1.0), "block": (falling_block, 0.5), "track piece": (dropped_chain, 0.5)}
SMOOTH = {
    "free double pendulum": (ix.library.free_double_pendulum, 1.0),
    "andrews": (ix.library.andrews, 0.03),
}
CAR = {"car over a bump": (ix.library.hmmwv14, 2.0)}
MODELS = STIFF | CONTACTS | SMOOTH | CAR
MEETS_BUMP = (0.5, 0.51, 1.24, 1.25)  # front and rear wheels, as the car's page says


@functools.cache
def curve(name, key, order=None):
    """log10 of tolerance, largest error over time, and work (corrections + matrices), one row each per tolerance."""
    make, span = MODELS[name]
    times = np.linspace(0, span, 21)[1:]
    rows, options = [], {} if order is None else {"order": order}
    settings = {"t_eval": times, "discontinuities": MEETS_BUMP if name in CAR else ()}
    reference = "dop853" if name in CONTACTS else "bdf-si2"
    exact = ix.simulate(make(), (0, span), reference, rtol=1e-10, atol=1e-12, **settings)
    for rtol in 10.0 ** -np.arange(3, 7):
        result = ix.simulate(make(), (0, span), key, rtol=rtol, atol=rtol / 100, **settings, **options)
        assert result.success, result.message
        work = result.stats["newton"] + result.stats["factorisations"]
        rows.append((rtol, np.abs(result.q - exact.q).max(), work))
    return np.log10(np.array(rows).T)


def work_at_equal_error(name, key, order=None):
    """log10 of the work at the error that HHT has in the middle of its curve."""
    rows = curve(name, key, order)
    return np.polyval(np.polyfit(rows[1], rows[2], 1), np.mean(curve(name, "hht-i3")[1]))


def mean_ratio(names, key, order=None):
    """Geometric mean over models of work by a method in parts of that by HHT-I3, at equal error."""
    gains = {name: work_at_equal_error(name, key, order) - work_at_equal_error(name, "hht-i3") for name in names}
    print(key, order, {name: round(float(10**gain), 2) for name, gain in gains.items()})
    return 10 ** np.mean(list(gains.values()))


def test_hht_is_not_faster_than_a_good_bdf():
    """S2-44 does not reproduce: the paper reports two to three times less time than its default BDF.

    At equal error our index-3 BDF needs less on stiff models and about as much on contacts: 0.45 (0.37 to 0.68) and
    0.90 (0.77 to 1.03) of HHT's corrections and matrices in the geometric mean; the error is HHT's at rtol 3e-5. For
    a car of 14 bodies on its tyres over a bump it is 1.13.
    """
    stiff, contact, car = (mean_ratio(names, "bdf-i3") for names in (STIFF, CONTACTS, CAR))
    print("bdf-i3 over hht-i3:", stiff, contact, car)
    assert 0.3 < stiff < 0.8
    assert 0.6 < contact < 1.2
    assert 0.8 < car < 1.6  # half as much to either side: work by a fit through four tolerances


def test_hht_beats_bdf_of_order_one():
    """S2-39 in small: against stabilised index-2 BDF held at order one, as the paper ran it on its track.

    The ledger asks for at least half the work saved.
    """
    ratio = mean_ratio(CONTACTS, "bdf-si2", 1)
    print("bdf-si2 of order 1 over hht-i3:", ratio)
    assert ratio > 2.0


@pytest.mark.parametrize(("name", "laxer"), [
    ("free double pendulum", (0.5, 1.4)), ("andrews", (0.0, 1.0)), ("stiff pendulum", (1.0, 1.6)),
    ("iltis", (0.3, 1.6)),
])  # fmt: skip
def test_tolerances_of_one_error(name, laxer):
    """S2-46: decades by which rtol of bdf-i3 and bdf-si2 may be laxer for the error that HHT has at 1e-6.

    The paper says one and two to three; found 0 to 1 and 1 to 1.6. At HHT's 1e-4 it is half a decade less: the orders
    differ, so no single number can be had.
    """
    rows = curve(name, "hht-i3")
    error, seen = np.polyval(np.polyfit(rows[0], rows[1], 1), -6.0), []
    for key in ("bdf-i3", "bdf-si2"):
        rows = curve(name, key)
        seen.append(np.polyval(np.polyfit(rows[1], rows[0], 1), error) + 6.0)
    print(name, seen)
    assert seen == pytest.approx(laxer, abs=0.3)  # errors leave their power law by up to 2
