// The player: buttons, keys, pointer, and the loop that draws.

const find = (id) => document.getElementById(id);
const state = { t: tStart, playing: false, speed: data.speed, loop: true, stale: true, last: 0, rough: true, drawn: 0 };
const charts = [new TimeChart("energy", energy, ["kinetic", "potential", "balance"], [0, 1, 2], false)];
const levels = ["position", "velocity", "acceleration"];
if (residuals.length) charts.push(new TimeChart("residuals", residuals, levels, [0, 3, 4], true));
else find("residual-card").hidden = true;

const span = tEnd - tStart;
const digits = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(span || 1))));

function seek(t) {
  state.t = Math.min(tEnd, Math.max(tStart, t));
  state.stale = true;
}

function play(on) {
  if (on && state.t >= tEnd) seek(tStart);
  state.playing = on && span > 0;
  document.body.classList.toggle("playing", state.playing);
  find("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
}

function tick(now) {
  const passed = Math.min(0.1, (now - state.last) / 1000); // a hidden page does not jump on
  state.last = now;
  if (state.playing) {
    let t = state.t + passed * state.speed;
    if (t > tEnd) {
      t = state.loop ? tStart + ((t - tEnd) % span) : tEnd;
      if (!state.loop) play(false);
    }
    seek(t);
  }
  const settled = !state.stale && !antialias && state.rough && now - state.drawn > 150; // then its edges are made smooth
  if (settled) {
    drawScene(state.t, true);
    state.rough = false;
  }
  if (state.stale) draw(now);
  requestAnimationFrame(tick);
}

function draw(now) {
  state.stale = false;
  [state.rough, state.drawn] = [true, now];
  drawScene(state.t);
  for (const chart of [...charts, selectedChart]) if (chart) chart.draw(state.t);
  find("scrub").value = Math.round((10000 * (state.t - tStart)) / (span || 1));
  find("clock").innerHTML = `${state.t.toFixed(digits)} <small>/ ${tEnd.toFixed(digits)} s</small>`;
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  [width, height] = [canvas.clientWidth || 1, canvas.clientHeight || 1];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  [marks.width, marks.height] = [canvas.width, canvas.height];
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!camera.moved) resetCamera();
  for (const chart of [...charts, selectedChart]) if (chart) chart.resize();
  draw(performance.now()); // a canvas of another size is empty: nobody, nor a picture of the page, is shown that
}

function toggle(id, key) {
  options[key] = !options[key];
  find(id).setAttribute("aria-pressed", options[key]);
  state.stale = true;
}

function setLoop(on) {
  state.loop = on;
  find("loop").setAttribute("aria-pressed", on);
}

function stepFrames(count) {
  play(false);
  seek(times[Math.min(frameCount - 1, Math.max(0, frameAt(state.t) + count))]);
}

function changeSpeed(by) {
  const k = data.speeds.indexOf(state.speed) + by;
  if (k < 0 || k >= data.speeds.length) return;
  state.speed = data.speeds[k];
  find("speed").value = state.speed;
}

const KEYS = {
  " ": () => play(!state.playing),
  ArrowLeft: (event) => stepFrames(event.shiftKey ? -10 : -1),
  ArrowRight: (event) => stepFrames(event.shiftKey ? 10 : 1),
  ArrowUp: () => changeSpeed(1),
  ArrowDown: () => changeSpeed(-1),
  Home: () => seek(tStart),
  End: () => seek(tEnd),
  n: () => toggle("names", "names"),
  a: () => toggle("axes", "axes"),
  f: () => toggle("forces", "forces"),
  Escape: () => select(0),
  l: () => setLoop(!state.loop),
  r: () => resetView(),
};

function resetView() {
  resetCamera();
  state.stale = true;
}

// Orbit, move and zoom by mouse or fingers.
const fingers = new Map();
let pressed = null; // where a button went down, and whether the pointer has gone far since
function orbit(dx, dy) {
  camera.azimuth -= 0.007 * dx;
  camera.elevation = Math.min(1.55, Math.max(-1.55, camera.elevation + 0.007 * dy));
}
function pan(dx, dy) {
  const k = camera.distance / view.focus;
  camera.target = add(camera.target, add(scale(-k * dx, view.right), scale(k * dy, view.up)));
}
function zoom(factor) {
  camera.distance = Math.min(60 * data.size, Math.max(3 * R, camera.distance * factor));
}
function moved() {
  camera.moved = true;
  state.stale = true;
  find("hint").style.opacity = 0;
}
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  pressed = { x: event.offsetX, y: event.offsetY, far: event.button !== 0 || fingers.size > 1 };
});
canvas.addEventListener("pointermove", (event) => {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const [dx, dy] = [event.clientX - finger.x, event.clientY - finger.y];
  if (pressed && Math.hypot(event.offsetX - pressed.x, event.offsetY - pressed.y) > 3) pressed.far = true;
  if (pressed && !pressed.far) return;
  if (fingers.size === 2) {
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const before = Math.hypot(finger.x - other.x, finger.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    if (before > 0 && after > 0) zoom(before / after);
    pan(dx / 2, dy / 2);
  } else if (event.buttons & 6 || event.shiftKey) pan(dx, dy);
  else orbit(dx, dy);
  [finger.x, finger.y] = [event.clientX, event.clientY];
  moved();
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, (event) => fingers.delete(event.pointerId));
}
canvas.addEventListener("pointerup", (event) => {
  if (gl && pressed && !pressed.far) select(pick(event.offsetX, event.offsetY));
  pressed = null;
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode ? 18 : 1)));
  moved();
}, { passive: false });
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("dblclick", resetView);

