// What a mechanism is made of: bodies, joints, springs, supports, trails, names.

const options = { names: false, axes: false, trail: null };
const UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const axesOf = (b) => UNIT.map((d) => directionOf(b, d));

function drawPart(b, part, colour) {
  const axes = axesOf(b);
  const centre = pointOf(b, [0, 0, 0]);
  if (part.type === "rod" || part.type === "strut") {
    const [from, to] = part.ends.map((p) => pointOf(b, p));
    const radius = part.type === "strut" ? 0.5 * R : Math.max(R, part.radius || 0);
    bar(from, to, radius, colour);
    shadowBar(from, to, radius);
  } else if (part.type === "line") {
    const radius = Math.max(R, part.radius);
    const spots = spotsOf(part);
    for (let k = 1; k < spots.length; k++) {
      bar(spots[k - 1], spots[k], radius, colour);
      shadowBar(spots[k - 1], spots[k], radius);
    }
  } else if (part.type === "plate") {
    drawPlate(part.points.map((p) => pointOf(b, p)), colour);
  } else if (part.type === "box") {
    const [thin, , long] = part.size.map((x, k) => [x, k]).sort((p, q) => p[0] - q[0]);
    const ends = [-0.5, 0.5].map((s) => add(centre, scale(s * long[0], axes[long[1]])));
    if (isFine(centre, 0.5 * thin[0])) bar(...ends, 0.5 * thin[0], colour);
    else box(centre, axes, part.size.map((x) => Math.max(x, 0.6 * R)), colour).forEach(shadowOutline);
  } else if (part.type === "cylinder") {
    drawCylinder(centre, axes, part, colour);
  } else if (part.type === "sphere") {
    ball(centre, part.radius, colour);
    for (const [i, j] of [[0, 1], [1, 2], [2, 0]]) { // great circles show how it turns
      const ring = circle(centre, axes[i], axes[j], 1.002 * part.radius, 48);
      ring.push(ring[0]);
      const seen = ring.map((p) => dot(sub(p, centre), sub(view.eye, p)) > 0);
      thread(ring, css(shade(colour, 0.5), 0.55), 1.2, part.radius, seen);
    }
    shadowOutline(circle(centre, RIGHT, AWAY, part.radius, 24));
  } else if (part.type === "ball") {
    ball(centre, 2.4 * R, colour);
    shadowOutline(circle(centre, RIGHT, AWAY, 2.4 * R, 28));
  } else if (part.type === "axes") {
    drawAxes(b, 6 * R);
  }
}

function drawCylinder(centre, axes, part, colour) {
  const k = "xyz".indexOf(part.axis || "z");
  const frame = [axes[(k + 1) % 3], axes[(k + 2) % 3], axes[k]];
  const n = 48;
  const ends = cylinder(centre, frame, part.radius, Math.max(part.length, 0.3 * R), colour, 0, n);
  ends.forEach(shadowOutline);
  for (let i = 0; i < n / 2; i++) shadowOutline([ends[0][i], ends[0][i + n / 2], ends[1][i + n / 2], ends[1][i]]);
  ends.forEach((rim, side) => { // a diameter on the end in view shows how it turns
    const outward = scale(side ? 1 : -1, frame[2]);
    const facing = dot(outward, sub(view.eye, rim[0])) > 0;
    if (facing) thread([rim[0], rim[n / 2]], css(shade(colour, 0.45), 0.7), 1.5, part.radius + part.length);
  });
}

function drawPlate(points, colour) {
  const flat = points.map(project);
  if (flat.some((p) => !p)) return;
  later(flat.reduce((sum, p) => sum + p[2], 0) / flat.length + R, () => {
    ctx.fillStyle = css(colour, 0.28);
    ctx.beginPath();
    flat.forEach((p) => ctx.lineTo(p[0], p[1]));
    ctx.fill();
  });
  shadowOutline(points);
  points.forEach((p, k) => {
    bar(p, points[(k + 1) % points.length], 0.8 * R, colour);
    shadowBar(p, points[(k + 1) % points.length], 0.8 * R);
  });
}

function drawAxes(b, length) {
  const origin = pointOf(b, [0, 0, 0]);
  axesOf(b).forEach((d, k) => {
    thread([origin, add(origin, scale(length, d))], css(theme[`axis-${"xyz"[k]}`]), 2.2, 6 * R);
  });
}

// Joints.

const ends = (element) => element.markers.map((m) => pointOf(m.body, m.at));
const grounded = (element) => element.markers.findIndex((m) => m.body < 0);

