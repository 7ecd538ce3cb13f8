// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The four parts of a brain, each an agent of the agents API with a learner of its own:
//
//     legs    PPO with demonstrations: how to get to where it wants to be
//     will    TAMER: what to do, by how acts like this have felt and were judged
//     heart   regression: how the next seconds will feel; the face shows it
//     eyes    a small convolutional network: the words of what it looks at

#pragma once

#include "ember/gaze.hpp"
#include "ember/world.hpp"

#include <hearth/brain.hpp>
#include <hearth/hearth_runtime.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace hearth::ember {

enum class Part : uint8_t { kLegs, kWill, kHeart, kEyes };
constexpr size_t kPartCount = 4;
constexpr std::array<const char*, kPartCount> kPartNames = {"legs", "will", "heart", "eyes"};

/// Words of the eyes: none, then one for each kind of thing.
constexpr size_t kWordCount = kThingCount + 1;

/// The weights of all parts: what a creature is. Each is a brain file of Hearth.
using BrainFiles = std::array<std::vector<std::byte>, kPartCount>;

/// One part, ready for any number of creatures.
struct PartProgram {
    LoadedProgram program;
    Brain fresh;  ///< initial values
};
using PartPrograms = std::array<PartProgram, kPartCount>;

/// Device target of the packages for Vulkan drivers that run on the CPU.
constexpr const char* kSoftwareTarget = "software";

/// Cooked kernels of all parts for this machine's CPU, for what creates its context. Without them a
/// C compiler is needed at the start.
std::vector<const hearth_cpu_kernel_table*> part_kernels();

/// Loads all parts for the device of `context`. They were cooked when the game was built (cook.cpp):
/// nothing is compiled but a GPU's pipelines, by its driver.
Result<PartPrograms> load_part_programs(const Context& context);

/// The brain of a newborn: initial weights, and a little of its own by `seed`. Bytes of a brain file.
Result<std::vector<std::byte>> newborn(const PartProgram& part, uint64_t seed);

}  // namespace hearth::ember
