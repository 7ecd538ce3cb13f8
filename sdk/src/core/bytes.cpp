// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Makes names from untrusted files safe to print in messages.

#include "core/bytes.hpp"

namespace hearth {

// Not inline: GCC 12 warns of overflows in the copies that it inlines.
ByteWriter& ByteWriter::bytes(std::span<const std::byte> data) {
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return *this;
}

std::string shown(std::string_view name) {
    constexpr size_t kLongest = 100;
    std::string text(name.substr(0, kLongest));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return name.size() > kLongest ? text + "..." : text;
}

std::string quoted(std::string_view name) {
    return "'" + shown(name) + "'";
}

}  // namespace hearth
