// Bars, balls, boxes, tubes, threads: each is put into the picture with the number of the element that it belongs to.

let owner = 0; // number of the element that is being drawn
let chosen = 0; // number of the element that the user has selected

const tint = (c, alpha = 1) => [...rgb(chosen && owner === chosen ? mix(c, theme.accent, 0.55) : c), alpha];

// The length that one pixel shows at a place.
const SEEN = 0.9; // radius in pixels below which solids would break into dots
const pixelAt = (p) => Math.max(dot(sub(p, view.eye), view.ahead), 0.02 * camera.distance) / view.focus;

// A copy of a unit shape: columns of its matrix and its centre; so fine as its radius needs.
function put(name, centre, x, y, z, radius, colour, alpha = 1) {
  const pixels = radius / pixelAt(centre);
  const copies = SHAPES[name].find(({ most }) => pixels < most);
  const store = alpha < 1 ? copies.clear : copies.store;
  store.room(INSTANCE);
  const [values, at] = [store.values, store.length];
  const side = dot(cross(x, y), z) < 0 ? -1 : 1; // in a left-handed frame faces would look inwards; shapes are symmetric
  for (let k = 0; k < 3; k++) {
    values[at + 4 * k] = side * x[k];
    values[at + 4 * k + 1] = y[k];
    values[at + 4 * k + 2] = z[k];
    values[at + 4 * k + 3] = centre[k] - camera.target[k];
  }
  values.set(tint(colour, alpha), at + 12);
  values[at + 16] = owner;
  store.length += INSTANCE;
}

function ball(at, radius, colour, axes = UNIT, alpha = 1) {
  put("ball", at, ...axes.map((axis) => scale(radius, axis)), radius, colour, alpha);
}

// A round bar between two points, with round or flat ends; thin ones are drawn as thick as can be seen.
function bar(a, b, thick, colour, round = true) {
  const along = sub(b, a);
  const radius = Math.max(thick, SEEN * pixelAt(mix(a, b, 0.5)));
  const length = Math.hypot(...along);
  if (length > 0) {
    const [x, y] = across(scale(1 / length, along));
    put(round ? "bar" : "cylinder", mix(a, b, 0.5), scale(radius, x), scale(radius, y), along, radius, colour);
  }
  if (round) for (const end of [a, b]) ball(end, radius, colour);
}

function box(centre, axes, size, colour, alpha = 1) {
  put("box", centre, ...axes.map((axis, k) => scale(size[k], axis)), 0, colour, alpha);
}

// A cylinder along the third of three axes.
function cylinder(centre, [x, y, z], radius, length, colour, alpha = 1) {
  put("cylinder", centre, scale(radius, x), scale(radius, y), scale(length, z), radius, colour, alpha);
}

function cone(base, tip, radius, colour) {
  const along = sub(tip, base);
  const [x, y] = across(unit(along));
  put("cone", base, scale(radius, x), scale(radius, y), along, radius, colour);
}

function arrow(from, to, radius, colour) {
  const length = Math.hypot(...sub(to, from));
  const head = Math.min(0.4 * length, 5 * radius);
  if (length < 1e-9 * data.size) return;
  const neck = mix(to, from, head / length);
  bar(from, neck, radius, colour, false);
  cone(neck, to, 2.2 * radius, colour);
}

// A thin line through points.
function thread(points, colour, pixels, alpha = 1, dash = 0) {
  const { store } = LINES.copies;
  const colours = tint(colour, alpha);
  const piece = (a, b) => {
    store.room(LINE);
    for (let k = 0; k < 3; k++) {
      store.values[store.length + k] = a[k] - camera.target[k];
      store.values[store.length + 3 + k] = b[k] - camera.target[k];
    }
    store.values.set(colours, store.length + 6);
    store.values[store.length + 10] = pixels;
    store.values[store.length + 11] = owner;
    store.length += LINE;
  };
  for (let k = 1; k < points.length; k++) {
    const [a, b] = [points[k - 1], points[k]];
    const pieces = dash ? Math.min(200, Math.max(1, Math.round(Math.hypot(...sub(b, a)) / dash))) : 1;
    for (let i = 0; i < pieces; i += 2) piece(mix(a, b, i / pieces), mix(a, b, (i + 1) / pieces));
  }
}

// A vertex of a skin; its number.
function vertex(p, n, colour) {
  const { store } = SKIN;
  store.room(VERTEX);
  const at = store.length;
  for (let k = 0; k < 3; k++) {
    store.values[at + k] = p[k] - camera.target[k];
    store.values[at + 3 + k] = n[k];
  }
  store.values.set(colour, at + 6);
  store.values[at + 10] = owner;
  store.length += VERTEX;
  return at / VERTEX;
}

function face(...corners) {
  SKIN.corners.room(corners.length);
  for (const corner of corners) SKIN.corners.values[SKIN.corners.length++] = corner;
}

function triangle(a, b, c, colours) {
  const n = unit(cross(sub(b, a), sub(c, a)));
  face(...[a, b, c].map((p, k) => vertex(p, n, colours[k])));
}