for (const id of ["energy", "residuals", "selected"]) {
  const go = (event) => [...charts, selectedChart].find((chart) => chart && chart.element.id === id)?.seek(event, seek);
  find(id).addEventListener("pointerdown", (event) => {
    find(id).setPointerCapture(event.pointerId);
    go(event);
  });
  find(id).addEventListener("pointermove", (event) => event.buttons && go(event));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  act(event);
});
find("play").addEventListener("click", () => play(!state.playing));
find("scrub").addEventListener("input", (event) => seek(tStart + (span * event.target.value) / 10000));
find("speed").addEventListener("change", (event) => (state.speed = Number(event.target.value)));
find("loop").addEventListener("click", () => setLoop(!state.loop));
find("names").addEventListener("click", () => toggle("names", "names"));
find("axes").addEventListener("click", () => toggle("axes", "axes"));
find("forces").addEventListener("click", () => toggle("forces", "forces"));
find("reset").addEventListener("click", resetView);

// The selected element and its curves.
const elements = [
  ...data.bodies.map((body, b) => ({ name: body.name, type: body.type, curves: [...bodyCurves(b), ...(data.curves[body.name] || [])] })),
  ...data.joints.map((joint) => ({ name: joint.name, type: joint.type, curves: data.curves[joint.name] || [] })),
  ...data.forces.map((force) => ({ name: force.name, type: force.type, curves: data.curves[force.name] || [] })),
];
let selectedChart = null;

function bodyCurves(b) {
  const positions = new Float32Array(3 * frameCount);
  const velocities = new Float32Array(3 * frameCount);
  for (let i = 0; i < frameCount; i++) {
    for (let k = 0; k < 3; k++) {
      positions[3 * i + k] = poses[7 * (i * poseCount + b) + k];
      velocities[3 * i + k] = slope(poses, 7 * poseCount, i, 7 * b + k);
    }
  }
  const names = ["x", "y", "z"];
  return [
    { title: "position [m]", names, values: positions },
    { title: "velocity [m/s]", names, values: velocities },
  ];
}

function select(number) {
  chosen = number;
  const element = elements[number - 1];
  find("selection").hidden = !element;
  selectedChart = null;
  if (element) {
    find("selected-name").textContent = element.name;
    find("selected-type").textContent = element.type || "";
    find("curve").replaceChildren(...element.curves.map((curve, k) => new Option(curve.title, String(k))));
    showCurve(0);
  }
  state.stale = true;
}

function showCurve(k) {
  const curve = elements[chosen - 1].curves[k];
  if (!curve) return;
  const numbers = typeof curve.values === "string" ? (curve.values = decode(curve.values)) : curve.values;
  selectedChart = curve.length
    ? new AlongChart("selected", numbers, curve.names, [0, 1, 2, 3], curve.length)
    : new TimeChart("selected", numbers, curve.names, [0, 1, 2, 3], false);
  selectedChart.resize();
  state.stale = true;
}
find("curve").addEventListener("change", (event) => showCurve(Number(event.target.value)));

find("follow").append(new Option("nothing", "-1"), ...data.bodies.map((body, b) => new Option(body.name, String(b))));
find("follow").addEventListener("change", (event) => {
  [options.follow, options.followed] = [Number(event.target.value), null];
  camera.moved = true;
  state.stale = true;
});

