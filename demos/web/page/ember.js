// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Meet a creature: reads the card of one of Ember's creatures, a PNG with the creature in a chunk of its own.

import { Module, byId, say } from "./parts.js";

const kSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/// CRC-32 as in PNGs (ISO/IEC 15948, annex D).
function crcOf(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

/// The data of the first chunk of this type in a PNG.
export function chunkOf(png, type) {
  if (!kSignature.every((byte, i) => png[i] === byte)) throw new Error("it is no PNG picture");
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  for (let at = 8; png.length - at >= 12;) {
    const size = view.getUint32(at);
    if (size > png.length - at - 12) break;
    const name = String.fromCharCode(...png.subarray(at + 4, at + 8));
    if (name === type) {
      if (crcOf(png.subarray(at + 4, at + 8 + size)) !== view.getUint32(at + 8 + size))
        throw new Error("the card is damaged: a checksum does not match");
      return png.subarray(at + 8, at + 8 + size);
    }
    if (name === "IEND") throw new Error("there is no creature in this picture: a program that changed it may have left it out");
    at += 12 + size;
  }
  throw new Error(`the card is cut off: it has ${png.length.toLocaleString("en")} bytes and no end`);
}

export class Ember {
  static async open() {
    const module = await Module.open("ember.wasm");
    if (module === null) throw new Error("ember.wasm is missing: ./dev web builds it.");
    return new Ember(module);
  }

  constructor(module) {
    this.module = module;
    byId("ember-load").onchange = async (event) => {
      const file = event.target.files[0];
      if (file !== undefined) await this.meet(file);
      event.target.value = "";
    };
  }

  /// Reads the creature in a card's bytes.
  read(png) {
    const { module } = this, bytes = chunkOf(png, "emBr");
    if (bytes.length > module.exports.most_file_bytes())
      throw new Error(`its creature has ${bytes.length.toLocaleString("en")} bytes, more than any has`);
    module.bytes(module.exports.file(), bytes.length).set(bytes);
    module.call("read", bytes.length);
  }

  async meet(file) {
    try {
      this.read(new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      return say("ember", `Nobody is met: ${error.message}.`, true);
    }
    URL.revokeObjectURL(byId("ember-card").src);
    byId("ember-card").src = URL.createObjectURL(file);
    byId("ember-card").hidden = false;
    this.show();
  }

  show() {
    const { module } = this, { exports } = module;
    byId("ember-answer").textContent = module.text(exports.name());
    const words = Array.from({ length: exports.thing_count() }, (_, i) => i).filter((i) => exports.knows(i) === 1)
      .map((i) => module.text(exports.word(i)));
    byId("ember-words").textContent = words.length === 0 ? "none yet" : words.join(", ");
    byId("ember-age").textContent = `${Math.floor(exports.age() / 60)} min`;
    byId("ember-days").textContent = exports.days();
    byId("ember-memories").textContent = exports.memories();
    byId("ember-brain").textContent = `${Math.round(exports.brain_bytes() / 1000)} kB`;
    byId("ember-goals").replaceChildren(...Array.from({ length: exports.goal_count() }, (_, i) => {
      const item = document.createElement("li");
      item.textContent = module.text(exports.goal(i));
      item.classList.toggle("done", exports.progress(i) >= 1);
      return item;
    }));
    say("ember", "Drop this card onto the game, and it moves in.");
  }
}
