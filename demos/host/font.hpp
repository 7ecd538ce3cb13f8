// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The fonts found when the demos were built (DejaVu Sans, Debian's fonts-dejavu-core), carried in
// the binary; empty if there were none, and then ImGui's own bitmap font is used.

#pragma once

#include <span>

namespace hearth::demo {

std::span<const unsigned char> regular_font();
std::span<const unsigned char> bold_font();

}  // namespace hearth::demo
