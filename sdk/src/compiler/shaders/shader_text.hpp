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

}  // namespace hearth
