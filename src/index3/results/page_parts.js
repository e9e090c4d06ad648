// What a mechanism is made of: bodies, joints, forces, supports, trails, arrows, names.

const counts = {}; // of force elements, by their symbols
const options = { names: false, axes: false, forces: false, trail: null, follow: -1, exaggerate: 1 };
const UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const axesOf = (b) => UNIT.map((d) => directionOf(b, d));
const numberOf = { body: (k) => 1 + k, joint: (k) => 1 + bodyCount + k, force: (k) => 1 + bodyCount + data.joints.length + k };

// Solids that stay on the card, made when first drawn: what a part is in the axes of its frame.
const MESHES = {
  mesh: (part) => flatMesh(rowsOf(decode(part.vertices)), rowsOf(decode(part.faces))),
  ring: (part) => extruded(disc(part.radius, 48), part.length, disc(part.inner, 48)),
  gear: (part) => {
    const [outline, inner] = [gearOutline(part.radius, part.teeth), part.inside ? 1.15 : 0.3];
    const hole = outline.map((p) => scale((inner * Math.abs(part.radius)) / Math.hypot(...p), p));
    return part.inside ? extruded(hole, part.length, outline) : extruded(outline, part.length, hole);
  },
  rack: (part) => rackMesh(part),
  tyre: (part) => turned(tyreSection(part), 40, true),
  surface: (part) => surfaceMesh(part),
  plane: (part) => surfaceMesh({ x: [-part.size, part.size], z: [0, 0], y: [-part.size, part.size] }),
  outline: (part) => extruded(part.points, part.length),
};
const rowsOf = (values) => Array.from({ length: values.length / 3 }, (_, k) => [...values.subarray(3 * k, 3 * k + 3)]);

function tyreSection({ radius, width: wide }) {
  const [half, rim, n] = [0.5 * wide, 0.62 * radius, 12];
  const line = Array.from({ length: n + 1 }, (_, k) => {
    const s = (Math.PI * k) / n;
    return [rim + (radius - rim) * Math.sin(s) ** 0.6, -half * Math.cos(s)];
  });
  return [...line, [rim, half], [rim, -half]];
}

// Heights z over x, the same for all y between two.
function surfaceMesh({ x, z, y }) {
  const out = [];
  for (let k = 0; k + 1 < x.length; k++) {
    const normal = (i) => {
      const [p, q] = [Math.max(i - 1, 0), Math.min(i + 1, x.length - 1)];
      return unit([z[p] - z[q], 0, x[q] - x[p]]);
    };
    const at = (i, side) => [x[i], y[side], z[i]];
    quad(out, at(k, 0), at(k + 1, 0), at(k + 1, 1), at(k, 1), normal(k), normal(k + 1), normal(k + 1), normal(k));
  }
  return out;
}

// A bar along x with teeth towards y.
function rackMesh({ pitch, from, to, depth, length }) {
  const line = [];
  for (let x = from; x < to; x += pitch) {
    for (const [s, level] of [[0, -0.5], [0.2, 0.5], [0.5, 0.5], [0.7, -0.5]]) line.push([x + s * pitch, level * depth, 0]);
  }
  const out = [];
  const [foot, half] = [-2 * depth, length / 2];
  for (let k = 0; k + 1 < line.length; k++) {
    const [a, b] = [line[k], line[k + 1]];
    const [c, d] = [[b[0], foot, 0], [a[0], foot, 0]];
    const lift = (p, s) => [p[0], p[1], s * half];
    quad(out, lift(a, -1), lift(b, -1), lift(b, 1), lift(a, 1), unit(cross([0, 0, 1], sub(b, a))));
    quad(out, lift(a, 1), lift(b, 1), lift(c, 1), lift(d, 1), [0, 0, 1]);
    quad(out, lift(d, -1), lift(c, -1), lift(b, -1), lift(a, -1), [0, 0, -1]);
    quad(out, lift(d, 1), lift(c, 1), lift(c, -1), lift(d, -1), [0, -1, 0]);
  }
  return out;
}

