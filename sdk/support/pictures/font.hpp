// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The fonts found when this was built (DejaVu Sans, Debian's fonts-dejavu-core), carried in
// the binary; empty if there were none, and then each program does what it can without.

#pragma once

#include <span>

namespace hearth::pictures {

std::span<const unsigned char> regular_font();
std::span<const unsigned char> bold_font();

}  // namespace hearth::pictures
