// Small charts with a cursor at the present time; dragging in them moves the time.

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

// values: one column per name, frame by frame.
function makeChart(id, values, names, colours, logarithmic) {
  const element = document.getElementById(id);
  const pen = element.getContext("2d");
  const wide = names.length;
  const legend = document.getElementById(`${id.replace(/s$/, "")}-legend`);
  legend.replaceChildren();
  const still = document.createElement("canvas"); // everything but the cursor
  const brush = still.getContext("2d");
  const margin = { left: 44, right: 8, top: 6, bottom: 20 };
  const readings = names.map((name, k) => {
    const cell = document.createElement("div");
    cell.innerHTML = "<i></i><span></span><b></b>";
    cell.querySelector("span").textContent = name;
    legend.append(cell);
    return { dot: cell.querySelector("i"), text: cell.querySelector("b"), k };
  });
  const smallest = 1e-17; // residuals below rounding, zero included, are drawn here
  const shown = logarithmic ? values.map((x) => Math.log10(Math.max(x, smallest))) : values;
  const finite = shown.filter(Number.isFinite);
  let low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  let high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!finite.length) [low, high] = [0, 1];
  if (logarithmic) {
    low = Math.floor(low);
    high = Math.max(Math.ceil(high), low + 1);
  } else {
    const room = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
    low -= room;
    high += room;
  }
  let [w, h, ratio] = [1, 1, 1];
  const xOf = (t) => margin.left + ((w - margin.left - margin.right) * (t - tStart)) / (tEnd - tStart || 1);
  const yOf = (y) => h - margin.bottom - ((h - margin.top - margin.bottom) * (y - low)) / (high - low);

  function drawStill() {
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
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
      brush.moveTo(margin.left, yOf(y));
      brush.lineTo(w - margin.right, yOf(y));
      brush.stroke();
      brush.fillText(logarithmic ? power(Math.round(y)) : short(y), margin.left - 6, yOf(y));
    }
    brush.textBaseline = "top";
    brush.textAlign = "center";
    let free = w; // from the right: a label that would touch the one after it is left out
    ticksOf(tStart, tEnd, 4).reverse().forEach((t, k) => {
      const text = k ? short(t) : `${short(t)} s`;
      const half = brush.measureText(text).width / 2;
      const x = Math.min(xOf(t), w - 1 - half);
      if (x + half > free) return;
      brush.fillText(text, x, h - margin.bottom + 6);
      free = x - half - 6;
    });
    brush.lineJoin = "round";
    brush.lineWidth = 1.7;
    names.forEach((_, k) => {
      brush.strokeStyle = css(theme.series[colours[k]]);
      brush.beginPath();
      for (let i = 0; i < frameCount; i++) brush.lineTo(xOf(times[i]), yOf(shown[wide * i + k]));
      brush.stroke();
      readings[k].dot.style.background = css(theme.series[colours[k]]);
    });
  }

  function resize() {
    ratio = window.devicePixelRatio || 1;
    [w, h] = [element.clientWidth, element.clientHeight];
    for (const target of [element, still]) {
      target.width = Math.round(w * ratio);
      target.height = Math.round(h * ratio);
    }
    drawStill();
  }

  function draw(t) {
    const i = frameAt(t);
    const j = Math.min(i + 1, frameCount - 1);
    const s = times[j] > times[i] ? (t - times[i]) / (times[j] - times[i]) : 0;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, element.width, element.height);
    pen.drawImage(still, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.strokeStyle = css(theme.ink, 0.55);
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(xOf(t), margin.top);
    pen.lineTo(xOf(t), h - margin.bottom);
    pen.stroke();
    for (const { k, text } of readings) {
      const y = (1 - s) * shown[wide * i + k] + s * shown[wide * j + k];
      pen.fillStyle = css(theme.series[colours[k]]);
      pen.strokeStyle = css(theme.card);
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(xOf(t), yOf(y), 4, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      text.textContent = reading(logarithmic ? values[wide * i + k] : y);
    }
  }

  const seek = (event, go) => {
    const part = (event.offsetX - margin.left) / (w - margin.left - margin.right);
    go(tStart + Math.min(1, Math.max(0, part)) * (tEnd - tStart));
  };
  return { resize, draw, element, seek };
}
