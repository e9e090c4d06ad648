"""Files and names: netCDF without loss, xarray, CSV, histories by name."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr
from stored_four_bar import four_bar_result

from index3.errors import Index3Error, ModelError
from index3.results.arrays import empty_arrays, plain
from index3.results.export import quantity
from index3.results.layout import Layout
from index3.results.result import Result


def same(a, b):
    assert a.layout.to_dict() == b.layout.to_dict()
    assert all(np.array_equal(a.arrays[name], b.arrays[name], equal_nan=True) for name in a.arrays)
    for key in ("status", "message", "success", "stats", "method", "options"):
        assert getattr(a, key) == getattr(b, key)


def test_save_and_load_lose_nothing(tmp_path):
    result = four_bar_result(9)
    result.arrays["lam"][3, 4] = np.nan
    result.arrays["work"][:] = [0.1 * np.pi, 1e-310, -0.0, np.inf, 5, 6, 7, 8, 1 / 3]
    result.save(tmp_path / "run.nc")
    same(Result.load(tmp_path / "run.nc"), result)
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]  # nothing unfinished is left behind


def test_save_replaces_a_file(tmp_path):
    four_bar_result(9).save(tmp_path / "run.nc")
    four_bar_result(5).save(str(tmp_path / "run.nc"))
    assert len(Result.load(str(tmp_path / "run.nc"))) == 5


def test_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    four_bar_result(9).save(tmp_path / "run.nc")

    def full(*arguments, **settings):
        raise OSError("disk full")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", full)
    with pytest.raises(OSError, match="disk full"):
        four_bar_result(5).save(tmp_path / "run.nc")
    monkeypatch.undo()
    assert len(Result.load(tmp_path / "run.nc")) == 9


def test_many_bodies_fit(tmp_path):
    """A description far beyond the 64 KiB that an HDF5 attribute holds."""
    shape = {"type": "box", "size": [1.0, 0.1, 0.1]}
    body = {"kind": "rigid", "size": 7, "shape": shape, "mass": 1.0}
    bodies = [body | {"name": f"link{k}", "start": 7 * k} for k in range(1000)]
    result = Result(Layout("chain", bodies), empty_arrays(2, 7000, 0, 0, 0))
    result.save(tmp_path / "chain.nc")
    same(Result.load(tmp_path / "chain.nc"), result)


@pytest.mark.parametrize("n_t", [0, 1])
def test_no_joints_and_hardly_any_times(tmp_path, n_t):
    body = {"name": "ball", "kind": "point", "start": 0, "size": 3, "shape": {"type": "none"}, "mass": 1.0}
    result = Result(Layout("ball", [body]), empty_arrays(n_t, 3, 0, 0, 0))
    result.save(tmp_path / "ball.nc")
    same(Result.load(tmp_path / "ball.nc"), result)


def test_the_file_describes_itself(tmp_path, four_bar):
    four_bar.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as file:
        assert file["q"].dims == ("time", "coordinate")
        assert file["q"].sel(coordinate="coupler.e2").values == pytest.approx(four_bar.q[:, 12], abs=0)
        assert file["lam"].sel(row="B.x1.z2").shape == (201,)
        assert file["wrench"].sel(joint="C", component="tz").shape == (201,)
        assert file["time"].attrs["units"] == "s"
        assert file["kinetic"].attrs["units"] == "J"
        assert "SI" in file.attrs["units"]
        assert file.attrs["source"].startswith("index3 ")


def test_bad_files_are_named(tmp_path):
    with pytest.raises(Index3Error, match=r"no file '.*missing\.nc'"):
        Result.load(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("not netCDF")
    with pytest.raises(Index3Error, match=r"text\.nc' is not netCDF"):
        Result.load(tmp_path / "text.nc")
    xr.Dataset({"x": ("y", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=r"other\.nc' is netCDF, but not a result of index3"):
        Result.load(tmp_path / "other.nc")


def without_checksums(path):
    """The dataset of a file as format 1 had it."""
    with xr.open_dataset(path, engine="h5netcdf") as file:
        dataset = file.load()
    for content in dataset.variables.values():
        content.attrs.pop("checksum")
    del dataset.attrs["checksum"]
    return dataset.assign_attrs(index3_format=1)


def test_files_without_checksums_are_still_read(tmp_path):
    whole = four_bar_result(3)
    whole.save(tmp_path / "run.nc")
    dataset = without_checksums(tmp_path / "run.nc")
    dataset.to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    assert np.array_equal(Result.load(tmp_path / "old.nc").q, whole.q)
    dataset.drop_vars("lam").to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=r"part\.nc' is damaged"):
        Result.load(tmp_path / "part.nc")
    dataset.isel(row=slice(0, 5)).to_netcdf(tmp_path / "short.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=r"short\.nc' is damaged: Array 'lam'"):
        Result.load(tmp_path / "short.nc")
    layout = json.loads(dataset["layout"].item())
    del layout["bodies"][1]["start"]
    dataset.assign(layout=((), json.dumps(layout))).to_netcdf(tmp_path / "gap.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=r"gap\.nc' is damaged: entry 1 of the bodies lacks start"):
        Result.load(tmp_path / "gap.nc")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.drop_vars("lam"), "lam"),
        (lambda d: d.isel(row=slice(0, 5)), "'lam' is not what was saved|'row' is not what was saved"),
        (lambda d: d.assign_attrs(index3_format=1), "its attributes"),
        (lambda d: d.assign_attrs(index3_format="x"), "its format is 'x'"),
        (lambda d: d.assign_attrs(index3_format=0), "its format is"),
        (lambda d: d.assign_attrs(title="another"), "its attributes"),
        (lambda d: d.assign_attrs(checksum="0"), "its attributes"),
        (lambda d: d.assign(layout=((), d["layout"].item() + " ")), "'layout' is not what was saved"),
        (lambda d: d.assign(info=((), "{}")), "'info' is not what was saved"),
        (lambda d: d.assign(q=d["v"]), "'q' is not what was saved"),
        (lambda d: d.assign(q=d["q"].astype(int)), "'q' holds no numbers"),
        (lambda d: d.assign(more=((), 1.0)), "'more' is not what was saved"),
    ],
)
def test_files_that_were_changed_are_named(tmp_path, change, words):
    four_bar_result(3).save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as file:
        dataset = file.load()
    change(dataset).to_netcdf(tmp_path / "changed.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=rf"changed\.nc' is damaged: .*({words})"):
        Result.load(tmp_path / "changed.nc")


def test_newer_files_are_named(tmp_path):
    four_bar_result(3).save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as file:
        file.load().assign_attrs(index3_format=99).to_netcdf(tmp_path / "new.nc", engine="h5netcdf")
    with pytest.raises(Index3Error, match=r"new\.nc' has format 99"):
        Result.load(tmp_path / "new.nc")


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # of h5netcdf, for files that it cannot open
def test_a_flipped_bit_is_refused_or_in_nothing_that_is_read(tmp_path):
    """Anywhere in the file, its own tables included."""
    whole = four_bar_result(3)
    whole.save(tmp_path / "run.nc")
    data, random, refused = (tmp_path / "run.nc").read_bytes(), np.random.default_rng(1), 0
    for place in random.integers(len(data), size=40):
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(random.integers(8))
        (tmp_path / "flipped.nc").write_bytes(flipped)
        try:
            loaded = Result.load(tmp_path / "flipped.nc")
        except Index3Error:
            refused += 1
        else:
            assert all(np.array_equal(loaded.arrays[name], x) for name, x in whole.arrays.items())
            assert loaded.layout == Layout.from_dict(whole.layout.to_dict())
            assert loaded.info == whole.info
    assert refused > 5


def test_numbers_that_are_none_survive(tmp_path):
    """A run that failed may end in them; their sign bit is no damage."""
    whole = four_bar_result(3)
    whole.arrays["a"][-1] = [np.nan, -np.nan, np.inf] * 7
    whole.save(tmp_path / "run.nc")
    assert Result.load(tmp_path / "run.nc").a.tobytes() == whole.a.tobytes()


def test_to_xarray_has_bodies_by_name(four_bar):
    dataset = four_bar.to_xarray()
    assert dataset["crank.position"].dims == ("time", "axis")
    assert np.array_equal(dataset["crank.position"].sel(axis="z"), four_bar["crank"].position[:, 2])
    assert dataset["crank.orientation"].dims == ("time", "parameter")
    assert dataset["rocker.angular_velocity"].attrs["units"] == "rad/s"
    assert "crank.angle" not in dataset
    halfway = dataset["crank.position"].interp(time=0.01)  # what a Dataset is good for
    assert halfway.shape == (3,)


def test_csv_keeps_all_digits(tmp_path, four_bar):
    four_bar.to_csv(tmp_path / "run.csv", ["crank.position", "B.angle", "energy.kinetic"])
    header, *_ = (tmp_path / "run.csv").read_text().splitlines()
    assert header == "time,crank.position.x,crank.position.y,crank.position.z,B.angle,energy.kinetic"
    table = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 0], four_bar.t)
    assert np.array_equal(table[:, 1:4], four_bar["crank"].position)
    assert np.array_equal(table[:, 4], four_bar["B"].angle)
    four_bar.to_csv(tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text().startswith("time,crank.position.x,")


def test_csv_of_a_run_without_output_is_its_header(tmp_path):
    some = four_bar_result(3)
    none = Result(some.layout, {name: array[:0] for name, array in some.arrays.items()})
    none.to_csv(tmp_path / "none.csv", ["crank.position", "B.angle", "energy"])
    assert len((tmp_path / "none.csv").read_text().splitlines()) == 1


def test_csv_quotes_names(tmp_path):
    body = {"name": 'arm, "left" µ', "kind": "point", "start": 0, "size": 3, "shape": {}, "mass": 1.0}
    result = Result(Layout("odd", [body]), empty_arrays(2, 3, 0, 0, 0))
    result.to_csv(tmp_path / "odd.csv")
    with open(tmp_path / "odd.csv", newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header == ["time", *(f'arm, "left" µ.position.{axis}' for axis in "xyz")]
    assert [len(line) for line in lines] == [4, 4]


@pytest.mark.parametrize(
    ("name", "unit", "columns"),
    [
        ("crank.position", "m", 3),
        ("crank.angular_acceleration", "rad/s²", 3),
        ("crank.position.z", "m", 1),
        ("B.force", "N", 3),
        ("B.angle", "rad", 1),
        ("B.angle_rate", "rad/s", 1),
        ("energy", "J", 5),
        ("energy.work", "J", 1),
        ("violation", "SI", 3),
        ("violation.velocity", "SI", 1),
        ("violation.scaled", "", 3),
        ("violation.scaled.velocity", "", 1),
        ("q", "SI", 21),
        ("q.coupler.e2", "SI", 1),
        ("lam.B.x1.z2", "SI", 1),
    ],
)
def test_histories_by_name(four_bar, name, unit, columns):
    found = quantity(four_bar, name)
    assert (found.unit, found.values.shape, len(found.labels)) == (unit, (201, columns), columns)


def test_bare_names_mean_the_obvious_history(four_bar):
    assert quantity(four_bar, "crank").name == "crank.position"
    assert quantity(four_bar, "B").name == "B.angle"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crnk.position", "Did you mean 'crank'"),
        ("crank.positon", "'crank' has no history 'positon'. Did you mean position\\? Use one of position, velocity"),
        ("crank.position.w", "does not name a column. Use one of x, y, z"),
        ("crank.angle", "only planar bodies have 'angle'"),
        ("B.length", "Revolute 'B' has no coordinate 'length'. It has angle"),
        ("energy.heat", "Use one of kinetic, potential"),
    ],
)
def test_wrong_names_say_what_there_is(four_bar, name, message):
    with pytest.raises(ModelError, match=message):
        quantity(four_bar, name)


def test_plain_makes_anything_json():
    value = {"a": np.float64(1.5), 2: (np.int64(3), [np.array([1.0])]), "f": len, "n": None}
    assert plain(value) == {"a": 1.5, "2": [3, [[1.0]]], "f": repr(len), "n": None}


def test_files_keep_jumps(tmp_path):
    info = {"t": 0.5, "event": "latch", "opened": ("pin",), "closed": (), "struck": (), "gap": 0.0}
    jump = info | {"kinetic_before": 2.0, "kinetic_after": 1.5}
    some = four_bar_result(3)
    whole = Result(some.layout, some.arrays, {"jumps": [jump]})
    whole.save(tmp_path / "run.nc")
    again = Result.load(tmp_path / "run.nc")
    assert again.jumps == whole.jumps
    assert again.jumps[0].opened == ("pin",)
    assert again.jumps[0].kinetic_lost == 0.5


def test_advice_is_sought_for_mistakes_only(monkeypatch):
    """A controller looks up its inputs at every sample."""
    result = four_bar_result(3)
    name = next(iter(result.layout.joints))["name"]
    monkeypatch.setattr("index3.results.joints.nearest", lambda *_: pytest.fail("a right name was taken for a mistake"))
    assert quantity(result, f"{name}.force").values.shape == (3, 3)
