// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeping creatures: one file each, replaced as a whole, with a version of each of the last days.

#pragma once

#include "kept.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth::ember {

/// A creature of a folder, for the player to choose.
struct Resident {
    std::string name;
    double seconds = 0;   ///< its age, in seconds of the garden
    int64_t kept_at = 0;  ///< seconds since 1970; 0: unknown
    Deeds deeds;
    std::string trouble;  ///< why its file cannot be read; empty if it can
};

/// A folder of creatures.
class Nest {
  public:
    /// Days that a version is kept.
    static constexpr int64_t kVersionDays = 7;

    /// Makes the folder if it is missing.
    static Result<Nest> open(std::string folder);

    /// Replaces the creature's file; a crash, a kill or a full disk leaves the old one. The first
    /// save of a day keeps the file of before as that day's version, and removes versions that are
    /// older than a week. day: counted from any fixed one.
    Status save(const Kept& kept, int64_t day) const;
    /// As above, for bytes of encode().
    Status save(const std::string& name, std::span<const std::byte> bytes, int64_t day) const;
    /// Reads a creature; if its file is damaged, its newest version that is not.
    /// Errors: those of read_whole_file() and decode_kept().
    Result<Kept> load(const std::string& name) const;
    /// Reads the version that was kept on a day.
    Result<Kept> load_version(const std::string& name, int64_t day) const;
    /// Names of all creatures, sorted.
    std::vector<std::string> names() const;
    /// All creatures, sorted by name; reads their files.
    std::vector<Resident> residents() const;
    /// The name itself, or with a number behind it if a creature has it: "Ash 2".
    std::string free_name(const std::string& wish) const;
    /// Lets a creature go: removes its file and its versions.
    /// Errors: kNotFound; kInternal if a file cannot be removed.
    Status release(const std::string& name) const;
    /// Days of a creature's versions, oldest first.
    std::vector<int64_t> versions(const std::string& name) const;

    /// The file of a creature.
    std::string path_of(const std::string& name) const;

  private:
    explicit Nest(std::string folder) : folder_(std::move(folder)) {}
    std::string path_of(const std::string& name, int64_t day) const;
    Status keep_version(const std::string& name, int64_t day) const;

    std::string folder_;
};

}  // namespace hearth::ember
