// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The state of a training run as one file: a brain that any reader of brains can load, whose
// application data hold the configuration, counts and transient states. A resumed run continues bit
// for bit.

#pragma once

#include "train/learner.hpp"

#include <span>
#include <string>
#include <vector>

namespace hearth::train {

struct Checkpoint {
    TrainConfig config;
    int64_t steps = 0, windows = 0;
    int64_t ranks = 1;           ///< among which the environments were divided
    std::vector<float> returns;  ///< of the latest episodes, in order
    Learner::Snapshot snapshot;
};

/// Writes atomically: a killed process leaves the old or the new file.
/// Errors: those of write_file_atomically(); kInvalidArgument for non-finite weights.
Status write_checkpoint(const std::string& path, Checkpoint checkpoint);
/// Errors: kNotFound, kCorruptData; kInvalidArgument for a brain that no training run wrote, or whose
/// configuration, counts and tensors contradict each other.
Result<Checkpoint> read_checkpoint(const std::string& path);
/// As above for a file's bytes; path: name for error messages.
Result<Checkpoint> parse_checkpoint(std::span<const std::byte> bytes, const std::string& path);

}  // namespace hearth::train
