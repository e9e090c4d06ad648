// Vectors, colours, the camera, the triad.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (c, a) => [c * a[0], c * a[1], c * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scale(1 / (Math.hypot(...a) || 1), a);
const mix = (a, b, s) => add(scale(1 - s, a), scale(s, b));
// Any two directions that make a right-handed frame with the unit vector z.
function across(z) {
  const x = unit(cross(Math.abs(z[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0], z));
  return [x, cross(z, x)];
}

const canvas = document.getElementById("scene");
const marks = document.getElementById("marks"); // words and the triad lie on top of the picture
const ctx = marks.getContext("2d");
let width = 1;
let height = 1;

// The colours of the style sheet, as [r, g, b]; read again when the scheme changes.
const theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => {
    const hex = style.getPropertyValue(`--${name}`).trim();
    return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  };
  const names = "ink soft accent grid halo steel shadow line card axis-x axis-y axis-z";
  for (const name of names.split(" ")) theme[name] = read(name);
  const stops = Array.from({ length: 8 }, (_, k) => read(`c${k}`));
  theme.series = stops;
  theme.depth = parseFloat(style.getPropertyValue("--depth")); // strength of shadows
  const many = bodyCount > 8; // then colours run smoothly along the list of bodies
  theme.bodies = data.bodies.map((body, b) => {
    if (body.color) return body.color;
    if (!many) return stops[b];
    const s = (b / (bodyCount - 1)) * 6;
    const order = [0, 5, 2, 4, 1, 6, 3, 3]; // by hue, so that neighbours mix into clear colours
    return mix(stops[order[Math.floor(s)]], stops[order[Math.floor(s) + 1]], s % 1);
  });
}
const css = (c, alpha = 1) => `rgb(${c[0] | 0} ${c[1] | 0} ${c[2] | 0} / ${alpha})`;
const shade = (c, k) => (k <= 1 ? scale(k, c) : mix(c, [255, 255, 255], Math.min(k - 1, 1)));

// Ground axes in the order right, away, up of the first view: up is data.up, the other two keep it right-handed.
const UP = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] }[data.up];
const RIGHT = { x: [0, 1, 0], y: [1, 0, 0], z: [1, 0, 0] }[data.up];
const AWAY = cross(UP, RIGHT);
const world = (a, b, c) => add(add(scale(a, RIGHT), scale(b, AWAY)), scale(c, UP));
const along = (p) => [dot(p, RIGHT), dot(p, AWAY), dot(p, UP)];

// Box of the whole motion along those three directions.
const corners = [data.low, data.high].map(along);
const low = corners[0].map((x, k) => Math.min(x, corners[1][k]));
const high = corners[0].map((x, k) => Math.max(x, corners[1][k]));
const R = data.thick; // radius of a bar; symbols are multiples of it
const pad = 4 * R;
const middle = low.map((x, k) => 0.5 * (x + high[k]));
const extent = low.map((x, k) => high[k] - x + 2 * pad);
const floor = data.floor ?? low[2] - pad - 0.03 * data.size;

const camera = { azimuth: 0, elevation: 0, distance: 1, target: [0, 0, 0], moved: false };
const TAN = Math.tan((16 * Math.PI) / 180); // half the vertical angle of view

// Look along the thinner horizontal direction, a little from the side and from above, with the whole motion in view.
function resetCamera() {
  const flat = data.lead < 0 && Math.min(extent[0], extent[1]) < 0.2 * Math.max(extent[0], extent[1]);
  const side = ((flat ? 20 : 34) * Math.PI) / 180;
  camera.azimuth = extent[1] <= extent[0] ? -Math.PI / 2 + side : -side;
  camera.elevation = ((flat ? 13 : 20) * Math.PI) / 180;
  camera.target = data.lead < 0 ? world(...middle) : scale(1 / data.outer.length, data.outer.reduce(add));
  camera.moved = false;
  [options.follow, options.followed] = [data.lead, data.lead < 0 ? null : [0, 1, 2].map((k) => poses[7 * data.lead + k])];
  document.getElementById("follow").value = String(data.lead);
  fitCamera();
}

