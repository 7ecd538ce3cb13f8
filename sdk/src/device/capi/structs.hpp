// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Versioned structs. A caller's struct may be shorter, from an older header. A longer one, from a
// newer header, may request what this library does not know, and is rejected.

#pragma once

#include "core/fixed_text.hpp"

#include <hearth/hearth.h>

#include <algorithm>
#include <cstring>

namespace hearth::capi {

/// Bytes of the type and size that every versioned struct starts with.
constexpr uint32_t kStructHead = 8;

/// True if the caller made the struct with its _default() function, of this header or an older one.
template <class T>
bool is_made(const T* given, const T& fresh) {
    return given != nullptr && given->type == fresh.type && given->size >= kStructHead &&
           given->size <= fresh.size;
}

/// Returns HEARTH_OK, or the error of a struct that is_made() rejects.
///
/// argument, type: names of the parameter and of its struct, for the message in `why`.
template <class T>
hearth_result check_struct(const T* given, const T& fresh, const char* argument, const char* type,
                           FixedText<256>& why) {
    if (is_made(given, fresh)) return HEARTH_OK;
    if (given == nullptr) {
        why.set("%s is null", argument);
    } else if (given->type != fresh.type) {
        why.set("%s->type is %u, expected %u; make it with %s_default()", argument,
                static_cast<unsigned>(given->type), static_cast<unsigned>(fresh.type), type);
    } else if (given->size < kStructHead) {
        why.set("%s->size is %u, which is too small; make it with %s_default()", argument,
                given->size, type);
    } else {
        why.set(
            "%s->size is %u, this library's %s has %u: hearth.h is newer than the library; use the "
            "header and the library of one version",
            argument, given->size, type, fresh.size);
        return HEARTH_ERROR_VERSION_MISMATCH;
    }
    return HEARTH_ERROR_INVALID_ARGUMENT;
}

/// Copies the caller's struct; fields unknown to its header keep their defaults from `fresh`.
template <class T>
T read_struct(const T* given, T fresh) {
    const uint32_t own_size = fresh.size;
    std::memcpy(&fresh, given, std::min(given->size, own_size));
    fresh.size = own_size;
    return fresh;
}

/// Fills the fields of the caller's struct that its header knows.
template <class T>
void write_struct(T* out, const T& value) {
    const uint32_t known = std::min<uint32_t>(out->size, sizeof(T));
    std::memcpy(reinterpret_cast<char*>(out) + kStructHead,
                reinterpret_cast<const char*>(&value) + kStructHead, known - kStructHead);
}

}  // namespace hearth::capi
