// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The four parts of a brain, each an agent of the agents API with a learner of its own:
//
//     legs    PPO with demonstrations: how to get to where it wants to be
//     will    TAMER: what to do, by how acts like this have felt and were judged
//     heart   regression: how the next seconds will feel; the face shows it
//     eyes    a small convolutional network: the words of what it looks at

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::ember {

enum class Part : uint8_t { kLegs, kWill, kHeart, kEyes };
constexpr size_t kPartCount = 4;
constexpr std::array<const char*, kPartCount> kPartNames = {"legs", "will", "heart", "eyes"};

/// The weights of all parts: what a creature is. Each is a brain file of Hearth.
using BrainFiles = std::array<std::vector<std::byte>, kPartCount>;

}  // namespace hearth::ember