function drawJoint(joint) {
  const [a, b] = ends(joint);
  if (isFine(b, R) && joint.symbol !== "bar") return; // too small to be told apart
  const [first, second] = joint.markers;
  const z = directionOf(first.body, first.z);
  const x = directionOf(first.body, first.x);
  const frame = [x, cross(z, x), z];
  const steel = theme.steel;
  const near = 7 * R; // above every layer of bars
  if (joint.symbol === "hinge") {
    cylinder(b, frame, 1.55 * R, 3 * R, steel, near);
    const s = dot(z, sub(view.eye, b)) > 0 ? 1 : -1; // the end in view
    cylinder(add(b, scale(1.52 * s * R, z)), frame, 0.6 * R, 0.1 * R, shade(steel, 0.6), 1.3 * near, 14);
  } else if (joint.symbol === "ball") {
    ball(b, 1.75 * R, steel, near);
  } else if (joint.symbol === "cross") {
    ball(b, 1.2 * R, steel, near);
    for (const axis of [z, directionOf(second.body, second.z)]) {
      const arm = scale(3 * R, axis);
      bar(sub(b, arm), add(b, arm), 0.55 * R, steel, near);
    }
  } else if (joint.symbol === "slider" || joint.symbol === "sleeve") {
    const [from, to] = joint.rail;
    bar(add(a, scale(from - 6 * R, z)), add(a, scale(to + 6 * R, z)), 0.4 * R, steel);
    if (joint.symbol === "slider") box(b, frame, [3.4 * R, 3.4 * R, 6 * R], steel, near);
    else cylinder(b, frame, 1.7 * R, 6 * R, steel, near);
  } else if (joint.symbol === "weld") {
    box(b, frame, [2.7 * R, 2.7 * R, 2.7 * R], steel, near);
  } else if (joint.symbol === "plate") {
    box(a, frame, [10 * R, 10 * R, 0.2 * R], steel, -near);
    ball(b, 1.2 * R, steel, near);
  } else if (joint.symbol === "bar") {
    bar(a, b, 0.4 * R, steel);
    for (const p of [a, b]) ball(p, 0.9 * R, steel, near);
    shadowBar(a, b, 0.4 * R);
  } else {
    ball(b, R, steel, near);
  }
  if (joint.support) drawSupport(ends(joint)[grounded(joint)], z, joint.support);
}

// The sign for ground: a triangle with hatching, below the point or (side = 1) above it.
function drawSupport(at, axis, side) {
  const flat = cross(axis, UP);
  const wide = Math.hypot(...flat) > 0.1 ? unit(flat) : RIGHT;
  const base = add(at, scale(4.4 * side * R, UP));
  const corner = (s) => add(base, scale(2.7 * s * R, wide));
  const triangle = [at, corner(-1), corner(1)].map(project);
  const lines = [[corner(-1.45), corner(1.45)]];
  for (let k = -1.1; k < 1.5; k += 0.5) lines.push([corner(k), add(corner(k - 0.4), scale(1.2 * side * R, UP))]);
  const hatch = lines.map((line) => line.map(project));
  if ([triangle, ...hatch].flat().some((p) => !p)) return;
  later(triangle[0][2] + 2 * R, () => {
    ctx.lineJoin = ctx.lineCap = "round";
    ctx.lineWidth = Math.max(1, 0.28 * R * triangle[0][3]);
    ctx.strokeStyle = css(shade(theme.steel, 0.62));
    ctx.fillStyle = css(theme.steel, 0.6);
    ctx.beginPath();
    triangle.forEach((p) => ctx.lineTo(p[0], p[1]));
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
    ctx.beginPath();
    for (const [p, q] of hatch) {
      ctx.moveTo(p[0], p[1]);
      ctx.lineTo(q[0], q[1]);
    }
    ctx.stroke();
  });
}

// Force elements.

function drawForce(force) {
  const points = ends(force);
  if (force.symbol === "coil") drawCoil(points[0], points[1]);
  else if (force.symbol === "spiral") drawSpiral(force.markers[0], points[0]);
  else if (points.length === 2) thread(points, css(theme.soft, 0.8), 1.5, 0, null, [5, 5]);
  if (force.support) drawSupport(points[grounded(force)], AWAY, force.support);
}

function drawCoil(a, b) {
  const length = Math.hypot(...sub(b, a));
  if (length < 1e-9 * data.size) return;
  const u = unit(sub(b, a));
  const [x, y] = across(u);
  const lead = Math.min(0.16 * length, 4 * R);
  const [turns, steps] = [10, 16];
  const points = [a];
  const front = [true];
  for (let k = 0; k <= turns * steps; k++) {
    const s = (2 * Math.PI * k) / steps;
    const out = add(scale(Math.cos(s), x), scale(Math.sin(s), y));
    const along = lead + ((length - 2 * lead) * k) / (turns * steps);
    points.push(add(add(a, scale(along, u)), scale(1.7 * R, out)));
    front.push(dot(out, sub(view.eye, a)) >= 0);
  }
  points.push(b);
  front.push(true);
  const p = project(mix(a, b, 0.5));
  if (!p) return;
  const pixels = Math.max(1.4, 0.5 * R * p[3]);
  thread(points, css(shade(theme.steel, 0.6)), pixels, 0); // the far half shows through
  thread(points, css(theme.steel), pixels, 0.1 * R, front);
  for (const end of [a, b]) ball(end, 0.8 * R, theme.steel, 6 * R);
  shadowBar(a, b, R);
}

