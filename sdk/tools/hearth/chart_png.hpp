// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "chart.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hearth::tool {

/// Size of one chart in pixels.
inline constexpr size_t kPngPanelWidth = 480, kPngPanelHeight = 260;

/// Draws charts below a title, with a column count that makes the picture roughly square, and
/// returns the bytes of a PNG.  Errors: kUnsupported in a build without fonts.
Result<std::vector<std::byte>> draw_png(const std::string& title, const std::string& subtitle,
                                        std::span<const Chart> charts);

}  // namespace hearth::tool
