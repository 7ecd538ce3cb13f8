// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads the weights that are embedded in the game.

#include "brain.hpp"

#include <hearth/weights.hpp>

namespace hearth::hatchlings {
namespace {

constexpr unsigned char kBytes[] = {
#include "shipped_weights.inc"
};

}  // namespace

Result<NamedTensors> shipped_weights() {
    return read_safetensors(std::as_bytes(std::span(kBytes)));
}

}  // namespace hearth::hatchlings
