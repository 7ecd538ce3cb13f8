// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a saved game holds beside the brain: the world and how they have done so far.

#pragma once

#include "hatchlings/progress.hpp"

#include <hearth/status.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace hearth::hatchlings {

struct SavedGame {
    WorldState world;
    Progress::State progress;
};

std::vector<std::byte> encode(const SavedGame& game);
/// Errors: kCorruptData for bytes that are no game; kUnsupported for a later format.
Result<SavedGame> decode_saved_game(std::span<const std::byte> bytes);

}  // namespace hearth::hatchlings