// Trails follow a body's origin, the free end of a rod or a joint; the first choice is the point that travels farthest.
function tipsOf(body, b) {
  const held = data.joints.flatMap((joint) => joint.markers).filter((m) => m.body === b);
  const isFree = (end) => held.every((m) => Math.hypot(...sub(m.at, end)) > 3 * R);
  const free = body.parts.filter((part) => part.type === "rod").flatMap((part) => part.ends).filter(isFree);
  return free.length === 1 && held.length ? [{ name: `${body.name} (tip)`, body: b, at: free[0] }] : [];
}
const trails = [
  ...data.bodies.flatMap((body, b) => [{ name: body.name, body: b, at: [0, 0, 0] }, ...tipsOf(body, b)]),
  ...data.joints.map((joint) => ({ name: `${joint.name} (joint)`, ...joint.markers.find((m) => m.body >= 0) })),
].filter((trail) => trail.body >= 0);
function chooseTrail(k) {
  const trail = trails[k];
  if (trail) trail.path ??= pathOf(trail.body, trail.at);
  options.trail = trail || null;
  find("trail").value = String(k);
  state.stale = true;
}
function farthest() {
  const reach = trails.map(() => [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]]);
  for (let i = 0; i < frameCount; i += Math.max(1, Math.floor(frameCount / 40))) {
    moveTo(times[i]);
    trails.forEach((trail, k) => pointOf(trail.body, trail.at).forEach((x, axis) => {
      reach[k][0][axis] = Math.min(reach[k][0][axis], x);
      reach[k][1][axis] = Math.max(reach[k][1][axis], x);
    }));
  }
  const widths = reach.map(([from, to]) => Math.hypot(...sub(to, from)));
  return widths.reduce((best, x, k) => (x > widths[best] * 1.001 ? k : best), 0);
}
find("trail").append(new Option("none", "-1"), ...trails.map((trail, k) => new Option(trail.name, String(k))));
find("trail").addEventListener("change", (event) => chooseTrail(Number(event.target.value)));

for (const speed of data.speeds) find("speed").append(new Option(`${speed} ×`, String(speed)));
find("speed").value = String(state.speed);
for (const [label, text] of data.run) {
  for (const [tag, words] of [["dt", label], ["dd", text]]) {
    const cell = document.createElement(tag);
    cell.textContent = words;
    find("run").append(cell);
  }
}
const count = (list, one, many) => `${list.length} ${list.length === 1 ? one : many}`;
find("subtitle").textContent = [
  data.method, `${short(span)} s`, count(data.bodies, "body", "bodies"), count(data.joints, "joint", "joints"),
].join(" · ");
const factors = [1, 2, 5, 10, 20, 50, 100, 1000];
find("exaggerate").append(...factors.map((factor) => new Option(`${factor} ×`, String(factor))));
find("exaggerate").addEventListener("change", (event) => {
  options.exaggerate = Number(event.target.value);
  state.stale = true;
});
find("bending").hidden = !data.bodies.some((body) => body.parts.some((part) => part.rest));
if (data.stress) {
  find("scale").hidden = false;
  find("scale").querySelector("i").style.background =
    `linear-gradient(to right, ${STOPS.map((colour) => `rgb(${colour.join(" ")})`).join(", ")})`;
  find("scale-end").textContent = `${short(data.stress / 1e6)} MPa`;
}
find("grid").textContent = `grid ${short(spacing)} m`;
if (!data.success) {
  find("failure").hidden = false;
  find("failure").textContent = `The run stopped early, at t = ${short(tEnd)} s. ${data.message}`;
}

find("no-picture").hidden = Boolean(gl);
readTheme();
startDrawing();
prepare();
if (trails.length) chooseTrail(farthest());
resetCamera();
resize();
new ResizeObserver(resize).observe(find("stage"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readTheme();
  resize();
});
// For pages around this one and for tests: go to a time, select by name, count the pixels of each element, time a picture.
window.index3 = {
  seek: (t) => { play(false); seek(t); },
  show: (title) => {
    const k = elements[chosen - 1].curves.findIndex((curve) => curve.title === title);
    find("curve").value = String(k);
    showCurve(k);
  },
  select: (name) => select(1 + elements.findIndex((element) => element.name === name)),
  pixels: () => {
    drawScene(state.t);
    const counts = {};
    for (const number of numbersIn(0, 0, Math.round(width), Math.round(height))) {
      if (number) counts[elements[number - 1].name] = (counts[elements[number - 1].name] || 0) + 1;
    }
    return counts;
  },
  where: (name) => {
    drawScene(state.t);
    const w = Math.round(width);
    const wanted = 1 + elements.findIndex((element) => element.name === name);
    const places = [];
    numbersIn(0, 0, w, Math.round(height)).forEach((number, k) => number === wanted && places.push(k));
    if (!places.length) return null;
    const k = places[places.length >> 1];
    return [k % w, Math.round(height) - 1 - Math.floor(k / w)];
  },
  sides: (name, w) => { // pixels of an element in the left and the right half
    const wanted = 1 + elements.findIndex((element) => element.name === name);
    const found = [0, 0];
    numbersIn(0, 0, w, Math.round(height)).forEach((number, k) => {
      if (number === wanted) found[k % w < w / 2 ? 0 : 1] += 1;
    });
    return found;
  },
  picture: (t, smooth) => drawScene(t, smooth),
  rough: () => state.rough,
  time: (t) => {
    const before = performance.now();
    drawScene(t);
    gl.finish();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the picture
    return performance.now() - before;
  },
};
const start = /[#&]t=([-\d.e]+)/.exec(location.hash); // page.html#t=1.5 opens there, at rest
if (start) seek(Number(start[1]));
else play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
requestAnimationFrame((now) => {
  state.last = now;
  tick(now);
});
