// What is sent to the card for each picture.

// Numbers that grow during a picture and are sent to the card in one piece.
class Store {
  constructor(kind = Float32Array, target = gl && gl.ARRAY_BUFFER) {
    this.values = new kind(4096);
    this.length = 0;
    this.target = target;
    this.buffer = gl && gl.createBuffer();
  }
  room(count) {
    while (this.length + count > this.values.length) {
      const larger = new this.values.constructor(2 * this.values.length);
      larger.set(this.values);
      this.values = larger;
    }
  }
  send() {
    gl.bindBuffer(this.target, this.buffer);
    gl.bufferData(this.target, this.values.subarray(0, this.length), gl.DYNAMIC_DRAW);
  }
}

// Numbers that vertices look up: a texture of four numbers a place and 1024 places a row.
const ROW = 4096;
class Records extends Store {
  constructor() {
    super();
    this.texture = gl && gl.createTexture();
    this.rows = 0;
  }
  send() {
    const rows = Math.ceil(this.length / ROW);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    if (rows > this.rows) {
      this.rows = this.values.length / ROW; // they grow to twice their number, whole rows
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 1024, this.rows, 0, gl.RGBA, gl.FLOAT, null);
      for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    }
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1024, rows, gl.RGBA, gl.FLOAT, this.values);
  }
}

// Copies of a shape in one call: the corners of its triangles are written once for each copy.
class Copies {
  constructor(corners, count) {
    Object.assign(this, { corners, count, buffer: gl.createBuffer(), array: gl.createVertexArray() });
    [this.store, this.clear] = [new Records(), new Records()]; // of solid ones, and of those that one can see through
    this.written = 0;
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffer);
  }
  draw(places, fields, store = this.store) {
    const number = store.length / fields;
    gl.bindVertexArray(this.array);
    if (number > this.written) {
      this.written = Math.max(number, 2 * this.written);
      const all = new Uint32Array(this.written * this.corners.length);
      for (let k = 0, at = 0; k < this.written; k++) for (const corner of this.corners) all[at++] = this.count * k + corner;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, all, gl.STATIC_DRAW);
    }
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, store.texture);
    gl.uniform1i(places.records, 0);
    gl.drawElements(gl.TRIANGLES, number * this.corners.length, gl.UNSIGNED_INT, 0);
  }
}
