// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes JSON into the application's memory, without allocating.

#pragma once

#include "program/program.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace hearth::runtime {

/// Writes JSON into a buffer, or only counts its bytes if the buffer is null.
class JsonSink {
  public:
    explicit JsonSink(std::byte* out) : out_(out) {}

    void raw(std::string_view text) {
        if (out_ != nullptr && !text.empty()) std::memcpy(out_ + size_, text.data(), text.size());
        size_ += text.size();
    }
    /// Writes a quoted string from several pieces.
    void text(std::initializer_list<std::string_view> pieces) {
        raw("\"");
        for (const std::string_view piece : pieces)
            for (const char c : piece) escaped(c);
        raw("\"");
    }
    void number(uint64_t value) {
        char digits[24];
        const int size =
            std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
        raw({digits, static_cast<size_t>(size)});
    }
    uint64_t size() const { return size_; }

    /// Writes a character of a string, escaped.
    void escaped(char c) {
        char code[8];
        if (c == '"' || c == '\\') raw("\\");
        if (static_cast<unsigned char>(c) >= 0x20) return raw({&c, 1});
        const int size = std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        raw({code, static_cast<size_t>(size)});
    }

  private:
    std::byte* out_;
    uint64_t size_ = 0;
};

constexpr const char* name_of(CommandKind kind) {
    switch (kind) {
        case CommandKind::kDispatch:
            return "dispatch";
        case CommandKind::kCopy:
            return "copy";
        case CommandKind::kFill:
            return "fill";
        case CommandKind::kBarrier:
            break;
    }
    return "barrier";
}

}  // namespace hearth::runtime
