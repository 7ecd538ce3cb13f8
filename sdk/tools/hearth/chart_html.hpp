// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "chart.hpp"

#include <span>
#include <string>

namespace hearth::tool {

/// Draws a self-contained HTML page: it has no links and loads nothing.  Curves are SVG and need no
/// script; with scripts enabled the page shows the value under the mouse.
std::string draw_html(const std::string& title, const std::string& subtitle,
                      std::span<const Chart> charts);

}  // namespace hearth::tool
