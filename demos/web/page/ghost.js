// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ghost Lap: the game's simulation and its learner, drawn on a canvas.

import { Module, byId, drawCurve, offerBrains, say } from "./parts.js";

const kDrivers = ["smooth", "late", "tidy", "wide", "sloppy", "you"];
const kKeys = [["ArrowLeft", "KeyA"], ["ArrowRight", "KeyD"], ["ArrowUp", "KeyW"], ["ArrowDown", "KeyS", "Space"], ["KeyH"]];
const kOutlinePoints = 512, kFrameMs = 1000 / 60;
const kCarNumbers = ["x", "y", "heading", "speed", "steer", "throttle", "laps", "lapSeconds", "last", "best", "isOnTrack"];

export class Ghost {
  static async open() {
    const module = await Module.open("ghost.wasm");
    if (module === null) throw new Error("ghost.wasm is missing: ./dev web builds it.");
    return new Ghost(module);
  }

  constructor(module) {
    this.module = module;
    this.driver = 0;
    this.keys = 0;
    this.speed = 1;
    this.isPaused = this.isFrozen = false;
    this.begin(true);
    this.drawTrack();
    this.listen();
    this.draw();
    // It waits until somebody can see it.
    new IntersectionObserver(([seen]) => { this.isSeen = seen.isIntersecting; }).observe(byId("track"));
    this.time = performance.now();
    requestAnimationFrame(() => this.animate());
  }

  begin(forgets) {
    this.module.call("begin", 1, forgets ? 1 : 0);
    this.losses = [];
    this.trail = { player: [], ghost: [] };
    this.frames = 0;
    this.look();
  }

  look() {
    const numbers = this.module.floats(this.module.exports.view(), 25);
    const car = (at) => Object.fromEntries(kCarNumbers.map((name, i) => [name, numbers[at + i]]));
    this.view = { player: car(0), ghost: car(11), isDriving: numbers[22] !== 0, loss: numbers[23], error: numbers[24] };
  }

  /// So many frames of the game: the ghost acts and learns in each.
  run(frames) {
    const begin = performance.now();
    for (let i = 0; i < frames; ++i) {
      this.module.call("frame", this.driver, this.keys, this.isFrozen ? 0 : 1);
      if (++this.frames % 6 !== 0) continue;
      this.look();
      if (this.view.loss > 0) this.losses.push(this.view.loss);
      if (this.losses.length > 600) this.losses = this.losses.filter((_, at) => at % 2 === 0);
      for (const name of ["player", "ghost"]) {
        this.trail[name].push([this.view[name].x, this.view[name].y]);
        if (this.trail[name].length > 40) this.trail[name].shift();
      }
    }
    this.look();
    this.frameMs = (performance.now() - begin) / frames;
  }

  animate() {
    const now = performance.now();
    let frames = Math.floor((now - this.time) / kFrameMs);
    this.time += frames * kFrameMs;
    frames = Math.min(frames, 4) * this.speed; // after a pause it does not catch up
    if (frames > 0 && this.isSeen && !this.isPaused) {
      try {
        this.run(frames);
        this.draw();
      } catch (error) {
        say("ghost", error.message, true);
        return;
      }
    }
    requestAnimationFrame(() => this.animate());
  }

  // ---------------------------------------------------------------------------- pictures

  outline(lateral) {
    return this.module.floats(this.module.exports.outline(lateral), 2 * kOutlinePoints).slice();
  }

  /// The circuit, once.
  drawTrack() {
    const canvas = byId("track");
    const edge = this.outline(1);
    const xs = edge.filter((_, i) => i % 2 === 0), ys = edge.filter((_, i) => i % 2 === 1);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.scale = Math.min(canvas.width / (right - left + 12), canvas.height / (high - low + 12));
    this.middle = [(left + right) / 2, (low + high) / 2];
    this.scenery = new OffscreenCanvas(canvas.width, canvas.height);
    const g = this.scenery.getContext("2d");
    g.fillStyle = "#46703f";
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.fillStyle = "#4b7743"; // mown stripes
    for (let x = 0; x < canvas.width; x += 128) g.fillRect(x, 0, 64, canvas.height);
    this.toMetres(g);
    const path = (points) => {
      g.beginPath();
      for (let i = 0; i < points.length; i += 2) g.lineTo(points[i], points[i + 1]);
      g.closePath();
    };
    path(this.outline(0));
    g.lineJoin = "round";
    for (const [width, color, dash] of [[8.2, "#3a5f36", []], [7.0, "#efe8da", []], [7.0, "#cf4530", [2.4, 2.4]],
      [6.0, "#4a4c52", []], [0.12, "#ffffff3a", [1.6, 2.6]]]) {
      g.lineWidth = width;
      g.strokeStyle = color;
      g.setLineDash(dash);
      g.stroke();
    }
    g.setLineDash([]);
    const start = this.outline(0.98), end = this.outline(-0.98);
    for (let i = 0; i < 12; ++i) {
      g.fillStyle = i % 2 === 0 ? "#fff" : "#222";
      const t = i / 12;
      const at = [start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t];
      g.fillRect(at[0] - 0.5, at[1] - 0.5, 1, 0.5);
    }
  }

