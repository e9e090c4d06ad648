// Unit shapes and solids of revolution: lists of triangles, six numbers a vertex (place, normal).

function quad(out, a, b, c, d, na, nb = na, nc = na, nd = na) {
  for (const [p, n] of [[a, na], [b, nb], [c, nc], [a, na], [c, nc], [d, nd]]) out.push(...p, ...n);
}

function unitBox() {
  const out = [];
  for (let k = 0; k < 3; k++) {
    for (const s of [-1, 1]) {
      const point = (i, j) => {
        const p = [0, 0, 0];
        [p[k], p[(k + 1) % 3], p[(k + 2) % 3]] = [0.5 * s, 0.5 * i * s, 0.5 * j];
        return p;
      };
      const n = [0, 0, 0];
      n[k] = s;
      quad(out, point(-1, -1), point(1, -1), point(1, 1), point(-1, 1), n);
    }
  }
  return out;
}

// Turned around z: `line` is a list of [radius, height], each piece with its own normal unless it is smooth.
function turned(line, n, smooth = false) {
  const out = [];
  const normalOf = (k) => {
    const [p, q] = [line[Math.max(k, 0)], line[Math.min(k + 1, line.length - 1)]];
    return [q[1] - p[1], p[0] - q[0]];
  };
  for (let k = 0; k + 1 < line.length; k++) {
    const [flat, before, after] = [normalOf(k), normalOf(Math.max(k - 1, 0)), normalOf(Math.min(k + 1, line.length - 2))];
    const lower = smooth ? [flat[0] + before[0], flat[1] + before[1]] : flat;
    const upper = smooth ? [flat[0] + after[0], flat[1] + after[1]] : flat;
    for (let i = 0; i < n; i++) {
      const at = ([r, z], s) => [r * Math.cos(s), r * Math.sin(s), z];
      const normal = ([r, z], s) => unit(at([r, z], s));
      const [s, t] = [(2 * Math.PI * i) / n, (2 * Math.PI * (i + 1)) / n];
      quad(
        out, at(line[k], s), at(line[k], t), at(line[k + 1], t), at(line[k + 1], s),
        normal(lower, s), normal(lower, t), normal(upper, t), normal(upper, s),
      );
    }
  }
  return out;
}

function unitSphere(n = 12) {
  const line = Array.from({ length: n + 1 }, (_, k) => [Math.sin((Math.PI * k) / n), -Math.cos((Math.PI * k) / n)]);
  return turned(line, 2 * n, true);
}

const unitCylinder = (n) => turned([[0, -0.5], [1, -0.5], [1, 0.5], [0, 0.5]], n);
const unitPipe = (n) => turned([[1, -0.5], [1, 0.5]], n); // without the ends
const unitCone = (n = 20) => turned([[0, 0], [1, 0], [0, 1]], n);

// Each vertex once, and the numbers of the corners of all triangles that have an area.
function indexed(triangles) {
  const [numbers, vertices, corners] = [new Map(), [], []];
  for (let k = 0; k < triangles.length; k += 18) {
    const found = [0, 6, 12].map((shift) => {
      const vertex = triangles.slice(k + shift, k + shift + 6);
      const key = vertex.map((x) => x.toFixed(6).replace(/^-(0\.0+)$/, "$1")).join();
      if (!numbers.has(key)) {
        numbers.set(key, vertices.length / 6);
        vertices.push(...vertex);
      }
      return { number: numbers.get(key), place: vertex.slice(0, 3) };
    });
    const [a, b, c] = found.map((one) => one.place);
    if (Math.hypot(...cross(sub(b, a), sub(c, a))) > 1e-9) corners.push(...found.map((one) => one.number));
  }
  return { vertices, corners };
}