// Distance and target at which all outer points of the motion fill the picture, for the present direction.
function fitCamera() {
  const wide = (0.88 * TAN * width) / height;
  const tall = 0.8 * TAN;
  for (let round = 0; round < 8; round++) {
    aim();
    let distance = 4 * R;
    const box = [Infinity, -Infinity, Infinity, -Infinity];
    for (const p of data.outer) {
      const d = sub(p, camera.target);
      const [x, y, depth] = [dot(d, view.right), dot(d, view.up), dot(d, view.ahead)];
      const foot = sub(add(p, scale(floor - dot(p, UP), UP)), camera.target); // its shadow just stays in the picture
      const below = (4 * R - dot(foot, view.up)) / (0.97 * TAN) - dot(foot, view.ahead);
      distance = Math.max(distance, (Math.abs(x) + 4 * R) / wide - depth, (Math.abs(y) + 4 * R) / tall - depth, below);
      const k = 1 / Math.max(camera.distance + depth, 0.1 * camera.distance);
      box[0] = Math.min(box[0], k * x); box[1] = Math.max(box[1], k * x);
      box[2] = Math.min(box[2], k * y); box[3] = Math.max(box[3], k * y);
    }
    if (round % 2) { // every other round moves the middle of the picture to the middle of the points
      const shift = add(scale(0.5 * (box[0] + box[1]), view.right), scale(0.5 * (box[2] + box[3]), view.up));
      camera.target = add(camera.target, scale(camera.distance, shift));
    } else camera.distance = distance;
  }
  aim();
}

const view = { eye: [0, 0, 0], right: [1, 0, 0], up: [0, 0, 1], ahead: [0, 1, 0], focus: 1, light: [0, 0, 1] };
function aim() {
  const ce = Math.cos(camera.elevation);
  const back = world(ce * Math.cos(camera.azimuth), ce * Math.sin(camera.azimuth), Math.sin(camera.elevation));
  view.ahead = scale(-1, back);
  view.right = unit(world(-Math.sin(camera.azimuth), Math.cos(camera.azimuth), 0));
  view.up = cross(view.right, view.ahead);
  view.eye = add(camera.target, scale(camera.distance, back));
  view.focus = height / (2 * TAN);
  view.light = unit(add(add(scale(-0.4, view.right), scale(0.75, view.up)), scale(0.8, back)));
}

// Screen x, y, depth, and pixels per metre at that depth; null behind the eye.
function project(p) {
  const d = sub(p, view.eye);
  const depth = dot(d, view.ahead);
  if (depth < 0.02 * camera.distance) return null;
  const k = view.focus / depth;
  return [width / 2 + k * dot(d, view.right), height / 2 - k * dot(d, view.up), depth, k];
}

// 1, 2 or 5 times a power of ten, near x.
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * (x / power < 1.5 ? 1 : x / power < 3.5 ? 2 : x / power < 7.5 ? 5 : 10);
}

const spacing = nice((data.lead < 0 ? Math.max(extent[0], extent[1], 0.5 * data.size) : 2 * data.size) / 7);

const gridReach = 1.1 * Math.max(extent[0], extent[1], data.size);

// Small picture of the ground axes in the lower left corner.
function drawTriad() {
  const origin = [42, height - 40];
  const arms = ["x", "y", "z"].map((name, k) => {
    const axis = [0, 0, 0];
    axis[k] = 1;
    return { name, x: dot(axis, view.right), y: -dot(axis, view.up), depth: dot(axis, view.ahead) };
  });
  arms.sort((a, b) => b.depth - a.depth);
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 2.2;
  ctx.lineCap = "round";
  for (const arm of arms) {
    const colour = css(theme[`axis-${arm.name}`]);
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.moveTo(...origin);
    ctx.lineTo(origin[0] + 22 * arm.x, origin[1] + 22 * arm.y);
    ctx.stroke();
    ctx.fillText(arm.name, origin[0] + 31 * arm.x, origin[1] + 31 * arm.y);
  }
}
