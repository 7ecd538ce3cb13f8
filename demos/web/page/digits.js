// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draw a digit: the network reads it, and learns from corrections.

import { GpuNetwork } from "./webgpu.js";
import {
  Classifier, DrawingPad, Module, bytesOf, byId, drawCurve, fallingRate, kBatch, kCorrectionSteps, kRate, offerBrains,
  placeOfMost, say, showImage,
} from "./parts.js";

const kPixels = 64, kBytesOfDigit = 65, kTrainCount = 1437;

/// What a drawing is for the network: strokes in a box of 32 by 32 points, of which it gets the number that are
/// inked in each of 8 by 8 squares, as the digits that it learned from were made (Alpaydin and Kaynak, 1998).
function imageOf(strokes) {
  const points = strokes.flat();
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const kPen = 5.8, kScale = 4, size = 32 * kScale;
  const scale = (32 - kPen) / Math.max(bottom - top, right - left, 0.05);
  const canvas = new OffscreenCanvas(size, size), g = canvas.getContext("2d");
  g.scale(kScale, kScale);
  g.lineWidth = kPen;
  g.lineCap = g.lineJoin = "round";
  for (const stroke of strokes) {
    g.beginPath();
    for (const [x, y] of [stroke[0], ...stroke])
      g.lineTo(16 + (x - (left + right) / 2) * scale, 16 + (y - (top + bottom) / 2) * scale);
    g.stroke();
  }
  const ink = g.getImageData(0, 0, size, size).data;
  const image = new Float32Array(kPixels);
  for (let y = 0; y < 32; ++y)
    for (let x = 0; x < 32; ++x) {
      const at = ((y * kScale + kScale / 2) * size + x * kScale + kScale / 2) * 4 + 3;
      if (ink[at] > 127) image[(y >> 2) * 8 + (x >> 2)] += 1 / 16;
    }
  return image;
}

export class Digits extends Classifier {
  static async open() {
    const [module, brain, known] =
      await Promise.all([Module.open("digits.wasm"), bytesOf("digits.brain"), bytesOf("digits.bin")]);
    if (module === null || brain === null || known === null)
      throw new Error("digits.wasm, digits.brain or digits.bin is missing: ./dev web builds them.");
    return new Digits(module, brain, known);
  }

  constructor(module, brain, known) {
    super(module, kPixels, brain);
    this.known = known;
    this.pad = new DrawingPad(byId("drawing"), () => this.show(false));
    this.listen();
    this.show();
  }

  // ---------------------------------------------------------------------------- the network

  /// Known digit number `at` as a row.
  setKnown(row, at) {
    const digit = this.known.subarray(at * kBytesOfDigit, (at + 1) * kBytesOfDigit);
    this.setRow(row, Float32Array.from(digit.subarray(1), (v) => v / 16), digit[0]);
  }

  /// The part of the digits behind those it learned from that it reads right.
  accuracy() {
    const count = this.known.length / kBytesOfDigit, most = this.module.exports.most_rows();
    let right = 0;
    for (let first = kTrainCount; first < count; first += most) {
      const rows = Math.min(most, count - first);
      for (let row = 0; row < rows; ++row) this.setKnown(row, first + row);
      right += this.countRight(rows);
    }
    return right / (count - kTrainCount);
  }

  /// Beside digits that it knows.
  correct(image, label) {
    const fill = (first, end) => {
      for (let row = first; row < end; ++row) this.setKnown(row, Math.floor(Math.random() * kTrainCount));
    };
    return super.correct(image, label, fill, async (step) => {
      if (step % 2 !== 0) return;
      this.show(false);
      await new Promise(requestAnimationFrame);
    });
  }

  /// Step k learns the 32 known digits from 32 k on: the same steps anywhere give the same losses.
  learnKnown(steps) {
    const losses = [];
    for (let k = 0; k < steps; ++k) {
      for (let row = 0; row < kBatch; ++row) this.setKnown(row, k * kBatch + row);
      losses.push(this.learn(kBatch));
    }
    return losses;
  }

  /// Reads and learns the same on WebGPU, beside this network: how far apart they are, and what a step takes there.
  async compareWithGpu(steps = 3) {
    const plan = JSON.parse(new TextDecoder().decode(await bytesOf("digits.wgsl.json")));
    const weights = this.module.bytes(this.module.exports.weights(), plan.weights_bytes);
    const gpu = await GpuNetwork.open(plan, weights.slice());
    const rows = (first) => {
      for (let row = 0; row < kBatch; ++row) this.setKnown(row, first + row);
      return { image: this.images.slice(0, kBatch * kPixels), digit: this.labels.slice(0, kBatch) };
    };
    const { scores } = await gpu.run("read", kBatch, { image: rows(0).image });
    this.module.call("read", kBatch);
    const found = { device: `${gpu.info.vendor} ${gpu.info.architecture}`, losses: [], time: 0 };
    found.apart = scores.reduce((most, score, i) => Math.max(most, Math.abs(score - this.scores[i])), 0);
    for (let step = 0; step < steps; ++step) {
      const batch = rows(step * kBatch);
      const here = this.learn(kBatch);
      const begin = performance.now();
      const { loss } = await gpu.run("learn", kBatch, { ...batch, rate: new Float32Array([kRate]) });
      found.time = performance.now() - begin;
      found.losses.push([here, loss[0]]);
    }
    return found;
  }

