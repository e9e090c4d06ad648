"""The page: well-formed, closed in itself, with the right numbers inside; drawn once in a browser if there is one."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from html.parser import HTMLParser

import numpy as np
import pytest
from stored_four_bar import four_bar_result, marker

import index3 as ix
from index3.commands.view import page_server
from index3.errors import ModelError
from index3.results.arrays import empty_arrays
from index3.results.html import frame_numbers, page_text, payload
from index3.results.layout import Layout
from index3.results.result import Result

VOID = {"meta", "input", "br", "link", "img"}


class Reader(HTMLParser):
    """Collects the identifiers and the data of a page and checks that its elements are closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.attributes, self.texts = [], [], [], {}

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.attributes += attributes
        if tag not in VOID:
            self.open.append((tag, named.get("id")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + text


def read(path):
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    reader.close()
    assert reader.open == []
    return reader


def decode(text, *shape):
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


def data_of(path):
    return json.loads(read(path).texts["script", "data"])


@pytest.fixture
def page(tmp_path, four_bar):
    four_bar.to_html(tmp_path / "run.html")
    return tmp_path / "run.html"


def test_page_is_well_formed(page):
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    script = reader.texts["script", None]
    wanted = set(re.findall(r'(?:find|getElementById)\("([\w-]+)"\)', script))
    assert wanted
    assert wanted <= set(reader.ids)
    assert "@@" not in page.read_text("utf-8")


def test_page_asks_for_nothing_outside(page):
    text = page.read_text("utf-8")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|\bsrc=|fetch\(|XMLHttpRequest|import\(", text)
    assert "default-src 'none'" in text  # the browser itself would refuse


def test_numbers_come_back(page, four_bar):
    data = data_of(page)
    times = decode(data["times"], -1)
    assert np.array_equal(times, four_bar.t.astype("f4"))  # 201 times in 4 s: all are kept
    poses = decode(data["poses"], 201, 3, 7)
    for k, name in enumerate(("crank", "coupler", "rocker")):
        assert np.array_equal(poses[:, k, :3], four_bar[name].position.astype("f4"))
        assert np.array_equal(poses[:, k, 3:], four_bar[name].orientation.astype("f4"))
    energy = decode(data["energy"], 201, 3)
    assert np.array_equal(energy[:, 2], four_bar.energy.balance.astype("f4"))
    residuals = decode(data["residuals"], 201, 3)
    assert np.array_equal(residuals, four_bar.arrays["violation_scaled"].astype("f4"))
    assert ["steps", "812"] in data["run"]
    assert data["up"] == "z"


def test_long_runs_are_thinned_without_hiding_peaks():
    result = four_bar_result(20001, 40.0)
    result.arrays["violation_scaled"][777, 1] = 1e-3  # between two frames
    data = payload(result, "long", fps=1000.0)
    times = decode(data["times"], -1)
    assert 590 < len(times) <= 600
    assert (times[0], times[-1]) == (0.0, 40.0)
    assert np.isin(times, result.t.astype("f4")).all()
    assert decode(data["residuals"], -1, 3).max() == np.float32(1e-3)


def test_fast_bodies_get_more_frames():
    times = decode(payload(four_bar_result(20001, 400.0), "fast")["times"], -1)
    assert len(times) >= 400.0 * 3.0 / 0.25  # the crank turns at 3 rad/s, 0.25 rad between frames at most
    assert np.diff(times).max() < 0.25 / 3.0 + 0.02  # plus one step of the result


def test_short_runs_play_slowly():
    data = payload(four_bar_result(400, 0.03), "short")
    assert 0.03 / data["speed"] == pytest.approx(8.0, rel=0.5)  # half: speeds go in steps of 2 to 2.5
    assert len(decode(data["times"], -1)) > 300


def test_uneven_times_keep_the_nearest_rows():
    t = np.concatenate([np.linspace(0, 1, 1001), [5.0, 10.0]])
    frames = frame_numbers(t, 11)
    assert t[frames].tolist() == [0.0, 1.0, 5.0, 10.0]


def test_names_cannot_break_the_page(tmp_path):
    result = four_bar_result(5)
    result.layout.bodies[0]["name"] = "</script><b>&@@DATA@@"
    for joint in result.layout.joints:
        for side in ("first", "second"):
            joint[side]["body"] = joint[side]["body"].replace("crank", "</script><b>&@@DATA@@")
    Result(result.layout, result.arrays).to_html(tmp_path / "odd.html", title="a <b> & c")
    reader = read(tmp_path / "odd.html")
    assert reader.texts["title", None] == "a <b> & c"
    assert data_of(tmp_path / "odd.html")["bodies"][0]["name"] == "</script><b>&@@DATA@@"


def test_results_without_times_are_refused(tmp_path):
    layout = four_bar_result(2).layout
    with pytest.raises(ModelError, match=r"'four-bar' has no times to show\. No start\."):
        Result(layout, empty_arrays(0, 21, 23, 4, 4), {"message": "No start."}).to_html(tmp_path / "no.html")
    with pytest.raises(ModelError, match="fps is 0"):
        four_bar_result(2).to_html(tmp_path / "no.html", fps=0)
    assert not (tmp_path / "no.html").exists()


def test_rows_that_cannot_be_drawn_are_left_out():
    result = four_bar_result(20)
    result.arrays["q"][-3:] = np.nan
    assert len(decode(payload(result, "broken")["times"], -1)) == 17


def scene(kind="planar", shape=None, points=(), gravity=(0.0, 0.0, -9.81), forces=()):
    """Payload of one body held to ground at some of its points."""
    size = {"planar": 3, "rigid": 7, "point": 3}[kind]
    body = {"name": "b", "kind": kind, "start": 0, "size": size, "shape": shape or {"type": "none"}, "mass": 1.0}
    joint = {"type": "Revolute", "rows": [], "row_labels": [], "coordinates": [], "angle": -1, "angle_zero": 0.0}
    joint |= {"zeros": {}, "unique": True}
    sides = [{"first": marker("ground", point), "second": marker("b", point)} for point in points]
    joints = [joint | pair | {"name": f"j{k}"} for k, pair in enumerate(sides)]
    arrays = empty_arrays(2, size, 0, len(joints), 0)
    arrays["t"][:] = [0.0, 1.0]
    if kind == "rigid":
        arrays["q"][:, 3] = 1.0
    return payload(Result(Layout("one", [body], joints, list(forces), [], gravity), arrays), "one")


def parts(**settings):
    return scene(**settings)["bodies"][0]["parts"]


def test_bodies_without_shape_connect_their_joints():
    assert [p["type"] for p in parts()] == ["ball", "axes"]
    assert [p["type"] for p in parts(kind="point")] == ["ball"]
    assert [p["type"] for p in parts(points=[(1, 0, 0)])] == ["rod", "ball", "axes"]
    assert parts(points=[(-1, 0, 0), (1, 0, 0)])[0]["ends"] in ([[-1, 0, 0], [1, 0, 0]], [[1, 0, 0], [-1, 0, 0]])
    (line,) = parts(points=[(0, 0, 0), (2, 0, 0), (1, 0, 0)])
    assert sorted(line["ends"]) == [[0, 0, 0], [2, 0, 0]]
    (plate,) = parts(points=[(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0)])
    corners = np.array(plate["points"])
    assert plate["type"] == "plate"
    # in order around the square: each side has length 1, none is a diagonal
    assert np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "inside", "outside", "near"),
    [
        ({"type": "box", "size": [2.0, 1.0, 1.0]}, (1, 0, 0), (1, 0, 2), (1, 0, 0.5)),
        ({"type": "sphere", "radius": 1.0}, (0, 1, 0), (0, 3, 0), (0, 1, 0)),
        ({"type": "cylinder", "radius": 1.0, "length": 2.0, "axis": "z"}, (0.5, 0, 1), (2, 0, 2), (1, 0, 1)),
        ({"type": "cylinder", "radius": 1.0, "length": 2.0, "axis": "x"}, (1, 0.5, 0), (2, 0, 2), (1, 0, 1)),
        ({"type": "rod", "ends": [[-1.0, 0, 0], [1.0, 0, 0]]}, (0.5, 0, 0), (0.5, 1, 0), (0.5, 0, 0)),
    ],
)
def test_joints_outside_a_shape_get_a_strut(shape, inside, outside, near):
    assert parts(kind="rigid", shape=shape, points=[inside]) == [shape]
    drawn, strut = parts(kind="rigid", shape=shape, points=[outside])
    assert drawn == shape
    assert np.array(strut["ends"]) == pytest.approx(np.array([near, outside], float), abs=1e-15)  # rounding


@pytest.mark.parametrize(
    ("kind", "gravity", "up"),
    [
        ("rigid", (0, 0, -9.81), "z"),
        ("rigid", (0, -9.81, 0), "y"),
        ("rigid", (0, 0, 0), "z"),
        ("planar", (0, 0, -9.81), "y"),
        ("planar", (-1.0, 0, 0), "x"),
    ],
)
def test_up_is_against_gravity(kind, gravity, up):
    assert scene(kind=kind, gravity=gravity)["up"] == up


def test_everything_is_within_the_reach():
    spring = {"name": "s", "type": "SpringDamper", "markers": [marker("ground", (0, 0, 5)), marker("b", (0, 0, 0))]}
    data = scene(kind="rigid", shape={"type": "sphere", "radius": 1.0}, forces=[spring])
    assert data["low"] == [-1.0, -1.0, -1.0]
    assert data["high"] == [1.0, 1.0, 5.0]
    assert [0.0, 0.0, 5.0] in data["outer"]
    assert data["forces"][0]["markers"][0]["body"] == -1


@pytest.mark.parametrize(("tied", "lead"), [(True, -1), (False, 0)])
def test_the_camera_follows_what_leaves_and_not_what_swings(tied, lead):
    model = ix.Model("throw", gravity=(0, 0, 0))
    ball = model.add(ix.RigidBody.sphere("ball", 0.1, mass=1.0, position=(2, 0, 0), velocity=(0, 0, 8)))
    if tied:
        model.add(ix.Distance("string", model.ground, ball, points=((0, 0, 0), (2, 0, 0))))
    result = ix.simulate(model, (0.0, 2.0), t_eval=0.05, progress=False)  # more than a turn
    assert payload(result, "throw")["lead"] == lead


def test_motions_and_constraints_without_markers_are_not_drawn():
    result = four_bar_result(3)
    result.layout.joints[0]["type"] = "Motion"
    result.layout.joints[3] |= {"type": "CoordinateConstraint", "first": None, "second": None}
    assert [joint["name"] for joint in payload(result, "driven")["joints"]] == ["B", "C"]


def test_a_rope_is_drawn_over_all_its_points(tmp_path):
    model = ix.Model("tackle")
    block = model.add(ix.PointMass("block", 2.0, position=(0, 0, -1)))
    weight = model.add(ix.PointMass("weight", 1.0, position=(1, 0, -1)))
    wheels = [model.ground.marker((x, 0, 0)) for x in (-0.5, 0.5, 1.0)]
    model.add(ix.Rope("rope", [wheels[0], block, *wheels[1:], weight]))
    ix.simulate(model, (0, 0.1), t_eval=0.05).to_html(tmp_path / "page.html")
    (rope,) = data_of(tmp_path / "page.html")["joints"]
    assert rope["symbol"] == "rope"
    assert len(rope["markers"]) == 5


def test_rows_of_one_marker_have_their_arrow():
    model = ix.Model("bowl")
    bead = model.add(ix.PointMass("bead", 1.0, position=(1.0, 0.0, 0.0)))

    def sphere(t, r, A, v, w, p, out):
        out[0] = r[0] @ r[0] - 1.0

    model.add(ix.UserConstraint("bowl", bead, sphere, rows=1, jacobian="differences", time_step=None))
    data = payload(ix.simulate(model, (0.0, 0.1), t_eval=0.05), "bowl")
    assert [(arrow["kind"], arrow["element"]) for arrow in data["arrows"]["list"]] == [("joint", 0)]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome on the path to draw the page with")
def test_page_runs_in_a_browser(page, tmp_path):
    switches = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    switches += "--disable-component-update --disable-sync --window-size=1000,700 --virtual-time-budget=2000 --dump-dom"
    command = [CHROMIUM, *switches.split(), f"--user-data-dir={tmp_path / 'profile'}", f"{page.as_uri()}#t=1.5"]
    drawn = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert re.search(r'id="clock"[^>]*>1\.500 <small>/ 4\.000 s', drawn)
    assert "hht-i3 · 4 s · 3 bodies · 4 joints" in drawn
    read = re.sub(r'<p id="scale".*?</p>', "", drawn)  # without the scale of stress, which is hidden here
    assert len(re.findall(r"<b>[-\d.e]+</b>", read)) == 6  # energies and residuals read at that time


def test_notebooks_show_the_page(four_bar):
    text = four_bar._repr_html_()
    assert text.startswith("<iframe srcdoc=")
    inner = html.unescape(re.search(r'srcdoc="([^"]*)"', text).group(1))
    assert inner == page_text(four_bar)


def test_notebooks_show_the_words_of_a_run_without_motion():
    layout = four_bar_result(2).layout
    assert Result(layout, empty_arrays(0, 21, 23, 4, 4), {"message": "No start."})._repr_html_().startswith("<pre>")


def test_a_saved_run_is_served_to_this_machine_alone(tmp_path, four_bar):
    four_bar.save(tmp_path / "run.nc")
    server = page_server(tmp_path / "run.nc")
    assert server.server_address[0] == "127.0.0.1"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        assert urllib.request.urlopen(address).read().decode() == page_text(Result.load(tmp_path / "run.nc"))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address + "etc/passwd")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    with pytest.raises(ModelError, match="port 99999 cannot be used"):
        page_server(tmp_path / "run.nc", 99999)


def test_joints_of_beams_are_drawn_where_they_are_also_from_files(tmp_path):
    """A file gives a joint's markers twice; the page drew them in the middle of the beam."""
    model = ix.Model("beam", gravity=(0, -9.81, 0))
    steel = {"height": 0.02, "width": 0.02, "young": 1e8, "poisson": 0.3, "density": 1000.0, "law": "elastic-line"}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=2, **steel))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0)))
    result = ix.simulate(model, (0, 0.02), "hht-i3", rtol=1e-3, t_eval=0.01)
    result.save(tmp_path / "run.nc")
    for one in (result, ix.load(tmp_path / "run.nc")):
        page = payload(one, "beam")
        poses = np.frombuffer(base64.b64decode(page["poses"]), "<f4").reshape(3, -1, 7)
        frame = page["joints"][0]["markers"][1]["body"]
        assert np.abs(poses[:, frame, :3]).max() < 1e-7  # at the wall; float32
