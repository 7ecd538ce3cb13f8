// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The network of the page that reads digits: cooked to C for the page, and compiled for other devices by whoever
// goes on with what the page has learned.

#pragma once

#include <hearth/tensor.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace hearth::web {

constexpr uint64_t kDigitsRows = 64;

/// read   image f32 [rows, 1, 8, 8] -> scores f32 [rows, 10]
/// learn  image, digit i32 [rows], rate f32 [] -> loss f32 []: one step of Adam
std::vector<std::unique_ptr<Trace>> trace_digits();

}  // namespace hearth::web
