// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where a training run stands, as one file: a brain, which whatever reads brains can load, and in the bytes that are
// the host's the configuration, the counts and the transient states, so that a run goes on to the same bits.

#pragma once

#include "train/learner.hpp"

#include <span>
#include <string>
#include <vector>

namespace hearth::train {

struct Checkpoint {
    TrainConfig config;
    int64_t steps = 0, windows = 0;
    int64_t ranks = 1;           ///< that the worlds were divided among
    std::vector<float> returns;  ///< of the last episodes, in order
    Learner::Snapshot snapshot;
};

/// Replaced as a whole: a process that is killed leaves the old file or the new one.
/// Errors: those of write_file_atomically(); kInvalidArgument for weights that are not finite.
Status write_checkpoint(const std::string& path, Checkpoint checkpoint);
/// Errors: kNotFound, kCorruptData; kInvalidArgument for a brain that no training run wrote.
Result<Checkpoint> read_checkpoint(const std::string& path);
/// The same of a file's bytes; path: what errors call it.
Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes, const std::string& path);

}  // namespace hearth::train
