// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "chart.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hearth::tool {

/// Where charts that are drawn together get their size from, in pixels.
inline constexpr size_t kPngPanelWidth = 480, kPngPanelHeight = 260;

/// A PNG's bytes: charts side by side below a title, as many in a row as make the picture squarish.
/// Errors: kUnsupported in a build without fonts.
Result<std::vector<std::byte>> draw_png(const std::string& title, const std::string& subtitle,
                                        std::span<const Chart> charts);

}  // namespace hearth::tool
