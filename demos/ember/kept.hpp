// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The file of a creature.

#pragma once

#include "brain_files.hpp"
#include "deeds.hpp"
#include "ember/world.hpp"
#include "memories.hpp"

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::ember {

constexpr size_t kMostName = 24;

/// Everything that is kept of a creature.
struct Kept {
    std::string name;   ///< 1 to 24 letters, digits, spaces and hyphens; also names its file
    uint64_t seed = 1;  ///< what it was born with
    WorldState world;
    BrainFiles brain;
    int64_t seconds = 0;  ///< when it was kept, since 1970; 0: unknown
    Deeds deeds;
    Memories memories;
};

/// Errors: kInvalidArgument for a name that is none.
Status check_name(const std::string& name);

std::vector<std::byte> encode(const Kept& kept);
/// Reads untrusted bytes; those of the brain are checked by whoever loads them.
/// Errors: kCorruptData; kUnsupported for a later format.
Result<Kept> decode_kept(std::span<const std::byte> bytes);

}  // namespace hearth::ember
