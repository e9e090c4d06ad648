"""The page in a real browser: it asks for nothing, nothing goes wrong, every element is drawn, clicks select."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

import index3 as ix
from index3.shapes import Box, Cylinder, Plane, Sphere

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
SWITCHES = [
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome on the path to draw pages with")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as library:
        running = library.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield running
        running.close()


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a run; it fails at the end if the page asked for something or complained."""
    opened = []

    def open_page(result, switches=""):
        path = tmp_path / "run.html"
        result.to_html(path)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        opened.append((page, path, requests := [], complaints := []))
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text) if message.type in WORDS else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if switches:
            page.add_init_script(switches)
        page.goto(f"{path.as_uri()}#t=0")
        page.wait_for_timeout(100)
        return page

    yield open_page
    for page, path, requests, complaints in opened:
        assert {url.partition("#")[0] for url in requests} == {path.as_uri()}
        assert complaints == []
        page.close()


WORDS = ("error", "warning")


def run(model, t_end=0.05, **settings):
    return ix.simulate(model, (0, t_end), t_eval=np.linspace(0, t_end, 6), **settings)


def workshop():
    """One of each kind of thing that is drawn."""
    model = ix.Model("workshop", gravity=(0, 0, -9.81))
    ground, add = model.ground, model.add
    ball = add(ix.RigidBody.sphere("ball", 0.2, mass=1.0, position=(0, 3, 0.2)))
    crate = add(ix.RigidBody("crate", 1.0, (0.1, 0.1, 0.1), position=(1, 3, 0.3)))
    add(
        ix.ContactSet(
            "floor",
            [(ground, Plane()), (ball, Sphere(0.2)), (crate, Box((0.4, 0.4, 0.4)))],
            skip=[(ball, crate)],
            stiffness=1e5,
        )
    )
    roller = add(ix.RigidBody.sphere("marble", 0.05, mass=0.1, position=(3, 3, 0.5)))
    bearing = ground.marker((3, 3, 0.7), z=(0, 1, 0))
    add(ix.Contact("bearing", roller, bearing, (Sphere(0.05), Cylinder(0.3, 0.2, hollow=True)), stiffness=1e4))
    wheel = add(ix.RigidBody("wheel", 10.0, (1.0, 1.0, 1.0), position=(-2, 3, 0.4), velocity=(2, 0, 0)))
    add(ix.Tyre("tyre", wheel.marker(z=(0, 1, 0)), ground, ix.Road.bump(-1.0, 0.5, 0.1), radius=0.4, stiffness=1e5))
    sun = add(ix.RigidBody.cylinder("sun", 0.1, 0.1, mass=1.0, position=(-2, 0, 1)))
    planet = add(ix.RigidBody.cylinder("planet", 0.1, 0.1, mass=1.0, position=(-1.1, 0, 1)))
    axles = [
        add(ix.Revolute(f"{body.name} axle", ground, body, at=body.q0[:3], axis=(0, 0, 1))) for body in (sun, planet)
    ]
    add(ix.Gear("gear", *axles, ratio=-2.0))
    slide = add(ix.RigidBody.box("slide", (0.3, 0.1, 0.1), mass=1.0, position=(-2, -1.0, 1)))
    guide = add(ix.Prismatic("guide", ground, slide, at=(-2, -1.0, 1), axis=(1, 0, 0)))
    add(ix.RackPinion("rack", axles[0], guide, radius=0.6))
    add(ix.Actuator("motor", axles[1], 1.0))
    add(ix.Actuator("piston", add(ix.Prismatic("lift", ground, tall(model), at=(0, 0, 1), axis=(0, 0, 1))), 10.0))
    link = add(ix.RigidBody.rod("link", (1, 0, 1), (2, 0, 1), mass=1.0))
    add(ix.Bushing("bushing", ground, link, at=(1, 0, 1), axis=(0, 1, 0), stiffness=(1e4, 1e4, 1e4, 1e3, 1e3, 1e3)))
    add(ix.SpringDamper("coil", ground.marker((2, 0, 2)), link.marker((0.5, 0, 0)), stiffness=100.0, length=0.8))
    cam = add(ix.PointMass("follower", 1.0, position=(3, -1, 1)))
    angles = np.arange(8) * np.pi / 4
    points = np.column_stack([2.5 + 0.5 * np.cos(angles), -1 + 0.3 * np.sin(angles), np.ones(8)])
    add(ix.PointOnCurve("cam", ground, cam, points, closed=True, at=(3, -1, 1)))
    corners, faces = tetrahedron()
    add(ix.RigidBody.from_mesh("wedge", corners, faces, 500.0, position=(3, 0.5, 1)))
    add(ix.RigidBody("pipe", 1.0, (0.1, 0.1, 0.1), position=(0, -2, 1)))
    model["pipe"].shape = {"type": "ring", "radius": 0.4, "inner": 0.3, "length": 0.5, "axis": "x"}
    disc = add(ix.RigidBody("disc", 1.0, (0.1, 0.1, 0.2), position=(2, -2, 0.3), orientation=(1, 1, 0, 0)))
    add(ix.RollingDisc("rolls", ground, disc, radius=0.3, at=(2, -2, 0.3), axis=(0, 1, 0), normal=(0, 0, 1)))
    return model


