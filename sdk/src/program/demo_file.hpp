// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Demonstration files (docs/reference/demo_format.md): a header with the spec, then steps of equal
// size, each with a checksum, so that a game appends to them.  Allocates nothing.

#pragma once

#include "program/agent_spec_view.hpp"

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

inline constexpr uint32_t kDemoMagic = 0x4d454448;  // "HDEM"
inline constexpr uint32_t kDemoVersion = 1;
inline constexpr uint32_t kMaxDemonstrators = 1u << 24;  ///< exact integers of an f32

struct DemoHeader {
    uint32_t magic = kDemoMagic, version = kDemoVersion;
    uint64_t schema_hash = 0;
    uint32_t spec_bytes = 0;    ///< of AgentSpec::save(), which follow, padded to 8
    uint32_t header_bytes = 0;  ///< of all that precedes the steps
    uint64_t checksum = 0;      ///< of all else that precedes the steps
};

struct DemoStepHeader {
    uint64_t checksum = 0;     ///< of all else in the step, xor schema_hash
    uint32_t episode_end = 0;  ///< 0: the episode goes on; 1: terminated; 2: truncated
    uint32_t demonstrator = 0;
    float reward = 0;
    uint32_t unused = 0;
};

/// A step; its values follow its header in this order.
struct DemoStep {
    DemoStepHeader header;
    const float* observation = nullptr;
    const float* action_mask = nullptr;  ///< null if no action is maskable
    const float* action = nullptr;
};

/// Bytes of a header, and of a step, of agents with this spec.
uint64_t demo_header_bytes(const AgentSpecView& spec);
uint64_t demo_step_bytes(const AgentSpecView& spec);

/// "observation", "action mask", "action" or "reward", if one of its values is not finite; or null.
const char* first_not_finite(const AgentSpecView& spec, const DemoStep& step);

/// out: demo_header_bytes(spec), and demo_step_bytes(spec), of any alignment.
void write_demo_header(const AgentSpecView& spec, std::byte* out);
void write_demo_step(const AgentSpecView& spec, const DemoStep& step, std::byte* out);

class DemoFileView {
  public:
    /// Checks the header, and that the rest is a whole number of steps.  `bytes` must outlive the
    /// view.  Returns kOk, kCorruptData or kUnsupported with `error` set.
    [[nodiscard]] StatusCode open(std::span<const std::byte> bytes, SpecText& error);
    /// Checks and returns a step below step_count(), in place.
    [[nodiscard]] StatusCode read(uint64_t index, DemoStep& step, SpecText& error) const;

    const AgentSpecView& spec() const { return spec_; }
    uint64_t step_count() const { return steps_.size() / step_bytes_; }

  private:
    AgentSpecView spec_;
    std::span<const std::byte> steps_;
    uint64_t step_bytes_ = 1;
};

}  // namespace hearth::agents
