// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// C that the system's compiler builds to a shared library, which is kept by its contents.

#pragma once

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::native {

struct BuildOptions {
    std::string compiler;  ///< empty: the environment's CC, or else cc (Windows: gcc)
    std::string flags = "-O3";
    /// Where libraries are kept; empty: standalone::cache_folder("native").
    std::string cache_folder;
};

struct SourceFile {
    std::string name, text;
};

/// The library's path: built now if the cache lacks it.  files  the first is compiled, the others it may include.
/// Errors: kInternal with the command if the compiler fails; kNotFound for a folder that cannot be made.
Result<std::filesystem::path> build_library(const std::vector<SourceFile>& files, Cpu cpu,
                                            const BuildOptions& options);

}  // namespace hearth::native