def tall(model):
    return model.add(ix.RigidBody.box("table", (0.3, 0.3, 0.2), mass=1.0, position=(0, 0, 1)))


def tetrahedron():
    corners = [(0, 0, 0), (0.6, 0, 0), (0, 0.6, 0), (0, 0, 0.6)]
    return corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def test_every_kind_of_element_has_pixels(show):
    model = workshop()
    page = show(run(model, method="hht-i3", rtol=1e-3, audit="warn"))
    pixels = page.evaluate("index3.pixels()")
    hidden = {"planet axle", "sun axle", "lift"}  # inside the wheels and the table that they hold
    wanted = {*model.bodies, *model.joints, *model.forces} - hidden
    assert {name for name in wanted if pixels.get(name, 0) < 4} == set()


def test_a_click_selects_and_shows_curves(show):
    page = show(run(ix.library.four_bar(), 1.0))
    assert page.locator("#selection").is_hidden()
    stage = page.locator("#scene").bounding_box()
    for name, curve in (("coupler", "position [m]"), ("B", "force [N]")):
        x, y = page.evaluate(f"index3.where({name!r})")
        page.mouse.click(stage["x"] + x, stage["y"] + y)
        page.wait_for_timeout(100)
        assert page.locator("#selected-name").inner_text() == name
        assert curve in page.locator("#curve").inner_text()
        assert re.fullmatch(r"[-\d.e]+", page.locator("#selected-legend b").first.inner_text())
    page.keyboard.press("Escape")
    assert page.locator("#selection").is_hidden()


def test_frames_differ_and_the_clock_follows(show):
    page = show(run(ix.library.four_bar(), 1.0))
    pictures = []
    for t in (0.0, 0.5):
        page.evaluate(f"index3.seek({t})")
        page.wait_for_timeout(150)
        pictures.append(page.locator("#scene").screenshot())
    assert pictures[0] != pictures[1]
    assert page.locator("#clock").inner_text().startswith("0.500")


def test_a_page_of_a_new_size_is_drawn_at_once(show):
    """A picture of the page is taken right after its size is set; a tab in the background gets no frames."""
    page = show(run(workshop()), switches="window.requestAnimationFrame = () => 0;")
    drawn = """() => {
      const [chart, scene] = ["energy", "scene"].map((id) => document.getElementById(id));
      const [gl, empty] = [scene.getContext("webgl2"), document.createElement("canvas")];
      [empty.width, empty.height] = [chart.width, chart.height];
      return [gl.getParameter(gl.VIEWPORT)[2] === scene.width, chart.toDataURL() !== empty.toDataURL()];
    }"""
    assert page.evaluate(drawn) == [True, True]
    page.set_viewport_size({"width": 900, "height": 500})
    page.wait_for_timeout(100)
    assert page.evaluate(drawn) == [True, True]


