// The renderer: programs for solids, lines and the floor. Solids of a kind are copies of one unit shape, drawn in one call,
// coarser where they are small; meshes keep their triangles on the card; tubes and skins are filled anew for each picture.
// All places are sent relative to the camera's target, so that a mechanism far from the origin stays sharp.

// Whether pictures are computed by the processor. Smooth edges would more than double the time of a picture there: it draws
// them only when the picture stands still (`smoothed`).
function drawnByProcessor() {
  const probe = document.createElement("canvas").getContext("webgl2");
  const known = probe && probe.getExtension("WEBGL_debug_renderer_info");
  return Boolean(known) && /swiftshader|llvmpipe|softpipe|software/i.test(probe.getParameter(known.UNMASKED_RENDERER_WEBGL));
}

const antialias = !drawnByProcessor();
const gl = canvas.getContext("webgl2", { antialias, alpha: true, premultipliedAlpha: true, stencil: true });

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
function attach(k, size, stride, offset) {
  gl.enableVertexAttribArray(k);
  gl.vertexAttribPointer(k, size, gl.FLOAT, false, 4 * stride, 4 * offset);
}

const INSTANCE = 20; // three rows of a matrix, colour, number, and three that are not used
const LINE = 12; // both ends, colour, width, number
const VERTEX = 11; // place, normal, colour, number
const SHAPES = {}; // name -> copies of it
const LINES = {};
const SKIN = {}; // triangles of tubes and of bodies that deform
const clear = []; // meshes that one can see through, drawn last
let shapeProgram; // of unit shapes
let meshProgram; // of meshes and skins
let lineProgram;
let floorProgram;
let picture = null; // where numbers are drawn for picking

// Unit shapes by name, each in levels: the pixels of the radius up to which it serves, its triangles, and the pattern that
// shows how it turns. Outlines are half a pixel off where a level ends.
const LEVELS = [[4, 6], [10, 10], [26, 16], [60, 24], [Infinity, 40]]; // pixels, sides around
const KINDS = () => ({
  box: [[Infinity, unitBox(), 0]],
  ball: LEVELS.map(([most, n]) => [most, unitSphere(n / 2), n < 16 ? 0 : 1]),
  bar: LEVELS.map(([most, n]) => [most, unitPipe(n), 0]), // its ends are hidden
  cylinder: LEVELS.map(([most, n]) => [most, unitCylinder(n), n < 10 ? 0 : 2]),
  cone: LEVELS.map(([most, n]) => [most, unitCone(n), 0]),
});

function startDrawing() {
  if (!gl) return;
  shapeProgram = makeProgram(LOOK_UP + SOLID_VERTEX, SOLID_FRAGMENT, []);
  meshProgram = makeProgram(PLAIN + SOLID_VERTEX, SOLID_FRAGMENT,
    ["position", "normal", "row0", "row1", "row2", "colour", "number"]);
  lineProgram = makeProgram(LINE_VERTEX, LINE_FRAGMENT, []);
  floorProgram = makeProgram(FLOOR_VERTEX, FLOOR_FRAGMENT, ["corner"]);
  for (const [name, levels] of Object.entries(KINDS())) {
    SHAPES[name] = levels.map(([most, triangles, pattern]) => {
      const { vertices, corners } = indexed(triangles);
      const copies = Object.assign(new Copies(corners, vertices.length / 6), { most, pattern, shape: new Records() });
      copies.shape.room((4 * vertices.length) / 3);
      for (let k = 0; k < vertices.length; k += 3, copies.shape.length += 4) {
        copies.shape.values.set(vertices.slice(k, k + 3), copies.shape.length);
      }
      copies.shape.send();
      return copies;
    });
  }
  LINES.copies = new Copies([0, 1, 2, 2, 1, 3], 4);
  const corners = new Store(Uint32Array, gl.ELEMENT_ARRAY_BUFFER);
  Object.assign(SKIN, { store: new Store(), corners, array: gl.createVertexArray() });
  gl.bindVertexArray(SKIN.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, SKIN.store.buffer);
  for (const [k, size, offset] of [[0, 3, 0], [1, 3, 3], [5, 4, 6], [6, 1, 10]]) attach(k, size, VERTEX, offset);
  SKIN.floor = gl.createVertexArray();
  gl.bindVertexArray(SKIN.floor);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  attach(0, 2, 2, 0);
  gl.bindVertexArray(null);
}

