// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The parts of a brain as programs that were cooked when the game was built (cook.cpp).

#pragma once

#include "brain_files.hpp"
#include "ember/gaze.hpp"
#include "ember/world.hpp"

#include <hearth/brain.hpp>
#include <hearth/hearth_runtime.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace hearth::ember {

/// Words of the eyes: none, then one for each kind of thing.
constexpr size_t kWordCount = kThingCount + 1;

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