function drawPart(b, part, colour, alpha = 1, frame = null) {
  const axes = frame ? frame.axes : axesOf(b);
  const centre = frame ? frame.at : pointOf(b, [0, 0, 0]);
  const here = (p) => add(centre, add(add(scale(p[0], axes[0]), scale(p[1], axes[1])), scale(p[2], axes[2])));
  const shade = part.color || colour;
  const k = "xyz".indexOf(part.axis || "z");
  const turnedAxes = [axes[(k + 1) % 3], axes[(k + 2) % 3], axes[k]];
  const make = MESHES[part.type];
  const least = SEEN * pixelAt(centre); // half of what can be seen
  if (make) {
    part.kept ??= keepMesh(make(part));
    const at = part.speed ? add(centre, scale(-part.speed * state.t, axes[0])) : centre;
    putMesh(part.kept, at, turnedAxes, shade, part.alpha || alpha);
    if (part.type === "surface") drawStripes(part, at, axes);
  } else if (part.type === "rod" || part.type === "strut") {
    bar(...part.ends.map(here), part.type === "strut" ? 0.5 * R : Math.max(R, part.radius || 0), shade);
  } else if (part.type === "line") {
    drawLine(part, shade);
  } else if (part.type === "path") {
    const spots = smooth(part.points, part.closed).map(here);
    tube(spots, 0.6 * R, Array(spots.length).fill(tint(shade)), 8);
  } else if (part.type === "faces") {
    drawFaces(b, part, shade);
  } else if (part.type === "plate") {
    drawPlate(part, centre, axes, shade);
  } else if (part.type === "box") {
    box(centre, axes, part.size.map((x) => Math.max(x, 0.6 * R, 2 * least)), shade, part.alpha);
  } else if (part.type === "cylinder") {
    cylinder(centre, turnedAxes, Math.max(part.radius, least), Math.max(part.length, 0.3 * R, 2 * least), shade, part.alpha);
  } else if (part.type === "sphere") {
    ball(centre, Math.max(part.radius, least), shade, axes, part.alpha);
  } else if (part.type === "ball") {
    ball(centre, Math.max(2.4 * R, least), shade, axes);
  } else if (part.type === "axes") {
    drawAxes(b, 6 * R);
  }
}

// Lines across a road, nearer each other than its grid: they show bumps, and that it moves.
function drawStripes(part, at, axes) {
  const here = (x, y, z) => add(at, add(add(scale(x, axes[0]), scale(y, axes[1])), scale(z, axes[2])));
  const [first, last] = [part.x[0], part.x[part.x.length - 1]];
  const step = Math.max(spacing / 4, (last - first) / 400);
  let k = 0;
  for (let x = Math.ceil(first / step) * step; x < last; x += step) {
    while (part.x[k + 1] < x) k += 1;
    const z = part.z[k] + ((part.z[k + 1] - part.z[k]) * (x - part.x[k])) / (part.x[k + 1] - part.x[k]);
    thread([here(x, part.y[0], z), here(x, part.y[1], z)], theme.soft, 1.1, 0.45);
  }
  for (const y of part.y) thread(part.x.map((x, i) => here(x, y, part.z[i])), theme.soft, 1.6, 0.7);
}

