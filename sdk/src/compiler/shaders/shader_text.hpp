// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shader text that is compiled into the compiler column (generated from shaders/ at build time).

#pragma once

#include <span>
#include <string_view>

namespace hearth {

struct ShaderSource {
    std::string_view path;  ///< below shaders/, e.g. "common/math.glsl"
    std::string_view text;
};

std::span<const ShaderSource> shader_sources();

/// The text of the file with this path; it must exist.
std::string_view shader_text(std::string_view path);

/// The text of a file in shaders/prelude, which precedes kernels in C, WGSL or MSL, without its license.
std::string_view prelude_text(std::string_view name);

}  // namespace hearth
