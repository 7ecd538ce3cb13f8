// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A card that can be sent: a picture, as a PNG, with the creature in a private chunk of it.

#pragma once

#include "keep.hpp"

namespace hearth::ember {

/// Adds the creature to a picture. png: a PNG without a creature.
/// Errors: kCorruptData for bytes that are no PNG.
Result<std::vector<std::byte>> with_creature(std::span<const std::byte> png, const Kept& kept);

/// The creature in a picture. Reads untrusted bytes.
/// Errors: kCorruptData for bytes that are no PNG, and those of decode_kept(); kNotFound for a
/// picture without a creature.
Result<Kept> creature_in(std::span<const std::byte> png);

/// Writes a picture with the creature as a file that can be sent.
/// Errors: those of with_creature() and write_file_atomically().
Status write_card(const std::string& path, std::span<const std::byte> png, const Kept& kept);

/// Takes the creature of a card into the nest, under its name or the next that is free, and returns
/// that. day: as for Nest::save.
/// Errors: those of read_whole_file(), creature_in() and Nest::save().
Result<std::string> adopt_card(const Nest& nest, const std::string& path, int64_t day);

}  // namespace hearth::ember
