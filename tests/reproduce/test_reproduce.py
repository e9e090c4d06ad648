"""Experiments of the papers: which of their numbers come out as printed, and which do not."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from index3 import reproduce
from index3.cli import app
from index3.errors import ModelError

OTHER = {
    "counts": (),
    "pendulum-energy": (),
    "flexible-pendulum": (),
    "hht-order": ("order in q, mass matrix as printed",),
    "springs": ("rtol 1e-04: work of adams", "trapezoidal", "rtol 1e-07: work of adams"),
    "stiff-pendulum": ("firstorder-sdirk4", "rosenbrock4"),
}
"""Beginnings or parts of the rows that may be found otherwise; docs/reference/reproduction_*.md say why."""


def test_every_experiment_is_looked_at():
    assert set(OTHER) == set(reproduce.EXPERIMENTS)


@pytest.mark.parametrize("name", list(OTHER))
def test_rows_that_agree(name):
    found = reproduce.run(name)
    assert found.rows
    for row in found.rows:
        assert row.agrees or any(part in row.what for part in OTHER[name]), str(row)
        assert (row.printed > 0.0) == (row.here > 0.0)


def test_the_printed_mass_term_costs_an_order():
    rows = {row.what: row.here for row in reproduce.run("hht-order").rows}
    assert rows["order in q, mass matrix as printed"] < 1.5  # tends to 1 as steps get smaller


def test_methods_come_in_the_printed_sequence():
    """TLISMNI/Adams, Table 1 at 1e-7: explicit Adams, order 4 (which is 1), order 3, trapezoidal."""
    explicit, third, trapezoidal = (row.here for row in reproduce.run("springs").rows[3:])
    assert explicit < 1.0 < third < trapezoidal


def test_a_row_says_how_far_it_is_off():
    assert str(reproduce.Row("x", 2.0, 2.0)).endswith("2           2  as printed")
    assert str(reproduce.Row("x", 2.0, 2.1, factor=1.1)).endswith("as printed within a factor of 1.1")
    assert str(reproduce.Row("x", 2.0, 4.0, factor=1.1)).endswith("2 times what is printed")
    assert str(reproduce.Row("x", 0.0, 4.0)).endswith("not as printed")
    assert not reproduce.Row("x", 2.0, -2.0, factor=1e9).agrees


def test_unknown_experiment():
    with pytest.raises(ModelError, match="There is no experiment 'andrew'"):
        reproduce.run("andrew")


def test_command():
    listed = CliRunner().invoke(app, ["reproduce"])
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.output.splitlines()] == list(reproduce.EXPERIMENTS)
    shown = CliRunner().invoke(app, ["reproduce", "pendulum-energy"])
    assert shown.exit_code == 0
    assert shown.output.count("as printed within") == 4
    assert CliRunner().invoke(app, ["reproduce", "nothing"]).exit_code == 2
