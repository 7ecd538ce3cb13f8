// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A saved game's file: the world, the progress so far, and the brain in the format of a brain file.

#pragma once

#include "hatchlings/progress.hpp"

#include <hearth/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hearth::hatchlings {

/// Frames of a hatchling's last praises and scolds. They limit feedback to a share of what it
/// learns from (Play::judgements_refused).
struct Judged {
    static constexpr size_t kMost = 4;
    std::array<uint64_t, kMost> frames{};  ///< ring buffer
    uint64_t count = 0;
};

struct SavedGame {
    WorldState world;
    Progress::State progress;
    std::vector<Judged> judged;  ///< per hatchling
};

std::vector<std::byte> encode(const SavedGame& game);
/// Errors: kCorruptData for bytes that are no saved game; kUnsupported for a newer format.
Result<SavedGame> decode_saved_game(std::span<const std::byte> bytes);

/// Returns a file with both.
std::vector<std::byte> file_of(const SavedGame& game, std::span<const std::byte> brain);
struct LoadedFile {
    std::optional<SavedGame> game;  ///< none in a brain file
    std::vector<std::byte> brain;
};
/// Errors: those of decode_saved_game. The brain's bytes are not checked.
Result<LoadedFile> read_file(std::span<const std::byte> bytes);

}  // namespace hearth::hatchlings
