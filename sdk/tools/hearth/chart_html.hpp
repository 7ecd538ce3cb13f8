// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "chart.hpp"

#include <span>
#include <string>

namespace hearth::tool {

/// One HTML page with all that it needs in itself: no addresses, nothing is loaded.  Curves are SVG, and
/// show without a script; with one, the mouse tells the value under it.
std::string draw_html(const std::string& title, const std::string& subtitle,
                      std::span<const Chart> charts);

}  // namespace hearth::tool
