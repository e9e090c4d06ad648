// Bars, balls, solids, lines: things are collected with their depth and drawn from far to near.

let queue = [];
let layer = 0; // metres nearer: bodies that lie in one plane are drawn in a fixed order, symbols on top of them
const later = (depth, draw) => queue.push({ depth: depth - layer, draw });

// Everything that shades the floor goes into one path, so that overlaps are not darker.
let shadow = new Path2D();
const down = (p) => add(p, scale(floor - dot(p, UP), UP));
function shadowOutline(points) {
  const flat = points.map((p) => project(down(p)));
  if (flat.some((p) => !p)) return;
  let area = 0;
  flat.forEach((p, k) => {
    const next = flat[(k + 1) % flat.length];
    area += p[0] * next[1] - next[0] * p[1];
  });
  if (area < 0) flat.reverse(); // one sense of turning for all: overlaps add up instead of cancelling
  flat.forEach((p, k) => (k ? shadow.lineTo(p[0], p[1]) : shadow.moveTo(p[0], p[1])));
  shadow.closePath();
}
const circle = (centre, x, y, radius, n) =>
  Array.from({ length: n }, (_, k) => {
    const s = (2 * Math.PI * k) / n;
    return add(centre, add(scale(radius * Math.cos(s), x), scale(radius * Math.sin(s), y)));
  });
function shadowBar(a, b, radius) {
  const d = sub(b, a);
  const flat = sub(d, scale(dot(d, UP), UP));
  const side = scale(radius, unit(cross(UP, Math.hypot(...flat) > 1e-9 * data.size ? flat : RIGHT)));
  shadowOutline([add(a, side), add(b, side), sub(b, side), sub(a, side)]);
  for (const end of [a, b]) shadowOutline(circle(end, RIGHT, AWAY, radius, 12));
}

// Less than about two pixels wide: drawn as a line.
function isFine(at, radius) {
  const p = project(at);
  return p !== null && radius * p[3] < 0.9;
}

// A round bar between two points, shaded across; in pieces, so that it can pass behind one thing and before another.
function bar(a, b, radius, colour, bias = 0) {
  if (isFine(a, radius)) {
    thread([a, b], css(colour), 1.8, bias);
    return;
  }
  const n = bodyCount > 80 ? 1 : Math.min(24, Math.max(1, Math.round(Math.hypot(...sub(b, a)) / (4 * radius))));
  const points = Array.from({ length: n + 1 }, (_, k) => project(mix(a, b, k / n)));
  if (points.some((p) => !p)) return;
  const angle = Math.atan2(points[n][1] - points[0][1], points[n][0] - points[0][0]);
  for (let k = 0; k < n; k++) {
    const [p, q] = [points[k], points[k + 1]];
    later(0.5 * (p[2] + q[2]) - bias, () => drawBarPiece(p, q, radius, angle, colour, k === 0, k === n - 1));
  }
}

function drawBarPiece(p, q, radius, angle, colour, isFirst, isLast) {
  const [r, s] = [radius * p[3], radius * q[3]];
  const n = [-Math.sin(angle), Math.cos(angle)];
  const side = n[0] * 0.5 + n[1] * 0.85 > 0 ? -1 : 1; // of the light, upper left
  const [x, y, most] = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2, side * Math.max(r, s)];
  const fill = ctx.createLinearGradient(x + most * n[0], y + most * n[1], x - most * n[0], y - most * n[1]);
  fill.addColorStop(0, css(shade(colour, 0.94)));
  fill.addColorStop(0.3, css(shade(colour, 1.32)));
  fill.addColorStop(0.62, css(colour));
  fill.addColorStop(1, css(shade(colour, 0.6)));
  const overlap = isLast ? 0 : 0.6; // pixels: closes the hairline between pieces
  const end = [q[0] + overlap * Math.cos(angle), q[1] + overlap * Math.sin(angle)];
  const body = new Path2D();
  const rim = new Path2D(); // the same without the cuts between pieces
  if (isFirst) for (const path of [body, rim]) path.arc(p[0], p[1], r, angle + Math.PI / 2, angle - Math.PI / 2);
  else {
    body.lineTo(p[0] + r * n[0], p[1] + r * n[1]);
    body.lineTo(p[0] - r * n[0], p[1] - r * n[1]);
    rim.moveTo(p[0] - r * n[0], p[1] - r * n[1]);
  }
  if (isLast) for (const path of [body, rim]) path.arc(q[0], q[1], s, angle - Math.PI / 2, angle + Math.PI / 2);
  else {
    body.lineTo(end[0] - s * n[0], end[1] - s * n[1]);
    body.lineTo(end[0] + s * n[0], end[1] + s * n[1]);
    rim.lineTo(q[0] - s * n[0], q[1] - s * n[1]);
    rim.moveTo(q[0] + s * n[0], q[1] + s * n[1]);
  }
  rim.lineTo(p[0] + r * n[0], p[1] + r * n[1]);
  ctx.fillStyle = fill;
  ctx.fill(body);
  ctx.lineWidth = 1;
  ctx.strokeStyle = css(shade(colour, 0.5), 0.7);
  ctx.stroke(rim);
}

