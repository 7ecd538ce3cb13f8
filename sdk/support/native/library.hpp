// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds C sources to shared libraries with the system's compiler, cached by content.

#pragma once

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hearth::native {

struct BuildOptions {
    std::string compiler;  ///< empty: the environment's CC, or else cc (Windows: gcc)
    std::string flags = "-O3";
    /// Folder of the cached libraries; empty: standalone::cache_folder("native").
    std::string cache_folder;
    std::function<void()> on_compile = {};  ///< called before the compiler runs; optional
};

struct SourceFile {
    std::string name, text;
};

/// The compiler that `options` and the environment name; it may come with arguments.
std::string compiler_command(const BuildOptions& options);
/// True if there is such a program: its first word is a path, or in a folder of PATH.
bool has_compiler(const BuildOptions& options);

/// Returns the library's path, after building it if the cache lacks it. files: the first is
/// compiled, and may include the others.
/// Errors: kInternal with the command if the compiler fails; kNotFound without a compiler, and for a folder that cannot be
/// created.
Result<std::filesystem::path> build_library(const std::vector<SourceFile>& files, CpuIsa cpu,
                                            const BuildOptions& options);

}  // namespace hearth::native
