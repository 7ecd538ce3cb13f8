// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the driver of agents keeps in a brain's application data.

#pragma once

#include "core/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

inline constexpr uint32_t kAgentsDataMagic = 0x31534148;  // "HAS1": collected, spec
/// "HAG1": collected, bytes of the spec, spec, state.
inline constexpr uint32_t kGameDataMagic = 0x31474148;

struct ApplicationData {
    uint32_t collected = 0;            ///< decisions in the open rollout
    std::span<const std::byte> spec;   ///< AgentSpec::save()
    std::span<const std::byte> state;  ///< of the driver, in saved games
    bool is_saved_game = false;
};

/// Empty for data of somebody else.
inline ApplicationData read_application_data(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    const auto magic = in.number<uint32_t>();
    if (magic != kAgentsDataMagic && magic != kGameDataMagic) return {};
    ApplicationData data;
    data.is_saved_game = magic == kGameDataMagic;
    data.collected = in.number<uint32_t>();
    const uint64_t spec_bytes = data.is_saved_game ? in.number<uint32_t>() : in.left();
    data.spec = in.take(spec_bytes);
    data.state = in.take(in.left());
    return in.failed() ? ApplicationData{} : data;
}

}  // namespace hearth::agents
