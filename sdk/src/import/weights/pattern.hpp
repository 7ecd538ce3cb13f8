// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Regular expressions for names.  std::regex reports a bad pattern by throwing, which the library is
// built without.

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
    /// The syntax is that of NameRule::replace.  Errors: kInvalidArgument naming the position.
    static Result<Pattern> parse(std::string_view text);

    /// `name` with each match replaced.  Errors: kInvalidArgument for a $ without its group;
    /// kOutOfRange for names of more than 1024 characters, and where matching takes too many steps.
    Result<std::string> replace(std::string_view name, std::string_view replacement) const;

    enum class Kind : uint8_t { kCharacter, kBegin, kEnd, kGroup };
    struct Item {
        Kind kind = Kind::kCharacter;
        std::bitset<256> set;                         ///< kCharacter: the ones that match
        int group = -1;                               ///< kGroup: its number; -1: none
        std::vector<std::vector<Item>> alternatives;  ///< kGroup
        uint32_t least = 1, most = 1;
    };

  private:
    Item whole_;  ///< group 0
    int group_count_ = 1;
};

}  // namespace hearth