// Triangles that stay on the card; six numbers a vertex. Drawn where a frame is.
function keepMesh(triangles) {
  const { vertices, corners } = indexed(triangles);
  const mesh = { count: corners.length, array: gl.createVertexArray() };
  gl.bindVertexArray(mesh.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(corners), gl.STATIC_DRAW);
  attach(0, 3, 6, 0);
  attach(1, 3, 6, 3);
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

const allCopies = () => [...Object.values(SHAPES).flat(), LINES.copies];

function beginPicture() {
  for (const copies of allCopies()) copies.store.length = copies.clear.length = 0;
  SKIN.store.length = SKIN.corners.length = 0;
  meshes.length = 0;
  clear.length = 0;
}

function drawMeshes(list) {
  for (const { mesh, rows, colour, number } of list) {
    gl.bindVertexArray(mesh.array);
    rows.forEach((row, k) => gl.vertexAttrib4fv(2 + k, row));
    gl.vertexAttrib4fv(5, colour);
    gl.vertexAttrib1f(6, number);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
  }
}

// What modes of the solid programs draw.
const [COLOURS, NUMBERS, SHADOWS] = [0, 1, 2];

function drawShapes(matrix, mode, which) {
  const { places } = useSolids(shapeProgram, matrix, mode);
  gl.uniform1i(places.vertices, 1);
  gl.enable(gl.CULL_FACE); // all of them are closed
  for (const levels of Object.values(SHAPES)) {
    levels.forEach(({ [which]: store }, k) => {
      if (!store.length) return;
      const copies = levels[mode === SHADOWS ? Math.max(k - 1, 0) : k];
      gl.uniform1i(places.pattern, copies.pattern);
      gl.uniform1i(places.count, copies.count);
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, copies.shape.texture);
      copies.draw(places, INSTANCE, store);
    });
  }
  gl.disable(gl.CULL_FACE);
}

function drawSolids(matrix, mode) {
  drawShapes(matrix, mode, "store");
  if (!meshes.length && !SKIN.store.length) return;
  useSolids(meshProgram, matrix, mode);
  drawMeshes(meshes);
  if (SKIN.store.length) {
    gl.bindVertexArray(SKIN.array);
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]].forEach((row, k) => gl.vertexAttrib4fv(2 + k, row));
    gl.drawElements(gl.TRIANGLES, SKIN.corners.length, gl.UNSIGNED_INT, 0);
  }
}

function drawLines(matrix, mode) {
  if (!LINES.copies.store.length) return;
  gl.useProgram(lineProgram.program);
  gl.uniformMatrix4fv(lineProgram.places.toClip, false, matrix);
  gl.uniform2f(lineProgram.places.window, width, height);
  gl.uniform1i(lineProgram.places.mode, mode);
  LINES.copies.draw(lineProgram.places, LINE);
}

function useSolids(used, matrix, mode) {
  const { program, places } = used;
  gl.useProgram(program);
  gl.uniformMatrix4fv(places.toClip, false, matrix);
  gl.uniform3fv(places.up, UP);
  gl.uniform1f(places.level, floor - dot(camera.target, UP));
  gl.uniform1i(places.flatten, mode === SHADOWS ? 1 : 0);
  gl.uniform1i(places.mode, mode);
  gl.uniform1i(places.pattern, 0);
  gl.uniform3fv(places.light, view.light);
  gl.uniform3fv(places.eye, sub(view.eye, camera.target));
  gl.uniform4fv(places.shadow, [...rgb(theme.shadow), theme.depth]);
  return used;
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

// Where a picture with smooth edges is drawn before it is shown; four samples a pixel.
const smoothed = { frame: null, wide: 0, high: 0 };
function bindSmoothed() {
  const { width: wide, height: high } = canvas;
  if (!smoothed.frame) {
    Object.assign(smoothed, { frame: gl.createFramebuffer(), colour: gl.createRenderbuffer(), depth: gl.createRenderbuffer() });
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, smoothed.frame);
  if (wide === smoothed.wide && high === smoothed.high) return;
  Object.assign(smoothed, { wide, high });
  const samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
  for (const [buffer, format, place] of [
    [smoothed.colour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [smoothed.depth, gl.DEPTH24_STENCIL8, gl.DEPTH_STENCIL_ATTACHMENT],
  ]) {
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, wide, high);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
  }
}

// Send what was collected and draw it; with smooth edges also where the processor draws, if they are asked for.
function endPicture(smooth) {
  for (const store of allCopies().flatMap((copies) => [copies.store, copies.clear])) if (store.length) store.send();
  gl.bindVertexArray(SKIN.array); // which keeps the buffer of the corners
  for (const store of [SKIN.store, SKIN.corners]) if (store.length) store.send();
  if (antialias || !smooth) {
    drawPicture();
    return;
  }
  bindSmoothed();
  drawPicture();
  const [wide, high] = [canvas.width, canvas.height];
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
  gl.blitFramebuffer(0, 0, wide, high, 0, 0, wide, high, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
}

// Floor, its shadows, solids, lines, and what one can see through.
function drawPicture() {
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
  drawSolids(matrix, SHADOWS);
  gl.disable(gl.STENCIL_TEST);
  gl.enable(gl.DEPTH_TEST);
  drawSolids(matrix, COLOURS);
  drawLines(matrix, COLOURS);
  gl.depthMask(false);
  drawShapes(matrix, COLOURS, "clear");
  useSolids(meshProgram, matrix, COLOURS);
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
  drawSolids(matrix, NUMBERS);
  drawLines(matrix, NUMBERS);
  const found = new Uint8Array(4 * wide * high);
  gl.readPixels(left, bottom, wide, high, gl.RGBA, gl.UNSIGNED_BYTE, found);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.bindVertexArray(null);
  state.stale = true;
  return Array.from({ length: wide * high }, (_, k) => found[4 * k] + 256 * found[4 * k + 1] + 65536 * found[4 * k + 2]);
}
