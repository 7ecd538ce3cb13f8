// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The experiments' embedded shaders.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::experiments {

/// One compiled kernel variant, embedded at build time.
struct Shader {
    std::string_view name;
    std::span<const uint32_t> words;
};

/// All variants named in CMakeLists.txt.
std::span<const Shader> shaders();

}  // namespace hearth::experiments
