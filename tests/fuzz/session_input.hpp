// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An input of the fuzz target `session`: a program, a brain, and 32 bits that choose what is done
// with them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace hearth::fuzz {

struct SessionInputHead {
    uint32_t script;
    uint32_t program_bytes;  ///< which follow; the rest, at a multiple of 8, is the brain
};

template <class Byte>
struct SessionInput {
    uint32_t script = 0;
    std::span<Byte> program, brain;
};

/// The parts of 8-byte aligned bytes; what they lack is empty.
template <class Byte>
SessionInput<Byte> split_session_input(std::span<Byte> bytes) {
    SessionInput<Byte> input;
    SessionInputHead head;
    if (bytes.size() < sizeof head) return input;
    std::memcpy(&head, bytes.data(), sizeof head);
    input.script = head.script;
    const std::span<Byte> rest = bytes.subspan(sizeof head);
    input.program = rest.first(head.program_bytes < rest.size() ? head.program_bytes : rest.size());
    const size_t brain_at = (input.program.size() + 7) / 8 * 8;
    if (brain_at < rest.size()) input.brain = rest.subspan(brain_at);
    return input;
}

inline std::vector<std::byte> join_session_input(uint32_t script,
                                                 std::span<const std::byte> program,
                                                 std::span<const std::byte> brain) {
    const SessionInputHead head{script, static_cast<uint32_t>(program.size())};
    std::vector<std::byte> bytes(sizeof head + (program.size() + 7) / 8 * 8 + brain.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    if (!program.empty()) std::memcpy(bytes.data() + sizeof head, program.data(), program.size());
    if (!brain.empty())
        std::memcpy(bytes.data() + bytes.size() - brain.size(), brain.data(), brain.size());
    return bytes;
}

}  // namespace hearth::fuzz
