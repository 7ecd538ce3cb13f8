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
    const text = this.bytes(this.exports.error_text(), 256);
    throw new Error(new TextDecoder().decode(text.slice(0, text.indexOf(0))));
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
