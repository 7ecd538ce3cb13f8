// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Fonts found at build time (DejaVu Sans, Debian's fonts-dejavu-core), embedded in the binary;
// empty if there were none, in which case programs manage without.

#pragma once

#include <span>

namespace hearth::pictures {

std::span<const unsigned char> regular_font();
std::span<const unsigned char> bold_font();

}  // namespace hearth::pictures
