// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks the fields with which headers of packages, programs and brains begin: magic,
// format_version, total_bytes.

#pragma once

#include "program/view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

struct FileFormat {
    const char* noun;
    uint32_t magic, oldest_version, newest_version;  ///< that this library reads
    const char* if_older;                            ///< what to do about files that are older
    const char* if_newer;
};

/// Sets *error to "NOUN: WHAT"; returns false.
bool refuse_file(const FileFormat& format, StatusCode code, const char* what, ViewError* error);

/// Returns false and fills *error unless `bytes` are aligned and at least `header_bytes` long, and
/// have the format's magic, a version that this library reads, and the size that the header states.
[[nodiscard]] bool check_file_header(const FileFormat& format, size_t header_bytes,
                                     std::span<const std::byte> bytes, ViewError* error);

}  // namespace hearth
