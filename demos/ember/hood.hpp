// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Under the hood: what the four parts of the brain observe, answer and cost, by their names in the
// field.

#pragma once

#include "host/ui.hpp"
#include "mind.hpp"

namespace hearth::ember {

/// Draws the panel on the right of the picture. budget_us: of learning in a frame; kNoLimit: none.
void draw_hood(const Mind& mind, double budget_us, const demo::Ui& ui, VkExtent2D extent);

}  // namespace hearth::ember
