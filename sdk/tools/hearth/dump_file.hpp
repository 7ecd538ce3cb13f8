// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Dump files ("Dumps" in hearth.h).

#pragma once

#include <hearth/weights.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// Names of texts and tensors are today's, also in files that an older version wrote.
struct Dump {
    NamedTensors tensors;
    Metadata texts;

    /// Returns an empty text if there is none with this key.
    const std::string& text(std::string_view key) const;
    Result<uint64_t> number(std::string_view key) const;
    /// The tensors whose names begin with `group`, keyed by the rest of their names.
    NamedTensors group(std::string_view group) const;
};

/// Errors: those of read_safetensors(); kUnsupported for files that are not dumps, or of another
/// version.
Result<Dump> read_dump(std::span<const std::byte> bytes);
Result<Dump> read_dump_file(const std::string& path);

/// The .safetensors files of a folder in the order of their names, or the file itself.
/// Errors: kNotFound if there is none.
Result<std::vector<std::filesystem::path>> dump_files(const std::string& path);

}  // namespace hearth::tool