// A smooth curve through points.
function smooth(points, closed) {
  const n = points.length;
  const at = (k) => points[closed ? (k + n) % n : Math.min(n - 1, Math.max(0, k))];
  const out = [];
  for (let k = 0; k < (closed ? n : n - 1); k++) {
    const [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
    for (let s = 0; s < 1; s += 0.125) {
      const weights = [-0.5 * s * (1 - s) ** 2, 1 - s * s * (2.5 - 1.5 * s), s * (0.5 + s * (2 - 1.5 * s)), 0.5 * s * s * (s - 1)];
      out.push([a, b, c, d].map((p, i) => scale(weights[i], p)).reduce(add));
    }
  }
  out.push(at(closed ? 0 : n - 1));
  return out;
}

// A body that bends: a tube through its points, or a solid of the given height and width where it has a section.
function drawLine(part, colour) {
  const spots = spotsOf(part);
  const colours = coloursOf(part, spots.length, colour);
  if (!part.section) {
    if (spots.length > 1) tube(spots, Math.max(part.radius, 0.3 * R), colours);
    return;
  }
  const [height, wide] = part.section.map((x) => Math.max(x, 0.4 * R) / 2);
  skin(spots.map((p, k) => {
    const u = unit(sub(spots[Math.min(k + 1, spots.length - 1)], spots[Math.max(k - 1, 0)]));
    const z = sideOf(part, u);
    const y = cross(z, u);
    return [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([i, j]) => add(p, add(scale(i * height, y), scale(j * wide, z))));
  }), colours);
}
function sideOf(part, u) {
  const z = part.side || [0, 0, 1];
  const flat = sub(z, scale(dot(z, u), u));
  return Math.hypot(...flat) > 0.1 ? unit(flat) : across(u)[0];
}

// The nodes of a body, farther from where they are without deformation if one asks for it.
function bentSpots(b, part) {
  const spots = spotsOf(part);
  if (!part.rest || options.exaggerate === 1) return spots;
  part.kept = part.kept || rowsOf(decode(part.rest));
  return spots.map((p, k) => {
    const rest = pointOf(b, part.kept[k]);
    return add(rest, scale(options.exaggerate, sub(p, rest)));
  });
}

// A body by nodes: bars along its members, triangles over its faces.
function drawFaces(b, part, colour) {
  const spots = bentSpots(b, part);
  const colours = coloursOf(part, spots.length, colour);
  for (const [i, j] of part.members || []) {
    tube([spots[i], spots[j]], Math.max(part.radius || 0, 0.6 * R), [colours[i], colours[j]], 8);
  }
  for (const [i, j, k] of part.faces || []) triangle(spots[i], spots[j], spots[k], [colours[i], colours[j], colours[k]]);
}

// Colours of the points of a body that deforms: by their stress where it is known.
const STOPS = [[49, 84, 178], [47, 159, 174], [92, 176, 92], [233, 196, 66], [206, 62, 44]];
function scaleColour(s) {
  const x = 4 * Math.min(0.99999, Math.max(0, s));
  return mix(STOPS[Math.floor(x)], STOPS[Math.floor(x) + 1], x % 1);
}
function coloursOf(part, n, colour) {
  if (!data.stress || part.value === undefined) return Array(n).fill(tint(colour));
  return Array.from({ length: n }, (_, k) => tint(scaleColour(valueAt(part.value + k) / data.stress)));
}

function drawPlate(part, centre, axes, colour) {
  const points = part.points.map((p) => add(centre, add(add(scale(p[0], axes[0]), scale(p[1], axes[1])), scale(p[2], axes[2]))));
  const middle = scale(1 / points.length, points.reduce(add));
  points.forEach((p, k) => {
    const next = points[(k + 1) % points.length];
    triangle(middle, p, next, Array(3).fill(tint(colour)));
    bar(p, next, 0.8 * R, colour);
  });
}

function drawAxes(b, length) {
  const origin = pointOf(b, [0, 0, 0]);
  axesOf(b).forEach((d, k) => thread([origin, add(origin, scale(length, d))], theme[`axis-${"xyz"[k]}`], 2.4));
}

// Joints.

const ends = (element) => element.markers.map((m) => pointOf(m.body, m.at));
const grounded = (element) => element.markers.findIndex((m) => m.body < 0);
function frameOf(marker) {
  const [x, z] = [directionOf(marker.body, marker.x), directionOf(marker.body, marker.z)];
  return { at: pointOf(marker.body, marker.at), axes: [x, cross(z, x), z] };
}

// A frame given in another: its origin, and its axes as columns.
function within(frame, { at, axes }) {
  const turned = (d) => add(add(scale(d[0], frame.axes[0]), scale(d[1], frame.axes[1])), scale(d[2], frame.axes[2]));
  return { at: add(frame.at, turned(at)), axes: [0, 1, 2].map((k) => turned(axes.map((row) => row[k]))) };
}

// Solids that an element brings along, each in the frame of one of its markers.
function drawOwnParts(element) {
  for (const part of element.parts || []) {
    const marker = element.markers[part.marker];
    const body = marker.body < 0 || marker.body >= bodyCount ? null : theme.bodies[marker.body];
    const dark = part.type === "tyre" ? mix(theme.shadow, theme.steel, 0.25) : null;
    const frame = part.at ? within(frameOf(marker), part) : frameOf(marker);
    drawPart(marker.body, part, dark || body || mix(theme.steel, theme.soft, 0.3), part.alpha || 1, frame);
  }
}

function drawJoint(joint) {
  const [a, b] = ends(joint);
  const [first, second] = joint.markers;
  const { axes: frame } = frameOf(first);
  const z = frame[2];
  const { steel } = theme;
  if (joint.symbol === "hinge") {
    cylinder(b, frame, 1.55 * R, 3 * R, steel);
    cylinder(b, frame, 0.6 * R, 3.2 * R, mix(steel, theme.shadow, 0.4));
  } else if (joint.symbol === "ball") {
    ball(b, 1.75 * R, steel);
  } else if (joint.symbol === "cross") {
    ball(b, 1.2 * R, steel);
    for (const axis of [z, directionOf(second.body, second.z)]) {
      const arm = scale(3 * R, axis);
      bar(sub(b, arm), add(b, arm), 0.55 * R, steel);
    }
  } else if (joint.symbol === "slider" || joint.symbol === "sleeve") {
    const [from, to] = joint.rail;
    bar(add(a, scale(from - 6 * R, z)), add(a, scale(to + 6 * R, z)), 0.4 * R, steel);
    if (joint.symbol === "slider") box(b, frame, [3.4 * R, 3.4 * R, 6 * R], steel);
    else cylinder(b, frame, 1.7 * R, 6 * R, steel);
  } else if (joint.symbol === "weld") {
    box(b, frame, [2.7 * R, 2.7 * R, 2.7 * R], steel);
  } else if (joint.symbol === "plate") {
    box(a, frame, [10 * R, 10 * R, 0.2 * R], steel);
    ball(b, 1.2 * R, steel);
  } else if (joint.symbol === "bar") {
    bar(a, b, 0.4 * R, steel);
    for (const p of [a, b]) ball(p, 0.9 * R, steel);
  } else if (joint.symbol === "rope") {
    thread(ends(joint), mix(steel, theme.shadow, 0.4), 2.5);
    for (const p of ends(joint).slice(1, -1)) ball(p, 0.9 * R, steel);
  } else if (joint.symbol === "dot") {
    ball(b, R, steel);
  }
  drawOwnParts(joint);
  if (joint.support) drawSupport(ends(joint)[grounded(joint)], z, joint.support);
}

// The sign for ground: a wedge on a plate, below the point or (side = 1) above it.
function drawSupport(at, axis, side) {
  const flat = cross(axis, UP);
  const wide = Math.hypot(...flat) > 0.1 ? unit(flat) : RIGHT;
  const deep = unit(cross(wide, UP));
  const dark = mix(theme.steel, theme.shadow, 0.25);
  cone(add(at, scale(4.4 * side * R, UP)), at, 2.3 * R, dark);
  box(add(at, scale(4.8 * side * R, UP)), [wide, deep, UP], [7.6 * R, 5 * R, 0.8 * R], dark);
}

// Force elements.

function drawForce(force) {
  const points = ends(force);
  const [first] = force.markers;
  if (force.symbol === "coil") drawCoil(points[0], points[1]);
  else if (force.symbol === "piston") drawPiston(points[0], points[1]);
  else if (force.symbol === "spiral" || force.symbol === "motor") drawSpiral(first, points[0], force.symbol === "motor");
  else if (force.symbol === "bushing") drawBushing(first, sizeAmong("bushing"));
  else if (force.symbol === "line" && points.length === 2) thread(points, theme.soft, 1.6, 0.8, 0.02 * data.size);
  drawOwnParts(force);
  if (force.support) drawSupport(points[grounded(force)], AWAY, force.support);
}

// Symbols of which there are many are drawn smaller, so that they do not hide what they act on.
function sizeAmong(symbol) {
  counts[symbol] ??= data.forces.filter((force) => force.symbol === symbol).length;
  return R * Math.max(0.35, Math.min(1, Math.sqrt(6 / counts[symbol])));
}

function drawCoil(a, b) {
  const length = Math.hypot(...sub(b, a));
  if (length < 1e-9 * data.size) return;
  const u = unit(sub(b, a));
  const [x, y] = across(u);
  const lead = Math.min(0.16 * length, 4 * R);
  const thick = (0.28 * R) / pixelAt(mix(a, b, 0.5)); // pixels
  const [turns, steps] = [9, thick < 4 ? 10 : 14];
  const points = [a];
  for (let k = 0; k <= turns * steps; k++) {
    const s = (2 * Math.PI * k) / steps;
    const out = add(scale(Math.cos(s), x), scale(Math.sin(s), y));
    points.push(add(add(a, scale(lead + ((length - 2 * lead) * k) / (turns * steps), u)), scale(1.7 * R, out)));
  }
  points.push(b);
  if (thick < 1.2) thread(points, theme.steel, 2);
  else tube(points, 0.28 * R, Array(points.length).fill(tint(theme.steel)), thick < 4 ? 5 : 8);
  for (const end of [a, b]) ball(end, 0.8 * R, theme.steel);
}

// An actuator along a line: a barrel and its rod.
function drawPiston(a, b) {
  const part = mix(a, b, 0.55);
  bar(a, part, 1.15 * R, mix(theme.steel, theme.accent, 0.35), false);
  bar(part, b, 0.55 * R, theme.steel, false);
  for (const end of [a, b]) ball(end, 0.9 * R, theme.steel);
}

function drawSpiral(marker, at, motor) {
  const { axes: [x, y, z] } = frameOf(marker);
  if (motor) cylinder(add(at, scale(2.6 * R, z)), [x, y, z], 2.4 * R, 2.4 * R, mix(theme.steel, theme.accent, 0.35));
  if (motor) return;
  const size = sizeAmong("spiral");
  const points = Array.from({ length: 73 }, (_, k) => {
    const s = (2 * Math.PI * 3 * k) / 72;
    return add(at, scale(size * (1.9 + (2.4 * k) / 72), add(scale(Math.cos(s), x), scale(Math.sin(s), y))));
  });
  tube(points, 0.22 * size, Array(points.length).fill(tint(theme.steel)), 6);
}

// Rubber between two sleeves.
function drawBushing(marker, size) {
  const { at, axes } = frameOf(marker);
  cylinder(at, axes, 2.1 * size, 3.2 * size, mix(theme.shadow, theme.soft, 0.45));
  cylinder(at, axes, 1.0 * size, 3.8 * size, theme.steel);
}

// Forces and reactions as arrows at the element's place, as long as they are large.
function drawArrows() {
  if (!options.forces) return;
  const most = data.arrows.most || 1;
  const colours = { joint: theme["axis-z"], force: theme["axis-x"] };
  for (const { kind, element, vectors, marker } of arrows) {
    owner = numberOf[kind](element);
    const where = pointOf(marker.body, marker.at);
    const vector = [0, 1, 2].map((k) => valueOf(vectors, 3, k));
    const length = (0.3 * data.size * Math.hypot(...vector)) / most;
    if (length > 0.004 * data.size) arrow(where, add(where, scale(length, unit(vector))), 0.5 * R, colours[kind]);
  }
}

// Things found once for the whole motion: how far sliders slide, and on which side of its support a body hangs.
function prepare() {
  const elements = [...data.joints, ...data.forces];
  const sliding = data.joints.filter((j) => j.symbol === "slider" || j.symbol === "sleeve");
  const standing = ["hinge", "ball", "cross", "bar", "weld", "coil", "piston"];
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
  const path = options.trail.path.map((point) => point.at);
  const now = options.trail.path.findLastIndex((point) => point.t <= t);
  const length = Math.ceil(path.length / 4);
  owner = 0;
  thread(path, theme.accent, 1.4, 0.25);
  const behind = [...path.slice(Math.max(0, now - length), now + 1), pointOf(options.trail.body, options.trail.at)];
  const pieces = 8; // it fades backwards
  for (let k = 0; k < pieces; k++) {
    const from = Math.floor((behind.length * k) / pieces);
    thread(behind.slice(from, Math.floor((behind.length * (k + 1)) / pieces) + 1), theme.accent, 3, (k + 1) / pieces);
  }
}

function drawNames() {
  ctx.font = "600 12px system-ui, sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  const taken = []; // middle and half the width of what is written: a name that would cover another is left out
  const write = (text, p, colour, lift) => {
    if (!p) return;
    const half = 0.5 * ctx.measureText(text).width + 2;
    if (taken.some(([x, y, wide]) => Math.abs(x - p[0]) < wide + half && Math.abs(y - p[1] + lift) < 14)) return;
    taken.push([p[0], p[1] - lift, half]);
    ctx.lineWidth = 4;
    ctx.strokeStyle = css(theme.halo, 0.85);
    ctx.strokeText(text, p[0], p[1] - lift);
    ctx.fillStyle = css(colour);
    ctx.fillText(text, p[0], p[1] - lift);
  };
  data.bodies.forEach((body, b) => {
    const line = body.parts.find((part) => part.type === "line" || part.type === "faces");
    const rod = body.parts.find((part) => part.ends || (part.points && part.type === "plate"));
    const points = line ? spotsOf(line) : (rod ? rod.ends || rod.points : [[0, 0, 0]]).map((p) => pointOf(b, p));
    write(body.name, project(scale(1 / points.length, points.reduce(add))), mix(theme.bodies[b], theme.ink, 0.35), 0);
  });
  for (const joint of data.joints) write(joint.name, project(ends(joint)[1]), theme.ink, 18);
}

function drawScene(t, smooth = false) {
  moveTo(t);
  follow();
  aim();
  ctx.clearRect(0, 0, width, height);
  if (gl) {
    beginPicture();
    data.bodies.forEach((body, b) => {
      owner = numberOf.body(b);
      body.parts.forEach((part) => drawPart(b, part, theme.bodies[b]));
      if (options.axes) drawAxes(b, 7 * R);
    });
    data.joints.forEach((joint, k) => {
      owner = numberOf.joint(k);
      drawJoint(joint);
    });
    data.forces.forEach((force, k) => {
      owner = numberOf.force(k);
      drawForce(force);
    });
    drawArrows();
    drawTrail(t);
    endPicture(smooth);
  }
  if (options.names) drawNames();
  drawTriad();
}

// Keep the camera with the body that the user follows.
function follow() {
  if (options.follow < 0) return;
  const at = pointOf(options.follow, [0, 0, 0]);
  if (options.followed) camera.target = add(camera.target, sub(at, options.followed));
  options.followed = at;
}