// A skin through sections: rings of equally many points, in order. Ends are covered.
function skin(rings, colours) {
  const n = rings[0].length;
  if (n > 4) roundSkin(rings, colours);
  else {
    for (let i = 0; i + 1 < rings.length; i++) {
      for (let k = 0; k < n; k++) {
        const j = (k + 1) % n;
        const flat = unit(cross(sub(rings[i][j], rings[i][k]), sub(rings[i + 1][k], rings[i][k])));
        const [a, b, c, d] = [[i, k], [i, j], [i + 1, j], [i + 1, k]].map(([r, m]) => vertex(rings[r][m], flat, colours[r]));
        face(a, b, c, a, c, d);
      }
    }
  }
  for (const i of [0, rings.length - 1]) {
    for (let k = 1; k + 1 < n; k++) triangle(rings[i][0], rings[i][k], rings[i][k + 1], [colours[i], colours[i], colours[i]]);
  }
}

// Its normals point away from the middle of each ring.
function roundSkin(rings, colours) {
  const n = rings[0].length;
  const first = SKIN.store.length / VERTEX;
  rings.forEach((ring, i) => {
    const centre = scale(1 / n, ring.reduce(add));
    for (const p of ring) vertex(p, unit(sub(p, centre)), colours[i]);
  });
  for (let i = 0; i + 1 < rings.length; i++) {
    for (let k = 0; k < n; k++) {
      const [a, b] = [first + n * i + k, first + n * i + ((k + 1) % n)];
      face(a, b, b + n, a, b + n, a + n);
    }
  }
}

// A round tube along points.
function tube(points, radius, colours, n = 10) {
  let x = across(unit(sub(points[1], points[0])))[0];
  skin(points.map((p, k) => {
    const u = unit(sub(points[Math.min(k + 1, points.length - 1)], points[Math.max(k - 1, 0)]));
    x = unit(sub(x, scale(dot(x, u), u))); // carried along without twist
    return circle(p, x, cross(u, x), radius, n);
  }), colours);
}

const circle = (centre, x, y, radius, n) =>
  Array.from({ length: n }, (_, k) => {
    const s = (2 * Math.PI * k) / n;
    return add(centre, add(scale(radius * Math.cos(s), x), scale(radius * Math.sin(s), y)));
  });

// Triangles kept on the card, drawn in a frame given by its origin and three axes.
function putMesh(mesh, origin, axes, colour, alpha = 1) {
  const at = sub(origin, camera.target);
  const rows = [0, 1, 2].map((k) => [axes[0][k], axes[1][k], axes[2][k], at[k]]);
  (alpha < 1 ? clear : meshes).push({ mesh, rows, colour: tint(colour, alpha), number: owner });
}

// Flat triangles from corners and the numbers of each triangle's three.
function flatMesh(corners, faces) {
  const out = [];
  for (const face of faces) {
    const [a, b, c] = face.map((k) => corners[k]);
    const n = unit(cross(sub(b, a), sub(c, a)));
    for (const p of [a, b, c]) out.push(...p, ...n);
  }
  return out;
}

// A flat outline (points in x, y, counter-clockwise, star-shaped around a point of its inside) made thick along z.
function extruded(outline, thick, hole = null) {
  const out = [];
  const n = outline.length;
  const inner = hole || outline.map(() => scale(1 / n, outline.reduce(add)));
  for (let k = 0; k < n; k++) {
    const [a, b, c, d] = [outline[k], outline[(k + 1) % n], inner[(k + 1) % n], inner[k]];
    const lift = (p, s) => [p[0], p[1], (p[2] || 0) + (s * thick) / 2];
    const side = unit(cross(sub(b, a), [0, 0, 1]));
    quad(out, lift(a, -1), lift(b, -1), lift(b, 1), lift(a, 1), side);
    quad(out, lift(a, 1), lift(b, 1), lift(c, 1), lift(d, 1), [0, 0, 1]);
    quad(out, lift(a, -1), lift(d, -1), lift(c, -1), lift(b, -1), [0, 0, -1]);
    if (hole) quad(out, lift(d, 1), lift(c, 1), lift(c, -1), lift(d, -1), scale(-1, side));
  }
  return out;
}
const disc = (radius, n) => Array.from({ length: n }, (_, k) =>
  [radius * Math.cos((2 * Math.PI * k) / n), radius * Math.sin((2 * Math.PI * k) / n), 0]);

// Outline of a gear: its pitch circle with teeth above and below.
function gearOutline(radius, teeth) {
  const depth = Math.min(0.12 * Math.abs(radius), (2.2 * Math.abs(radius)) / teeth);
  const steps = [[0, -1], [0.2, 1], [0.5, 1], [0.7, -1]];
  return Array.from({ length: teeth }, (_, k) => steps.map(([s, level]) => {
    const [angle, r] = [(2 * Math.PI * (k + s)) / teeth, Math.abs(radius) + level * 0.5 * depth];
    return [r * Math.cos(angle), r * Math.sin(angle), 0];
  })).flat();
}
