// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Classify a picture with SqueezeNet.

import { Module, bytesOf, byId, say, softmax } from "./parts.js";

const kSize = 96, kClasses = 1000;
const kMean = [0.485, 0.456, 0.406], kDeviation = [0.229, 0.224, 0.225]; // of ImageNet's pixels

export class Pictures {
  static async open() {
    const [module, weights] = await Promise.all([Module.open("pictures.wasm"), bytesOf("pictures.weights")]);
    if (module === null || weights === null)
      throw new Error("This page was built without SqueezeNet: ./dev web --squeezenet FILE.onnx adds it.");
    return new Pictures(module, weights);
  }

  constructor(module, weights) {
    this.module = module;
    module.bytes(module.exports.cooked(), module.exports.cooked_bytes()).set(weights);
    module.call("begin");
    this.input = module.floats(module.exports.image(), 3 * kSize * kSize);
    this.scores = module.floats(module.exports.scores(), kClasses);
    byId("pictures-load").onchange = async (event) => {
      const file = event.target.files[0];
      if (file === undefined) return;
      try {
        this.show(await createImageBitmap(file));
        say("pictures", "");
      } catch { say("pictures", `${file.name} is no picture that this browser can read.`, true); }
      event.target.value = "";
    };
    byId("pictures").hidden = false;
    this.show(this.sunset());
  }

  /// Scores of 1,000 classes for [3, 96, 96] numbers, and the milliseconds that they took.
  classify(input) {
    this.input.set(input);
    const begin = performance.now();
    this.module.call("classify");
    this.time = performance.now() - begin;
    return this.scores.slice();
  }

  /// Something to begin with.
  sunset() {
    const canvas = new OffscreenCanvas(kSize, kSize), g = canvas.getContext("2d");
    const sky = g.createLinearGradient(0, 0, 0, 62);
    [[0, "#27305e"], [0.55, "#b3486a"], [1, "#f3a050"]].forEach(([at, color]) => sky.addColorStop(at, color));
    g.fillStyle = sky;
    g.fillRect(0, 0, kSize, kSize);
    g.fillStyle = "#ffe9b0";
    g.beginPath();
    g.arc(60, 54, 11, 0, 7);
    g.fill();
    g.fillStyle = "#1c2036";
    g.beginPath();
    [[0, 60], [18, 42], [34, 58], [48, 50], [70, 66], [96, 56], [96, 96], [0, 96]].forEach((p) => g.lineTo(...p));
    g.fill();
    return canvas;
  }

  /// Shows the middle square of a picture, and what the network makes of it.
  show(picture) {
    const g = byId("picture").getContext("2d", { willReadFrequently: true });
    const side = Math.min(picture.width, picture.height);
    g.imageSmoothingQuality = "high";
    g.drawImage(picture, (picture.width - side) / 2, (picture.height - side) / 2, side, side, 0, 0, kSize, kSize);
    const pixels = g.getImageData(0, 0, kSize, kSize).data, input = new Float32Array(3 * kSize * kSize);
    for (let c = 0; c < 3; ++c)
      for (let p = 0; p < kSize * kSize; ++p)
        input[c * kSize * kSize + p] = (pixels[4 * p + c] / 255 - kMean[c]) / kDeviation[c];
    const parts = softmax(this.classify(input));
    const best = parts.map((part, index) => ({ part, index })).sort((a, b) => b.part - a.part).slice(0, 5);
    byId("pictures-answer").textContent = `Class ${best[0].index}, in ${this.time.toFixed(1)} ms`;
    byId("pictures-bars").replaceChildren(...best.map(({ part, index }, place) => {
      const row = document.createElement("div"), ink = document.createElement("i"), tail = document.createElement("span");
      ink.style.width = `${100 * part / best[0].part}%`;
      tail.textContent = `${(100 * part).toFixed(2)} %`;
      row.append(`class ${index}`, ink, tail);
      row.classList.toggle("best", place === 0);
      return row;
    }));
  }
}
