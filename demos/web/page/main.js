// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

import { Digits } from "./digits.js";
import { Doodles } from "./doodles.js";
import { Ember } from "./ember.js";
import { Ghost } from "./ghost.js";
import { Pictures } from "./pictures.js";
import { say } from "./parts.js";

// Tests reach the parts of the page through this.
window.page = {};
for (const [name, Part] of Object.entries({ digits: Digits, doodles: Doodles, ember: Ember, ghost: Ghost, pictures: Pictures })) {
  Part.open().then(
    (part) => { window.page[name] = part; document.getElementById(name).dataset.state = "ready"; },
    (error) => { say(name, error.message, true); document.getElementById(name).dataset.state = "failed"; });
}