def test_the_nearer_body_hides_the_other_whichever_comes_first(show):
    """Two boxes cross: on each side of the cut another one is in front, which no order of drawing gives."""
    model = ix.Model("cross", gravity=(0, 0, 0))
    for name, angle in (("one", 0.35), ("two", -0.35)):
        half = np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
        model.add(ix.RigidBody.box(name, (2.0, 0.1, 0.5), mass=1.0, orientation=half))
    page = show(run(model, 1.0))
    page.evaluate("index3.seek(0)")
    left, right = [], []
    for name in ("one", "two"):
        pixels = page.evaluate(
            "(name) => { const c = document.getElementById('scene'); const w = Math.round(c.clientWidth);"
            " index3.pixels(); return index3.sides(name, w); }", name)  # fmt: skip
        left.append(pixels[0])
        right.append(pixels[1])
    assert min(left + right) > 0
    assert (left[0] > left[1]) != (right[0] > right[1])


def test_arrows_are_drawn_on_request(show):
    page = show(run(ix.library.four_bar(), 1.0))
    before = page.locator("#scene").screenshot()
    page.keyboard.press("f")
    page.wait_for_timeout(150)
    assert page.locator("#forces").get_attribute("aria-pressed") == "true"
    assert page.locator("#scene").screenshot() != before


def test_without_webgl_the_curves_remain(show):
    off = "const canvas = HTMLCanvasElement.prototype, get = canvas.getContext; canvas.getContext = function (kind, o)"
    page = show(
        run(ix.library.four_bar(), 1.0), off + " { return kind === 'webgl2' ? null : get.call(this, kind, o); };"
    )
    assert page.locator("#no-picture").is_visible()
    assert "WebGL2" in page.locator("#no-picture").inner_text()
    page.evaluate("index3.seek(0.5)")
    page.wait_for_timeout(150)
    assert re.fullmatch(r"[-\d.e]+", page.locator("#energy-legend b").first.inner_text())


def test_the_camera_follows_what_travels_far(show):
    page = show(ix.simulate(ix.library.hmmwv14(), (0, 2.0), method="hht-i3", rtol=1e-3, t_eval=np.linspace(0, 2, 21)))
    assert page.locator("#follow").evaluate("list => list.selectedOptions[0].text") == "chassis"
    page.evaluate("index3.seek(1.0)")
    pixels = page.evaluate("index3.pixels()")
    assert pixels["chassis"] > 1000
    assert sum(pixels.get(name, 0) for name in pixels if "tyre" in name.lower()) > 1000


def test_long_names_leave_the_tools_alone_and_only_bodies_that_deform_are_exaggerated(show):
    model = ix.Model("the second version of the upper left suspension of a vehicle with a rather long name")
    rod = model.add(ix.RigidBody.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0))
    model.add(ix.Revolute("pin", model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    page = show(run(model))
    places = {name: page.locator(name).bounding_box() for name in ("header", "#tools")}
    assert places["header"]["x"] + places["header"]["width"] <= places["#tools"]["x"]
    assert not page.locator("#bending").is_visible()


def test_names_do_not_cover_each_other(show):
    """As many as there is room for, those of bodies first."""
    spy = """window.written = []; const drawing = CanvasRenderingContext2D.prototype, fill = drawing.fillText;
    drawing.fillText = function (text, x, y) { written.push([text, x, y, this.measureText(text).width]);
    return fill.call(this, text, x, y); };"""
    page = show(run(ix.library.hmmwv14(), method="hht-i3", rtol=1e-3), spy)
    page.evaluate("written.length = 0; document.getElementById('names').click()")
    for _ in range(100):  # until a frame is drawn, which takes a while on a busy machine
        page.wait_for_timeout(100)
        written = page.evaluate("written")
        if written:
            break
    names = [text for text, *_ in written if " " in text or text == "chassis"]
    once = {text: place for text, *place in written if text in names}
    assert "chassis" in once
    assert len(once) > 5
    places = list(once.values())
    for k, (x, y, wide) in enumerate(places):
        for x2, y2, wide2 in places[:k]:
            assert abs(x - x2) >= 0.5 * (wide + wide2) or abs(y - y2) >= 12


def test_in_a_small_window_the_scale_of_stresses_leaves_the_tools_alone(show):
    model = ix.Model("beam", gravity=(0, -9.81, 0))
    steel = {"height": 0.02, "width": 0.02, "young": 1e8, "poisson": 0.3, "density": 1000.0, "law": "elastic-line"}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=2, **steel))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    page = show(run(model, rtol=1e-3))
    page.set_viewport_size({"width": 420, "height": 760})
    scale, tools = (page.locator(name).bounding_box() for name in ("#scale", "#tools"))
    assert scale["y"] + scale["height"] <= tools["y"]


