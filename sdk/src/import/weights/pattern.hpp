// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Regular expressions for names.  std::regex throws on invalid patterns, and the library is built
// without exceptions.

#pragma once

#include <hearth/status.hpp>

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class Pattern {
  public:
    /// Parses the syntax of KeyRule::replace.  Errors: kInvalidArgument naming the position.
    static Result<Pattern> parse(std::string_view text);

    /// Returns `name` with each match replaced.  Errors: kInvalidArgument for $ without a group
    /// number; kOutOfRange for names of more than 1024 characters, and if matching takes too many
    /// steps.
    Result<std::string> replace(std::string_view name, std::string_view replacement) const;

    enum class Kind : uint8_t { kCharacter, kBegin, kEnd, kGroup };
    struct Item {
        Kind kind = Kind::kCharacter;
        std::bitset<256> set;                         ///< kCharacter: the characters that match
        int group = -1;                               ///< kGroup: its number; -1: not captured
        std::vector<std::vector<Item>> alternatives;  ///< kGroup
        uint32_t least = 1, most = 1;
    };

  private:
    Item whole_;  ///< group 0
    int group_count_ = 1;
};

}  // namespace hearth