  /// Passes over the known digits, with pauses in which the page is drawn.
  async train(epochs = 6) {
    const steps = epochs * Math.floor(kTrainCount / 64);
    const order = Array.from({ length: kTrainCount }, (_, i) => i);
    for (let step = 0; step < steps; ++step) {
      const first = (step * 64) % (Math.floor(kTrainCount / 64) * 64);
      if (first === 0)
        for (let i = order.length - 1; i > 0; --i) {
          const j = Math.floor(Math.random() * (i + 1));
          [order[i], order[j]] = [order[j], order[i]];
        }
      for (let row = 0; row < 64; ++row) this.setKnown(row, order[first + row]);
      this.learn(64, 4e-3 * fallingRate(step, steps));
      if (step % 4 === 0) {
        this.show(step % 20 === 0);
        await new Promise(requestAnimationFrame);
      }
    }
    this.show();
  }

  // ---------------------------------------------------------------------------- the page

  show(withAccuracy = true) {
    const bars = byId("digits-bars"), answer = byId("digits-answer");
    let parts = new Array(10).fill(0), best = -1;
    if (!this.pad.isEmpty) {
      this.image = imageOf(this.pad.strokes);
      parts = this.read(this.image);
      best = placeOfMost(parts);
      answer.textContent = `${parts[best] > 0.6 ? "It is a" : "Perhaps a"} ${best} \u2014 ${Math.round(100 * parts[best])} %`;
    } else {
      this.image = null;
      answer.textContent = "Draw a digit, large.";
    }
    bars.replaceChildren(...parts.map((part, digit) => {
      const bar = document.createElement("div"), ink = document.createElement("i");
      ink.style.height = `${Math.round(95 * part)}px`;
      bar.append(ink, String(digit));
      bar.classList.toggle("best", digit === best);
      return bar;
    }));
    showImage(byId("digits-seen"), this.image);
    for (const button of byId("digits-labels").children) button.disabled = this.image === null;
    byId("digits-corrections").textContent = this.corrections.length;
    byId("digits-steps").textContent = this.steps;
    if (this.stepTime !== undefined) byId("digits-time").textContent = `${this.stepTime.toFixed(1)} ms`;
    if (withAccuracy) byId("digits-accuracy").textContent = `${(100 * this.accuracy()).toFixed(1)} %`;
    drawCurve(byId("digits-curve"), this.losses, "loss", "#d9541e");
  }

  listen() {
    byId("digits-clear").onclick = () => this.pad.clear();
    byId("digits-labels").replaceChildren(...Array.from({ length: 10 }, (_, digit) => {
      const button = document.createElement("button");
      button.textContent = digit;
      button.onclick = async () => {
        for (const other of byId("digits-labels").children) other.disabled = true;
        const { before, after } = await this.correct(this.image, digit);
        say("digits", `Learned in ${kCorrectionSteps} steps: a ${digit} with ${Math.round(100 * before)} % before, ` +
          `${Math.round(100 * after)} % now.`);
        this.show();
      };
      return button;
    }));
    byId("digits-forget").onclick = () => {
      this.module.call("forget");
      this.corrections = [];
      this.losses = [];
      say("digits", "Random weights: it knows nothing.");
      this.show();
    };
    byId("digits-train").onclick = async (event) => {
      event.target.disabled = true;
      say("digits", "It learns \u2026");
      const begin = performance.now();
      await this.train();
      say("digits", `Learned from 1,437 digits, six times over, in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
    };
    byId("digits-gpu").onclick = async (event) => {
      event.target.disabled = true;
      say("digits", "WebGPU compiles its kernels \u2026");
      try {
        const { device, apart, losses, time } = await this.compareWithGpu();
        const [here, there] = losses[losses.length - 1];
        say("digits", `WebGPU (${device}): scores within ${apart.toExponential(0)}, a loss of ${there.toFixed(5)} after ` +
          `${losses.length} steps, here ${here.toFixed(5)}; a step takes ${time.toFixed(1)} ms there.`);
      } catch (error) { say("digits", `Not on WebGPU: ${error.message}.`, true); }
      event.target.disabled = false;
      this.show();
    };
    offerBrains("digits", this.module, () => this.show());
  }
}
