// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draw a doodle: the network says what it is, and learns from corrections.

import {
  Classifier, DrawingPad, Module, bytesOf, byId, kCorrectionSteps, offerBrains, placeOfMost, say, showImage,
} from "./parts.js";

const kKinds = 10, kSide = 24, kPixels = kSide * kSide;

export class Doodles extends Classifier {
  static async open() {
    const [module, brain] = await Promise.all([Module.open("doodles.wasm"), bytesOf("doodles.brain")]);
    if (module === null || brain === null)
      throw new Error("doodles.wasm or doodles.brain is missing: ./dev web builds them.");
    return new Doodles(module, brain);
  }

  constructor(module, brain) {
    super(module, kPixels, brain);
    this.points = module.floats(module.exports.points(), 3 * module.exports.most_points());
    module.exports.seed(Math.floor(Math.random() * 2 ** 32));
    this.names = Array.from({ length: kKinds }, (_, kind) => module.text(module.exports.name_of(kind)));
    this.pad = new DrawingPad(byId("doodle"), () => this.show());
    this.listen();
    this.show();
  }

  /// The drawing as the network sees it: strokes fill 24 by 24 pixels, drawn with a thin pen.
  imageOf(strokes) {
    const points = strokes.flatMap((stroke) => stroke.map(([x, y], i) => [x, y, i === 0 ? 1 : 0]));
    const count = Math.min(points.length, this.module.exports.most_points());
    points.slice(0, count).forEach((point, i) => this.points.set(point, 3 * i));
    this.module.exports.rasterize(count);
    return this.images.slice(0, kPixels);
  }

  /// Strokes of a doodle that the page draws itself, as it drew those that the network learned from.
  example(kind) {
    const count = this.module.exports.draw(kind), strokes = [];
    for (let i = 0; i < count; ++i) {
      const [x, y, begins] = this.points.subarray(3 * i, 3 * i + 3);
      if (begins > 0) strokes.push([]);
      strokes[strokes.length - 1].push([x, y]);
    }
    const xs = strokes.flat().map((p) => p[0]), ys = strokes.flat().map((p) => p[1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = 0.8 / Math.max(right - left, bottom - top);
    return strokes.map((stroke) => stroke.map(([x, y]) =>
      [0.5 + (x - (left + right) / 2) * scale, 0.5 + (y - (top + bottom) / 2) * scale]));
  }

  /// The part that it reads right of doodles that the page draws.
  accuracy() {
    const rows = this.module.exports.most_rows(), batches = 4;
    let right = 0;
    for (let batch = 0; batch < batches; ++batch) {
      this.module.exports.draw_rows(0, rows);
      right += this.countRight(rows);
    }
    return right / (rows * batches);
  }

  /// Beside doodles that the page draws.
  correct(image, kind) {
    return super.correct(image, kind, this.module.exports.draw_rows, async (step) => {
      if (step % 4 === 0) await new Promise(requestAnimationFrame);
    });
  }

  // ---------------------------------------------------------------------------- the page

  show() {
    const answer = byId("doodles-answer");
    let parts = new Array(kKinds).fill(0), best = -1;
    this.image = null;
    if (this.pad.isEmpty) {
      answer.textContent = "Draw one of these, large.";
    } else {
      this.image = this.imageOf(this.pad.strokes);
      parts = this.read(this.image);
      best = placeOfMost(parts);
      answer.textContent =
        `${parts[best] > 0.6 ? "It is" : "Perhaps"} a ${this.names[best]} \u2014 ${Math.round(100 * parts[best])} %`;
    }
    byId("doodles-bars").replaceChildren(...parts.map((part, kind) => {
      const row = document.createElement("div"), ink = document.createElement("i"), tail = document.createElement("span");
      ink.style.width = `${100 * part}%`;
      tail.textContent = best < 0 ? "" : `${Math.round(100 * part)} %`;
      row.append(this.names[kind], ink, tail);
      row.classList.toggle("best", kind === best);
      return row;
    }));
    showImage(byId("doodles-seen"), this.image);
    for (const button of byId("doodles-labels").children) button.disabled = this.image === null;
  }

  listen() {
    byId("doodles-clear").onclick = () => this.pad.clear();
    byId("doodles-example").onclick = () => this.pad.set(this.example(Math.floor(Math.random() * kKinds)));
    byId("doodles-labels").replaceChildren(...this.names.map((name, kind) => {
      const button = document.createElement("button");
      button.textContent = name;
      button.onclick = async () => {
        for (const other of byId("doodles-labels").children) other.disabled = true;
        const { before, after } = await this.correct(this.image, kind);
        say("doodles", `Learned in ${kCorrectionSteps} steps: a ${name} with ${Math.round(100 * before)} % ` +
          `before, ${Math.round(100 * after)} % now. Of new doodles it knows ${Math.round(100 * this.accuracy())} %.`);
        this.show();
      };
      return button;
    }));
    offerBrains("doodles", this.module, () => this.show());
  }
}