def test_many_bodies_are_drawn_in_few_calls(show):
    """An instance costs as much as a call where the processor draws: solids of one kind and all lines are one call."""
    spy = """window.calls = {}; const context = WebGL2RenderingContext.prototype;
    for (const name of Object.getOwnPropertyNames(context).filter((name) => /^draw(Arrays|Elements)/.test(name))) {
      const draw = context[name];
      context[name] = function (...rest) { calls[name] = (calls[name] || 0) + 1; return draw.apply(this, rest); };
    }"""
    page = show(run(ix.library.chain(60), method="hht-i3", rtol=1e-3), spy)
    calls = page.evaluate("() => { for (const name in calls) delete calls[name]; index3.time(0.01); return calls; }")
    assert "drawArraysInstanced" not in calls
    assert sum(calls.values()) < 40  # floor; solids and shadows, kinds times levels of fineness; lines


def test_thin_bodies_do_not_break_into_dots(show):
    """A link of 0.1 m in a picture of 200 m is less than a pixel thick; it covers its length all the same."""
    model = ix.library.chain(200)
    pixels = show(run(model, method="hht-i3", rtol=1e-3)).evaluate("index3.pixels()")
    assert {name for name in model.bodies if pixels.get(name, 0) < 3} == set()


def test_a_picture_at_rest_has_smooth_edges(show):
    """More colours than the rough picture of a moving one: those between a box and what is behind it."""
    model = ix.Model("box", gravity=(0, 0, 0))
    model.add(ix.RigidBody.box("box", (1.0, 1.0, 1.0), mass=1.0))
    page = show(run(model, 1.0))
    read = """(smooth) => { index3.picture(0.5, smooth);
    const c = document.createElement("canvas"), s = document.getElementById("scene");
    [c.width, c.height] = [s.width, s.height]; const pen = c.getContext("2d"); pen.drawImage(s, 0, 0);
    return new Set(new Uint32Array(pen.getImageData(0, 0, c.width, c.height).data.buffer)).size; }"""
    assert page.evaluate(read, True) > 1.2 * page.evaluate(read, False)
    page.evaluate("index3.seek(0.25)")
    for _ in range(100):  # until it has settled
        page.wait_for_timeout(100)
        if not page.evaluate("index3.rough()"):
            break
    assert not page.evaluate("index3.rough()")


def test_a_beam_shows_what_acts_along_its_axis(show):
    """A clamped beam that is let go: the legend has the largest moment along the axis at the present time."""
    model = ix.Model("beam", gravity=(0, -10.0, 0))
    steel = {"height": 0.02, "width": 0.02, "young": 1e9, "poisson": 0.3, "density": 1000.0, "law": "elastic-line"}
    beam = model.add(ix.AncfBeam("beam", (0, 0), (1, 0), elements=4, **steel))
    model.add(ix.Fixed("wall", model.ground, beam, at=(0, 0, 0), clamp=True))
    result = ix.simulate(model, (0, 0.2), "hht-i3", rtol=1e-3, t_eval=0.01)
    page = show(result)
    page.evaluate("index3.select('beam')")
    titles = page.locator("#curve").inner_text().split("\n")
    assert [title for title in titles if "along" in title] == [
        "axial force along s [N]", "shear force along s [N]", "moment along s [N m]", "curvature along s [1/m]",
    ]  # fmt: skip
    page.evaluate("index3.show('moment along s [N m]')")
    readings, pictures = [], []
    for t in (0.1, 0.2):
        page.evaluate(f"index3.seek({t})")
        page.wait_for_timeout(300)
        readings.append(float(page.locator("#selected-legend b").first.inner_text()))
        pictures.append(page.locator("#selected").screenshot())
    moments = result["beam"].moment(np.linspace(0, 1, 41))
    expected = [moments[k][np.argmax(abs(moments[k]))] for k in (10, 20)]
    assert readings == pytest.approx(expected, rel=2e-3)  # four digits are shown
    assert pictures[0] != pictures[1]
