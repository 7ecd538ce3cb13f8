// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A creature's card: what it has become, in words. They are made from what its brain does when it is
// asked (probe.hpp), and from nothing else.

#pragma once

#include "probe.hpp"

#include <string>
#include <vector>

namespace hearth::ember {

/// The sentences of a card, the most telling first.
std::vector<std::string> card_of(const Findings& findings);

}  // namespace hearth::ember
