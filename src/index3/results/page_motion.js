// The data of the page, the pose of every frame and the place of every point of a line at any time. Frames are those of
// the bodies, and behind them those of markers that follow no body's frame.

const data = JSON.parse(document.getElementById("data").textContent);

function decode(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, k) => view.getFloat32(4 * k, true));
}

const times = decode(data.times);
const poses = decode(data.poses);
const points = decode(data.points);
const energy = decode(data.energy);
const residuals = decode(data.residuals);
const values = decode(data.values || ""); // of the points of bodies that deform: their stress
const valueCount = values.length / times.length;
const arrows = data.arrows.list.map((one) => ({ ...one, vectors: decode(one.vectors) }));
const bodyCount = data.bodies.length;
const frameCount = times.length;
const poseCount = poses.length / (7 * frameCount);
const pointCount = points.length / (3 * frameCount);
const tStart = times[0];
const tEnd = times[frameCount - 1];

// Position (3) and rotation matrix (9, row by row) of every frame, and place of every point, at the time last asked for.
const place = new Float64Array(3 * poseCount);
const turn = new Float64Array(9 * poseCount);
const spot = new Float64Array(3 * pointCount);

// The last frame at or before time t.
function frameAt(t) {
  let low = 0;
  let high = frameCount - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return t >= times[high] ? high : low;
}

// Slope of number k of those that each time has, for a curve without kinks through the times.
function slope(values, width, frame, k) {
  const before = Math.max(frame - 1, 0);
  const after = Math.min(frame + 1, frameCount - 1);
  const rise = values[width * after + k] - values[width * before + k];
  return after > before ? rise / (times[after] - times[before]) : 0;
}

function rotationOf(w, x, y, z, out, at) {
  const n = 1 / Math.hypot(w, x, y, z);
  w *= n; x *= n; y *= n; z *= n;
  out[at] = 1 - 2 * (y * y + z * z); out[at + 1] = 2 * (x * y - w * z); out[at + 2] = 2 * (x * z + w * y);
  out[at + 3] = 2 * (x * y + w * z); out[at + 4] = 1 - 2 * (x * x + z * z); out[at + 5] = 2 * (y * z - w * x);
  out[at + 6] = 2 * (x * z - w * y); out[at + 7] = 2 * (y * z + w * x); out[at + 8] = 1 - 2 * (x * x + y * y);
}

// Fill place, turn and spot: cubic curves through positions, great arcs through orientations.
function moveTo(t) {
  const i = frameAt(t);
  const j = Math.min(i + 1, frameCount - 1);
  const h = times[j] - times[i];
  const s = h > 0 ? (t - times[i]) / h : 0;
  between = [i, j, s];
  const h01 = s * s * (3 - 2 * s);
  const h10 = s * (1 - s) * (1 - s);
  const h11 = s * s * (s - 1);
  const curve = (values, width, k) => {
    const [from, to] = [values[width * i + k], values[width * j + k]];
    return from + (to - from) * h01 + h * (h10 * slope(values, width, i, k) + h11 * slope(values, width, j, k));
  };
  for (let k = 0; k < 3 * pointCount; k++) spot[k] = curve(points, 3 * pointCount, k);
  for (let b = 0; b < poseCount; b++) {
    const p = 7 * (i * poseCount + b);
    const r = 7 * (j * poseCount + b);
    for (let k = 0; k < 3; k++) place[3 * b + k] = curve(poses, 7 * poseCount, 7 * b + k);
    let dot = 0;
    for (let k = 3; k < 7; k++) dot += poses[p + k] * poses[r + k];
    const sign = dot < 0 ? -1 : 1; // q and -q are the same orientation: take the short way
    const angle = Math.acos(Math.min(1, dot * sign));
    const arc = angle > 1e-4;
    const left = arc ? Math.sin((1 - s) * angle) / Math.sin(angle) : 1 - s;
    const right = sign * (arc ? Math.sin(s * angle) / Math.sin(angle) : s);
    rotationOf(
      left * poses[p + 3] + right * poses[r + 3], left * poses[p + 4] + right * poses[r + 4],
      left * poses[p + 5] + right * poses[r + 5], left * poses[p + 6] + right * poses[r + 6], turn, 9 * b,
    );
  }
}

// The points of a line.
const spotsOf = (line) => Array.from({ length: line.count }, (_, k) => {
  const at = 3 * (line.first + k);
  return [spot[at], spot[at + 1], spot[at + 2]];
});

// A point or a direction given in a frame, in ground axes; frame -1 is ground.
function pointOf(body, p) {
  if (body < 0) return p;
  const d = directionOf(body, p);
  return [place[3 * body] + d[0], place[3 * body + 1] + d[1], place[3 * body + 2] + d[2]];
}

function directionOf(body, d) {
  if (body < 0) return d;
  const k = 9 * body;
  return [
    turn[k] * d[0] + turn[k + 1] * d[1] + turn[k + 2] * d[2],
    turn[k + 3] * d[0] + turn[k + 4] * d[1] + turn[k + 5] * d[2],
    turn[k + 6] * d[0] + turn[k + 7] * d[1] + turn[k + 8] * d[2],
  ];
}

// Where a point is at every frame and at some times between, for trails: `at` in ground axes, `t`.
function pathOf(body, p) {
  const path = [];
  const between = Math.ceil(1500 / frameCount); // enough for a smooth curve
  for (let i = 0; i < frameCount; i++) {
    const h = i < frameCount - 1 ? times[i + 1] - times[i] : 0;
    for (let k = 0; k < (h > 0 ? between : 1); k++) {
      const t = times[i] + (h * k) / between;
      moveTo(t);
      path.push({ t, at: pointOf(body, p) });
    }
  }
  return path;
}

// Number k of those that each time has, at the time last asked for: straight between times.
let between = [0, 0, 0];
const valueOf = (list, wide, k) => {
  const [i, j, s] = between;
  return (1 - s) * list[wide * i + k] + s * list[wide * j + k];
};
const valueAt = (k) => valueOf(values, valueCount, k);
