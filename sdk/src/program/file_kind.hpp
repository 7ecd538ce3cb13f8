// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Names what bytes are that were given in place of a program, package or brain.

#pragma once

#include "program/brain.hpp"
#include "program/package.hpp"
#include "program/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hearth {

/// Names the file by its first bytes, and how to use it.
inline const char* describe_file(std::span<const std::byte> bytes) {
    uint32_t magic = 0;
    std::memcpy(&magic, bytes.data(), std::min(sizeof magic, bytes.size()));
    if (magic == file::kMagic) return "a Hearth program; load it by hearth_program_load";
    if (magic == file::kPackageMagic) return "a Hearth package; load it by hearth_package_load";
    if (magic == file::kBrainMagic) return "a Hearth brain; load it by hearth_record_load_brain";
    return "another kind of file; give the output of `hearth cook`, compile() or cook()";
}

}  // namespace hearth
