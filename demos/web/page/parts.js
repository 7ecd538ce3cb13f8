// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the parts of the page share.

export const byId = (id) => document.getElementById(id);

/// Bytes of a file of this folder; null if there is none.
export async function bytesOf(file) {
  const response = await fetch(file);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${file}: the server says ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/// A network, or a game around one, as a WebAssembly module.
export class Module {
  static async open(file) {
    const bytes = await bytesOf(file);
    if (bytes === null) return null;
    const { instance } = await WebAssembly.instantiate(bytes, {});
    instance.exports._initialize();
    return new Module(instance.exports);
  }

  constructor(exports) { this.exports = exports; }

  /// Numbers of the module's memory, in place.  Memory does not grow: views stay good.
  floats(at, count) { return new Float32Array(this.exports.memory.buffer, at, count); }
  integers(at, count) { return new Int32Array(this.exports.memory.buffer, at, count); }
  bytes(at, count) { return new Uint8Array(this.exports.memory.buffer, at, count); }

  /// Calls what returns 0, or else left a sentence.
  call(name, ...values) {
    if (this.exports[name](...values) === 0) return;
    throw new Error(this.text(this.exports.error_text()));
  }

  /// The string of at most 255 bytes that begins there and ends with a zero.
  text(at) {
    const bytes = this.bytes(at, 256);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  loadBrain(brain) {
    const most = this.exports.most_brain_bytes();
    if (brain.length === 0 || brain.length > most)
      throw new Error(`the file has ${brain.length.toLocaleString("en")} bytes, a brain of this network at most ` +
        most.toLocaleString("en"));
    this.bytes(this.exports.brain(), brain.length).set(brain);
    this.call("load", brain.length);
  }

  saveBrain() {
    this.call("save");
    return this.bytes(this.exports.brain(), this.exports.brain_bytes()).slice();
  }
}

export function say(part, text, isWrong = false) {
  const message = byId(`${part}-message`);
  message.textContent = text;
  message.classList.toggle("wrong", isWrong);
}

/// Buttons "Save" and "Load" of a part.
export function offerBrains(part, module, afterLoad) {
  byId(`${part}-save`).onclick = () => {
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([module.saveBrain()]));
      link.download = `${part}.brain`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) { say(part, `The brain was not saved: ${error.message}.`, true); }
  };
  byId(`${part}-load`).onchange = async (event) => {
    const file = event.target.files[0];
    if (file === undefined) return;
    try {
      module.loadBrain(new Uint8Array(await file.arrayBuffer()));
      say(part, `It goes on from ${file.name}.`);
      afterLoad();
    } catch (error) { say(part, `${file.name} was not loaded: ${error.message}.`, true); }
    event.target.value = "";
  };
}

/// Draws values as a curve, on a scale of powers of ten.
export function drawCurve(canvas, values, title, color) {
  const g = canvas.getContext("2d"), { width, height } = canvas;
  g.clearRect(0, 0, width, height);
  g.fillStyle = "#857a70";
  g.font = "22px system-ui, 'DejaVu Sans', sans-serif";
  g.fillText(title, 16, 32);
  if (values.length < 2) return;
  const logs = values.map((v) => Math.log10(Math.max(v, 1e-6)));
  const low = Math.min(...logs), high = Math.max(...logs, low + 0.3);
  const y = (v) => height - 18 - (height - 66) * (v - low) / (high - low);
  g.beginPath();
  logs.forEach((v, i) => g.lineTo(16 + (width - 32) * i / (logs.length - 1), y(v)));
  g.strokeStyle = color;
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.stroke();
  const last = values[values.length - 1].toPrecision(2);
  g.fillStyle = color;
  g.textAlign = "right";
  g.fillText(last, width - 16, 32);
  g.textAlign = "left";
}