function ball(at, radius, colour, bias = 0) {
  const p = project(at);
  if (!p) return;
  later(p[2] - bias, () => {
    const r = radius * p[3];
    const fill = ctx.createRadialGradient(p[0] - 0.36 * r, p[1] - 0.42 * r, 0.08 * r, p[0], p[1], r);
    fill.addColorStop(0, css(shade(colour, 1.7)));
    fill.addColorStop(0.45, css(colour));
    fill.addColorStop(1, css(shade(colour, 0.55)));
    ctx.fillStyle = fill;
    ctx.beginPath();
    ctx.arc(p[0], p[1], r, 0, 2 * Math.PI);
    ctx.fill();
    ctx.lineWidth = 1;
    ctx.strokeStyle = css(shade(colour, 0.45), 0.6);
    ctx.stroke();
  });
}

// A convex solid of flat faces (lists of points, outward by the right hand): one item, faces in view never overlap.
function solid(faces, colour, bias = 0, edges = true) {
  const shown = [];
  let depth = 0;
  let count = 0;
  for (const points of faces) {
    const normal = unit(cross(sub(points[1], points[0]), sub(points[2], points[0])));
    const flat = points.map(project);
    if (flat.some((p) => !p)) return;
    for (const p of flat) depth += p[2];
    count += flat.length;
    if (dot(normal, sub(view.eye, points[0])) > 0) shown.push({ flat, light: Math.max(0, dot(normal, view.light)) });
  }
  later(depth / count - bias, () => {
    ctx.lineJoin = "round";
    for (const { flat, light } of shown) {
      const path = new Path2D();
      flat.forEach((p, k) => (k ? path.lineTo(p[0], p[1]) : path.moveTo(p[0], p[1])));
      path.closePath();
      const tone = css(shade(colour, 0.56 + 0.6 * light));
      ctx.fillStyle = tone;
      ctx.fill(path);
      ctx.lineWidth = 1;
      const rim = edges || flat.length > 4; // other edges in the tone of the face, against hairlines between faces
      ctx.strokeStyle = rim ? css(shade(colour, 0.42), 0.75) : tone;
      ctx.stroke(path);
    }
  });
}

function box(centre, axes, size, colour, bias) {
  const half = axes.map((axis, k) => scale(size[k] / 2, axis));
  const corner = (i, j, k) => add(centre, add(add(scale(i, half[0]), scale(j, half[1])), scale(k, half[2])));
  const faces = [];
  for (const s of [-1, 1]) {
    const order = (list) => (s > 0 ? list : list.reverse());
    faces.push(order([corner(s, -1, -1), corner(s, 1, -1), corner(s, 1, 1), corner(s, -1, 1)]));
    faces.push(order([corner(-1, s, -1), corner(-1, s, 1), corner(1, s, 1), corner(1, s, -1)]));
    faces.push(order([corner(-1, -1, s), corner(1, -1, s), corner(1, 1, s), corner(-1, 1, s)]));
  }
  solid(faces, colour, bias);
  return faces;
}

// A cylinder along the third of three axes. Returns its two rims, the far end of the axis last.
function cylinder(centre, [x, y, z], radius, length, colour, bias = 0, n = 22) {
  const ends = [-1, 1].map((s) => circle(add(centre, scale((s * length) / 2, z)), x, y, radius, n));
  const faces = [ends[1], ends[0].slice().reverse()];
  for (let k = 0; k < n; k++) faces.push([ends[0][k], ends[0][(k + 1) % n], ends[1][(k + 1) % n], ends[1][k]]);
  solid(faces, colour, bias, false);
  return ends;
}

// A thin line through points; pieces for which `seen` is false are left out.
function thread(points, colour, pixels, bias = 0, seen = null, dashes = []) {
  const flat = points.map(project);
  const known = flat.filter((p) => p);
  if (known.length < 2) return;
  later(known.reduce((sum, p) => sum + p[2], 0) / known.length - bias, () => {
    const path = new Path2D();
    for (let k = 1; k < flat.length; k++) {
      if (!flat[k - 1] || !flat[k] || (seen && !(seen[k - 1] && seen[k]))) continue;
      path.moveTo(flat[k - 1][0], flat[k - 1][1]);
      path.lineTo(flat[k][0], flat[k][1]);
    }
    ctx.lineCap = "round";
    ctx.lineWidth = pixels;
    ctx.strokeStyle = colour;
    ctx.setLineDash(dashes);
    ctx.stroke(path);
    ctx.setLineDash([]);
  });
}
