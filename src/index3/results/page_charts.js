// Small charts: against time, with a cursor at the present; and along the axis of a beam, at the present time. Dragging in
// the former moves the time.

function ticksOf(low, high, count) {
  const step = nice((high - low) / count);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-5); k <= high / step + 1e-5; k++) list.push(k * step); // times are float32
  return list;
}

const short = (x) => {
  const size = Math.abs(x);
  if (size === 0) return "0";
  return size >= 1e5 || size < 1e-3 ? x.toExponential(0).replace("e+", "e") : String(Number(x.toPrecision(4)));
};
const reading = (x) => {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-2 ? x.toExponential(2).replace("e+", "e") : x.toPrecision(4);
};
const power = (x) => `10${String(x).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]))}`;

// Axes, legend and pens of a chart. `from` and `to` bound the horizontal axis, `unit` is that of its numbers.
class Chart {
  constructor(id, shown, names, colours, { from, to, unit, logarithmic = false }) {
    Object.assign(this, { names, colours, from, to, unit, logarithmic, element: document.getElementById(id) });
    this.pen = this.element.getContext("2d");
    this.still = document.createElement("canvas"); // everything that does not move
    this.brush = this.still.getContext("2d");
    this.margin = { left: 44, right: 8, top: 6, bottom: 20 };
    [this.w, this.h, this.ratio] = [1, 1, 1];
    this.bound(shown);
    const legend = document.getElementById(`${id.replace(/s$/, "")}-legend`);
    legend.replaceChildren();
    this.readings = names.map((name, k) => {
      const cell = document.createElement("div");
      cell.innerHTML = "<i></i><span></span><b></b>";
      cell.querySelector("span").textContent = name;
      legend.append(cell);
      return { dot: cell.querySelector("i"), text: cell.querySelector("b"), k };
    });
  }

  // The vertical axis shows all values.
  bound(shown) {
    let [low, high] = [Infinity, -Infinity];
    for (const x of shown) if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
    if (low > high) [low, high] = [0, 1];
    if (this.logarithmic) {
      low = Math.floor(low);
      high = Math.max(Math.ceil(high), low + 1);
    } else {
      const room = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
      [low, high] = [low - room, high + room];
    }
    [this.low, this.high] = [low, high];
  }
  xOf(x) {
    return this.margin.left + ((this.w - this.margin.left - this.margin.right) * (x - this.from)) / (this.to - this.from || 1);
  }
  yOf(y) {
    return this.h - this.margin.bottom - ((this.h - this.margin.top - this.margin.bottom) * (y - this.low)) / (this.high - this.low);
  }

  drawStill() {
    const { brush, margin, w, h, low, high, logarithmic } = this;
    brush.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    brush.clearRect(0, 0, w, h);
    brush.font = "11px system-ui, sans-serif";
    brush.lineWidth = 1;
    brush.strokeStyle = css(theme.line);
    brush.fillStyle = css(theme.soft);
    brush.textAlign = "right";
    brush.textBaseline = "middle";
    for (const y of ticksOf(low, high, 4)) {
      if (logarithmic && Math.abs(y - Math.round(y)) > 1e-9) continue;
      brush.beginPath();
      brush.moveTo(margin.left, this.yOf(y));
      brush.lineTo(w - margin.right, this.yOf(y));
      brush.stroke();
      brush.fillText(logarithmic ? power(Math.round(y)) : short(y), margin.left - 6, this.yOf(y));
    }
    brush.textBaseline = "top";
    brush.textAlign = "center";
    let free = w; // from the right: a label that would touch the one after it is left out
    ticksOf(this.from, this.to, 4).reverse().forEach((x, k) => {
      const text = k ? short(x) : `${short(x)} ${this.unit}`;
      const half = brush.measureText(text).width / 2;
      const at = Math.min(this.xOf(x), w - 1 - half);
      if (at + half > free) return;
      brush.fillText(text, at, h - margin.bottom + 6);
      free = at - half - 6;
    });
    for (const { dot, k } of this.readings) dot.style.background = css(theme.series[this.colours[k]]);
  }