function drawSpiral(marker, at) {
  const z = directionOf(marker.body, marker.z);
  const x = directionOf(marker.body, marker.x);
  const y = cross(z, x);
  const points = Array.from({ length: 73 }, (_, k) => {
    const s = (2 * Math.PI * 3 * k) / 72;
    return add(at, scale(R * (1.9 + (2.4 * k) / 72), add(scale(Math.cos(s), x), scale(Math.sin(s), y))));
  });
  thread(points, css(shade(theme.steel, 0.7)), 1.8, 8 * R);
}

// Things found once for the whole motion: how far sliders slide, and on which side of its support a body hangs.
function prepare() {
  const elements = [...data.joints, ...data.forces];
  const sliding = data.joints.filter((j) => j.symbol === "slider" || j.symbol === "sleeve");
  const standing = ["hinge", "ball", "cross", "bar", "weld", "coil"];
  const held = elements.filter((e) => grounded(e) >= 0 && standing.includes(e.symbol));
  for (const j of sliding) j.rail = [Infinity, -Infinity];
  const sums = held.map(() => [0, 0]);
  for (let i = 0; i < frameCount; i += Math.max(1, Math.floor(frameCount / 60))) {
    moveTo(times[i]);
    for (const j of sliding) {
      const [a, b] = ends(j);
      const s = dot(directionOf(j.markers[0].body, j.markers[0].z), sub(b, a));
      j.rail = [Math.min(j.rail[0], s), Math.max(j.rail[1], s)];
    }
    held.forEach((e, k) => {
      const other = e.markers[1 - grounded(e)];
      const d = sub(other.body < 0 ? ends(e)[0] : pointOf(other.body, [0, 0, 0]), ends(e)[grounded(e)]);
      sums[k][0] += dot(d, UP);
      sums[k][1] += Math.hypot(...d);
    });
  }
  const taken = new Set(); // one support for all that is held at a point
  held.forEach((e, k) => {
    const point = e.markers[grounded(e)].at.join();
    if (!taken.has(point)) e.support = sums[k][0] < -0.3 * sums[k][1] ? 1 : -1;
    taken.add(point);
  });
}

// Path of the chosen point: faint all the way, bright behind the present place.
function drawTrail(t) {
  if (!options.trail) return;
  const flat = options.trail.path.map((point) => project(point.at));
  const now = options.trail.path.findLastIndex((point) => point.t <= t);
  const draw = (from, to, alpha, pixels) => {
    ctx.beginPath();
    for (let k = from; k <= to; k++) if (flat[k]) ctx.lineTo(flat[k][0], flat[k][1]);
    if (to === now) {
      const tip = project(pointOf(options.trail.body, options.trail.at));
      if (tip) ctx.lineTo(tip[0], tip[1]);
    }
    ctx.strokeStyle = css(theme.accent, alpha);
    ctx.lineWidth = pixels;
    ctx.stroke();
  };
  ctx.lineJoin = ctx.lineCap = "round";
  draw(0, flat.length - 1, 0.22, 1.5);
  const length = Math.ceil(flat.length / 4);
  for (let part = 4; part >= 1; part--) { // drawn four times from ever later, it fades backwards
    draw(Math.max(0, now - Math.ceil((length * part) / 4)), now, 0.32, 3.5 - 0.5 * part);
  }
}

function drawNames() {
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  const write = (text, p, colour, lift) => {
    if (!p) return;
    ctx.lineWidth = 4;
    ctx.strokeStyle = css(theme.halo, 0.85);
    ctx.strokeText(text, p[0], p[1] - lift);
    ctx.fillStyle = css(colour);
    ctx.fillText(text, p[0], p[1] - lift);
  };
  data.bodies.forEach((body, b) => {
    const line = body.parts.find((part) => part.type === "line");
    const rod = body.parts.find((part) => part.ends || part.points);
    const points = line ? spotsOf(line) : (rod ? rod.ends || rod.points : [[0, 0, 0]]).map((p) => pointOf(b, p));
    write(body.name, project(scale(1 / points.length, points.reduce(add))), theme.bodies[b], 0);
  });
  for (const joint of data.joints) write(joint.name, project(ends(joint)[1]), theme.ink, 18);
}

function drawScene(t) {
  moveTo(t);
  aim();
  ctx.clearRect(0, 0, width, height);
  drawGrid();
  queue = [];
  shadow = new Path2D();
  data.bodies.forEach((body, b) => {
    layer = 1.5 * R * (b % 4);
    body.parts.forEach((part) => drawPart(b, part, theme.bodies[b]));
  });
  layer = 0;
  data.joints.forEach(drawJoint);
  data.forces.forEach(drawForce);
  if (options.axes) for (let b = 0; b < bodyCount; b++) drawAxes(b, 7 * R);
  ctx.fillStyle = css(theme.shadow, theme.depth);
  ctx.fill(shadow);
  drawTrail(t);
  queue.sort((a, b) => b.depth - a.depth);
  for (const item of queue) item.draw();
  if (options.names) drawNames();
  drawTriad();
}