  toMetres(g) {
    const { width, height } = byId("track");
    g.setTransform(this.scale, 0, 0, -this.scale, width / 2 - this.middle[0] * this.scale,
      height / 2 + this.middle[1] * this.scale);
  }

  drawCar(g, car, color, alpha) {
    g.save();
    g.globalAlpha = alpha;
    g.translate(car.x, car.y);
    g.rotate(car.heading);
    g.fillStyle = "#0004";
    g.beginPath();
    g.roundRect(-2.1, -1.15, 4.4, 2.1, 0.5);
    g.fill();
    g.fillStyle = "#17181c";
    for (const [x, y] of [[-1.35, -1], [-1.35, 1], [1.25, -1], [1.25, 1]]) {
      g.save();
      g.translate(x, y);
      if (x > 0) g.rotate(0.4 * car.steer);
      g.fillRect(-0.45, -0.2, 0.9, 0.4);
      g.restore();
    }
    g.fillStyle = color;
    g.beginPath();
    g.roundRect(-2.05, -0.85, 4.1, 1.7, 0.5);
    g.fill();
    g.fillStyle = "#16222e";
    g.beginPath();
    g.roundRect(-0.7, -0.6, 1.3, 1.2, 0.3);
    g.fill();
    if (car.throttle < -0.1) {
      g.fillStyle = "#ff3b25";
      g.fillRect(-2.1, -0.75, 0.3, 0.45);
      g.fillRect(-2.1, 0.3, 0.3, 0.45);
    }
    g.restore();
  }

  draw() {
    const g = byId("track").getContext("2d"), { player, ghost, isDriving } = this.view;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.drawImage(this.scenery, 0, 0);
    this.toMetres(g);
    g.lineWidth = 0.35;
    for (const [name, color] of [["player", "#ff9b6a88"], ["ghost", "#7fe3f488"]]) {
      g.beginPath();
      this.trail[name].forEach(([x, y]) => g.lineTo(x, y));
      g.strokeStyle = color;
      g.stroke();
    }
    this.drawCar(g, ghost, "#37b6cd", isDriving ? 0.85 : 0.35);
    this.drawCar(g, player, "#e2571f", 1);
    if ((this.keys & 16) !== 0 && isDriving) {
      g.beginPath();
      g.arc(ghost.x, ghost.y, 3.6, 0, 7);
      g.strokeStyle = "#ffd640";
      g.stroke();
    }
    const seconds = (value) => (value > 0 ? value.toFixed(2) : "\u2013");
    for (const [name, car] of [["player", player], ["ghost", ghost]]) {
      byId(`${name}-laps`).textContent = car.laps;
      byId(`${name}-last`).textContent = seconds(car.last);
      byId(`${name}-best`).textContent = seconds(car.best);
    }
    byId("ghost-error").textContent = ghost.laps > 0 ? `${(100 * this.view.error).toFixed(0)} % of the half-width` : "\u2013";
    if (this.frameMs !== undefined) byId("ghost-time").textContent = `${this.frameMs.toFixed(2)} ms`;
    if (!isDriving && !byId("ghost-message").classList.contains("wrong"))
      say("ghost", "The ghost watches the first lap.");
    else if (byId("ghost-message").textContent === "The ghost watches the first lap.")
      say("ghost", "Now it drives by itself.");
    drawCurve(byId("ghost-curve"), this.losses, "loss of the ghost", "#1a8fa6");
  }

  // ---------------------------------------------------------------------------- controls

  choose(driver) {
    this.driver = driver;
    [...byId("ghost-drivers").children].forEach((button, i) => button.classList.toggle("on", i === driver));
    if (kDrivers[driver] === "you") byId("track").focus({ preventScroll: true });
  }

  listen() {
    byId("ghost-drivers").replaceChildren(...kDrivers.map((name, i) => {
      const button = document.createElement("button");
      button.textContent = name;
      button.onclick = () => this.choose(i);
      return button;
    }));
    this.choose(0);
    const key = (event, isDown) => {
      const bit = kKeys.findIndex((names) => names.includes(event.code));
      if (bit < 0) return;
      this.keys = isDown ? this.keys | (1 << bit) : this.keys & ~(1 << bit);
      if (document.activeElement !== byId("track")) return;
      event.preventDefault(); // the page does not scroll
      if (isDown && bit < 4 && this.driver < kDrivers.length - 1) this.choose(kDrivers.length - 1);
    };
    addEventListener("keydown", (event) => key(event, true));
    addEventListener("keyup", (event) => key(event, false));
    addEventListener("blur", () => { this.keys = 0; });
    const toggle = (id, texts, change) => {
      byId(id).onclick = () => {
        const isOn = change();
        byId(id).textContent = texts[isOn ? 1 : 0];
        byId(id).classList.toggle("on", isOn);
      };
    };
    toggle("ghost-pause", ["Pause", "Go on"], () => (this.isPaused = !this.isPaused));
    toggle("ghost-fast", ["Faster", "Slower"], () => (this.speed = this.speed === 1 ? 6 : 1) > 1);
    toggle("ghost-freeze", ["Freeze", "Thaw"], () => (this.isFrozen = !this.isFrozen));
    byId("ghost-reset").onclick = () => {
      this.begin(true);
      this.draw();
    };
    offerBrains("ghost", this.module, () => {});
  }
}
