// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A saved game's file: the world, how they have done so far, and the brain's bytes as they are in a file of
// their own.

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

/// When a hatchling was praised or scolded last: what the player says has a share in what it learns from, and no
/// more (Play::judgements_refused).
struct Judged {
    static constexpr size_t kMost = 4;
    std::array<uint64_t, kMost> frames{};  ///< a ring
    uint64_t count = 0;
};

struct SavedGame {
    WorldState world;
    Progress::State progress;
    std::vector<Judged> judged;  ///< by hatchling
};

std::vector<std::byte> encode(const SavedGame& game);
/// Errors: kCorruptData for bytes that are no game; kUnsupported for a later format.
Result<SavedGame> decode_saved_game(std::span<const std::byte> bytes);

/// Both in one file.
std::vector<std::byte> file_of(const SavedGame& game, std::span<const std::byte> brain);
struct LoadedFile {
    std::optional<SavedGame> game;  ///< none in the file of a brain alone
    std::vector<std::byte> brain;
};
/// Errors: those of decode_saved_game.  What the brain's bytes are is not looked at.
Result<LoadedFile> read_file(std::span<const std::byte> bytes);

}  // namespace hearth::hatchlings
