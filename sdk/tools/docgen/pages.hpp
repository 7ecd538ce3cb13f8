// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Pages of docs/reference that are made from records.

#pragma once

#include <string>

namespace hearth::docgen {

std::string operators_page();
std::string learners_page();
std::string instructions_page();

/// A cell of a table of Markdown, without the bar before it.  Escapes "|", which would end it.
std::string cell(const std::string& text);

}  // namespace hearth::docgen
