// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Names that learners' programs had in version 0.1, so that brains and packages of players keep
// loading.  The table is symmetric: each name maps to the one of the other version, because an old
// brain may meet a new program and a new brain an old package.  Names that did not change, and all
// names of an application's own programs, map to themselves unless they happen to be in the table;
// callers therefore look a name up as it is first.

#pragma once

#include <cstddef>
#include <string_view>

namespace hearth {

/// A variable's name in the other version, without allocation.
class AliasName {
  public:
    std::string_view view() const { return {text_, size_}; }
    const char* c_str() const { return text_; }
    /// Returns false if there is no room.
    [[nodiscard]] bool append(std::string_view text);

  private:
    size_t size_ = 0;
    char text_[256] = {};
};

/// Name of an entry in the other version ("prepare" <-> "compute_advantages").
std::string_view alias_of_entry(std::string_view entry);
/// Name of an input or output in the other version.  entry: in either version; it decides between
/// names that became one ("begins" of frame and "is_first" of act are both "episode_start").
std::string_view alias_of_binding(std::string_view entry, std::string_view binding);
/// True for inputs that programs of version 0.1 lacked: brains fit programs with and without them.
bool is_added_binding(std::string_view entry, std::string_view binding);
/// Name of a runtime hyperparameter in the other version ("clip" <-> "clip_range").
std::string_view alias_of_hyperparameter(std::string_view name);
/// Name of a variable in the other version, which may be nested in another name:
/// "published.param.actor.log_deviation".  Parts that come from the game's specification ("sets.",
/// "choices.") stay as they are.  Names too long for AliasName have an empty alias: no learner has
/// such names.
AliasName alias_of_variable(std::string_view variable);

}  // namespace hearth
