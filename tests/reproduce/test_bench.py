"""The command that measures runs on this machine."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from index3.cli import app
from index3.commands import bench


def test_table_and_file(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "WORK", bench.WORK[:2])
    answer = CliRunner().invoke(app, ["bench", "--rounds", "1", "--json", str(tmp_path / "bench.json")])
    assert answer.exit_code == 0, answer.output
    assert [line.split()[0] for line in answer.output.splitlines()] == [
        "mechanism",
        "andrews",
        "double_pendulum",
        "wrote",
    ]
    rows = json.loads((tmp_path / "bench.json").read_text())["milliseconds"]
    for row in rows:
        assert row["count"] > 0
        # parts of the total; clocks are read in between, and those of the parts first
        assert 0.0 < row["setup"] + row["steps"] + row["output"] <= row["total"]


def test_bad_input(tmp_path):
    assert CliRunner().invoke(app, ["bench", "--rounds", "0"]).exit_code == 2
    assert CliRunner().invoke(app, ["bench", "--json", str(tmp_path / "no" / "file.json")]).exit_code == 2