/// Values that add up to 1.
export function softmax(scores) {
  const most = Math.max(...scores);
  const parts = Array.from(scores, (s) => Math.exp(s - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((p) => p / sum);
}

export const placeOfMost = (values) => values.reduce((best, v, i) => (v > values[best] ? i : best), 0);

/// Half a cosine, from 1 to nothing.
export const fallingRate = (step, steps) => 0.5 * (1 + Math.cos(Math.PI * step / steps));

/// Steps on a correction, and images in each.
export const kCorrectionSteps = 32, kBatch = 32;
export const kRate = 1e-3;

/// A network of ten classes that reads and learns, as wasm/page.h exports it.
export class Classifier {
  constructor(module, pixels, brain) {
    const { exports } = module, rows = exports.most_rows();
    this.module = module;
    this.pixels = pixels;
    this.images = module.floats(exports.images(), rows * pixels);
    this.labels = module.integers(exports.labels(), rows);
    this.scores = module.floats(exports.scores(), rows * 10);
    this.corrections = [];
    this.losses = [];
    this.steps = 0;
    module.call("forget");
    module.loadBrain(brain);
  }

  setRow(row, image, label) {
    this.images.set(image, row * this.pixels);
    this.labels[row] = label;
  }

  /// The ten classes' parts for one image.
  read(image) {
    this.images.set(image);
    this.module.call("read", 1);
    return softmax(this.scores.slice(0, 10));
  }

  /// How many of the first rows, images with labels, it reads right.
  countRight(rows) {
    this.module.call("read", rows);
    let right = 0;
    for (let row = 0; row < rows; ++row)
      right += placeOfMost([...this.scores.subarray(row * 10, row * 10 + 10)]) === this.labels[row];
    return right;
  }

  /// Learns that this image has this label, beside the last corrections and examples: twice in each batch, at a rate
  /// that falls to nothing, so that what it knew comes back to where it was.
  /// fill(first, end): sets those rows to examples.  pause(step): called after each step.
  async correct(image, label, fill, pause) {
    this.corrections.push({ image, label });
    const shown = [{ image, label }, ...this.corrections.slice(-8)];
    const before = this.read(image)[label];
    for (let step = 0; step < kCorrectionSteps; ++step) {
      shown.forEach((c, row) => this.setRow(row, c.image, c.label));
      fill(shown.length, kBatch);
      this.learn(kBatch, kRate * fallingRate(step, kCorrectionSteps));
      await pause(step);
    }
    return { before, after: this.read(image)[label] };
  }

  /// One step on what is in images and labels; returns the loss.
  learn(rows, rate = kRate) {
    const begin = performance.now();
    this.module.call("learn", rows, rate);
    this.stepTime = performance.now() - begin;
    ++this.steps;
    const loss = this.module.exports.loss();
    this.losses.push(loss);
    if (this.losses.length > 400) this.losses.shift();
    return loss;
  }
}

/// A canvas to draw on.  strokes: lists of points [x, y] in [0, 1].
export class DrawingPad {
  /// onChange: called after each point and after clear().
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.strokes = [];
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.strokes.push([at(event)]);
      this.draw();
    };
    canvas.onpointermove = (event) => {
      if (event.buttons === 0 || this.strokes.length === 0) return;
      this.strokes[this.strokes.length - 1].push(at(event));
      this.draw();
      onChange();
    };
    canvas.onpointerup = () => onChange();
  }

  get isEmpty() { return this.strokes.length === 0; }

  set(strokes) {
    this.strokes = strokes;
    this.draw();
    this.onChange();
  }
  clear() { this.set([]); }

  draw() {
    const { canvas } = this, g = canvas.getContext("2d");
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.strokeStyle = "#ffeed6";
    g.lineWidth = canvas.dataset.pen;
    g.lineCap = g.lineJoin = "round";
    for (const stroke of this.strokes) {
      g.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) g.lineTo(x * canvas.width, y * canvas.height);
      g.stroke();
    }
  }
}

/// Shows what a network of square images sees; null: nothing.
export function showImage(canvas, image) {
  const g = canvas.getContext("2d"), side = canvas.width, data = g.createImageData(side, side);
  for (let p = 0; p < side * side; ++p)
    data.data.set([255, 238, 214, image === null ? 0 : Math.round(255 * image[p])], 4 * p);
  g.putImageData(data, 0, 0);
}
