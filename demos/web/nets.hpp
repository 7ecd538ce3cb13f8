// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The page's networks that read digits and doodles: cooked to C for the page, and, of digits,
// compiled for other devices to continue training a brain from the page.

#pragma once

#include <hearth/tensor.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace hearth::web {

constexpr uint64_t kDigitsRows = 64, kDoodlesRows = 64;

/// The entries:
///
///     read   image f32 [batch, 1, 8, 8] -> logits f32 [batch, 10]
///     learn  image, digit i32 [batch], rate f32 [] -> loss f32 []: one step of Adam
std::vector<std::unique_ptr<Trace>> trace_digits();

/// Those entries, of images [batch, 1, kDoodleSide, kDoodleSide], with `kind` for `digit`.
std::vector<std::unique_ptr<Trace>> trace_doodles();

}  // namespace hearth::web