  // A curve of one colour; place and value of its points by number.
  drawCurve(pen, k, count, x, y) {
    pen.lineJoin = "round";
    pen.lineWidth = 1.7;
    pen.strokeStyle = css(theme.series[this.colours[k]]);
    pen.beginPath();
    for (let i = 0; i < count; i++) pen.lineTo(this.xOf(x(i)), this.yOf(y(i)));
    pen.stroke();
  }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    [this.w, this.h] = [this.element.clientWidth, this.element.clientHeight];
    for (const target of [this.element, this.still]) {
      target.width = Math.round(this.w * this.ratio);
      target.height = Math.round(this.h * this.ratio);
    }
    this.drawStill();
  }

  draw() {
    const { pen } = this;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.element.width, this.element.height);
    pen.drawImage(this.still, 0, 0);
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  drawDot(k, x, y) {
    const { pen } = this;
    pen.fillStyle = css(theme.series[this.colours[k]]);
    pen.strokeStyle = css(theme.card);
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(this.xOf(x), this.yOf(y), 4, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }
  seek() {}
}

const SMALLEST = 1e-17; // residuals below rounding, zero included, are drawn here

// values: one column per name, frame by frame.
class TimeChart extends Chart {
  constructor(id, values, names, colours, logarithmic) {
    const shown = logarithmic ? values.map((x) => Math.log10(Math.max(x, SMALLEST))) : values;
    super(id, shown, names, colours, { from: tStart, to: tEnd, unit: "s", logarithmic });
    [this.values, this.shown] = [values, shown];
  }
  drawStill() {
    super.drawStill();
    const wide = this.names.length;
    this.names.forEach((_, k) => this.drawCurve(this.brush, k, frameCount, (i) => times[i], (i) => this.shown[wide * i + k]));
  }
  draw(t) {
    super.draw();
    const { pen, margin } = this;
    const wide = this.names.length;
    const i = frameAt(t);
    const j = Math.min(i + 1, frameCount - 1);
    const s = times[j] > times[i] ? (t - times[i]) / (times[j] - times[i]) : 0;
    pen.strokeStyle = css(theme.ink, 0.55);
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(this.xOf(t), margin.top);
    pen.lineTo(this.xOf(t), this.h - margin.bottom);
    pen.stroke();
    for (const { k, text } of this.readings) {
      const y = (1 - s) * this.shown[wide * i + k] + s * this.shown[wide * j + k];
      this.drawDot(k, t, y);
      text.textContent = reading(this.logarithmic ? this.values[wide * i + k] : y);
    }
  }
  seek(event, go) {
    const part = (event.offsetX - this.margin.left) / (this.w - this.margin.left - this.margin.right);
    go(tStart + Math.min(1, Math.max(0, part)) * (tEnd - tStart));
  }
}

// values: at equal distances along the axis of a beam, one column per name, place by place and frame by frame. A dot and the
// legend show the largest magnitude at the present time; the vertical axis holds for the whole motion.
class AlongChart extends Chart {
  constructor(id, values, names, colours, length) {
    super(id, values, names, colours, { from: 0, to: length, unit: "m" });
    [this.values, this.places] = [values, values.length / (frameCount * names.length)];
  }
  draw(t) {
    super.draw();
    moveTo(t);
    const { places, pen } = this;
    const wide = this.names.length;
    const x = (i) => (this.to * i) / (places - 1);
    pen.strokeStyle = css(theme.ink, 0.4);
    pen.lineWidth = 1;
    pen.beginPath();
    for (const end of [this.from, this.to]) if (this.low < 0 && this.high > 0) pen.lineTo(this.xOf(end), this.yOf(0));
    pen.stroke();
    for (const { k, text } of this.readings) {
      const y = (i) => valueOf(this.values, places * wide, wide * i + k);
      this.drawCurve(pen, k, places, x, y);
      let largest = 0;
      for (let i = 1; i < places; i++) if (Math.abs(y(i)) > Math.abs(y(largest))) largest = i;
      this.drawDot(k, x(largest), y(largest));
      text.textContent = reading(y(largest));
    }
  }
}
