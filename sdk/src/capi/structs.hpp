// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Structs across versions: a caller's may be shorter (an older header) or longer (a newer one).

#pragma once

#include <hearth/hearth.h>

#include <algorithm>
#include <cstring>

namespace hearth::capi {

/// Type and size, which every versioned struct starts with.
constexpr uint32_t kStructHead = 8;

/// Whether the caller made the struct with its _default() function.
template <class T>
bool is_made(const T* given, const T& fresh) {
    return given != nullptr && given->type == fresh.type && given->size >= kStructHead;
}

/// The caller's struct; fields that its header did not know have their defaults from `fresh`.
template <class T>
T read_struct(const T* given, T fresh) {
    const uint32_t own_size = fresh.size;
    std::memcpy(&fresh, given, std::min(given->size, own_size));
    fresh.size = own_size;
    return fresh;
}

/// Fills as much of the caller's struct as its header knows.
template <class T>
void write_struct(T* out, const T& value) {
    const uint32_t known = std::min<uint32_t>(out->size, sizeof(T));
    std::memcpy(reinterpret_cast<char*>(out) + kStructHead,
                reinterpret_cast<const char*>(&value) + kStructHead, known - kStructHead);
}

}  // namespace hearth::capi
