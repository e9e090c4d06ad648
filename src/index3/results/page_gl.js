// The renderer: one WebGL2 program for everything solid, one for lines, one for the floor. Solids of a kind are drawn as
// instances of one unit shape; meshes keep their triangles on the card; tubes and skins are filled anew for each picture.
// All places are sent relative to the camera's target, so that a mechanism far from the origin stays sharp.

// Whether pictures are computed by the processor: smooth edges would then cost half of the time of a picture.
function drawnByProcessor() {
  const probe = document.createElement("canvas").getContext("webgl2");
  const known = probe && probe.getExtension("WEBGL_debug_renderer_info");
  return Boolean(known) && /swiftshader|llvmpipe|softpipe|software/i.test(probe.getParameter(known.UNMASKED_RENDERER_WEBGL));
}

const antialias = !drawnByProcessor();
const gl = canvas.getContext("webgl2", { antialias, alpha: true, premultipliedAlpha: true, stencil: true });

const SOLID_VERTEX = `#version 300 es
in vec3 position; in vec3 normal; in vec4 row0; in vec4 row1; in vec4 row2; in vec4 colour; in float number;
uniform mat4 toClip; uniform vec3 up; uniform float level; uniform bool flatten;
out vec3 facing; out vec3 inside; out vec4 tint; out vec3 seat; flat out float tag;
void main() {
  vec4 p = vec4(position, 1.0);
  vec3 at = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  vec3 a = vec3(row0.x, row1.x, row2.x), b = vec3(row0.y, row1.y, row2.y), c = vec3(row0.z, row1.z, row2.z);
  facing = cross(b, c) * normal.x + cross(c, a) * normal.y + cross(a, b) * normal.z;
  inside = position; tint = colour; tag = number; seat = at;
  if (flatten) at += (level - dot(at, up)) * up;
  gl_Position = toClip * vec4(at, 1.0);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing; in vec3 inside; in vec4 tint; in vec3 seat; flat in float tag;
uniform vec3 light; uniform vec3 eye; uniform vec3 up; uniform int pattern; uniform int mode; uniform vec4 shadow;
out vec4 shown;
void main() {
  if (mode == 1) { shown = vec4(mod(tag, 256.0), mod(floor(tag / 256.0), 256.0), floor(tag / 65536.0), 255.0) / 255.0; return; }
  if (mode == 2) { shown = vec4(shadow.rgb * shadow.a, shadow.a); return; }
  vec3 n = normalize(facing), to = normalize(eye - seat);
  if (dot(n, to) < 0.0) n = -n;
  float mark = 1.0;
  if (pattern == 1 && min(min(abs(inside.x), abs(inside.y)), abs(inside.z)) < 0.035) mark = 0.72;
  if (pattern == 2 && abs(inside.z) > 0.499 && min(abs(inside.x), abs(inside.y)) < 0.05) mark = 0.72;
  float soft = 0.5 + 0.5 * dot(n, light), sky = 0.5 + 0.5 * dot(n, up);
  float gloss = pow(max(dot(n, normalize(light + to)), 0.0), 40.0);
  vec3 lit = tint.rgb * mark * (0.30 + 0.22 * sky + 0.62 * soft * soft) + 0.20 * gloss;
  shown = vec4(min(lit, 1.0) * tint.a, tint.a);
}`;
const LINE_VERTEX = `#version 300 es
in vec2 corner; in vec3 from; in vec3 to; in vec4 colour; in vec2 setting;
uniform mat4 toClip; uniform vec2 window;
out vec4 tint; flat out float tag;
void main() {
  vec4 a = toClip * vec4(from, 1.0), b = toClip * vec4(to, 1.0);
  float near = 1e-4;
  if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
  if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
  vec2 way = (b.xy / b.w - a.xy / a.w) * window;
  vec2 along = length(way) > 1e-6 ? normalize(way) : vec2(1.0, 0.0);
  vec4 p = corner.x < 0.5 ? a : b;
  vec2 shift = vec2(-along.y, along.x) * corner.y + along * (corner.x - 0.5) * 0.8;
  gl_Position = p + vec4(shift * setting.x / window * p.w, -1e-4 * p.w, 0.0);
  tint = colour; tag = setting.y;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint; flat in float tag; uniform int mode; out vec4 shown;
void main() {
  shown = mode == 1 ? vec4(mod(tag, 256.0), mod(floor(tag / 256.0), 256.0), floor(tag / 65536.0), 255.0) / 255.0
    : vec4(tint.rgb * tint.a, tint.a);
}`;
const FLOOR_VERTEX = `#version 300 es
in vec2 corner; uniform mat4 toClip; uniform vec3 centre; uniform vec3 across; uniform vec3 ahead; uniform float reach;
out vec2 place;
void main() {
  place = corner * reach;
  gl_Position = toClip * vec4(centre + place.x * across + place.y * ahead, 1.0);
}`;
const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 place; uniform float spacing; uniform float reach; uniform vec2 offset; uniform vec3 tint; out vec4 shown;
void main() {
  vec2 p = (place + offset) / spacing;
  vec2 wide = max(fwidth(p), vec2(1e-6));
  vec2 near = abs(fract(p + 0.5) - 0.5) / wide;
  float line = 1.0 - min(min(near.x, near.y), 1.0);
  float alpha = line * 0.55 * pow(max(0.0, 1.0 - length(place) / reach), 1.2);
  shown = vec4(tint * alpha, alpha);
}`;

const rgb = (c) => [c[0] / 255, c[1] / 255, c[2] / 255];

function makeProgram(vertex, fragment, attributes) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  attributes.forEach((name, k) => gl.bindAttribLocation(program, k, name));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const places = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k);
    places[name] = gl.getUniformLocation(program, name);
  }
  return { program, places };
}

// Attribute k of the vertex array that is bound: `size` floats out of `stride`, at `offset`.
function attach(k, size, stride, offset, divisor) {
  gl.enableVertexAttribArray(k);
  gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * stride, 4 * offset);
  gl.vertexAttribDivisor(k, divisor);
}

// Numbers that grow during a picture and are sent to the card in one piece.
class Store {
  constructor() {
    this.values = new Float32Array(4096);
    this.length = 0;
    this.buffer = gl && gl.createBuffer();
  }
  room(count) {
    if (this.length + count <= this.values.length) return;
    const larger = new Float32Array(Math.max(2 * this.values.length, this.length + count));
    larger.set(this.values);
    this.values = larger;
  }
  send() {
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.values.subarray(0, this.length), gl.DYNAMIC_DRAW);
  }
}

// Unit shapes: lists of triangles, six numbers a vertex (place, normal).
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
const unitCone = () => turned([[0, 0], [1, 0], [0, 1]], 20);

const INSTANCE = 17; // three rows of a matrix, colour, number
const VERTEX = 11; // place, normal, colour, number
const SHAPES = {}; // name -> what is drawn as instances of it
const LINES = { fields: 12 };
const SKIN = {}; // triangles of tubes and of bodies that deform
const clear = []; // meshes that one can see through, drawn last
let solidProgram;
let lineProgram;
let floorProgram;
let picture = null; // where numbers are drawn for picking

function startDrawing() {
  if (!gl) return;
  const names = ["position", "normal", "row0", "row1", "row2", "colour", "number"];
  solidProgram = makeProgram(SOLID_VERTEX, SOLID_FRAGMENT, names);
  lineProgram = makeProgram(LINE_VERTEX, LINE_FRAGMENT, ["corner", "from", "to", "colour", "setting"]);
  floorProgram = makeProgram(FLOOR_VERTEX, FLOOR_FRAGMENT, ["corner"]);
  const shapes = { box: [unitBox(), 0], sphere: [unitSphere(), 1], cylinder: [unitCylinder(28), 2] };
  const fine = { rod: [unitCylinder(12), 0], knob: [unitSphere(5), 0], cone: [unitCone(), 0] }; // for few pixels
  for (const [name, [triangles, pattern]] of Object.entries({ ...shapes, ...fine })) {
    const shape = { store: new Store(), count: triangles.length / 6, pattern, array: gl.createVertexArray() };
    gl.bindVertexArray(shape.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(triangles), gl.STATIC_DRAW);
    attach(0, 3, 6, 0, 0);
    attach(1, 3, 6, 3, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, shape.store.buffer);
    for (let k = 0; k < 4; k++) attach(2 + k, 4, INSTANCE, 4 * k, 1);
    attach(6, 1, INSTANCE, 16, 1);
    SHAPES[name] = shape;
  }
  Object.assign(LINES, { store: new Store(), array: gl.createVertexArray() });
  gl.bindVertexArray(LINES.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
  attach(0, 2, 2, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, LINES.store.buffer);
  for (const [k, size, offset] of [[1, 3, 0], [2, 3, 3], [3, 4, 6], [4, 2, 10]]) attach(k, size, LINES.fields, offset, 1);
  Object.assign(SKIN, { store: new Store(), array: gl.createVertexArray() });
  gl.bindVertexArray(SKIN.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, SKIN.store.buffer);
  for (const [k, size, offset] of [[0, 3, 0], [1, 3, 3], [5, 4, 6], [6, 1, 10]]) attach(k, size, VERTEX, offset, 0);
  SKIN.floor = gl.createVertexArray();
  gl.bindVertexArray(SKIN.floor);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  attach(0, 2, 2, 0, 0);
  gl.bindVertexArray(null);
}

// Triangles that stay on the card; six numbers a vertex. Drawn where a frame is.
function keepMesh(triangles) {
  const mesh = { count: triangles.length / 6, array: gl.createVertexArray() };
  gl.bindVertexArray(mesh.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(triangles), gl.STATIC_DRAW);
  attach(0, 3, 6, 0, 0);
  attach(1, 3, 6, 3, 0);
  gl.bindVertexArray(null);
  return mesh;
}

function clipMatrix() {
  const [n, f] = [0.02 * camera.distance, 6 * camera.distance + 40 * data.size];
  const [x, y] = [(2 * view.focus) / width, (2 * view.focus) / height];
  const shift = sub(camera.target, view.eye);
  const rows = [scale(x, view.right), scale(y, view.up), scale((f + n) / (f - n), view.ahead), view.ahead];
  const last = [0, 0, (-2 * f * n) / (f - n), 0];
  const matrix = new Float32Array(16);
  rows.forEach((row, i) => {
    for (let j = 0; j < 3; j++) matrix[4 * j + i] = row[j];
    matrix[12 + i] = dot(row, shift) + last[i];
  });
  return matrix;
}

const meshes = []; // those of this picture: mesh, rows, colour, number

function beginPicture() {
  for (const shape of Object.values(SHAPES)) shape.store.length = 0;
  LINES.store.length = 0;
  SKIN.store.length = 0;
  meshes.length = 0;
  clear.length = 0;
}

function drawMeshes(list) {
  for (const { mesh, rows, colour, number } of list) {
    gl.bindVertexArray(mesh.array);
    rows.forEach((row, k) => gl.vertexAttrib4fv(2 + k, row));
    gl.vertexAttrib4fv(5, colour);
    gl.vertexAttrib1f(6, number);
    gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
  }
}

function drawSolids() {
  const { places } = solidProgram;
  for (const shape of Object.values(SHAPES)) {
    if (!shape.store.length) continue;
    gl.uniform1i(places.pattern, shape.pattern);
    gl.bindVertexArray(shape.array);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, shape.count, shape.store.length / INSTANCE);
  }
  gl.uniform1i(places.pattern, 0);
  drawMeshes(meshes);
  if (SKIN.store.length) {
    gl.bindVertexArray(SKIN.array);
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]].forEach((row, k) => gl.vertexAttrib4fv(2 + k, row));
    gl.drawArrays(gl.TRIANGLES, 0, SKIN.store.length / VERTEX);
  }
}

function drawLines(matrix, mode) {
  if (!LINES.store.length) return;
  gl.useProgram(lineProgram.program);
  gl.uniformMatrix4fv(lineProgram.places.toClip, false, matrix);
  gl.uniform2f(lineProgram.places.window, width, height);
  gl.uniform1i(lineProgram.places.mode, mode);
  gl.bindVertexArray(LINES.array);
  gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, LINES.store.length / LINES.fields);
}

function useSolids(matrix, mode) {
  const { program, places } = solidProgram;
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.toClip, false, matrix);
  gl.uniform3fv(places.up, UP);
  gl.uniform1f(places.level, floor - dot(camera.target, UP));
  gl.uniform1i(places.flatten, mode === 2 ? 1 : 0);
  gl.uniform1i(places.mode, mode);
  gl.uniform3fv(places.light, view.light);
  gl.uniform3fv(places.eye, sub(view.eye, camera.target));
  gl.uniform4fv(places.shadow, [...rgb(theme.shadow), theme.depth]);
}

function drawFloor(matrix) {
  const { program, places } = floorProgram;
  const centre = world(middle[0], middle[1], floor);
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.toClip, false, matrix);
  gl.uniform3fv(places.centre, sub(centre, camera.target));
  gl.uniform3fv(places.across, RIGHT);
  gl.uniform3fv(places.ahead, AWAY);
  gl.uniform1f(places.reach, gridReach);
  gl.uniform1f(places.spacing, spacing);
  gl.uniform2f(places.offset, middle[0] % spacing, middle[1] % spacing);
  gl.uniform3fv(places.tint, rgb(theme.grid));
  gl.bindVertexArray(SKIN.floor);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
}

// Send what was collected and draw it: floor, its shadows, solids, lines, and what one can see through.
function endPicture() {
  for (const { store } of [...Object.values(SHAPES), LINES, SKIN]) if (store.length) store.send();
  const matrix = clipMatrix();
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.disable(gl.DEPTH_TEST);
  drawFloor(matrix);
  gl.enable(gl.STENCIL_TEST); // each place of the floor is shaded once
  gl.stencilFunc(gl.EQUAL, 0, 255);
  gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
  useSolids(matrix, 2);
  drawSolids();
  gl.disable(gl.STENCIL_TEST);
  gl.enable(gl.DEPTH_TEST);
  useSolids(matrix, 0);
  drawSolids();
  drawLines(matrix, 0);
  gl.depthMask(false);
  useSolids(matrix, 0);
  drawMeshes(clear);
  gl.depthMask(true);
  gl.bindVertexArray(null);
}

// The number of what is drawn at a place of the window: 0 for nothing.
const pick = (x, y) => numbersIn(Math.round(x), Math.round(height) - 1 - Math.round(y), 1, 1)[0];

// The numbers of what is drawn in a part of the window, counted from its lower left corner.
function numbersIn(left, bottom, wide, high) {
  const matrix = clipMatrix();
  if (!picture) {
    picture = { frame: gl.createFramebuffer(), colour: gl.createTexture(), depth: gl.createRenderbuffer() };
  }
  const [w, h] = [Math.round(width), Math.round(height)];
  gl.bindTexture(gl.TEXTURE_2D, picture.colour);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, w, h, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  gl.bindRenderbuffer(gl.RENDERBUFFER, picture.depth);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h);
  gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture.colour, 0);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, picture.depth);
  gl.viewport(0, 0, w, h);
  gl.disable(gl.BLEND);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  useSolids(matrix, 1);
  drawSolids();
  drawLines(matrix, 1);
  const found = new Uint8Array(4 * wide * high);
  gl.readPixels(left, bottom, wide, high, gl.RGBA, gl.UNSIGNED_BYTE, found);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.bindVertexArray(null);
  state.stale = true;
  return Array.from({ length: wide * high }, (_, k) => found[4 * k] + 256 * found[4 * k + 1] + 65536 * found[4 * k + 2]);
}
